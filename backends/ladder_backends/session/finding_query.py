"""Which findings are listed, and in which order.

A query is words, all of which must hold; `-` before a word turns it round. Words with a field look there alone:

```
kind:race  kernel:vadd  file:x.cu  line:10  tool:memcheck  severity:warning  lane:(3,0,0)  block:3  thread:232,0,0
note:word  is:new  is:open  is:done  is:ignored  is:noted
```

Any other word is looked for in what a bug's findings have in common, else in their own lanes and addresses.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import NamedTuple

from ladder_backends.model.finding import Finding, FindingGroup
from ladder_backends.model.focus import Dim3, format_coordinate, parse_dim3
from ladder_backends.model.frame import file_name
from ladder_backends.sanitizer.describe import offset_words
from ladder_backends.session.finding_remarks import NO_REMARK, Remark

FIELDS = ("kind", "kernel", "file", "line", "tool", "severity", "lane", "block", "thread", "note", "is")
"""What can stand before a colon."""

_NUMERIC = re.compile(r"(?:base)?[0-9a-fx(),+-]+")
_COORDINATE_DIGITS = 10
_COORDINATE = re.compile(r"\(?\d{1,10}(?:,\d{1,10}){0,2}\)?")
_SEVERITIES = {"error": 0, "warning": 1, "info": 2}

Test = Callable[[Finding], bool]


class Order(enum.StrEnum):
    """In which order bugs are listed."""

    ARRIVAL = "arrival"
    LANES = "lanes"
    SEVERITY = "severity"
    LINE = "file and line"
    KERNEL = "kernel"

    def following(self) -> Order:
        """The order after this one."""
        orders = list(Order)
        return orders[(orders.index(self) + 1) % len(orders)]


def place_key(finding: Finding) -> tuple[bool, str, int]:
    """Sorts bugs by file and line; those without one come last."""
    return not finding.src_file, finding.src_file, finding.line or 0


def in_order(
    groups: Iterable[FindingGroup], order: Order, findings: Sequence[Finding], count: Callable[[FindingGroup], int]
) -> list[FindingGroup]:
    """Bugs in an order; those that are equal in it stay in the order of arrival.

    Args:
        groups: Bugs that have members.
        order: Which order.
        findings: Those of the report.
        count: How many members of a bug are shown.
    """
    listed = list(groups)
    if order is Order.LANES:
        listed.sort(key=lambda group: -count(group))
    elif order is Order.SEVERITY:
        listed.sort(key=lambda group: _SEVERITIES.get(findings[group.members[0]].severity, 3))
    elif order is Order.LINE:
        listed.sort(key=lambda group: place_key(findings[group.members[0]]))
    elif order is Order.KERNEL:
        listed.sort(key=lambda group: _kernel_key(findings[group.members[0]]))
    return listed


def _kernel_key(finding: Finding) -> tuple[bool, str, bool, str, int]:
    return (not finding.kernel, finding.kernel, *place_key(finding))


class About(NamedTuple):
    """What a person or an earlier run says of a bug.

    Attributes:
        new: An earlier report did not hold it.
    """

    remark: Remark = NO_REMARK
    new: bool = False


NOTHING = About()


class Query:
    """Words to look for.

    Attributes:
        text: As it was typed.
    """

    def __init__(self, text: str = "") -> None:
        self.text = text.strip()
        self._fields: list[tuple[str, str, bool]] = []
        self._words: list[tuple[str, bool]] = []
        for typed in self.text.casefold().split():
            out = len(typed) > 1 and typed[0] in "-!" and not typed[1].isdigit()
            word = typed[1:] if out else typed
            field, colon, value = word.partition(":")
            if colon and value and field in FIELDS:
                self._fields.append((field, value, out))
            else:
                self._words.append((word, out))

    def __bool__(self) -> bool:
        return bool(self.text)

    def members(
        self, group: FindingGroup, findings: Sequence[Finding], about: About = NOTHING, *, start: int = 0
    ) -> Sequence[int]:
        """Members of a bug that hold every word; its own list where all of them do.

        Args:
            group: The bug.
            findings: Those of the report.
            about: What is said of it.
            start: How many of its members were looked at before.
        """
        if not group.members:
            return []
        first = findings[group.members[0]]
        tests: list[Test] = []
        for field, value, out in self._fields:
            if field in _COORDINATES:
                test = _COORDINATES[field](value)
                if test is None:
                    return []
                tests.append(_turned(test) if out else test)
            elif _holds(field, value, first, about) is out:
                return []
        if self._words:
            common = _common(group, first)
            for word, out in self._words:
                if word in common:
                    if out:
                        return []
                    continue
                own = _test(word)
                if own is not None:
                    tests.append(_turned(own) if out else own)
                elif not out:
                    return []
        if not tests:
            return group.members
        members = islice(group.members, start, None)
        if len(tests) == 1:
            test = tests[0]
            return [number for number in members if test(findings[number])]
        return [number for number in members if all(test(findings[number]) for test in tests)]


def _common(group: FindingGroup, first: Finding) -> str:
    return f"{group.title} {first.kind} {first.tool} {first.kernel} {first.src_file}:{first.line}".casefold()


def _turned(test: Test) -> Test:
    return lambda finding: not test(finding)


def _holds(field: str, value: str, first: Finding, about: About) -> bool:
    match field:
        case "kind":
            return value in first.kind.value
        case "kernel":
            return value in first.kernel.casefold()
        case "tool":
            return value in first.tool
        case "severity":
            return first.severity.startswith(value)
        case "file":
            files = (first.src_file, *(side.location.file for side in first.sides))
            return any(value in (file if "/" in value else file_name(file)).casefold() for file in files)
        case "line":
            lines = (first.line, *(side.location.line for side in first.sides))
            return any(str(line) == value for line in lines if line is not None)
        case "note":
            return value in about.remark.note.casefold()
        case _:
            return _is(value, about)


def _is(value: str, about: About) -> bool:
    if value == "new":
        return about.new
    if value == "noted":
        return bool(about.remark.note)
    return about.remark.mark == value


def _coordinate(value: str) -> Dim3 | None:
    return parse_dim3(value) if _COORDINATE.fullmatch(value) else None


def _lane(value: str) -> Test | None:
    """Whether a block or a thread is the one that is named; `3` means `(3,0,0)`."""
    place = _coordinate(value)
    if place is None:
        return None
    # The first side is the finding's own; most have no other.
    return lambda finding: (
        finding.block == place
        or finding.thread == place
        or (len(finding.sides) > 1 and any(place in (side.block, side.thread) for side in finding.sides))
    )


def _block(value: str) -> Test | None:
    place = _coordinate(value)
    if place is None:
        return None
    return lambda finding: (
        finding.block == place or (len(finding.sides) > 1 and any(side.block == place for side in finding.sides))
    )


def _thread(value: str) -> Test | None:
    place = _coordinate(value)
    if place is None:
        return None
    return lambda finding: (
        finding.thread == place or (len(finding.sides) > 1 and any(side.thread == place for side in finding.sides))
    )


_COORDINATES: dict[str, Callable[[str], Test | None]] = {"lane": _lane, "block": _block, "thread": _thread}


def _test(word: str) -> Test | None:
    """How to look for a word in a finding's own lane and address; None where neither can hold it."""
    if not _NUMERIC.fullmatch(word):
        return None
    if word[0] == "(" and word[-1] == ")":
        return _lane(word)
    if "(" in word or "," in word:
        return lambda finding: any(
            word in format_coordinate(part)
            for side in finding.sides
            for part in (side.block, side.thread)
            if part is not None
        )
    if word.startswith(("base", "+", "-")):
        return lambda finding: word in offset_words(finding)
    if word.isdecimal() and len(word) <= _COORDINATE_DIGITS:
        # A number alone is what a person reads off a lane; in an address it would be found by chance.
        number = int(word)
        return lambda finding: any(number in (*(side.block or ()), *(side.thread or ())) for side in finding.sides)
    return lambda finding: word in finding.address
