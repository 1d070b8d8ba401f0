"""Classes whose methods are made late are what the standard library would have made."""

from __future__ import annotations

import copy
import dataclasses
import pickle
import threading
from dataclasses import FrozenInstanceError, field, fields, is_dataclass, replace
from functools import cached_property
from typing import ClassVar

import pytest

from ladder_backends.late_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Point:
    """A frozen one."""

    x: int
    y: int = 2
    names: tuple[str, ...] = field(default_factory=tuple)

    @property
    def sum(self) -> int:
        """Not a field."""
        return self.x + self.y


@dataclass(slots=True)
class Box:
    """A mutable one."""

    width: int = 1
    inside: list[int] = field(default_factory=list)


@dataclasses.dataclass(frozen=True, slots=True)
class StockPoint:
    """What `Point` has to be like."""

    x: int
    y: int = 2
    names: tuple[str, ...] = field(default_factory=tuple)


def test_instances_are_those_of_the_standard_library() -> None:
    point = Point(1)
    assert (point.x, point.y, point.names, point.sum) == (1, 2, (), 3)
    assert point == Point(1, 2) != Point(1, 3)
    assert hash(point) == hash(StockPoint(1))
    assert repr(point) == "Point(x=1, y=2, names=())"
    assert repr(StockPoint(1)).removeprefix("Stock") == repr(point)
    assert not hasattr(point, "__dict__")
    assert {*Point.__dict__} == {*StockPoint.__dict__, "sum"}
    with pytest.raises(FrozenInstanceError):
        point.x = 2  # type: ignore[misc]
    with pytest.raises(TypeError, match=r"Point\.__init__\(\) missing 1 required"):
        Point()  # type: ignore[call-arg]


def test_mutable_ones_share_nothing_and_are_not_hashed() -> None:
    one, other = Box(), Box()
    one.inside.append(1)
    assert other.inside == []
    assert one != other
    with pytest.raises(TypeError, match="unhashable"):
        hash(one)
    with pytest.raises(AttributeError):
        one.height = 2  # type: ignore[attr-defined]


def test_fields_are_known_before_the_first_instance() -> None:
    @dataclass(frozen=True, slots=True)
    class Fresh:
        a: int
        b: str = "b"

    assert is_dataclass(Fresh)
    assert [one.name for one in fields(Fresh)] == ["a", "b"]

    @dataclass(frozen=True, slots=True)
    class Matched:
        a: int

    assert Matched.__match_args__ == ("a",)


def test_copies_pickles_and_replacements() -> None:
    point = Point(1, names=("a",))
    assert replace(point, y=5) == Point(1, 5, ("a",))
    assert copy.copy(point) == copy.deepcopy(point) == pickle.loads(pickle.dumps(point)) == point
    assert pickle.loads(pickle.dumps(Box(3))) == Box(3)


@pytest.mark.parametrize("frozen", [False, True])
def test_one_that_was_made_without_its_initializer_compares_all_the_same(frozen: bool) -> None:
    @dataclass(frozen=frozen, slots=True)
    class Late:
        a: int

    one, other = object.__new__(Late), object.__new__(Late)
    for each in (one, other):
        object.__setattr__(each, "a", 1)
    assert one == other
    assert repr(one).endswith("Late(a=1)")


def test_own_methods_stay() -> None:
    seen: list[int] = []

    @dataclass(frozen=True, slots=True)
    class Own:
        a: int

        def __eq__(self, other: object) -> bool:
            return True

        def __repr__(self) -> str:
            return "own"

        def __post_init__(self) -> None:
            seen.append(self.a)

    assert Own(1) == Own(2)
    assert repr(Own(3)) == "own"
    assert seen == [1, 2, 3]
    assert hash(Own(4)) == hash(Own(4))


def test_bases_and_what_is_asked_for_beside_go_to_the_standard_library() -> None:
    @dataclass(frozen=True, slots=True)
    class Base:
        a: int

    @dataclass(frozen=True, slots=True)
    class Derived(Base):
        b: int = 2
        shared: ClassVar[int] = 3

    @dataclass
    class Loose:
        a: int

        @cached_property
        def twice(self) -> int:
            return self.a * 2

    @dataclass(order=True, slots=True)
    class Ordered:
        a: int

    assert Derived(1) == Derived(1, 2)
    assert Derived.shared == 3
    assert Loose(2).twice == 4
    assert Ordered(1) < Ordered(2)


def test_threads_that_make_the_first_instances_at_once() -> None:
    for _ in range(20):

        @dataclass(frozen=True, slots=True)
        class Raced:
            a: int

        made: list[Raced] = []
        start = threading.Barrier(4)

        def make(kind: type[Raced] = Raced, into: list[Raced] = made, start: threading.Barrier = start) -> None:
            start.wait()
            into.append(kind(1))

        threads = [threading.Thread(target=make) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert made == [Raced(1)] * 4
