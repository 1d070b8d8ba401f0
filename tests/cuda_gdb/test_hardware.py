"""The real cuda-gdb's devices, SMs, warps and lines of lanes, on real dumps; and its tables as 13.0 writes them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ladder_backends.cuda_gdb.hardware import devices_of, sm_warps_of, sms_of
from ladder_backends.cuda_gdb.tables import thread_runs
from ladder_backends.mi.parse import parse
from ladder_backends.mi.records import ResultRecord
from ladder_backends.model.focus import Focus
from ladder_backends.model.grid import Kernel, LaneState

from .conftest import Stand, dump_target

Make = Callable[[], Stand]


def answer(text: str) -> ResultRecord:
    record = parse(f"1^done,{text}".encode())
    assert isinstance(record, ResultRecord)
    return record


@pytest.mark.cuda_gdb
async def test_the_hardware_of_a_dump(stand: Make) -> None:
    one = stand()
    await one.debugger.open(dump_target("hang"))
    hardware = one.debugger.device_map
    assert hardware is not None
    (device,) = await hardware.devices()
    assert (device.number, device.name, device.architecture, device.bus) == (0, "NVIDIA H200", "sm_90", "00:06.0")
    assert (device.sm_count, device.warps_per_sm) == (132, 64)
    sms = await hardware.sms(0)
    assert [(sm.number, sm.warps) for sm in sms] == [(124, 2), (126, 2)]
    assert device.active_sms == sum(1 << sm.number for sm in sms)
    warps = await hardware.warps_on(0, 126)
    assert [(warp.number, warp.index, warp.block, warp.kernel) for warp in warps] == [
        (0, 0, (1, 0, 0), 0),
        (1, 1, (1, 0, 0), 0),
    ]
    assert {lane.state for warp in warps for lane in warp.lanes} == {LaneState.ACTIVE}
    assert warps[1].lanes[3].thread == (35, 0, 0)
    assert await hardware.warps_on(0, 5) == ()
    assert await hardware.sms(1) == ()


@pytest.mark.cuda_gdb
async def test_a_lane_of_an_sm_is_gone_to(stand: Make) -> None:
    one = stand()
    await one.debugger.open(dump_target("hang"))
    reached = await one.debugger.switch(Focus.of(device=0, sm=126, warp=1, lane=3))
    assert (reached["block"], reached["thread"]) == ((1, 0, 0), (35, 0, 0))


@pytest.mark.cuda_gdb
async def test_lines_of_the_lanes_of_a_block(stand: Make) -> None:
    one = stand()
    await one.debugger.open(dump_target("vector-add"))
    (run,) = await one.debugger.threads_held((3, 0, 0))
    assert run.place is not None
    assert str(run.place) == "vector_add_oob.cu:10"
    assert run.place.fullname.startswith("/")
    warps = await one.debugger.warps(Focus.of(kernel=0, block=(3, 0, 0)))
    assert {lane.pc for warp in warps for lane in warp.lanes if lane.pc} == {run.pc}


@pytest.mark.cuda_gdb
async def test_lines_are_told_with_line_information_alone(stand: Make) -> None:
    one = stand()
    await one.debugger.open(dump_target("triton-oob"))
    focus = await one.debugger.focus()
    assert focus is not None
    block = focus.dim3("block")
    assert block is not None
    runs = await one.debugger.threads_held(block)
    assert {str(run.place) for run in runs} == {"triton_oob.py:5"}


def test_tables_of_a_live_device() -> None:
    (device,) = devices_of(
        answer(
            'InfoCudaDevicesTable={nr_rows="1",nr_cols="11",hdr=[],body=[InfoCudaDevicesRow={current="*",device="0",'
            'pci_bus="00:06.0",name="NVIDIA H200",description="GH100GL-A",sm_type="sm_90",num_sms="132",'
            'num_warps="64",num_lanes="32",num_regs="255",active_sms_mask="0x0550000000000000000000000000000000"}]}'
        ).results
    )
    assert [sm for sm in range(132) if device.active_sms >> sm & 1] == [116 + 8, 126, 128, 130]
    sms = sms_of(
        answer(
            'InfoCudaSmsTable={nr_rows="2",nr_cols="3",hdr=[],body=['
            'InfoCudaSmsRow={current=" ",sm="126",active_warps_mask="0x00000000000000ff"},'
            'InfoCudaSmsRow={current="*",sm="124",active_warps_mask="0xffffffffffffffff"}]}'
        ).results,
        0,
    )
    assert [(sm.number, sm.warps) for sm in sms] == [(124, 64), (126, 8)]


def test_warps_of_several_kernels_share_an_sm() -> None:
    row = (
        'InfoCudaWarpsRow={{current=" ",warp="{}",active_lanes_mask="0x0000ffff",divergent_lanes_mask="{}",'
        'active_physical_pc="0x00007ffddb7a1620",kernel="{}",blockIdx="{}",threadIdx="{}"}}'
    )
    rows = [
        row.format(9, "0x00ff0000", 1, "(2,0,0)", "(0,1,0)"),
        row.format(0, "0x00000000", 0, "(41,0,0)", "(0,4,0)"),
        row.format(3, "junk", "n/a", "(1,0,0)", "(0,0,0)"),
        'InfoCudaWarpsRow={current=" ",warp="12",active_lanes_mask="n/a",blockIdx="n/a",threadIdx="n/a"}',
    ]
    kernels = (
        Kernel(0, 1, 0, "tile", (250, 1000, 1), (32, 8, 1), "Active"),
        Kernel(1, 2, 0, "odd", (4, 1, 1), (64, 2, 1), "Active"),
    )
    table = f'InfoCudaWarpsTable={{nr_rows="4",nr_cols="8",hdr=[],body=[{",".join(rows)}]}}'
    warps = sm_warps_of(answer(table).results, 0, 5, kernels)
    assert [(warp.number, warp.kernel, warp.index) for warp in warps] == [(0, 0, 4), (3, None, 0), (9, 1, 2)]
    states = [lane.state for lane in warps[2].lanes]
    assert [states.count(state) for state in (LaneState.ACTIVE, LaneState.DIVERGENT, LaneState.ABSENT)] == [
        16,
        8,
        8,
    ]
    assert warps[1].lanes[0].thread is None


def test_runs_without_a_line_have_no_place() -> None:
    table = answer(
        'CoalescedInfoCudaThreadsTable={nr_rows="1",nr_cols="10",hdr=[],body=[CoalescedInfoCudaThreadsRow={'
        'current=" ",kernel="0",from_blockIdx="(1,0,0)",from_threadIdx="(0,0,0)",to_blockIdx="(1,0,0)",'
        'to_threadIdx="(31,7,0)",count="256",virtual_pc="0x10",filename="n/a",line="0"}]}'
    )
    (run,) = thread_runs(table.results)
    assert (run.place, run.pc, run.count) == (None, "0x10", 256)
