"""The sets that can be named: jobs, and sets that were given a name; and what a text means among them."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence

from ladder_backends.ranks.rank_list import fold
from ladder_backends.ranks.sets.facts import STATES, JobFacts
from ladder_backends.ranks.sets.selection import Selection
from ladder_backends.ranks.sets.set_invalid import SetInvalid
from ladder_backends.ranks.sets.syntax import (
    AlongAxis,
    Atom,
    Complement,
    Everything,
    Item,
    Joined,
    Keyed,
    Node,
    Span,
    read_leading_set,
    read_set,
)

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_LISTED = 8


class SetBook:
    """Knows the jobs, and the sets that a person has named.

    A named set keeps its ranks, not its text: `$stuck` means the ranks that were stuck when it was named.
    """

    def __init__(self, jobs: Iterable[JobFacts] = ()) -> None:
        self._jobs: dict[str, JobFacts] = {job.name: job for job in jobs}
        self._named: dict[str, Selection] = {}

    @property
    def jobs(self) -> Mapping[str, JobFacts]:
        """Jobs by name."""
        return self._jobs

    @property
    def named(self) -> Mapping[str, Selection]:
        """Sets that were given a name, in the order of that."""
        return self._named

    def learn(self, job: JobFacts) -> None:
        """Take what is known of a job now in place of what was."""
        self._jobs[job.name] = job

    def define(self, name: str, text: str) -> Selection:
        """Give what a text means now a name; `$` before it is passed over.

        Raises:
            SetInvalid: The text means nothing, or the name cannot be given.
        """
        name = name.removeprefix("$")
        if _NAME.fullmatch(name) is None:
            raise SetInvalid(name or " ", 0, "a name is of letters, digits and _", width=len(name))
        if name in self._jobs:
            raise SetInvalid(f"${name}", 1, "it is the name of a job", "choose another one", len(name))
        found = self.find(text)
        self._named[name] = found
        return found

    def forget(self, name: str) -> bool:
        """Take a name away; returns whether it was there."""
        return self._named.pop(name.removeprefix("$"), None) is not None

    def find(self, text: str) -> Selection:
        """The ranks that a text means now.

        Raises:
            SetInvalid: It is no set, or names what is not there; the fault is pointed at.
        """
        job, ranks = _Meaning(self, text).of(read_set(text))
        return Selection(job, tuple(sorted(ranks)), text.strip())

    def find_leading(self, text: str, start: int = 0) -> tuple[Selection, str]:
        """The ranks of the set with which a text goes on at `start`, and the rest behind it.

        Raises:
            SetInvalid: As for `find`.
        """
        node, end = read_leading_set(text, start)
        job, ranks = _Meaning(self, text).of(node)
        return Selection(job, tuple(sorted(ranks)), text[start:end].strip()), text[end:].strip()


class _Meaning:
    """What the tree of one text means."""

    def __init__(self, book: SetBook, text: str) -> None:
        self._book = book
        self._text = text

    def of(self, node: Node) -> tuple[str, frozenset[int]]:
        if isinstance(node, Atom):
            return self._atom(node)
        if isinstance(node, Complement):
            name, ranks = self.of(node.of)
            return name, frozenset(self._book.jobs[name].ranks) - ranks
        name, left = self.of(node.left)
        other, right = self.of(node.right)
        if other != name:
            raise self._wrong(node, f"${name} and ${other} are different jobs")
        if node.sign == "&":
            return name, left & right
        return name, left | right if node.sign == "+" else left - right

    def _atom(self, atom: Atom) -> tuple[str, frozenset[int]]:
        job = self._book.jobs.get(atom.name)
        named = self._book.named.get(atom.name)
        if job is None and named is not None:
            job = self._book.jobs.get(named.job)
        if job is None:
            known = [f"${name}" for name in (*self._book.jobs, *self._book.named)]
            remedy = f"there {'is' if len(known) == 1 else 'are'} {_list(known)}" if known else "no job is open"
            raise SetInvalid(self._text, atom.column + 1, f"there is no ${atom.name}", remedy, len(atom.name))
        whole = frozenset(job.ranks) if named is None else frozenset(named.ranks)
        if atom.items is None:
            return job.name, whole
        if atom.items and isinstance(atom.items[0], AlongAxis):
            return job.name, whole & self._along_axes(job, atom.items)
        found: frozenset[int] = frozenset()
        for item in atom.items:
            found |= self._item(job, atom.name, whole, item)
        return job.name, found

    def _item(self, job: JobFacts, name: str, whole: frozenset[int], item: Item) -> frozenset[int]:
        if isinstance(item, Everything):
            return whole
        if isinstance(item, Span):
            ranks = frozenset(item.numbers)
            outside = ranks - whole
            if outside:
                has = f"${name} has {len(whole)}: {_span(whole)}" if whole else f"${name} is empty"
                are = "rank is" if len(outside) == 1 else "ranks are"
                raise SetInvalid(
                    self._text, item.column, f"{_dotted(outside)}: no such {are} in it; {has}", width=item.width
                )
            return ranks
        assert isinstance(item, Keyed)
        return whole & self._keyed(job, item)

    def _keyed(self, job: JobFacts, item: Keyed) -> frozenset[int]:
        if item.key == "state":
            found = job.states.get(item.value)
            if found is not None:
                return found
            known = (*STATES, *(state for state in job.states if state not in STATES))
            if item.value in known:
                return frozenset()
            raise self._wrong(item, f"{item.value} is no state", f"states are {', '.join(known)}")
        if item.key == "class":
            number = int(item.value) if item.value.isdecimal() and len(item.value) < 10 else 0
            if 1 <= number <= len(job.classes):
                return job.classes[number - 1]
            there = f"there are {len(job.classes)}, from 1 on" if job.classes else "nothing was grouped yet"
            raise self._wrong(item, f"there is no class {item.value}", there)
        if item.key == "host":
            found, all_of = job.on_host(item.value), job.hosts.values()
        else:
            found, all_of = job.of_program(item.value), job.executables.values()
        if found is None:
            what = "no rank is on host" if item.key == "host" else "no rank runs"
            raise self._wrong(item, f"{what} {item.value}", _nearest(item.value, all_of))
        return found

    def _along_axes(self, job: JobFacts, items: Sequence[Item]) -> frozenset[int]:
        mesh = job.mesh
        first = items[0]
        assert isinstance(first, AlongAxis)
        if mesh is None:
            raise self._wrong(first, f"the axes of ${job.name} are not known", "name them: --mesh dp=2,pp=2,tp=2")
        sizes = dict(mesh.axes)
        asked: dict[str, set[int]] = {}
        for item in items:
            assert isinstance(item, AlongAxis)
            if item.axis not in sizes:
                raise SetInvalid(
                    self._text,
                    item.column,
                    f"there is no axis {item.axis}",
                    f"axes are {', '.join(f'{name} ({size})' for name, size in mesh.axes)}",
                    len(item.axis),
                )
            if item.spans is None:
                continue
            size = sizes[item.axis]
            for span in item.spans:
                outside = [place for place in span.numbers if place >= size]
                if outside:
                    why = f"{_dotted(outside)}: axis {item.axis} has the places 0..{size - 1}"
                    raise SetInvalid(self._text, span.column, why, width=span.width)
                asked.setdefault(item.axis, set()).update(span.numbers)
        found = set()
        for rank in range(mesh.size):
            places = mesh.coordinates(rank)
            if all(places[axis] in wanted for axis, wanted in asked.items()):
                found.add(rank)
        return frozenset(found)

    def _wrong(self, at: Keyed | AlongAxis | Joined, why: str, remedy: str = "") -> SetInvalid:
        return SetInvalid(self._text, at.column, why, remedy, 1 if isinstance(at, Joined) else at.width)


def _dotted(ranks: Iterable[int]) -> str:
    """Ranks as sets are written: `1000..1010`."""
    return fold(ranks).replace("-", "..")


def _span(ranks: Iterable[int]) -> str:
    found = _dotted(ranks)
    return found if len(found) <= 60 else f"{found[:57]}..."


def _list(names: Sequence[str]) -> str:
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return ", ".join(names[:_LISTED]) + more


def _nearest(name: str, known: Iterable[str]) -> str:
    names = sorted(set(known))
    near = difflib.get_close_matches(name, names, 1, 0.5)
    return f"is it {near[0]}?" if near else f"there {'is' if len(names) == 1 else 'are'} {_list(names)}"
