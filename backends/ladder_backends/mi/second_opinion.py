"""pygdbmi's reading of a line: the oracle of the parity tests, and the reader of last resort.

pygdbmi forgives what the grammar does not (a bracket of the wrong kind, text behind a record), at the price of
dropping what it does not understand. Its reading of a refused line is therefore taken only where every string
of the line is in it. It never ends on a list that was cut off; a stream that ends stops it.
"""

from __future__ import annotations

import importlib
import re
import warnings
from typing import Any

from ladder_backends.mi.records import AsyncRecord, PromptRecord, Record, ResultRecord, StreamRecord, Value

# pygdbmi reads about 1 MB/s.
_LIMIT = 1 << 16
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_READS_BEHIND_END = 16
_STREAMS = {"console": "~", "target": "@", "log": "&"}


def read_by_pygdbmi(text: str) -> Record | None:
    """What pygdbmi makes of a line; None where it makes nothing of it.

    A name that a tuple holds more than once has a plain list of its values here.
    """
    try:
        with warnings.catch_warnings():
            # It uses a deprecated call of `logging` on characters it does not expect.
            warnings.simplefilter("ignore", DeprecationWarning)
            response = _parser().parse_response(text)
    except (ArithmeticError, AssertionError, EOFError, LookupError, RecursionError, TypeError, ValueError):
        return None
    kind, message, payload = response["type"], response["message"], response["payload"]
    if kind == "result":
        return ResultRecord(response["token"], message, payload or {})
    if kind == "notify":
        return AsyncRecord(text.lstrip("0123456789")[0], message, payload or {}, response["token"])
    if kind in _STREAMS:
        return StreamRecord(_STREAMS[kind], payload)
    return PromptRecord() if kind == "done" else None


def second_opinion(line: bytes) -> ResultRecord | AsyncRecord | None:
    """A reading of a line that the grammar refuses, if there is one that loses no string of it."""
    if len(line) > _LIMIT or not line.isascii():
        return None
    text = line.decode("ascii").rstrip("\r")
    record = read_by_pygdbmi(text)
    if not isinstance(record, ResultRecord | AsyncRecord) or '"' in record.cls:
        return None
    return record if _strings(record.results) == len(_STRING.findall(text)) else None


def _strings(value: Value) -> int:
    if isinstance(value, str):
        return 1
    return sum(_strings(item) for item in (value.values() if isinstance(value, dict) else value))


def _parser() -> Any:
    """Pygdbmi's module, made to end; imported when it is needed, which is seldom."""
    module: Any = importlib.import_module("pygdbmi.gdbmiparser")
    stream_type: Any = importlib.import_module("pygdbmi.StringStream").StringStream
    if module.StringStream is stream_type:

        class FiniteStream(stream_type):  # type: ignore[misc]
            """Text that may be read behind its end a few times only."""

            behind = 0

            def read(self, count: int) -> str:
                text: str = super().read(count)
                if not text:
                    self.behind += 1
                    if self.behind > _READS_BEHIND_END:
                        raise EOFError("read behind the end")
                return text

        module.StringStream = FiniteStream
        # It formats every container for a log that is off, which takes the square of the depth.
        module.fmt_green = lambda _: ""
    return module
