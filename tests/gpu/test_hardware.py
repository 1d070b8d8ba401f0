"""The machine as it is read, beside what nvidia-smi says of it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ladder_backends.hardware import baseline
from ladder_backends.hardware.live import LiveReader
from ladder_backends.hardware.pynvml_calls import PynvmlCalls
from ladder_backends.model.topology import Machine
from ladder_backends.session.hardware_ports import hardware_ports

TOPOLOGY = re.compile(r"\x1b\[[0-9;]*m")


def smi(*words: str) -> str:
    done = subprocess.run(["nvidia-smi", *words], capture_output=True, text=True, timeout=60, check=True)
    return TOPOLOGY.sub("", done.stdout)


def query(fields: str) -> list[list[str]]:
    lines = smi(f"--query-gpu={fields}", "--format=csv,noheader,nounits").splitlines()
    return [[cell.strip() for cell in line.split(",")] for line in lines]


def matrix(text: str) -> dict[tuple[int, int], str]:
    """Cells between GPUs of `nvidia-smi topo`."""
    rows = [line.split() for line in text.splitlines() if re.match(r"^\s*GPU\d+\s", line)]
    heads = next(line.split() for line in text.splitlines() if "GPU0" in line)
    count = sum(head.startswith("GPU") and head[3:].isdecimal() for head in heads)
    body = [row for row in rows if not all(re.fullmatch(r"GPU\d+", cell) for cell in row[: count + 1])]
    if count == 1:
        return {}
    return {(int(row[0][3:]), number): row[number + 1] for row in body for number in range(count)}


@pytest.fixture(scope="module")
def machine() -> Machine:
    began = time.monotonic()
    read = hardware_ports().read()
    print(f"\nread in {time.monotonic() - began:.3f} s: {read.title}")
    for group, _, facts in read.groups():
        unknown = [f"{fact.name} ({fact.why})" for fact in facts.values() if not fact.known]
        print(f"  {group}: {len(facts)} facts, unknown: {', '.join(unknown) or 'none'}")
    return read


def test_who_the_gpus_are(machine: Machine) -> None:
    told = query("index,name,uuid,pci.bus_id,memory.total,driver_version")
    assert machine.unread == ""
    assert len(machine.gpus) == len(told)
    for gpu, (index, name, uuid, bus, memory, driver) in zip(machine.gpus, told, strict=True):
        assert (str(gpu.index), gpu.name, gpu.uuid) == (index, name, uuid)
        assert gpu.bdf == bus.lower()[4:]
        assert abs(gpu.facts.value("memory") / 2**20 - int(memory)) < 2
        assert machine.host.value("driver.version") == driver


def test_links_and_modes(machine: Machine) -> None:
    told = query(
        "pcie.link.gen.max,pcie.link.width.current,ecc.mode.current,mig.mode.current,persistence_mode,vbios_version"
    )
    for gpu, (generation, width, ecc, mig, persistence, vbios) in zip(machine.gpus, told, strict=True):
        facts = gpu.facts
        assert str(facts.value("pcie.generation.max")) == generation
        assert str(facts.value("pcie.width")) == width
        for name, word in (("ecc", ecc), ("mig.mode", mig), ("persistence", persistence)):
            if word in ("Enabled", "Disabled"):
                assert facts.value(name) is (word == "Enabled"), name
        assert facts.value("vbios") == vbios


def test_distances_are_those_of_nvidia_smi(machine: Machine) -> None:
    told = matrix(smi("topo", "-m"))
    if not told:
        pytest.skip("one GPU has no distances")
    print(f"\n{smi('topo', '-m')}")
    for pair in machine.pairs:
        assert pair.distance == told[pair.a, pair.b], pair
        print(f"  {pair.a}-{pair.b}: {pair.distance}; NCCL takes {pair.facts['nccl'].text}")


@pytest.mark.parametrize(("letter", "claim"), [("r", "read"), ("w", "write"), ("n", "nvlink"), ("a", "atomics")])
def test_claims_are_those_of_nvidia_smi(machine: Machine, letter: str, claim: str) -> None:
    told = matrix(smi("topo", "-p2p", letter))
    if not told:
        pytest.skip("one GPU claims nothing")
    for pair in machine.pairs:
        assert pair.facts.value(f"claim.{claim}") == told[pair.a, pair.b]


def test_nvlinks_that_are_up(machine: Machine) -> None:
    for gpu in machine.gpus:
        for link in gpu.links:
            print(f"\n{gpu.label} link {link.number}: {[fact.text for fact in link.facts.values()]}")
        if gpu.active_links:
            up = smi("nvlink", "-s", "-i", str(gpu.index))
            assert gpu.active_links == len(re.findall(r"Link \d+: [0-9.]+ GB/s", up))


def test_nothing_of_the_baseline_changes_between_two_readings(
    machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    path = baseline.save("now", machine)
    again = hardware_ports().read()
    compared = baseline.compare(baseline.load("now"), again)
    assert [one.text for one in compared.changed] == []
    assert not compared.stale
    print(f"\n{path.stat().st_size:,} bytes")


def test_counters_are_live(machine: Machine) -> None:
    reader = LiveReader(PynvmlCalls())
    try:
        began = time.monotonic()
        first, xids = reader.sample(len(machine.gpus))
        print(f"\na sample took {time.monotonic() - began:.3f} s; Xids {xids}")
        time.sleep(1)
        second, _ = reader.sample(len(machine.gpus))
        for gpu, counters in second.items():
            print(f"  GPU{gpu}: {counters}")
            assert counters.busy is not None
            assert counters.temperature is not None
            assert 0 < counters.temperature < 110
            assert counters.used is not None
            assert counters.total == machine.gpus[gpu].facts.value("memory")
            assert counters.lanes == machine.gpus[gpu].facts.value("pcie.width")
        assert first.keys() == second.keys()
    finally:
        reader.close()


LOAD = """
import sys, time
import cupy
size = 64 << 20
host = cupy.cuda.alloc_pinned_memory(size)
device = cupy.cuda.runtime.malloc(size)
print("ready", flush=True)
until = time.monotonic() + 6
while time.monotonic() < until:
    cupy.cuda.runtime.memcpy(device, host.ptr, size, 1)
"""


def test_the_link_under_load(machine: Machine) -> None:
    """An idle link may stand at a lower generation; while data goes through it, it is what it can be."""
    pytest.importorskip("cupy")
    work = subprocess.Popen([sys.executable, "-c", LOAD], stdout=subprocess.PIPE, text=True)
    reader = LiveReader(PynvmlCalls())
    try:
        assert work.stdout is not None
        assert work.stdout.readline().strip() == "ready"
        time.sleep(1)
        samples = [reader.sample(len(machine.gpus))[0] for _ in range(5)]
        rates = [each[0].pcie_in for each in samples]
        print(f"\nPCIe to GPU0 under load, GB/s: {rates}; generation {samples[-1][0].generation}")
        told = [rate for rate in rates if rate is not None]
        # A guest may not be told of traffic at all.
        assert not told or max(told) > 1.0
        best, most = samples[-1][0].best_generation, machine.gpus[0].facts.value("pcie.generation.max")
        assert best == most
    finally:
        reader.close()
        work.terminate()
        work.communicate(timeout=30)


def test_the_command(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "ladder_tui", "hardware", "--json"], capture_output=True, text=True, timeout=120
    )
    assert done.returncode in (0, 1), done.stderr
    document = json.loads(done.stdout)
    assert document["gpus"]
    wrong = [concern for concern in document["concerns"] if concern["kind"] == "wrong"]
    print(f"\ncode {done.returncode}, {document['took']:.3f} s; wrong: {wrong}")
    assert done.returncode == (1 if wrong else 0)
    text = subprocess.run(
        [sys.executable, "-m", "ladder_tui", "hardware", "--facts"], capture_output=True, text=True, timeout=120
    )
    print(text.stdout)


def test_what_the_driver_does_not_tell_is_unknown_and_never_off(machine: Machine) -> None:
    for _, _, facts in machine.groups():
        for fact in facts.values():
            assert fact.known or fact.why
            assert fact.source


def test_the_machine_can_be_written_down_and_read_elsewhere(machine: Machine, tmp_path: Path) -> None:
    """With OUT set to a folder, the record stays there."""
    path = Path(os.environ.get("OUT") or tmp_path) / "recorded-machine.toml"
    done = subprocess.run(
        [sys.executable, "-m", "ladder_tui", "hardware", "--record", str(path)],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode in (0, 1), done.stderr
    again = hardware_ports(str(path)).read()
    assert dict(baseline.fingerprint(again)) == dict(baseline.fingerprint(machine))
    print(f"\n{path.stat().st_size:,} bytes: {path}")
