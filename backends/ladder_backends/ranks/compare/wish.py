"""What is to be compared, as people write it.

```
wish     = side op ( side | number ) { option }
side     = name [ "{" ranks "}" ] "::" expression "@" ( file ":" line | "collectives" )
op       = "~"  within tolerances, "==" exactly
option   = "rtol=" number | "atol=" number | "nan=same" | "by=" expression without blanks
```

`a::x[0]@8@solver.c:42 ~ b::x[0]@8@solver.c:42 rtol=1e-6`: the last `@` with a line behind it is the place. Where
the right side names no place, it is that of the left one. With `by=iteration` the hits of both sides are paired by
what that expression holds there, not by their number.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ladder_backends.ranks.rank_list import RankListInvalid, unfold
from ladder_backends.ranks.sets.set_invalid import SetInvalid

_NAME = re.compile(r"\s*(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?:\{(?P<ranks>[^}]*)\})?::")
_PLACE = re.compile(r"@(?P<place>[^@\s:]+:\d+|collectives)\s*$")
_OPERATOR = re.compile(r"\s(?P<op>~|==)\s")
_OPTION = re.compile(r"\s(?P<name>rtol|atol|nan|by)=(?P<value>\S+)\s*$")
_HELP = "write it as a::x@solver.c:42 ~ b::x@solver.c:42 rtol=1e-6"


class WishInvalid(SetInvalid):
    """A text that is no comparison."""

    noun = "comparison"


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a comparison.

    Attributes:
        run: Name of the run: `a`.
        ranks: In the order of writing; None for all.
        place: `solver.c:42`.
    """

    run: str
    ranks: tuple[int, ...] | None
    expression: str
    place: str

    @property
    def text(self) -> str:
        """As it is written."""
        ranks = f"{{{','.join(map(str, self.ranks))}}}" if self.ranks is not None else ""
        return f"{self.run}{ranks}::{self.expression}@{self.place}"


@dataclass(frozen=True, slots=True)
class Wish:
    """One comparison.

    Attributes:
        right: The other side, or None where it is a number.
        number: That number.
        rtol, atol: Numbers are the same where they differ by no more than atol + rtol * |right|.
        nan_same: Two NaN are the same.
        by: Expression by whose value hits are paired; empty for their number.
    """

    text: str
    left: Side
    right: Side | None
    number: float = 0.0
    exact: bool = True
    rtol: float = 0.0
    atol: float = 0.0
    nan_same: bool = False
    by: str = ""

    @property
    def sides(self) -> tuple[Side, ...]:
        """Those that are read from a run."""
        return (self.left,) if self.right is None else (self.left, self.right)

    def probes(self, run: str) -> tuple[tuple[str, str], ...]:
        """Places and expressions that a run has to record for it."""
        sides = [side for side in self.sides if side.run == run]
        keys = [(side.place, self.by) for side in sides if self.by]
        return (*keys, *((side.place, side.expression) for side in sides))


def read_wish(text: str) -> Wish:
    """Read one comparison.

    Raises:
        WishInvalid: It is none; the fault is pointed at.
    """
    rtol, atol, nan_same, by = 0.0, 0.0, False, ""
    rest = text
    while (option := _OPTION.search(rest)) is not None:
        name, value, at = option["name"], option["value"], option.start("value")
        if name == "nan":
            if value != "same":
                raise WishInvalid(text, at, "nan= takes same", "", len(value))
            nan_same = True
        elif name == "by":
            by = value
        else:
            number = _number(text, value, at)
            rtol, atol = (number, atol) if name == "rtol" else (rtol, number)
        rest = rest[: option.start()]
    operator = _OPERATOR.search(rest)
    if operator is None:
        raise WishInvalid(text, len(rest), "~ or == is expected between two sides", _HELP)
    left = _side(text, rest, 0, operator.start(), None)
    right_at = operator.end()
    exact = operator["op"] == "=="
    if exact and (rtol or atol):
        raise WishInvalid(text, operator.start("op"), "== takes no tolerance", "write ~", 2)
    if _NAME.match(rest, right_at) is None:
        value = rest[right_at:].strip()
        number = _number(text, value, right_at)
        return Wish(text, left, None, number, exact, rtol, atol, nan_same, by)
    right = _side(text, rest, right_at, len(rest), left.place)
    return Wish(text, left, right, 0.0, exact, rtol, atol, nan_same, by)


def _side(text: str, rest: str, start: int, end: int, place: str | None) -> Side:
    match = _NAME.match(rest, start, end)
    if match is None:
        raise WishInvalid(text, start, "a side is expected: a name and ::", _HELP)
    ranks: tuple[int, ...] | None = None
    if match["ranks"] is not None:
        try:
            ranks = unfold(match["ranks"].replace("..", "-"))
        except RankListInvalid as invalid:
            # Two dots take one place more than a dash.
            raise WishInvalid(text, match.start("ranks"), invalid.why, "", len(match["ranks"])) from invalid
    body = rest[match.end() : end].strip()
    found = _PLACE.search(body)
    if found is not None:
        place, body = found["place"], body[: found.start()].strip()
    if place is None:
        raise WishInvalid(text, end, "a place is expected: @file:line", _HELP)
    if not body:
        raise WishInvalid(text, match.end(), "an expression is expected", _HELP)
    return Side(match["name"], ranks, body, place)


def _number(text: str, value: str, at: int) -> float:
    try:
        return float(value)
    except ValueError:
        raise WishInvalid(text, at, f"{value or 'nothing'} is no number", _HELP, max(1, len(value))) from None
