"""Values laid out as rows: expressions, then the frame's variables, each with what is open below it."""

from __future__ import annotations

import enum
from collections.abc import Iterator, Sequence
from dataclasses import field, replace
from typing import NamedTuple, TypeAlias

from ladder_backends.debugger.facets.values import Form, Look
from ladder_backends.late_dataclass import dataclass
from ladder_backends.model.variable import ChildWindow, Variable

Key: TypeAlias = tuple[str, ...]
"""A value by the names that lead to it: of the function or `WATCHED`, of the variable or expression, of members."""

WATCHED = "="
"""First part of the key of what is inside an expression."""

NOT_IN_SCOPE = "not in scope here"
"""What is wrong with an expression of another frame."""

PAGE = 100
"""Children that are asked for at once."""

_DEEPEST = 64


class Sort(enum.Enum):
    """What a row is."""

    VALUE = enum.auto()
    TEXT = enum.auto()
    BEFORE = enum.auto()
    MORE = enum.auto()
    NOTE = enum.auto()
    ELSEWHERE = enum.auto()
    """Expressions that are out of scope, folded into one row."""


@dataclass(slots=True)
class Branch:
    """A value that is open, and what of its inside is known.

    Attributes:
        start: Number of the first child that is shown.
        count: How many are shown.
        look: How it is looked into.
        window: The children, as the engine told last.
        text: The whole value, for one that is read as text.
        asked: The moment they were asked for; negative for never.
    """

    start: int = 0
    count: int = PAGE
    look: Look = Look.MEMBERS
    window: ChildWindow = field(default_factory=ChildWindow)
    text: str | None = None
    asked: int = -1


class ValueRow(NamedTuple):
    """One row.

    Attributes:
        key: Of the value; for other sorts than VALUE, of the value that the row belongs to.
        variable: The value; for other sorts, the one that the row belongs to.
        depth: How many open values it stands below.
        watched: It is an expression that was asked for.
        opened: Its inside is shown below.
        form: How it is written.
        text: What rows of other sorts say.
    """

    sort: Sort
    key: Key
    variable: Variable
    depth: int = 0
    watched: bool = False
    opened: bool = False
    form: str = Form.NATURAL
    text: str = ""


@dataclass(slots=True)
class ValueTrees:
    """What is open, how it is written, and which expressions are watched.

    Attributes:
        watches: Expressions, in the order of asking, with their last values.
        branches: Open values; those of a function stay when it is left.
        forms: How values are written, where not as is natural to them.
        written: Variables of frames as `forms` says, with the moment they were read.
        assigned: Values that were set by hand since the last stop.
        fresh: Expressions that were asked for since the last stop: shown where they stand, in scope or not.
        elsewhere_open: Expressions that are out of scope are listed below the row that they are folded into.
    """

    watches: dict[str, Variable] = field(default_factory=dict)
    branches: dict[Key, Branch] = field(default_factory=dict)
    forms: dict[Key, str] = field(default_factory=dict)
    written: dict[Key, tuple[int, Variable]] = field(default_factory=dict)
    assigned: set[Key] = field(default_factory=set)
    fresh: set[str] = field(default_factory=set)
    elsewhere_open: bool = False

    def elsewhere(self) -> dict[str, Variable]:
        """Expressions that mean nothing in this frame, so that they do not push out what does."""
        return {
            expression: variable
            for expression, variable in self.watches.items()
            if variable.error == NOT_IN_SCOPE and expression not in self.fresh
        }

    def form_of(self, key: Key) -> str:
        """How a value is written: as was chosen for it, or for the nearest value that it is inside of."""
        if self.forms:
            for length in range(len(key), 0, -1):
                form = self.forms.get(key[:length])
                if form is not None:
                    return form
        return Form.NATURAL


def lay_out(trees: ValueTrees, variables: Sequence[Variable], function: str) -> list[ValueRow]:
    """All rows, in order.

    Args:
        trees: What is open.
        variables: Of the frame; of those that hide one another only the innermost can be looked into.
        function: Of the frame.
    """
    rows: list[ValueRow] = []
    elsewhere = trees.elsewhere()
    for expression, variable in trees.watches.items():
        if expression not in elsewhere:
            rows += _value(trees, (WATCHED, expression), variable, 0, watched=True)
    for key, variable in keyed(variables, function):
        rows += _value(trees, key, variable, 0)
    if elsewhere:
        count = len(elsewhere)
        text = f"{count} watch{'es' if count > 1 else ''} out of scope"
        opened = trees.elsewhere_open
        rows.append(ValueRow(Sort.ELSEWHERE, (WATCHED,), Variable("", ""), opened=opened, text=text))
        if opened:
            for expression, variable in elsewhere.items():
                rows += _value(trees, (WATCHED, expression), variable, 0, watched=True)
    return rows


def rows_elsewhere(trees: ValueTrees) -> list[ValueRow]:
    """Rows of expressions that are out of scope: seen or not, they are read, to be known to be in scope again."""
    return [
        ValueRow(Sort.VALUE, key, variable, watched=True, form=trees.form_of(key))
        for expression, variable in trees.elsewhere().items()
        for key in [(WATCHED, expression)]
    ]


def keyed(variables: Sequence[Variable], function: str) -> Iterator[tuple[Key, Variable]]:
    """Variables of a frame with their keys."""
    met: dict[str, int] = {}
    for variable in variables:
        number = met.get(variable.name, 0)
        met[variable.name] = number + 1
        yield (function, f"{variable.name}#{number}" if number else variable.name), variable


def _value(
    trees: ValueTrees, key: Key, variable: Variable, depth: int, *, watched: bool = False
) -> Iterator[ValueRow]:
    branch = trees.branches.get(key) if depth < _DEEPEST else None
    if key in trees.forms and not watched and key in trees.written:
        read = trees.written[key][1]
        variable = replace(variable, value=read.value, error=read.error, cut=read.cut, changed=read.changed)
    if key in trees.assigned and not variable.changed:
        variable = replace(variable, changed=True)
    yield ValueRow(Sort.VALUE, key, variable, depth, watched, branch is not None, trees.form_of(key))
    if branch is None:
        return
    below = depth + 1
    if branch.text is not None:
        yield ValueRow(Sort.TEXT, key, variable, below, text=branch.text)
    window = branch.window
    if window.start:
        yield ValueRow(Sort.BEFORE, key, variable, below, text=f"… {window.start:,} before")
    for number, child in enumerate(window.children):
        yield from _value(trees, child_key(key, window, number), child, below)
    if window.more:
        rest = "more"
        if window.total is not None:
            rest = f"{window.total - window.start - len(window.children):,} more of {window.total:,}"
        yield ValueRow(Sort.MORE, key, variable, below, text=f"… {rest}")
    if window.note:
        yield ValueRow(Sort.NOTE, key, variable, below, text=window.note)
    elif not window.children and branch.text is None:
        yield ValueRow(Sort.NOTE, key, variable, below, text="empty" if branch.asked >= 0 else "reading …")


def child_key(key: Key, window: ChildWindow, number: int) -> Key:
    """The key of a child; of several with one name, later ones are numbered."""
    name = window.children[number].name
    if any(each.name == name for each in window.children[:number]) if len(window.children) < PAGE else False:
        name = f"{name}#{number}"
    return (*key, name)
