"""Compressed lists of ranks."""

from __future__ import annotations

import random

import pytest

from ladder_backends.ranks.rank_list import RankListInvalid, fold, unfold


@pytest.mark.parametrize(
    ("ranks", "text"),
    [
        ((), ""),
        ((3,), "3"),
        ((0, 1), "0-1"),
        ((0, 1, 2, 4, 5, 6, 7), "0-2,4-7"),
        (range(0, 64, 8), "0-56:8"),
        ((0, 8, 16), "0,8,16"),
        ((7, 3, 3), "3,7"),
        ((0, 2, 4, 6, 7, 8), "0,2,4,6-8"),
        ((0, 2, 4, 6, 8, 9, 10), "0-6:2,8-10"),
        ((0, 5, 10, 15, 20, 21), "0-15:5,20-21"),
        ((1, 3, 4), "1,3-4"),
    ],
)
def test_fold(ranks, text):
    assert fold(ranks) == text
    assert unfold(text) == tuple(sorted(set(ranks)))


def test_what_is_folded_unfolds_to_the_same():
    chance = random.Random(7)
    for _ in range(500):
        ranks = tuple(sorted(chance.sample(range(200), chance.randrange(60))))
        assert unfold(fold(ranks)) == ranks


def test_blanks_and_steps_are_read():
    assert unfold(" 0 - 63 : 8 , 2 ") == (0, 2, 8, 16, 24, 32, 40, 48, 56)
    assert unfold("   ") == ()


@pytest.mark.parametrize(
    ("text", "column", "why"),
    [
        ("0-2,,4", 4, "a rank is expected"),
        ("0-2,", 4, "a rank is expected"),
        ("x", 0, "a rank is expected"),
        ("0-2;4", 3, "a comma is expected"),
        ("5-2", 2, "2 is less than 5"),
        ("0-8:0", 4, "a step of 0"),
        ("0-", 1, "a comma is expected"),
        ("1,0-999999999", 2, "more than"),
        ("0, \x1b", 3, "a rank is expected"),
    ],
)
def test_an_error_names_its_column(text, column, why):
    with pytest.raises(RankListInvalid) as refused:
        unfold(text)
    assert refused.value.column == column
    assert why in refused.value.line()
    assert f"column {column + 1}" in refused.value.line()
    assert "\x1b" not in refused.value.line()
