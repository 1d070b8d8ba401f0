"""The program of a host core: found by its build id, compared with the one that is named, or asked for."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from ladder_backends.images.build_id import read_build_id
from ladder_backends.images.host_core import HostCore, MappedFile, read_host_core
from ladder_backends.late_dataclass import dataclass
from ladder_backends.paths import current_folder
from ladder_backends.text import clean_line

CORE_NOISE = re.compile(
    r"Section `\.reg\S*' in core file too small"
    r"|during file-backed mapping (?:note )?processing"
    r"|exec(?:utable)? file is newer than core file"
    r"|core file may not match specified executable"
)
"""What engines say of files whose build ids were compared already, and of registers that a kernel left out."""

_DEBUG_FOLDERS = (Path("/usr/lib/debug"), Path("/usr/local/lib/debug"))
_GONE = " (deleted)"
_SHOWN_LIBRARIES = 3
_DIGITS = 12


@dataclass(frozen=True, slots=True)
class CoreProgram:
    """Where the program of a core was found.

    Attributes:
        path: The program, or a file with its symbols; None where none was found.
        symbols_only: The file holds symbols, and no code.
        proven: Its build id is that of the core.
        refused: Programs of the right name with another build id: path and build id.
    """

    path: Path | None = None
    symbols_only: bool = False
    proven: bool = False
    refused: tuple[tuple[Path, str], ...] = ()


@dataclass(frozen=True, slots=True)
class CoreChoice:
    """What a core is opened with.

    Attributes:
        program: The program, or a file with its symbols; None where none was found.
        symbols_only: The file holds symbols, and no code.
        load_bias: Where the program's address 0 was mapped.
        missing: Which program is to be named, in few words; empty where there is one.
        notices: What the user should know of the choice: text and severity.
        refused: A program of the right name is another build.
    """

    program: Path | None = None
    symbols_only: bool = False
    load_bias: int = 0
    missing: str = ""
    notices: tuple[tuple[str, str], ...] = ()
    refused: bool = False


def choose_program(core: Path, named: Path | None, folders: Sequence[Path] = ()) -> CoreChoice:
    """Compare the program that was named, or find it; reads files, so not on an event loop.

    Raises:
        OSError: The core cannot be read.
    """
    facts = read_host_core(core)
    faults = library_faults(facts)
    after = [(faults, "warning")] if faults else []
    if named is not None:
        wrong = mismatch(named, facts)
        before = [(f"{wrong} — what is shown may be wrong", "warning")] if wrong else []
        return CoreChoice(named, notices=(*before, *after))
    found = find_program(core, facts, folders)
    before = [
        (f"{mismatch(path, facts)}; it is not used", "warning") for path, _ in found.refused if found.path is None
    ]
    if found.path is not None:
        how = "by its build id" if found.proven else "by its own word, without a build id to compare"
        what = "symbols" if found.symbols_only else "program"
        before.append((f"{what} of the core, {how}: {clean_line(str(found.path))}", "information"))
        return CoreChoice(found.path, found.symbols_only, facts.load_bias, notices=(*before, *after))
    return CoreChoice(missing=asked_for(facts), notices=(*before, *after), refused=bool(found.refused))


def find_program(core: Path, facts: HostCore, folders: Sequence[Path] = ()) -> CoreProgram:
    """Look for the program where it was, beside the core, here, in `folders`, and among debug files.

    Without a build id in the core only the place where it was is believed.
    """
    if not facts.program:
        return CoreProgram()
    was = Path(facts.program.removesuffix(_GONE))
    if not facts.build_id:
        return CoreProgram(was if was.is_file() else None)
    refused: list[tuple[Path, str]] = []
    for path in _candidates(core, was, folders):
        if not path.is_file():
            continue
        build_id = read_build_id(path)
        if build_id == facts.build_id:
            return CoreProgram(path, proven=True, refused=tuple(refused))
        refused.append((path, build_id))
    digits = facts.build_id
    for folder in _DEBUG_FOLDERS:
        place = folder / ".build-id" / digits[:2]
        # Files in these folders are named by their build ids.
        for name, symbols_only in ((digits[2:], False), (f"{digits[2:]}.debug", True)):
            if (place / name).is_file():
                return CoreProgram(place / name, symbols_only, proven=True, refused=tuple(refused))
    return CoreProgram(refused=tuple(refused))


def _candidates(core: Path, was: Path, folders: Sequence[Path]) -> Iterator[Path]:
    seen = set()
    beside = (core.absolute().parent, current_folder(), *folders)
    for path in (was, *(folder / was.name for folder in beside)):
        if path not in seen:
            seen.add(path)
            yield path


def mismatch(program: Path, facts: HostCore) -> str:
    """How a program differs from the one that crashed, in one line with both build ids; empty where it does not."""
    if not facts.build_id:
        return ""
    build_id = read_build_id(program)
    if build_id == facts.build_id:
        return ""
    name = clean_line(program.name)
    theirs = clean_line(os.path.basename(facts.program)) or "the program"
    has = f"has build id {short(build_id)}" if build_id else "has no build id"
    return f"{name} may not match the core: it {has}, and {theirs} of the core {short(facts.build_id)}"


def difference(core: Path, program: Path) -> str:
    """Both build ids in few words, where a program's is not that of the core; reads files.

    Raises:
        OSError: The core cannot be read.
    """
    facts = read_host_core(core)
    if not mismatch(program, facts):
        return ""
    return f"build id {short(read_build_id(program)) or 'none'} here, {short(facts.build_id)} in the core"


def library_faults(facts: HostCore) -> str:
    """Which libraries are here in other builds or not at all, in one line; empty where all are as they were."""
    other: list[str] = []
    missing: list[str] = []
    for library in facts.libraries:
        path = library.path
        if not library.build_id or not _is_library(library):
            continue
        name = clean_line(os.path.basename(path.removesuffix(_GONE)))
        if path.endswith(_GONE) or not os.path.isfile(path):
            missing.append(name)
        elif (build_id := read_build_id(Path(path))) != library.build_id:
            here = short(build_id) if build_id else "no build id"
            other.append(f"{name} ({here} here, {short(library.build_id)} in the core)")
    parts = []
    if other:
        parts.append(f"other builds here than in the core: {_some(other)}")
    if missing:
        parts.append(f"not here: {_some(missing)}")
    return f"libraries {'; '.join(parts)} — what is shown of their frames may be wrong" if parts else ""


def asked_for(facts: HostCore) -> str:
    """The program that is to be named, in few words."""
    name = clean_line(os.path.basename(facts.program.removesuffix(_GONE))) or "the program"
    return f"{name} with build id {short(facts.build_id)}" if facts.build_id else name


def short(build_id: str) -> str:
    """A build id as a person compares it."""
    return f"{build_id[:_DIGITS]}…" if len(build_id) > _DIGITS else build_id


def _is_library(library: MappedFile) -> bool:
    name = os.path.basename(library.path.removesuffix(_GONE))
    return library.path.startswith("/") and (name.endswith(".so") or ".so." in name)


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(names[:_SHOWN_LIBRARIES])
    return f"{shown} and {len(names) - _SHOWN_LIBRARIES} more" if len(names) > _SHOWN_LIBRARIES else shown
