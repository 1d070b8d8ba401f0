from __future__ import annotations

import random

import pytest

from ladder_backends.mi.assembly import RecordAssembly
from ladder_backends.mi.parse import SLICE
from ladder_backends.mi.records import AsyncRecord, PromptRecord, Record, ResultRecord, StreamRecord, UnknownRecord

# As cuda-gdb 12.4 answers `-cuda-focus-query`: the newline inside the string is not escaped.
FOCUS = b'3^done,"kernel 0, grid 1, block (3,0,0), thread (240,0,0), device 0, sm 0, warp 7, lane 8\n"\n(gdb) \n'
FOCUS_TEXT = "kernel 0, grid 1, block (3,0,0), thread (240,0,0), device 0, sm 0, warp 7, lane 8\n"


def records_of(*chunks: bytes, ended: bool = False) -> list[Record]:
    assembly = RecordAssembly()
    records = []
    for chunk in chunks:
        assembly.feed(chunk)
        while assembly.busy:
            record = assembly.step()
            if record is not None:
                records.append(record)
    if ended:
        records.extend(assembly.finish())
    return records


def test_a_raw_newline_inside_a_string_is_read_right() -> None:
    assert records_of(FOCUS) == [ResultRecord(3, "done", {"": FOCUS_TEXT}), PromptRecord()]


@pytest.mark.parametrize("size", [1, 2, 7, 64, 97, 98, 99])
def test_chunks_may_be_cut_anywhere(size: int) -> None:
    chunks = [FOCUS[i : i + size] for i in range(0, len(FOCUS), size)]
    assert records_of(*chunks) == [ResultRecord(3, "done", {"": FOCUS_TEXT}), PromptRecord()]


def test_several_raw_newlines() -> None:
    assert records_of(b'1^done,"a\nb\n\nc\n",x="1"\n') == [ResultRecord(1, "done", {"": "a\nb\n\nc\n", "x": "1"})]


def test_a_cut_record_does_not_swallow_the_next_ones() -> None:
    records = records_of(b'4^done,value="cut he\n*stopped,reason="x"\n(gdb) \n5^done\n')
    assert records == [
        UnknownRecord(b'4^done,value="cut he', "a string does not end"),
        AsyncRecord("*", "stopped", {"reason": "x"}),
        PromptRecord(),
        ResultRecord(5, "done"),
    ]


def test_a_cut_record_with_odd_lines_behind_it_is_given_up_at_the_next_record() -> None:
    records = records_of(b'4^done,value="cut\nnoise\nmore noise\n(gdb) \n')
    assert records == [
        UnknownRecord(b'4^done,value="cut\nnoise\nmore noise', "a string does not end"),
        PromptRecord(),
    ]


def test_a_cut_record_with_endless_noise_behind_it_is_given_up() -> None:
    records = records_of(b'4^done,value="cut\n' + b"noise\n" * 5000 + b"5^done\n")
    assert isinstance(records[0], UnknownRecord)
    assert records[-1] == ResultRecord(5, "done")


def test_two_cut_records() -> None:
    records = records_of(b'4^done,value="cut\n5^done,value="cut too\n(gdb) \n6^done\n')
    assert [type(record) for record in records][-2:] == [PromptRecord, ResultRecord]
    assert b"".join(r.raw for r in records if isinstance(r, UnknownRecord)).count(b"cut") == 2


def test_the_end_gives_out_what_is_left() -> None:
    assert records_of(b"7^done,value=", ended=True) == [UnknownRecord(b"7^done,value=", "a value is missing")]
    assert records_of(b'7^done,value="x', ended=True) == [
        UnknownRecord(b'7^done,value="x', "a string does not end")
    ]
    assert records_of(b"7^done", ended=True) == [ResultRecord(7, "done")]
    assert records_of(b"7^done\n", ended=True) == [ResultRecord(7, "done")]


def test_junk_between_records_is_kept_and_passed() -> None:
    records = records_of(b'\n\x00\xff\x01\n^done\r\n~"x"\r\nhello\n')
    assert [type(r) for r in records] == [UnknownRecord, UnknownRecord, ResultRecord, StreamRecord, UnknownRecord]


def test_a_large_record_comes_in_steps_and_keeps_its_place() -> None:
    large = b"2^done,l=[" + b",".join(b'"%d"' % i for i in range(100_000)) + b"]"
    assembly = RecordAssembly()
    assembly.feed(b"1^done\n" + large + b"\n3^done\n")
    steps = []
    while assembly.busy:
        steps.append(assembly.step())
    assert len(steps) > len(large) / SLICE
    tokens = [record.token for record in steps if isinstance(record, ResultRecord)]
    assert tokens == [1, 2, 3]


def test_a_large_broken_record_comes_as_unknown() -> None:
    large = b"2^done,l=[" + b",".join(b'"%d"' % i for i in range(100_000)) + b"}}\n3^done\n"
    records = records_of(large)
    assert isinstance(records[0], UnknownRecord)
    assert records[1] == ResultRecord(3, "done")


def test_any_cutting_gives_the_same_records() -> None:
    stream = FOCUS + b'4^done,value="cut\n(gdb) \n=x,a="\\303\\251"\n' + FOCUS
    whole = records_of(stream)
    dice = random.Random(1)
    for _ in range(200):
        cuts = sorted(dice.sample(range(len(stream)), 6))
        parts = [stream[a:b] for a, b in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
        assert records_of(*parts) == whole
