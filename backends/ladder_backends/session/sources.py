"""Source files as tools name them, found on this machine or not, and never guessed."""

from __future__ import annotations

import asyncio
import contextlib
import enum
import os
import re
import stat
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath

from ladder_backends.late_dataclass import dataclass
from ladder_backends.model.frame import file_name
from ladder_backends.session.source_index import SourceIndex, shared_tail
from ladder_backends.text import clean, clean_line

MOST_BYTES = 8 << 20
"""Bytes of a source file that are read."""

MOST_CHARACTERS = 4_000
"""Characters of a line that are kept."""

_MOST_CANDIDATES = 20
_COPY_SLACK = 2.0  # seconds: files that were copied or checked out together differ by less
_COMPILED_TEXT = re.compile(r"^[0-9a-f]{24,64}\.cubin\.cu$")
"""Names that CuPy gives to the text of a raw kernel."""

_INTERMEDIATE = frozenset({".ttgir", ".ttir", ".llir", ".ptx", ".mlir", ".ll", ".gpu", ".stub.c"})
# fmt: off
_SOURCE_SUFFIXES = frozenset({
    ".c", ".cc", ".cpp", ".cxx", ".c++", ".h", ".hh", ".hpp", ".hxx", ".inl", ".inc", ".cu", ".cuh", ".hip",
    ".rs", ".py", ".pyx", ".go", ".f", ".f90", ".f95", ".s", ".asm", ".zig", ".d", ".m", ".mm", ".swift",
    ".nim", ".ada", ".adb", ".ads", ".ptx", ".jl",
})
# fmt: on
_NAMELESS = re.compile(r"<[^/]*>$")
_NAME_ITS_FOLDER = "add its folder to source_roots in the file that `ladder-tui config path` names"


class SourceState(enum.StrEnum):
    """What became of a name."""

    FOUND = "found"
    MISSING = "missing"
    AMBIGUOUS = "ambiguous"
    EDITED = "edited"


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A source file and its lines.

    Attributes:
        name: As the tool wrote it.
        path: Where it was found, or None; None too for a source that a case carries.
        lines: Its lines without newline, clean; empty where it is missing.
        candidates: Files of that name, where it is ambiguous: ask, never guess.
        note: One line for anything but the very file named: where it was found, what is wrong, what to do.
        lost: It is a file that lies elsewhere: its folder would help.
    """

    name: str
    state: SourceState
    path: Path | None = None
    lines: tuple[str, ...] = ()
    candidates: tuple[Path, ...] = ()
    note: str = ""
    lost: bool = False


class SourceFinder:
    """Finds source files by the names that debug information and reports hold.

    In this order: what the user chose, what a case carries, the path itself, the source roots. Below these a file
    counts when it is the only one of its name, or alone shares the most folders with the path named.
    """

    def __init__(
        self,
        roots: Iterable[str | Path] = (),
        *,
        embedded: Mapping[str, str | Path] | None = None,
        built: Iterable[Path] = (),
    ) -> None:
        """Make a finder.

        Args:
            roots: Folders to look in.
            embedded: Sources that a case carries, by path: their text, or the file they were unpacked to.
            built: What was made from the sources (executable, dump, report), the most telling first: a source that
                is newer than the first of them that exists counts as edited.
        """
        self._roots = tuple(Path(root) for root in roots)
        self._embedded = dict(embedded or {})
        self._built = tuple(built)
        self._index = SourceIndex(self._roots)
        self._chosen: dict[str, Path] = {}
        self._read: dict[Path, tuple[tuple[float, ...], SourceFile]] = {}
        self._stands: dict[tuple[str, str], tuple[str, tuple[float, ...], SourceFile]] = {}
        self._made: float | None = None
        self._as_built: dict[Path, tuple[float, tuple[str, ...]]] = {}

    async def prepare(self) -> None:
        """Walk the source roots in a thread, so that the first `find` need not."""
        await asyncio.to_thread(self._index.build)

    async def files(self) -> tuple[Path, ...]:
        """The files below the source roots that look like sources."""
        found = await asyncio.to_thread(self._index.files)
        return tuple(path for path in found if path.suffix.lower() in _SOURCE_SUFFIXES)

    def choose(self, file: str, path: Path) -> None:
        """Take the user's answer to an ambiguous or missing name."""
        self._chosen[file] = path

    def made_at(self, made: float) -> None:
        """Take the time, in seconds since 1970, at which what is debugged was made; its file may be newer now."""
        if self._built:
            self._made = made

    def lines_now(self, file: str, fullname: str = "") -> tuple[str, ...]:
        """The lines of a source file as it is now; `find` gives those that the program was built from if it can."""
        path = self._find(file, fullname).path
        if path is None:
            return ()
        try:
            with path.open("rb") as stream:
                return _lines(_text(stream.read(MOST_BYTES)))
        except OSError:
            return ()

    def find(self, file: str, fullname: str = "", line: int | None = None) -> SourceFile:
        """Find and read a source file.

        Args:
            file: The name as a tool wrote it: a path or a basename.
            fullname: The absolute path in the debug information, where it is known.
            line: A line that must be in it; a shorter file counts as edited.
        """
        found = self._as_before(file, fullname) or self._find(file, fullname)
        if line is not None and found.lines and line > len(found.lines):
            note = f"{_shown(file)} has {len(found.lines)} lines, so line {line} is of another version of it"
            return replace(found, state=SourceState.EDITED, note=note)
        return found

    def _as_before(self, file: str, fullname: str) -> SourceFile | None:
        """What was found last by its path, where nothing about it has changed: each stop asks for that."""
        before = self._stands.get((file, fullname))
        if before is None or self._chosen or self._embedded:
            return None
        try:
            status = os.stat(before[0])
        except OSError:
            return None
        signature = (status.st_mtime_ns, status.st_size, status.st_ino, self._made_at)
        return before[2] if signature == before[1] else None

    def _find(self, file: str, fullname: str) -> SourceFile:
        name = clean_line(file)
        if not file and not fullname:
            return SourceFile(
                name, SourceState.MISSING, note="the tool names no source file; rebuild with -lineinfo or -G"
            )
        for key in (file, fullname):
            if key in self._chosen:
                return self._load(name, self._chosen[key], f"{_shown(file)} as you chose it: {self._chosen[key]}")
        carried = self._carried(file, fullname)
        if carried is not None:
            if isinstance(carried, Path):
                return self._load(name, carried, "from the case", judge=False)
            return SourceFile(name, SourceState.FOUND, lines=_lines(carried), note="from the case")
        for spelled in dict.fromkeys((fullname, file)):
            path = Path(spelled)
            if path.is_absolute() and _is_file(path):
                found = self._load(name, path)
                known = self._read.get(path)
                if known is not None and found.lines is known[1].lines:
                    self._stands[file, fullname] = spelled, known[0], found
                return found
        return self._below_roots(name, fullname or file)

    def _carried(self, file: str, fullname: str) -> str | Path | None:
        for key in (fullname, file):
            if key and key in self._embedded:
                return self._embedded[key]
        wanted = PurePosixPath(fullname or file)
        best = _best_match(self._embedded, wanted)
        if len(best) != 1:
            return None
        # One path must end in the whole of the other: `src/main.cu` is not the `main.cu` of another folder.
        carried = PurePosixPath(best[0])
        whole = shared_tail(carried, wanted) == min(len(_relative(carried).parts), len(_relative(wanted).parts))
        return self._embedded[best[0]] if whole else None

    def _below_roots(self, name: str, wanted: str) -> SourceFile:
        base = PurePosixPath(wanted.replace("\\", "/"))
        if not base.name or "\0" in wanted or _NAMELESS.search(wanted):
            return SourceFile(
                name, SourceState.MISSING, note=f"{name} is not a file: its code was typed or generated"
            )
        files = self._index.named(base.name)
        best = [Path(text) for text in _best_match([str(path) for path in files], base)]
        if len(best) == 1:
            others = len(files) - 1
            note = f"{base.name} found as {clean_line(str(best[0]))}"
            if others:
                note += f" ({others} other file{'s' if others > 1 else ''} of that name match the path less)"
            elif self._index.cut:
                note += "; not all of the source folders was searched"
            return self._load(name, best[0], note)
        if best:
            return SourceFile(
                name,
                SourceState.AMBIGUOUS,
                candidates=tuple(sorted(best)[:_MOST_CANDIDATES]),
                note=f"{len(best)} files are called {clean_line(base.name)}: choose one",
            )
        if base.suffix in _INTERMEDIATE:
            note = f"{clean_line(base.name)} is a compiler's intermediate code that was not kept on disk"
            return SourceFile(name, SourceState.MISSING, note=note)
        if _COMPILED_TEXT.search(base.name):
            note = "CuPy compiled it from a text in the program; no file holds that"
            return SourceFile(name, SourceState.MISSING, note=note, lost=True)
        if base.is_absolute():
            note = f"{clean_line(str(base))} is not on this machine"
        else:
            note = f"{clean_line(base.name)} is not below the source folders"
        return SourceFile(name, SourceState.MISSING, note=f"{note} — {_NAME_ITS_FOLDER}", lost=True)

    def _load(self, name: str, path: Path, note: str = "", *, judge: bool = True) -> SourceFile:
        try:
            status = path.stat()
            signature = (status.st_mtime_ns, status.st_size, status.st_ino, self._made_at)
            known = self._read.get(path)
            if known is not None and known[0] == signature:
                return replace(known[1], name=name, note=known[1].note or note)
            if not stat.S_ISREG(status.st_mode):
                return SourceFile(
                    name, SourceState.MISSING, path, note=f"{clean_line(str(path))} is no regular file"
                )
            with path.open("rb") as file:
                raw = file.read(MOST_BYTES + 1)
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) and error.strerror else "it cannot be read"
            return SourceFile(name, SourceState.MISSING, path, note=clean_line(f"{path}: {why}"))
        source = self._judge(name, path, raw, status.st_mtime if judge else None)
        self._read[path] = (signature, source)
        return replace(source, note=source.note or note)

    @property
    def _made_at(self) -> float:
        """When what is debugged was made, else the first file of those made from the sources; 0 where none is."""
        if self._made is not None:
            return self._made
        for made in self._built:
            with contextlib.suppress(OSError):
                return made.stat().st_mtime
        return 0.0

    def _judge(self, name: str, path: Path, raw: bytes, changed: float | None) -> SourceFile:
        if b"\0" in raw[:8192]:
            return SourceFile(name, SourceState.MISSING, path, note=f"{clean_line(str(path))} is a binary file")
        lines = _lines(_text(raw[:MOST_BYTES]))
        if len(raw) > MOST_BYTES:
            note = f"only the first {MOST_BYTES >> 20} MiB of {clean_line(path.name)} are shown"
            return SourceFile(name, SourceState.FOUND, path, lines, note=note)
        made_at = self._made_at
        if changed is None or not made_at:
            return SourceFile(name, SourceState.FOUND, path, lines)
        known_for, as_built = self._as_built.get(path, (0.0, ()))
        if known_for == made_at:
            # What was read before says more than times do: an edit within a second of the build, or none at all.
            if as_built == lines:
                return SourceFile(name, SourceState.FOUND, path, lines)
            note = f"{self._edited(path)}: shown as it was then"
            return SourceFile(name, SourceState.EDITED, path, as_built, note=note)
        if changed - made_at > _COPY_SLACK:
            return SourceFile(
                name, SourceState.EDITED, path, lines, note=f"{self._edited(path)}: lines may have moved"
            )
        if changed <= made_at:
            self._as_built[path] = (made_at, lines)
        return SourceFile(name, SourceState.FOUND, path, lines)

    def _edited(self, path: Path) -> str:
        made = next((one for one in self._built if one.exists()), None)
        return (
            f"{clean_line(path.name)} was edited after {clean_line(made.name) if made else 'the program'} was made"
        )


def _best_match(paths: Iterable[str], wanted: PurePosixPath) -> list[str]:
    """Those that share the most components with the end of `wanted`, the basename at least."""
    best: list[str] = []
    most = 0
    for text in paths:
        shared = shared_tail(PurePosixPath(text), wanted)
        if shared > most:
            best, most = [text], shared
        elif shared == most and shared:
            best.append(text)
    return best


def _relative(path: PurePosixPath) -> PurePosixPath:
    return path.relative_to("/") if path.is_absolute() else path


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def _shown(file: str) -> str:
    return clean_line(file_name(file) or file)


def _text(raw: bytes) -> str:
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        # Old sources are Latin-1 more often than anything else, and every byte is a character there.
        return raw.decode("latin-1")


def _lines(text: str) -> tuple[str, ...]:
    lines = clean(text.replace("\r\n", "\n").replace("\r", "\n")).split("\n")
    if lines and not lines[-1]:
        lines.pop()
    return tuple(line if len(line) <= MOST_CHARACTERS else line[:MOST_CHARACTERS] + "…" for line in lines)
