from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from ladder_backends.errors import RecordingInvalid
from ladder_backends.mi.transport import Channel
from ladder_backends.recording import Entry, read_recording
from ladder_backends.recording.file import entry_line, header_line

HEADER = header_line("gdb", "GNU gdb 13.1", ["gdb", "-q"])
ENTRIES = [
    Entry(0.5, Channel.MI, True, b"1-gdb-version\n"),
    Entry(0.75, Channel.CLI, False, bytes(range(256))),
    Entry(1.0, Channel.PROGRAM, False, "é\n".encode()),
    Entry(2.0, Channel.TOOL, False, b"", ended=True, status=-9),
]
TRANSCRIPTS = sorted((Path(__file__).parents[1] / "mi" / "recordings").glob("*.jsonl*"))


def written(path: Path, *lines: bytes) -> Path:
    path.write_bytes(b"".join(lines))
    return path


def test_round_trip(tmp_path: Path) -> None:
    held = read_recording(written(tmp_path / "r.jsonl", HEADER, *map(entry_line, ENTRIES)))
    assert (held.engine, held.version, held.argv, held.note) == ("gdb", "GNU gdb 13.1", ("gdb", "-q"), "")
    assert list(held.entries) == ENTRIES


def test_the_lines_are_those_of_the_format() -> None:
    assert json.loads(HEADER) == {
        "ladder_recording": 1,
        "engine": "gdb",
        "version": "GNU gdb 13.1",
        "argv": ["gdb", "-q"],
    }
    assert json.loads(entry_line(ENTRIES[0])) == {"t": 0.5, "ch": "mi", "d": ">", "b64": "MS1nZGItdmVyc2lvbgo="}


def test_unknown_keys_and_channels_are_passed_over(tmp_path: Path) -> None:
    more = b'{"t":1,"ch":"weather","d":"<","b64":""}\n{"t":2,"ch":"mi","d":"<","b64":"eA==","colour":"red"}\n'
    held = read_recording(written(tmp_path / "r.jsonl", HEADER, more))
    assert [entry.raw for entry in held.entries] == [b"x"]


def test_gzip(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl.gz"
    path.write_bytes(gzip.compress(HEADER + entry_line(ENTRIES[0])))
    assert len(read_recording(path).entries) == 1


@pytest.mark.parametrize("cut", range(1, len(entry_line(ENTRIES[0])) - 1))
def test_a_last_line_that_was_cut_off_is_passed_over(tmp_path: Path, cut: int) -> None:
    last = entry_line(ENTRIES[0])[:cut]
    held = read_recording(written(tmp_path / "r.jsonl", HEADER, entry_line(ENTRIES[1]), last))
    if held.note:
        assert list(held.entries) == ENTRIES[1:2]
        assert held.note == "its last line is cut off"
    else:
        assert list(held.entries) == [ENTRIES[1], ENTRIES[0]]


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "empty"),
        (b"\n\n", "no whole line"),
        (b"hello\n", "not JSON"),
        (b"[1,2]\n", "no JSON object"),
        (b'{"a":1}\n', "no header"),
        (b'{"ladder_recording":2,"engine":"gdb"}\n', "format 2"),
        (b'{"ladder_recording":1}\n', "names no engine"),
        (HEADER + b'nonsense\n{"t":1,"ch":"mi","d":"<","b64":""}\n', "line 2 is not JSON"),
        (HEADER + b'{"ch":"mi","d":"<","b64":""}\n', "line 2 has no time"),
        (HEADER + b'{"t":NaN,"ch":"mi","d":"<","b64":""}\n', "line 2 has no time"),
        (HEADER + b'{"t":-1,"ch":"mi","d":"<","b64":""}\n', "line 2 has no time"),
        (HEADER + b'{"t":true,"ch":"mi","d":"<","b64":""}\n', "line 2 has no time"),
        (HEADER + b'{"t":1,"d":"<","b64":""}\n', "line 2 has no channel"),
        (HEADER + b'{"t":1,"ch":"mi","d":"!","b64":""}\n', "line 2 has no direction"),
        (HEADER + b'{"t":1,"ch":"mi","d":"<","b64":"*"}\n', "line 2 has no valid b64"),
        (HEADER + b'{"t":1,"ch":"mi","d":"<","b64":7}\n', "line 2 has no valid b64"),
        (b'{"t":1,"d":"<","s":"x"}\n{"t":1,"d":"<"}\n', "line 2 has no text"),
        (b"\x1f\x8bnot really gzip", "cannot be read"),
        (gzip.compress(HEADER, mtime=0)[:-9], "cannot be read"),
        (b"[" * 100_000 + b"\n", "not JSON"),
        (bytes(range(256)) * 100, "line 1"),
    ],
)
def test_what_is_no_recording_is_told_in_one_line(tmp_path: Path, content: bytes, why: str) -> None:
    with pytest.raises(RecordingInvalid) as caught:
        read_recording(written(tmp_path / "[bold]\x1bz.jsonl", content))
    line = caught.value.line()
    assert why in line
    assert "\n" not in line
    assert "\x1b" not in line


def test_a_missing_file_and_a_folder(tmp_path: Path) -> None:
    for path in (tmp_path / "absent", tmp_path):
        with pytest.raises(RecordingInvalid, match="cannot be read"):
            read_recording(path)


@pytest.mark.parametrize("path", TRANSCRIPTS, ids=lambda path: path.name.partition(".")[0])
def test_transcripts_of_the_older_driver(path: Path) -> None:
    held = read_recording(path)
    assert held.engine == "cuda-gdb"
    assert held.note == ""
    assert {entry.channel for entry in held.entries} == {Channel.MI}
    assert all(entry.raw.endswith(b"\n") for entry in held.entries)
