"""What is known of a job's ranks, as far as sets can ask for it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from ladder_backends.model.ranks import Job, Mesh

STATES = ("running", "stopped", "held", "waiting", "crashed", "exited", "unreachable", "missing")
"""Words for states that may always be asked for; a set of them may be empty."""


@dataclass(frozen=True, slots=True)
class JobFacts:
    """One job as sets see it.

    Attributes:
        name: What it is called in sets: `a` for `$a`.
        ranks: All ranks that it has or should have, in ascending order.
        hosts: Host of each rank.
        executables: Path of the program of each rank.
        states: Ranks in each state; a rank may be in several.
        classes: Classes of equal stacks or values, the first one is `class:1`.
    """

    name: str
    ranks: tuple[int, ...]
    hosts: Mapping[int, str] = field(default_factory=dict)
    executables: Mapping[int, str] = field(default_factory=dict)
    states: Mapping[str, frozenset[int]] = field(default_factory=dict)
    classes: Sequence[frozenset[int]] = ()
    mesh: Mesh | None = None

    @classmethod
    def of(cls, job: Job, name: str = "a") -> JobFacts:
        """What a job that was found tells."""
        numbers = {rank.rank for rank in job.ranks} | {rank for rank, _ in job.missing}
        if job.size is not None:
            numbers |= set(range(job.size))
        states: dict[str, frozenset[int]] = {}
        if job.missing:
            states["missing"] = frozenset(rank for rank, _ in job.missing)
        return cls(
            name,
            tuple(sorted(numbers)),
            {rank.rank: rank.host for rank in job.ranks},
            {rank.rank: rank.executable for rank in job.ranks},
            states,
            (),
            job.mesh,
        )

    def with_states(self, states: Mapping[str, frozenset[int]]) -> JobFacts:
        """The same job, some states told anew."""
        return replace(self, states={**self.states, **states})

    def on_host(self, name: str) -> frozenset[int] | None:
        """Ranks of a host, by its whole name or the part before its first dot; None where no host is called so."""
        found = frozenset(rank for rank, host in self.hosts.items() if name in (host, host.partition(".")[0]))
        return found or None

    def of_program(self, name: str) -> frozenset[int] | None:
        """Ranks that run a program, by its path or the last part of it; None where none does."""
        found = frozenset(rank for rank, path in self.executables.items() if name in (path, os.path.basename(path)))
        return found or None
