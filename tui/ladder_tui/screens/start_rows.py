"""The start screen as rows: rungs, what was opened last, demos."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ladder_backends.rungs import Layout, Rung, rungs
from ladder_demos.catalogue import Demo
from ladder_tui.recent import Recent
from ladder_tui.widgets.row import EMPTY, Cell, Row

if TYPE_CHECKING:
    from ladder_backends.debugger.probe import Probe

_NOT_YET = "not in this version"
_REPORTS = "reads reports"


class RungTarget(NamedTuple):
    """A rung; `say` is what to tell of it."""

    name: str
    say: str


class RecentTarget(NamedTuple):
    """Something opened before."""

    recent: Recent


class DemoTarget(NamedTuple):
    """A demo."""

    demo: Demo


class OpenTarget(NamedTuple):
    """Ask for files or a program."""


class ProcessesTarget(NamedTuple):
    """Show the running processes."""


class SanitizeTarget(NamedTuple):
    """Ask for a program to run under the sanitizer."""


def start_rows(
    probes: Mapping[str, Probe | None] | None,
    recents: Sequence[Recent],
    demos: Sequence[Demo],
) -> list[Row]:
    """Lay the screen out.

    Args:
        probes: Debuggers by name, None where one is still looked for; None while it is not known which there are.
        recents: What was opened last, newest first, and is still there.
        demos: What can be tried.
    """
    rows = [
        Row((Cell("  o  ", "key"), Cell("open     ", "text"), Cell(_OPEN, "muted")), target=OpenTarget()),
        Row((Cell("  a  ", "key"), Cell("attach   ", "text"), Cell(_ATTACH, "muted")), target=ProcessesTarget()),
        Row((Cell("  s  ", "key"), Cell("sanitize ", "text"), Cell(_SANITIZE, "muted")), target=SanitizeTarget()),
        EMPTY,
    ]
    rows.append(_heading("Rungs"))
    for rung in rungs():
        rows += _rung_rows(rung, probes)
    rows.append(EMPTY)
    if recents:
        rows.append(_heading("Recent"))
        for recent in recents:
            kind = "program" if recent.program else "case" if recent.paths[0].endswith(".ladder") else "files"
            cells = (Cell("  "), Cell(f"{kind:<8} ", "muted"), Cell(recent.label, "strong"))
            rows.append(Row((*cells, Cell(f"  {recent.folder}", "file")), target=RecentTarget(recent)))
        rows.append(EMPTY)
    rows.append(_heading("Demos", "none needs a GPU"))
    width = max((len(demo.name) for demo in demos), default=0)
    for demo in demos:
        name = Cell(f"{demo.name:<{width}}  ", "function")
        rows.append(Row((Cell("  "), name, Cell(demo.title)), target=DemoTarget(demo)))
    return rows


_OPEN = "a program with its arguments, a core, a report with its dump, a case"

_ATTACH = "a running process, chosen from a list; it lives on afterwards"

_HARDWARE = "GPUs, links, topology; are their transfers right?"

_JOBS = "jobs of mpirun, srun, torchrun: which rank went wrong"

_SANITIZE = "a CUDA program, checked by compute-sanitizer"


def _heading(name: str, note: str = "") -> Row:
    return Row((Cell(name, "title-focus"), Cell(f"  {note}" if note else "", "muted")))


def _findings_row(head: tuple[Cell, ...], rung: Rung, probe: Probe | None) -> Row:
    """The rung of findings: reports can be read without the tool."""
    if probe is None:
        return Row((*head, Cell("✓ ", "ok"), Cell(_REPORTS)), target=RungTarget(rung.name, ""))
    if probe.available:
        found = Cell(f"  {probe.path}" if probe.path is not None else "", "file")
        return Row((*head, Cell("✓ ", "ok"), Cell(probe.version), found), target=RungTarget(rung.name, ""))
    say = f"{probe.missing} — {probe.remedy}" if probe.remedy else probe.missing
    cells = (*head, Cell("✓ ", "ok"), Cell(f"{_REPORTS}; to run: ", "text"), Cell(probe.missing, "muted"))
    return Row(cells, target=RungTarget(rung.name, say))


def _rung_rows(rung: Rung, probes: Mapping[str, Probe | None] | None) -> list[Row]:
    head = (Cell(f"  {rung.key or ' '}  ", "key"), Cell(f"{rung.name:<10} ", "text"))
    if rung.missing:
        target = RungTarget(rung.name, rung.missing)
        words = rung.missing if rung.debugger else _NOT_YET
        return [Row((*head, Cell(f"· {words}", "muted")), target=target)]
    if rung.layout is Layout.HARDWARE:
        return [Row((*head, Cell("✓ ", "ok"), Cell(_HARDWARE)), target=RungTarget(rung.name, ""))]
    if rung.layout is Layout.RANKS:
        return [Row((*head, Cell("✓ ", "ok"), Cell(_JOBS)), target=RungTarget(rung.name, ""))]
    if rung.findings:
        return [_findings_row(head, rung, probes[rung.engine] if probes and rung.engine in probes else None)]
    if probes is not None and rung.debugger not in probes:
        words = "no debugger is registered for it"
        return [Row((*head, Cell("✗ ", "fault"), Cell(words)), target=RungTarget(rung.name, words))]
    probe = probes[rung.debugger] if probes is not None else None
    if probe is None:
        return [Row((*head, Cell("… looking", "muted")), target=RungTarget(rung.name, ""))]
    if not probe.available:
        say = f"{probe.missing} — {probe.remedy}" if probe.remedy else probe.missing
        cells = (*head, Cell("✗ ", "fault"), Cell(probe.missing))
        remedy = Cell(f" → {probe.remedy}" if probe.remedy else "", "key")
        return [Row((*cells, remedy), target=RungTarget(rung.name, say))]
    found = Cell(f"  {probe.path}" if probe.path is not None else "", "file")
    rows = [Row((*head, Cell("✓ ", "ok"), Cell(probe.version), found), target=RungTarget(rung.name, probe.version))]
    rows += [
        Row((Cell(" " * 16), Cell(f"! {note}", "warn")), target=RungTarget(rung.name, note)) for note in probe.notes
    ]
    return rows
