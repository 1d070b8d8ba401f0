"""The demos on hardware: each runs where it is told to, and what is recorded of it opens without a GPU."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from ladder_demos.catalogue import DEMOS, Demo, find_demo
from ladder_demos.live import missing_here, python_with

CHECKED = [demo for demo in DEMOS if demo.live is not None and demo.live.rung == "sanitizer"]
FAULTS = {"illegal-address": "illegal_address.cu", "assert-live": "device_assert.cu"}
RECORDED = ("vector-add", "leak", "step", "clusters")


def ladder_tui(*words: object, timeout: float = 150) -> tuple[int, Any, str]:
    """Run the command: exit code, JSON, standard error."""
    command = [sys.executable, "-m", "ladder_tui", *map(str, words), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, stdin=subprocess.DEVNULL)
    return done.returncode, json.loads(done.stdout) if done.stdout else None, done.stderr


def test_nothing_is_missing_for_any_program_here() -> None:
    for demo in DEMOS:
        if demo.live is not None and not demo.live.modules:
            assert missing_here(demo.live) == [], demo.name


@pytest.mark.parametrize("demo", CHECKED, ids=lambda demo: demo.name)
def test_the_sanitizer_finds_what_the_demo_is_about(demo: Demo) -> None:
    assert demo.live is not None
    if demo.live.modules and python_with(demo.live.modules) is None:
        pytest.skip(f"no Python here has {' and '.join(demo.live.modules)}")
    began = time.perf_counter()
    code, report, errors = ladder_tui("demo", demo.name, "--live")
    print(f"{demo.name}: {time.perf_counter() - began:.1f} s, {len(report['findings']) if report else 'none'}")
    assert code == 1, errors
    assert report["findings"], errors
    assert {one["tool"] for one in report["findings"]} == {demo.live.tool}


@pytest.mark.parametrize("name", FAULTS)
def test_the_hardware_stops_the_demo_at_its_line(name: str) -> None:
    began = time.perf_counter()
    code, state, errors = ladder_tui("demo", name, "--live")
    print(f"{name}: {time.perf_counter() - began:.1f} s, {state and state['detail']}")
    assert code == 1, errors
    assert state["run"] == "stopped"
    assert any((frame.get("file") or "").endswith(FAULTS[name]) for frame in state["frames"]), state["frames"]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Cases that the recorder made here."""
    out = tmp_path_factory.mktemp("cases")
    command = [sys.executable, "-m", "ladder_demos.record_on_gpu", str(out), *RECORDED]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, stdin=subprocess.DEVNULL)
    print(done.stdout, done.stderr)
    return out


@pytest.mark.parametrize("name", RECORDED)
def test_what_was_recorded_opens(recorded: Path, name: str) -> None:
    case = recorded / f"{name}.ladder"
    assert case.exists(), (recorded / "table.txt").read_text()
    code, document, errors = ladder_tui("open", case)
    live = find_demo(name).live
    assert live is not None
    if live.rung == "sanitizer":
        assert code == 1, errors
        assert document["report"]["findings"]
    else:
        assert code == 0, errors
        assert document["source"] == "recording"
        assert document["frames"][0]["line"] is not None
