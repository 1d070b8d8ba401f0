"""A run of the sanitizer in the findings: how far it is, how it ended, and its two keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from ladder_backends.session.sanitizer_state import RunPhase, SanitizerRunState
from ladder_tui.actions import key_of
from ladder_tui.widgets.row import Cell

if TYPE_CHECKING:
    from ladder_backends.model.finding import Finding
    from ladder_tui.panes.pane import Pane

SLOW_AFTER = 60.0
"""Seconds after which a run is offered to look at fewer kernels."""

_FOUND = frozenset({"found", "nothing found"})


def progress_cells(run: SanitizerRunState, now: float) -> list[Cell]:
    """`memcheck 12 s · 3 found · 14 launches · 120 lines`; nothing where nothing runs.

    Args:
        run: The run.
        now: On the clock of `SanitizerRunState.since`.
    """
    if not run.active:
        return []
    tools = run.plan.tools if run.plan is not None else ()
    name = run.tool or (tools[0] if tools else "sanitizer")
    place = f" {run.number}/{len(tools)}" if len(tools) > 1 and run.number else ""
    words = "stopping" if run.phase is RunPhase.STOPPING else f"{max(0.0, now - run.since):.0f} s"
    parts = [f" · {count_words(run)}"] if count_words(run) else []
    cells = [Cell("▶ ", "ok"), Cell(f"{name}{place} {words}", "strong"), *(Cell(part, "muted") for part in parts)]
    if now - run.begun > SLOW_AFTER and run.phase is RunPhase.RUNNING:
        cells += [Cell(" · slow: ", "warn"), Cell(key_of("sanitize.again"), "key"), Cell(" looks at less", "warn")]
    return cells


def count_words(run: SanitizerRunState) -> str:
    """What was seen so far: `3 found · 14 launches · 120 lines`."""
    parts = [f"{run.found:,} found"] if run.found else []
    if run.launches is not None:
        parts.append(f"{run.launches:,} launch{'' if run.launches == 1 else 'es'}")
    if run.output_lines:
        parts.append(f"{run.output_lines:,} line{'' if run.output_lines == 1 else 's'}")
    return " · ".join(parts)


def progress_text(run: SanitizerRunState, now: float) -> str:
    """What stands in the place of findings while there are none, and once there turned out to be none."""
    if run.active:
        if run.phase is RunPhase.STOPPING:
            return "the run is being stopped; what was found stays"
        last = next((line for line in reversed(run.output) if line), "")
        said = f" — {last[:60]}" if last else ""
        return f"nothing found so far; {key_of('sanitize.stop')} stops the run{said}"
    bad = [end for end in run.ends if end.end not in _FOUND]
    if len(run.ends) > 1 and bad:
        return "; ".join(end.line for end in run.ends)
    return ""


class SanitizerActs:
    """The keys of a run in a pane that shows findings."""

    def finding_at_cursor(self) -> Finding | None:
        """The finding that a further run is for."""
        return None

    def action_sanitize_stop(self) -> None:
        """End the run; what was found stays."""
        cast("Pane", self).ladder_app.workspace.stop_sanitizer()

    def action_sanitize_again(self) -> None:
        """Run again, with what the finding under the cursor calls for."""
        cast("Pane", self).ladder_app.workspace.sanitize_again(self.finding_at_cursor())
