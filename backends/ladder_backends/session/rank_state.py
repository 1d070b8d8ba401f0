"""The ranks rung, as panes see it: jobs, the looks at one of them, their merged stacks, and what is wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ladder_backends.model.rank_verdict import RankVerdict
    from ladder_backends.model.ranks import Evidence, Job
    from ladder_backends.ranks.stacks import StackTree
    from ladder_backends.session.rank_steps import Limit, Printed, Step


class RankState:
    """What is known of the parallel jobs of this host.

    Attributes:
        jobs: None before they were looked for.
        finding: They are looked for now.
        job: The one that is looked at, or None.
        busy: What goes on now, a clause: `reading native stacks of 8 ranks`; empty for nothing.
        failure: Why nothing is known, or an empty string.
        looks: What was seen, in the order of time, the newest last.
        tree: Merged stacks of the newest look.
        verdicts: What the looks mean, the most telling first.
        courses: What each rank did over the looks: `same place`, `moves`, `one look`.
        granularity: What makes two frames the same: `function`, `line`, `offset`.
        whole: Stacks are shown whole, not cut where communication begins.
        sets: Ranks that were given a name, by name.
        steps: The pause ladder.
        limits: Time-outs that run against ranks that are held, the shortest first.
        stopped: How often ranks were made to stand since the job was chosen.
        longest: Seconds for which one stood at most then.
        printed: The last expression over ranks.
        goes_on_at: `time.monotonic()` at which ranks in a debugger go on by themselves; None for never.
    """

    # Written out: a first frame waits for this, and making a dataclass takes longer than all of it.
    def __init__(self) -> None:
        self.jobs: tuple[Job, ...] | None = None
        self.finding = False
        self.job: Job | None = None
        self.busy = ""
        self.failure = ""
        self.looks: list[Evidence] = []
        self.tree: StackTree | None = None
        self.verdicts: tuple[RankVerdict, ...] = ()
        self.courses: dict[int, str] = {}
        self.granularity = "line"
        self.whole = False
        self.sets: dict[str, tuple[int, ...]] = {}
        self.steps: tuple[Step, ...] = ()
        self.limits: tuple[Limit, ...] = ()
        self.stopped = 0
        self.longest = 0.0
        self.printed: Printed | None = None
        self.goes_on_at: float | None = None
