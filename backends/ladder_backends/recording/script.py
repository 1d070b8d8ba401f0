"""The exchanges of a recording, found by what was asked in which context."""

from __future__ import annotations

import re

from ladder_backends.mi.transport import Channel
from ladder_backends.recording.context import Context, Key, follow, key_of, table_key
from ladder_backends.recording.exchanges import Exchange, exchanges_of
from ladder_backends.recording.file import Recording
from ladder_backends.recording.windows import Window, cut, window_of

_PROMPT = re.compile(rb"(?:\A|[\r\n])(\([\w.-]+\) ?)\Z")
_MARK = b'current="*"'
_NO_MARK = b'current=" "'


class Script:
    """What a recording can answer.

    Attributes:
        start: What the engine wrote before it was asked anything.
        context: Where it stood then.
        prompt: The prompt of its command line.
    """

    def __init__(self, recording: Recording) -> None:
        self.start, *exchanges = exchanges_of(recording.entries)
        self.context = follow(Context(), self.start)
        self.prompt = _prompt_of([self.start, *exchanges])
        self._by_key: dict[Key, list[Exchange]] = {}
        self._windows: dict[Key, list[tuple[Window, bytes]]] = {}
        self._tables: dict[Key, bytes] = {}
        context = self.context
        for exchange in exchanges:
            self._add(exchange, context)
            context = follow(context, exchange)

    def find(self, key: Key, asked_before: int) -> Exchange | None:
        """What was recorded under a key after `asked_before` others, or the last one there."""
        found = self._by_key.get(key)
        return found[min(asked_before, len(found) - 1)] if found else None

    def derive(self, text: str, context: Context) -> bytes | None:
        """An answer that is part of a recorded one, to an MI command that was not recorded in this context.

        A window of a stack may be within a recorded one. A table that names what it is about is the same in every
        place but for its mark on the focused row, which is taken away.
        """
        window = window_of(text)
        if window is not None:
            return cut(window, self._windows.get(key_of(Channel.MI, window.command, context), ()))
        key = table_key(text, context)
        table = self._tables.get(key) if key is not None else None
        return table.replace(_MARK, _NO_MARK) if table is not None else None

    def _add(self, exchange: Exchange, context: Context) -> None:
        text = exchange.text.decode("utf-8", "surrogateescape")
        self._by_key.setdefault(key_of(exchange.channel, text, context), []).append(exchange)
        answer = exchange.answer
        if exchange.channel is not Channel.MI or answer is None:
            return
        window = window_of(text)
        if window is not None:
            key = key_of(Channel.MI, window.command, context)
            self._windows.setdefault(key, []).append((window, answer))
        key_of_table = table_key(text, context)
        if key_of_table is not None:
            self._tables.setdefault(key_of_table, answer)


def _prompt_of(exchanges: list[Exchange]) -> bytes:
    for exchange in exchanges:
        for output in exchange.outputs:
            match = _PROMPT.search(output.raw) if output.channel is Channel.CLI else None
            if match is not None:
                return match.group(1)
    return b"(gdb) "
