"""The ranks of a parallel job: which jobs there are, their merged stacks, and the ranks of one branch."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any, ClassVar

from ladder_backends.model.stack_step import StackStep
from ladder_backends.session.state import Change, LadderState
from ladder_tui.actions import bindings_for, key_of
from ladder_tui.panes.pane import Pane
from ladder_tui.panes.ranks_rows import (
    JobTarget,
    NodeTarget,
    Notes,
    RankTarget,
    SilentTarget,
    evidence_row,
    job_rows,
    node_rows,
    tree_rows,
)
from ladder_tui.widgets.line_view import Hit, Title
from ladder_tui.widgets.row import EMPTY, Cell, Row

if TYPE_CHECKING:
    from ladder_backends.model.ranks import RankFrame
    from ladder_backends.session.rank_state import RankState


class RanksPane(Pane):
    """Jobs, the tree of one, or the ranks of a branch; Enter goes closer, Esc goes back."""

    INTEREST = Change.RANKS | Change.RUNG | Change.RUN
    BINDINGS: ClassVar = bindings_for("ranks")

    _shown: tuple[int, ...] | None = None
    """Ranks that are shown one by one, or None for the tree."""
    _frames: tuple[RankFrame, ...] = ()
    _back = 0
    _built: tuple[object, list[Row]] = ((), [])
    _asked = False

    # State -----------------------------------------------------------------------------------------------------

    @property
    def ranks(self) -> RankState:
        """What is known."""
        return self.ladder.state.ranks

    def refresh_from(self, state: LadderState, change: Change) -> None:
        """Look for jobs when the rung is first seen."""
        if change is Change.RUN:
            # Which ranks a debugger holds stands in the title.
            self.update()
            return
        if state.rung == "ranks" and self.ranks.jobs is None and not self.ranks.finding and not self._asked:
            self._asked = True
            self.work(self.ladder.ranks.find())
        if self.ranks.job is None:
            self._shown = None
        self._built = ((), [])
        self.update()

    # Rows ------------------------------------------------------------------------------------------------------

    @property
    def _rows(self) -> list[Row]:
        state, width = self.ranks, self.body_width
        key = (id(state.job), id(state.tree), len(state.looks), id(state.verdicts), self._shown, width)
        if self._built[0] != key:
            self._built = key, self._build_rows(width)
        return self._built[1]

    def _build_rows(self, width: int) -> list[Row]:
        state = self.ranks
        if state.job is None:
            return job_rows(state.jobs or ())
        if not state.looks:
            return []
        now = state.looks[-1]
        if self._shown is not None:
            from ladder_backends.ranks.stacks import Granularity

            return node_rows(self._shown, now, state.courses, Granularity(state.granularity), self._frames)
        if state.tree is None:
            return []
        verdict = state.verdicts[0] if state.verdicts else None
        return tree_rows(state.tree, Notes(now, verdict), width, state.job.mesh)

    @property
    def row_count(self) -> int:
        """Rows of what is shown."""
        return len(self._rows)

    def row(self, index: int) -> Row:
        """One of them."""
        rows = self._rows
        return rows[index] if index < len(rows) else EMPTY

    def heading(self) -> Row | None:
        """Who told what."""
        looks = self.ranks.looks
        return evidence_row(looks, self.body_width) if looks and self.ranks.job is not None else None

    def title(self) -> Title:
        """How many ranks were found, and whether any of them was stopped."""
        state = self.ranks
        job = state.job
        if job is None:
            words = "looking for jobs …" if state.finding else "jobs of this host"
            return Title(self.pane_name, (Cell(words, "muted"),), self.tab_cells())
        asked = job.size if job.size is not None else len(job.ranks)
        hosts = len(job.hosts)
        full = len(job.ranks) >= asked
        cells = [Cell(f"found {len(job.ranks)} of {asked}", "text" if full else "fault")]
        cells.append(Cell(f" on {hosts} node{'' if hosts == 1 else 's'}", "muted"))
        if self._shown is not None:
            from ladder_backends.ranks.rank_list import fold

            cells.append(Cell(f" ▸ ranks {fold(self._shown)}", "focus"))
        elif held := self.ladder.ranks.held():
            from ladder_backends.ranks.rank_list import fold

            one = len(held) == 1
            cells.append(Cell(f" · rank{'' if one else 's'} {fold(held)} held by the debugger now", "warn"))
        elif state.stopped:
            cells.append(Cell(f" · held {state.stopped}×, {state.longest:.2f} s at most", "warn"))
        else:
            cells.append(Cell(" · nothing stopped yet", "ok"))
        if state.busy:
            cells.append(Cell(f" · {state.busy} …", "focus"))
        elif state.whole or state.granularity != "line":
            cells.append(Cell(f" · by {state.granularity}{', whole' if state.whole else ''}", "muted"))
        if self.size.width >= 100:
            cells.append(Cell(f" · {job.title or job.key}", "muted"))
        return Title(self.pane_name, tuple(cells), self.tab_cells())

    def empty_text(self) -> str:
        """Why there is nothing."""
        state = self.ranks
        if state.failure:
            return state.failure
        if state.finding or state.jobs is None:
            return "looking for jobs of mpirun, srun and torchrun …"
        if state.job is None:
            return (
                "no parallel job runs on this host that you may look into; start one with mpirun, srun or torchrun,"
                f" then {key_of('ranks.again')} looks again"
            )
        if state.busy:
            return f"{state.busy} …"
        return f"no stacks: no rank runs Python; {key_of('ranks.stacks')} reads native stacks"

    # Acting ----------------------------------------------------------------------------------------------------

    def activate(self, hit: Hit) -> None:
        """Look at a job, or at the ranks of a branch."""
        target = hit.target
        if isinstance(target, JobTarget):
            self.cursor = self.top = 0
            self.work(self.ladder.ranks.choose(target.job))
        elif isinstance(target, NodeTarget):
            self._show(target.node.ranks)
        elif isinstance(target, SilentTarget):
            self._show(target.ranks)

    def _show(self, ranks: tuple[int, ...]) -> None:
        self._back = self.cursor
        self._frames = self.ladder.ranks.whole_stack(ranks[0]) if ranks else ()
        self._shown = ranks
        self.cursor = self.top = 0
        self._built = ((), [])
        self.repaint()

    def action_back(self) -> None:
        """From ranks to the tree, from the tree to the jobs."""
        if self._shown is not None:
            self._shown = None
            self._built = ((), [])
            self.top = 0
            self.cursor = self._back
            self.repaint()
        elif self.ranks.job is not None and not self.ranks.busy:
            self.cursor = self.top = 0
            self.work(self.ladder.ranks.leave())

    def action_again(self) -> None:
        """Look again: at the job, or for jobs."""
        if self.ranks.job is None:
            self.work(self.ladder.ranks.find())
        else:
            self._look(self.ladder.ranks.look())

    def action_stacks(self) -> None:
        """Read native stacks."""
        if self._has_job():
            self._look(self.ladder.ranks.look_deeper())

    def action_stacks_by_gdb(self) -> None:
        """Read native stacks by gdb: whole, with lines, all at one moment."""
        if self._has_job():
            self._look(self.ladder.ranks.look(StackStep.GDB))

    def _look(self, doing: Coroutine[Any, Any, None]) -> None:
        if self.ranks.busy:
            doing.close()
            self.ladder_app.say(f"{self.ranks.busy}; wait for it")
        else:
            self.work(doing)

    def action_whole(self) -> None:
        """Whole stacks, or cut ones."""
        if self._has_job():
            self.ladder.ranks.show_whole()

    def action_granularity(self) -> None:
        """Line, function or offset."""
        if self._has_job():
            self.ladder_app.say(f"frames are told apart by {self.ladder.ranks.next_granularity()}")

    def action_debugger(self) -> None:
        """Attach to the rank that stands for the row."""
        ranks = self._ranks_here()
        if ranks:
            target = self.row(self.cursor).target
            first = target.node.representative[0] if isinstance(target, NodeTarget) else ranks[0]
            self.ladder_app.workspace.debug_rank(first)

    def action_print(self) -> None:
        """Ask for an expression, and evaluate it on the ranks of the row."""
        from ladder_backends.ranks.rank_list import fold

        ranks = self._ranks_here()
        if not ranks:
            return
        step = next((step for step in self.ranks.steps if step.action == "ranks.print"), None)
        cost = f"; {step.predicted}" if step is not None else ""
        prompt = self.ladder_app.workspace.prompt
        prompt.ask(
            f"print on {fold(ranks)}",
            lambda text: self._print(text, ranks),
            placeholder=f"an expression, or $late EXPRESSION{cost}",
        )

    def _print(self, text: str, ranks: tuple[int, ...]) -> None:
        if text.strip():
            self.work(self._ask(text, ranks))

    async def _ask(self, text: str, ranks: tuple[int, ...]) -> None:
        meant, expression = self.ladder.ranks.leading_set(text, ranks)
        await self.ladder.ranks.ask(expression, meant)

    def action_hold(self) -> None:
        """Let ranks in a debugger stand for as long as is wished, or go on in time again."""
        holds = self.ladder.ranks.hold()
        words = "stand for as long as you look at them" if holds else "go on by themselves in time"
        self.ladder_app.say(f"ranks in a debugger {words}", "warning" if holds else "information")

    def action_name(self) -> None:
        """Ask for a name of the row's ranks."""
        ranks = self._ranks_here()
        if ranks:
            prompt = self.ladder_app.workspace.prompt
            prompt.ask("name", lambda text: self._give_name(text, ranks), placeholder="a name: late")

    def _give_name(self, text: str, ranks: tuple[int, ...]) -> None:
        if text.strip():
            self.work(self._named(text, ranks))

    async def _named(self, text: str, ranks: tuple[int, ...]) -> None:
        from ladder_backends.ranks.rank_list import fold

        name = self.ladder.ranks.name(text, ranks)
        self.ladder_app.say(f"{name} is {fold(ranks)}")

    def _has_job(self) -> bool:
        if self.ranks.job is None:
            self.ladder_app.say("choose a job first: Enter", "warning")
        return self.ranks.job is not None

    def _ranks_here(self) -> tuple[int, ...]:
        """Ranks of the row under the cursor; says where there are none."""
        if not self._has_job():
            return ()
        target = self.row(self.cursor).target
        if isinstance(target, NodeTarget):
            return target.node.ranks
        if isinstance(target, RankTarget):
            return (target.rank,)
        if isinstance(target, SilentTarget):
            return target.ranks
        self.ladder_app.say("no ranks are on this row", "warning")
        return ()

    def copy_text(self, index: int) -> str:
        """A branch with its ranks."""
        row = self.row(index)
        end = "".join(cell.text for cell in row.end).strip()
        return f"{row.text().strip()}  {end}".strip()
