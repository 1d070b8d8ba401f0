"""Write down a machine with GPUs and what its pairs came to: `python -m ladder_demos.record_machine OUT [NAME]`.

OUT gets NAME.toml, which `hardware --simulate` and `p2p --simulate` read as the machine that it was, with the rates
that were measured; NAME.p2p.json, the sweep itself; and NAME.hardware.json, what was read. Nothing of the machine
is changed; GPUs in use are tested only with `--yes`. `--arms quick` keeps it short.
"""

from __future__ import annotations

import argparse
import asyncio
import datetime
import json
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ladder_backends.errors import LadderError
from ladder_backends.hardware.forms import machine_json
from ladder_backends.model.p2p import PairResult, Stage, Sweep
from ladder_backends.p2p.arms import Depth, expected_seconds
from ladder_backends.p2p.host_facts import host_facts
from ladder_backends.p2p.report_json import sweep_json
from ladder_backends.p2p.speed import staged_rate
from ladder_backends.p2p.verdict import verdicts
from ladder_backends.session.hardware_ports import hardware_ports, record_machine
from ladder_backends.session.p2p_sweep import PairSweep
from ladder_backends.session.p2p_wish import Wish

_BUS = re.compile(r'^bus = "(.+)"$')


def main() -> int:
    """Record this machine; 0 where all was written, 2 where nothing could be tested."""
    parser = argparse.ArgumentParser(prog="python -m ladder_demos.record_machine", description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("name", nargs="?", default="")
    parser.add_argument("--arms", choices=("quick", "deep"), default="deep")
    parser.add_argument("--yes", action="store_true", help="test GPUs that are in use, too")
    arguments = parser.parse_args()
    try:
        return _record(arguments.out, arguments.name, Depth(arguments.arms), busy_too=arguments.yes)
    except LadderError as error:
        sys.stderr.write(error.line() + "\n")
        return 2


def _record(out: Path, name: str, depth: Depth, *, busy_too: bool) -> int:
    machine, text = record_machine(hardware_ports())
    count = len(machine.gpus)
    _say(f"{machine.title}: {count} GPUs, about {expected_seconds(depth, max(1, count)):.0f} s")
    sweep = PairSweep()
    asyncio.run(sweep.sweep(Wish(depth=depth, busy_too=busy_too)))
    state = sweep.state
    found = verdicts(state, host_facts(machine))
    _say(f"{state.stage} after {state.took:.1f} s: {found[0].sentence}")
    if state.stage is not Stage.DONE:
        return 2
    name = name or re.sub(r"[^a-z0-9]+", "-", f"recorded {machine.title}".lower().replace("×", "x")).strip("-")
    out.mkdir(parents=True, exist_ok=True)
    written = {
        f"{name}.toml": machine_with_rates(text, state),
        f"{name}.p2p.json": _lines(sweep_json(state, found)),
        f"{name}.hardware.json": _lines(machine_json(machine)),
    }
    for file, content in written.items():
        (out / file).write_text(content, encoding="utf-8")
        _say(f"{out / file}: {len(content):,} characters")
    return 0


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def machine_with_rates(text: str, sweep: Sweep) -> str:
    """The file of a machine, with what its links, claims and copies through the host were measured to be."""
    day = datetime.datetime.fromtimestamp(sweep.began, datetime.UTC).date().isoformat()
    versions = ", ".join(f"{name} {version}" for name, version in sorted(sweep.versions.items()))
    about = f"A real machine, read and swept on {day} ({versions})."
    lines = []
    rates = {gpu.bus: _host_rate(sweep, gpu.index) for gpu in sweep.gpus}
    for line in text.rstrip("\n").split("\n"):
        lines.append(f"about = {json.dumps(about)}" if line.startswith("about = ") else line)
        match = _BUS.match(line)
        if match and (rate := rates.get(match[1])):
            lines.append(f"host_GBps = {rate!r}")
    staged = [rate for pair in sweep.pairs.values() if (rate := staged_rate(sweep, pair.source, pair.target))]
    if staged:
        lines += ["", "[staged]", f"GBps = {min(staged)!r}"]
    for _, pair in sorted(sweep.pairs.items()):
        lines += ["", *_link(pair)]
    return "\n".join(lines) + "\n"


def _link(pair: PairResult) -> list[str]:
    nvml = ", ".join(f"{key} = {json.dumps(word)}" for key, word in sorted(pair.claim.nvml.items()))
    lines = ["[[link]]", f"from = {pair.source}", f"to = {pair.target}"]
    lines += [f"claimed = {'true' if pair.claim.cuda else 'false'}", f"nvml = {{{nvml}}}"]
    if pair.bandwidth and pair.latency:
        # What was measured holds the latency too; the model of a link adds it again.
        size = float(str(pair.arms["speed"].evidence["bytes"]))
        rate = size / (size / (pair.bandwidth * 1e9) - pair.latency * 1e-6) / 1e9
        lines += [f"GBps = {round(rate, 2)!r}", f"latency_us = {pair.latency!r}"]
    return lines


def _host_rate(sweep: Sweep, gpu: int) -> float | None:
    found = sweep.controls.get(("host", gpu, gpu))
    rate = found.evidence.get("to_gpu_GBps") if found is not None else None
    return float(rate) if isinstance(rate, int | float) else None


def _lines(document: Mapping[str, Any]) -> str:
    return json.dumps(document, indent=1, ensure_ascii=False, sort_keys=False) + "\n"


if __name__ == "__main__":
    sys.exit(main())
