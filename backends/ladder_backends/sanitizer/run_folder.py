"""A run on disk: one folder with the plan, and for each tool its log, dumps and what the program wrote.

`plan.json`:

```
{"format": 1, "kind": "sanitizer-run", "version": "2025.3.1.0", "time": "2026-01-31T12:00:00+00:00",
 "plan": {"program": "/path", "arguments": [], "directory": null, "environment": {"NAME": "value", "GONE": null},
          "stdin": null, "tools": ["memcheck"], "leaks": false, "preset": "plain", "switches": ["dump"], ...},
 "runs": [{"tool": "memcheck", "argv": [], "log": "memcheck.log", "logs": [], "dumps": ["memcheck.123.nvcudmp"],
           "output": "memcheck.out", "end": "found", "found": 24, "status": 0, "reason": ""}]}
```

Names are relative to the folder; unknown keys are ignored by readers.
"""

from __future__ import annotations

import contextlib
import datetime
import json
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from ladder_backends.errors import TargetInvalid
from ladder_backends.paths import state_dir
from ladder_backends.sanitizer.command_line import ToolCommand
from ladder_backends.sanitizer.ending import RunEnd
from ladder_backends.sanitizer.installed import TOOLS
from ladder_backends.sanitizer.plan import Plan
from ladder_backends.sanitizer.presets import SWITCHES
from ladder_backends.text import clean_line
from ladder_backends.whole_file import writing_whole

FORMAT = 1
KIND = "sanitizer-run"
TABLE = "plan.json"
KEPT = 20
"""Runs that are kept in the state folder; a run saved in a folder of the user's is never taken away."""

_PATHS = ("program", "directory", "stdin", "suppressions")
_KINDS: Mapping[str, tuple[type, ...]] = {
    **dict.fromkeys(("directory", "stdin", "suppressions"), (str, type(None))),
    **dict.fromkeys(("arguments", "tools", "switches", "kernels", "extra"), (list,)),
    **dict.fromkeys(("launch_skip", "launch_count", "padding", "print_limit"), (int,)),
    **dict.fromkeys(("error_exitcode", "launch_timeout"), (int, type(None))),
    "environment": (dict,),
    "leaks": (bool,),
    "timeout": (int, float, type(None)),
}
"""What a value of a kept plan may be; a text where nothing is said."""

_NAME = 40
_LARGEST = 4 << 20


class RunFolder:
    """Where a run is kept.

    Attributes:
        path: The folder; absolute.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def make(cls, plan: Plan, wanted: Path | None = None) -> RunFolder:
        """A fresh folder.

        Args:
            plan: What runs.
            wanted: The user's choice; where that holds something already, a new folder inside it.

        Raises:
            TargetInvalid: It cannot be made.
        """
        now = datetime.datetime.now().strftime("%Y%m%d-%H%M%S")
        program = "".join(c if c.isalnum() or c in "._-" else "_" for c in plan.program.name)[:_NAME]
        name = f"{now}-{program}"
        base = wanted.absolute() if wanted is not None else state_dir() / "runs"
        if "%" in str(base):
            raise TargetInvalid(
                f"{clean_line(str(base))} cannot hold a run",
                "compute-sanitizer reads % in a path as a macro",
                "name another folder with --save",
            )
        try:
            base.mkdir(parents=True, exist_ok=True, mode=0o700)
            if wanted is not None and not any(base.iterdir()):
                return cls(base)
            for number in range(1, 1000):
                folder = base / (name if number == 1 else f"{name}-{number}")
                with contextlib.suppress(FileExistsError):
                    folder.mkdir(mode=0o700)
                    return cls(folder)
        except OSError as error:
            raise TargetInvalid(
                f"the run cannot be kept in {clean_line(str(base))}",
                error.strerror or str(error),
                "name another folder with --save",
            ) from error
        raise TargetInvalid(f"the run cannot be kept in {clean_line(str(base))}", "too many runs at once")

    def write(
        self,
        plan: Plan,
        version: str,
        commands: Sequence[ToolCommand],
        ends: Sequence[RunEnd],
    ) -> None:
        """Keep the plan and how far it has come, in one atomic write.

        Raises:
            OSError: It cannot be written.
        """
        runs = []
        for number, command in enumerate(commands):
            run: dict[str, Any] = {
                "tool": command.tool,
                "argv": list(command.argv),
                "log": command.log.name,
                "logs": sorted(path.name for path in self.path.glob(command.logs)) if command.logs else [],
                "dumps": [dump.name for dump in self.dumps(command)],
                "output": f"{command.tool}.out",
            }
            if number < len(ends):
                end = ends[number]
                run |= {"end": str(end.end), "found": end.found, "status": end.status, "reason": end.reason}
                run |= {"ran": end.ran, "complete": end.complete}
            runs.append(run)
        document = {
            "format": FORMAT,
            "kind": KIND,
            "version": version,
            "time": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
            "plan": plan_json(plan),
            "runs": runs,
        }
        with writing_whole(self.path / TABLE) as file:
            file.write(json.dumps(document, indent=1).encode("utf-8", "surrogateescape"))

    def dumps(self, command: ToolCommand) -> list[Path]:
        """The dumps of a tool, the first one written first."""
        if not command.dumps:
            return []
        found = [path for path in self.path.glob(command.dumps) if path.is_file()]
        return sorted(found, key=lambda path: (path.stat().st_mtime_ns, path.name))


def plan_json(plan: Plan) -> dict[str, Any]:
    """A plan as JSON."""
    document = asdict(plan)
    for name, value in document.items():
        if isinstance(value, Path):
            document[name] = str(value)
        elif isinstance(value, frozenset):
            document[name] = sorted(value)
        elif isinstance(value, tuple):
            document[name] = list(value)
        elif isinstance(value, Mapping):
            document[name] = dict(value)
    return document


def read_plan(folder: Path) -> Plan | None:
    """The plan of a kept run; None where there is none, or none that can be read."""
    try:
        if (folder / TABLE).stat().st_size > _LARGEST:
            return None
        document = json.loads((folder / TABLE).read_bytes())
        return _plan(document["plan"])
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return None


def _plan(document: object) -> Plan:
    if not isinstance(document, dict):
        raise ValueError("no plan")
    values: dict[str, Any] = {}
    for field in fields(Plan):
        if field.name not in document:
            continue
        value = document[field.name]
        kinds = _KINDS.get(field.name, (str,))
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            raise ValueError(field.name)
        if isinstance(value, list):
            if not all(isinstance(one, str) for one in value):
                raise ValueError(field.name)
            value = tuple(value)
        if isinstance(value, dict) and not all(isinstance(one, str | None) for one in value.values()):
            raise ValueError(field.name)
        values[field.name] = Path(value) if field.name in _PATHS and value is not None else value
    values["switches"] = frozenset(values.get("switches", ())) & SWITCHES.keys()
    if not set(values.get("tools", ())) <= set(TOOLS):
        raise ValueError("tools")
    return Plan(**values)


def forget_old_runs() -> None:
    """Take away all but the newest runs of the state folder; blocks while files are removed."""
    base = state_dir() / "runs"
    with contextlib.suppress(OSError):
        found = [Path(entry.path) for entry in os.scandir(base) if entry.is_dir(follow_symlinks=False)]
        runs = sorted(path for path in found if (path / TABLE).is_file())
        for path in runs[:-KEPT]:
            shutil.rmtree(path, ignore_errors=True)
