"""A folder in which a run of the sanitizer was kept: which of its files belong together.

`plan.json` in it is written by `sanitizer.run_folder`; here only the names of the files are read.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ladder_backends.errors import CaseInvalid
from ladder_backends.late_dataclass import dataclass
from ladder_backends.text import clean_line

TABLE = "plan.json"
KIND = "sanitizer-run"
_LARGEST = 4 << 20
_MOST = 16
_MOST_LOGS = 4096


@dataclass(frozen=True, slots=True)
class KeptTool:
    """What one tool of a run has left.

    Attributes:
        report: Its log.
        end: How it ended, a word of `sanitizer.ending.End`.
        status: Its exit status, where it was kept.
        origin: Which of several logs of the tool it is: `rank 3`, `process 412`; empty where there is one.
    """

    tool: str
    report: Path
    end: str = ""
    status: int | None = None
    origin: str = ""


def origin_of(log: Path, tool: str) -> str:
    """What a log of several is called: `memcheck.3.412.log` is of rank 3, `memcheck..412.log` of process 412."""
    rank, _, pid = log.name.removeprefix(f"{tool}.").removesuffix(".log").rpartition(".")
    rank = clean_line(rank)
    return f"rank {rank}" if rank else f"process {clean_line(pid)}"


@dataclass(frozen=True, slots=True)
class KeptRun:
    """What a run has left.

    Attributes:
        folder: Where it is kept.
        tools: Those whose logs are there and not empty.
        dumps: Tools with the first GPU core dump of each.
        program: The program, where it is still there.
    """

    folder: Path
    program: Path | None
    tools: tuple[KeptTool, ...] = ()
    dumps: tuple[tuple[str, Path], ...] = ()

    @property
    def is_interpreted(self) -> bool:
        """The program is an interpreter by its name, and holds nothing of what it ran."""
        return self.program is not None and self.program.name.startswith(("python", "pypy", "torchrun"))


def is_run(folder: Path) -> bool:
    """Whether a run was kept in a folder."""
    return (folder / TABLE).is_file()


def read_run(folder: Path) -> KeptRun:
    """Read what a folder holds.

    Raises:
        CaseInvalid: It is damaged, or names files outside.
    """
    name = clean_line(str(folder))
    try:
        with (folder / TABLE).open("rb") as stream:
            raw = stream.read(_LARGEST + 1)
        document = json.loads(raw) if len(raw) <= _LARGEST else None
    except (OSError, ValueError, RecursionError) as error:
        raise CaseInvalid(f"{name} cannot be opened", f"its {TABLE} cannot be read") from error
    if not isinstance(document, dict) or document.get("kind") != KIND or document.get("format") != 1:
        raise CaseInvalid(f"{name} cannot be opened", f"its {TABLE} is not that of a run of the sanitizer")
    tools: list[KeptTool] = []
    dumps: list[tuple[str, Path]] = []
    for run in _dicts(document.get("runs")):
        tool, end, status = clean_line(str(run.get("tool", "")))[:40], str(run.get("end", "")), run.get("status")
        status = status if isinstance(status, int) else None
        logs = run.get("logs")
        several = isinstance(logs, list) and bool(logs)
        for one in logs[:_MOST_LOGS] if isinstance(logs, list) and logs else [run.get("log")]:
            log = _inside(folder, one)
            if log is not None and log.stat().st_size:
                tools.append(KeptTool(tool, log, end, status, origin_of(log, tool) if several else ""))
        names = run.get("dumps")
        found = [_inside(folder, one) for one in names] if isinstance(names, list) else []
        dumps += [(tool, dump) for dump in found if dump is not None][:1]
    if not tools:
        raise CaseInvalid(f"{name} cannot be opened", "no tool of that run has written a report")
    plan = document.get("plan")
    program = plan.get("program") if isinstance(plan, dict) else None
    path = Path(program) if isinstance(program, str) and program.startswith("/") and "\0" not in program else None
    return KeptRun(folder, path if path is not None and path.is_file() else None, tuple(tools), tuple(dumps))


def _dicts(value: object) -> Iterator[dict[str, Any]]:
    if isinstance(value, list):
        yield from (one for one in value[:_MOST] if isinstance(one, dict))


def _inside(folder: Path, name: object) -> Path | None:
    """A file of the folder itself; None where there is none of that name, or the name leads elsewhere."""
    if not isinstance(name, str) or not name or "/" in name or "\0" in name or name in (".", ".."):
        return None
    path = folder / name
    return path if path.is_file() and not path.is_symlink() else None
