"""Put files together that belong together: a case, or any combination of report, dump, program and recording."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ladder_backends.case.classify import Classified, FileKind, classify
from ladder_backends.case.model import Case, Opened, Part, Role, SourcePart
from ladder_backends.case.reader import read_case
from ladder_backends.case.run_folder import read_run
from ladder_backends.case.unpack import unpack_file, unpack_part
from ladder_backends.errors import LadderError, TargetInvalid
from ladder_backends.text import clean_line


def open_files(paths: Sequence[Path]) -> Opened:
    """Classify and unpack; the result names plain files only.

    Raises:
        CaseInvalid: A case is damaged or breaks a bound.
        TargetInvalid: A file is of no use here, or two files compete for one place.
    """
    found = refuse_unknown(paths)
    opened = Opened(title=" · ".join(clean_line(path.name) for path in paths))
    for one in found:
        if one.kind is FileKind.CASE:
            _take_case(opened, one.path, alone=len(found) == 1)
    for one in found:
        if one.kind is not FileKind.CASE:
            _take(opened, one)
    return opened


def refuse_unknown(paths: Sequence[Path]) -> list[Classified]:
    """Classify, and refuse what cannot be opened together; reads no more than each file's beginning.

    Raises:
        TargetInvalid: A file is of no use here, or two files compete for one place.
    """
    if not paths:
        raise TargetInvalid("nothing to open", "no file was named")
    found = [classify(path) for path in paths]
    for one in found:
        if one.kind is FileKind.UNKNOWN:
            raise TargetInvalid(f"{clean_line(str(one.path))} cannot be opened", f"it {one.why}")
    for kind in (FileKind.GPU_DUMP, FileKind.CORE, FileKind.EXECUTABLE, FileKind.RUN):
        _at_most_one(found, kind)
    return found


def _at_most_one(found: Sequence[Classified], kind: FileKind) -> None:
    names = [clean_line(one.path.name) for one in found if one.kind is kind]
    if len(names) > 1:
        raise TargetInvalid(
            f"{names[0]} and {names[1]} cannot be opened together",
            f"both are of one kind: {kind}",
            "name one of them",
        )


def plain_file(one: Classified) -> Path:
    """The file itself, or its unpacked content where it is packed."""
    return unpack_file(one.path, one.packing) if one.packing else one.path


def _take_case(opened: Opened, file: Path, *, alone: bool) -> None:
    case = read_case(file)
    if alone:
        opened.title, opened.note = case.title, case.note
    for part in case.parts:
        _take_part(opened, case, part)


def _take_part(opened: Opened, case: Case, part: Part) -> None:
    """Unpack a part of a known role; a second dump, core or executable is noted and left packed."""
    taken = {Role.DUMP: opened.dump, Role.CORE: opened.core, Role.EXECUTABLE: opened.executable}
    if part.role not in set(Role):
        opened.notes += (f"{part.name} is left out: the role {part.role!r} is not known here",)
        return
    if taken.get(Role(part.role)) is not None:
        opened.notes += (f"{part.name} is left out: the case holds another {part.role}",)
        return
    if part.role == Role.HARDWARE:
        return
    file = unpack_part(case, part)
    match part.role:
        case Role.FINDINGS:
            opened.reports += (file,)
        case Role.DUMP:
            opened.dump = file
        case Role.CORE:
            opened.core = file
        case Role.EXECUTABLE:
            # It may be run, once somebody wishes that; opening it runs nothing.
            file.chmod(file.stat().st_mode | 0o100)
            opened.executable = file
        case Role.RECORDING:
            opened.recordings += (file,)
        case _:
            opened.sources += (SourcePart(file, part.path),)


def _take_run(opened: Opened, folder: Path) -> None:
    run = read_run(folder)
    opened.run = run
    opened.reports += tuple(tool.report for tool in run.tools)
    if run.dumps:
        opened.dump = plain_file(classify(run.dumps[0][1]))
    compiled = run.program is not None and not run.is_interpreted
    if compiled and run.program is not None and classify(run.program).kind is FileKind.EXECUTABLE:
        opened.executable = run.program
    opened.title = clean_line(
        " · ".join(filter(None, (run.program.name if run.program else "", *(tool.tool for tool in run.tools))))
    )


def _take(opened: Opened, one: Classified) -> None:
    """Take a file named on its own; it stands in for the same part of a case."""
    match one.kind:
        case FileKind.REPORT:
            opened.reports += (one.path,)
        case FileKind.RECORDING:
            opened.recordings += (one.path,)
        case FileKind.SOURCE:
            opened.sources += (SourcePart(one.path),)
        case FileKind.GPU_DUMP:
            opened.dump = plain_file(one)
        case FileKind.CORE:
            opened.core = plain_file(one)
        case FileKind.EXECUTABLE:
            opened.executable = one.path
        case FileKind.RUN:
            _take_run(opened, one.path)
        case _:
            raise LadderError(f"{clean_line(str(one.path))} cannot be opened here", f"it is {one.kind.phrase}")
