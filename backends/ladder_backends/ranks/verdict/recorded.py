"""Where the ranks of a process group part, by what their flight recorders hold.

Only what a recorder still holds is compared: it keeps the last so many entries, and one that is gone from the front
was not "never issued". Numbers of collectives count within a group, those of sends and receives by pair.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ladder_backends.model.ranks import Collective
from ladder_backends.ranks.verdict.rows import UNEVEN_INPUTS, UNEVEN_OUTPUTS

DONE = "completed"
_PEERS = re.compile(r"(?P<kind>\w*(?:send|recv))\s+(?P<here>\d+)\s*(?:->|<-)\s*(?P<there>\d+)")

Recorded = Mapping[int, Sequence[Collective]]


@dataclass(frozen=True, slots=True)
class Parting:
    """The first collective of a group at which its ranks part.

    Attributes:
        kind: `missing`, `never`, `wrong-op`, `size`, `dtype` or `p2p`.
        culprits: Those who have not come, or are in the minority.
        others: Those who wait for them, or are in the majority.
        silent: Members of whom no recorder told.
        entry: The collective, as one of the others issued it.
        theirs: The same number as a culprit issued it, or None.
        pending: Somebody still waits in it.
        split: Neither side is the majority.
        ahead: Numbers that some rank has issued beyond it.
    """

    kind: str
    group: str
    members: tuple[int, ...]
    seq: int
    culprits: tuple[int, ...]
    others: tuple[int, ...]
    silent: tuple[int, ...]
    entry: Collective
    theirs: Collective | None = None
    pending: bool = True
    split: bool = False
    ahead: int = 0

    @property
    def key(self) -> tuple[object, ...]:
        """What has to be the same at two looks for it to be one and the same parting; of its culprits, some."""
        return self.kind, self.group, self.members, self.seq


def lasting(now: Sequence[Parting], before: Sequence[Parting]) -> list[Parting]:
    """Those of now that were there before, with the culprits that were culprits then: others were only slower."""
    known = {one.key: set(one.culprits) for one in before}
    found = []
    for one in now:
        culprits = tuple(rank for rank in one.culprits if rank in known.get(one.key, ()))
        if culprits:
            found.append(one if culprits == one.culprits else replace(one, culprits=culprits))
    return found


@dataclass(frozen=True, slots=True)
class GroupState:
    """What is known of one group.

    Attributes:
        last: By rank the number of the newest collective.
        pending: By rank its oldest collective that is not done, where there is one.
    """

    group: str
    members: tuple[int, ...]
    heard: tuple[int, ...]
    last: Mapping[int, int]
    pending: Mapping[int, Collective]


def is_world(group: str) -> bool:
    """The group is the one that all ranks are in, as its name tells."""
    return group in ("", "0", "WORLD") or "default_pg" in group


def groups_of(
    recorded: Recorded, world: Sequence[int]
) -> list[tuple[str, tuple[int, ...], dict[int, list[Collective]]]]:
    """The groups: name, members, and entries of each rank in the order of recording."""
    nameless: dict[str, set[int]] = defaultdict(set)
    apart: dict[int, dict[tuple[str, tuple[int, ...]], list[Collective]]] = {}
    for rank, told in recorded.items():
        mine = apart[rank] = {}
        for one in told:
            key = (one.group, one.group_ranks)
            if key in mine:
                mine[key].append(one)
            else:
                mine[key] = [one]
                if not one.group_ranks:
                    nameless[one.group].add(rank)
    members: dict[tuple[str, tuple[int, ...]], tuple[int, ...]] = {}
    entries: dict[tuple[str, tuple[int, ...]], dict[int, list[Collective]]] = {}
    for rank, mine in apart.items():
        for key, some in mine.items():
            if key not in members:
                every = key[1] or (world if is_world(key[0]) else nameless[key[0]])
                members[key] = tuple(sorted(every))
            found = entries.setdefault((key[0], members[key]), {})
            found[rank] = sorted((*found[rank], *some), key=lambda one: one.seq) if rank in found else some
    return [(name, ranks, told) for (name, ranks), told in entries.items()]


def states_of(recorded: Recorded, world: Sequence[int]) -> list[GroupState]:
    """What each group has come to."""
    states = []
    for name, members, ranks in groups_of(recorded, world):
        last: dict[int, int] = {}
        pending: dict[int, Collective] = {}
        for rank, told in ranks.items():
            own = [one for one in told if not one.point_to_point]
            if own:
                last[rank] = max(one.seq for one in own)
            waiting = [one for one in own if one.state != DONE]
            if waiting:
                pending[rank] = min(waiting, key=lambda one: one.seq)
        heard = tuple(rank for rank in members if rank in recorded)
        states.append(GroupState(name, members, heard, last, pending))
    return states


def pending_seq(one: Collective | None) -> int:
    """The number of a collective that is waited in, -1 for none."""
    return one.seq if one is not None and one.state != DONE else -1


def partings(recorded: Recorded, world: Sequence[int]) -> list[Parting]:
    """The first parting of each group that has one; those in which somebody waits first, the oldest first."""
    found: list[Parting] = []
    for name, members, ranks in groups_of(recorded, world):
        silent = tuple(rank for rank in members if rank not in recorded)
        one = _first(name, members, ranks, silent, recorded)
        if one is not None:
            found.append(one)
        found += _unmatched(name, members, ranks, silent)
    return sorted(found, key=lambda each: (not each.pending, -(each.entry.age or 0.0)))


def _first(
    name: str,
    members: tuple[int, ...],
    ranks: Mapping[int, Sequence[Collective]],
    silent: tuple[int, ...],
    recorded: Recorded,
) -> Parting | None:
    by_rank: dict[int, dict[int, Collective]] = {
        rank: {one.seq: one for one in told if not one.point_to_point}
        for rank, told in ranks.items()
        if rank in members
    }
    by_rank = {rank: told for rank, told in by_rank.items() if told}
    if not by_rank:
        return None
    heard = [rank for rank in members if rank in recorded]
    never = tuple(rank for rank in heard if rank not in by_rank)
    begin = max(min(told) for told in by_rank.values())
    end = max(max(told) for told in by_rank.values())
    if never:
        # Those who have issued nothing at all miss the first that somebody waits in.
        waiting = [one for told in by_rank.values() for one in told.values() if one.state != DONE]
        if waiting:
            entry = min(waiting, key=lambda one: one.seq)
            others = tuple(rank for rank in sorted(by_rank) if entry.seq in by_rank[rank])
            return Parting(
                "never", name, members, entry.seq, never, others, silent, _oldest(by_rank, others, entry.seq)
            )
    last = {rank: max(told) for rank, told in sorted(by_rank.items())}
    for seq in range(begin, end + 1):
        here = {rank: told[seq] for rank, told in by_rank.items() if seq in told}
        if not here:
            continue
        looks = {(one.op, one.sizes, one.output_sizes, one.dtype) for one in here.values()}
        if len(looks) == 1 and len(here) == len(by_rank):
            continue
        late = tuple(rank for rank, newest in last.items() if newest < seq)
        parting = _differing(name, members, seq, here, silent) if len(looks) > 1 else None
        if parting is None and late:
            others = tuple(sorted(here))
            pending = any(one.state != DONE for one in here.values())
            entry = _oldest(by_rank, others, seq)
            parting = Parting("missing", name, members, seq, late, others, silent, entry, None, pending)
        if parting is not None:
            return replace(parting, ahead=end - seq)
    return None


def _oldest(by_rank: Mapping[int, Mapping[int, Collective]], ranks: Sequence[int], seq: int) -> Collective:
    """The entry that waits longest, of those that wait."""
    entries = [by_rank[rank][seq] for rank in ranks]
    return max(entries, key=lambda one: (one.state != DONE, one.age or 0.0))


def _differing(
    name: str, members: tuple[int, ...], seq: int, here: Mapping[int, Collective], silent: tuple[int, ...]
) -> Parting | None:
    for kind, look in (("wrong-op", _op), ("size", _sizes), ("dtype", _dtype)):
        looks = {rank: told for rank, one in sorted(here.items()) if (told := look(one)) is not None}
        often = Counter(looks.values())
        if len(often) < 2:
            continue
        (most, count), (_, second) = often.most_common(2)
        culprits = tuple(rank for rank, told in looks.items() if told != most)
        others = tuple(rank for rank, told in looks.items() if told == most)
        pending = any(one.state != DONE for one in here.values())
        return Parting(
            kind, name, members, seq, culprits, others, silent, here[others[0]], here[culprits[0]], pending,
            split=count == second,
        )  # fmt: skip
    return None


def _op(one: Collective) -> object:
    return one.op


def _numel(shapes: Sequence[Sequence[int]]) -> tuple[int, ...]:
    """Elements of each tensor: a view of another shape is sent as the same bytes."""
    counts = []
    for shape in shapes:
        count = 1
        for length in shape:
            count *= length
        counts.append(count)
    return tuple(counts)


def _sizes(one: Collective) -> object:
    if "barrier" in one.op:
        return None
    inputs = _numel(one.sizes) if one.sizes and one.op not in UNEVEN_INPUTS else None
    outputs = _numel(one.output_sizes) if one.output_sizes and one.op not in UNEVEN_OUTPUTS else None
    return (inputs, outputs) if inputs is not None or outputs is not None else None


def _dtype(one: Collective) -> object:
    return one.dtype if one.dtype and "barrier" not in one.op else None


# Sends and receives -----------------------------------------------------------------------------------------------


def _unmatched(
    name: str, members: tuple[int, ...], ranks: Mapping[int, Sequence[Collective]], silent: tuple[int, ...]
) -> Iterator[Parting]:
    """A pending send or receive whose other half was not issued, as far as the counts of the pair tell."""
    issued: Counter[tuple[str, int, int]] = Counter()
    waits: dict[tuple[str, int, int], tuple[int, Collective]] = {}
    for rank, told in ranks.items():
        for one in told:
            peers = _PEERS.search(one.op) if one.point_to_point else None
            if peers is None:
                continue
            kind = "send" if peers["kind"].endswith("send") else "recv"
            here, there = int(peers["here"]), int(peers["there"])
            pair = (here, there) if kind == "send" else (there, here)
            issued[kind, *pair] += 1
            if one.state != DONE:
                known = waits.get((kind, *pair))
                if known is None or one.seq < known[1].seq:
                    waits[kind, *pair] = (rank, one)
    for (kind, source, target), (rank, one) in sorted(waits.items(), key=lambda each: each[1][0]):
        other = "recv" if kind == "send" else "send"
        local = target if kind == "send" else source
        peer = members[local] if local < len(members) else local
        if issued[other, source, target] >= issued[kind, source, target] or peer in silent or peer not in ranks:
            continue
        yield Parting("p2p", name, members, one.seq, (peer,), (rank,), silent, one)
