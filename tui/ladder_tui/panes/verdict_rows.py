"""The rows of the verdict: what is wrong, what it leans on, how long ranks may stand, and what each key costs."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, NamedTuple

from ladder_tui.actions import key_of
from ladder_tui.widgets.row import Cell, Row, size_of

if TYPE_CHECKING:
    from ladder_backends.model.rank_verdict import RankVerdict
    from ladder_backends.session.rank_state import RankState
    from ladder_backends.session.rank_steps import Limit, Printed, Step

_KEYS = 3
_SHOWN = 8


class CommandTarget(NamedTuple):
    """A row whose command is copied."""

    command: str


class StepTarget(NamedTuple):
    """A step of the pause ladder, by the action that takes it."""

    action: str


def verdict_rows(state: RankState, width: int, *, facts: bool) -> list[Row]:
    """All rows; with the facts where they are asked for."""
    rows: list[Row] = []
    if state.printed is not None:
        rows += printed_rows(state.printed, width)
    for number, verdict in enumerate(state.verdicts[: 3 if not facts else None]):
        if number and not facts:
            rows += _wrapped("also: ", verdict.sentence, width)
        else:
            rows += _said(verdict, width, facts=facts)
    if state.limits:
        rows.append(_budget(state.limits))
    if state.job is not None:
        rows += [_step(step, state, width) for step in state.steps]
    return rows


def _said(verdict: RankVerdict, width: int, *, facts: bool) -> list[Row]:
    sign, style = ("✗", "fault") if verdict.diverges else ("·", "muted")
    looks = f"{verdict.samples} look{'' if verdict.samples == 1 else 's'}"
    rows = []
    for number, line in enumerate(textwrap.wrap(verdict.sentence, max(20, width - 3))):
        lead = Cell(f"{sign} ", style) if not number else Cell("  ")
        rows.append(Row((lead, Cell(line, "strong"))))
    sure = f"  {looks} · confidence {verdict.confidence} · "
    count = f" {len(verdict.facts)} fact{'' if len(verdict.facts) == 1 else 's'}"
    rows.append(Row((Cell(sure, "muted"), Cell(key_of("verdict.facts"), "key"), Cell(count, "muted"))))
    if facts:
        for fact in verdict.facts:
            mark = {True: "+ ", False: "· "}[fact.speaks > 0] if fact.speaks >= 0 else "− "
            rows += _wrapped(mark, f"{fact.text}  [{fact.source}]", width)
    if verdict.now:
        rows.append(
            Row(
                (Cell("  Now:  ", "muted"), Cell(verdict.now, "value"), Cell(f"   {verdict.price}", "muted")),
                target=CommandTarget(verdict.now),
            )
        )
    return rows


def _budget(limits: tuple[Limit, ...]) -> Row:
    """How long ranks may stand, the shortest first."""
    cells = [Cell("  Stop budget  ", "muted")]
    for number, limit in enumerate(limits[:2]):
        style = "warn" if limit.seconds < 60 else "text"
        cells += [Cell(" · " if number else "", "muted"), Cell(_duration(limit.seconds), style)]
        cells.append(Cell(f" ({limit.source})", "muted"))
    return Row(tuple(cells))


def _step(step: Step, state: RankState, width: int) -> Row:
    """What a key does, for how long ranks are expected to stand, and for how long they did."""
    what = step.what
    if step.action == "ranks.debugger" and state.verdicts and state.verdicts[0].suspects:
        what = f"debugger on rank {state.verdicts[0].suspects[0]}"
    cells = [Cell(f"  {key_of(step.action):<{_KEYS}}", "key"), Cell(what), Cell(f"  {step.predicted}", "muted")]
    if step.measured is not None:
        cells.append(Cell(f" · did for {_duration(step.measured)}", "ok"))
    return Row(tuple(cells), target=StepTarget(step.action))


def printed_rows(printed: Printed, width: int) -> list[Row]:
    """An expression over ranks: each value once, with its ranks."""
    answered = sum(count for _, count, _ in printed.classes)
    head = f" answered {answered} of {printed.asked} · they stood for {_duration(printed.pause)}"
    rows = [Row((Cell(f"  {printed.expression}", "name"), Cell(head, "muted")))]
    wide = min(24, max((size_of(ranks) for ranks, _, _ in printed.classes), default=0))
    for ranks, _, value in printed.classes[:_SHOWN]:
        rows.append(Row((Cell(f"    {ranks:<{wide}}  ", "strong"), Cell(value, "value"))))
    if len(printed.classes) > _SHOWN:
        rows.append(Row((Cell(f"    … {len(printed.classes) - _SHOWN} more values", "muted"),)))
    for ranks, why in printed.silent[:_SHOWN]:
        rows.append(Row((Cell(f"    {ranks:<{wide}}  ", "strong"), Cell(why, "warn"))))
    return rows


def _duration(seconds: float) -> str:
    """`0.02 s`, `48 s`, `9 min 12 s`, `1.5 h`."""
    if seconds < 10:
        return f"{seconds:.2f} s"
    if seconds < 120:
        return f"{seconds:.0f} s"
    if seconds < 7200:
        return f"{seconds // 60:.0f} min" + (
            f" {seconds % 60:.0f} s" if seconds < 1200 and seconds % 60 >= 1 else ""
        )
    return f"{seconds / 3600:.1f} h"


def _wrapped(label: str, text: str, width: int) -> list[Row]:
    lines = textwrap.wrap(text, max(20, width - len(label) - 3))
    return [
        Row((Cell(f"  {label if not number else ' ' * len(label)}", "muted"), Cell(line, "text")))
        for number, line in enumerate(lines)
    ]
