"""Bytes of the machine interface become records, however they are cut and whatever is broken among them."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterator

from ladder_backends.errors import MalformedRecord
from ladder_backends.mi.lines import LineBuffer
from ladder_backends.mi.parse import SLICE, UnfinishedString, parse, parse_in_slices
from ladder_backends.mi.records import Record, ResultRecord, UnknownRecord
from ladder_backends.mi.second_opinion import second_opinion

_RESULT = re.compile(rb"(\d{1,30})\^([a-z]+)")
# What may be held back for a string to end, and how often its end is tried.
_HELD_LINES = 4096
_HELD_BYTES = 1 << 18
_HELD_TRIES = 16


class RecordAssembly:
    """Lines, and the records in them.

    A record is a line, with one exception: cuda-gdb 12.4 writes a raw newline inside a string. A line that ends
    inside a string is therefore held back until lines come that complete it. As soon as one of these is a whole
    record by itself, the held line was cut off: it becomes an `UnknownRecord`, and nothing behind it is lost.

    Args:
        awaited: Whether somebody waits for the answer to a token. A long answer that nobody waits for is not
            parsed; it comes without its results.
    """

    def __init__(self, awaited: Callable[[int], bool] = lambda _: True) -> None:
        self._awaited = awaited
        self._buffer = LineBuffer()
        self._lines: deque[bytes] = deque()
        self._slices: Iterator[Record | None] | None = None
        self._sliced = b""
        self._held: list[bytes] = []
        self._held_size = 0
        self._tries = 0

    def feed(self, chunk: bytes) -> None:
        """Add bytes; `step` does the work."""
        self._lines.extend(self._buffer.feed(chunk))

    @property
    def busy(self) -> bool:
        """There is something for `step` to do."""
        return bool(self._lines) or self._slices is not None

    def step(self) -> Record | None:
        """Do one line or one slice of a long one; returns a record if that completes one.

        What is malformed comes as an `UnknownRecord` with the reason, unless pygdbmi can read all of it.
        """
        if self._slices is not None:
            return self._next_slice()
        line = self._lines.popleft()
        if self._held:
            return self._try_held(line)
        if len(line) > SLICE:
            result = _RESULT.match(line)
            if result is not None and not self._awaited(int(result.group(1))):
                return ResultRecord(int(result.group(1)), result.group(2).decode("ascii"))
            self._slices, self._sliced = parse_in_slices(line), line
            return None
        try:
            return parse(line)
        except UnfinishedString:
            self._hold(line)
            return None
        except MalformedRecord as error:
            return second_opinion(line) or UnknownRecord(line, error.why)

    def finish(self) -> Iterator[Record]:
        """The stream has ended: all records that are left, the last line being whatever came of it."""
        rest = self._buffer.take()
        if rest:
            self._lines.append(rest)
        while self.busy:
            record = self.step()
            if record is not None:
                yield record
        if self._held:
            yield self._give_up()

    def _next_slice(self) -> Record | None:
        assert self._slices is not None
        try:
            record = next(self._slices)
        except UnfinishedString:
            self._hold(self._sliced)
            record = None
        except MalformedRecord as error:
            record = UnknownRecord(self._sliced, error.why)
        else:
            if record is None:
                return None
        self._slices, self._sliced = None, b""
        return record

    def _hold(self, line: bytes) -> None:
        self._held.append(line)
        self._held_size += len(line) + 1

    def _release(self) -> bytes:
        raw = b"\n".join(self._held)
        self._held.clear()
        self._held_size = self._tries = 0
        return raw

    def _give_up(self) -> UnknownRecord:
        return UnknownRecord(self._release(), "a string does not end")

    def _try_held(self, line: bytes) -> Record | None:
        """Is the line the rest of the held one, or a record of its own?"""
        too_much = len(self._held) >= _HELD_LINES or self._held_size + len(line) > _HELD_BYTES
        if too_much or self._tries >= _HELD_TRIES or _is_record(line):
            self._lines.appendleft(line)
            return self._give_up()
        self._hold(line)
        if b'"' not in line.replace(b"\\\\", b"").replace(b'\\"', b""):
            return None
        self._tries += 1
        try:
            record = parse(b"\n".join(self._held))
        except UnfinishedString:
            return None
        except MalformedRecord:
            return self._give_up()
        self._release()
        return record


def _is_record(line: bytes) -> bool:
    try:
        return not isinstance(parse(line), UnknownRecord)
    except MalformedRecord:
        return False
