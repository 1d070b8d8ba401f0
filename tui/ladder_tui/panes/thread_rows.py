"""Rows of a list of threads: what is unfolded, what a search leaves, how each row reads."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from ladder_backends.model.frame import Frame, file_name
from ladder_backends.model.thread import Thread, ThreadGroup, ThreadState
from ladder_backends.session.own_frames import own_frame
from ladder_backends.session.thread_list import ThreadList
from ladder_tui.widgets.row import Cell, Row, cut, printable, size_of

_Key: TypeAlias = "tuple[object, ...] | int"

_NAME_ROOM = 15
"""Characters of a thread's name; the kernel keeps no more."""

_LOOKS: dict[ThreadState, tuple[str, str]] = {
    ThreadState.STOPPED: ("", "text"),
    ThreadState.RUNNING: ("runs", "ok"),
    ThreadState.FROZEN: ("frozen", "warn"),
    ThreadState.EXITED: ("ended", "muted"),
}


class ThreadLine(NamedTuple):
    """One row.

    Attributes:
        group: The group, or that of the thread.
        thread: The thread, or None on the row of a group of several.
        inside: The row lies below that of its group.
    """

    group: ThreadGroup
    thread: Thread | None = None
    inside: bool = False

    @property
    def key(self) -> _Key:
        """What the row stands for, the same at the next stop."""
        return self.thread.id if self.thread is not None else group_key(self.group)


def group_key(group: ThreadGroup) -> tuple[object, ...]:
    """What tells a group from others, whatever threads are in it."""
    first = group.threads[0]
    return (first.state, first.process, *((frame.function, str(frame.place)) for frame in group.frames))


def named_frame(line: ThreadLine) -> Frame | None:
    """The frame that a row names: the innermost of the program's own, or where one of a group stands, its own."""
    if line.inside and line.thread is not None:
        return line.thread.frame
    frames = line.group.frames
    return own_frame(frames) or (frames[0] if frames else None)


class ThreadRows:
    """Lays out a list of threads.

    Attributes:
        query: Words that a thread has to hold to be listed.
        lines: The rows.
    """

    def __init__(self) -> None:
        self.query = ""
        self.lines: list[ThreadLine] = []
        self._unfolded: set[tuple[object, ...]] = set()
        self._seen = ThreadList()
        self._focused: int | None = None
        self._laid_out: tuple[object, ...] = ()
        self._position: dict[_Key, int] = {}
        self._name_width = 0

    def lay_out(self, seen: ThreadList, focused: int | None) -> None:
        """Take a list over; nothing is done where it is the one that is laid out."""
        self._seen, self._focused = seen, focused
        laid_out = (seen.groups, self.query, frozenset(self._unfolded))
        if laid_out == self._laid_out:
            return
        self._laid_out = laid_out
        words = self.query.casefold().split()
        lines: list[ThreadLine] = []
        for group in seen.groups:
            threads = _matching(group, words)
            if not threads:
                continue
            if len(threads) < len(group.threads):
                group = ThreadGroup(threads, group.frames, group.deeper)
            if len(threads) == 1:
                lines.append(ThreadLine(group, threads[0]))
                continue
            lines.append(ThreadLine(group))
            if group_key(group) in self._unfolded:
                lines += [ThreadLine(group, thread, inside=True) for thread in threads]
        self.lines = lines
        self._position = {line.key: number for number, line in enumerate(lines)}
        longest = max(
            (size_of(printable(line.thread.name)) for line in lines if line.thread is not None), default=0
        )
        self._name_width = min(_NAME_ROOM, longest)

    def fold(self, group: ThreadGroup) -> None:
        """Unfold a group, or fold it again."""
        self._unfolded ^= {group_key(group)}
        self.lay_out(self._seen, self._focused)

    def index_of(self, key: object) -> int | None:
        """The row of a thread or a group; of a thread that is folded away, its group's."""
        if isinstance(key, int):
            if key in self._position:
                return self._position[key]
            return next(
                (
                    number
                    for number, line in enumerate(self.lines)
                    if line.thread is None and any(thread.id == key for thread in line.group.threads)
                ),
                None,
            )
        return self._position.get(key) if isinstance(key, tuple) else None

    def row(self, index: int, width: int) -> Row:
        """Mark of the focus, number, name, place, state."""
        line = self.lines[index]
        thread, group = line.thread, line.group
        here = self._holds_focus(line)
        cells = [Cell("◆ " if here else "  ", "focus")]
        if thread is None:
            sign = "−" if group_key(group) in self._unfolded else "+"
            cells += [Cell(f"{sign} ", "muted"), Cell(f"{len(group.threads):,}×", "strong"), Cell("  ")]
        else:
            cells += [
                Cell("    " if line.inside else "  "),
                Cell(f"{thread.id:<3} ", "number"),
                Cell(self._named(thread), "name"),
            ]
        first = thread or group.threads[0]
        words, style = _LOOKS[first.state]
        if words:
            cells.append(Cell(f"{words}  ", style))
        if news := self._news(line):
            cells.append(Cell(f"• {news}  ", "changed"))
        if line.inside and thread is not None:
            cells += _standing(thread.frame)
            end: tuple[Cell, ...] = (
                (Cell(f"LWP {thread.system_id}", "muted"),) if thread.system_id is not None else ()
            )
        else:
            own = named_frame(line)
            cells += _standing(own)
            if own is not None and own is not group.frames[0]:
                called = group.frames[group.frames.index(own) - 1]
                cells.append(Cell(f" in {called.function}", "muted"))
            end = _place(own)
        process = self._seen.processes.get(first.process, "")
        if process and not line.inside:
            cells.append(Cell(f"  {process}", "report"))
        return Row(tuple(cells), end, target=thread or group)

    def _named(self, thread: Thread) -> str:
        """The name, as wide as the widest in the list."""
        if not self._name_width:
            return ""
        name = cut(printable(thread.name), self._name_width)
        return name + " " * (self._name_width - size_of(name) + 2)

    def text(self, index: int) -> str:
        """A group's threads and their stack, as lines."""
        group = self.lines[index].group
        chosen = self.lines[index].thread
        threads = (chosen,) if chosen is not None else group.threads
        lines = [
            f"thread {thread.id} (LWP {thread.system_id}) {thread.name}".rstrip()
            if thread.system_id is not None
            else f"thread {thread.id} {thread.name}".rstrip()
            for thread in threads
        ]
        lines += [frame_text(frame) for frame in group.frames]
        return "\n".join([*lines, "…"] if group.deeper else lines)

    def _holds_focus(self, line: ThreadLine) -> bool:
        if line.thread is not None:
            return line.thread.id == self._focused
        return any(thread.id == self._focused for thread in line.group.threads)

    def _news(self, line: ThreadLine) -> str:
        """Why threads of a row stopped since anyone looked at them."""
        news = self._seen.news
        if not news:
            return ""
        threads = (line.thread,) if line.thread is not None else line.group.threads
        reasons = {news[thread.id] for thread in threads if thread.id in news}
        return ", ".join(sorted(reasons))


def frame_text(frame: Frame) -> str:
    """A frame as a line of plain text: `#1 0x401190 main (argc=1) at main.c:10`."""
    words = [f"#{frame.level:<3}"]
    if frame.address:
        words.append(frame.address)
    arguments = ", ".join(f"{name}={value}" if value else name for name, value in frame.arguments)
    words.append(f"{frame.function} ({arguments})")
    if frame.place is not None:
        words.append(f"at {frame.place.fullname or frame.place.file}:{frame.place.line}")
    elif frame.module:
        words.append(f"from {frame.module}")
    return " ".join(words)


def _matching(group: ThreadGroup, words: list[str]) -> tuple[Thread, ...]:
    """The threads of a group that hold every word: in a function or file of their stack, else in name or number."""
    if not words:
        return group.threads
    common = " ".join(f"{frame.function} {frame.place or file_name(frame.module)}" for frame in group.frames)
    own = [word for word in words if word not in common.casefold()]
    return tuple(thread for thread in group.threads if all(_holds(thread, word) for word in own))


def _holds(thread: Thread, word: str) -> bool:
    if word.isdecimal():
        # A number is what a person read off a row, or a part of a name.
        return word in (str(thread.id), str(thread.system_id)) or word in thread.name
    return word in thread.name.casefold() or word == str(thread.state)


def _standing(frame: Frame | None) -> list[Cell]:
    if frame is None:
        return []
    return [Cell(frame.function, "function" if frame.place is not None else "muted")]


def _place(frame: Frame | None) -> tuple[Cell, ...]:
    if frame is None:
        return ()
    if frame.place is not None:
        return (Cell(f"{file_name(frame.place.file)}:", "file"), Cell(str(frame.place.line), "number"))
    return (Cell(frame.image_offset or file_name(frame.module) or frame.address, "muted"),)
