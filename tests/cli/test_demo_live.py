"""`demo NAME --live`: compiled and run where there is a GPU, and said plainly what is missing elsewhere."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ladder_backends.debugger.target import LaunchTarget
from ladder_backends.errors import LadderError
from ladder_backends.sanitizer.plan import Plan
from ladder_demos import live
from ladder_demos.catalogue import DEMOS, Demo, find_demo
from ladder_tui.opening import demo_opening

ON_A_GPU = [demo for demo in DEMOS if demo.live is not None]
COMPILED = [demo for demo in ON_A_GPU if demo.live is not None and not demo.live.is_script]

NVCC = """#!/bin/sh
echo "$@" >> "{log}"
while [ $# -gt 1 ]; do [ "$1" = -o ] && out=$2; shift; done
[ -z "$FAILS" ] || {{ echo "x.cu(3): error: no such thing" >&2; exit 2; }}
printf '#!/bin/sh\\n' > "$out"; chmod +x "$out"
"""
SANITIZER = """#!/bin/sh
case "$1" in
  --version) echo "Version 2025.3.1.0" ;;
  *) echo "  --tool arg"; echo "  --log-file arg"; echo "  --strip-paths arg" ;;
esac
"""


@pytest.fixture
def gpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine that seems to have a GPU and its tools; returns the log of its nvcc."""
    folder, log = tmp_path / "bin", tmp_path / "nvcc.log"
    folder.mkdir()
    for name, text in (("nvcc", NVCC.format(log=log)), ("compute-sanitizer", SANITIZER), ("cuda-gdb", SANITIZER)):
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name in ("CUDA_HOME", "LADDER_SANITIZER", "LADDER_CUDA_GDB"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(live, "DEVICES", ("/dev/null",))
    return log


@pytest.mark.parametrize("demo", ON_A_GPU, ids=lambda demo: demo.name)
def test_every_demo_of_a_gpu_has_its_source(demo: Demo) -> None:
    assert demo.live is not None
    assert demo.live.path.is_file()
    assert demo.live.rung in ("sanitizer", "cuda-gdb")
    assert bool(demo.live.modules) == demo.live.is_script


@pytest.mark.parametrize("demo", COMPILED, ids=lambda demo: demo.name)
def test_what_is_compiled_is_compiled_once(demo: Demo, gpu: Path) -> None:
    assert demo.live is not None
    made = [live.live_run(demo) for _ in range(2)]
    assert made[0] == made[1]
    (told,) = gpu.read_text().splitlines()
    assert "-arch=native" in told
    program = made[0].program
    assert program.name == demo.live.path.stem
    assert (program.parent / demo.live.path.name).read_bytes() == demo.live.path.read_bytes()
    assert isinstance(made[0], Plan if demo.live.rung == "sanitizer" else LaunchTarget)


def test_each_tool_is_the_one_that_finds_it(gpu: Path) -> None:
    plans = {name: live.live_run(find_demo(name)) for name in ("race", "uninit", "barrier", "leak")}
    assert {name: plan.tools for name, plan in plans.items() if isinstance(plan, Plan)} == {
        "race": ("racecheck",),
        "uninit": ("initcheck",),
        "barrier": ("synccheck",),
        "leak": ("memcheck",),
    }
    race, leak = plans["race"], plans["leak"]
    assert isinstance(race, Plan)
    assert isinstance(leak, Plan)
    assert (race.racecheck_report, leak.leaks) == ("all", True)


def test_a_script_is_run_by_a_python_that_has_what_it_needs(gpu: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    demo = find_demo("triton-oob")
    assert demo.live is not None
    with pytest.raises(LadderError, match=r"no Python here has torch and triton"):
        live.live_run(demo)
    monkeypatch.setattr(live, "python_with", lambda modules: Path("/usr/bin/python3"))
    plan = live.live_run(demo)
    assert isinstance(plan, Plan)
    assert (plan.program, plan.arguments, plan.preset) == (
        Path("/usr/bin/python3"),
        (str(demo.live.path),),
        "triton",
    )
    assert plan.is_on("torch-cache")


def test_a_python_is_looked_for_by_its_packages() -> None:
    assert live.python_with(("json", "textual")) is not None
    assert live.python_with(("json", "no_such_package_here")) is None


def test_a_program_that_does_not_compile_is_one_line(gpu: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAILS", "1")
    with pytest.raises(LadderError, match=r"the demo leak does not compile: x.cu\(3\): error") as told:
        live.live_run(find_demo("leak"))
    assert "gcc" not in told.value.line()


def test_what_is_chosen_to_stop_at_is_opened_with_it(gpu: Path) -> None:
    opening = demo_opening(find_demo("two-kernels"), live=True)
    assert (opening.at_launch, opening.at_failure, opening.debugger) == (True, True, "cuda-gdb")
    assert demo_opening(find_demo("leak"), live=True).plan is not None


def test_a_machine_without_a_gpu_says_what_is_missing(ladder_tui, tmp_path: Path) -> None:
    without = {"PATH": str(tmp_path), "LADDER_SANITIZER": "", "LADDER_CUDA_GDB": "/gone", "CUDA_HOME": ""}
    answer = ladder_tui("demo", "vector-add", "--live", environment=without)
    assert (answer.code, answer.out) == (2, "")
    assert "compute-sanitizer is not on PATH" in answer.complaint
    assert "ladder-tui demo vector-add opens what was recorded on one" in answer.complaint
    assert "/gone" in ladder_tui("demo", "grid", "--live", environment=without).complaint
    assert "needs no GPU" in ladder_tui("demo", "segfault", "--live").complaint
    assert "--live needs a name" in ladder_tui("demo", "--live").complaint


def test_a_case_that_is_not_shipped_says_so(ladder_tui, monkeypatch: pytest.MonkeyPatch) -> None:
    demo = Demo("x", "", "", "cuda-gdb", find_demo("grid").kind, "cases/no-such.ladder", find_demo("grid").live)
    assert not demo.shipped
    with pytest.raises(LadderError, match="its case is not shipped — ladder-tui demo x --live"):
        demo_opening(demo)
