"""The rows of the ranks: jobs to choose from, the merged tree, and the ranks of one row of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ladder_backends.model.ranks import Collective, Evidence, Job, Mesh, Rank, RankSource
from ladder_backends.ranks.rank_list import fold
from ladder_backends.ranks.sets import in_axes
from ladder_backends.ranks.stacks import BoundaryKind, Granularity, boundary_of, frame_label
from ladder_tui.widgets.row import EMPTY, Cell, Row, cut, size_of

if TYPE_CHECKING:
    from ladder_backends.model.rank_verdict import RankVerdict
    from ladder_backends.model.ranks import RankFrame
    from ladder_backends.ranks.stacks import StackTree, TreeNode
    from ladder_backends.ranks.stacks.tree import TreeRow

MOST_RANKS = 18
"""Columns of a list of ranks; a longer one is cut, and its count stays."""

_WIDE = 70
"""Columns from which on there is room for ranks in words of the job's axes."""

_MOST_ROWS = 5_000
"""Rows of a tree that are drawn."""


class JobTarget(NamedTuple):
    """A job to look at."""

    job: Job


class NodeTarget(NamedTuple):
    """A branch of the tree."""

    node: TreeNode


class RankTarget(NamedTuple):
    """One rank."""

    rank: int


class SilentTarget(NamedTuple):
    """Ranks that did not answer."""

    ranks: tuple[int, ...]


def job_rows(jobs: Sequence[Job]) -> list[Row]:
    """One row a job."""
    rows = []
    for job in jobs:
        asked = job.size if job.size is not None else len(job.ranks)
        full = len(job.ranks) >= asked
        ranks = Cell(f"{len(job.ranks)} of {asked} ranks", "text" if full else "fault")
        rows.append(Row((Cell(job.title or job.key, "strong"),), (ranks, Cell(" ")), JobTarget(job)))
        rows.append(Row((Cell(f"  {job.key}", "muted"), *(Cell(f"  ! {note}", "warn") for note in job.notes)),
                        target=JobTarget(job)))  # fmt: skip
    return rows


def evidence_row(looks: Sequence[Evidence], width: int) -> Row:
    """Which sources told something, and of how many ranks."""
    now = looks[-1]
    total = len(now.job.ranks)
    cells = [Cell("  evidence  ", "muted")]
    for reading in now.readings:
        told = len(reading.answered)
        if not told and not reading.silent:
            # Not asked: no rank is of its kind.
            continue
        name = str(reading.source) if width >= 100 or reading.source is not RankSource.RECORDER else "recorder"
        if len(cells) > 1:
            cells.append(Cell(" · ", "muted"))
        style = "text" if told == total else "warn" if told else "muted"
        cells.append(Cell(f"{name} {told}/{total}" if told != total else name, style))
    count = len(looks)
    cells.append(Cell(f" · {count} look{'' if count == 1 else 's'}", "muted"))
    return Row(tuple(cells))


class Notes:
    """What is said of ranks at the end of a row: what they wait in, by their recorders."""

    def __init__(self, now: Evidence | None, verdict: RankVerdict | None) -> None:
        self._last: dict[int, tuple[str, str]] = {}
        self._suspects = frozenset(verdict.suspects if verdict is not None and verdict.diverges else ())
        for rank, told in (now.collectives if now is not None else {}).items():
            if told:
                self._last[rank] = _collective(told)

    def suspicious(self, ranks: Iterable[int]) -> bool:
        """All of them are suspects."""
        some = set(ranks)
        return bool(some) and some <= self._suspects

    def of(self, ranks: Sequence[int]) -> Cell:
        """A few words on ranks, where the same is true of all."""
        told = {self._last.get(rank, ("", "")) for rank in ranks[:64]}
        words, style = told.pop() if len(told) == 1 else ("", "")
        return Cell(words, style or "muted")


def _collective(told: Sequence[Collective]) -> tuple[str, str]:
    """The oldest collective that is not done, else the newest."""
    waiting = next((one for one in told if one.state != "completed"), None)
    if waiting is not None:
        shapes = "×".join(map(str, waiting.sizes[0])) if waiting.sizes else ""
        of = f" ({' '.join(part for part in (waiting.dtype, shapes) if part)})" if shapes or waiting.dtype else ""
        return f"waits in {waiting.op} #{waiting.seq}{of}", "value"
    return f"last was {told[-1].op} #{told[-1].seq}, done", "muted"


def tree_rows(tree: StackTree, notes: Notes, width: int, mesh: Mesh | None = None) -> list[Row]:
    """The merged tree, then those who did not answer; ranks by the axes of the job where it has some."""
    rows: list[Row] = []
    for branch in tree.rows():
        if len(rows) >= _MOST_ROWS:
            rows.append(Row((Cell("… more branches than are drawn; tell frames apart by function", "muted"),)))
            break
        rows.append(_branch_row(branch, tree, notes, width, mesh))
    if tree.frameless:
        rows.append(Row((Cell(f"{tree.frameless} threads without a frame", "muted"),)))
    reasons: dict[str, list[int]] = {}
    for one in tree.unreachable:
        reasons.setdefault(one.reason + (f" → {one.remedy}" if one.remedy else ""), []).append(one.rank)
    for words, ranks in reasons.items():
        target = SilentTarget(tuple(sorted(ranks)))
        rows.append(
            Row((Cell("? ", "warn"), Cell(f"{words}", "muted")), _ranks_cell(fold(ranks), len(ranks)), target)
        )
    return rows


def _branch_row(branch: TreeRow, tree: StackTree, notes: Notes, width: int, mesh: Mesh | None) -> Row:
    node = branch.last
    ranks = node.ranks
    suspicious = notes.suspicious(ranks)
    listed = (in_axes(ranks, mesh) if mesh is not None and width >= _WIDE else "") or node.listed
    end = _ranks_cell(listed, len(ranks), suspicious=suspicious, threads=node.stacks)
    leaf = not node.children
    note = notes.of(ranks) if leaf else Cell("")
    taken = sum(size_of(cell.text) for cell in end) + 1
    room = max(16, width - taken - size_of(branch.lead) - (2 if suspicious else 0))
    frames = _chain([one.frame for one in branch.nodes], tree.granularity, room, note)
    lead = Cell(branch.lead, "rule")
    mark = (Cell("✗ ", "fault"),) if suspicious else ()
    return Row((lead, *mark, *frames), end, NodeTarget(node))


def _chain(frames: Sequence[RankFrame], granularity: Granularity, room: int, note: Cell) -> list[Cell]:
    """The frames of a branch in one line: where they do not fit, the inner ones stay, which say more."""
    labels = [_label(frame, granularity) for frame in frames]
    joint = " ── "
    first = 0

    def length(start: int) -> int:
        lead = 2 if start else 0
        return lead + sum(size_of(label) for label in labels[start:]) + len(joint) * (len(labels) - start - 1)

    while first < len(labels) - 1 and length(first) > room:
        first += 1
    cells: list[Cell] = [Cell("… ", "muted")] if first else []
    for number in range(first, len(frames)):
        if number > first:
            cells.append(Cell(joint, "rule"))
        cells.append(Cell(labels[number], _style(frames[number])))
    if note.text and length(first) + 3 + min(12, size_of(note.text)) <= room:
        cells.append(Cell(f"   {note.text}", note.style))
    return cells


def _label(frame: RankFrame, granularity: Granularity) -> str:
    """A frame in few words; at a Python library's boundary its own file and line say nothing."""
    row = boundary_of(frame)
    if row is not None and frame.language == "python" and row.kind is not BoundaryKind.WAIT:
        return f"{row.library} {frame.function}"
    return frame_label(frame, granularity)


def _style(frame: RankFrame) -> str:
    row = boundary_of(frame)
    if row is not None:
        return "value" if row.kind is not BoundaryKind.WAIT else "warn"
    return "function" if frame.file else "text"


def _ranks_cell(listed: str, count: int, *, suspicious: bool = False, threads: int = 0) -> tuple[Cell, ...]:
    text = listed if size_of(listed) <= MOST_RANKS else f"{cut(listed, MOST_RANKS - 6)} ({count})"
    more = f" ×{threads // count}" if count and threads > count and threads % count == 0 else ""
    more = more or (f" ({threads} threads)" if threads > count else "")
    return Cell(f"{text}{more}", "fault" if suspicious else "strong"), Cell(" ")


def node_rows(
    ranks: Sequence[int],
    now: Evidence,
    courses: Mapping[int, str],
    granularity: Granularity,
    frames: Sequence[RankFrame],
) -> list[Row]:
    """The ranks of a row, then the whole stack of the first."""
    rows: list[Row] = []
    by_number = {rank.rank: rank for rank in now.job.ranks}
    activity = {one.rank: one for one in now.activity}
    reasons = {one.rank: one.reason for one in now.unreachable}
    hosts = len(now.job.hosts) > 1
    for number in ranks:
        rank = by_number.get(number)
        if rank is None:
            gone = (Cell(f"rank {number:<5} ", "strong"), Cell(reasons.get(number, "no process"), "fault"))
            rows.append(Row(gone, target=RankTarget(number)))
            continue
        seen = activity.get(number)
        state = seen.state if seen is not None else rank.state
        rows.append(Row(tuple(_rank_cells(rank, state, now, courses, hosts)), target=RankTarget(number)))
    if frames:
        rows += [EMPTY, Row((Cell(f"whole stack of rank {ranks[0]}", "muted"),))]
        for frame in reversed(frames):
            module = Cell(f"  {frame.module}", "file") if frame.module and not frame.file else Cell("")
            rows.append(Row((Cell("  "), Cell(frame_label(frame, granularity), _style(frame)), module)))
    return rows


def _rank_cells(rank: Rank, state: str, now: Evidence, courses: Mapping[int, str], hosts: bool) -> Iterable[Cell]:
    yield Cell(f"rank {rank.rank:<5} ", "strong")
    yield Cell(f"pid {rank.pid:<8} ", "text")
    if hosts:
        yield Cell(f"{rank.host}  ", "file")
    style = "fault" if state[:1] in ("Z", "X", "D") else "warn" if state[:1] in ("T", "t") else "muted"
    yield Cell(f"{state or '?'}  ", style)
    if now.job.mesh is not None:
        places = now.job.mesh.coordinates(rank.rank)
        yield Cell(" ".join(f"{axis}={place}" for axis, place in places.items()) + "  ", "muted")
    if course := courses.get(rank.rank, ""):
        yield Cell(f"{course}  ", "warn" if course == "same place" else "muted")
    told = now.collectives.get(rank.rank, ())
    if told:
        words, style = _collective(told)
        yield Cell(words, style)
    for other in rank.others[:3]:
        yield Cell(f"  + {other.why} {other.pid}", "muted")
