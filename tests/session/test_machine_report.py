"""One report of a machine and its pairs: text, Markdown, JSON; what broke stands beside what changed."""

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ladder_backends.errors import LadderError
from ladder_backends.model.fact import Fact, Facts
from ladder_backends.model.topology import Machine
from ladder_backends.session.ladder import Ladder
from ladder_backends.session.machine_report import MachineReport, markdown, text, write


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture
async def ladder() -> AsyncIterator[Ladder]:
    ladder = Ladder()
    yield ladder
    await ladder.close()


async def test_what_broke_stands_beside_what_changed(ladder: Ladder, tmp_path: Path) -> None:
    await ladder.hardware.open("story-before")
    await ladder.pairs.start()
    await ladder.hardware.save("before")
    await ladder.hardware.open("story")
    await ladder.pairs.start()
    await ladder.hardware.compare("before")
    assert await ladder.hardware.report(str(tmp_path / "a.txt")) == str(tmp_path / "a.txt")
    told = (tmp_path / "a.txt").read_text()
    assert told.startswith("SIMULATED: ")
    beside = next(line for line in told.splitlines() if "GPU0 → GPU1: right → dropped" in line)
    assert "+kvm_amd.sev_snp=1" in beside
    assert "export NCCL_P2P_DISABLE=1" in told
    assert "GPU0 ·    NODE" in told
    assert "proven right 0 of 12" in told
    assert "[/proc/cmdline]" in told
    assert "setpci" in told
    # Told once, not with the verdict too.
    assert "Changed:" not in told
    assert told.count("+kvm_amd.sev_snp=1 −iommu=pt") <= 1
    made = await ladder.hardware.report()
    assert made.startswith("## 4× RTX PRO 6000")
    assert "| broke | changed on the host |" in made
    assert made.count("```") % 2 == 0
    await ladder.hardware.report(str(tmp_path / "a.JSON"))
    document = json.loads((tmp_path / "a.JSON").read_text())
    assert document["format"] == 1
    assert document["simulated"]
    assert document["machine"]["gpus"][0]["bdf"] == "0000:41:00.0"
    assert document["machine"]["broke"]
    assert document["p2p"]["verdict"]["now"]["command"] == "export NCCL_P2P_DISABLE=1"


async def test_old_results_are_called_old(ladder: Ladder, tmp_path: Path) -> None:
    await ladder.hardware.open("healthy-2x-h200")
    await ladder.pairs.start()
    assert "OLD" not in await ladder.hardware.report()
    ladder.state.pairs.why_stale = "GPU0 MIG: off → on"
    assert "OLD: the pairs were tested before the machine changed: GPU0 MIG" in await ladder.hardware.report()


async def test_a_machine_that_cannot_be_asked_has_a_report_too(ladder: Ladder) -> None:
    await ladder.hardware.open("no-driver")
    told = await ladder.hardware.report()
    assert "GPUs cannot be asked" in told
    assert "modprobe" in told


async def test_nothing_was_read(ladder: Ladder) -> None:
    with pytest.raises(LadderError, match="nothing to report"):
        await ladder.hardware.report()


def hostile() -> Machine:
    ugly = "```\n# gone | <script> [a](b) \x1b[2J`x`"
    facts = Facts([Fact("os.kernel", "kernel", ugly, source="/proc/sys/kernel/osrelease")])
    return Machine(ugly, facts, unread=ugly, remedy=ugly, commands=(ugly,), simulated=ugly)


def test_hostile_text_breaks_no_block_and_no_table() -> None:
    made = markdown(MachineReport(hostile(), stale="| a"))
    assert "\x1b" not in made
    fences = [line for line in made.splitlines() if line.startswith("```")]
    assert len(fences) % 2 == 0
    assert all(line in ("```", "```text") for line in fences)
    row = next(line for line in made.splitlines() if line.startswith("| kernel"))
    assert row.replace("\\|", "").count("|") == 4
    assert r"\<script\>" in made.splitlines()[0]
    assert "\x1b" not in text(MachineReport(hostile()))


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(LadderError, match="cannot be written"):
        write(MachineReport(replace(hostile(), title="x")), str(tmp_path / "no" / "where.md"))


def test_forms_by_name(tmp_path: Path) -> None:
    report: Any = MachineReport(Machine("1× H200", Facts()))
    write(report, str(tmp_path / "a.md"))
    write(report, str(tmp_path / "a.json"))
    write(report, str(tmp_path / "a"))
    assert (tmp_path / "a.md").read_text().startswith("## ")
    assert json.loads((tmp_path / "a.json").read_text())["p2p"] is None
    assert (tmp_path / "a").read_text().startswith("1× H200")
