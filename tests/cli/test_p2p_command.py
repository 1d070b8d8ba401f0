"""`ladder-tui p2p` as a node check runs it: exit codes, JSON, text, baselines, and no GPU at all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ladder_backends.simulator.machine import names


@pytest.fixture
def p2p(ladder_tui: Any, tmp_path: Path) -> Any:
    def run(*words: str | Path) -> Any:
        return ladder_tui("p2p", *words, environment={"XDG_STATE_HOME": str(tmp_path / "state")})

    return run


@pytest.mark.parametrize(
    ("name", "code", "word"),
    [
        ("healthy-2x-h200", 0, "All 2 pairs are proven right"),
        ("one-gpu", 0, "cannot be tested with one"),
        ("story", 1, "export NCCL_P2P_DISABLE=1"),
        ("slow-pcie", 1, "slower than copies through the host"),
    ],
)
def test_exit_codes(p2p: Any, name: str, code: int, word: str) -> None:
    done = p2p("--simulate", name)
    assert done.code == code, done.err
    assert word in " ".join(done.out.split())
    assert "SIMULATED" in done.out.splitlines()[0]


def test_the_last_lines_say_what_to_type(p2p: Any) -> None:
    lines = p2p("--simulate", "story").out.splitlines()
    assert max(map(len, lines)) <= 110
    assert any(line.strip() == "Now:    export NCCL_P2P_DISABLE=1" for line in lines[-14:])


def test_json_has_the_shape_of_the_contract(p2p: Any) -> None:
    done = p2p("--simulate", "mirror-vm", "--json")
    document = done.json
    assert done.code == 1
    assert document["format"] == 1
    assert document["simulated"]
    pair = document["pairs"][0]
    assert {"from", "to", "claimed", "arms", "bandwidth_GBps", "latency_us", "class"} <= set(pair)
    assert pair["class"] == "mirrored"
    assert {"arm", "result", "evidence"} == set(pair["arms"][0])
    verdict = document["verdict"]
    assert {"id", "sentence", "confidence", "facts", "now", "later", "changed"} <= set(verdict)
    assert {"command", "price", "who"} == set(verdict["now"])
    assert all({"text", "source"} == set(fact) for fact in verdict["facts"])


def test_without_a_gpu_it_is_inconclusive_and_says_what_to_do(p2p: Any) -> None:
    done = p2p("--json")
    assert done.code == 2
    assert done.json["reason"]
    assert done.json["verdict"]["now"]["command"]
    assert done.json["verdict"]["sentence"].startswith("Nothing was tested")


def test_what_broke_stands_beside_what_changed(p2p: Any) -> None:
    kept = p2p("--simulate", "story-before", "--baseline", "save", "before")
    assert kept.code == 0
    assert "baseline kept in" in kept.err
    done = p2p("--simulate", "story", "--baseline", "compare", "before", "--json")
    assert done.code == 1
    baseline = done.json["baseline"]
    assert len(baseline["broke"]) == 12
    assert baseline["broke"][0] == "GPU0 → GPU1: right → dropped"
    assert any("+kvm_amd.sev_snp=1" in line for line in done.json["verdict"]["changed"])
    text = p2p("--simulate", "story", "--baseline", "compare", "before").out
    assert text.index('Broke since "before"') < text.index("Changed: ")
    again = p2p("--simulate", "story-before", "--baseline", "compare", "before")
    assert "nothing broke" in again.out


def test_some_gpus_alone(p2p: Any) -> None:
    done = p2p("--simulate", "one-direction", "--gpus", "0,3", "--json")
    assert done.code == 0
    assert [gpu["index"] for gpu in done.json["gpus"]] == [0, 3]


def test_machines_are_listed_one_a_line(p2p: Any) -> None:
    assert p2p("--simulate", "list").out.split() == list(names())


def test_gpus_in_use_need_a_yes(p2p: Any, tmp_path: Path) -> None:
    path = tmp_path / "busy.toml"
    path.write_text('[[gpu]]\nbusy = "python3 (4242)"\n[[gpu]]\n[[link]]\n')
    done = p2p("--simulate", path)
    assert done.code == 2
    assert "GPU0 (python3 (4242))" in done.err
    assert p2p("--simulate", path, "--yes").code == 0


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--simulate", "nowhere"), "there is no simulated machine nowhere"),
        (("--gpus", "one"), "--gpus takes numbers"),
        (("--simulate", "one-gpu", "--gpus", "4"), "there is no GPU4"),
        (("--baseline", "keep", "x"), "--baseline takes save or compare"),
        (("--simulate", "story", "--baseline", "compare", "never"), "there is no baseline never"),
    ],
)
def test_mistakes_are_one_line(p2p: Any, words: tuple[str, ...], why: str) -> None:
    done = p2p(*words)
    assert done.code == 2
    assert why in done.complaint


def test_the_report_goes_into_a_ticket(p2p: Any) -> None:
    lines = p2p("--simulate", "mirror-vm", "--markdown").out.splitlines()
    assert lines[0].startswith("## 2× GeForce RTX 3090: P2P writes go to a private mirror")
    assert lines[-1] == "```"


def test_what_root_printed_is_a_fact_of_the_verdict(p2p: Any, tmp_path: Path) -> None:
    pasted = tmp_path / "acs.txt"
    pasted.write_text("40:01.1 001d\n41:01.1 001d\n")
    report = tmp_path / "report.json"
    done = p2p("--simulate", "iommu-faults", "--paste", pasted, "--report", report)
    assert done.code == 1
    assert "unread" not in done.out.partition("Evidence")[2].partition("Not tested")[0]
    assert "report written to" in done.err
    document = json.loads(report.read_text())
    assert document["p2p"]["verdict"]["id"]
    assert document["machine"]["gpus"]


def test_counters_that_rise_while_pairs_are_tested_are_told(p2p: Any, tmp_path: Path) -> None:
    gpus = "[[gpu]]\n[[gpu]]\n[gpu.rising]\n181 = 3\n"
    path = tmp_path / "machine.toml"
    path.write_text(f'title = "rising"\ndriver = "570.133.20"\n{gpus}')
    done = p2p("--simulate", path)
    assert done.code == 1
    assert "errors were counted meanwhile" in done.out
