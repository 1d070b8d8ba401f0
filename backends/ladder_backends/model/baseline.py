"""A machine beside a baseline: what is different, what broke, and whether old results still say anything."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Baseline:
    """What was kept.

    Attributes:
        facts: By `group/name`; a value that was not known is `{"unknown": why}`.
        labels: What people call each of them.
        results: Pair tests, in the shape of a sweep's JSON; None where none were run.
        saved_at: Seconds since the epoch.
    """

    name: str
    title: str
    facts: Mapping[str, Any]
    labels: Mapping[str, str]
    results: Mapping[str, Any] | None
    saved_at: float


@dataclass(frozen=True, slots=True)
class Changed:
    """One difference.

    Attributes:
        where: `group/name`.
        label: For people: `GPU0 IOMMU domain`.
        before, after: As people read them.
        kind: `changed`, `unread now`, `read now`, `gone`, `new`.
    """

    where: str
    label: str
    before: str
    after: str
    kind: str

    @property
    def text(self) -> str:
        """One line."""
        if self.kind == "gone":
            return f"{self.label} is gone (was {self.before})" if self.before else f"{self.label} is gone"
        if self.kind == "new":
            return f"{self.label} is new: {self.after}" if self.after else f"{self.label} is new"
        if self.kind == "unread now":
            return f"{self.label}: {self.before} before, unknown now: {self.after}"
        if self.kind == "read now":
            return f"{self.label}: unknown before, {self.after} now"
        if self.where.endswith(("/cmdline", "/cmdline.iommu")):
            return f"{self.label}: {_words(self.before, self.after)}"
        return f"{self.label}: {self.before} → {self.after}"


@dataclass(frozen=True, slots=True)
class Comparison:
    """A baseline beside the machine as it is now.

    Attributes:
        changed: Differences of the machine, the most telling ones first.
        broke: What worked and does not any more, a line each.
        pairs: Which ordered pairs those lines are about, by the numbers that they have now.
        mended: The other way round.
        rebooted: It is another boot.
        stale: Results from before say nothing of now: something that decides about transfers has changed.
    """

    baseline: Baseline
    changed: tuple[Changed, ...]
    broke: tuple[str, ...] = ()
    pairs: frozenset[tuple[int, int]] = frozenset()
    mended: tuple[str, ...] = ()
    rebooted: bool = False
    stale: bool = False
    why_stale: str = field(default="")

    def lines(self) -> list[tuple[str, str]]:
        """Differences as lines, each with the group of its first fact; the same of several GPUs or pairs is one."""
        places: dict[str, list[Changed]] = {}
        options = next((one.text for one in self.changed if one.where == "host/cmdline.iommu"), "")
        for one in self.changed:
            if one.where == "host/cmdline" and one.text.partition(": ")[2] == options.partition(": ")[2]:
                # The same words once more.
                continue
            places.setdefault(one.text.removeprefix(_place(one)), []).append(one)
        return [
            (f"{_places([_place(one) for one in same])}{text}", same[0].where.rsplit("/", 1)[0])
            for text, same in places.items()
        ]

    @property
    def host(self) -> tuple[tuple[str, str, str], ...]:
        """Differences as label, before, after."""
        return tuple((one.label, one.before, one.after) for one in self.changed)


def _place(one: Changed) -> str:
    """What a label begins with: `GPU0 `, `GPU0 – GPU1 `; empty for facts of the host, and of what came or went."""
    if one.where.startswith("host/") or "/" not in one.where:
        return ""
    found = re.match(r"^(GPU\d+(?: – GPU\d+| NVLink \d+)?|[a-z ]+ [0-9a-f]{4,8}:[0-9a-f:.]+) ", one.label)
    return found[0] if found else ""


def _places(places: list[str]) -> str:
    if len(places) == 1:
        return places[0]
    if len(places) == 2:
        return ", ".join(place.strip() for place in places) + " "
    kinds = {_kind(place) for place in places}
    return f"{len(places)} {kinds.pop() if len(kinds) == 1 else 'places'}: "


def _kind(place: str) -> str:
    if "–" in place:
        return "pairs"
    if "NVLink" in place:
        return "NVLinks"
    return "GPUs" if place.startswith("GPU") else "ports"


def _words(before: str, after: str) -> str:
    """Words of a command line that came and went: `+kvm_amd.sev_snp=1 −iommu=pt`."""
    old, new = re.split(r",? ", before), re.split(r",? ", after)
    told = [f"+{word}" for word in new if word not in old and word != "none"]
    told += [f"−{word}" for word in old if word not in new and word != "none"]
    return " ".join(told) or "another order"
