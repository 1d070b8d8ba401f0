"""Our parser and pygdbmi's agree on every line of every recorded transcript."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from ladder_backends.errors import MalformedRecord
from ladder_backends.mi.parse import parse
from ladder_backends.mi.records import UnknownRecord
from ladder_backends.mi.second_opinion import read_by_pygdbmi, second_opinion

RECORDINGS = sorted((Path(__file__).parent / "recordings").glob("*.jsonl*"))


def received(path: Path) -> Iterator[str]:
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as lines:
        for line in lines:
            entry = json.loads(line)
            if entry["d"] == "<":
                yield entry["s"]


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.name.partition(".")[0])
def test_same_records(path: Path) -> None:
    lines = 0
    for text in received(path):
        lines += 1
        theirs = read_by_pygdbmi(text)
        try:
            ours = parse(text.encode())
        except MalformedRecord:
            assert theirs is None, text
            continue
        if isinstance(ours, UnknownRecord):
            assert theirs is None, text
        else:
            assert ours == theirs
    assert lines > 10


def test_the_recordings_are_there() -> None:
    assert len(RECORDINGS) >= 18
    assert sum(path.stat().st_size for path in RECORDINGS) < 4 << 20


def test_the_one_glued_line_is_a_typed_error() -> None:
    glued = [
        text
        for text in received(RECORDINGS[0].parent / "oob-breakpoint-and-focus.jsonl")
        if text.endswith("groupdone")
    ]
    assert len(glued) == 1
    with pytest.raises(MalformedRecord):
        parse(glued[0].encode())


@pytest.mark.parametrize(
    ("line", "results"),
    [(b'5^done,a={b="1"]', {"a": {"b": "1"}}), (b'*stopped,a="1" junk', {"a": "1"}), (b'^done,a="1",', {"a": "1"})],
)
def test_a_second_opinion_saves_what_it_reads_whole(line: bytes, results: dict[str, object]) -> None:
    with pytest.raises(MalformedRecord):
        parse(line)
    record = second_opinion(line)
    assert record is not None
    assert record.results == results


@pytest.mark.parametrize(
    "line",
    [
        b'^done,a=["x","y"',
        b'^done,a=[{b}],c="x"',
        b'^done,a="1"b="2"',
        b"^done,a=b",
        b'^done"x"',
        b"^done,a=" + b"[" * 60_000,
        b"^done" + b',a={b="x"' * 6000,
        b"^done," + b"x" * (1 << 17),
    ],
)
def test_a_second_opinion_ends_and_loses_nothing(line: bytes) -> None:
    assert second_opinion(line) is None
