"""Numbers over ranks, the line they are seen by, and arrays that lie in parts."""

from __future__ import annotations

import math

import pytest

from ladder_backends.model.ranks import Mesh, Unreachable
from ladder_backends.ranks.engine.distributed_array import Decomposition, DecompositionInvalid, array_of, elements
from ladder_backends.ranks.engine.printing import evaluate
from ladder_backends.ranks.engine.rank_engine import RankEngine
from ladder_backends.ranks.engine.replies import group
from ladder_backends.ranks.engine.values import number_of_value, numbers_of


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("3", 3.0),
        ("-0x10", -16.0),
        ("1.5e-3", 0.0015),
        ("97 'a'", 97.0),
        ("inf", math.inf),
        ("-inf", -math.inf),
        ("true", 1.0),
    ],
)
def test_what_an_engine_writes_is_a_number(text: str, number: float) -> None:
    assert number_of_value(text) == number


@pytest.mark.parametrize("text", ["nan(0x8000000000000)", "-nan(0x8000000000000)", "NaN"])
def test_nan_in_all_its_forms(text: str) -> None:
    assert math.isnan(number_of_value(text))  # type: ignore[arg-type]


@pytest.mark.parametrize("text", ["{1, 2}", '"7"', "0x7f00 <main>", "RED", ""])
def test_what_is_no_number(text: str) -> None:
    assert number_of_value(text) is None


def test_smallest_largest_and_those_that_are_none() -> None:
    told = numbers_of({0: "1", 1: "nan(0x8)", 2: "4", 3: "inf", 4: "{x = 1}", 6: "-2"}, range(8))
    assert (told.smallest, told.smallest_at, told.largest, told.largest_at, told.mean) == (-2.0, 6, 4.0, 2, 1.0)
    assert (told.nan, told.infinite, told.others, told.silent) == ((1,), (3,), (4,), (5, 7))
    assert told.sparkline() == "▅×█××·▁·"
    assert told.sparkline(4) == "×××▁"


def test_equal_values_are_a_flat_line_and_huge_ones_none_the_less_a_line() -> None:
    assert numbers_of({0: "5", 1: "5"}).sparkline() == "▅▅"
    assert numbers_of({0: "-1.7e308", 1: "1.7e308"}).sparkline() == "▁█"
    assert numbers_of({}).sparkline() == ""


def test_answers_are_grouped_and_named_by_axes() -> None:
    reply = group(range(8), {rank: str(rank % 2) for rank in range(7)}, [Unreachable(7, "it has ended")])
    assert [(each.name(Mesh((("dp", 4), ("tp", 2)))), each.said) for each in reply.classes] == [
        ("all tp=0", "0"),
        ("all tp=1 of dp=0..2", "1"),
    ]
    assert reply.headline == "answered 7 of 8; rank 7: it has ended"
    assert group([0, 1], {0: "x"}).headline == "answered 1 of 2; rank 1: it gave no answer"


def test_elements_of_arrays() -> None:
    assert elements("{1, 2 <repeats 3 times>, 3}") == ["1", "2", "2", "2", "3"]
    assert elements("{{1, 2}, {3, 4}}") == ["1", "2", "3", "4"]
    assert elements("{{id = 1, w = 2}, {id = 2, w = 3}}") == ["{id = 1, w = 2}", "{id = 2, w = 3}"]
    assert elements('{"a,b", "c}"}') == ['"a,b"', '"c}"']
    assert elements("7") == ["7"]


@pytest.mark.parametrize("text", ["10/3", "7x5/2x3", "4x4x4/2x1x2"])
def test_every_element_has_one_place(text: str) -> None:
    parts = Decomposition.read(text)
    seen = {}
    for number in range(math.prod(parts.shape)):
        index = []
        for size in reversed(parts.shape):
            number, at = divmod(number, size)
            index.append(at)
        seen.setdefault(parts.owner(index[::-1]), index)
    assert len(seen) == math.prod(parts.shape)
    assert sum(parts.size(position) for position in range(parts.ranks)) == math.prod(parts.shape)


def test_faults_of_decompositions_are_pointed_at() -> None:
    for text, column in (("10", 2), ("10/", 3), ("x/2", 0), ("4x4/2", 4), ("4/0", 2), ("4/2y", 3)):
        with pytest.raises(DecompositionInvalid) as invalid:
            Decomposition.read(text)
        assert invalid.value.column == column, text
    with pytest.raises(DecompositionInvalid, match="it takes 2 ranks"):
        array_of(Decomposition.read("4/2"), [0], {})


async def test_an_array_that_lies_on_four_ranks_is_seen_whole(steady) -> None:
    engine = RankEngine(steady.job)
    try:
        await engine.attach()
        told = await evaluate(engine, range(4), "share[0]@4")
        whole = array_of(Decomposition.read("16/4"), told.asked, told.by_rank())
        ((_, row),) = whole.rows()
        assert [value for _, value in row] == [str(number) for number in range(16)]
        assert whole.element((6,)) == (1, "6")
        square = array_of(Decomposition.read("4x4/2x2"), told.asked, {**told.by_rank(), 3: "{12}"})
        assert square.element((0, 2)) == (1, "4")
        assert square.element((3, 3)) == (3, None)
        weights = numbers_of((await evaluate(engine, range(4), "part.weight")).by_rank(), range(4))
        assert weights.nan == (2,)
        assert weights.sparkline() == "▁▃×█"
    finally:
        await engine.close()
