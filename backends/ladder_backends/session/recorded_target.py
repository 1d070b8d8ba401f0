"""What a recorded engine was pointed at, read from the commands it was sent."""

from __future__ import annotations

import re
from pathlib import Path

from ladder_backends.debugger import AttachTarget, CoreTarget, GpuDumpTarget, LaunchTarget, Target
from ladder_backends.errors import RecordingInvalid
from ladder_backends.mi.transport import Channel
from ladder_backends.recording import Recording

_SYMBOLS = re.compile(r'-file-exec-and-symbols (?:"((?:[^"\\]|\\.)*)"|(\S+))')
_DUMP = re.compile(r'target cudacore (?:\\"(.*?)\\"|([^"\n]+?))"')
_CORE = re.compile(r'-target-select core (?:"((?:[^"\\]|\\.)*)"|([^\n]+))')
_ATTACH = re.compile(r"-target-attach (?:--thread-group \w+ )?(\d+)")
_START = re.compile(r"-exec-run( --start)?")


def recorded_target(recording: Recording) -> Target:
    """The target that the recorded session opened.

    Raises:
        RecordingInvalid: It opened none.
    """
    sent = b"".join(entry.raw for entry in recording.entries if entry.sent and entry.channel is Channel.MI)
    text = sent.decode("utf-8", "surrogateescape")
    program = _path(_SYMBOLS.search(text))
    dump, core = _path(_DUMP.search(text)), _path(_CORE.search(text))
    attached = _ATTACH.search(text)
    if dump is not None:
        return GpuDumpTarget(dump, program)
    if core is not None:
        return CoreTarget(core, program)
    if attached is not None:
        return AttachTarget(int(attached[1]))
    if program is not None:
        started = _START.search(text)
        return LaunchTarget(program, stop_at_main=started is not None and bool(started[1]))
    raise RecordingInvalid(
        "the recording shows nothing",
        "its engine was never pointed at a program or dump",
        "record a session that was",
    )


def _path(match: re.Match[str] | None) -> Path | None:
    if match is None:
        return None
    quoted, plain = match.groups()
    return Path(re.sub(r"\\(.)", r"\1", quoted) if quoted is not None else plain.strip())
