"""The file format of a recording: JSON Lines, one chunk of an engine's streams a line.

The first line is `{"ladder_recording":1,"engine":...,"version":...,"argv":[...]}`, each further one
`{"t":seconds,"ch":"mi"|"cli"|"program"|"tool","d":">"|"<","b64":...}`. Readers ignore unknown keys and
channels. A line with an `ended` key tells that the engine ended by itself, with that exit status.

Transcripts of an older driver are read too: no header, `{"t":seconds,"d":">"|"<","s":line}`, all of the machine
interface.
"""

from __future__ import annotations

import base64
import binascii
import gzip
import json
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from ladder_backends.errors import RecordingInvalid
from ladder_backends.mi.transport import Channel
from ladder_backends.text import clean_line

FORMAT = 1

_SIZE_LIMIT = 1 << 30
_LATEST = 1e10
_GZIP = b"\x1f\x8b"
_OLD_ENGINE = "cuda-gdb"


@dataclass(frozen=True, slots=True)
class Entry:
    """One chunk.

    Attributes:
        at: Seconds since the recording began.
        sent: It went to the engine.
        ended: The engine ended here by itself; `status` is its exit status or None.
    """

    at: float
    channel: Channel
    sent: bool
    raw: bytes
    ended: bool = False
    status: int | None = None


@dataclass(frozen=True, slots=True)
class Recording:
    """What a file holds.

    Attributes:
        engine: `gdb`, `cuda-gdb`, ...; clean.
        version: First line of the engine's version text, clean; may be empty.
        argv: The engine's command line, clean.
        note: What is wrong with the file although it can be used; may be empty.
    """

    engine: str
    version: str
    argv: tuple[str, ...]
    entries: tuple[Entry, ...]
    note: str = ""


_Reader: TypeAlias = Callable[[Path, int, dict[str, Any]], Entry | None]


def header_line(engine: str, version: str, argv: Sequence[str]) -> bytes:
    """The first line of a recording."""
    return _line({"ladder_recording": FORMAT, "engine": engine, "version": version, "argv": list(argv)})


def entry_line(entry: Entry) -> bytes:
    """One further line."""
    fields: dict[str, Any] = {
        "t": round(entry.at, 6),
        "ch": entry.channel.value,
        "d": ">" if entry.sent else "<",
        "b64": base64.b64encode(entry.raw).decode("ascii"),
    }
    if entry.ended:
        fields["ended"] = entry.status
    return _line(fields)


def read_recording(path: Path) -> Recording:
    """Read a recording, plain or gzipped.

    A last line that was cut off, as a crash leaves it, is passed over with a note.

    Raises:
        RecordingInvalid: The file cannot be read, or it is no recording.
    """
    raw = _read(path)
    lines = raw.split(b"\n")
    cut = lines.pop() if lines[-1] else b""
    lines = [line for line in lines if line]
    if not lines:
        raise _invalid(path, "it is empty" if not raw else "it holds no whole line")
    first = _object(path, 1, lines[0])
    if "ladder_recording" in first:
        if first["ladder_recording"] != FORMAT:
            raise _invalid(path, f"format {clean_line(str(first['ladder_recording']))[:20]} is not known here")
        engine = first.get("engine")
        if not isinstance(engine, str) or not engine:
            raise _invalid(path, "its header names no engine")
        argv = first.get("argv")
        arguments = tuple(clean_line(str(each)) for each in argv) if isinstance(argv, list) else ()
        version = first.get("version")
        body, begun, start = lines[1:], (engine, version if isinstance(version, str) else "", arguments), 2
        read: _Reader = _entry
    elif {"t", "d", "s"} <= first.keys():
        body, begun, start = lines, (_OLD_ENGINE, "", ()), 1
        read = _old_entry
    else:
        raise _invalid(path, "its first line is no header of a recording")
    entries = [read(path, number, _object(path, number, line)) for number, line in enumerate(body, start)]
    note = ""
    if cut:
        last = _last_entry(path, cut, read)
        entries.append(last)
        note = "" if last is not None else "its last line is cut off"
    engine, version, arguments = begun
    known = tuple(entry for entry in entries if entry is not None)
    return Recording(clean_line(engine), clean_line(version), arguments, known, note)


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            raw = file.read(_SIZE_LIMIT + 1)
        if raw.startswith(_GZIP):
            with gzip.open(path) as packed:
                raw = packed.read(_SIZE_LIMIT + 1)
    except (OSError, EOFError, zlib.error, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise RecordingInvalid(f"{clean_line(path.name)} cannot be read", clean_line(why)) from None
    if len(raw) > _SIZE_LIMIT:
        raise _invalid(path, f"it has more than {_SIZE_LIMIT >> 20} MiB")
    return raw


def _last_entry(path: Path, line: bytes, read: _Reader) -> Entry | None:
    try:
        return read(path, 0, _object(path, 0, line))
    except RecordingInvalid:
        return None


def _entry(path: Path, number: int, fields: dict[str, Any]) -> Entry | None:
    try:
        channel = Channel(fields["ch"])
    except ValueError:
        return None
    except KeyError:
        raise _invalid(path, f"line {number} has no channel") from None
    at = _seconds(path, number, fields)
    ended = "ended" in fields
    status = fields.get("ended")
    try:
        raw = base64.b64decode(fields["b64"], validate=True)
    except (KeyError, TypeError, ValueError, binascii.Error):
        raise _invalid(path, f"line {number} has no valid b64") from None
    sent = _direction(path, number, fields)
    return Entry(at, channel, sent, raw, ended, status if isinstance(status, int) else None)


def _old_entry(path: Path, number: int, fields: dict[str, Any]) -> Entry | None:
    text = fields.get("s")
    if not isinstance(text, str):
        raise _invalid(path, f"line {number} has no text")
    at = _seconds(path, number, fields)
    raw = text.encode("utf-8", "surrogateescape") + b"\n"
    return Entry(at, Channel.MI, _direction(path, number, fields), raw)


def _seconds(path: Path, number: int, fields: dict[str, Any]) -> float:
    at = fields.get("t")
    if isinstance(at, bool) or not isinstance(at, int | float) or not 0 <= at < _LATEST:
        raise _invalid(path, f"line {number} has no time")
    return float(at)


def _direction(path: Path, number: int, fields: dict[str, Any]) -> bool:
    direction = fields.get("d")
    if direction not in (">", "<"):
        raise _invalid(path, f"line {number} has no direction")
    return bool(direction == ">")


def _object(path: Path, number: int, line: bytes) -> dict[str, Any]:
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError):
        raise _invalid(path, f"line {number} is not JSON") from None
    if not isinstance(fields, dict):
        raise _invalid(path, f"line {number} is no JSON object")
    return fields


def _invalid(path: Path, why: str) -> RecordingInvalid:
    return RecordingInvalid(f"{clean_line(path.name)} is no recording", why, "open a file that `--record` wrote")


def _line(fields: dict[str, Any]) -> bytes:
    return json.dumps(fields, separators=(",", ":"), ensure_ascii=True).encode("ascii") + b"\n"
