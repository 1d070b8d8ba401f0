"""What many answers have in common, told in few words."""

from __future__ import annotations

import math

import pytest

from ladder_backends.gdb.reading_only import why_writes
from ladder_backends.model.focus import Focus
from ladder_backends.model.unit_values import UnitLayout, UnitRow, number_in, unit_value
from ladder_backends.session.distribution import Distribution, distribution
from ladder_backends.session.unit_words import runs, units_words


def layout(rows: int = 1, *, held: int = 32, groups: int = 1) -> UnitLayout:
    """Warps of blocks; of the last warp only the first `held` lanes are there."""
    made = []
    for group in range(groups):
        for number in range(rows):
            full = 32 if number + 1 < rows else held
            units = tuple(
                Focus.of(block=(group, 0, 0), thread=(number * 32 + column, 0, 0)) if column < full else None
                for column in range(32)
            )
            first = (group * rows + number) * 32
            made.append(UnitRow(number, f"({group},0,0)" if groups > 1 else "", units, first))
    return UnitLayout("block", rows=tuple(made), total=sum(unit is not None for row in made for unit in row.units))


def taken(of: UnitLayout, *texts: str, errors: dict[int, str] | None = None) -> Distribution:
    places = of.places()
    values = [unit_value(place, text) for place, text in zip(places, texts, strict=True)]
    for index, error in (errors or {}).items():
        values[index] = unit_value(places[index], "", error)
    return distribution(of, values)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1008", 1008),
        ("-3", -3),
        ("0x7f586c800000", 0x7F586C800000),
        ("(const @generic float * @parameter) 0x10", 16),
        ("0x10 <kernel+16>", 16),
        ('0x20 "text"', 32),
        ("1.5e-07", 1.5e-07),
        ("65 'A'", 65),
        ("true", 1),
        ("inf", math.inf),
        ("-inf", -math.inf),
        ("{x = 1, y = 2}", None),
        ("GREEN", None),
        ('"a"', None),
        ("", None),
    ],
)
def test_numbers_as_engines_print_them(text: str, number: object) -> None:
    assert number_in(text) == number


@pytest.mark.parametrize("text", ["nan", "-nan(0x8000000000000)", "nan(0x7fffff)"])
def test_not_a_number_is_a_float(text: str) -> None:
    number = number_in(text)
    assert number is not None
    assert math.isnan(number)


def test_what_an_engine_says_instead_of_a_value_is_an_error() -> None:
    assert unit_value(0, "<optimized out>").error == "optimized out"
    assert unit_value(0, "<optimized out>").text == ""


def words(of: UnitLayout, *texts: str) -> str:
    pattern = taken(of, *texts).pattern
    if pattern is None:
        return ""
    return pattern.words + (f" but {units_words(of, pattern.but)}" if pattern.but else "")


def test_rules() -> None:
    one, two = layout(), layout(2)
    assert words(one, *map(str, range(992, 1024))) == "992..1023 step 1"
    assert words(one, *(["7"] * 32)) == "all equal: 7"
    assert words(one, *(hex(0x1000 + 4 * lane) for lane in range(32))) == "0x1000..0x107c step 4"
    assert words(one, *(f"{lane * 0.1:.9g}" for lane in range(32))) == "0..3.1 step 0.1"
    assert words(one, *(str(100 if lane == 7 else lane) for lane in range(32))) == "0..31 step 1 but lane 7"
    assert words(two, *(str(lane % 32) for lane in range(64))) == "0..31 step 1 in each warp"
    assert words(two, *(str(lane // 32) for lane in range(64))) == "equal in each warp"
    assert words(one, *(str(lane % 4) for lane in range(32))) == "0..3 step 1, repeats every 4 lanes"
    assert words(one, *(str("2713"[lane % 4]) for lane in range(32))) == "repeats every 4 lanes"
    assert words(one, *(str(lane * lane) for lane in range(32))) == "rising"
    assert words(one, *(str(-(lane // 5)) for lane in range(32))) == "never rising"
    assert words(one, *(f"{{x = {lane}, y = 0}}" for lane in range(32))) == "x 0..31 step 1"
    assert words(one, *(str((lane * 7919) % 101) for lane in range(32))) == ""
    blocks = layout(2, groups=2)
    assert words(blocks, *(str(lane % 64) for lane in range(128))) == "0..63 step 1 in each block"


def test_a_stride_goes_over_lanes_that_are_not_held() -> None:
    some = layout(2, held=8)
    assert words(some, *map(str, range(40))) == "0..39 step 1"


def test_extremes_are_of_finite_numbers_alone() -> None:
    told = taken(layout(held=6), "1.5", "nan(0x7fffff)", "-2", "inf", "-inf", "", errors={5: "optimized out"})
    assert (told.least, told.greatest, told.mean) == ("-2", "1.5", -0.25)
    assert (told.numbers, told.nans, told.infinities, told.errors, told.answered) == (2, 1, 2, 1, 6)
    assert told.pattern is None


def test_a_mean_of_addresses_says_nothing() -> None:
    told = taken(layout(held=2), "0x10", "0x20")
    assert told.addresses
    assert told.mean is None


def test_equal_values_are_one_class_most_lanes_first() -> None:
    of = layout(held=6)
    cannot = "Cannot access memory at address"
    told = taken(of, "0", "4", "0", "0", "", "", errors={4: f"{cannot} 0x10", 5: f"{cannot} 0x20"})
    classes = [(each.text, each.error, units_words(of, each.places)) for each in told.classes]
    assert classes == [
        ("0", False, "lanes 0, 2–3"),
        (f"{cannot} 0x…", True, "lanes 4–5"),
        ("4", False, "lane 1"),
    ]


def test_integers_beyond_a_float_stay_exact() -> None:
    big = 1 << 63
    told = taken(layout(), *(str(big + lane) for lane in range(32)))
    assert told.pattern is not None
    assert told.pattern.words == f"{big}..{big + 31} step 1"


def test_lanes_in_few_words() -> None:
    of = layout(3)
    assert runs([0, 2, 4, 5, 6, 7, 30]) == ["0", "2", "4–7", "30"]
    assert units_words(layout(), range(8, 32)) == "lanes 8–31"
    assert units_words(layout(), [3]) == "lane 3"
    assert units_words(of, range(64)) == "warps 0–1"
    assert units_words(of, [*range(32), 40]) == "warp 0, warp 1 lane 8"
    assert units_words(of, [row * 32 + lane for row in range(3) for lane in range(0, 32, 4)]) == (
        "lanes 0–28 step 4 of each warp"
    )
    assert units_words(layout(2, groups=2), range(64, 128)) == "block (1,0,0) warps 0–1"
    assert units_words(layout(), range(0, 32, 3)).endswith("step 3")
    assert units_words(layout(), [0, 1, 3, 6, 10, 15, 21, 28]).endswith("…")


@pytest.mark.parametrize(
    ("expression", "writes"),
    [
        ("i", ""),
        ("a[i] == 3 && b <= c || d >= e || f != g", ""),
        ("x << 2 >> 1", ""),
        ("c == '='", ""),
        ('s == "a=b"', ""),
        ("i = 3", "="),
        ("i += 3", "="),
        ("i++", "++"),
        ("--i", "--"),
        ("i >>= 1", ">>="),
    ],
)
def test_what_is_asked_of_many_only_reads(expression: str, writes: str) -> None:
    why = why_writes(expression)
    assert (f"write: {writes} " in why) if writes else why == ""


def test_nothing_is_no_expression() -> None:
    assert why_writes("  ") == "there is no expression"
