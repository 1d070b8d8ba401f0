"""Answers of cuda-gdb 12.4 and 13.0 as captured, without an engine."""

from __future__ import annotations

import pytest

from ladder_backends.cuda_gdb.focus import FOCUS_QUERY, cluster_dim_of, focus_of, switch_command
from ladder_backends.cuda_gdb.opening import tell_story
from ladder_backends.cuda_gdb.tables import (
    arguments_of,
    blocks_of,
    function_of,
    kernels_of,
    lanes_of,
    thread_runs,
    warps_of,
)
from ladder_backends.cuda_gdb.type_names import plain_type
from ladder_backends.mi.parse import parse
from ladder_backends.mi.records import ResultRecord, Value
from ladder_backends.model.focus import Focus
from ladder_backends.model.grid import LaneState
from ladder_backends.model.provenance import Provenance

LANE = Focus.of(kernel=0, grid=1, block=(3, 0, 0), thread=(232, 0, 0), device=0, sm=126, warp=7, lane=8)


def results(line: str) -> dict[str, Value]:
    record = parse(line.encode())
    assert isinstance(record, ResultRecord)
    return record.results


def test_focus_of_13() -> None:
    answer = (
        '8^done,CudaFocus={device="0",sm="126",warp="7",lane="8",kernel="0",grid="1",'
        'blockIdx="(3,0,0)",threadIdx="(232,0,0)"}'
    )
    assert focus_of(results(answer)) == LANE


def test_focus_of_a_cluster() -> None:
    answer = (
        '8^done,CudaFocus={device="0",sm="0",warp="3",lane="0",kernel="0",grid="6",clusterIdx="(0,0,0)",'
        'clusterDim="(4,1,1)",blockIdx="(0,0,0)",threadIdx="(0,0,0)"}'
    )
    assert focus_of(results(answer)) == Focus.of(
        kernel=0, grid=6, cluster=(0, 0, 0), block=(0, 0, 0), thread=(0, 0, 0), device=0, sm=0, warp=3, lane=0
    )
    assert cluster_dim_of(results(answer)) == (4, 1, 1)


def test_focus_of_12_4() -> None:
    text = "kernel 0, grid 1, block (3,0,0), thread (232,0,0), device 0, sm 126, warp 7, lane 8\n"
    assert focus_of({"": text}) == LANE


@pytest.mark.parametrize("text", ["Focus is not set on any active CUDA kernel.\n", "", "kernel x, lane (1,2)"])
def test_no_focus(text: str) -> None:
    assert focus_of({"": text}) is None
    assert focus_of({}) is None


def test_the_query_names_every_level() -> None:
    assert FOCUS_QUERY == "-cuda-focus-query kernel grid block thread device sm warp lane"


@pytest.mark.parametrize(
    ("asked", "command"),
    [
        (Focus.of(block=(3, 0, 0), thread=(240, 0, 0)), "block (3,0,0) thread (240,0,0)"),
        (Focus.of(kernel=0, block=(3, 0, 0), thread=(1, 2, 3)), "kernel 0 block (3,0,0) thread (1,2,3)"),
        (LANE, "kernel 0 block (3,0,0) thread (232,0,0)"),
        (Focus.of(lane=5), "lane 5"),
        (Focus.of(sm=3, warp=2, lane=5, device=0), "device 0 sm 3 warp 2 lane 5"),
        (Focus.of(grid=2, block=(0, 0, 0)), "grid 2 block (0,0,0)"),
    ],
)
def test_switch_command(asked: Focus, command: str) -> None:
    assert switch_command(asked) == f"-cuda-focus-switch {command}"


def test_kernels_with_and_without_arguments() -> None:
    answer = (
        '5^done,InfoCudaKernelsTable={nr_rows="1",nr_cols="10",hdr=[{width="1",alignment="1",col_name="current",'
        'colhdr=" "}],body=[InfoCudaKernelsRow={current="*",kernel="2",parent="-",device="1",grid="7",'
        'status="Active",sms_mask="0x40",gridDim="(4,5,6)",blockDim="(256,1,1)",invocation="vadd(a=0x7f, n=10)"}]}'
    )
    (kernel,) = kernels_of(results(answer), Provenance.RECORDING)
    assert (kernel.number, kernel.grid, kernel.device, kernel.name) == (2, 7, 1, "vadd")
    assert (kernel.grid_dim, kernel.block_dim, kernel.provenance) == ((4, 5, 6), (256, 1, 1), Provenance.RECORDING)


@pytest.mark.parametrize(
    ("invocation", "function"),
    [
        ("vadd()", "vadd"),
        ("scale(in=0x7f1c52800000, n=64)", "scale"),
        ("vadd(", "vadd"),
        ("at::(anonymous namespace)::small<float, 2>()", "at::(anonymous namespace)::small<float, 2>"),
        ("m(p=0x7f <error: Cannot access memory at address 0x7f>)", "m"),
        ("", ""),
    ],
)
def test_function_of(invocation: str, function: str) -> None:
    assert function_of(invocation) == function


def test_blocks_coalesced_and_not() -> None:
    coalesced = '6^done,CoalescedInfoCudaBlocksTable={body=[CoalescedInfoCudaBlocksRow={current="*",kernel="1",'
    coalesced += 'from="(0,0,0)",to="(131,0,0)",count="132",state="running"}]}'
    (run,) = blocks_of(results(coalesced), 0)
    assert (run.kernel, run.first, run.last, run.count, run.state) == (1, (0, 0, 0), (131, 0, 0), 132, "running")
    single = '6^done,UncoalescedInfoCudaBlocksTable={body=[UncoalescedInfoCudaBlocksRow={current="*",kernel="0",'
    single += 'blockIdx="(3,0,0)",state="running",device="0",sm="126"}]}'
    (run,) = blocks_of(results(single), 0)
    assert (run.first, run.last, run.count) == ((3, 0, 0), (3, 0, 0), 1)


def test_threads() -> None:
    answer = '11^done,CoalescedInfoCudaThreadsTable={body=[Row={current="*",kernel="0",from_blockIdx="(3,0,0)",'
    answer += (
        'from_threadIdx="(232,0,0)",to_blockIdx="(3,0,0)",to_threadIdx="(255,0,0)",count="24",virtual_pc="0x1"}]}'
    )
    (run,) = thread_runs(results(answer))
    assert (run.block, run.first, run.last, run.count) == ((3, 0, 0), (232, 0, 0), (255, 0, 0), 24)


WARPS = (
    '7^done,InfoCudaWarpsTable={nr_rows="3",body=['
    'InfoCudaWarpsRow={current=" ",warp="9",active_lanes_mask="0x55555555",divergent_lanes_mask="0xaaaaaaa0",'
    'active_physical_pc="0x20",kernel="0",blockIdx="(1,2,0)",threadIdx="(0,3,0)"},'
    'InfoCudaWarpsRow={current="*",warp="8",active_lanes_mask="0xffffffff",divergent_lanes_mask="0x00000000",'
    'active_physical_pc="0x10",kernel="0",blockIdx="(1,2,0)",threadIdx="(0,0,0)"},'
    'InfoCudaWarpsRow={current=" ",warp="1",active_lanes_mask="0xffffffff",divergent_lanes_mask="0x00000000",'
    'active_physical_pc="0x10",kernel="0",blockIdx="(7,2,0)",threadIdx="(0,0,0)"}]}'
)


def test_warps_of_a_block_by_their_masks() -> None:
    first, second = warps_of(results(WARPS), device=0, sm=5, kernel=0, block=(1, 2, 0), block_dim=(32, 8, 1))
    assert (first.number, first.index, second.number, second.index) == (8, 0, 9, 3)
    assert (second.lanes[0].state, second.lanes[0].thread, second.lanes[0].pc) == (
        LaneState.ACTIVE,
        (0, 3, 0),
        "0x20",
    )
    assert (second.lanes[31].state, second.lanes[31].thread) == (LaneState.DIVERGENT, (31, 3, 0))
    assert (second.lanes[1].state, second.lanes[1].thread) == (LaneState.ABSENT, None)


def test_warps_without_the_extent_of_a_block() -> None:
    warps = warps_of(results(WARPS), device=0, sm=5, kernel=None, block=(1, 2, 0), block_dim=None)
    assert [warp.number for warp in warps] == [9, 8]
    assert all(lane.thread is None for warp in warps for lane in warp.lanes)


def test_lanes() -> None:
    answer = (
        '8^done,InfoCudaLanesTable={body=[Row={current="*",lane="8",state="active",physical_pc="0x1",'
        'threadIdx="(8,3,0)",exception="None"},Row={current=" ",lane="9",state="divergent",physical_pc="0x2",'
        'threadIdx="(9,3,0)",exception="None"},Row={current=" ",lane="10",state="active",physical_pc="0x1",'
        'threadIdx="(10,3,0)",exception="Warp Assert"},Row={current=" ",lane="99",state="active"}]}'
    )
    lanes = lanes_of(results(answer))
    assert list(lanes) == [8, 9, 10]
    assert (lanes[8].state, lanes[8].thread, lanes[8].exception) == (LaneState.ACTIVE, (8, 3, 0), "")
    assert lanes[9].state is LaneState.DIVERGENT
    assert (lanes[10].state, lanes[10].exception) == (LaneState.FAULTING, "Warp Assert")


@pytest.mark.parametrize(
    ("told", "shown"),
    [
        ("@register int", "int"),
        ("@parameter int", "int"),
        ("const @generic float * @parameter", "const float *"),
        ("volatile @generic int * @parameter", "volatile int *"),
        ("@shared float [128]", "float [128]"),
        ("int", "int"),
        ("char @home", "char @home"),
    ],
)
def test_plain_type(told: str, shown: str) -> None:
    assert plain_type(told) == shown


def test_stories() -> None:
    thirteen = [
        "CUDA Exception: ",
        "Warp Misaligned Address",
        "The exception was triggered at PC 0x7fccbf7a01b0  misaligned(char*)  (uninit.cu:11)",
    ]
    assert tell_story(thirteen).description == "Warp Misaligned Address at uninit.cu:11"
    inlined = [*thirteen[:2], "The exception was triggered at PC 0x10  f  (/a/k.cu:24 in g inlined from k.cu:31)"]
    assert tell_story(inlined).description == "Warp Misaligned Address at k.cu:24"
    assert tell_story(thirteen[:2]).description == "Warp Misaligned Address"
    assert tell_story(["Assertion failed."]).description == "device assertion failed"
    assert not tell_story(["Opening GPU coredump: x"]).fault


@pytest.mark.parametrize(
    ("invocation", "name", "arguments"),
    [
        (
            'vadd(,args=[{name="a",value="0x7f (x)"},{name="n",value="1000"}])',
            "vadd",
            (("a", "0x7f (x)"), ("n", "1000")),
        ),
        ("vadd(a=0x7f, n=1000)", "vadd", (("a", "0x7f"), ("n", "1000"))),
        (
            'ns::add<f(int), 3>(s={1, 2}, c="a,b")',
            "ns::add<f(int), 3>",
            (("s", "{1, 2}"), ("c", '"a,b"')),
        ),
        ("spin()", "spin", ()),
        ("spin", "spin", ()),
        ("spin(,args=[{name=", "spin", ()),
    ],
)
def test_launch_parameters(invocation: str, name: str, arguments: tuple[tuple[str, str], ...]) -> None:
    assert (function_of(invocation), arguments_of(invocation)) == (name, arguments)
