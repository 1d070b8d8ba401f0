"""A run from its start to its findings on the ladder."""

from __future__ import annotations

import asyncio
import errno
import json
import lzma
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from ladder_backends.case import Opened
from ladder_backends.errors import CaseInvalid, EngineMissing, TargetInvalid
from ladder_backends.sanitizer import exit_code
from ladder_backends.sanitizer.ending import End
from ladder_backends.sanitizer.plan import Plan
from ladder_backends.session.ladder import Ladder
from ladder_backends.session.sanitizer_state import RunPhase


async def run(ladder: Ladder, plan: Plan, save: Path | None = None) -> None:
    await ladder.sanitizer.start(plan, save)
    await ladder.sanitizer.ended()


async def test_findings_and_dump_are_on_the_ladder(
    ladder: Ladder, stand_in: Any, logs: Path, greeter: Path, vector_add: Opened
) -> None:
    stand_in(memcheck={"log": logs / "memcheck-oob.log", "dump": vector_add.dump, "delay": 0.005})
    await run(ladder, Plan(greeter))
    state = ladder.state
    assert state.rung == "sanitizer"
    assert state.report is not None
    assert len(state.report.findings) == 24
    assert (state.report.tool, state.report.ran, state.report.complete) == ("memcheck", True, True)
    assert state.selected_finding == 0
    assert ladder.jumps.dump is not None
    assert ladder.jumps.dump.dump.read_bytes() == vector_add.dump.read_bytes()
    ended = ladder.sanitizer.state
    assert (ended.phase, ended.found, ended.tool) == (RunPhase.ENDED, 24, "memcheck")
    assert list(ended.output) == ["hello from the program"]


async def test_findings_come_while_it_runs(ladder: Ladder, stand_in: Any, logs: Path, greeter: Path) -> None:
    stand_in(memcheck={"log": logs / "memcheck-oob.log", "hangs": True})
    await ladder.sanitizer.start(Plan(greeter))
    while ladder.sanitizer.state.found < 24:
        await ladder_moved(ladder)
    assert ladder.sanitizer.state.phase is RunPhase.RUNNING
    await ladder.sanitizer.stop()
    await ladder.sanitizer.ended()
    (end,) = ladder.sanitizer.state.ends
    assert (end.end, end.found, end.complete) == (End.STOPPED, 24, False)
    assert ladder.state.report is not None
    assert ladder.state.report.reason is not None
    assert ladder.state.report.reason.startswith("stopped before its end")


async def ladder_moved(ladder: Ladder) -> None:
    moved = asyncio.Event()
    leave = ladder.subscribe(lambda change: moved.set())
    await moved.wait()
    leave()


async def test_several_tools_in_one_list(ladder: Ladder, stand_in: Any, logs: Path, greeter: Path) -> None:
    stand_in(
        memcheck={"log": logs / "memcheck-oob.log"},
        racecheck={"log": logs / "racecheck-analysis.log"},
        initcheck={"log": logs / "initcheck-uninit.log"},
    )
    await run(ladder, Plan(greeter, tools=("memcheck", "racecheck", "initcheck")))
    report = ladder.state.report
    assert report is not None
    assert [finding.tool for finding in report.findings[:24]] == ["memcheck"] * 24
    assert {finding.tool for finding in report.findings} == {"memcheck", "racecheck", "initcheck"}
    assert report.tool == "memcheck, racecheck, initcheck"
    assert [end.tool for end in ladder.sanitizer.state.ends] == ["memcheck", "racecheck", "initcheck"]
    assert report.complete


@pytest.mark.parametrize("program", ["/bin/true", "/bin/false"])
async def test_the_real_tool_without_a_gpu_did_not_run(ladder: Ladder, real_sanitizer: Path, program: str) -> None:
    await run(ladder, Plan(Path(program)))
    report = ladder.state.report
    assert report is not None
    assert not report.ran
    (end,) = ladder.sanitizer.state.ends
    assert (end.end, end.status) == (End.NOT_RUN, 255)
    assert "before first instrumented API call" in end.reason
    assert exit_code(report) == 2


async def test_the_real_tool_refuses_an_option(ladder: Ladder, real_sanitizer: Path) -> None:
    await run(ladder, Plan(Path("/bin/true"), extra=("--frobnicate",)))
    (end,) = ladder.sanitizer.state.ends
    assert end.end is End.NOT_RUN
    assert "unrecognised option '--frobnicate'" in end.reason


async def test_a_run_is_kept(ladder: Ladder, stand_in: Any, logs: Path, greeter: Path, tmp_path: Path) -> None:
    stand_in(memcheck={"log": logs / "memcheck-leak.log"})
    await run(ladder, Plan(greeter, leaks=True), tmp_path / "kept")
    document = json.loads((tmp_path / "kept/plan.json").read_text())
    assert document["format"] == 1
    assert document["plan"]["leaks"] is True
    (kept,) = document["runs"]
    assert (kept["tool"], kept["end"], kept["log"]) == ("memcheck", "found", "memcheck.log")
    assert "--leak-check" in kept["argv"]
    assert (tmp_path / "kept/memcheck.out").read_bytes() == b"hello from the program\r\n"


async def test_a_time_out_ends_the_run_and_keeps_what_was_found(
    ladder: Ladder, stand_in: Any, logs: Path, greeter: Path
) -> None:
    stand_in(memcheck={"log": logs / "memcheck-oob.log", "hangs": True})
    await run(ladder, Plan(greeter, timeout=1.0))
    (end,) = ladder.sanitizer.state.ends
    assert (end.end, end.found) == (End.TIMED_OUT, 24)


async def test_the_programs_own_status_is_told(
    ladder: Ladder, stand_in: Any, tmp_path: Path, failing: Path
) -> None:
    stand_in(memcheck={})
    await run(ladder, Plan(failing))
    (end,) = ladder.sanitizer.state.ends
    assert end.status == 3
    assert "the program itself ended with status 3" in end.reason


async def test_a_silent_run_of_nothing_proves_nothing(
    ladder: Ladder, stand_in: Any, tmp_path: Path, greeter: Path
) -> None:
    clean = tmp_path / "clean.log"
    clean.write_text("========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\n")
    stand_in(memcheck={"log": clean, "skip_program": True})
    await run(ladder, Plan(greeter))
    (end,) = ladder.sanitizer.state.ends
    assert end.end is End.INCOMPLETE
    assert "check that it ran" in end.reason
    stand_in(memcheck={"log": clean})
    await run(ladder, Plan(greeter))
    (end,) = ladder.sanitizer.state.ends
    assert (end.end, end.reason) == (End.CLEAN, "")


async def test_bad_plans_change_nothing(
    ladder: Ladder, stand_in: Any, greeter: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in(memcheck={})
    for plan in (Plan(tmp_path / "none"), Plan(greeter, tools=()), Plan(greeter, suppressions=tmp_path / "none")):
        with pytest.raises(TargetInvalid):
            await ladder.sanitizer.start(plan)
    with pytest.raises(TargetInvalid, match="macro"):
        await ladder.sanitizer.start(Plan(greeter), tmp_path / "100%")
    monkeypatch.setenv("LADDER_SANITIZER", "/no/such/tool")
    with pytest.raises(EngineMissing, match="LADDER_SANITIZER names /no/such/tool"):
        await ladder.sanitizer.start(Plan(greeter))
    assert ladder.state.report is None
    assert ladder.sanitizer.state.phase is RunPhase.NONE


async def test_a_kept_run_is_opened_again(
    ladder: Ladder, stand_in: Any, logs: Path, greeter: Path, tmp_path: Path, vector_add: Opened
) -> None:
    stand_in(
        memcheck={"log": logs / "memcheck-oob.log", "dump": vector_add.dump},
        initcheck={"log": logs / "initcheck-uninit.log"},
    )
    plan = Plan(greeter, ("--flag",), tools=("memcheck", "initcheck"), timeout=100.0)
    await run(ladder, plan, tmp_path / "kept")
    found = ladder.state.report
    assert found is not None
    again = Ladder()
    await again.open_files((tmp_path / "kept",))
    assert again.state.report is not None
    assert again.state.report.findings == found.findings
    assert (again.state.report.ran, again.state.report.complete) == (True, True)
    assert again.jumps.dump is not None
    assert again.sanitizer.state.plan == plan
    await again.close()


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"format": 1, "kind": "sanitizer-run", "runs": [{"log": "../x"}]}']
)
async def test_a_damaged_run_is_refused(ladder: Ladder, tmp_path: Path, text: str) -> None:
    (tmp_path / "x").write_text("========= COMPUTE-SANITIZER\n")
    (tmp_path / "run").mkdir()
    (tmp_path / "run/plan.json").write_text(text)
    with pytest.raises(CaseInvalid, match="cannot be opened"):
        await ladder.open_files((tmp_path / "run",))


async def test_each_finding_leads_into_the_dump_of_its_own_tool(
    ladder: Ladder, stand_in: Any, logs: Path, greeter: Path, tmp_path: Path, cuda_gdb: Path, vector_add: Opened
) -> None:
    other = tmp_path / "other.nvcudmp"
    packed = Path(__file__).parents[1] / "dumps/initcheck-uninit.nvcudmp.xz"
    other.write_bytes(lzma.decompress(packed.read_bytes()))
    stand_in(
        memcheck={"log": logs / "memcheck-oob.log", "dump": vector_add.dump},
        initcheck={"log": logs / "initcheck-uninit.log", "dump": other},
    )
    await run(ladder, Plan(greeter, tools=("memcheck", "initcheck")), tmp_path / "kept")
    report = ladder.state.report
    assert report is not None
    outcome = await ladder.jump(report.findings[8])
    assert outcome.reached is not None, outcome.reason
    assert outcome.reached.dim3("thread") == (240, 0, 0)
    uninit = next(finding for finding in report.findings if finding.tool == "initcheck")
    outcome = await ladder.jump(uninit)
    assert outcome.reached is not None
    assert ladder.jumps.dump is not None
    assert ladder.jumps.dump.dump.name.startswith("initcheck.")
    outcome = await ladder.jump(report.findings[9])
    assert outcome.reached is not None
    assert outcome.reached.dim3("thread") == (241, 0, 0)


async def test_a_tool_without_a_dump_is_not_taken_for_the_one_that_wrote_one(
    ladder: Ladder, stand_in: Any, logs: Path, greeter: Path, cuda_gdb: Path, vector_add: Opened
) -> None:
    stand_in(
        memcheck={"log": logs / "memcheck-oob.log", "dump": vector_add.dump},
        initcheck={"log": logs / "initcheck-uninit.log"},
        synccheck={"log": logs / "memcheck-oob.log"},
    )
    await run(ladder, Plan(greeter, tools=("memcheck", "initcheck", "synccheck")))
    report = ladder.state.report
    assert report is not None
    told = {tool: next(one for one in report.findings if one.tool == tool) for tool in ("initcheck", "synccheck")}
    outcome = await ladder.jump(told["initcheck"])
    assert outcome.reached is None
    assert outcome.reason.startswith("initcheck wrote no dump here; in that of another tool, ")
    outcome = await ladder.jump(told["synccheck"])
    assert outcome.reached is not None
    assert ladder.state.notice is not None
    assert "dump of another tool's run" in ladder.state.notice.text
    assert ladder.sanitizer.lacks_dump(report.findings[0]) == ""


async def test_a_jump_while_the_tool_runs_waits_for_its_dump(
    ladder: Ladder, stand_in: Any, logs: Path, greeter: Path, cuda_gdb: Path, vector_add: Opened
) -> None:
    stand_in(memcheck={"log": logs / "memcheck-oob.log", "dump": vector_add.dump, "dumps_after": 1.0})
    await ladder.sanitizer.start(Plan(greeter))
    while ladder.sanitizer.state.found < 24:
        await ladder_moved(ladder)
    report = ladder.state.report
    assert report is not None
    assert ladder.sanitizer.state.active
    outcome = await ladder.jump(report.findings[8])
    assert outcome.reached is not None, outcome.reason
    assert outcome.reached.dim3("thread") == (240, 0, 0)
    assert ladder.jumps.live.session is None
    await ladder.sanitizer.ended()


async def test_of_jumps_that_wait_for_a_dump_the_last_one_counts(
    ladder: Ladder, stand_in: Any, logs: Path, greeter: Path, cuda_gdb: Path, vector_add: Opened
) -> None:
    stand_in(memcheck={"log": logs / "memcheck-oob.log", "dump": vector_add.dump, "dumps_after": 0.5})
    await ladder.sanitizer.start(Plan(greeter))
    while ladder.sanitizer.state.found < 24:
        await ladder_moved(ladder)
    report = ladder.state.report
    assert report is not None
    first, last = await asyncio.gather(ladder.jump(report.findings[3]), ladder.jump(report.findings[8]))
    assert first.superseded
    assert last.reached is not None
    assert last.reached.dim3("thread") == (240, 0, 0)


async def test_the_dump_of_a_tool_is_at_hand_while_the_next_one_runs(
    ladder: Ladder, stand_in: Any, logs: Path, greeter: Path, cuda_gdb: Path, vector_add: Opened
) -> None:
    stand_in(memcheck={"log": logs / "memcheck-oob.log", "dump": vector_add.dump}, racecheck={"hangs": True})
    await ladder.sanitizer.start(Plan(greeter, tools=("memcheck", "racecheck")))
    while ladder.sanitizer.state.tool != "racecheck":
        await ladder_moved(ladder)
    report = ladder.state.report
    assert report is not None
    outcome = await ladder.jump(report.findings[8])
    assert outcome.reached is not None, outcome.reason
    assert ladder.sanitizer.state.active
    await ladder.sanitizer.stop()
    await ladder.sanitizer.ended()


async def test_a_jump_that_waits_for_a_dump_that_never_comes_ends_with_the_run(
    ladder: Ladder, stand_in: Any, logs: Path, greeter: Path
) -> None:
    stand_in(memcheck={"log": logs / "memcheck-oob.log", "hangs": True})
    await ladder.sanitizer.start(Plan(greeter))
    while ladder.sanitizer.state.found < 24:
        await ladder_moved(ladder)
    report = ladder.state.report
    assert report is not None
    jump = asyncio.create_task(ladder.jump(report.findings[8]))
    await asyncio.sleep(0.1)
    assert not jump.done()
    await ladder.sanitizer.stop()
    outcome = await jump
    assert outcome.reached is None
    assert "no GPU core dump" in outcome.reason


async def test_a_launcher_starts_a_sanitizer_for_each_process(
    ladder: Ladder, stand_in: Any, logs: Path, greeter: Path, launcher: Path, tmp_path: Path
) -> None:
    stand_in(memcheck={"log": logs / "memcheck-oob.log"}, racecheck={"log": logs / "racecheck-analysis.log"})
    plan = Plan(launcher, ("-n", "2", "{}", str(greeter)), tools=("memcheck", "racecheck"))
    await run(ladder, plan, tmp_path / "kept")
    report = ladder.state.report
    assert report is not None
    found = Counter((finding.tool, finding.origin) for finding in report.findings)
    assert found == {
        ("memcheck", "rank 0"): 24,
        ("memcheck", "rank 1"): 24,
        ("racecheck", "rank 0"): 1,
        ("racecheck", "rank 1"): 1,
    }
    assert (report.ran, report.complete) == (True, True)
    assert len(report.groups) == 2
    again = Ladder()
    await again.open_files((tmp_path / "kept",))
    assert again.state.report is not None
    assert Counter((one.tool, one.origin) for one in again.state.report.findings) == found
    await again.close()


async def test_two_runs_at_once_are_one(ladder: Ladder, stand_in: Any, logs: Path, greeter: Path) -> None:
    stand_in(memcheck={"log": logs / "memcheck-oob.log", "hangs": True})
    first = asyncio.create_task(ladder.sanitizer.start(Plan(greeter)))
    await asyncio.sleep(0)
    with pytest.raises(TargetInvalid, match="goes on already"):
        await ladder.sanitizer.start(Plan(greeter))
    await first
    with pytest.raises(TargetInvalid, match="goes on already"):
        await ladder.sanitizer.start(Plan(greeter))
    await ladder.sanitizer.stop()
    await ladder.sanitizer.ended()


async def test_a_tool_that_cannot_be_started_did_not_run(
    ladder: Ladder, stand_in: Any, greeter: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_terminal() -> tuple[int, int]:
        raise OSError(errno.ENOSPC, "out of pty devices")

    stand_in(memcheck={})
    monkeypatch.setattr("os.openpty", no_terminal)
    await run(ladder, Plan(greeter))
    (end,) = ladder.sanitizer.state.ends
    assert (end.end, end.status) == (End.NOT_RUN, None)
    assert "out of pty devices" in end.reason
    assert ladder.state.report is not None
    assert exit_code(ladder.state.report) == 2
