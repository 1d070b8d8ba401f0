"""The tree of a machine as rows: what is wrong, the host, roots, ports and GPUs with their counters."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from ladder_backends.model.fact import Concern
from ladder_backends.model.machine_words import (
    WITHOUT_A_GPU,
    choice_groups,
    concern_groups,
    number_in_cuda,
)
from ladder_backends.model.topology import Nic
from ladder_tui.widgets.row import EMPTY, Cell, Row, cut, size_of

if TYPE_CHECKING:
    from ladder_backends.model.baseline import Comparison
    from ladder_backends.model.gpu_counters import Counters
    from ladder_backends.model.topology import Gpu, Machine, Port
    from ladder_backends.session.hardware_state import HardwareState

MOST_CONCERNS = 5
MOST_CHANGES = 5
_WIDE = 100
_HOT = 85
_BUSY = 5


class GroupTarget(NamedTuple):
    """A group of facts, by its stable name."""

    group: str


class PairTarget(NamedTuple):
    """A pair of GPUs."""

    one: int
    other: int


class CommandsTarget(NamedTuple):
    """What root can run."""


@dataclass
class _Node:
    """A root or a port, with what hangs from it."""

    name: str
    children: dict[str, _Node] = field(default_factory=dict)
    gpus: list[Gpu | Nic] = field(default_factory=list)


def tree_rows(state: HardwareState, width: int) -> list[Row]:
    """Everything, the broken first.

    Args:
        state: Of the hardware rung.
        width: Columns of a row.
    """
    machine = state.machine
    if machine is None:
        return []
    rows = [*_unread(machine, width), *_concerns(machine, width)]
    if state.xids:
        told = ", ".join(f"{number} on GPU{gpu}" if gpu >= 0 else str(number) for gpu, number in state.xids[-4:])
        rows.append(Row((Cell("✗ ", "fault"), Cell(f"Xid while watching: {told}", "fault"))))
    if state.comparison is not None:
        rows += _changes(state.comparison, width)
    rows.append(_host(machine, width))
    roots = _nodes(machine)
    for root in roots.values():
        rows += _root_rows(root, machine, state.counters, width)
    rows += [EMPTY, *_choices(machine, width)] if machine.pairs else []
    if machine.commands:
        cells = (
            Cell("? ", "warn"),
            Cell(f"{_unread_ports(machine)}", "muted"),
            Cell("  Enter: the command", "muted"),
        )
        rows.append(Row(cells, target=CommandsTarget()))
    return rows


def _told(lead: Cell, text: str, style: str, width: int, target: object = None) -> Iterator[Row]:
    """A sentence over as many rows as it needs: what to do is read whole, or not at all."""
    room = max(20, width - size_of(lead.text))
    for number, line in enumerate(textwrap.wrap(text, room, break_on_hyphens=False) or [""]):
        yield Row((lead if not number else Cell(" " * size_of(lead.text)), Cell(line, style)), target=target)


def _unread(machine: Machine, width: int) -> Iterator[Row]:
    if machine.unread:
        yield from _told(Cell("✗ ", "fault"), f"no GPU can be asked: {machine.unread}", "fault", width)
        yield from _told(Cell("  → ", "key"), machine.remedy, "key", width)
        if not machine.simulated:
            yield from _told(Cell("  "), WITHOUT_A_GPU, "muted", width)
        yield EMPTY


def _concerns(machine: Machine, width: int) -> Iterator[Row]:
    groups = list(concern_groups(machine))
    for number, (concern, text, group, remedy) in enumerate(groups):
        if number >= MOST_CONCERNS and concern is not Concern.WRONG:
            left = len(groups) - number
            yield Row(
                (Cell("! ", "warn"), Cell(f"{left} more notes; Enter on host, GPU or port tells them", "muted"))
            )
            break
        style = "fault" if concern is Concern.WRONG else "warn"
        target = GroupTarget(group)
        yield from _told(Cell("✗ " if style == "fault" else "! ", style), text, "text", width, target)
        if remedy:
            yield from _told(Cell("  → ", "key"), remedy, "key", width, target)
    if groups:
        yield EMPTY


def _changes(comparison: Comparison, width: int) -> Iterator[Row]:
    baseline = comparison.baseline
    rebooted = ", rebooted since" if comparison.rebooted else ""
    yield Row((Cell("since ", "muted"), Cell(baseline.name, "strong"), Cell(rebooted, "muted")))
    for line in comparison.broke[:MOST_CHANGES]:
        yield Row((Cell("  ✗ ", "fault"), Cell(line, "fault")))
    if (left := len(comparison.broke) - MOST_CHANGES) > 0:
        yield Row((Cell(f"    {left} more pairs broke; they have a star in the matrix of pairs", "muted"),))
    told = comparison.lines()
    for text, group in told[:MOST_CHANGES]:
        yield from _told(Cell("  ~ ", "changed"), text, "text", width, GroupTarget(group))
    if (left := len(told) - MOST_CHANGES) > 0:
        yield Row((Cell(f"    {left} more differences", "muted"),))
    if not comparison.changed and not comparison.broke:
        yield Row((Cell("  nothing has changed", "ok"),))
    if comparison.stale and baseline.results is not None:
        yield Row((Cell("  * ", "warn"), Cell("its results are stale: they were measured before that", "muted")))
    yield EMPTY


def _host(machine: Machine, width: int) -> Row:
    facts = machine.host
    parts = [facts[name].value for name in ("dmi.product", "cpu.vendor") if facts[name].known]
    guest = facts.value("vm.hypervisor")
    if guest is not None:
        parts.append("virtual machine" if guest else "bare metal")
    units = facts["iommu.units"]
    kinds = {str(gpu.facts.value("iommu.type")) for gpu in machine.gpus if gpu.facts["iommu.type"].known}
    parts.append(f"IOMMU {'/'.join(sorted(kinds)) if kinds else 'off' if units.value == () else '?'}")
    if facts.value("snp.host"):
        parts.append("SNP host")
    if facts.value("snp.guest"):
        parts.append("SNP guest")
    driver = facts["driver.version"]
    end = (Cell(f"driver {driver.text}", "muted"),) if driver.known and width >= _WIDE else ()
    return Row((Cell("host  ", "strong"), Cell(" · ".join(map(str, parts)))), end, GroupTarget("host"))


def _nodes(machine: Machine) -> dict[str, _Node]:
    roots: dict[str, _Node] = {}
    devices: list[Gpu | Nic] = [*machine.gpus, *machine.nics]
    for gpu in devices:
        node = roots.setdefault(gpu.root, _Node(gpu.root))
        for bdf in reversed(gpu.above):
            node = node.children.setdefault(bdf, _Node(bdf))
        node.gpus.append(gpu)
    return roots


def _root_rows(root: _Node, machine: Machine, counters: dict[int, Counters], width: int) -> Iterator[Row]:
    """A root with one port below it is one row: most machines have one root port a GPU."""
    head: list[Cell] = [Cell(root.name or "PCIe path not shown here", "strong" if root.name else "muted")]
    target: object = None
    node = root
    if len(root.children) == 1 and not root.gpus:
        node = next(iter(root.children.values()))
        port = machine.ports[node.name]
        head += [Cell("  "), *_port_cells(port)]
        target = GroupTarget(f"port.{port.bdf}")
    yield Row(tuple(head), target=target)
    yield from _below(node, machine, counters, width, "")


def _below(node: _Node, machine: Machine, counters: dict[int, Counters], width: int, indent: str) -> Iterator[Row]:
    inside: Sequence[_Node | Gpu | Nic] = [*node.children.values(), *node.gpus]
    for number, one in enumerate(inside):
        last = number == len(inside) - 1
        lead = Cell(f"{indent}{'└─' if last else '├─'} ", "rule")
        if isinstance(one, _Node):
            port = machine.ports[one.name]
            yield Row((lead, *_port_cells(port)), target=GroupTarget(f"port.{port.bdf}"))
            yield from _below(one, machine, counters, width, indent + ("   " if last else "│  "))
        elif isinstance(one, Nic):
            yield _nic_row(lead, one)
        else:
            yield _gpu_row(lead, one, counters.get(one.index), width)


def _nic_row(lead: Cell, nic: Nic) -> Row:
    facts = nic.facts
    cells = [lead, Cell(nic.label, "strong"), Cell(f" {nic.name}"), Cell(f"  {nic.bdf}", "muted")]
    speed, lanes = facts["link.speed"], facts["link.width"]
    if speed.known and lanes.known:
        cells.append(Cell(f"  {speed.text.split(' ')[0]} {lanes.text}", "value"))
    return Row(tuple(cells), target=GroupTarget(f"nic.{nic.bdf}"))


def _port_cells(port: Port) -> Iterator[Cell]:
    facts = port.facts
    yield Cell(port.bdf, "name")
    yield Cell(f" {port.kind}", "muted")
    speed, lanes = facts["link.speed.max"], facts["link.width"]
    if speed.known or lanes.known:
        yield Cell(f"  {speed.text.split(' ')[0]} {lanes.text if lanes.known else 'x?'}", "value")
    control = facts["acs.control"]
    if control.concern is Concern.NOTE:
        yield Cell(f"  ACS {control.text.partition('(')[2].rstrip(')')}", "warn")
    elif not control.known:
        yield Cell("  ACS ?", "muted")
    else:
        yield Cell("  no redirect", "muted")
    if facts["aer.nonfatal"].value or facts["aer.fatal"].value:
        yield Cell("  AER errors", "fault")


def _gpu_row(lead: Cell, gpu: Gpu, counters: Counters | None, width: int) -> Row:
    facts = gpu.facts
    name = gpu.name.removeprefix("NVIDIA ").removeprefix("GeForce ")
    wide = width >= _WIDE
    cells = [lead, Cell(gpu.label, "strong"), Cell(f" {name if wide else cut(name, 20)}")]
    if wide:
        cells.append(Cell(f"  {gpu.bdf}", "muted"))
    if told := number_in_cuda(gpu):
        cells.append(Cell(f"  {told}", "warn"))
    if not gpu.links_known:
        cells.append(Cell("  NV ?", "muted"))
    elif gpu.links:
        up = gpu.active_links
        whole = up == len(gpu.links)
        cells.append(Cell(f"  NV {up}/{len(gpu.links)}" if not whole else f"  NV{up}", "ok" if whole else "fault"))
    lanes, most = facts.value("pcie.width"), facts.value("pcie.width.max")
    if lanes and most and lanes < most:
        cells.append(Cell(f"  x{lanes} of x{most}", "fault"))
    if facts.value("mig.mode"):
        cells.append(Cell("  MIG", "warn"))
    return Row(tuple(cells), tuple(counter_cells(counters, wide=wide)), GroupTarget(f"gpu.{gpu.uuid or gpu.bdf}"))


def counter_cells(counters: Counters | None, *, wide: bool) -> Iterator[Cell]:
    """Live counters, right-aligned: busy, temperature, power, memory, and the rate from and to the GPU."""
    if counters is None:
        return
    busy, hot = counters.busy, counters.temperature
    yield Cell(_number(busy, 4, "%"), "number" if busy and busy >= _BUSY else "muted")
    yield Cell(_number(hot, 4, "°"), "warn" if hot is not None and hot >= _HOT else "muted")
    if wide:
        yield Cell(_number(None if counters.power is None else round(counters.power), 5, "W"), "muted")
    if counters.used is not None and counters.total:
        yield Cell(f" {counters.used / 2**30:5.1f}/{counters.total / 2**30:.0f}G", "muted")
    # The link that matters: NVLink where there is any.
    linked = counters.nvlink_out is not None
    out, into = (counters.nvlink_out, counters.nvlink_in) if linked else (counters.pcie_out, counters.pcie_in)
    if wide:
        yield Cell("  NVLink" if linked else "  PCIe", "muted")
    yield Cell(_rate(out, "↑"), "number" if out and out >= 1 else "muted")
    yield Cell(_rate(into, "↓"), "number" if into and into >= 1 else "muted")


def _number(value: int | None, width: int, unit: str) -> str:
    return f"{'?' if value is None else value!s:>{width - 1}}{unit}".rjust(width + 1)


def _rate(value: float | None, arrow: str) -> str:
    return f" {arrow}{'?' if value is None else f'{value:.1f}':>5}"


def _choices(machine: Machine, width: int) -> Iterator[Row]:
    for text, which in choice_groups(machine):
        style = "muted" if text.startswith("?") else "text"
        lead = f"NCCL  {which}  "
        lines = textwrap.wrap(text, max(20, width - size_of(lead))) or [""]
        yield Row((Cell("NCCL  ", "strong"), Cell(f"{which}  ", "name"), Cell(lines[0], style)))
        yield from (Row((Cell(" " * size_of(lead)), Cell(line, style))) for line in lines[1:])
    for name in ("vllm.all_reduce", "llama.p2p"):
        fact = machine.host[name]
        if fact.known:
            yield Row((Cell(f"{fact.label}  ", "muted"), Cell(fact.text, "muted")), target=GroupTarget("host"))


def _unread_ports(machine: Machine) -> str:
    ports = sum(bool(port.facts["acs.control"].remedy) for port in machine.ports.values())
    log = bool(machine.host["log.xid"].remedy)
    parts = [f"ACS of {ports} ports"] if ports else []
    parts += ["the kernel's log"] if log else []
    return f"{' and '.join(parts) or 'something'} unread: needs root"
