"""Sets of ranks: what they mean, what is wrong with them and where, and properties over random ones."""

import random

import pytest

from ladder_backends.model.ranks import Job, Launcher, Mesh, Rank
from ladder_backends.ranks.sets import JobFacts, SetBook, SetInvalid, in_axes
from ladder_backends.ranks.sets.axes import axis_places
from ladder_backends.ranks.sets.syntax import read_set

MESH = Mesh((("dp", 2), ("pp", 4), ("tp", 2)))


def book(size: int = 16) -> SetBook:
    facts = JobFacts(
        "a",
        tuple(range(size)),
        {rank: f"n{rank // 4}.cluster" for rank in range(size)},
        {rank: "/opt/run/solver" if rank else "/opt/run/master" for rank in range(size)},
        {"stopped": frozenset({1, 2, 3})},
        (frozenset({0, 1}), frozenset({5})),
        MESH,
    )
    return SetBook([facts, JobFacts("b", (0, 1))])


@pytest.mark.parametrize(
    ("text", "ranks"),
    [
        ("$a", range(16)),
        ("$a{0..7,12}", [*range(8), 12]),
        ("$a{0..15:8}", [0, 8]),
        ("$a{0-2,4-6:2}", [0, 1, 2, 4, 6]),
        ("$a{*}", range(16)),
        ("$a{}", []),
        ("$a{stopped}", [1, 2, 3]),
        ("$a{state:stopped}", [1, 2, 3]),
        ("$a{crashed}", []),
        ("$a{class:2}", [5]),
        ("$a{host:n3}", [12, 13, 14, 15]),
        ("$a{host:n3.cluster}", [12, 13, 14, 15]),
        ("$a{exe:master}", [0]),
        ('$a{exe:"/opt/run/master"}', [0]),
        ("$a{tp=0,pp=1,dp=*}", [2, 10]),
        ("$a{pp=(1,3),tp=1}", [3, 7, 11, 15]),
        ("$a{pp=0..3:2,tp=1}", [1, 5, 9, 13]),
        ("$a - $a{0..7}", range(8, 16)),
        ("~$a{0..7}", range(8, 16)),
        ("$a{0..3}&$a{2..9}", [2, 3]),
        ("$a{0}+$a{1..5}&$a{3..9}", [0, 3, 4, 5]),
        ("($a{0}+$a{1..5})&$a{3..9}", [3, 4, 5]),
        ("~~$a{4}", [4]),
        (" $a{ 0 , 2 .. 3 } ".replace(" .. ", ".."), [0, 2, 3]),
    ],
)
def test_a_set_means_its_ranks(text: str, ranks: object) -> None:
    assert list(book().find(text)) == list(ranks)  # type: ignore[call-overload]


@pytest.mark.parametrize(
    ("text", "column", "width", "why"),
    [
        ("", 0, 1, "a set is expected"),
        ("a{0}", 0, 1, "a set is expected"),
        ("$", 1, 1, "a name is expected"),
        ("$x{0}", 1, 1, "there is no $x"),
        ("$a{0..", 6, 1, "the last rank is expected"),
        ("$a{7..3}", 6, 1, "3 is less than 7"),
        ("$a{0..7:0}", 8, 1, "a step of 0"),
        ("$a{0,", 5, 1, "a rank, a state"),
        ("$a{0", 4, 1, "the brace of column 3 is not closed"),
        ("$a{0}}", 5, 1, "a brace is closed"),
        ("($a", 3, 1, "the parenthesis of column 1 is not closed"),
        ("$a)", 2, 1, "a parenthesis is closed"),
        ("$a $a", 3, 1, "+, - or & is expected"),
        ("$a +", 4, 1, "a set is expected"),
        ("$a{stoped}", 3, 6, "stoped is no state"),
        ("$a{class:3}", 3, 7, "there is no class 3"),
        ("$a{class:x}", 3, 7, "there is no class x"),
        ("$a{host:n9}", 3, 7, "no rank is on host n9"),
        ("$a{exe:solvr}", 3, 9, "no rank runs solvr"),
        ("$a{node:n1}", 3, 4, "node is none of"),
        ("$a{host:}", 8, 1, "a value is expected"),
        ("$a{ep=0}", 3, 2, "there is no axis ep"),
        ("$a{tp=2}", 6, 1, "2: axis tp has the places 0..1"),
        ("$a{tp=0,tp=1}", 8, 2, "axis tp stands here twice"),
        ("$a{tp=0,3}", 8, 1, "axes do not mix"),
        ("$a{pp=(0,1}", 10, 1, "a comma or ) is expected"),
        ("$b{tp=0}", 3, 4, "the axes of $b are not known"),
        ("$a + $b", 3, 1, "different jobs"),
        ("$a{99999999999}", 3, 11, "the number is too large"),
        ("$a{0..999999999}", 3, 12, "more than"),
        ("~" * 100 + "$a", 64, 1, "nested too deeply"),
    ],
)
def test_a_fault_is_pointed_at(text: str, column: int, width: int, why: str) -> None:
    with pytest.raises(SetInvalid) as caught:
        book().find(text)
    assert (caught.value.column, caught.value.width) == (column, width)
    assert why in caught.value.line()
    assert caught.value.pointed == (text, " " * column + "^" * width)
    assert f"column {column + 1}: " in caught.value.line()


def test_ranks_out_of_the_job_are_named() -> None:
    sets = SetBook([JobFacts("a", tuple(range(1000)))])
    with pytest.raises(SetInvalid) as caught:
        sets.find("$a{0, 990..1010}")
    assert "1000..1010: no such ranks are in it; $a has 1000: 0..999" in caught.value.line()
    assert caught.value.pointed == ("$a{0, 990..1010}", "      ^^^^^^^^^")


def test_hostile_text_is_clean_and_the_caret_still_fits() -> None:
    with pytest.raises(SetInvalid) as caught:
        book().find("$a{\x1b[31m0}")
    text, caret = caught.value.pointed
    assert "\x1b" not in text
    assert text[caret.index("^")] == "\\" or caret.index("^") == 3


def test_a_named_set_keeps_its_ranks() -> None:
    sets = book()
    assert list(sets.define("$stuck", "$a{stopped}")) == [1, 2, 3]
    sets.learn(JobFacts("a", tuple(range(16)), mesh=MESH))
    assert list(sets.find("$stuck + $a{9}")) == [1, 2, 3, 9]
    assert list(sets.find("$stuck{1..2}")) == [1, 2]
    assert list(sets.find("~$stuck")) == [0, *range(4, 16)]
    with pytest.raises(SetInvalid, match="no such rank is in it"):
        sets.find("$stuck{4}")
    with pytest.raises(SetInvalid, match="the name of a job"):
        sets.define("a", "$a")
    assert sets.forget("$stuck")
    assert not sets.forget("stuck")


def test_a_set_is_found_before_the_rest_of_a_command() -> None:
    found, rest = book().find_leading("print $a{0..3} + $a{9} x[0]@8 - y", 6)
    assert (list(found), rest) == ([0, 1, 2, 3, 9], "x[0]@8 - y")
    assert found.name == "$a{0-3,9}"


def test_facts_of_a_job_hold_ranks_without_a_process() -> None:
    rank = Rank(0, 4711, "n0", 1, "/bin/x")
    facts = JobFacts.of(Job("k", Launcher.OPENMPI, None, 3, (rank,), ((1, "no live process"),)))
    assert facts.ranks == (0, 1, 2)
    assert list(SetBook([facts]).find("$a{missing}")) == [1]


@pytest.mark.parametrize(
    ("ranks", "words"),
    [
        ([5, 13], "all tp=1 of pp=2"),
        (range(16), "all ranks"),
        (range(8), "all dp=0"),
        (range(1, 16, 2), "all tp=1"),
        ([3, 7, 11, 15], "all tp=1 of pp=(1,3)"),
        ([2, 3, 4, 5], "all pp=1..2 of dp=0"),
        ([0, 5], ""),
        ([7], ""),
        (sorted(set(range(16)) - {5, 13}), "all but tp=1 of pp=2"),
        (sorted(set(range(16)) - {3}), "all but rank 3"),
        ([0, 99], ""),
    ],
)
def test_ranks_fold_back_into_axes(ranks: list[int], words: str) -> None:
    assert in_axes(ranks, MESH) == words


def _random_set(generator: random.Random, depth: int) -> tuple[str, set[int]]:
    whole = set(range(16))
    kind = generator.randrange(5 if depth else 1)
    if kind == 0:
        members: set[int] = set()
        parts = []
        for _ in range(generator.randint(1, 4)):
            first = generator.randrange(16)
            last = generator.randrange(first, 16)
            step = generator.randint(1, 5)
            members |= set(range(first, last + 1, step))
            parts.append(f"{first}..{last}:{step}")
        return f"$a{{{','.join(parts)}}}", members
    text, left = _random_set(generator, depth - 1)
    if kind == 1:
        return f"~({text})", whole - left
    other, right = _random_set(generator, depth - 1)
    sign = "+-&"[kind - 2]
    return f"({text}) {sign} ({other})", {"+": left | right, "-": left - right, "&": left & right}[sign]


@pytest.mark.parametrize("seed", range(150))
def test_algebra_is_that_of_sets(seed: int) -> None:
    text, members = _random_set(random.Random(seed), 4)
    found = book().find(text)
    assert set(found) == members
    # What is printed can be typed again.
    assert book().find(found.name).ranks == found.ranks


@pytest.mark.parametrize("seed", range(150))
def test_any_text_is_a_set_or_points_at_its_fault(seed: int) -> None:
    generator = random.Random(seed)
    signs = '$$aab{{}}()0123456789..,,:-+&~=* \ttpclass"é\x1b'
    text = "".join(generator.choice(signs) for _ in range(generator.randint(0, 24)))
    if generator.random() < 0.5:
        valid, _ = _random_set(generator, 2)
        at = generator.randrange(len(valid))
        text = valid[:at] + text[:3] + valid[at + 1 :]
    fault = _fault(text)
    if fault is not None:
        shown, caret = fault.pointed
        assert 0 <= fault.column <= len(shown)
        assert caret.count("^") == fault.width >= 1
        assert len(caret) <= max(len(shown), fault.column + 1)


def _fault(text: str) -> SetInvalid | None:
    try:
        book().find(text)
    except SetInvalid as fault:
        return fault
    return None


@pytest.mark.parametrize("seed", range(100))
def test_places_on_axes_mean_the_ranks_they_came_from(seed: int) -> None:
    generator = random.Random(seed)
    axes = ("dp", "pp", "ep", "tp")[: generator.randint(1, 4)]
    mesh = Mesh(tuple((name, generator.randint(1, 4)) for name in axes))
    wanted = {name: set(generator.sample(range(size), generator.randint(1, size))) for name, size in mesh.axes}
    ranks = [
        rank for rank in range(mesh.size) if all(mesh.coordinates(rank)[name] in wanted[name] for name in wanted)
    ]
    places = axis_places(ranks, mesh)
    assert places == {name: tuple(sorted(wanted[name])) for name, size in mesh.axes if len(wanted[name]) < size}
    facts = SetBook([JobFacts("a", tuple(range(mesh.size)), mesh=mesh)])
    if places:
        items = ",".join(f"{name}=({','.join(map(str, found))})" for name, found in places.items())
        assert list(facts.find(f"$a{{{items}}}")) == ranks


def test_a_very_long_set_is_read_at_once() -> None:
    node = read_set("$a{" + ",".join(str(rank) for rank in range(3000)) + "}")
    assert node is not None
