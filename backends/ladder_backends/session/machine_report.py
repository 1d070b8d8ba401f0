"""One report of a machine for a ticket: verdict, what broke beside what changed, pairs, topology, facts.

Three forms of the same: text, Markdown, JSON. What a machine says is quoted in code blocks and escaped in tables.
"""

from __future__ import annotations

import itertools
import json
import textwrap
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ladder_backends.errors import LadderError
from ladder_backends.hardware.forms import concern_lines, host_rows, machine_json, topology_lines
from ladder_backends.model.baseline import Comparison
from ladder_backends.model.p2p import Sweep, Verdict
from ladder_backends.model.topology import Machine
from ladder_backends.p2p.report_json import sweep_json
from ladder_backends.p2p.report_text import claimed_line, control_lines, fact_lines, matrix, verdict_lines
from ladder_backends.paths import typed_path
from ladder_backends.text import clean_line

WIDTH = 100
MOST = 40
"""Lines of what broke, and of what changed."""


@dataclass(frozen=True, slots=True)
class MachineReport:
    """What a report is made of.

    Attributes:
        comparison: The machine beside a baseline, with what broke, or None.
        sweep: What was found of its pairs, or None where nothing was tested.
        verdicts: What that means.
        stale: What changed since the pairs were tested, or an empty string.
    """

    machine: Machine
    comparison: Comparison | None = None
    sweep: Sweep | None = None
    verdicts: Sequence[Verdict] = ()
    stale: str = ""

    @property
    def changed(self) -> list[str]:
        """What is different on the host; the same of several GPUs or pairs is one line."""
        return [text for text, _ in self.comparison.lines()] if self.comparison is not None else []

    @property
    def head(self) -> str:
        """The machine and the verdict in a line."""
        said = self.verdicts[0].sentence if self.verdicts else self.machine.unread or "pairs were not tested"
        return f"{self.machine.title}: {said}"


def write(report: MachineReport, name: str) -> Path:
    """Write it to a file: Markdown where its name ends in `.md`, JSON where in `.json`, else text.

    Raises:
        LadderError: It cannot be written.
    """
    path = typed_path(name)
    form = {".md": markdown, ".json": json_text}.get(path.suffix.casefold(), text)
    try:
        path.write_text(form(report), encoding="utf-8")
    except OSError as error:
        raise LadderError(
            f"the report cannot be written to {clean_line(name)}", error.strerror or "", "name another file"
        ) from None
    return path


# JSON ----------------------------------------------------------------------------------------------------------


def document(report: MachineReport) -> dict[str, Any]:
    """Machine and pairs in one document, each in the shape of its own command."""
    sweep = report.sweep
    return {
        "format": 1,
        "summary": report.head,
        "simulated": report.machine.simulated or None,
        "stale": report.stale or None,
        "machine": machine_json(report.machine, report.comparison),
        "p2p": sweep_json(sweep, report.verdicts) if sweep is not None else None,
    }


def json_text(report: MachineReport) -> str:
    """The document, a key a line."""
    return json.dumps(document(report), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


# Text ----------------------------------------------------------------------------------------------------------


def text(report: MachineReport) -> str:
    """For people, without marks."""
    return "\n".join(clean_line(line) for line in _joined(_text_parts(report))) + "\n"


def _text_parts(report: MachineReport) -> Iterator[list[str]]:
    machine = report.machine
    yield [*_said_first(report), report.head, _when(report)]
    yield from _verdicts(report)
    if report.comparison is not None:
        yield list(_beside(report, report.comparison))
    for title, lines in _blocks(report):
        yield [title, *lines]
    yield ["Host", *(f"  {label}: {value}  [{source}]" for label, value, source in host_rows(machine))]
    for title, lines in _tail(report):
        yield [title, *(f"  {line.strip()}" for line in lines)]


def _verdicts(report: MachineReport) -> Iterator[list[str]]:
    """Each verdict; what changed is told once, beside what broke."""
    for verdict in report.verdicts:
        yield verdict_lines(replace(verdict, changed=()) if report.comparison is not None else verdict)


def _said_first(report: MachineReport) -> Iterator[str]:
    if report.machine.simulated:
        yield f"SIMULATED: {report.machine.simulated}"
    if report.stale:
        yield f"OLD: the pairs were tested before the machine changed: {report.stale}"


def _when(report: MachineReport) -> str:
    at = time.strftime("%Y-%m-%d %H:%M:%S %z", time.localtime(report.machine.read_at))
    boot = report.machine.host["os.boot_id"]
    return f"read {at}" + (f" · boot {boot.text}" if boot.known else "")


def _beside(report: MachineReport, comparison: Comparison) -> Iterator[str]:
    """Two columns: what broke, what changed on the host."""
    half = WIDTH // 2 - 2
    left = _wrapped(_some(comparison.broke) or ["nothing"], half)
    right = _wrapped(_some(report.changed) or ["nothing"], half)
    yield f"Since the baseline {comparison.baseline.name}{', rebooted since' if comparison.rebooted else ''}"
    yield f"{'  Broke':<{half + 2}}  Changed on the host"
    for one, other in itertools.zip_longest(left, right, fillvalue=""):
        yield f"  {one:<{half}}  {other}".rstrip()
    yield from (f"  mended: {line}" for line in _some(comparison.mended))


def _some(lines: Sequence[str]) -> list[str]:
    return [*lines[:MOST], *([f"{len(lines) - MOST} more"] if len(lines) > MOST else [])]


def _wrapped(lines: Iterable[str], width: int) -> list[str]:
    return [part for line in lines for part in textwrap.wrap(line, width, subsequent_indent="  ") or [""]]


def _blocks(report: MachineReport) -> Iterator[tuple[str, list[str]]]:
    """Parts that are laid out by columns."""
    machine, sweep = report.machine, report.sweep
    if sweep is not None and sweep.pairs:
        yield f"Pairs: row writes to column, GB/s; {claimed_line(sweep)}", matrix(sweep)
    if sweep is not None and (controls := control_lines(sweep)):
        yield controls[0], controls[1:]
    if machine.gpus:
        yield "Topology", list(topology_lines(machine))
    if concerns := list(concern_lines(machine)):
        yield "Needs attention", concerns


def _tail(report: MachineReport) -> Iterator[tuple[str, list[str]]]:
    if evidence := [line for verdict in report.verdicts for line in fact_lines(verdict)]:
        yield "Evidence", evidence
    if report.sweep is not None and report.sweep.untested:
        yield f"Not tested ({report.sweep.depth} arms, {report.sweep.took:.1f} s)", list(report.sweep.untested)
    if report.machine.unread:
        yield "GPUs cannot be asked", [report.machine.unread, report.machine.remedy]
    if report.machine.commands:
        yield "Unread without root", list(report.machine.commands)


def _joined(parts: Iterable[list[str]]) -> Iterator[str]:
    for number, part in enumerate(parts):
        if number:
            yield ""
        yield from part


# Markdown ------------------------------------------------------------------------------------------------------


def markdown(report: MachineReport) -> str:
    """For a ticket."""
    return "\n".join(_joined(_markdown_parts(report))) + "\n"


def _markdown_parts(report: MachineReport) -> Iterator[list[str]]:
    yield [f"## {_escaped(report.head)}"]
    yield [*(f"**{_escaped(line)}**" for line in _said_first(report)), _escaped(_when(report))]
    for lines in _verdicts(report):
        yield _fenced(lines)
    if (comparison := report.comparison) is not None:
        yield [f"### Since the baseline {_escaped(comparison.baseline.name)}"]
        broke, changed = _some(comparison.broke) or ["nothing"], _some(report.changed) or ["nothing"]
        rows = itertools.zip_longest(broke, changed, fillvalue="")
        yield _table(("broke", "changed on the host"), rows)
        if comparison.mended:
            yield [f"- mended: {_escaped(line)}" for line in _some(comparison.mended)]
    for title, lines in _blocks(report):
        yield [f"### {_escaped(title)}"]
        yield _fenced(lines)
    yield ["### Host"]
    yield _table(("fact", "value", "source"), host_rows(report.machine))
    for title, lines in _tail(report):
        yield [f"### {_escaped(title)}"]
        yield _fenced([line.strip() for line in lines])


def _fenced(lines: Iterable[str]) -> list[str]:
    # A fence that a fact's own text holds would end the block.
    return ["```text", *(clean_line(line).replace("```", "'''") for line in lines), "```"]


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    lines = [f"| {' | '.join(_escaped(cell) for cell in row)} |" for row in rows]
    return [f"| {' | '.join(head)} |", "|" + "---|" * len(head), *lines]


def _escaped(said: str) -> str:
    out = clean_line(said)
    for mark in "\\`*_[]<>|#":
        out = out.replace(mark, f"\\{mark}")
    return out
