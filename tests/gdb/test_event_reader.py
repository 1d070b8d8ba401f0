"""What of an engine's log a person is told."""

from __future__ import annotations

import pytest

from ladder_backends.gdb.event_reader import EventReader
from ladder_backends.mi.records import StreamRecord
from ladder_backends.model.events import EngineNotice, Event


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("warning: 10\tvector_add_oob.cu: No such file or directory\n", False),
        ("warning: Source file is more recent than executable.\n", True),
        ("warning: core file may not match specified executable file.\n", True),
        ("10\tvector_add_oob.cu: No such file or directory.\n", False),
    ],
)
def test_a_missing_source_file_is_no_warning(text: str, told: bool) -> None:
    events: list[Event] = []
    reader = EventReader(events.append, lambda _: None)
    reader.read_stream(StreamRecord("&", text))
    assert [event for event in events if isinstance(event, EngineNotice)] == (
        [EngineNotice(text.strip())] if told else []
    )
