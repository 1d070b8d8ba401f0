"""A job, and looks at it, as lines for a person."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ladder_backends.model.rank_verdict import RankVerdict
from ladder_backends.model.ranks import Evidence, Job, Reading
from ladder_backends.ranks.rank_list import fold
from ladder_backends.ranks.report_json import tree_of
from ladder_backends.ranks.stacks import StackTree
from ladder_backends.ranks.stacks.tree_json import tree_lines
from ladder_backends.ranks.verdict import verdict_lines


def found_words(job: Job) -> str:
    """How many ranks of how many: `found 7 of 8 on 1 node; rank 5 has no live process`."""
    nodes = len(job.hosts)
    size = f" of {job.size}" if job.size is not None else ""
    text = f"found {len(job.ranks)}{size} on {nodes} node{'' if nodes == 1 else 's'}"
    if job.elsewhere:
        text += f"; {fold(job.elsewhere)} run on other hosts, where nobody has looked"
    if not job.missing:
        return text
    reasons: dict[str, list[int]] = {}
    for rank, why in job.missing:
        reasons.setdefault(why, []).append(rank)
    told = [f"rank{'s' if len(ranks) > 1 else ''} {fold(ranks)}: {why}" for why, ranks in list(reasons.items())[:4]]
    more = f"; {len(reasons) - 4} more reasons" if len(reasons) > 4 else ""
    return f"{text}; {'; '.join(told)}{more}"


def jobs_lines(jobs: Sequence[Job]) -> Iterator[str]:
    """All jobs of this host."""
    if not jobs:
        yield "no parallel job was found on this host"
    for job in jobs:
        by = f" by process {job.launcher_pid}" if job.launcher_pid is not None else ""
        yield f"{job.key}   started{by}: {job.title}"
        yield f"   {found_words(job)}"
        for rank in job.ranks:
            others = "".join(f"  + {other.pid} {other.why}" for other in rank.others[:4])
            waits = f" {rank.wchan}" if rank.wchan else ""
            yield f"   rank {rank.rank:<4} {rank.pid:>8} {rank.state}{waits}  {' '.join(rank.command)[:60]}{others}"
        for note in job.notes:
            yield f"   note   {note}"


def look_lines(
    samples: Sequence[Evidence], verdicts: Sequence[RankVerdict], *, width: int = 100, tree: StackTree | None = None
) -> Iterator[str]:
    """The last of several looks, and the verdict on all."""
    now = samples[-1]
    yield from head_lines(now)
    yield ""
    yield from tree_lines(tree if tree is not None else tree_of(now), width)
    yield ""
    if verdicts:
        yield from verdict_lines(verdicts[0], verdicts[1:])


def head_lines(now: Evidence) -> Iterator[str]:
    """Which job, how many ranks, who was asked and what that cost."""
    job = now.job
    yield f"job {job.key}   {job.title}"
    yield f"{found_words(job)}   (told by {', '.join(job.sources)})"
    if job.mesh is not None:
        axes = " ".join(f"{name}={size}" for name, size in job.mesh.axes)
        yield f"mesh {axes}   ({job.mesh.source})"
    for note in job.notes:
        yield f"note   {note}"
    obstacles: dict[str, list[int]] = {}
    for each in now.activity:
        if each.obstacle:
            words = f"{each.obstacle} — {each.remedy}" if each.remedy else each.obstacle
            obstacles.setdefault(words, []).append(each.rank)
    for words, ranks in obstacles.items():
        yield f"note   no debugger can attach to {fold(ranks)}: {words}"
    for reading in now.readings:
        yield reading_line(reading, len(job.ranks))


def reading_line(reading: Reading, ranks: int) -> str:
    """What one source told of how many, at what price."""
    text = f"{reading.source!s:16}"
    if reading.answered or reading.silent:
        asked = len(reading.answered) + len(reading.silent)
        text += f"answered {len(reading.answered)} of {asked}, in {reading.took:.2f} s"
        text += f", {pause_words(reading)}"
        reasons = list(dict.fromkeys(each.reason for each in reading.silent))
        if reasons and reasons != [reading.note]:
            quiet = fold(each.rank for each in reading.silent if each.reason == reasons[0])
            more = f", and {len(reasons) - 1} more reasons" if len(reasons) > 1 else ""
            text += f"; silent {quiet}: {reasons[0]}{more}"
    else:
        text += "not asked"
    return text + (f"; {reading.note}" if reading.note else "")


def pause_words(reading: Reading) -> str:
    """The pause that was predicted, and the one that was measured."""
    if not reading.predicted and not reading.measured:
        return "no pause"
    return f"pause at most {reading.measured:.2f} s (predicted {reading.predicted:.2f} s)"
