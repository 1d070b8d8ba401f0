"""Filters and orders of findings."""

import pytest

from ladder_backends.model.finding import CodeLocation, Finding, FindingGroup, FindingKind, Side
from ladder_backends.session.finding_query import About, Order, Query, in_order
from ladder_backends.session.finding_remarks import Mark, Remark

FINDINGS = [
    Finding(
        number,
        FindingKind.OOB if number < 4 else FindingKind.RACE_HAZARD,
        tool="memcheck" if number < 4 else "racecheck",
        kernel="vadd(int)" if number < 4 else "reduce(int)",
        src_file="/src/b.cu" if number < 4 else "/src/a.cu",
        line=10 + number // 4,
        block=(number, 0, 0),
        thread=(240, number, 0),
        address=f"0x{0x7F00 + number:x}",
        severity="warning" if number < 4 else "error",
        sides=(
            Side("read", CodeLocation("f", "/src/b.cu", 10), (number, 0, 0), (240, number, 0)),
            *(
                [Side("write", CodeLocation("g", "/src/c.cu", 77), (number, 0, 0), (7, 0, 0))]
                if number >= 4
                else []
            ),
        ),
    )
    for number in range(6)
]
OOB = FindingGroup("o", "read 4 B out of bounds  vadd :10", FindingKind.OOB, [0, 1, 2, 3])
RACE = FindingGroup("r", "RAW hazard  reduce :11", FindingKind.RACE_HAZARD, [4, 5])
GROUPS = [OOB, RACE]


def found(text: str, about: dict[str, About] | None = None) -> list[int]:
    query = Query(text)
    return [
        number
        for group in GROUPS
        for number in query.members(group, FINDINGS, (about or {}).get(group.id, About()))
    ]


@pytest.mark.parametrize(
    ("text", "members"),
    [
        ("", [0, 1, 2, 3, 4, 5]),
        ("kind:race", [4, 5]),
        ("kind:race kernel:reduce", [4, 5]),
        ("KIND:RACE KERNEL:vadd", []),
        ("-kind:race", [0, 1, 2, 3]),
        ("!tool:memcheck", [4, 5]),
        ("severity:warn", [0, 1, 2, 3]),
        ("file:b.cu", [0, 1, 2, 3, 4, 5]),
        ("file:c.cu", [4, 5]),
        ("file:/src/a", [4, 5]),
        ("line:77", [4, 5]),
        ("line:7", []),
        ("block:2", [2]),
        ("block:(2,0,0)", [2]),
        ("block:2,0", [2]),
        ("thread:(240,3,0)", [3]),
        ("thread:7", [4, 5]),
        ("lane:(5,0,0)", [5]),
        ("-block:2", [0, 1, 3, 4, 5]),
        ("lane:nothing", []),
        ("block:99999999999999999999", []),
        ("vadd", [0, 1, 2, 3]),
        ("-vadd", [4, 5]),
        ("(240,1,0)", [1]),
        ("0x7f05", [5]),
        ("nosuchfield:x", []),
        ("file:", []),
    ],
)
def test_words(text: str, members: list[int]) -> None:
    assert found(text) == members


def test_what_a_person_said() -> None:
    about = {"o": About(Remark("fix the Tail", Mark.DONE)), "r": About(new=True)}
    assert found("is:done", about) == [0, 1, 2, 3]
    assert found("is:open", about) == [4, 5]
    assert found("-is:done", about) == [4, 5]
    assert found("is:new", about) == [4, 5]
    assert found("is:noted", about) == [0, 1, 2, 3]
    assert found("note:tail", about) == [0, 1, 2, 3]
    assert found("is:ignored", about) == []


@pytest.mark.parametrize(
    ("order", "first"),
    [
        (Order.ARRIVAL, "o"),
        (Order.LANES, "o"),
        (Order.SEVERITY, "r"),
        (Order.LINE, "r"),
        (Order.KERNEL, "r"),
    ],
)
def test_orders(order: Order, first: str) -> None:
    assert in_order(GROUPS, order, FINDINGS, lambda group: len(group.members))[0].id == first


def test_every_order_comes_once_and_then_the_first_again() -> None:
    seen, order = [], Order.ARRIVAL
    for _ in Order:
        seen.append(order)
        order = order.following()
    assert seen == list(Order)
    assert order is Order.ARRIVAL
