"""All facts of one thing as rows: value, source, what it means; unknown is told as unknown."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from ladder_backends.model.fact import Concern, Fact
from ladder_tui.widgets.row import EMPTY, Cell, Row, size_of

if TYPE_CHECKING:
    from ladder_backends.model.gpu_counters import Counters
    from ladder_backends.model.topology import Machine, NvLink


LOADED = 1.0
"""GB/s of PCIe from which a link counts as loaded."""


def group_title(machine: Machine, group: str) -> str:
    """What a group is called; empty where there is none of that name."""
    return next((title for name, title, _ in machine.groups() if name == group), "")


def fact_rows(machine: Machine, group: str, width: int, counters: Mapping[int, Counters]) -> list[Row]:
    """Facts of a group; under a GPU, what its link was seen at and its NVLinks follow, one a row."""
    facts = next((facts for name, _, facts in machine.groups() if name == group), None)
    if facts is None:
        return []
    label = max((len(fact.label) for fact in facts.values()), default=0)
    rows: list[Row] = []
    for fact in facts.values():
        rows += _rows_of(fact, label, width)
    gpu = next((gpu for gpu in machine.gpus if group == f"gpu.{gpu.uuid or gpu.bdf}"), None)
    seen = counters.get(gpu.index) if gpu is not None else None
    if gpu is not None and seen is not None and seen.best_generation is not None:
        rows += _rows_of(_seen(gpu.facts.value("pcie.generation.max"), seen), label, width)
    if gpu is not None and gpu.links:
        rows += [EMPTY, Row((Cell(gpu.links_text, "strong"),))]
        rows += [_link_row(link) for link in gpu.links]
    return rows


def _seen(most: int | None, counters: Counters) -> Fact:
    """An idle link may stand at a lower generation; one that carries data and does so is too slow."""
    best, now = counters.best_generation, counters.generation
    loaded = max(counters.pcie_out or 0.0, counters.pcie_in or 0.0) >= LOADED
    text = f"Gen{best} since this rung was opened; Gen{now} now, {'under load' if loaded else 'idle'}"
    fact = Fact("pcie.seen", "PCIe seen", best, text, "nvmlDeviceGetCurrPcieLinkGeneration", live=True)
    if loaded and most and now and now < most:
        return fact.wrong(f"under load it stays at Gen{now} of Gen{most}: riser, slot or BIOS")
    return fact


def _rows_of(fact: Fact, label: int, width: int) -> Iterator[Row]:
    style = {Concern.WRONG: "fault", Concern.NOTE: "warn"}.get(fact.concern, "text" if fact.known else "muted")
    room = max(20, width - label - 4)
    lines = textwrap.wrap(fact.text, room) or [""]
    fits = len(lines) == 1 and label + 2 + size_of(lines[0]) + 2 + size_of(fact.source) <= width
    source = (Cell(fact.source, "muted"),) if fits else ()
    yield Row((Cell(f"{fact.label:<{label}}  ", "muted"), Cell(lines[0], style)), source, fact)
    for line in lines[1:]:
        yield Row((Cell(" " * (label + 2)), Cell(line, style)), target=fact)
    if not source and fact.source:
        yield Row((Cell(" " * (label + 2)), Cell(f"· {fact.source}", "rule")), target=fact)
    mark = "✗" if fact.concern is Concern.WRONG else "!"
    for number, line in enumerate(textwrap.wrap(fact.says, room - 2)):
        yield Row((Cell(" " * (label + 2)), Cell(f"{mark if not number else ' '} {line}", style)), target=fact)
    # A command is copied whole, whichever of its rows is chosen.
    for number, line in enumerate(textwrap.wrap(fact.remedy, room - 2, break_on_hyphens=False)):
        lead = "→" if not number else " "
        yield Row((Cell(" " * (label + 2)), Cell(f"{lead} {line}", "key")), target=fact.remedy)


def _link_row(link: NvLink) -> Row:
    facts = link.facts
    state = facts["state"]
    style = "ok" if link.active else "fault" if link.active is False else "muted"
    bad = [
        f"{fact.label} {fact.value:,}" for name, fact in facts.items() if name.startswith("error.") and fact.value
    ]
    unread = all(not fact.known for name, fact in facts.items() if name.startswith("error."))
    errors = ", ".join(bad) or ("errors not told" if unread else "no errors")
    parts = [facts[name].text for name in ("version", "speed") if facts[name].known]
    return Row(
        (
            Cell(f"  {link.number:>2} ", "name"),
            Cell(f"{state.text:<5} ", style),
            Cell("  ".join(parts)),
            Cell(f"  → {link.peer or '?'}", "value"),
            Cell(f"  {errors}", "warn" if bad else "muted"),
        ),
        target=state,
    )


def command_rows(lines: tuple[str, ...], width: int) -> list[Row]:
    """What somebody who is root can run; each command can be copied whole."""
    rows = [
        Row(
            (Cell("Somebody who is root runs this; what it prints is pasted right here (or i: a file):", "muted"),)
        ),
        EMPTY,
    ]
    for line in lines:
        parts = textwrap.wrap(line, max(20, width), break_long_words=False, break_on_hyphens=False)
        rows += [Row((Cell(part, "key"),), target=line) for part in parts]
        rows.append(EMPTY)
    return rows
