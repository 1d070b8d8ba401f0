"""Reports of NCCL's RAS as JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ladder_backends.ranks.ras.report import read_json

RECORDED = (Path(__file__).parent / "nccl-ras-one-rank.json").read_text()

# As NCCL 2.28.9 writes a rank that is missing: no comma stands before its status.
MISSING = """\
      "missing_ranks": [
        {
          "rank": 1,
          "host": "192.0.2.2",
          "pid": 1583,
          "cuda_dev": 1,
          "nvml_dev": 1
          "status": {
            "unresponsive": true,
            "considered_dead": false
          }
        }
      ]
"""


def test_the_recording_of_one_rank() -> None:
    status = read_json(RECORDED)
    assert status.version == "2.28.9"
    (member,) = status.members
    assert (member.rank, member.pid, member.host, member.state) == (0, 1582, "192.0.2.2", "RUNNING")
    assert member.counts["AllReduce"] == 0
    assert status.sizes == {member.communicator: 1}


def test_a_missing_rank_without_its_comma() -> None:
    text = RECORDED.replace('      "missing_ranks": [\n\n      ]\n', MISSING)
    assert "considered_dead" in text
    with pytest.raises(ValueError, match="delimiter"):
        json.loads(text)
    first, second = read_json(text).members
    assert (first.rank, first.state) == (0, "RUNNING")
    assert (second.rank, second.pid, second.state) == (1, 1583, "MISSING")


@pytest.mark.parametrize(
    ("marks", "word"),
    [
        ({"init_state": 0, "async_error": 0}, "RUNNING"),
        ({"init_state": 7, "async_error": 0}, "INIT"),
        ({"init_state": 0, "async_error": 3}, "ERROR"),
        ({"init_state": 0, "finalize_called": True}, "FINALIZE"),
        ({"init_state": 0, "destroy_flag": True}, "FINALIZE"),
        ({"init_state": 0, "abort_flag": True, "async_error": 3}, "ABORT"),
        ({}, ""),
        ({"init_state": "odd", "async_error": None}, "INIT"),
    ],
)
def test_the_marks_of_a_rank_are_told_in_the_words_of_the_text_form(marks: dict[str, object], word: str) -> None:
    report = {"communicators": [{"hash": "0x1", "size": 1, "ranks": [{"rank": 0, "pid": 5, "status": marks}]}]}
    (member,) = read_json(json.dumps(report)).members
    assert member.state == word


@pytest.mark.parametrize("text", ["", "{", '{"a": 1\n"b" 2}', "[" * 100_000, '"ranks"'])
def test_what_is_no_report(text: str) -> None:
    if text == '"ranks"':
        assert read_json(text).members == []
    else:
        with pytest.raises(ValueError):
            read_json(text)
