"""Verdicts over what torch's own recorder wrote of two jobs of four ranks on gloo, read as any dump is read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ladder_backends.model.ranks import Collective, Evidence, Job, Launcher, Rank
from ladder_backends.ranks.ras.reading import join
from ladder_backends.ranks.ras.report import RasStatus, read_text
from ladder_backends.ranks.recorder.dump import read_dump
from ladder_backends.ranks.verdict import judge, verdict_json, verdict_lines

from .machine_made import look, twice

DUMPS = json.loads((Path(__file__).parent / "gloo_dumps.json").read_text())


def recorded(name: str) -> dict[int, tuple[Collective, ...]]:
    # Two seconds after the last entry of any rank.
    entries = [entry for told in DUMPS[name].values() for entry in told["entries"]]
    at = max(entry["time_created_ns"] for entry in entries) / 1e9 + 2
    return {
        int(rank): read_dump(json.dumps(told).encode(), at=at).collectives for rank, told in DUMPS[name].items()
    }


@pytest.mark.parametrize(
    ("name", "row", "suspects", "words"),
    [
        ("missing", "missing", (1,), "Rank 1 has not joined all_reduce #4 (3 wait, 2 s)."),
        ("type", "wrong-op", (3,), "Rank 3 is in all_gather where ranks 0-2 are in all_reduce, as number 4"),
    ],
)  # fmt: skip
def test_the_rank_is_found(name: str, row: str, suspects: tuple[int, ...], words: str) -> None:
    verdict = judge(twice(look(4, collectives=recorded(name))))
    assert (verdict.id, verdict.suspects, verdict.seq) == (row, suspects, 4)
    assert verdict.sentence.startswith(words)


def test_json_and_text_of_a_verdict() -> None:
    verdict = judge(twice(look(4, collectives=recorded("missing"))))
    told = json.loads(json.dumps(verdict_json(verdict)))
    assert (told["suspects"], told["waiters"], told["seq"]) == ("1", "0,2-3", 4)
    assert told["now"]["command"] == "ladder-tui attach 4001"
    lines = list(verdict_lines(verdict))
    assert lines[0].startswith("✗ Rank 1 has not joined")
    assert lines[-1].startswith("  Now: ladder-tui attach 4001")


def test_a_rank_that_ras_has_no_data_of() -> None:
    """NCCL 2.28.9 on two H200: what its RAS said while the second rank was held."""
    text = (Path(__file__).parents[1] / "ranks" / "nccl-ras-missing-rank.txt").read_text()
    status = read_text(text)
    ranks = tuple(Rank(rank, held, "n", 1, "python") for rank, held in enumerate((835, 836)))
    told = Job("torchrun:x", Launcher.TORCHRUN, 1, 2, ranks)
    verdict = judge([Evidence(told, 1.0, ras=tuple(join(told, status, status)))])
    assert (verdict.id, verdict.suspects) == ("ras-silent", (1,))
    assert verdict.sentence == "Rank 1 does not answer NCCL's RAS; rank 0 does."
    # Said once, it is nothing yet.
    nothing = RasStatus()
    assert judge([Evidence(told, 1.0, ras=tuple(join(told, nothing, status)))]).id != "ras-silent"
