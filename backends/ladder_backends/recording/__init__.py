"""Recording and replay of an engine's streams, at transport level."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ladder_backends.exports import on_demand

if TYPE_CHECKING:
    from ladder_backends.recording.file import Entry, Recording, read_recording
    from ladder_backends.recording.recorder import Recorder
    from ladder_backends.recording.replay import ReplayTransport
else:
    __getattr__ = on_demand(
        __name__,
        file="Entry Recording read_recording",
        recorder="Recorder",
        replay="ReplayTransport",
    )

__all__ = ["Entry", "Recorder", "Recording", "ReplayTransport", "read_recording"]
