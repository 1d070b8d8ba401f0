"""What an engine's command line writes, as clean text, and whether it waits for a line."""

from __future__ import annotations

import codecs
import re
from collections import deque

from ladder_backends.mi.ending import says_why
from ladder_backends.text import clean

_PROMPT = re.compile(r"(?:^|\n)(?:\([\w.-]+\) | *>+)\Z")
_QUESTION = re.compile(r"(?:\[[^\]\n]*\]|\([^)\n]*\bor\b[^)\n]*\)|--Type <RET>[^\n]*--) ?\Z")
_TAIL = 200
_STYLE = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|[\x01\x02]")
_CUT_STYLE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*|\][^\x07\x1b]{0,200}\x1b?)?\Z")


class CommandLine:
    """Reads the terminal of an engine's command line.

    The terminal is a dumb one, so that line ends, carriage returns and bells are all the engine itself sends; any
    other control character comes from the target and is made visible.

    Attributes:
        styled: Commands of the user's own write here too, with colours: these are left out, not made visible.
    """

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("backslashreplace")
        self._tail = ""
        self.styled = False
        self._cut = ""
        self._held_return = False
        self._prompt = ""
        self._displaced = False
        self._last_lines: deque[str] = deque(maxlen=5)
        self._partial = ""

    def feed(self, chunk: bytes) -> str:
        """The next bytes, as text to show; it may end within a line."""
        text = self._decoder.decode(chunk)
        if self._held_return:
            text = "\r" + text
        # A carriage return may be half of a line end whose other half comes in the next chunk.
        self._held_return = text.endswith("\r")
        if self._held_return:
            text = text[:-1]
        if self.styled:
            text = self._without_styles(text)
        text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\a", "")
        text = clean(text)
        if text and self.at_prompt:
            # The engine speaks unasked, as about a stop: below its prompt, not behind it.
            self._displaced = True
            text = f"\n{text}"
        if text:
            self._tail = (self._tail + text)[-_TAIL:]
            *lines, self._partial = (self._partial + text[-4_000:]).split("\n")
            self._last_lines.extend(line for line in lines if line.strip())
            prompt = _PROMPT.search(self._tail)
            if prompt is not None:
                self._prompt, self._displaced = prompt.group().lstrip("\n"), False
        return text

    def _without_styles(self, text: str) -> str:
        text = _STYLE.sub("", self._cut + text)
        cut = _CUT_STYLE.search(text)
        self._cut = cut.group() if cut is not None else ""
        return text[: len(text) - len(self._cut)]

    @property
    def waits(self) -> bool:
        """A prompt or a question is the last thing on the line."""
        return bool(_PROMPT.search(self._tail) or _QUESTION.search(self._tail))

    @property
    def at_prompt(self) -> bool:
        """The engine waits for a command, not for more lines of one (`>`) or for an answer."""
        return bool(_PROMPT.search(self._tail)) and not self._tail.rstrip().endswith(">")

    def typed(self) -> str:
        """Note that a line was sent; returns the prompt to show before its echo, where other text displaced it."""
        shown = self._prompt if self._displaced else ""
        if shown and self._partial:
            shown = f"\n{shown}"
        self._tail, self._displaced = "", False
        return shown

    def last_words(self) -> str:
        """The last lines that say something, for the message about an engine that ended."""
        said = (*self._last_lines, self._partial)
        lines = [line for line in said if not _PROMPT.match(line) and says_why(line)]
        return "\n".join(lines[-3:])
