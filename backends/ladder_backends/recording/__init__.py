"""Recording and replay of an engine's streams, at transport level."""

from ladder_backends.recording.file import Entry, Recording, read_recording
from ladder_backends.recording.recorder import Recorder
from ladder_backends.recording.replay import ReplayTransport

__all__ = ["Entry", "Recorder", "Recording", "ReplayTransport", "read_recording"]
