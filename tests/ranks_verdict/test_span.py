"""A rank in a long step looks like one that hangs, where looks follow each other closely."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ladder_backends.model.rank_verdict import Confidence
from ladder_backends.model.ranks import Evidence
from ladder_backends.ranks.verdict import judge

from .machine_made import call, done, look, native


def looks(evidence: Evidence, apart: float) -> list[Evidence]:
    return [evidence, replace(evidence, at=evidence.at + apart)]


def one_computes() -> Evidence:
    waiting = [native(rank, "step", "PMPI_Allreduce", "opal_progress") for rank in range(3)]
    return look(4, native=(*waiting, native(3, "compute")))


def one_has_not_come(waited: float) -> Evidence:
    there = (*done(3), call(4, age=waited))
    return look(4, collectives={0: there, 1: there, 2: there, 3: done(3)})


@pytest.mark.parametrize("apart", [0.0, 1.2, 4.9])
def test_stacks_of_looks_close_together_are_little_evidence(apart: float) -> None:
    verdict = judge(looks(one_computes(), apart))
    assert verdict.id == "stacks-missing"
    assert verdict.diverges
    assert verdict.confidence is Confidence.LOW
    assert verdict.facts[-1].text == f"the looks lie {apart:.1f} s apart: ranks in a long step look like this too"
    assert verdict.now.startswith("ladder-tui ranks --pid ")
    assert verdict.now.endswith(" --between 30")
    assert verdict.price == "takes 30 s, and stops no rank for longer than this look did"


def test_stacks_of_looks_far_apart_are_more() -> None:
    verdict = judge(looks(one_computes(), 30.0))
    assert verdict.confidence is not Confidence.LOW
    assert verdict.now.startswith("ladder-tui attach ")
    assert not any("apart" in fact.text for fact in verdict.facts)


def test_all_looks_count_not_the_last_two() -> None:
    first = one_computes()
    times = [replace(first, at=first.at + second) for second in range(8)]
    assert judge(times[:2]).confidence is Confidence.LOW
    assert judge(times).confidence is not Confidence.LOW


def test_a_recorder_that_tells_of_a_short_wait_is_no_more_certain() -> None:
    assert judge(looks(one_has_not_come(2.0), 1.0)).confidence is Confidence.LOW


def test_a_recorder_knows_how_long_others_wait_already() -> None:
    verdict = judge(looks(one_has_not_come(41.0), 1.0))
    assert verdict.id == "missing"
    assert verdict.confidence is not Confidence.LOW
    assert verdict.now.startswith("ladder-tui attach ")


@pytest.mark.parametrize("apart", [0.5, 60.0])
def test_another_collective_is_no_matter_of_time(apart: float) -> None:
    there, other = (*done(3), call(4)), (*done(3), call(4, "all_gather"))
    near = judge(looks(look(4, collectives={0: there, 1: there, 2: there, 3: other}), apart))
    assert near.id == "wrong-op"
    assert near.confidence is not Confidence.LOW
