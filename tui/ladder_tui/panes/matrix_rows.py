"""The rows of the matrix of pairs: cells that survive without colours, controls, verdict, evidence of a pair."""

from __future__ import annotations

import textwrap
import time
from collections.abc import Sequence, Set
from typing import NamedTuple

from ladder_backends.model.p2p import Advice, PairResult, Result, Sweep, Verdict
from ladder_backends.session.pairs_state import PairsState, arm_words
from ladder_tui.widgets.row import EMPTY, Cell, Row

_SHORT = {
    Result.RIGHT: "ok",
    Result.DROPPED: "drop",
    Result.MIRRORED: "mirr",
    Result.MISROUTED: "misr",
    Result.STALE: "stal",
    Result.PARTIAL: "part",
    Result.HUNG: "hung",
    Result.SLOW: "slow",
    Result.ERROR: "err",
    Result.NOT_TESTED: "none",
}
_GLYPHS = {Result.RIGHT: "✓", Result.SLOW: "~", Result.HUNG: "H", Result.ERROR: "!", Result.NOT_TESTED: "·"}
_STYLES = {Result.RIGHT: "ok", Result.SLOW: "warn", Result.NOT_TESTED: "muted"}

LABEL = 6
"""Columns of `GPU12 `."""


class PairTarget(NamedTuple):
    """A cell of the matrix."""

    source: int
    target: int


class Marks(NamedTuple):
    """Pairs that were tested before the machine changed, and pairs that are not what they were in the baseline."""

    stale: Set[tuple[int, int]] = frozenset()
    changed: Set[tuple[int, int]] = frozenset()


NO_MARKS = Marks()


class CopyTarget(NamedTuple):
    """A row whose command is copied."""

    text: str


def cell_width(gpus: int, width: int) -> int:
    """Columns of one cell, its gap included."""
    return max(6, min(14, (width - LABEL) // max(1, gpus)))


def cell(sweep: Sweep, pair: PairResult, width: int, marks: Marks = NO_MARKS) -> Cell:
    """One ordered pair: a sign and a word, or the rate where it is right; padded to `width`.

    What is stale has an `o` for its sign; what is not as it was has a star behind it.
    """
    key = pair.source, pair.target
    changed = key in marks.changed
    text, style = _cell(sweep, pair, width - 1 - changed)
    if key in marks.stale and pair.arms and style != "focus":
        text, style = f"o {text.partition(' ')[2]}", "muted"
    text += "*" if changed else ""
    return Cell(f"{text:<{width}}", style, PairTarget(pair.source, pair.target))


def _cell(sweep: Sweep, pair: PairResult, room: int) -> tuple[str, str]:
    wedged = {gpu.index for gpu in sweep.gpus if gpu.state == "wedged"}
    if not sweep.over and pair.running and pair.running != "queued":
        return f"… {pair.running.partition(':')[0]}"[:room], "focus"
    if pair.kind.wrong and pair.target in wedged:
        return "W wedged"[:room], "fault"
    if not pair.arms:
        if pair.claim.offered is False:
            return "- none" if room < 9 else "- not offered"[:room], "muted"
        return ("… wait" if pair.running else "· none" if room < 9 else "· untested")[:room], "muted"
    kind = pair.kind
    if kind is Result.NOT_TESTED and pair.claim.offered is False:
        return "- none" if room < 9 else "- no P2P"[:room], "muted"
    sign, style = _GLYPHS.get(kind, "✗"), _STYLES.get(kind, "fault")
    if kind in (Result.RIGHT, Result.SLOW) and pair.bandwidth:
        rate = f"{pair.bandwidth:.0f}" if pair.bandwidth >= 100 or room < 8 else f"{pair.bandwidth:.1f}"
        if kind is Result.SLOW and room >= 10:
            return f"{sign} slow {rate}", style
        return f"{sign} {rate}"[:room], style
    word = kind.replace("_", " ")
    if len(word) + 2 > room:
        word = _SHORT[kind]
    return f"{sign} {word}"[:room], style


def matrix_rows(
    sweep: Sweep,
    width: int,
    chosen: PairTarget | None,
    marks: Marks = NO_MARKS,
) -> list[Row]:
    """The head and one row for each GPU; the chosen cell is marked."""
    numbers = [gpu.index for gpu in sweep.gpus]
    wide = cell_width(len(numbers), width)
    name = "GPU" if wide >= 7 else ""
    head = [Cell(" " * LABEL), *(Cell(f"{f'{name}{number}':<{wide}}", "muted") for number in numbers)]
    rows = [Row(tuple(head), pinned=1)]
    for source in numbers:
        cells = [Cell(f"GPU{source:<{LABEL - 3}}", "muted")]
        for target in numbers:
            pair = sweep.pairs.get((source, target))
            if pair is None:
                here = PairTarget(source, target)
                text = "[·]" if chosen == here else "·"
                cells.append(Cell(f"{text:<{wide}}", "focus" if chosen == here else "muted", here))
                continue
            one = cell(sweep, pair, wide, marks)
            if chosen == one.target:
                # The mark is a character too: a selected cell is seen without colours.
                text = one.text.rstrip()[: wide - 2]
                if (source, target) in marks.changed:
                    text = f"{text.removesuffix('*')[: wide - 3]}*"
                cells += [Cell(f"[{text}]", "focus", one.target), Cell(" " * (wide - len(text) - 2))]
            else:
                cells.append(one)
        rows.append(Row(tuple(cells), target=source, pinned=1))
    return rows


def claim_row(sweep: Sweep, stale: Set[tuple[int, int]] = frozenset()) -> Row:
    """What is claimed beside what is proven; what is stale is proven no more."""
    total = len(sweep.pairs)
    claimed = sum(bool(pair.claim.offered) for pair in sweep.pairs.values())
    tested = sum(bool(pair.arms) for pair in sweep.pairs.values())
    fresh = [pair for key, pair in sweep.pairs.items() if key not in stale]
    proven = sum(pair.kind is Result.RIGHT for pair in fresh)
    wrong = sum(pair.kind.wrong for pair in fresh)
    unit = "" if stale and tested < total else ", GB/s"
    cells = [Cell(f"row → column{unit} · claimed {claimed} of {total} · ", "muted")]
    cells.append(Cell(f"proven {proven}", "ok" if proven == total else "strong"))
    if wrong:
        cells += [Cell(" · "), Cell(f"wrong {wrong}", "fault")]
    if stale:
        cells.append(Cell(f" · old {len(stale)}", "warn"))
    if tested < total:
        cells.append(Cell(f" · to test {total - tested}", "muted"))
    return Row(tuple(cells))


def stale_rows(state: PairsState, width: int) -> list[Row]:
    """Why what is shown may be so no more."""
    sweep = state.shown
    if sweep is None or state.running:
        return []
    rows: list[Row] = []
    if state.sweep is None and state.kept is not None:
        when = time.strftime("%Y-%m-%d %H:%M", time.localtime(state.kept_at))
        rows += _wrapped("", f'kept as "{state.baseline}" on {when}, not tested since', width)
    if not state.stale:
        return rows
    count = "these" if len(state.stale) >= len(sweep.pairs) else f"{len(state.stale)} of these"
    told = f"o  {count} were tested before the machine changed: {state.why_stale}"
    return [*rows, *(row_in(row, "warn") for row in _wrapped("", told, width)[:3])]


def row_in(row: Row, style: str) -> Row:
    """The same row in another style."""
    return Row(tuple(Cell(one.text, style) for one in row.cells))


def control_row(sweep: Sweep) -> Row:
    """What the controls showed, in one line."""
    cells = [Cell("controls: ", "muted")]
    for arm, name in (("local", "own memory"), ("host", "host link"), ("staged", "through the host")):
        found = [one for one in sweep.controls.values() if one.arm == arm]
        if not found:
            continue
        right = all(one.result is Result.RIGHT for one in found)
        rates = [rate for one in found if isinstance(rate := one.evidence.get("GBps"), int | float)]
        speed = f" {min(rates):g} GB/s" if rates else ""
        if len(cells) > 1:
            cells.append(Cell(", ", "muted"))
        cells.append(Cell(f"{name} {'✓' if right else '✗ wrong'}{speed}", "text" if right else "fault"))
    return Row(tuple(cells)) if len(cells) > 1 else EMPTY


def verdict_rows(state: PairsState, width: int, *, evidence: bool = False) -> list[Row]:
    """Sentence, cause, command, price, what broke and what changed; with the facts where they are asked for."""
    rows: list[Row] = []
    broke: tuple[Row, ...] = ()
    if state.broke:
        broke = (Row((Cell(f'  Since "{state.baseline}": ', "muted"), Cell(_some(state.broke), "changed"))),)
    for number, verdict in enumerate(state.verdicts):
        if number and not evidence:
            rows += _wrapped("also: ", verdict.sentence, width)
            continue
        rows += _said(verdict, width)
        rows += _advised("Now:    ", verdict.now, width)
        rows += broke if not number else ()
        rows += [Row((Cell("  Changed: ", "muted"), Cell(line, "changed"))) for line in verdict.changed]
        for later in verdict.later if evidence else verdict.later[:1]:
            rows += _advised("Later:  ", later, width, priced=evidence)
        for fact in verdict.facts if evidence else ():
            rows += _wrapped("· ", f"{fact.text}  [{fact.source}]" if fact.source else fact.text, width)
    return rows if state.verdicts else [*broke]


def _some(lines: Sequence[str]) -> str:
    return lines[0] + (f" and {len(lines) - 1} more" if len(lines) > 1 else "")


def _said(verdict: Verdict, width: int) -> list[Row]:
    sign, style = ("✓", "ok") if verdict.good else ("✗", "fault") if verdict.conclusive else ("?", "warn")
    rows = []
    for number, line in enumerate(textwrap.wrap(verdict.sentence, max(20, width - 3))):
        lead = Cell(f"{sign} ", style) if not number else Cell("  ")
        rows.append(Row((lead, Cell(line, "strong"))))
    if verdict.likely:
        facts = f"{len(verdict.facts)} fact" + ("" if len(verdict.facts) == 1 else "s")
        rows += _wrapped("Likely: ", f"{verdict.likely}. Confidence {verdict.confidence} ({facts})", width)
    return rows


def _advised(label: str, advice: Advice | None, width: int, *, priced: bool = True) -> list[Row]:
    if advice is None:
        return []
    room = max(20, width - len(label) - 3)
    style = "value" if label.startswith("Now") else "text"
    rows = [
        Row(
            (Cell(f"  {label if not number else ' ' * len(label)}", "muted"), Cell(line, style)),
            target=CopyTarget(advice.command),
        )
        for number, line in enumerate(textwrap.wrap(advice.command, room, break_on_hyphens=False))
    ]
    notes = "; ".join(part for part in (advice.price, f"by {advice.who}" if advice.who else "") if part)
    return [*rows, *(_wrapped(" " * len(label), notes, width) if notes and priced else ())]


def untested_rows(sweep: Sweep, width: int) -> list[Row]:
    """What the sweep left out, and why."""
    rows: list[Row] = []
    for line in sweep.untested:
        rows += _wrapped("not tested: ", line, width)
    return rows


def pair_rows(sweep: Sweep, here: PairTarget, width: int) -> list[Row]:
    """The evidence of one ordered pair, arm by arm."""
    pair = sweep.pairs.get((here.source, here.target))
    if pair is None:
        arms = [one for key, one in sweep.controls.items() if key[1:] == (here.source, here.target)]
        claims = Row((Cell("this GPU by itself", "muted"),))
    else:
        staged = sweep.controls.get(("staged", here.source, here.target))
        arms = [*([staged] if staged is not None else []), *pair.arms.values()]
        cuda = {True: "yes", False: "no", None: "?"}[pair.claim.cuda]
        nvml = " ".join(f"{name} {word}" for name, word in pair.claim.nvml.items()) or "?"
        claims = Row((Cell("claimed  ", "muted"), Cell(f"CUDA {cuda} · NVML {nvml}")))
    rows = [claims]
    if pair is not None:
        figures = f"{pair.bandwidth:g} GB/s" if pair.bandwidth else "?"
        short = f" · 4 bytes in {pair.latency:g} µs" if pair.latency else ""
        rows.append(Row((Cell("measured ", "muted"), Cell(figures + short), Cell(f"  {pair.slow}", "warn"))))
        if pair.running and not sweep.over:
            rows.append(Row((Cell("at work  ", "muted"), Cell(pair.running, "focus"))))
    for arm in arms:
        kind = arm.result
        sign, style = _GLYPHS.get(kind, "✗"), _STYLES.get(kind, "fault")
        test, does = arm_words(arm.arm)
        head = f"{test:<3} {arm.arm}" if test else arm.arm
        word = kind.replace("_", " ")
        rows.append(Row((Cell(f"{sign} ", style), Cell(f"{head:<16}"), Cell(f"{word:<11}", style))))
        rows += _wrapped("      ", "; ".join(part for part in (does, arm.said) if part), width)
        more = "  ".join(f"{key} {_figure(value)}" for key, value in arm.evidence.items() if key != "say")
        if kind.wrong and more:
            rows += _wrapped("      ", more, width)
    return rows


def _figure(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def _wrapped(label: str, text: str, width: int) -> list[Row]:
    lines = textwrap.wrap(text, max(20, width - len(label) - 3), break_on_hyphens=False)
    return [
        Row((Cell(f"  {label if not number else ' ' * len(label)}", "muted"), Cell(line, "text")))
        for number, line in enumerate(lines)
    ]
