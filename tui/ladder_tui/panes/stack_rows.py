"""The rows of a stack: native frames, Python frames in their places, folds of what is the interpreter's own."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, TypeAlias

from ladder_backends.late_dataclass import dataclass
from ladder_backends.model.frame import Frame, FrameKind, file_name
from ladder_backends.model.python_stack import FoldedFrames, PythonRow
from ladder_backends.session.own_frames import is_library
from ladder_tui.widgets.row import Cell, Row

if TYPE_CHECKING:
    from ladder_backends.model.finding import CodeLocation
    from ladder_backends.session.debug_state import DebugState


@dataclass(frozen=True, slots=True)
class LibraryFrames:
    """A row that stands for neighbouring frames of libraries, innermost first."""

    frames: tuple[Frame, ...]


_LAUNCHED_BY = Cell("launched by ", "report")
"""Before the first frame of the host's stack, below that of a lane."""

Entry: TypeAlias = Frame | PythonRow | FoldedFrames | LibraryFrames
"""What one row of a stack stands for."""


def entries_of(debug: DebugState, opened: Collection[str], *, libraries: bool = True) -> tuple[Entry, ...]:
    """The rows of the stack as it is known: with Python frames where they were read.

    Args:
        debug: The session's state.
        opened: Keys of the folds whose frames are listed below them.
        libraries: Frames of libraries are listed, not folded.
    """
    entries = _woven_entries(debug, opened)
    return entries if libraries else tuple(_without_libraries(entries))


def _without_libraries(entries: Iterable[Entry]) -> Iterable[Entry]:
    hidden: list[Frame] = []
    for entry in entries:
        if isinstance(entry, Frame) and is_library(entry):
            hidden.append(entry)
            continue
        if hidden:
            yield LibraryFrames(tuple(hidden))
            hidden = []
        yield entry
    if hidden:
        yield LibraryFrames(tuple(hidden))


def _woven_entries(debug: DebugState, opened: Collection[str]) -> tuple[Entry, ...]:
    woven = debug.python.woven
    if woven is None:
        return debug.frames.frames
    entries: list[Entry] = []
    for row in woven.rows:
        entries.append(row)
        if isinstance(row, FoldedFrames) and fold_key(row) in opened:
            entries += row.frames
    return tuple(entries)


def fold_key(fold: FoldedFrames) -> str:
    """What tells a fold from others, and stays while what called it stands where it stood."""
    return f"{fold.frames[-1].address} {len(fold.frames)} {fold.outside}"


def index_of(entries: Sequence[Entry], debug: DebugState) -> int:
    """The row of the frame that is shown; 0 where none of them is it."""
    if debug.python.selected is not None:
        for index, entry in enumerate(entries):
            if isinstance(entry, PythonRow) and entry.index == debug.python.selected:
                return index
    return row_of_level(entries, debug.selected_frame)


def row_of_level(entries: Sequence[Entry], level: int) -> int:
    """The row of a native frame, or of the fold that hides it; 0 where there is neither."""
    found = 0
    for index, entry in enumerate(entries):
        if isinstance(entry, Frame):
            if entry.level == level:
                return index
        elif isinstance(entry, FoldedFrames | LibraryFrames) and any(
            frame.level == level for frame in entry.frames
        ):
            found = index
    return found


def same_row(entries: Sequence[Entry], before: Entry | None) -> int | None:
    """Where a row went when the list was laid out again; None where it is gone."""
    if isinstance(before, Frame):
        return row_of_level(entries, before.level)
    for index, entry in enumerate(entries):
        if isinstance(before, PythonRow) and isinstance(entry, PythonRow) and entry.index == before.index:
            return index
        if isinstance(before, FoldedFrames) and entry == before:
            return index
    if isinstance(before, FoldedFrames | LibraryFrames):
        return row_of_level(entries, before.frames[0].level)
    return row_of_level(entries, before.level) if before is not None else None


def row_of(entry: Entry, opened: Collection[str]) -> Row:
    """Number, function, place."""
    if isinstance(entry, PythonRow):
        return _python_row(entry)
    if isinstance(entry, FoldedFrames):
        return _fold_row(entry, fold_key(entry) in opened)
    if isinstance(entry, LibraryFrames):
        return _library_row(entry)
    return _frame_row(entry)


def text_of(entry: Entry) -> str:
    """A row as text to search and to copy; of a fold all that it hides, of a Python frame as in a traceback."""
    if isinstance(entry, PythonRow):
        frame = entry.frame
        return f'File "{frame.file}", line {frame.line}, in {frame.function}'
    if isinstance(entry, FoldedFrames | LibraryFrames):
        return "\n".join(text_of(frame) for frame in entry.frames)
    row = _frame_row(entry)
    return f"{row.text()} {''.join(cell.text for cell in row.end)}".rstrip()


def _frame_row(frame: Frame) -> Row:
    cells = [
        Cell(f"#{frame.level} ", "gutter"),
        Cell(frame.function, "muted" if frame.place is None or is_library(frame) else "function"),
    ]
    if frame.launcher:
        cells.insert(0, _LAUNCHED_BY)
    if frame.arguments:
        shown = ", ".join(f"{name}={value}" if value else name for name, value in frame.arguments)
        cells.append(Cell(f"({shown})", "muted"))
    if frame.inlined:
        cells.append(Cell(" inlined", "muted"))
    if frame.kind is FrameKind.PYTHON:
        cells.append(Cell(" py", "report"))
    end: tuple[Cell, ...]
    if frame.place is not None:
        end = (Cell(f"{file_name(frame.place.file)}:", "file"), Cell(str(frame.place.line), "number"))
    else:
        end = (Cell(frame.image_offset or file_name(frame.module) or frame.address, "muted"),)
    return Row(tuple(cells), end, target=frame)


def _python_row(row: PythonRow) -> Row:
    frame = row.frame
    cells = [Cell("py ", "report"), Cell(frame.function, "function")]
    if row.owns_gil:
        cells.append(Cell(" GIL", "focus"))
    if row.level < 0:
        cells.append(Cell(" place unknown", "muted"))
    end = (Cell(f"{file_name(frame.file)}:", "file"), Cell(str(frame.line) if frame.line else "?", "number"))
    return Row(tuple(cells), end, target=row)


def _fold_row(fold: FoldedFrames, opened: bool) -> Row:
    count = len(fold.frames)
    words = f"{'▾' if opened else '▸'} {count} interpreter frame{'s' if count > 1 else ''}"
    first, last = fold.frames[0].level, fold.frames[-1].level
    levels = f"#{first}" if first == last else f"#{first}-{last}"
    return Row((Cell("   "), Cell(words, "muted")), (Cell(levels, "muted"),), target=fold)


def _library_row(fold: LibraryFrames) -> Row:
    count = len(fold.frames)
    words = f"▸ {count} library frame{'s' if count > 1 else ''}"
    first, last = fold.frames[0], fold.frames[-1]
    levels = f"#{first.level}" if first is last else f"#{first.level}-{last.level}"
    # What the program called is what tells one such fold from others.
    called = Cell(f"  {last.function}", "muted")
    begins = _LAUNCHED_BY if first.launcher else Cell("   ")
    return Row((begins, Cell(words, "muted"), called), (Cell(levels, "muted"),), target=fold)


def launcher_row(frame: CodeLocation) -> Row:
    """A host frame of a report."""
    cells = (Cell("   "), Cell(frame.function or "??", "report"))
    if frame.line is not None:
        return Row(
            cells, (Cell(f"{file_name(frame.file)}:", "file"), Cell(str(frame.line), "number")), target=frame
        )
    return Row(cells, (Cell(file_name(frame.module) or frame.offset, "muted"),), target=frame)
