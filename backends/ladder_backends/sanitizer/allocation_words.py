"""An allocation in a person's words: `1 B past a[1000], 4,000 B, allocated by main uninit.cu:14`.

What the report does not give is not there. A variable's name is no word of a report; where the line of source that
allocated names one, whoever shows it says where it is from.
"""

from __future__ import annotations

import re

from ladder_backends.model.finding import CodeLocation, Finding
from ladder_backends.sanitizer.describe import allocation_line, byte_count
from ladder_backends.sanitizer.lanes import frame_words

_LONGEST = 1_000
_ALLOCATES = (
    # cudaMalloc(&a, n), cudaMallocManaged((void **)&state->a, n), hipMallocAsync(&a[i], n, s), cuMemAlloc(&a, n)
    re.compile(
        r"\b(?:cuda|hip)(?:Malloc|HostAlloc|Mallo\w+)\w*\s*(?:<[^<>()]{0,80}>)?\s*\(\s*"
        r"(?:\(\s*[\w:]+\s*\*+\s*\)|(?:reinterpret|static)_cast\s*<[^<>]{0,80}>\s*\()?\s*&\s*"
        r"(?P<name>[A-Za-z_]\w*(?:(?:\.|->)\w+|\[\w+\])*)"
    ),
    re.compile(r"\bcuMem(?:Host)?Alloc\w*\s*\(\s*&\s*(?P<name>[A-Za-z_]\w*(?:(?:\.|->)\w+|\[\w+\])*)"),
    # a = torch.empty(n), x.a = cp.zeros(n), a: Tensor = torch.randn(n, device="cuda")
    re.compile(
        r"^\s*(?P<name>[A-Za-z_]\w*(?:\.\w+)*)\s*(?::[^=()]{1,80})?=\s*(?:torch|cp|cupy|numba|cuda|wp|warp|jnp|jax)\."
    ),
)


def _by_leak(frame: CodeLocation) -> str:
    return f"allocated by {frame_words(frame)} as its leak record says"


def name_at(line: str) -> str:
    """The variable that a line of source gives an allocation to; empty where none is plain to see."""
    found = {match["name"] for form in _ALLOCATES for match in form.finditer(line[:_LONGEST])}
    # Two on one line leave it open which is meant.
    return found.pop() if len(found) == 1 else ""


def allocation_words(finding: Finding, name: str = "", leaked_at: CodeLocation | None = None) -> str:
    """What lies where: distance, allocation, its size, who allocated it; empty where the report names none.

    Args:
        finding: Whose allocation.
        name: Variable that the allocating line of source names; it is said to be from there.
        leaked_at: The frame that another record of the report, a leak of the same memory, says allocated it.
    """
    allocation = finding.allocation
    called = allocation.name if allocation is not None else ""
    if allocation is None or not allocation.relation or not (called or name):
        line = allocation_line(allocation)
        return f"{line}, {_by_leak(leaked_at)}" if line and leaked_at is not None else line
    distance = byte_count(allocation.distance) if allocation.distance is not None else ""
    relation = {"after": f"{distance} past", "before": f"{distance} before"}.get(allocation.relation, "inside")
    what = called or name
    count = (allocation.size or 0) // finding.size if finding.size else 0
    if not called and finding.size and count and count * finding.size == allocation.size:
        what = f"{what}[{count:,}]".replace(",", "")
    words = [f"{relation} {what}".strip()]
    if allocation.size is not None:
        words.append(byte_count(allocation.size))
    if allocation.where is not None:
        words.append(f"allocated by {frame_words(allocation.where)}")
    elif leaked_at is not None:
        words.append(_by_leak(leaked_at))
    elif allocation.address:
        words.append(f"at {allocation.address}")
    if not called:
        words.append(f"“{name}” by that line of source")
    return ", ".join(words)
