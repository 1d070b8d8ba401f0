"""Signals: the engine's table, and what the system told of the one that came."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from ladder_backends.debugger.facets import Signals
from ladder_backends.errors import CommandFailed
from ladder_backends.gdb.questions import Engine
from ladder_backends.gdb.translation import text_of
from ladder_backends.model.signal_handling import SignalCause, SignalHandling

_ROW = re.compile(
    r"^(?P<name>(?:SIG|EXC_)\w+)\s+(?P<stop>Yes|No)\s+(?P<print>Yes|No)\s+(?P<pass>Yes|No)\s+(?P<words>.*)$"
)
_NAME = re.compile(r"(?:SIG|EXC_)\w+")
_FIELD = re.compile(r"\b(si_signo|si_code|si_addr|si_pid|si_uid|_lower|_upper) = (-?0x[0-9a-f]+|-?\d+)")

_BY_FAULT: Mapping[tuple[int, int], str] = {
    (4, 1): "illegal instruction at {}",
    (4, 2): "illegal operand at {}",
    (4, 5): "privileged instruction at {}",
    (7, 1): "address {} is not aligned",
    (7, 2): "address {} has no memory behind it: the mapped file is shorter",
    (7, 3): "the memory at {} is broken",
    (7, 4): "the memory at {} is broken",
    (7, 5): "the memory at {} is broken",
    (8, 1): "integer division by zero",
    (8, 2): "integer overflow",
    (8, 3): "floating-point division by zero",
    (8, 4): "floating-point overflow",
    (8, 5): "floating-point underflow",
    (8, 6): "inexact floating-point result",
    (8, 7): "invalid floating-point operation",
    (8, 8): "subscript out of range",
    (11, 1): "address {} is not mapped",
    (11, 2): "address {} may not be accessed so",
    (11, 3): "address {} failed its bound check",
    (11, 4): "address {} is protected by a key",
    (11, 128): "an address that no pointer can hold",
}
"""Causes of the kernel's `siginfo.h` by signal number and `si_code`."""

_SENT = {0: "sent", -1: "queued", -6: "sent to this thread"}
"""`si_code` of signals that a process sent: by kill, sigqueue, tgkill."""


class GdbSignals(Signals):
    """Asks an engine about signals."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def table(self) -> Sequence[SignalHandling]:
        """The rows of `info signals`."""
        text = await self._engine.cli_text("info signals")
        rows = [match for line in text.splitlines() if (match := _ROW.match(line))]
        return [
            SignalHandling(
                row["name"], row["stop"] == "Yes", row["print"] == "Yes", row["pass"] == "Yes", row["words"].strip()
            )
            for row in {row["name"]: row for row in rows}.values()
        ]

    async def handle(
        self, name: str, *, stops: bool | None = None, prints: bool | None = None, passes: bool | None = None
    ) -> None:
        """Change columns of a signal; the engine prints what it stops at."""
        words = [
            word if on else f"no{word}"
            for word, on in (("print", prints), ("stop", stops), ("pass", passes))
            if on is not None
        ]
        if not _NAME.fullmatch(name) or not words:
            raise CommandFailed("handle", f"there is no signal {name}")
        await self._engine.cli_text(f"handle {name} {' '.join(words)}")

    async def cause(self) -> SignalCause | None:
        """The thread's `$_siginfo`, read."""
        try:
            place = await self._engine.at_frame(0)
            answer = await self._engine.command(f'-data-evaluate-expression{place} "$_siginfo"', deadline=2.0)
        except CommandFailed:
            return None
        return cause_of(text_of(answer.results.get("value")))

    async def deliver(self, name: str) -> None:
        """Queue a signal, or none, in place of the one that stopped the thread."""
        if name and not _NAME.fullmatch(name):
            raise CommandFailed("queue-signal", f"there is no signal {name}")
        await self._engine.cli_text(f"queue-signal {name or 0}")


def cause_of(text: str) -> SignalCause | None:
    """The cause that a printed `siginfo_t` tells; None where it is none."""
    fields: dict[str, int] = {}
    for name, number in _FIELD.findall(text):
        fields.setdefault(name, int(number, 0))
    signal, code = fields.get("si_signo"), fields.get("si_code")
    if not signal or code is None:
        return None
    address = fields.get("si_addr")
    words = _BY_FAULT.get((signal, code))
    if words is not None:
        about = "{}" in words
        return SignalCause(signal, words.format(hex(address or 0)), address if about else None)
    if code in _SENT and "si_pid" in fields:
        return SignalCause(signal, f"{_SENT[code]} by process {fields['si_pid']}, user {fields.get('si_uid', 0)}")
    return SignalCause(signal)
