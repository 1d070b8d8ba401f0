"""`hardware`: which GPUs, links and ports there are, what is wrong with them, and what has changed."""

from __future__ import annotations

import sys
import time
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from ladder_tui.cli.output import print_json, print_lines, say
from ladder_tui.cli.parser import UsageError, add_json, add_tui

if TYPE_CHECKING:
    from ladder_backends.model.baseline import Comparison
    from ladder_backends.model.topology import Machine
    from ladder_backends.session.hardware_ports import HardwarePorts


def configure(parser: ArgumentParser) -> None:
    """Arguments of `hardware`."""
    parser.add_argument("--facts", action="store_true", help="show every fact, with its source")
    parser.add_argument(
        "--simulate",
        metavar="NAME|FILE",
        help="a simulated machine instead of this one; `list` names those shipped",
    )
    parser.add_argument(
        "--baseline",
        nargs=2,
        metavar=("save|compare", "NAME"),
        help="keep what is so now, or say what has changed; NAME may be a file",
    )
    parser.add_argument(
        "--paste",
        metavar="FILE",
        help="output of setpci, lspci -vvv or dmesg that root has given; - reads standard input",
    )
    parser.add_argument(
        "--record", metavar="FILE.toml", help="write down what this machine answers; --simulate FILE.toml reads it"
    )
    parser.add_argument("--markdown", action="store_true", help="print the report for a ticket")
    parser.add_argument("--report", metavar="FILE", help="write that report too: FILE.md, FILE.json, or text")
    add_json(parser)
    add_tui(parser)
    parser.epilog = (
        "Nothing is tested and no setting is changed; ladder-tui p2p tests the pairs. Exit codes: 0 nothing is"
        " wrong, 1 something is, 2 no GPU can be asked."
    )


def run(arguments: Namespace) -> int:
    """Read and print."""
    from ladder_backends.simulator.machine import names

    if arguments.simulate == "list":
        print_lines(names())
        return 0
    verb, name = arguments.baseline or ("", "")
    if verb not in ("", "save", "compare"):
        raise UsageError(
            "hardware", f"--baseline takes save or compare, not {verb}", "see ladder-tui hardware --help"
        )
    if arguments.record:
        return _record(arguments)
    if arguments.tui:
        return _show(arguments)
    from ladder_backends.hardware import baseline
    from ladder_backends.hardware.forms import machine_json, machine_lines
    from ladder_backends.session.machine_report import MachineReport, markdown, write

    kept = baseline.load(name) if verb == "compare" else None
    machine = read(arguments.simulate, arguments.paste)
    comparison = baseline.compare(kept, machine) if kept is not None else None
    if arguments.json:
        print_json(machine_json(machine, comparison))
    elif arguments.markdown:
        print_lines(markdown(MachineReport(machine, comparison)).splitlines())
    else:
        print_lines(machine_lines(machine, comparison, everything=arguments.facts))
    if arguments.report:
        say(f"report written to {write(MachineReport(machine, comparison), arguments.report)}")
    if verb == "save":
        say(f"kept as {baseline.save(name, machine)}")
    return exit_code(machine, comparison)


def _record(arguments: Namespace) -> int:
    """Write a machine down, as it answers."""
    from ladder_backends.errors import LadderError
    from ladder_backends.paths import typed_path
    from ladder_backends.session.hardware_ports import hardware_ports, record_machine

    machine, text = record_machine(hardware_ports(arguments.simulate))
    try:
        typed_path(arguments.record).write_text(text, encoding="utf-8")
    except OSError as error:
        raise LadderError(
            f"{arguments.record} cannot be written", error.strerror or "", "name another file"
        ) from None
    say(f"written to {arguments.record}: look through it before it is given away")
    return exit_code(machine)


def read(
    simulate: str | None, paste: str | None = None, *, command: str = "hardware", ports: HardwarePorts | None = None
) -> Machine:
    """Read this machine, or a simulated one, with what a person has pasted.

    Args:
        simulate: Name or file of a simulated machine.
        paste: File with output that root has given; `-` is standard input.
        command: Which command was given it.
        ports: Where it is read, if it will be read there again: counters are compared.

    Raises:
        LadderError: There is no such simulated machine, or no such file.
    """
    from ladder_backends.hardware.acs import pasted
    from ladder_backends.hardware.kernel_log import looks_like_log
    from ladder_backends.hardware.pci import NOTHING_SUPPLIED, Supplied
    from ladder_backends.session.hardware_ports import hardware_ports

    ports = ports or hardware_ports(simulate)
    supplied, log = NOTHING_SUPPLIED, None
    if paste is not None:
        text = _pasted(paste)
        supplied = Supplied(pasted(text), time.time())
        log = text if looks_like_log(text) else None
        if not supplied.controls and log is None:
            raise UsageError(
                command, "nothing of use is in what was pasted", "it wants output of setpci, lspci or dmesg"
            )
    return ports.read(supplied, log)


def exit_code(machine: Machine, comparison: Comparison | None = None) -> int:
    """0 where nothing is wrong, 1 where something is, 2 where no GPU can be asked."""
    from ladder_backends.model.fact import Concern

    if machine.unread or not machine.gpus:
        return 2
    wrong = any(fact.concern is Concern.WRONG for _, fact in machine.concerns())
    return 1 if wrong or (comparison is not None and comparison.broke) else 0


def _pasted(where: str) -> str:
    from ladder_backends.hardware.supplied import MOST, read_supplied

    return sys.stdin.read(MOST) if where == "-" else read_supplied(where)


def _show(arguments: Namespace) -> int:
    from ladder_tui.cli.screen import show
    from ladder_tui.opening import Opening

    return show(Opening(hardware=True, simulate=arguments.simulate or ""), theme=arguments.theme)
