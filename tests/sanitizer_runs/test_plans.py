"""Plans: their command lines for a version, what carries over from other rungs, and what is worth running again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ladder_backends.debugger.target import LaunchTarget
from ladder_backends.model.finding import Finding, FindingKind, Report
from ladder_backends.sanitizer.again import kernel_word, ways_again
from ladder_backends.sanitizer.command_line import command_for
from ladder_backends.sanitizer.installed import SanitizerTool, installed_sanitizer, read_options
from ladder_backends.sanitizer.plan import Plan
from ladder_backends.sanitizer.presets import PRESETS, fitting_preset
from ladder_backends.sanitizer.run_folder import RunFolder, forget_old_runs, read_plan
from ladder_backends.session.ladder import Ladder

HELP = (Path(__file__).parent / "stand_in/help.txt").read_text()
TOOL = SanitizerTool(Path("/opt/compute-sanitizer"), "2025.3.1.0", read_options(HELP))


def words(plan: Plan, tool: str = "memcheck", known: SanitizerTool = TOOL) -> list[str]:
    return list(command_for(plan, tool, known, Path("/run")).argv)


def test_options_of_the_recorded_version() -> None:
    assert {
        "tool",
        "log-file",
        "help",
        "version",
        "launch-skip",
        "launch-count",
        "quiet",
        "padding",
    } <= TOOL.options
    assert "dump-kernel-launches" not in TOOL.options
    assert "tool=memcheck" not in TOOL.options
    assert TOOL.knows("--strip-paths")


def test_options_of_the_installed_version(real_sanitizer: Path) -> None:
    tool = installed_sanitizer()
    assert tool.version.startswith("2026.")
    assert tool.knows("dump-kernel-launches")


def test_the_command_of_the_main_job() -> None:
    assert words(Plan(Path("/bin/prog"), ("-n", "3"))) == [
        *("/opt/compute-sanitizer", "--tool", "memcheck", "--log-file", "/run/memcheck.log", "--strip-paths", "no"),
        *("--generate-coredump", "--coredump-behavior", "exit", "--coredump-name", "/run/memcheck.%p.nvcudmp"),
        *("--print-limit", "10000", "/bin/prog", "-n", "3"),
    ]


def test_racecheck_writes_no_dump_and_takes_no_option_of_memcheck() -> None:
    plan = Plan(Path("/bin/prog"), leaks=True, switches=PRESETS["torch"].switches)
    race = words(plan, "racecheck")
    assert not {"--generate-coredump", "--leak-check", "--padding"} & set(race)
    memory = words(plan)
    assert memory[memory.index("--padding") + 1] == "64"


def test_an_old_version_is_given_only_what_it_knows() -> None:
    old = replace(TOOL, options=frozenset({"tool", "log-file", "print-limit"}))
    command = command_for(Plan(Path("/bin/prog")), "memcheck", old, Path("/run"))
    assert command.argv[1:] == (
        *("--tool", "memcheck", "--log-file", "/run/memcheck.log", "--print-limit", "10000", "/bin/prog"),
    )
    assert command.dumps == ""
    assert any("--generate-coredump" in note for note in command.left_out)


@pytest.mark.parametrize(
    ("kernel", "filter"),
    [("vadd", "kns=vadd"), ("kne=_Z4vaddv", "kne=_Z4vaddv"), ("a,b", "regex=a,b"), ("regex=^k$", "regex=^k$")],
)
def test_kernel_filters(kernel: str, filter: str) -> None:
    argv = words(Plan(Path("/bin/prog"), kernels=(kernel,)))
    assert argv[argv.index("--kernel-name") + 1] == filter


def test_the_users_variables_win_over_a_help() -> None:
    plan = Plan(
        Path("/bin/prog"),
        environment={"PYTORCH_NO_CUDA_MEMORY_CACHING": "0"},
        switches=PRESETS["torch"].switches,
    )
    command = command_for(plan, "memcheck", TOOL, Path("/run"))
    assert command.environment == {"PYTORCH_NO_CUDA_MEMORY_CACHING": "0"}


@pytest.mark.parametrize("arguments", [("-m", "job"), ("-c", "import cupy"), ()])
def test_a_pool_that_cannot_be_taken_out_is_said(arguments: tuple[str, ...]) -> None:
    plan = Plan(Path("/usr/bin/python3"), arguments, switches=PRESETS["cupy"].switches)
    command = command_for(plan, "memcheck", TOOL, Path("/run"))
    assert any("CuPy's pool stays" in note for note in command.left_out)


@pytest.mark.parametrize(
    ("text", "preset"),
    [
        ("import torch\n", "torch"),
        ("from triton import jit\n", "triton"),
        ("import os, cupy as cp\n", "cupy"),
        ("import torch\nimport triton.language as tl\n", "triton"),
        ("import torchvision\n", "plain"),
        ("# import torch\n", "plain"),
    ],
)
def test_the_preset_that_a_script_calls_for(tmp_path: Path, text: str, preset: str) -> None:
    (tmp_path / "job.py").write_text(text)
    assert fitting_preset(Path("/usr/bin/python3.12"), ("-u", "job.py"), tmp_path).name == preset
    assert fitting_preset(Path("/bin/prog"), ("job.py",), tmp_path).name == "plain"


def test_a_plan_is_kept_whole(tmp_path: Path) -> None:
    plan = Plan(
        Path("/bin/prog"),
        ("a b", "\udcff"),
        Path("/tmp"),
        {"A": "1", "B": None},
        Path("/dev/null"),
        ("racecheck", "memcheck"),
        kernels=("k",),
        timeout=1.5,
        suppressions=Path("/s.xml"),
        error_exitcode=3,
    )
    RunFolder(tmp_path).write(plan, "1", [], [])
    assert read_plan(tmp_path) == plan


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        '{"plan": 1}',
        '{"plan": {"tools": [1]}}',
        '{"plan": {}}',
        '{"plan": {"program": "/x", "timeout": "1"}}',
        '{"plan": {"program": "/x", "tools": ["rm"]}}',
        '{"plan": {"program": "/x", "environment": {"A": 1}}}',
    ],
)
def test_a_damaged_plan_is_none(tmp_path: Path, text: str) -> None:
    (tmp_path / "plan.json").write_text(text)
    assert read_plan(tmp_path) is None


def test_a_full_folder_gets_a_folder_of_the_run_inside(tmp_path: Path) -> None:
    plan = Plan(Path("/bin/prog"))
    assert RunFolder.make(plan, tmp_path / "new").path == tmp_path / "new"
    (tmp_path / "new/mine").write_text("mine")
    first, second = RunFolder.make(plan, tmp_path / "new"), RunFolder.make(plan, tmp_path / "new")
    assert first.path.parent == second.path.parent == tmp_path / "new"
    assert first.path != second.path
    assert (tmp_path / "new/mine").read_text() == "mine"


def test_only_the_newest_runs_stay_and_nothing_else_goes(tmp_path: Path) -> None:
    made = [RunFolder.make(Plan(Path("/bin/prog"))).path for _ in range(22)]
    base = made[0].parent
    for number, path in enumerate(made):
        path = path.rename(base / f"2026{number:02}")
        (path / "plan.json").write_text("{}")
    (base / "mine").mkdir()
    (tmp_path / "far").mkdir()
    (tmp_path / "far/plan.json").write_text("{}")
    (base / "0000").symlink_to(tmp_path / "far")
    forget_old_runs()
    left = sorted(path.name for path in base.iterdir())
    assert left == ["0000", *(f"2026{number:02}" for number in range(2, 22)), "mine"]
    assert (tmp_path / "far/plan.json").exists()


async def test_the_program_of_another_rung_carries_over(ladder: Ladder, gdb: Path, compiled: Any) -> None:
    program = compiled("steps")
    target = LaunchTarget(program, ("-n", "3"), directory=Path("/tmp"), environment={"A": "1"})
    await ladder.open_target(target, run=False)
    plan = ladder.sanitizer.suggestion()
    assert plan is not None
    assert (plan.program, plan.arguments, plan.directory) == (program, ("-n", "3"), Path("/tmp"))
    assert plan.environment == {"A": "1"}


async def test_nothing_at_hand_suggests_nothing(ladder: Ladder) -> None:
    assert ladder.sanitizer.suggestion() is None


def test_a_race_summary_calls_for_hazards_of_its_kernel() -> None:
    finding = Finding(
        0, FindingKind.RACE_ANALYSIS, tool="racecheck", kernel="void ns::reduce<int>(const T1 *, int)"
    )
    ways = ways_again(Plan(Path("/bin/prog"), tools=("memcheck", "racecheck")), finding, None)
    assert ways[0].plan.tools == ("racecheck",)
    assert (ways[0].plan.racecheck_report, ways[0].plan.kernels) == ("hazard", ("reduce",))


def test_every_way_has_a_key_of_its_own() -> None:
    report = Report("memcheck", summary={"not_printed": 5})
    for program in ("/bin/prog", "/usr/bin/python3"):
        for plan in (Plan(Path(program)), Plan(Path(program), kernels=("k",), switches=frozenset())):
            for kind in FindingKind:
                ways = ways_again(plan, Finding(0, kind, tool="memcheck", kernel="k1"), report)
                keys = [way.key for way in ways]
                assert len(set(keys)) == len(keys)
                assert "e" not in keys
                assert ways[-1].plan == plan


@pytest.mark.parametrize(
    ("kernel", "word"),
    [
        ("vadd(int *)", "vadd"),
        ("void a::b<c<d>>(T1)", "b"),
        ("(anonymous namespace)::k()", "k"),
        ("", ""),
        ("<lambda>", ""),
    ],
)
def test_the_word_of_a_kernel(kernel: str, word: str) -> None:
    assert kernel_word(Finding(0, FindingKind.OOB, kernel=kernel)) == word
