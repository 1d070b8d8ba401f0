"""The matrix of pairs on the screen: live, walked on, drilled into, readable without colours and in 80x24."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ladder_backends.errors import LadderError
from ladder_backends.model.p2p import ArmResult, Claim, GpuReport, PairResult, Result, Stage, Sweep
from ladder_backends.session.ladder import Ladder
from ladder_backends.session.state import Change
from ladder_tui.panes.matrix_pane import MatrixPane

Matrix = Callable[..., AbstractAsyncContextManager[Any]]


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return tmp_path


@pytest.fixture
def matrix(show: Any) -> Matrix:
    """The application on the matrix of a simulated machine, before any sweep."""

    @asynccontextmanager
    async def opened(name: str, size: tuple[int, int] = (80, 24), **more: Any) -> AsyncIterator[Any]:
        ladder = Ladder()
        try:
            async with show(ladder, size, **more) as view:
                await ladder.hardware.open(name)
                await view.settle()
                await view.press("w", "x")
                await view.settle()
                yield view
        finally:
            await ladder.close()

    return opened


def pane_of(view: Any) -> MatrixPane:
    pane = view.app.workspace.panes["matrix"]
    assert isinstance(pane, MatrixPane)
    return pane


async def swept(view: Any, key: str = "t") -> Any:
    await view.press(key)
    await view.settle()
    return view.app.ladder


async def test_before_a_sweep_it_says_what_a_key_does(matrix: Matrix) -> None:
    async with matrix("story") as view:
        assert "t tests every pair of GPUs" in view.text()


async def test_what_is_wrong_and_what_to_type_are_seen_at_once(matrix: Matrix) -> None:
    async with matrix("story") as view:
        await swept(view)
        text = view.text()
        assert "claimed 12 of 12 · proven 0 · wrong 12" in text
        assert text.count("dropped") == 12
        assert "Every P2P write is lost" in text
        assert "Now:    export NCCL_P2P_DISABLE=1" in text
        assert "SIMULATED" in text
        await view.press("m")
        assert view.app.clipboard == "export NCCL_P2P_DISABLE=1"


async def test_eight_gpus_fit_into_80_columns(matrix: Matrix) -> None:
    async with matrix("healthy-8x-h200") as view:
        await swept(view)
        text = view.text()
        assert text.count("✓ 392") + text.count("[✓ 39") >= 56
        assert "…" not in "\n".join(text.splitlines()[2:12])
        assert "All 56 pairs are proven right" in text


async def test_a_cell_is_walked_to_and_opened(matrix: Matrix) -> None:
    async with matrix("mirror-vm") as view:
        await swept(view)
        await view.press("enter")
        text = view.text()
        assert "GPU0 → GPU1" in text
        assert "claimed  CUDA yes" in text
        assert "T4  store       mirrored" in text
        assert "the writer reads its own data back" in text
        await view.press("escape")
        assert "[✗ mirrored]" in view.text()


async def test_a_click_opens_a_cell(matrix: Matrix) -> None:
    async with matrix("mirror-vm") as view:
        await swept(view)
        lines = view.text().splitlines()
        y = next(number for number, line in enumerate(lines) if line.strip().startswith("GPU1 "))
        await view.click("#matrix", lines[y].index("✗ mirrored") + 3, y - 1)
        assert "GPU1 → GPU0" in view.text()


async def test_facts_of_the_verdict_have_their_sources(matrix: Matrix) -> None:
    async with matrix("story") as view:
        await swept(view)
        await view.press("i")
        text = view.text()
        assert "/sys/module/kvm_amd/parameters/sev_snp" in text
        assert "[arm staged]" in text
        await view.press("escape")
        assert "claimed 12 of 12" in view.text()


async def test_leaving_asks_while_a_sweep_is_at_work(matrix: Matrix) -> None:
    async with matrix("hang-pair") as view:
        pairs = view.app.ladder.state.pairs
        # Not `press`: it waits for the sweep to be over.
        await view.pilot.press("t")
        while not pairs.running:
            await view.pilot.pause()
        await view.pilot.press("q")
        await view.pilot.pause()
        assert "Leave? the test of GPUs" in view.text()
        await view.pilot.press("n")
        await view.pilot.pause()
        assert "Leave?" not in view.text()
        assert pairs.running
        await view.pilot.press("escape")
        while pairs.running:
            await view.pilot.pause(0.05)
        await view.settle()


async def test_a_sweep_is_stopped_by_a_key(matrix: Matrix) -> None:
    async with matrix("hang-pair") as view:
        ladder = view.app.ladder
        # Not `press`: it waits for the sweep to be over.
        await view.pilot.press("t")
        while not ladder.state.pairs.running:
            await view.pilot.pause()
        await view.pilot.press("escape")
        while ladder.state.pairs.running:
            await view.pilot.pause(0.05)
        await view.settle()
        assert ladder.state.pairs.sweep.stage is Stage.CANCELLED
        assert "cancelled" in view.text()


async def test_one_cell_is_tested_again(matrix: Matrix) -> None:
    async with matrix("one-direction") as view:
        ladder = await swept(view)
        before = ladder.state.pairs.sweep.pairs[2, 1]
        assert before.kind is Result.DROPPED
        await view.press("down", "down", "v")
        await view.settle()
        after = ladder.state.pairs.sweep.pairs[2, 1]
        assert after is not before
        assert after.kind is Result.DROPPED
        assert ladder.state.pairs.sweep.stage is Stage.DONE


async def test_gpus_in_use_are_asked_for(matrix: Matrix, tmp_path: Path) -> None:
    path = tmp_path / "busy.toml"
    path.write_text('[[gpu]]\nbusy = "python3 (4242), 38 GB"\n[[gpu]]\n[[link]]\n')
    async with matrix(str(path)) as view:
        ladder = await swept(view)
        assert "test them all the same?" in view.text()
        assert "python3 (4242), 38 GB" in view.text()
        await view.press("n")
        await view.settle()
        assert not any(pair.arms for pair in ladder.state.pairs.sweep.pairs.values())
        await view.press("t")
        await view.settle()
        await view.press("y")
        await view.settle()
        assert ladder.state.pairs.sweep.pairs[0, 1].kind is Result.RIGHT


async def test_a_baseline_tells_what_broke_beside_what_changed(matrix: Matrix) -> None:
    async with matrix("story-before") as view:
        ladder = await swept(view)
        await ladder.hardware.save("before")
    async with matrix("story") as view:
        ladder = await swept(view)
        await ladder.hardware.compare("before")
        await view.settle()
        text = view.text()
        assert 'Since "before": GPU0 → GPU1: right → dropped and 11 more' in text
        assert "kvm_amd.sev_snp=1" in text


def sweep_of(kinds: dict[tuple[int, int], Result], **more: Any) -> Sweep:
    gpus = tuple(GpuReport(number, "GPU") for number in range(3))
    pairs = {}
    for source in range(3):
        for target in range(3):
            if source != target:
                kind = kinds.get((source, target), Result.RIGHT)
                arms = {"push": ArmResult("push", source, target, kind)}
                pairs[source, target] = PairResult(source, target, Claim(True), arms, 26.0, 1.5)
    return Sweep(gpus, pairs, began=1.0, **more)


async def test_each_class_has_a_sign_and_a_word_of_its_own(matrix: Matrix) -> None:
    kinds = {
        (0, 1): Result.DROPPED,
        (0, 2): Result.MIRRORED,
        (1, 0): Result.MISROUTED,
        (1, 2): Result.STALE,
        (2, 0): Result.HUNG,
        (2, 1): Result.PARTIAL,
    }
    async with matrix("story") as view:
        ladder = view.app.ladder
        ladder.state.pairs.sweep = sweep_of(kinds, stage=Stage.DONE)
        ladder.tell(Change.PAIRS)
        await view.settle()
        text = view.text()
        for word in ("✗ dropped", "✗ mirrored", "✗ misrouted", "✗ stale", "H hung", "✗ partial"):
            assert word in text
        wedged = replace(ladder.state.pairs.sweep.gpus[0], state="wedged", why="busy with no process")
        ladder.state.pairs.sweep = replace(
            ladder.state.pairs.sweep, gpus=(wedged, *ladder.state.pairs.sweep.gpus[1:])
        )
        ladder.tell(Change.PAIRS)
        await view.settle()
        assert "W wedged" in view.text()


async def test_the_story_as_it_stands_on_the_screen(matrix: Matrix, shots: Any) -> None:
    async with matrix("story") as view:
        ladder = await swept(view)
        ladder.state.pairs.sweep = replace(ladder.state.pairs.sweep, took=4.1)
        ladder.tell(Change.PAIRS)
        await shots.both(view.pilot, "matrix-story")


@pytest.mark.parametrize("theme", ["dark", "light"])
async def test_cells_are_told_apart_without_colours(
    matrix: Matrix, theme: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with matrix("wedged", theme=theme) as view:
        await swept(view)
        text = view.text()
        assert "W wedged" in text
        assert "✓ 53" in text
        assert "GPU2 is wedged" in text


async def test_no_gpu_is_a_state_with_instructions(matrix: Matrix) -> None:
    async with matrix("story") as view:
        ladder = view.app.ladder
        ladder.state.hardware.simulate = ""
        await swept(view)
        text = view.text()
        assert "Nothing was tested: " in text
        assert "Now:" in text


async def test_a_pair_that_was_never_tested_is_not_tested_again(matrix: Matrix) -> None:
    async with matrix("story") as view:
        with pytest.raises(LadderError, match="start a sweep first"):
            await view.app.ladder.pairs.again(0, 1)


async def test_what_was_tested_before_the_machine_changed_is_marked(matrix: Matrix, tmp_path: Path) -> None:
    path = machine_file(tmp_path, "story-before")
    async with matrix(str(path)) as view:
        ladder = await swept(view)
        assert not ladder.state.pairs.stale
        path.write_text(path.read_text().replace("iommu=pt", "kvm_amd.sev_snp=1"))
        await ladder.hardware.look(again=True)
        await view.settle()
        text = view.text()
        assert "o  these were tested before the machine changed" in text
        assert "+kvm_amd.sev_snp=1" in text
        assert text.count("o 53") >= 11
        assert "✓ 53" not in text
        # What is tested again is of now.
        await view.press("v")
        await view.settle()
        assert len(ladder.state.pairs.stale) == 11
        assert "o  11 of these were tested before" in view.text()
        assert "✓ 53" in view.text()


async def test_a_machine_that_is_read_again_unchanged_makes_nothing_stale(matrix: Matrix) -> None:
    async with matrix("healthy-2x-h200") as view:
        ladder = await swept(view)
        await ladder.hardware.look(again=True)
        assert not ladder.state.pairs.stale


async def test_a_baseline_is_shown_until_something_is_tested(matrix: Matrix, tmp_path: Path) -> None:
    path = machine_file(tmp_path, "story-before")
    async with matrix(str(path)) as view:
        await swept(view)
        await view.app.ladder.hardware.save("before")
    path.write_text(path.read_text().replace("iommu=pt", "kvm_amd.sev_snp=1"))
    async with matrix(str(path)) as view:
        await view.app.ladder.hardware.compare("before")
        await view.settle()
        text = view.text()
        assert 'of the baseline "before"' in text
        assert "o 53" in text
        assert "not tested since" in text
        await view.press("enter")
        assert "claimed  CUDA yes" in view.text()
        await view.press("escape")
        await swept(view)
        assert 'of the baseline "before"' not in view.text()
        assert "✓ 53" in view.text()


async def test_a_cell_that_is_not_as_in_the_baseline_has_a_star(matrix: Matrix) -> None:
    async with matrix("story-before") as view:
        await swept(view)
        await view.app.ladder.hardware.save("before")
    async with matrix("story") as view:
        await swept(view)
        await view.app.ladder.hardware.compare("before")
        await view.settle()
        assert view.text().count("dropped*") == 12


async def test_another_machine_has_none_of_the_results(matrix: Matrix) -> None:
    async with matrix("healthy-2x-h200") as view:
        ladder = await swept(view)
        await ladder.hardware.open("story")
        assert ladder.state.pairs.sweep is None
        assert not ladder.state.pairs.verdicts


async def test_the_seconds_go_on_while_a_step_hangs(matrix: Matrix) -> None:
    async with matrix("hang-pair") as view:
        ladder = view.app.ladder
        await view.pilot.press("t")
        while not ladder.state.pairs.running:
            await view.pilot.pause()
        pane = pane_of(view)
        pane.refresh_from(ladder.state, Change.PAIRS)
        assert pane._clock is not None
        ladder.state.pairs.began -= 40
        assert re.search(r" 4\d s of about ", "".join(one.text for one in pane.title().state))
        await view.pilot.press("escape")
        await view.settle()
        assert pane._clock is None


async def test_one_report_of_everything_is_copied_or_written(matrix: Matrix, tmp_path: Path) -> None:
    async with matrix("one-direction") as view:
        await swept(view)
        await view.press("p")
        assert "copied as Markdown" in view.text()
        await view.press("enter")
        await view.settle()
        assert view.app.clipboard.startswith("## ")
        assert "### Topology" in view.app.clipboard
        assert "### Pairs" in view.app.clipboard
        await view.app.workspace._report(str(tmp_path / "r.txt"))
        await view.settle()
        assert (tmp_path / "r.txt").read_text().startswith("SIMULATED")
        assert "report written to" in view.text()


def machine_file(folder: Path, name: str) -> Path:
    from ladder_backends.simulator.machine import SCENARIOS

    path = folder / "machine.toml"
    path.write_text((SCENARIOS / f"{name}.toml").read_text())
    return path


async def test_eight_by_eight_with_every_mark_at_80x24(matrix: Matrix, shots: Any) -> None:
    kinds = [*Result]
    gpus = tuple(
        GpuReport(number, "NVIDIA H200", f"GPU-{number}", state="wedged" if number == 6 else "ok")
        for number in range(8)
    )
    pairs = {}
    for one in range(8):
        for other in range(8):
            if one == other:
                continue
            kind = kinds[(one + other) % len(kinds)] if one < 4 else Result.RIGHT
            arms = {"push": ArmResult("push", one, other, kind)} if kind is not Result.NOT_TESTED else {}
            pairs[one, other] = PairResult(
                one,
                other,
                Claim((one, other) != (3, 6)),
                arms,
                392.0 if kind in (Result.RIGHT, Result.SLOW) else None,
            )
    async with matrix("healthy-8x-h200") as view:
        pairs_state = view.app.ladder.state.pairs
        pairs_state.sweep = Sweep(gpus, pairs, simulated="8x H200", stage=Stage.DONE, began=1.0, took=41.0)
        pairs_state.stale = frozenset((4, other) for other in range(8) if other != 4)
        pairs_state.why_stale = "GPU4 MIG: off → on"
        pairs_state.changed = frozenset({(0, 1), (5, 6), (4, 7)})
        view.app.ladder.tell(Change.PAIRS)
        await view.settle()
        lines = view.text().splitlines()
        assert "SIMULATED" in lines[1]
        assert all(len(line) <= 80 for line in lines)
        await shots.both(view.pilot, "matrix-eight")
