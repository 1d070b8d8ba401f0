"""From what was proven, what the host is like and what changed to one sentence and one command.

A pure function: the same sweep and facts give the same verdicts. Rows stand in the order in which they are
believed: what makes every later row worthless comes first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from ladder_backends.model.p2p import Sweep, Verdict
from ladder_backends.p2p.counters import GRAVE, SLIGHT
from ladder_backends.p2p.host_facts import HostFacts
from ladder_backends.p2p.signature import Signature, signature
from ladder_backends.p2p.verdict import beyond, drivers, inconclusive, links, notes, peer, ways
from ladder_backends.p2p.verdict.table import TABLE

Row = Callable[[Sweep, Signature, HostFacts], Verdict | None]


def verdicts(sweep: Sweep, facts: HostFacts | None = None, changed: Sequence[str] = ()) -> tuple[Verdict, ...]:
    """Every row of the table that holds, the one to act on first; never empty.

    Args:
        sweep: What was proven.
        facts: What is known of the host; a fact that is missing is unknown.
        changed: What is different on the host since the baseline, one line each.
    """
    everything: HostFacts = facts or {}
    known = ways.off_the_bus(sweep, everything)
    seen = signature(sweep)
    found: list[Verdict] = []
    for row in _ROWS:
        verdict = row(sweep, seen, known)
        if verdict is None or any(verdict.id in _EXPLAINS.get(one.id, ()) for one in found):
            continue
        found.append(verdict)
        if not verdict.conclusive or row in _LAST_WORD:
            break
    if not found:
        found.append(inconclusive.all_right(sweep, seen))
    found += [note for row in _NOTES if (note := row(sweep, seen, known)) is not None]
    moved = tuple(known[name] for name in (GRAVE, SLIGHT) if name in known)
    if moved and found[0].id != "counters":
        found[0] = replace(found[0], facts=(*found[0].facts, *moved))
    found = ways.fitted(found, sweep, everything)
    found = [replace(one, reports=TABLE[one.id].reports) for one in found]
    return (_with_changes(found[0], changed), *found[1:])


def exit_code(found: Sequence[Verdict]) -> int:
    """0 where all is proven right, 1 where something is wrong or slow, 2 where nothing can be said."""
    if any(not verdict.good and verdict.conclusive for verdict in found):
        return 1
    return 0 if all(verdict.good for verdict in found) else 2


def _with_changes(verdict: Verdict, changed: Sequence[str]) -> Verdict:
    if not changed or verdict.good:
        return verdict
    return replace(verdict, changed=tuple(changed))


_EXPLAINS: Mapping[str, frozenset[str]] = {
    "confidential": frozenset(("not-offered", "nvlink-refused")),
    "nvlink-refused": frozenset(("not-offered",)),
    "window": frozenset(("dropped", "known-driver", "partial")),
    "known-driver": frozenset(("dropped", "stale", "partial", "hang", "resident")),
    "fewer-nvlinks": frozenset(("slow",)),
    "narrow-link": frozenset(("slow", "slow-below-staged")),
}
"""Rows that say more of the same than others, which are left out beside them."""

_ROWS: tuple[Row, ...] = (
    inconclusive.not_run,
    inconclusive.wedged_gpu,
    inconclusive.bad_memory,
    inconclusive.bad_control,
    peer.cannot_map,
    peer.asymmetric,
    peer.misrouted,
    peer.mirrored,
    peer.beyond_a_window,
    drivers.known_driver,
    peer.dropped,
    peer.stale,
    peer.partial,
    peer.hanging,
    inconclusive.killed,
    peer.errors,
    beyond.resident_kernels,
    beyond.between_processes,
    beyond.concurrent,
    beyond.lost_adds,
    beyond.fall_back,
    beyond.network_card,
    links.fewer_nvlinks,
    links.narrow_link,
    beyond.slow_paths,
    links.crowded,
    beyond.confidential,
    links.nvlink_refused,
    beyond.not_offered,
    inconclusive.cancelled,
    beyond.counted_errors,
)
_NOTES: tuple[Row, ...] = (notes.small_shm, notes.environment, notes.nccl_complains, notes.unseen)
"""What is told beside the verdict, and is none by itself."""

_LAST_WORD: tuple[Row, ...] = (
    inconclusive.not_run,
    inconclusive.wedged_gpu,
    inconclusive.bad_memory,
    inconclusive.bad_control,
)
