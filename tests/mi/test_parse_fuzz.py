"""Cut and mutated real lines end in a record or a typed error, soon, and do not harm the line behind them."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path

import pytest

from ladder_backends.errors import MalformedRecord
from ladder_backends.mi.assembly import RecordAssembly
from ladder_backends.mi.parse import parse
from ladder_backends.mi.records import AsyncRecord, PromptRecord, Record, ResultRecord, StreamRecord, UnknownRecord

RECORDINGS = Path(__file__).parent / "recordings"
_BYTES = b'",={}[]\\~*^&@=\r\x00\xff7n0'


def real_lines() -> list[bytes]:
    lines: set[str] = set()
    for path in sorted(RECORDINGS.glob("*.jsonl")):
        received = [entry["s"] for entry in map(json.loads, path.read_text().splitlines()) if entry["d"] == "<"]
        lines.update(text for text in received if len(text) < 5000)
    with gzip.open(RECORDINGS / "big-grid-thread-table-30MB.jsonl.gz", "rt") as big:
        entries = [json.loads(line) for _, line in zip(range(200), big, strict=False)]
    lines.update(entry["s"] for entry in entries if entry["d"] == "<")
    return sorted(text.encode() for text in lines)


LINES = real_lines()


def mutate(line: bytes, dice: random.Random) -> bytes:
    text = bytearray(line)
    for _ in range(dice.randrange(1, 5)):
        place = dice.randrange(len(text) + 1)
        action = dice.randrange(4)
        if action == 0:
            del text[place:]
        elif action == 1:
            del text[place : place + dice.randrange(1, 6)]
        elif action == 2:
            text[place:place] = bytes([dice.choice(_BYTES)])
        else:
            text[place : place + 1] = bytes([dice.choice(_BYTES)])
    return bytes(text).replace(b"\n", b"")


def test_real_lines_are_records() -> None:
    assert len(LINES) > 1000
    assert sum(isinstance(parse(line), UnknownRecord) for line in LINES if not line.endswith(b"groupdone")) <= 7


@pytest.mark.parametrize("seed", range(8))
def test_mutated_lines_give_a_record_or_a_typed_error(seed: int) -> None:
    dice = random.Random(seed)
    for line in LINES[seed::8]:
        for _ in range(4):
            mutated = mutate(line, dice)
            try:
                record = parse(mutated)
            except MalformedRecord:
                continue
            assert isinstance(record, ResultRecord | AsyncRecord | StreamRecord | PromptRecord | UnknownRecord)


@pytest.mark.parametrize("seed", range(4))
def test_the_stream_is_in_step_again_behind_a_broken_line(seed: int) -> None:
    dice = random.Random(100 + seed)
    for line in LINES[seed::4]:
        stream = mutate(line, dice) + b'\n(gdb) \n9^done,mark="here"\n(gdb) \n'
        assembly = RecordAssembly()
        records: list[Record] = []
        position = 0
        while position < len(stream):
            size = dice.randrange(1, 400)
            assembly.feed(stream[position : position + size])
            position += size
            while assembly.busy:
                record = assembly.step()
                if record is not None:
                    records.append(record)
        assert records[-3:] == [PromptRecord(), ResultRecord(9, "done", {"mark": "here"}), PromptRecord()]
