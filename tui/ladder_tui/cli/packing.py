"""What goes into a case: files that belong together, and the sources that they name."""

from __future__ import annotations

import lzma
import re
import shutil
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from ladder_backends.case import (
    Classified,
    FileKind,
    NewPart,
    Role,
    classify,
    read_case,
    refuse_unknown,
    write_case,
)
from ladder_backends.errors import LadderError
from ladder_tui.cli.output import say

_ROLES = {
    FileKind.REPORT: Role.FINDINGS,
    FileKind.GPU_DUMP: Role.DUMP,
    FileKind.CORE: Role.CORE,
    FileKind.EXECUTABLE: Role.EXECUTABLE,
    FileKind.RECORDING: Role.RECORDING,
    FileKind.SOURCE: Role.SOURCE,
}
_TELLING = frozenset(
    {FileKind.REPORT, FileKind.GPU_DUMP, FileKind.CORE, FileKind.RECORDING, FileKind.CASE, FileKind.RUN}
)
_FULL_NAME = re.compile(rb'fullname="(/[^"\\]+)"')
_MOST_SOURCES = 60
_LARGEST_SOURCE = 1 << 20


def is_program(words: Sequence[str]) -> bool:
    """Whether words are a program with its arguments rather than files that belong together."""
    return not any(classify(Path(word)).kind in _TELLING for word in words)


def pack_recordings(output: Path, program: Path, folder: Path) -> list[dict[str, object]]:
    """Write a case of a program, the recordings in a folder, and the sources that its engines named.

    Raises:
        CaseInvalid: It cannot be written.
        LadderError: Nothing was recorded.
    """
    recordings = sorted(folder.glob("*.jsonl"))
    if not recordings:
        raise LadderError(f"{output.name} was not written", "no engine was started, so nothing was recorded")
    parts = [NewPart(recording, Role.RECORDING) for recording in recordings]
    parts.append(NewPart(program, Role.EXECUTABLE))
    return _write(output, program.name, parts, _seen(recordings))


def pack_files(output: Path, files: Sequence[Path], folder: Path) -> list[dict[str, object]]:
    """Write a case of files, and of the sources that its reports name.

    Raises:
        CaseInvalid: It cannot be written, or a file is a case already.
        TargetInvalid: A file is of no use in a case.
        ReportInvalid: A report cannot be read.
    """
    parts: list[NewPart] = []
    for one in (part for each in refuse_unknown(files) for part in _whole(each)):
        role = _ROLES.get(one.kind)
        if role is None:
            raise LadderError(f"{one.path.name} cannot go into a case", f"it is {one.kind.phrase}")
        packs = role in (Role.DUMP, Role.CORE) and not one.packed
        parts.append(NewPart(_compressed(one.path, folder) if packs else one.path, role))
    named = _named([part.file for part in parts if part.role is Role.FINDINGS])
    return _write(output, " · ".join(path.name for path in files[:3]), parts, named)


def _whole(one: Classified) -> list[Classified]:
    """The file itself; of a kept run of the sanitizer its reports, its first dump and its program."""
    if one.kind is not FileKind.RUN:
        return [one]
    from ladder_backends.case.run_folder import read_run

    run = read_run(one.path)
    files = [*(tool.report for tool in run.tools), *(dump for _, dump in run.dumps[:1])]
    parts = [classify(file) for file in files]
    if run.program is not None and not run.is_interpreted:
        parts.append(classify(run.program))
    return [part for part in parts if part.kind in _ROLES]


def _write(output: Path, title: str, parts: list[NewPart], sources: Iterable[Path]) -> list[dict[str, object]]:
    taken = {part.name for part in parts}
    for source in sources:
        part = NewPart(source, Role.SOURCE, path=str(source))
        if part.name in taken:
            say(f"{source} is left out: the case holds another {source.name}")
            continue
        taken.add(part.name)
        parts.append(part)
    write_case(output, title, parts)
    return [{"name": part.name, "role": part.role, "size": part.size} for part in read_case(output).parts]


def _compressed(dump: Path, folder: Path) -> Path:
    """A dump is mostly zeros: as xz it is some hundred times smaller."""
    packed = folder / f"{dump.name}.xz"
    with dump.open("rb") as source, lzma.open(packed, "wb", preset=3) as out:
        shutil.copyfileobj(source, out, 1 << 20)
    return packed


def _seen(recordings: Iterable[Path]) -> Iterator[Path]:
    """Sources of the frames in which the engines stood."""
    from ladder_backends.recording import read_recording

    names = (
        match.decode("utf-8", "surrogateescape")
        for recording in recordings
        for entry in read_recording(recording).entries
        if not entry.sent
        for match in _FULL_NAME.findall(entry.raw)
    )
    return _present(names)


def _named(reports: Sequence[Path]) -> Iterator[Path]:
    """Sources that the reports' findings name by a path that is on this machine."""
    if not reports:
        return iter(())
    from ladder_backends.sanitizer import read_report

    findings = read_report(reports).findings
    frames = (
        frame
        for finding in findings
        for frame in (*(side.location for side in finding.sides), *finding.device_frames, *finding.host_frames)
    )
    return _present(frame.file for frame in frames if frame.file.startswith("/"))


def _present(names: Iterable[str]) -> Iterator[Path]:
    found = 0
    for name in dict.fromkeys(names):
        path = Path(name)
        one = classify(path)
        if one.kind in (FileKind.SOURCE, FileKind.SCRIPT) and path.stat().st_size <= _LARGEST_SOURCE:
            yield path
            found += 1
        if found == _MOST_SOURCES:
            return
