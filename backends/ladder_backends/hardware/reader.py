"""Facts from files and calls: one method a way of reading, and every refusal becomes a reason."""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterable
from typing import Any

from ladder_backends.hardware.ports import NO_PERMISSION, Field, Files, Nvml, NvmlRefused
from ladder_backends.model.fact import Fact
from ladder_backends.text import clean_line

Parse = Callable[[Any], Any]


class Reader:
    """Reads facts of one machine.

    Attributes:
        files: Its file system.
        nvml: Its NVML.
        closed: Why NVML answers nothing at all, or an empty string.
    """

    def __init__(self, files: Files, nvml: Nvml) -> None:
        self.files = files
        self.nvml = nvml
        self.closed = ""

    # Texts -----------------------------------------------------------------------------------------------------

    def text(self, path: str) -> str | None:
        """A small file, cleaned and without the white space around it; None where it cannot be read."""
        try:
            return self._clean(self.files.read(path))
        except OSError:
            return None

    def names(self, path: str) -> tuple[str, ...] | None:
        """What lies in a folder; None where that cannot be read."""
        try:
            return tuple(clean_line(name) for name in self.files.names(path))
        except OSError:
            return None

    def file(
        self,
        name: str,
        label: str,
        path: str,
        parse: Parse = str,
        *,
        shown: Callable[[Any], str] = lambda value: "",
        absent: str = "",
        remedy: str = "",
        live: bool = False,
    ) -> Fact:
        """A fact from a small file.

        Args:
            name: Of the fact.
            label: Of the fact.
            path: File.
            parse: Text to value; `ValueError` and None mean that it cannot be understood.
            shown: Value to text for people.
            absent: What to say where there is no such file, instead of that.
            remedy: What to do where it cannot be read.
            live: It changes by itself.
        """
        try:
            text = self._clean(self.files.read(path))
        except OSError as error:
            return self.unread(name, label, path, error, absent=absent, remedy=remedy, live=live)
        try:
            value = parse(text)
        except (ValueError, LookupError):
            value = None
        if value is None:
            return Fact(
                name, label, source=path, why=f"it says {text[:40]!r}" if text else "it is empty", live=live
            )
        return Fact(name, label, value, shown(value), path, live=live)

    def unread(
        self,
        name: str,
        label: str,
        path: str,
        error: OSError,
        *,
        absent: str = "",
        remedy: str = "",
        live: bool = False,
    ) -> Fact:
        """A fact that a file did not give."""
        if error.errno in (errno.EACCES, errno.EPERM):
            return Fact(name, label, source=path, why="unread: needs root", remedy=remedy, live=live)
        if error.errno in (errno.ENOENT, errno.ENOTDIR):
            why = absent or "there is no such file"
            return Fact(name, label, source=path, why=why, live=live)
        return Fact(name, label, source=path, why=f"unread: {error.strerror or error}", remedy=remedy, live=live)

    def _clean(self, text: str) -> str:
        return "\n".join(clean_line(line.replace("\t", " ")) for line in text.strip().strip("\0").splitlines())

    # NVML ------------------------------------------------------------------------------------------------------

    def call(
        self,
        name: str,
        label: str,
        call: str,
        *arguments: int,
        parse: Parse = lambda value: value,
        shown: Callable[[Any], str] = lambda value: "",
        unsupported: str = "",
        live: bool = False,
    ) -> Fact:
        """A fact from a call of NVML.

        Args:
            name: Of the fact.
            label: Of the fact.
            call: By its C name.
            arguments: Of the call; a GPU is its index.
            parse: Answer to value; `ValueError`, `LookupError`, `TypeError` and None mean that it says nothing.
            shown: Value to text for people.
            unsupported: What to say where the call is not supported, instead of that.
            live: It changes by itself.
        """
        try:
            answer = self.answer(call, *arguments)
        except NvmlRefused as refused:
            return self.refused(name, label, call, refused, unsupported=unsupported, live=live)
        return self.made(name, label, call, answer, parse, shown, live=live)

    def made(
        self,
        name: str,
        label: str,
        source: str,
        answer: Any,
        parse: Parse = lambda value: value,
        shown: Callable[[Any], str] = lambda value: "",
        *,
        live: bool = False,
    ) -> Fact:
        """A fact of an answer that is there already."""
        try:
            value = parse(answer)
        except (ValueError, LookupError, TypeError):
            value = None
        if value is None:
            return Fact(name, label, source=source, why=f"NVML answers {str(answer)[:40]}", live=live)
        return Fact(name, label, value, shown(value), source, live=live)

    def answer(self, call: str, *arguments: int) -> Any:
        """The plain answer of a call, with texts cleaned.

        Raises:
            NvmlRefused: NVML is closed, or refused the call.
        """
        if self.closed:
            raise NvmlRefused(0, self.closed)
        answer = self.nvml.ask(call, *arguments)
        return clean_line(answer) if isinstance(answer, str) else answer

    def ask(self, call: str, *arguments: int) -> Any:
        """The plain answer of a call, or None where it was refused."""
        try:
            return self.answer(call, *arguments)
        except NvmlRefused:
            return None

    def refused(
        self, name: str, label: str, call: str, refused: NvmlRefused, *, unsupported: str = "", live: bool = False
    ) -> Fact:
        """A fact that NVML did not give."""
        why = refused.why
        if refused.code == NO_PERMISSION:
            why = "unread: needs root"
        elif refused.code == 3 and unsupported:
            why = unsupported
        return Fact(name, label, source=call, why=why, live=live)

    def fields(self, gpu: int, numbers: Iterable[Field]) -> dict[Field, int | float | NvmlRefused]:
        """Fields of a GPU in one call; every one has a value or a refusal."""
        numbers = tuple(numbers)
        if self.closed:
            return dict.fromkeys(numbers, NvmlRefused(0, self.closed))
        try:
            found = self.nvml.fields(gpu, numbers)
        except NvmlRefused as refused:
            return dict.fromkeys(numbers, refused)
        return {number: found.get(number, NvmlRefused(3)) for number in numbers}

    def field(
        self,
        name: str,
        label: str,
        number: Field,
        found: dict[Field, int | float | NvmlRefused],
        *,
        parse: Parse = lambda value: value,
        shown: Callable[[Any], str] = lambda value: "",
        live: bool = False,
    ) -> Fact:
        """A fact from a field that was read with others."""
        plain = number if isinstance(number, int) else number[0]
        source = f"NVML field {plain}"
        value = found[number]
        if isinstance(value, NvmlRefused):
            return self.refused(name, label, source, value, live=live)
        return self.made(name, label, source, value, parse, shown, live=live)


def binary(count: int) -> str:
    """Bytes as people write sizes of memory: `141 GiB`."""
    size, unit = float(count), "B"
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if size < 1024 or unit == "TiB":
            break
        size /= 1024
    return f"{size:.0f} {unit}" if size >= 10 or size == int(size) else f"{size:.1f} {unit}"


def ranges(numbers: Iterable[int]) -> str:
    """Numbers as `0-3,8`."""
    out: list[str] = []
    start = last = None
    for number in [*sorted(numbers), None]:
        if start is not None and (number is None or number != last + 1):  # type: ignore[operator]
            out.append(f"{start}" if start == last else f"{start}-{last}")
            start = None
        if start is None:
            start = number
        last = number
    return ",".join(out)
