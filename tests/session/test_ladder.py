"""The ladder: what is opened goes to its rung, and findings lead into lanes."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from ladder_backends.case import Opened, open_files
from ladder_backends.debugger import AttachTarget, CoreTarget, GpuDumpTarget, LaunchTarget, StepKind
from ladder_backends.errors import LadderError, RecordingInvalid, TargetInvalid
from ladder_backends.model.focus import Focus
from ladder_backends.model.provenance import Provenance
from ladder_backends.recording import read_recording
from ladder_backends.session import device_here
from ladder_backends.session.ladder import Ladder
from ladder_backends.session.recorded_target import recorded_target
from ladder_backends.session.state import Change, Run
from ladder_backends.session.target_kind import choose_debugger
from ladder_demos.catalogue import find_demo


@pytest.fixture
async def ladder() -> AsyncIterator[Ladder]:
    ladder = Ladder()
    yield ladder
    await ladder.close()


CASE = find_demo("vector-add").path


async def test_a_finding_leads_into_its_lane(ladder, cuda_gdb) -> None:
    await ladder.open_files((CASE,))
    state = ladder.state
    assert state.rung == "sanitizer"
    assert state.report is not None
    assert len(state.report.findings) == 24
    told: list[Change] = []
    ladder.subscribe(told.append)
    outcome = await ladder.jump(state.report.findings[8])
    assert outcome.exact
    assert outcome.provenance is Provenance.ENGINE
    session = ladder.active
    assert session is not None
    debug = session.state
    assert (debug.rung, debug.run) == ("cuda-gdb", Run.DUMP)
    assert debug.asked == Focus.of(block=(3, 0, 0), thread=(240, 0, 0))
    assert debug.focus is not None
    assert debug.focus.satisfies(debug.asked)
    assert debug.place is not None
    assert debug.place.line == 10
    values = {each.name: each.value for each in debug.variables.variables}
    assert (values["i"], values["n"]) == ("1008", "1000")
    assert debug.grid.warps
    assert debug.jump_seconds is not None
    assert debug.reason == ""
    assert state.selected_finding == 8
    assert state.debug["cuda-gdb"] is debug
    assert ladder.source("vector_add_oob.cu").lines
    await asyncio.sleep(0.02)
    told.clear()
    again = await ladder.jump(state.report.findings[0])
    await session.at_rest()
    await asyncio.sleep(0.02)
    assert again.exact
    # All that a jump changes is one notification.
    assert len([change for change in told if change & Change.FRAMES]) == 1
    # A lane is compared with itself: what another lane has is no change.
    assert not any(each.changed for each in debug.variables.variables)
    await session.resume(StepKind.NEXT)
    assert "a dump cannot run" in debug.notices[-1].text


async def test_lanes_that_are_not_held_are_not_reached_and_nothing_moves(ladder, cuda_gdb) -> None:
    await ladder.open_files((CASE,))
    assert ladder.state.report is not None
    await ladder.jump(ladder.state.report.findings[0])
    session = ladder.active
    assert session is not None
    before = session.state.focus
    outcome = await ladder.jump_to(Focus.of(block=(0, 0, 0), thread=(1, 0, 0)))
    assert outcome.reached is None
    assert outcome.reason
    assert session.state.focus == before
    assert session.state.reason == outcome.reason
    assert ladder.state.notice is not None
    assert ladder.state.notice.text == outcome.reason


async def test_a_first_jump_that_fails_shows_where_the_engine_stands(ladder, cuda_gdb) -> None:
    await ladder.open_files((CASE,))
    outcome = await ladder.jump_to(Focus.of(block=(0, 0, 0), thread=(1, 0, 0)))
    assert outcome.reached is None
    session = ladder.active
    assert session is not None
    await session.at_rest()
    assert session.state.focus is not None
    assert session.state.focus["thread"] == (232, 0, 0)
    assert {each.name: each.value for each in session.state.variables.variables}["i"] == "1000"
    assert session.state.grid.warps


async def test_of_jumps_pressed_together_the_last_one_counts(ladder, cuda_gdb) -> None:
    await ladder.open_files((CASE,))
    assert ladder.state.report is not None
    findings = ladder.state.report.findings
    outcomes = await asyncio.gather(*(ladder.jump(findings[number]) for number in range(6)))
    assert outcomes[-1].exact
    assert [outcome.reached is None for outcome in outcomes[1:-1]] == [True] * 4
    assert ladder.active is not None
    assert ladder.active.state.asked == outcomes[-1].asked


async def test_an_engine_that_dies_is_replaced_at_the_next_jump(ladder, cuda_gdb) -> None:
    await ladder.open_files((CASE,))
    assert ladder.state.report is not None
    findings = ladder.state.report.findings
    await ladder.jump(findings[0])
    first = ladder.active
    assert first is not None
    os.kill(first.debugger._mi._transport.pid, signal.SIGKILL)
    await first.at_rest()
    while first.state.run is not Run.DEAD:  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    assert first.state.jump_seconds is None
    outcome = await ladder.jump(findings[3])
    assert outcome.exact
    assert ladder.active is not first


async def test_the_code_stays_where_another_lane_stands_at_the_same_instruction(ladder, cuda_gdb) -> None:
    await ladder.open_files((CASE,))
    assert ladder.state.report is not None
    findings = ladder.state.report.findings
    await ladder.jump(findings[0])
    session = ladder.active
    assert session is not None
    await session.load_disassembly(8)
    outcome = await ladder.jump(findings[8])
    assert outcome.frame is not None
    assert outcome.frame.address in {one.address for one in session.state.disassembly}


async def test_a_report_alone_says_what_is_missing(ladder, vector_add: Opened) -> None:
    await ladder.open_files(vector_add.reports)
    assert ladder.state.report is not None
    outcome = await ladder.jump(ladder.state.report.findings[0])
    assert outcome.reached is None
    assert "there is no GPU core dump to jump into" in outcome.reason
    assert outcome.alternatives


async def test_a_race_report_asks_for_no_dump_that_racecheck_does_not_write(ladder) -> None:
    await ladder.open_files((find_demo("race").path,))
    assert ladder.state.report is not None
    outcome = await ladder.jump(ladder.state.report.findings[0])
    assert "racecheck writes none" in outcome.reason
    assert "--generate-coredump" not in outcome.reason


async def test_without_cuda_gdb_the_recording_answers_and_says_so(ladder, monkeypatch, vector_add: Opened) -> None:
    monkeypatch.setenv("LADDER_CUDA_GDB", "/no/such/cuda-gdb")
    assert vector_add.recordings
    await ladder.open_files((CASE,))
    assert ladder.state.report is not None
    assert ladder.state.notice is not None
    assert "a recording answers" in ladder.state.notice.text
    for number in (0, 8, 23):
        outcome = await ladder.jump(ladder.state.report.findings[number])
        assert outcome.exact, outcome.reason
        assert outcome.provenance is Provenance.RECORDING
    assert ladder.active is not None
    assert ladder.active.state.provenance is Provenance.RECORDING
    assert (await ladder.active.evaluate("n + 1234")).error.startswith("not in this recording")


async def test_without_anything_the_jump_says_how_to_get_it(ladder, monkeypatch, vector_add: Opened) -> None:
    monkeypatch.setenv("LADDER_CUDA_GDB", "/no/such/cuda-gdb")
    assert vector_add.dump is not None
    await ladder.open_files((*vector_add.reports, vector_add.dump))
    assert ladder.state.report is not None
    outcome = await ladder.jump(ladder.state.report.findings[0])
    assert outcome.reached is None
    assert "LADDER_CUDA_GDB names /no/such/cuda-gdb" in outcome.reason


async def test_a_dump_opens_on_its_rung_alone(ladder, cuda_gdb, vector_add: Opened) -> None:
    assert vector_add.dump is not None
    # Named as a host core, as a person may do who knows no difference.
    session = await ladder.open_target(CoreTarget(vector_add.dump, vector_add.executable))
    await session.at_rest()
    assert ladder.state.rung == "cuda-gdb"
    assert session.state.run is Run.DUMP
    assert session.state.frames.frames
    assert session.state.grid.kernels
    outcome = await ladder.jump_to(Focus.of(block=(3, 0, 0), thread=(255, 0, 0)))
    assert outcome.exact


async def test_a_program_runs_on_gdb_and_is_recorded_and_played_back(compiled, tmp_path: Path, gdb) -> None:
    recording = tmp_path / "crash.jsonl"
    ladder = Ladder(record=recording)
    session = await ladder.open_target(LaunchTarget(compiled("segfault")))
    await session.at_rest()
    assert ladder.state.rung == "gdb"
    live = session.state
    assert live.run_detail == "SIGSEGV, Segmentation fault"
    await session.select_frame(1)
    await ladder.close()
    assert recorded_target(read_recording(recording)) == LaunchTarget(compiled("segfault"))

    replay = Ladder()
    await replay.open_files((recording,))
    assert replay.active is not None
    await replay.active.at_rest()
    played = replay.active.state
    assert played.provenance is Provenance.RECORDING
    assert played.run_detail == "SIGSEGV, Segmentation fault"
    assert [frame.function for frame in played.frames.frames] == ["compute_total", "main"]
    assert {each.name: each.value for each in played.variables.variables}["data"] == "0x0"
    await replay.active.select_frame(1)
    assert {each.name: each.value for each in played.variables.variables} == {"data": "0x0"}
    assert (await replay.active.evaluate("1 + 41")).error.startswith("not in this recording")
    await replay.close()


async def test_rungs_keep_what_is_open_on_them(ladder, compiled, cuda_gdb, gdb) -> None:
    await ladder.open_files((CASE,))
    session = await ladder.open_target(LaunchTarget(compiled("segfault")))
    await session.at_rest()
    assert ladder.active is session
    ladder.switch_rung("sanitizer")
    assert ladder.active is ladder.sessions["cuda-gdb"]
    ladder.switch_rung("ranks")
    assert ladder.active is None
    ladder.switch_rung("gdb")
    assert ladder.active is session
    other = await ladder.open_target(LaunchTarget(compiled("steps")))
    assert ladder.active is other
    assert ladder.state.debug["gdb"] is other.state


async def test_bad_files_are_refused_and_the_ladder_stands(ladder, tmp_path, compiled, gdb) -> None:
    empty = tmp_path / "empty"
    empty.write_bytes(b"")
    for paths, why in (
        ((empty,), r"is empty \(0 bytes\)"),
        ((tmp_path / "no",), "does not exist"),
        ((), "no file"),
    ):
        with pytest.raises(LadderError, match=why):
            await ladder.open_files(paths)
    with pytest.raises(TargetInvalid):
        await ladder.open_target(LaunchTarget(tmp_path / "no"))
    session = await ladder.open_target(LaunchTarget(compiled("steps")))
    await session.at_rest()
    assert session.state.run is Run.EXITED


async def test_cut_and_foreign_dumps_are_refused_in_one_line(
    ladder, cuda_gdb, tmp_path, vector_add, compiled
) -> None:
    assert vector_add.dump is not None
    raw = vector_add.dump.read_bytes()
    half = tmp_path / "half.nvcudmp"
    half.write_bytes(raw[: len(raw) // 2])
    with pytest.raises(TargetInvalid, match="cut or damaged"):
        await ladder.open_target(GpuDumpTarget(half))
    assert ladder.active is not None
    assert ladder.active.state.run is Run.NOTHING
    outcome = await ladder.jump_to(Focus.of(block=(0, 0, 0), thread=(0, 0, 0)))
    assert "cut or damaged" in outcome.reason
    session = await ladder.open_target(GpuDumpTarget(vector_add.dump))
    await session.at_rest()
    assert session.state.run is Run.DUMP


async def test_a_dump_of_another_program_is_refused_at_every_jump(ladder, cuda_gdb, vector_add) -> None:
    assert vector_add.dump is not None
    uninit = open_files([find_demo("uninit").path])
    assert uninit.executable is not None
    await ladder.open_files([*vector_add.reports, vector_add.dump, uninit.executable])
    for _ in range(2):
        outcome = await ladder.jump(ladder.state.report.findings[0])
        assert outcome.reached is None
        assert "did not make" in outcome.reason


def test_kernels_are_debugged_where_there_is_a_gpu(
    cuda_gdb: Path, compiled, tmp_path, vector_add: Opened, monkeypatch
) -> None:
    (tmp_path / "nvidia0").write_text("")
    monkeypatch.setattr(device_here, "_DEVICES", (str(tmp_path / "nvidia[0-9]*"),))
    assert vector_add.executable is not None
    chosen = choose_debugger(LaunchTarget(vector_add.executable))
    assert (chosen.debugger, chosen.notice) == ("cuda-gdb", "")
    assert choose_debugger(LaunchTarget(compiled("steps"))).debugger == "gdb"
    assert choose_debugger(AttachTarget(os.getppid())).debugger == "gdb"


def test_the_file_decides_what_a_target_is(compiled, tmp_path, vector_add: Opened, gdb, monkeypatch) -> None:
    assert vector_add.dump is not None
    assert vector_add.executable is not None
    packed = open_files([CASE]).dump
    assert packed is not None
    assert choose_debugger(CoreTarget(packed)).debugger == "cuda-gdb"
    plain = choose_debugger(LaunchTarget(compiled("steps")))
    assert (plain.debugger, plain.notice) == ("gdb", "")
    monkeypatch.setattr(device_here, "_DEVICES", ())
    kernels = choose_debugger(LaunchTarget(vector_add.executable))
    assert kernels.debugger == "gdb"
    assert "CUDA kernels" in kernels.notice
    assert choose_debugger(LaunchTarget(Path("gdb"))).target == LaunchTarget(Path(shutil.which("gdb") or ""))
    with pytest.raises(TargetInvalid, match="the other way round"):
        choose_debugger(CoreTarget(compiled("steps"), packed))


def test_recordings_name_their_target(tmp_path: Path) -> None:
    def of(*lines: str):
        file = tmp_path / "recording.jsonl"
        rows = ['{"t":0,"d":">","s":' + json_string(line) + "}" for line in lines]
        file.write_text("\n".join(rows) + "\n")
        return recorded_target(read_recording(file))

    import json

    json_string = json.dumps
    assert of('1-file-exec-and-symbols "/a b/\\"c"', "2-exec-run --start") == LaunchTarget(
        Path('/a b/"c'), stop_at_main=True
    )
    dump = of('1-file-exec-and-symbols "x"', '7-interpreter-exec console "target cudacore /tmp/d.nvcudmp"')
    assert dump == GpuDumpTarget(Path("/tmp/d.nvcudmp"), Path("x"))
    assert of("1-target-select core /tmp/the core") == CoreTarget(Path("/tmp/the core"))
    with pytest.raises(RecordingInvalid, match="never pointed"):
        of("1-gdb-version")


async def test_a_report_grows_while_the_tool_writes_it(ladder, vector_add, tmp_path) -> None:
    (report,) = vector_add.reports
    raw = report.read_bytes()
    path = tmp_path / "memcheck.log"
    path.write_bytes(raw[:2000])
    await ladder.open_files((path,))
    state = ladder.state
    before = len(state.report.findings)
    assert 0 < before < 24
    assert not state.report.complete
    told: list[Change] = []
    ladder.subscribe(told.append)
    with path.open("ab") as log:
        log.write(raw[2000:9000])
    async with asyncio.timeout(20):
        while len(state.report.findings) <= before:  # noqa: ASYNC110
            await asyncio.sleep(0.02)
    assert len(state.report.findings) < 24
    assert any(change & Change.FINDINGS for change in told)
    assert state.selected_finding == 0
    with path.open("ab") as log:
        log.write(raw[9000:])
    async with asyncio.timeout(20):
        while not state.report.complete:  # noqa: ASYNC110
            await asyncio.sleep(0.02)
    assert len(state.report.findings) == 24


async def test_a_jump_while_the_case_still_opens(ladder, cuda_gdb, monkeypatch) -> None:
    """The findings are there first; whoever presses Enter at once gets the lane, and one engine."""
    taken = ladder.engines.take
    slow = True

    async def take(name: str):
        nonlocal slow
        if slow:
            slow = False
            await asyncio.sleep(0.3)
        return await taken(name)

    monkeypatch.setattr(ladder.engines, "take", take)
    opening = asyncio.create_task(ladder.open_files((CASE,)))
    async with asyncio.timeout(30):
        while ladder.state.report is None:  # noqa: ASYNC110
            await asyncio.sleep(0.001)
        outcome = await ladder.jump(ladder.state.report.findings[8])
        await opening
    assert outcome.exact, outcome.reason
    assert ladder.active.state.run is Run.DUMP
    assert ladder.active.state.focus.dim3("thread") == (240, 0, 0)


async def test_the_lane_of_an_assertion_is_shown_where_it_asserts(ladder, cuda_gdb) -> None:
    await ladder.open_files((find_demo("assert").path,))
    assert ladder.state.report is not None
    outcome = await ladder.jump(ladder.state.report.findings[0])
    assert outcome.exact
    assert ladder.active is not None
    debug = ladder.active.state
    assert debug.frames.frames[0].function == "__assert_fail"
    assert debug.selected_frame == 1
    assert debug.place is not None
    assert (debug.place.file.rpartition("/")[2], debug.place.line) == ("device_assert.cu", 9)
    values = {each.name: each.value for each in debug.variables.variables}
    assert values["rows"] == "16"
    # The engine's own command line stands there too.
    assert (await ladder.active.evaluate("rows")).value == "16"


async def test_a_failed_call_of_the_driver_is_shown_where_it_was_made(ladder) -> None:
    await ladder.open_files((find_demo("two-kernels").path,))
    session = ladder.active
    assert session is not None
    await session.at_rest()
    await session.resume(StepKind.CONTINUE)
    async with asyncio.timeout(10):
        while session.state.run is not Run.STOPPED or "cudaMemcpy" not in session.state.run_detail:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    await session.at_rest()
    assert session.state.place is not None
    assert (session.state.place.file.rpartition("/")[2], session.state.place.line) == ("two_kernels.cu", 31)
    assert session.state.selected_frame == 8
