"""`ladder-tui sanitize` on hardware: every tool, helps, limits, what stops a run, and what did not run at all."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

PROGRAMS = Path(__file__).parent / "programs"
SPIN = """
#include <cstdio>
__global__ void spin(volatile int *flag) { while (*flag == 0) { } }
int main() {
  int *flag; cudaMalloc(&flag, 4); cudaMemset(flag, 0, 4);
  printf("spinning\\n"); fflush(stdout);
  spin<<<1, 32>>>(flag);
  return cudaDeviceSynchronize() != cudaSuccess;
}
"""
CHILDREN = """
import subprocess, sys
print("parent", flush=True)
sys.exit(max(subprocess.run([program]).returncode for program in sys.argv[1:]))
"""


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Compiles a program once."""
    folder = tmp_path_factory.mktemp("runs")

    def compile_one(name: str, text: str = "") -> Path:
        program, source = folder / name, PROGRAMS / f"{name}.cu"
        if text:
            source = folder / f"{name}.cu"
            source.write_text(text)
        if not program.exists():
            subprocess.run(["nvcc", "-g", "-G", "-arch=native", "-o", program, source], check=True, timeout=240)
        return program

    return compile_one


def sanitize(*words: object, timeout: float = 200) -> tuple[int, dict[str, Any], str]:
    """Run the command: exit code, JSON, standard error."""
    command = [sys.executable, "-m", "ladder_tui", "sanitize", "--json", *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, stdin=subprocess.DEVNULL)
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout), done.stderr


def test_findings_dump_and_lanes_of_one_run(made: Any, tmp_path: Path) -> None:
    program = made("vector_add_oob")
    code, report, _ = sanitize("--save", tmp_path / "run", "--", program)
    assert code == 1, report
    assert len(report["findings"]) == 24
    assert {one["tool"] for one in report["findings"]} == {"memcheck"}
    (tool,) = report["run"]["tools"]
    assert tool["end"] == "found"
    (dump,) = tool["dumps"]
    assert "%" not in dump
    assert Path(dump).is_file()
    jump = subprocess.run(
        [
            *(sys.executable, "-m", "ladder_tui", "jump", "--json", "--dump", dump, "--exe", program),
            *("--block", "3,0,0", "--thread", "240,0,0"),
        ],
        capture_output=True,
        text=True,
        timeout=120,
    )
    reached = json.loads(jump.stdout)
    assert jump.returncode == 0, reached
    assert {row["name"]: row["value"] for row in reached["locals"]}["i"] == "1008"
    opened = subprocess.run(
        [sys.executable, "-m", "ladder_tui", "open", "--json", tmp_path / "run"],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert opened.returncode == 1, opened.stderr


def test_all_tools_one_after_the_other(made: Any) -> None:
    code, report, errors = sanitize("--tool", "all", "--leaks", "--", made("shared_race"))
    assert code == 1, errors
    assert [one["tool"] for one in report["run"]["tools"]] == ["memcheck", "racecheck", "initcheck", "synccheck"]
    assert all(one["ran"] for one in report["run"]["tools"]), report["run"]
    assert "racecheck" in {one["tool"] for one in report["findings"]}
    assert report["unknown_lines"] == 0


def test_hazards_of_one_kernel_name_both_lanes(made: Any) -> None:
    code, report, _ = sanitize(
        *("--tool", "racecheck", "--racecheck-report", "hazard", "--kernel", "reduce"), "--", made("shared_race")
    )
    assert code == 1
    assert {one["lane"] for one in report["findings"] if one["kind"] == "race-hazard"} == {"two"}


def test_a_kernel_that_is_filtered_out_finds_nothing(made: Any) -> None:
    code, report, _ = sanitize("--kernel", "no_such_kernel", "--", made("vector_add_oob"))
    assert (code, report["findings"]) == (0, []), report


def test_a_launch_that_is_skipped_finds_nothing(made: Any) -> None:
    code, report, _ = sanitize("--launch-skip", "1", "--", made("vector_add_oob"))
    assert (code, report["findings"]) == (0, []), report


@pytest.mark.parametrize("program", ["/bin/true", "/bin/false"])
def test_no_cuda_call_is_no_clean_run(program: str) -> None:
    code, report, _ = sanitize("--", program)
    assert code == 2
    assert report["ran"] is False
    assert "before first instrumented" in report["reason"]


def test_what_this_version_does_not_know_is_left_out_and_said(made: Any) -> None:
    code, report, _ = sanitize("--with", "launches", "--", made("vector_add_oob"))
    assert code == 1
    known = report["run"]["launches"] is not None
    assert known != any("--dump-kernel-launches" in note for note in report["run"]["notes"])


def test_children_are_looked_at(made: Any, tmp_path: Path) -> None:
    script = tmp_path / "children.py"
    script.write_text(CHILDREN)
    code, report, errors = sanitize("--without", "dump", "--", sys.executable, script, made("vector_add_oob"))
    assert code == 1, errors
    assert len(report["findings"]) >= 24
    assert "parent" in errors


def test_a_time_out_ends_a_hanging_kernel(made: Any) -> None:
    begun = time.monotonic()
    code, report, errors = sanitize("--timeout", "8", "--", made("spin", SPIN))
    assert time.monotonic() - begun < 60
    assert code == 2
    (tool,) = report["run"]["tools"]
    assert tool["end"] == "timed out", report["run"]
    assert "spinning" in errors
    assert not _living("spin")


def test_ctrl_c_ends_a_hanging_kernel_and_leaves_nothing_behind(made: Any) -> None:
    command = [sys.executable, "-m", "ladder_tui", "sanitize", "--json", "--", str(made("spin", SPIN))]
    run = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    )
    assert run.stderr is not None
    while b"spinning" not in run.stderr.readline():
        pass
    os.kill(run.pid, signal.SIGINT)
    out, _ = run.communicate(timeout=60)
    assert json.loads(out)["run"]["tools"][0]["end"] == "stopped"
    assert run.returncode == 2
    assert not _living("spin")


def _living(name: str) -> list[str]:
    """Processes of that name that are no zombies."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            head, _, rest = stat.read_text().rpartition(") ")
        except OSError:
            continue
        if head.endswith(f"({name}") and rest[0] not in "ZX":
            found.append(head)
    return found


def test_python_programs_without_their_pools(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("triton")
    script = Path(__file__).parents[2] / "demos/ladder_demos/programs/triton_oob.py"
    if not script.exists():
        pytest.skip("the demo is not here")
    code, report, errors = sanitize(
        "--preset", "triton", "--timeout", "300", "--", sys.executable, script, timeout=400
    )
    assert code == 1, errors
    assert any(one["src_file"].endswith(".py") for one in report["findings"]), report
    argv = report["run"]["tools"][0]["argv"]
    assert "--padding" in argv


def test_cupy_without_its_pool(tmp_path: Path) -> None:
    pytest.importorskip("cupy")
    script = Path(__file__).parents[2] / "demos/ladder_demos/programs/cupy_oob.py"
    if not script.exists():
        pytest.skip("the demo is not here")
    code, report, errors = sanitize(
        "--preset", "cupy", "--timeout", "300", "--", sys.executable, script, timeout=400
    )
    assert code == 1, errors
    assert report["findings"]
