"""Dumps of the flight recorder, real ones in shape, and hostile ones."""

from __future__ import annotations

import copy
import io
import json
import os
import pickle
import pickletools
import random

import pytest

from ladder_backends.ranks.recorder.dump import DumpInvalid, read_dump
from ladder_backends.ranks.recorder.plain_pickle import PickleRefused, read_plain


def entry(number, **changes):
    return {
        "record_id": number,
        "pg_id": 0,
        "process_group": ["0", "default_pg"],
        "collective_seq_id": number,
        "p2p_seq_id": 0,
        "profiling_name": "gloo:all_reduce",
        "time_created_ns": 1_700_000_000_000_000_000,
        "input_sizes": [[4, 2]],
        "input_dtypes": ["Float"],
        "output_sizes": [[4, 2]],
        "state": "scheduled",
        "retired": False,
        "timeout_ms": 1800000,
        "is_p2p": False,
        **changes,
    }


def dump(*entries, **changes):
    return {"version": "2.10", "pg_config": {}, "pg_status": {}, "entries": list(entries), **changes}


@pytest.mark.parametrize("form", ["json", *range(pickle.HIGHEST_PROTOCOL + 1)])
def test_both_forms_tell_the_same(form):
    told = dump(entry(1, retired=True), entry(2))
    raw = json.dumps(told).encode() if form == "json" else pickle.dumps(told, protocol=form)
    found = read_dump(raw, at=1_700_000_060.0)
    assert (found.version, found.dropped) == ("2.10", 1)
    assert [(each.seq, each.op, each.state) for each in found.collectives] == [
        (1, "all_reduce", "completed"),
        (2, "all_reduce", "scheduled"),
    ]
    assert found.collectives[1].age == 60.0
    assert found.collectives[1].time_out == 1800.0


def test_an_entry_of_nccl_that_was_retired_is_not_completed_by_that():
    (one,) = read_dump(
        json.dumps(dump(entry(1, profiling_name="nccl:all_reduce", retired=True))).encode()
    ).collectives
    assert one.state == "scheduled"


def test_what_the_group_has_completed_is_completed():
    told = dump(entry(1), entry(2), pg_status={"0": {"last_completed_collective": "1"}})
    assert [each.state for each in read_dump(json.dumps(told).encode()).collectives] == ["completed", "scheduled"]


def test_sends_count_by_their_own_number():
    (one,) = read_dump(
        json.dumps(dump(entry(9, is_p2p=True, p2p_seq_id=3, profiling_name="nccl:send 0->1"))).encode()
    ).collectives
    assert (one.seq, one.point_to_point) == (3, True)


def test_entries_come_in_the_order_of_recording():
    told = dump(entry(12), entry(10), entry(11))
    assert [each.seq for each in read_dump(json.dumps(told).encode()).collectives] == [10, 11, 12]


class _Calls:
    def __reduce__(self):
        return os.system, ("touch /tmp/never",)


class _Holds:
    def __init__(self):
        self.value = 1


HOSTILE = {
    "reduce": pickle.dumps({"entries": [_Calls()]}),
    "reduce, protocol 0": pickle.dumps({"entries": [_Calls()]}, protocol=0),
    "an object": pickle.dumps(_Holds()),
    "inst": b"(S'x'\nios\nsystem\n.",
    "extension": b"\x82\x01.",
    "persistent": b"Pabc\n.",
    "far memo": b"\x80\x04]r\xff\xff\xff\x7f.",
    "build": b"}}b.",
    "out of order": b"\x80\x04aaaa.",
    "unhashable": b"\x80\x04}]K\x01s.",
    "cut": pickle.dumps(dump(entry(1)))[:-20],
    "empty": b"",
    "long": b"\x80\x04X\xff\xff\xff\x7fabc.",
}


@pytest.mark.parametrize("raw", HOSTILE.values(), ids=HOSTILE)
def test_a_pickle_that_does_more_than_hold_data_is_refused(raw):
    with pytest.raises(PickleRefused):
        read_plain(raw)
    with pytest.raises(DumpInvalid):
        read_dump(raw)


def test_a_memo_that_would_fill_the_memory_is_refused_before_it_does():
    with pytest.raises(PickleRefused, match="holds more than a dump does"):
        read_plain(HOSTILE["far memo"])


def test_the_reader_itself_knows_no_name_either():
    """Should an opcode be overlooked, the second wall stands."""
    from ladder_backends.ranks.recorder import plain_pickle

    with pytest.raises(PickleRefused, match="it would call"):
        plain_pickle._Plain(io.BytesIO(HOSTILE["reduce"])).load()
    names = {opcode.name for opcode in pickletools.opcodes}
    assert names >= plain_pickle._CALLS


@pytest.mark.parametrize("told", [[], 3, "x", {}, {"entries": 3}, {"entries": {"a": 1}}, {"format": 1}])
def test_what_is_no_dump_is_refused(told):
    with pytest.raises(DumpInvalid):
        read_dump(pickle.dumps(told))


def test_no_dump_however_damaged_raises_anything_else():
    chance = random.Random(11)
    good = dump(entry(1, frames=[{"name": "a", "filename": "b", "line": 3}]), entry(2))
    junk = [None, -1, 1 << 70, 1.5, "\x1b[31m", [], {}, [[None]], True, "9" * 400, b"x", float("nan")]
    for _ in range(400):
        told = copy.deepcopy(good)
        place = chance.choice([told, told["entries"][0], told["entries"][1]])
        place[chance.choice(list(place))] = chance.choice(junk)
        try:
            found = read_dump(pickle.dumps(told))
        except DumpInvalid:
            continue
        assert "\x1b" not in repr(found)
    raw = bytearray(pickle.dumps(good))
    for _ in range(400):
        broken = bytearray(raw)
        for _ in range(chance.randrange(1, 4)):
            broken[chance.randrange(len(broken))] = chance.randrange(256)
        try:
            read_dump(bytes(broken))
        except DumpInvalid:
            continue
