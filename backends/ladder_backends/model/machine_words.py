"""What is said of a whole machine in a few lines: concerns and choices, the same of several told once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ladder_backends.model.fact import Concern
from ladder_backends.model.topology import Gpu, Machine

WITHOUT_A_GPU = "without a GPU: ladder-tui hardware --simulate list names machines to look at"
"""What somebody can do whose machine has none."""


class ConcernGroup(NamedTuple):
    """The same concern of several facts.

    Attributes:
        text: Where, what, and what it means.
        group: The first group of facts that it is in.
        remedy: What to do; may be empty.
    """

    concern: Concern
    text: str
    group: str
    remedy: str


def concern_groups(machine: Machine) -> Iterator[ConcernGroup]:
    """What needs attention; the same of several is told once."""
    groups = {title: group for group, title, _ in machine.groups()}
    places: dict[tuple[Concern, str, str], list[str]] = {}
    remedies: dict[tuple[Concern, str], str] = {}
    for title, fact in machine.concerns():
        places.setdefault((fact.concern, fact.label, fact.says), []).append(title)
        if fact.known:
            remedies.setdefault((fact.concern, fact.says), fact.remedy)
    said: dict[tuple[Concern, str, tuple[str, ...]], list[str]] = {}
    for (concern, label, says), titles in places.items():
        said.setdefault((concern, says, tuple(titles)), []).append(label)
    for (concern, says, where), labels in said.items():
        told = "" if where == ("host",) else f"{_some(list(where))} "
        text = f"{told}{', '.join(labels)}: {says}"
        yield ConcernGroup(concern, text, groups[where[0]], remedies.get((concern, says), ""))


def _some(titles: list[str]) -> str:
    """`GPU0, GPU1`, or how many there are of what."""
    if len(titles) <= 2:
        return ", ".join(titles)
    kinds = {title.split(" ")[0].rstrip("0123456789") for title in titles}
    word = {"GPU": "pairs" if all("–" in title for title in titles) else "GPUs", "root": "ports", "switch": "ports"}
    return f"{len(titles)} {word.get(kinds.pop(), 'times') if len(kinds) == 1 else 'ports'}"


def choice_groups(machine: Machine) -> Iterator[tuple[str, str]]:
    """What NCCL takes and why, and which pairs: those of one answer together."""
    said: dict[str, list[str]] = {}
    for pair in machine.pairs:
        said.setdefault(pair.facts["nccl"].text, []).append(f"{pair.a}-{pair.b}")
    for text, pairs in said.items():
        every = len(said) == 1 and len(pairs) > 1
        yield text, "all pairs" if every else f"{len(pairs)} pairs" if len(pairs) > 4 else " ".join(pairs)


def number_in_cuda(gpu: Gpu) -> str:
    """`CUDA 1`, `hidden` or `CUDA ?` where CUDA's number of a GPU is not NVML's; empty where both are the same."""
    fact = gpu.facts["cuda.index"]
    if "cuda.index" not in gpu.facts or fact.value == gpu.index:
        return ""
    return "CUDA ?" if fact.value is None else f"CUDA {fact.value}" if fact.value != "hidden" else "hidden"
