"""Joins what all sources tell of a job's ranks into verdicts, the most telling first.

One look says where ranks are; only what stayed as it was over two looks is a hang. Every verdict carries what
speaks for it and against it, and its confidence is the sum of that. Ranks that told nothing are never left out:
whoever hangs before everybody else is the first who cannot answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property

from ladder_backends.model.rank_verdict import RankFact, RankVerdict
from ladder_backends.model.ranks import Evidence, RankStack
from ladder_backends.ranks.stacks.joining import join_stacks
from ladder_backends.ranks.stacks.samples import Course, Samples
from ladder_backends.ranks.verdict import counts, wording
from ladder_backends.ranks.verdict.recorded import GroupState, Parting, lasting, partings, pending_seq, states_of
from ladder_backends.ranks.verdict.rows import BY_ID, ROWS
from ladder_backends.ranks.verdict.several_ops import messages_only, several_ops
from ladder_backends.ranks.verdict.span import LONGER_COSTS, longer_look, weigh
from ladder_backends.ranks.verdict.standing import Standing, kind_of_stacks, place_of, standings, user_frame
from ladder_backends.ranks.verdict.unknown import why_unknown
from ladder_backends.ranks.verdict.waiting import circle_of, roots_of
from ladder_backends.ranks.verdict.wording import ages, names

_RECORDER, _NATIVE, _KERNEL, _RAS = "flight recorder", "stacks", "proc", "RAS"
_OF_STACKS = ("stacks-", "call-site")
_ORDER = {row.id: number for number, row in enumerate(ROWS)}


def judge(samples: Sequence[Evidence]) -> RankVerdict:
    """The verdict; there always is one, though it may be that nothing is known."""
    return verdicts(samples)[0]


def verdicts(samples: Sequence[Evidence]) -> tuple[RankVerdict, ...]:
    """Every verdict that applies, the most telling first; at least one.

    Args:
        samples: Looks at one job in the order of time; at least one.
    """
    return Case(samples).verdicts()


def joined_stacks(evidence: Evidence) -> tuple[RankStack, ...]:
    """The stacks of a look, native and Python frames as one."""
    return join_stacks(evidence.native, evidence.python)


def courses(samples: Sequence[Evidence]) -> dict[int, str]:
    """What the thread that stands for each rank did over the looks that can be compared with the newest."""
    return {rank: str(course) for rank, course in Case(samples).courses.items()}


class Case:
    """One job and all looks at it."""

    def __init__(self, samples: Sequence[Evidence]) -> None:
        self.samples = samples
        self.now = samples[-1]
        job = self.now.job
        dead = {rank for rank, _ in job.missing}
        every = {rank.rank for rank in job.ranks} | dead | set(range(job.size or 0))
        self.world = tuple(sorted(every - set(job.elsewhere)))
        self.pids = {rank.rank: rank.pid for rank in job.ranks}

    @property
    def looks(self) -> int:
        """How many there are."""
        return len(self.samples)

    @cached_property
    def alike(self) -> list[Evidence]:
        """Looks whose stacks can be compared: one that went less far found other innermost frames.

        Where only one look went as far as the newest, Python frames are compared, which several tell of.
        """
        kind = kind_of_stacks(self.now)
        equal = [look for look in self.samples if kind_of_stacks(look) == kind]
        if len(equal) > 1 or not self.now.python:
            return equal
        return [look for look in self.samples if look.python]

    @property
    def stack_looks(self) -> int:
        """How many those are."""
        return len(self.alike)

    @cached_property
    def stacks(self) -> tuple[RankStack, ...]:
        """Those of the newest look, joined."""
        return joined_stacks(self.now)

    @cached_property
    def standing(self) -> dict[int, Standing]:
        """What each rank does whose stack is known."""
        return standings(self.stacks, self.pids, self.now.activity)

    @cached_property
    def courses(self) -> dict[int, Course]:
        """What each rank's representing thread did over all looks."""
        samples = Samples()
        both = all(kind_of_stacks(look) == kind_of_stacks(self.now) for look in self.alike)
        for look in self.alike:
            samples.add(
                look.at, (self.stacks if look is self.now else joined_stacks(look)) if both else look.python
            )
        return samples.courses({rank: one.stack.thread for rank, one in self.standing.items()})

    @cached_property
    def silent(self) -> dict[int, str]:
        """Ranks that told neither a stack nor a collective, and why."""
        reasons = {one.rank: one.reason for one in self.now.unreachable}
        for reading in self.now.readings:
            for one in reading.silent:
                reasons.setdefault(one.rank, one.reason)
        return {
            rank: reasons.get(rank, "")
            for rank in self.world
            if rank not in self.standing and rank not in self.now.collectives
        }

    def verdicts(self) -> tuple[RankVerdict, ...]:
        """Every one that applies, the most telling first."""
        found = [*self._bodies(), *self._recorded(), *self._by_stacks(), *self._by_counts()]
        found.sort(key=lambda one: _ORDER[one.id])
        if any(one.diverges for one in found):
            kept = [one for one in found if one.diverges]
            # Where the recorder knows the collective, stacks that say the same say less.
            sure = [one for one in kept if not one.id.startswith(("stacks-", "call-site", "same"))]
            if sure and any(one.id not in ("kernel", "stopped", "ras-behind", "ras-silent") for one in sure):
                kept = sure
            return tuple(kept)
        return tuple(found) or (self._quiet(),)

    def make(
        self,
        row: str,
        suspects: Iterable[int],
        waiters: Iterable[int],
        facts: Iterable[RankFact],
        *,
        group: str = "",
        seq: int | None = None,
        tail: str = "",
        waited: float | None = None,
        **words: object,
    ) -> RankVerdict:
        """A verdict of a row, with its words filled in and its confidence worked out."""
        suspects, waiters = tuple(sorted(set(suspects))), tuple(sorted(set(waiters)))
        kind = BY_ID[row]
        if seq is not None:
            words |= {"seq": seq, "group": wording.group(group)}
        sentence = wording.sentence(kind.sentence, suspects, waiters, words) + (f" {tail}" if tail else "")
        told = tuple(facts)
        looks = self.alike if row.startswith(_OF_STACKS) else self.samples
        level, doubts = weigh(kind, told, looks, waited)
        told += doubts
        first = next((rank for rank in suspects if rank in self.pids), None)
        command, price = "", ""
        if doubts:
            command, price = longer_look(self.now.job), LONGER_COSTS
        elif first is not None and kind.diverges:
            command = f"ladder-tui attach {self.pids[first]}"
            price = f"stops rank {first} for as long as it is looked at; its stacks alone about 0.4 s"
        return RankVerdict(
            row, sentence, suspects, waiters, kind.diverges, level, told, command, price, group, seq, len(looks)
        )

    # Facts that many rows share -------------------------------------------------------------------------------

    def _about(self, rank: int) -> str:
        """What a suspect does, as a sentence: `It reads a file at loader.py:41.`; empty where nobody tells."""
        standing = self.standing.get(rank)
        if standing is not None:
            return f"It {standing.words} {standing.place}".rstrip() + "."
        activity = next((one for one in self.now.activity if one.rank == rank), None)
        if activity is not None and activity.syscall and activity.syscall != "running":
            return f"It waits in the system call {activity.syscall}."
        return ""

    def tail(self, suspects: Sequence[int]) -> str:
        """What the suspects do, where they all do the same or there is one."""
        told = {self._about(rank) for rank in suspects}
        if len(told) != 1:
            first = self._about(suspects[0]) if suspects else ""
            return f"Rank {suspects[0]}: {first[3:]}" if first else ""
        words = told.pop()
        return words if len(suspects) == 1 or not words else f"Each {words[3:]}"

    def looked(self, suspects: Sequence[int], waiters: Sequence[int]) -> list[RankFact]:
        """Whether those it is about stood where they stood."""
        if self.looks < 2 or (self.standing and self.stack_looks < 2):
            return [RankFact("one look only: a second one tells a hang from a moment", "looks")]
        facts = []
        moved = [rank for rank in suspects if self.courses.get(rank) is Course.MOVES]
        stuck = [rank for rank in suspects if self.courses.get(rank) is Course.STUCK]
        if moved:
            facts.append(RankFact(f"{names(moved)} moved between the looks: slow, or in a loop", _NATIVE, -1))
        if stuck:
            facts.append(
                RankFact(f"{names(stuck)} stood in the same place at {self.stack_looks} looks", _NATIVE, 1)
            )
        gone_on = [rank for rank in waiters if self.courses.get(rank) is Course.MOVES]
        if gone_on:
            facts.append(RankFact(f"{names(gone_on)} moved between the looks", _NATIVE, -1))
        return facts

    def _agreeing(self, suspects: Sequence[int], waiters: Sequence[int]) -> list[RankFact]:
        """Whether stacks and RAS say the same as a recorder."""
        facts = []
        waiting = [rank for rank in waiters if rank in self.standing and self.standing[rank].kind is not None]
        idle = [rank for rank in suspects if rank in self.standing and not self.standing[rank].collective]
        if waiting and len(waiting) * 2 >= len(waiters):
            facts.append(RankFact(f"{names(waiting)} wait by their stacks too", _NATIVE, 1))
        if idle:
            facts.append(RankFact(f"{names(idle)} {wording.verb(idle, 'is', 'are')} in no collective", _NATIVE, 1))
        behind = {rank for one in counts.behind(self.now.ras) for rank in one.ranks}
        if behind and behind <= set(suspects):
            facts.append(RankFact(f"RAS counts fewer operations of {names(sorted(behind))}, unchanged", _RAS, 1))
        elif behind and not behind & set(suspects):
            facts.append(RankFact(f"RAS counts fewer operations of {names(sorted(behind))}", _RAS, -1))
        return facts

    # Rows -----------------------------------------------------------------------------------------------------

    def _bodies(self) -> list[RankVerdict]:
        """Ranks that are no more, stopped, or held in the kernel."""
        found = []
        job, alive = self.now.job, [rank.rank for rank in self.now.job.ranks]
        last = {one.rank: one for one in self.now.activity}
        dead = dict(job.missing)
        dead |= {
            rank.rank: "zombie" for rank in job.ranks
            if (last[rank.rank].state if rank.rank in last else rank.state)[:1] in ("Z", "X")
        }  # fmt: skip
        living = [rank for rank in alive if rank not in dead]
        if dead and living:
            reasons = set(dead.values())
            why = f" ({reasons.pop()})" if len(reasons) == 1 and "" not in reasons else ""
            fact = RankFact(f"found {len(living)} of {len(self.world)} ranks", ", ".join(job.sources) or _KERNEL, 2)
            found.append(self.make("dead", dead, living, [fact], why=why))
        first = {one.rank: one.state for one in self.samples[0].activity}
        twice = {rank for rank, state in first.items() if self.looks > 1 and state[:1] in ("T", "t")}
        stopped = [
            rank for rank, one in last.items() if one.state[:1] in ("T", "t") and (one.tracer or rank in twice)
        ]
        if stopped:
            tracers = {last[rank].tracer for rank in stopped} - {0}
            why = f" by process {tracers.pop()}" if len(tracers) == 1 else "" if tracers else " by a signal"
            facts = [RankFact(f"state {last[stopped[0]].state}", _KERNEL, 2)]
            rest = [rank for rank in living if rank not in stopped]
            found.append(self.make("stopped", stopped, rest, facts, why=why))
        held = [
            rank for rank, one in last.items()
            if one.state[:1] == "D" and self.looks > 1 and first.get(rank, "")[:1] == "D"
        ]  # fmt: skip
        if held:
            channel = {last[rank].wchan for rank in held}
            where = channel.pop() if len(channel) == 1 else ""
            facts = [RankFact(f"state D at {self.looks} looks", _KERNEL, 2)]
            rest = [rank for rank in living if rank not in held]
            found.append(self.make("kernel", held, rest, facts, why=f" in {where}" if where else ""))
        return found

    def _recorded(self) -> list[RankVerdict]:
        """What the flight recorders tell."""
        if not self.now.collectives:
            return []
        parted = partings(self.now.collectives, self.world)
        waiting = [one for one in parted if one.pending or one.kind in ("wrong-op", "size", "dtype")]
        # What was so a moment ago and is not so any more was no hang.
        if self.looks > 1:
            waiting = lasting(waiting, partings(self.samples[0].collectives, self.world))
        circle = circle_of(waiting)
        if circle:
            return [self._crossed(circle)]
        found = [self._parting(one) for one in roots_of(waiting)]
        if not found:
            found += self._none_missing()
        return found

    def _parting(self, one: Parting) -> RankVerdict:
        """One parting as a verdict."""
        facts = [
            RankFact(
                f"{one.entry.op} #{one.seq} of {wording.group(one.group)} was issued by {names(one.others)}",
                _RECORDER,
                1,
            )
        ]
        if self.looks > 1:
            facts.append(RankFact(f"nothing of it changed over {self.looks} looks", _RECORDER, 1))
        facts += self.looked(one.culprits, one.others)
        facts += self._agreeing(one.culprits, one.others) if one.kind in ("missing", "never", "p2p") else []
        if one.silent:
            facts.append(RankFact(f"no recorder of {names(one.silent)}: suspects too", _RECORDER, -1))
        if one.ahead:
            facts.append(RankFact(f"some ranks issued {one.ahead} more after it", _RECORDER))
        if not one.pending:
            facts.append(RankFact("nobody waits in it any more", _RECORDER, -2))
        where = place_of(user_frame(one.entry.frames)) if one.entry.frames else ""
        if where:
            facts.append(RankFact(f"it was asked for {where}", _RECORDER))
        row = one.kind
        tail = self.tail(one.culprits)
        theirs, mine = "", ""
        if row == "missing" and len(one.others) < len(one.culprits):
            row = "alone"
        elif row == "wrong-op" and one.split:
            row = "split-op"
        elif row == "size":
            theirs, mine = wording.shapes(one.entry), wording.shapes(one.theirs)
        elif row == "dtype":
            theirs, mine = one.entry.dtype, one.theirs.dtype if one.theirs is not None else "?"
        peer = "receive" if "send" in one.entry.op else "send"
        minority = one.theirs.op if one.theirs is not None else one.entry.op
        wrong = row in ("wrong-op", "split-op")
        return self.make(
            row, one.culprits, one.others, facts, group=one.group, seq=one.seq, tail=tail,
            op=minority if wrong else one.entry.op,
            others=one.entry.op,
            other=peer, mine=mine, theirs=theirs,
            age=ages(one.entry.age), waited=one.entry.age,
            in_group="" if len(one.members) == len(self.world) else f" of {wording.group(one.group)}",
        )  # fmt: skip

    def _crossed(self, circle: Sequence[Parting]) -> RankVerdict:
        ranks = {rank for one in circle for rank in one.culprits}
        words = "; ".join(
            f"{names(one.others)} in {one.entry.op} #{one.seq} of {wording.group(one.group)}"
            f" for {names(one.culprits)}"
            for one in circle
        )
        facts = [RankFact("each of them waits in another group for the others", _RECORDER, 2)]
        facts += self.looked(sorted(ranks), ())
        return self.make("crossed", ranks, (), facts, circle=words, group=circle[0].group, seq=circle[0].seq)

    def _none_missing(self) -> list[RankVerdict]:
        """No parting: all wait for silent ones, all wait together, or the job goes on."""
        now = states_of(self.now.collectives, self.world)
        for state in sorted(now, key=lambda each: -len(each.members)):
            gone = [rank for rank in state.members if rank not in self.now.collectives]
            if len(state.pending) < max(1, len(state.heard)):
                continue
            entry = max(state.pending.values(), key=lambda one: one.age or 0.0)
            if len({one.seq for one in state.pending.values()}) > 1 or (self.looks > 1 and self._advanced(state)):
                continue
            number, age = f" #{entry.seq}", ages(entry.age)
            facts = [RankFact(f"all {len(state.heard)} that tell wait in {entry.op} #{entry.seq}", _RECORDER, 1)]
            if self.looks > 1:
                facts.append(RankFact(f"nothing of it changed over {self.looks} looks", _RECORDER, 1))
            if gone:
                reasons = {reason for rank in gone if (reason := self.silent.get(rank, ""))}
                why = f" ({reasons.pop()})" if len(reasons) == 1 else ""
                facts += self.looked(gone, state.heard)
                return [
                    self.make("no-evidence", gone, state.heard, facts, group=state.group, seq=entry.seq, why=why,
                              op=entry.op, number=number, age=age, tail=self.tail(gone))
                ]  # fmt: skip
            if self.looks > 1:
                return [
                    self.make("same", (), state.heard, facts, group=state.group, seq=entry.seq, op=entry.op,
                              number=number, age=age)
                ]  # fmt: skip
        if self.looks > 1 and any(self._advanced(state) for state in now):
            newest = max(now, key=lambda each: max(each.last.values(), default=0))
            words = f"{wording.group(newest.group)} came to #{max(newest.last.values(), default=0)}"
            return [
                self.make("moving", (), self.world, [RankFact("collectives went on", _RECORDER, 2)], words=words)
            ]
        if self.looks < 2 and now:
            pending = sum(len(state.pending) for state in now)
            words = "every rank has issued the same collectives" + (f"; {pending} wait" if pending else "")
            return [self.make("together", (), self.world, [RankFact(words, _RECORDER)], words=words)]
        return []

    @cached_property
    def _states_before(self) -> list[GroupState]:
        return states_of(self.samples[0].collectives, self.world)

    def _advanced(self, state: GroupState) -> bool:
        """A collective was issued, or finished, in a group since the first look."""
        for before in self._states_before:
            if (before.group, before.members) == (state.group, state.members):
                return any(
                    state.last.get(rank, last) > last
                    or pending_seq(state.pending.get(rank)) != pending_seq(before.pending.get(rank))
                    for rank, last in before.last.items()
                )
        return True

    def _by_stacks(self) -> list[RankVerdict]:
        """What stacks alone tell: MPI jobs have nothing else."""
        if not self.standing:
            return []
        ops: dict[str, list[int]] = {}
        messages: dict[str, list[int]] = {}
        own: list[int] = []
        device: list[int] = []
        for rank, one in sorted(self.standing.items()):
            if one.collective:
                ops.setdefault(one.op, []).append(rank)
            elif one.op:
                messages.setdefault(one.op, []).append(rank)
            elif one.kind is not None and one.kind.value == "device":
                device.append(rank)
            else:
                own.append(rank)
        waiters = [rank for ranks in ops.values() for rank in ranks]
        twice = self.stack_looks > 1
        if twice and any(self.courses.get(rank) is Course.MOVES for rank in waiters):
            return [self._goes_on(waiters)]
        if not ops:
            return messages_only(self, messages) if not (own or device or self.silent) else []
        ordered = sorted(ops.items(), key=lambda each: -len(each[1]))
        op, most = ordered[0]
        if len(ordered) > 1:
            return [several_ops(self, ordered, own)]
        if own:
            facts = [RankFact(f"{len(most)} wait in {op}", _NATIVE, 1), *self.looked(own, most)]
            if twice and all(self.courses.get(rank) is Course.STUCK for rank in most):
                facts.append(RankFact(f"{names(most)} stood there at {self.stack_looks} looks", _NATIVE, 1))
            return [self.make("stacks-missing", own, most, facts, op=op, tail=self.tail(own))]
        if messages:
            other, ranks = max(messages.items(), key=lambda each: len(each[1]))
            facts = [RankFact(f"{len(most)} wait in {op}", _NATIVE, 1), *self.looked(ranks, most)]
            return [self.make("stacks-receive", ranks, most, facts, op=other, others=op, tail=self.tail(ranks))]
        if self.silent:
            why = f" ({reason})" if len(told := set(self.silent.values())) == 1 and (reason := told.pop()) else ""
            facts = [RankFact(f"all {len(most)} that tell wait in {op}", _NATIVE, 1), *self.looked((), most)]
            return [self.make("no-evidence", self.silent, most, facts, op=op, number="", age="", why=why)]
        return self._one_op(op, most, device)

    def _one_op(self, op: str, ranks: Sequence[int], device: Sequence[int]) -> list[RankVerdict]:
        """All in one operation: from different lines, or together."""
        lines: dict[str, list[int]] = {}
        for rank in ranks:
            lines.setdefault(self.standing[rank].place, []).append(rank)
        ordered = sorted(lines.items(), key=lambda each: -len(each[1]))
        facts = [RankFact(f"{names(ranks)} wait in {op}", _NATIVE, 1), *self.looked(ranks, ())]
        if len(ordered) > 1 and "" not in lines:
            few = [rank for _, some in ordered[1:] for rank in some]
            mine = " and ".join(line.removeprefix("at ") for line, _ in ordered[1:3])
            return [
                self.make("call-site", few, ordered[0][1], facts, op=op, mine=mine, number="", age="",
                          theirs=ordered[0][0].removeprefix("at "), total=len(ranks))
            ]  # fmt: skip
        everybody = len(ranks) + len(device) >= len(self.world)
        if self.stack_looks > 1 and everybody:
            return [
                self.make(
                    "same",
                    (),
                    ranks,
                    facts,
                    op=op,
                    number="",
                    age="",
                    total=len(ranks),
                    so_far=" as far as stacks tell, which know no groups or sizes",
                )
            ]
        if self.stack_looks < 2:
            return [self.make("together", (), ranks, facts, words=f"{len(ranks)} wait in {op}")]
        return []

    def _goes_on(self, waiters: Sequence[int]) -> RankVerdict:
        moved = [rank for rank in waiters if self.courses.get(rank) is Course.MOVES]
        fact = RankFact(f"{names(moved)} moved between the looks", _NATIVE, 1)
        return self.make("moving", (), self.world, [fact], words=f"{names(moved)} moved between the looks")

    def _by_counts(self) -> list[RankVerdict]:
        """What RAS alone tells."""
        found = []
        for one in counts.behind(self.now.ras):
            facts = [RankFact("the same counts at two queries", _RAS, 2), *self.looked(one.ranks, one.others)]
            found.append(
                self.make("ras-behind", one.ranks, one.others, facts, op=one.op, mine=one.fewest, theirs=one.most,
                          on=f" on communicator {one.communicator}", tail=self.tail(one.ranks))
            )  # fmt: skip
        silent = counts.silent(self.now.ras)
        if silent:
            # Text answers name outliers only: who is not named there is one of the many.
            heard = sorted(set(self.world) - set(silent))
            facts = [RankFact("RAS has no data of it", _RAS, 1), *self.looked(silent, heard)]
            found.append(self.make("ras-silent", silent, heard, facts, tail=self.tail(silent)))
        return found

    def _quiet(self) -> RankVerdict:
        """Nothing wrong was found, or nothing was told."""
        if not self.standing and not self.now.collectives and not self.now.ras:
            why = why_unknown(self.now, self.silent, self.world)
            return self.make("nothing", (), (), (), why=why)
        told = f"{len(self.standing)} of {len(self.world)} ranks told where they stand"
        moved = [rank for rank, course in self.courses.items() if course is Course.MOVES]
        if moved:
            return self._goes_on(moved)
        return self.make("together", (), self.world, [RankFact(told, _NATIVE)], words=told)
