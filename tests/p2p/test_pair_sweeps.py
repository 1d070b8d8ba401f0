"""Sweeps through real worker processes: what is shipped, what is lost under way, what a person stops."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from ladder_backends.errors import LadderError
from ladder_backends.model.p2p import Result, Stage
from ladder_backends.p2p.arms import ARMS, Depth, Scope, arms_of, expected_seconds
from ladder_backends.session.p2p_sweep import PairSweep
from ladder_backends.session.p2p_wish import BusyGpus
from ladder_backends.simulator.machine import MachineInvalid, load, names

from .conftest import Swept, machine, wish_for

Sweeper = Callable[..., Awaitable[Swept]]

SHIPPED = {
    "hang-pair": "hang",
    "healthy-2x-h200": "right",
    "healthy-8x-h200": "right",
    "ipc-broken": "right",
    "mirror-vm": "mirror",
    "one-direction": "one-direction",
    "one-gpu": "one-gpu-right",
    "slow-pcie": "slow-below-staged",
    "story": "dropped-snp",
    "story-before": "right",
    "wedged": "wedged",
}


def test_every_shipped_machine_is_expected_to_show_something() -> None:
    assert set(names()) >= set(SHIPPED)


@pytest.mark.parametrize("name", SHIPPED)
async def test_shipped_machines_show_what_they_are_for(name: str, swept: Sweeper) -> None:
    path = load(name).path
    text = path.read_text()
    found = await swept(text if "patience" in text else "patience = 0.2\n" + text)
    assert found.verdicts[0].id == SHIPPED[name]
    assert found.sweep.stage is Stage.DONE


async def test_every_pair_has_every_arm(swept: Sweeper) -> None:
    found = await swept(machine(3), Depth.DEEP)
    assert len(found.sweep.pairs) == 6
    wanted = {arm.id for scope in (Scope.PAIR, Scope.OWN_PROCESS) for arm in arms_of(Depth.DEEP, scope)}
    for pair in found.sweep.pairs.values():
        assert set(pair.arms) == wanted
        assert pair.bandwidth == pytest.approx(26.0, rel=0.01)
    assert {key[0] for key in found.sweep.controls} == {"local", "host", "staged"}
    assert set(found.sweep.together) == {"one to all", "all to one", "ring", "all at once"}
    assert all(one.result is Result.RIGHT for one in found.sweep.together.values())


async def test_a_hung_arm_costs_itself_alone(swept: Sweeper) -> None:
    fault = '[[fault]]\nkind = "hang"\nvia = "load"\nfrom = 1\nto = 0'
    found = await swept(machine(2, fault))
    hung = found.sweep.pairs[1, 0].arms
    assert hung["load"].result is Result.HUNG
    assert hung["load"].evidence["step"] == "load 4 bytes a lane"
    assert hung["speed"].result is Result.RIGHT
    assert all(one.result is Result.RIGHT for one in found.sweep.pairs[0, 1].arms.values())
    assert all(gpu.state == "ok" for gpu in found.sweep.gpus)


async def test_a_worker_that_takes_no_notice_is_killed(swept: Sweeper) -> None:
    fault = '[[fault]]\nkind = "hang"\nvia = "store"\nfrom = 1\nto = 0\nstubborn = true'
    found = await swept(machine(2, fault))
    assert found.sweep.pairs[1, 0].kind is Result.HUNG
    assert found.sweep.pairs[0, 1].kind is Result.RIGHT


async def test_a_wedged_gpu_is_left_alone_and_the_others_go_on(swept: Sweeper) -> None:
    fault = '[[fault]]\nkind = "hang"\nvia = "push"\nfrom = 0\nto = 3\nwedges = true'
    found = await swept(machine(4, fault))
    assert [gpu.state for gpu in found.sweep.gpus] == ["ok", "ok", "ok", "wedged"]
    assert found.sweep.pairs[1, 2].kind is Result.RIGHT
    assert any("GPU3 is wedged" in line for line in found.sweep.untested)


async def test_a_lost_context_ends_its_worker_and_not_the_arms_after_it(swept: Sweeper) -> None:
    fault = '[[fault]]\nkind = "error"\ncode = 700\nvia = "store"\nfrom = 0\nto = 1'
    found = await swept(machine(2, fault))
    arms = found.sweep.pairs[0, 1].arms
    assert arms["store"].result is Result.ERROR
    assert arms["load"].result is arms["speed"].result is Result.RIGHT


async def test_a_misroute_names_where_it_landed(swept: Sweeper) -> None:
    fault = '[[fault]]\nkind = "misroute"\nfrom = 0\nto = 1\nlands_on = 2'
    found = await swept(machine(3, fault))
    trace = found.sweep.pairs[0, 1].arms["trace"]
    assert trace.evidence["landed_on"] == 2
    assert found.sweep.pairs[0, 1].kind is Result.MISROUTED
    assert found.sweep.pairs[1, 0].kind is Result.RIGHT


async def test_one_gpu_is_tested_as_far_as_it_goes(swept: Sweeper) -> None:
    found = await swept(machine(1), Depth.DEEP)
    assert {key[0] for key in found.sweep.controls} == {"local", "host", "ipc", "fd", "shm"}
    assert all(one.result is Result.RIGHT for one in found.sweep.controls.values())
    assert "there is one GPU" in found.sweep.untested[0]


async def test_gpus_in_use_are_not_touched_without_a_word(swept: Sweeper) -> None:
    text = machine(2).replace('bus = "0000:51:00.0"', 'bus = "0000:51:00.0"\nbusy = "python3 (4242), 38 GB"')
    with pytest.raises(BusyGpus) as busy:
        await swept(text)
    assert busy.value.gpus == (1,)
    assert "python3 (4242), 38 GB" in busy.value.line()
    assert (await swept(text, only=(0,))).sweep.stage is Stage.DONE
    assert (await swept(text, busy_too=True)).sweep.pairs[0, 1].kind is Result.RIGHT


async def test_a_gpu_that_is_not_there_is_an_error_in_one_line(swept: Sweeper) -> None:
    with pytest.raises(LadderError, match="there is no GPU7: they are 0 to 1"):
        await swept(machine(2), only=(0, 7))


async def started(
    tmp_path: Path, text: str, changed: Callable[[], None] = lambda: None
) -> tuple[PairSweep, asyncio.Task[object]]:
    path = tmp_path / "machine.toml"
    path.write_text(text)
    (tmp_path / "state").mkdir()
    sweep = PairSweep(changed)
    return sweep, asyncio.ensure_future(sweep.sweep(wish_for(path, tmp_path / "state")))


async def test_a_sweep_is_cancelled_at_once_and_keeps_what_it_knows(tmp_path: Path) -> None:
    text = machine(2, '[[fault]]\nkind = "hang"\nvia = "push"\nfrom = 1').replace("patience = 0.1", "")
    hangs = asyncio.Event()

    def look() -> None:
        pair = sweep.state.pairs.get((1, 0))
        if pair is not None and pair.running == "push: copy":
            hangs.set()

    sweep, task = await started(tmp_path, text, look)
    await asyncio.wait_for(hangs.wait(), 30)
    with pytest.raises(LadderError, match="a sweep is at work"):
        await sweep.sweep(sweep.wish)
    await sweep.cancel()
    await task
    assert sweep.state.stage is Stage.CANCELLED
    assert sweep.state.pairs[0, 1].arms["push"].result is Result.RIGHT
    assert not sweep.state.pairs[1, 0].running
    assert not sweep.running


async def test_one_cell_is_tested_again(tmp_path: Path) -> None:
    sweep, task = await started(tmp_path, machine(2, '[[fault]]\nkind = "drop"\nfrom = 1'))
    await task
    assert sweep.state.pairs[1, 0].kind is Result.DROPPED
    (tmp_path / "machine.toml").write_text(machine(2))
    other = sweep.state.pairs[0, 1]
    await sweep.again(1, 0)
    assert sweep.state.pairs[1, 0].kind is Result.RIGHT
    assert sweep.state.pairs[0, 1] == other
    with pytest.raises(LadderError, match="never tested"):
        await sweep.again(0, 5)


def test_the_plan_says_what_it_costs() -> None:
    assert len(arms_of(Depth.QUICK, Scope.PAIR)) < len(arms_of(Depth.DEEP, Scope.PAIR))
    assert {arm.test for arm in ARMS.values()} >= {f"T{number}" for number in range(1, 15)}
    assert expected_seconds(Depth.QUICK, 2) <= 10
    assert expected_seconds(Depth.QUICK, 8) <= 60
    assert expected_seconds(Depth.SOAK, 2) > 60


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("gpu = 3", "describes no machine"),
        ("[[gpu]]\n[[fault]]\nkind = 'melt'", "there is no fault melt"),
        ("[[fault]]\nkind = 'drop'\nvia = 'radio'", "there is no path radio"),
        ("[[gpu]]\n[[fault]]\nfrom = 0", "'kind' is missing"),
        ("[[fault]]\nkind = 'drop'\nfrom = 'all'", "from is a number"),
        ("[[", "is no simulated machine"),
    ],
)
def test_a_file_that_is_no_machine_says_so(text: str, why: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.toml"
    path.write_text(text)
    with pytest.raises(MachineInvalid) as invalid:
        load(str(path))
    assert why in invalid.value.line()


def test_a_machine_that_is_not_there_says_so() -> None:
    with pytest.raises(MachineInvalid, match="list names the shipped ones"):
        load("nowhere")
