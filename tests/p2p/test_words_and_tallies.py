"""Words tell where they belong, and counts of them name what happened."""

from __future__ import annotations

import pytest

from ladder_backends.gpu_calls.tally import Expected, Tally, classify
from ladder_backends.gpu_calls.words import MASK, Mode, Purpose, Stuff, decoded
from ladder_backends.model.p2p import Result
from ladder_backends.p2p.rounds import rounds
from ladder_backends.simulator.memory import Run, compared, part, written

DATA = Stuff(Purpose.DATA, 0, 1, 3)
POISON = Stuff(Purpose.POISON, 1, 1, 3)
SIZE = 1024


def seen(*runs: Run) -> Tally:
    return compared(list(runs), Expected(0, SIZE, DATA, POISON), SIZE)


def test_a_word_is_read_back_to_what_it_was_made_of() -> None:
    for index in (0, 1, 12345, 0xFFFFFFFF):
        tag = decoded(Stuff(Purpose.CANARY, 5, 7, 200).word(index))
        assert tag == (Purpose.CANARY, 5, 7, 200, index)
    assert decoded(0) is None or decoded(0) != decoded(MASK)


def test_words_of_other_places_pairs_and_epochs_differ() -> None:
    words = {
        Stuff(Purpose.DATA, a, b, e).word(i) for a in (0, 1) for b in (0, 1) for e in (1, 2) for i in range(50)
    }
    assert len(words) == 400
    assert not words & {0, MASK}


def test_plain_patterns_repeat_after_64_words() -> None:
    for mode in (Mode.ZEROS, Mode.ONES, Mode.WALKING_BIT, Mode.CHECKERBOARD):
        stuff = DATA._replace(mode=mode)
        assert [stuff.word(index) for index in range(64)] == [stuff.word(index) for index in range(64, 128)]


@pytest.mark.parametrize(
    ("runs", "result", "words"),
    [
        ([Run(0, SIZE, DATA, 0)], Result.RIGHT, "as written"),
        ([Run(0, SIZE, POISON, 0)], Result.DROPPED, "old bytes"),
        ([Run(0, SIZE, Stuff(mode=Mode.ZEROS), 0)], Result.DROPPED, "zero"),
        ([Run(0, SIZE, Stuff(mode=Mode.ONES), 0)], Result.DROPPED, "ones"),
        ([Run(0, SIZE, DATA._replace(epoch=2), 0)], Result.STALE, "earlier"),
        ([Run(0, SIZE, DATA._replace(source=2, target=3), 0)], Result.MISROUTED, "GPU2 wrote the first for GPU3"),
        ([Run(0, 512, DATA, 0), Run(512, SIZE, POISON, 512)], Result.PARTIAL, "from byte 512 to 1,023"),
        ([Run(0, 512, DATA, 0), Run(512, SIZE, Stuff(0x11, 77), 0)], Result.PARTIAL, "neither"),
    ],
)
def test_counts_name_the_class(runs: list[Run], result: Result, words: str) -> None:
    kind, said = classify(seen(*runs))
    assert kind is result
    assert words in said


def test_the_writers_view_tells_a_mirror_from_a_loss() -> None:
    lost, fine = seen(Run(0, SIZE, POISON, 0)), seen(Run(0, SIZE, DATA, 0))
    assert classify(lost, writer=fine)[0] is Result.MIRRORED
    assert classify(lost, writer=lost)[0] is Result.DROPPED


def test_what_is_right_a_while_later_was_late() -> None:
    assert classify(seen(Run(0, SIZE, POISON, 0)), later=seen(Run(0, SIZE, DATA, 0)))[0] is Result.STALE


def test_words_beyond_the_transfer_are_looked_at_too() -> None:
    runs = [Run(0, SIZE, DATA, 0)]
    tally = compared(runs, Expected(128, 256, DATA, POISON), SIZE)
    assert tally.words == 16
    assert tally.bad == 0
    assert tally.outside == (SIZE - 128) // 8
    assert classify(tally)[0] is Result.MISROUTED


def test_bytes_that_share_a_word_count_once() -> None:
    expected = Expected(4, 12, DATA, POISON)
    right = written([Run(0, SIZE, POISON, 0)], [Run(4, 12, DATA, 4)])
    assert compared(right, expected, SIZE).right
    lost = compared([Run(0, SIZE, POISON, 0)], expected, SIZE)
    assert (lost.words, lost.bad, lost.first) == (2, 2, 0)


def test_runs_are_cut_and_written_over() -> None:
    memory = written([Run(0, 100, POISON, 0)], [Run(20, 40, DATA, 20)])
    assert [(run.start, run.stop, run.stuff) for run in memory] == [
        (0, 20, POISON),
        (20, 40, DATA),
        (40, 100, POISON),
    ]
    assert memory[2].origin == 40
    assert [(run.start, run.stop) for run in part(memory, 30, 50)] == [(30, 40), (40, 50)]


@pytest.mark.parametrize("count", range(0, 10))
def test_rounds_hold_every_pair_once_and_no_gpu_twice(count: int) -> None:
    found = rounds(range(count))
    pairs = [pair for group in found for pair in group]
    assert sorted(pairs) == [(one, other) for one in range(count) for other in range(one + 1, count)]
    for group in found:
        gpus = [gpu for pair in group for gpu in pair]
        assert len(gpus) == len(set(gpus))
    if count > 1:
        assert len(found) == count - 1 + count % 2
