"""What a recording answers, and what it must not."""

from __future__ import annotations

import asyncio
import random
from typing import Any

import pytest

from ladder_backends.mi.records import ResultRecord
from ladder_backends.mi.transport import Channel


def lane(token: int, thread: int, value: str) -> list[tuple[str, str]]:
    """A switch to a lane and a question there, the way cuda-gdb 13 answers."""
    lane_of = (
        f'device="0",sm="9",warp="7",lane="8",kernel="0",grid="1",blockIdx="(3,0,0)",threadIdx="({thread},0,0)"'
    )
    place = f"CudaFocus={{{lane_of}}}"
    return [
        (">", f"{token}-cuda-focus-switch kernel 0 block (3,0,0) thread ({thread},0,0)\n"),
        ("<", f'{token}^done,{place},frame={{level="0"}}\n(gdb) \n'),
        (">", f"{token + 1}-stack-list-variables --simple-values\n"),
        ("<", f'{token + 1}^done,v="{value}"\n(gdb) \n'),
    ]


def old_lane(token: int, thread: int, value: str) -> list[tuple[str, str]]:
    """The same on cuda-gdb 12.4 where the switch does not say where it led; the query has its raw newline."""
    return [
        (">", f"{token}-cuda-focus-switch block (3,0,0) thread ({thread},0,0)\n"),
        ("<", f'{token}^done,"CUDA focus unchanged.\\n"\n(gdb) \n'),
        (">", f"{token + 1}-cuda-focus-query kernel grid block thread\n"),
        (
            "<",
            f'{token + 1}^done,v="{thread}","kernel 0, grid 1, block (3,0,0), thread ({thread},0,0), lane 8\n"\n',
        ),
        (">", f"{token + 2}-stack-list-variables --simple-values\n"),
        ("<", f'{token + 2}^done,v="{value}"\n(gdb) \n'),
    ]


SWITCH = "-cuda-focus-switch kernel 0 block (3,0,0) thread ({},0,0)"
OLD_SWITCH = "-cuda-focus-switch block (3,0,0) thread ({},0,0)"
VARIABLES = "-stack-list-variables --simple-values"


async def test_tokens_are_those_of_the_question(recording: Any, opened: Any) -> None:
    held = recording((">", "77-gdb-version\n"), ("<", '77^done,v="x"\n(gdb) \n'))
    async with opened(held) as client:
        assert await client.ask("-gdb-version") == ResultRecord(2, "done", {"v": "x"})


async def test_what_was_not_recorded_is_not_answered(recording: Any, opened: Any) -> None:
    async with opened(recording()) as client:
        assert await client.says("-stack-list-frames") == "not recorded"
        assert await client.says("-list-features") == "done"


async def test_lanes_in_any_order_never_answer_for_each_other(recording: Any, opened: Any) -> None:
    threads = list(range(232, 256))
    lines = [line for n, thread in enumerate(threads) for line in lane(10 + 2 * n, thread, f"i of {thread}")]
    for seed in range(3):
        order = threads * 2
        random.Random(seed).shuffle(order)
        async with opened(recording(*lines)) as client:
            assert await client.says(VARIABLES) == "not recorded"
            for thread in order:
                await client.ask(SWITCH.format(thread))
                assert await client.says(VARIABLES) == f"i of {thread}"


async def test_lanes_of_the_older_dialect_in_any_order(recording: Any, opened: Any) -> None:
    threads = list(range(232, 240))
    begin = [
        (">", "9-cuda-focus-query kernel grid block thread\n"),
        ("<", '9^done,"kernel 0, grid 1, block (3,0,0), thread (232,0,0)"\n'),
    ]
    lines = [line for n, thread in enumerate(threads) for line in old_lane(10 + 3 * n, thread, f"i of {thread}")]
    order = threads * 2
    random.Random(5).shuffle(order)
    async with opened(recording(*begin, *lines)) as client:
        await client.ask("-cuda-focus-query kernel grid block thread")
        for thread in order:
            await client.ask(OLD_SWITCH.format(thread))
            assert await client.says("-cuda-focus-query kernel grid block thread") == str(thread)
            assert await client.says(VARIABLES) == f"i of {thread}"


async def test_a_lane_that_was_not_recorded_moves_nothing(recording: Any, opened: Any) -> None:
    async with opened(recording(*lane(10, 232, "a"), *lane(20, 240, "b"))) as client:
        await client.ask(SWITCH.format(240))
        assert await client.says(SWITCH.format(241)) == "not recorded"
        assert await client.says(VARIABLES) == "b"


async def test_a_refused_switch_moves_nothing(recording: Any, opened: Any) -> None:
    refused = [
        (">", "30-cuda-focus-switch kernel 0 block (9,0,0) thread (0,0,0)\n"),
        ("<", '30^error,msg="Invalid coordinates requested. CUDA focus unchanged."\n(gdb) \n'),
    ]
    async with opened(
        recording(*lane(10, 232, "a"), *refused, (">", "31-x-lanes\n"), ("<", '31^done,v="same"\n'))
    ) as client:
        await client.ask(SWITCH.format(232))
        assert (await client.says("-cuda-focus-switch kernel 0 block (9,0,0) thread (0,0,0)")).startswith(
            "refused: Invalid"
        )
        assert await client.says("-x-lanes") == "same"
        assert await client.says(VARIABLES) == "a"


async def test_a_relative_switch_counts_from_where_it_was_recorded(recording: Any, opened: Any) -> None:
    lines = [
        *lane(10, 232, "a"),
        (">", "20-cuda-focus-switch lane 5\n"),
        ("<", '20^done,v="moved"\n'),
        *lane(30, 240, "b"),
    ]
    async with opened(recording(*lines)) as client:
        await client.ask(SWITCH.format(240))
        assert await client.says("-cuda-focus-switch lane 5") == "not recorded"
        await client.ask(SWITCH.format(232))
        assert await client.says("-cuda-focus-switch lane 5") == "moved"


async def test_a_frame_is_part_of_the_place(recording: Any, opened: Any) -> None:
    lines = [
        (">", "2-data-evaluate-expression x\n"),
        ("<", '2^done,v="inner"\n'),
        (">", "3-stack-select-frame 1\n"),
        ("<", "3^done\n"),
        (">", "4-data-evaluate-expression x\n"),
        ("<", '4^done,v="outer"\n'),
        (">", "5-data-evaluate-expression y\n"),
        ("<", '5^done,v="outer y"\n'),
    ]
    async with opened(recording(*lines)) as client:
        assert await client.says("-data-evaluate-expression y") == "not recorded"
        await client.ask("-stack-select-frame 1")
        assert await client.says("-data-evaluate-expression x") == "outer"
        assert await client.says("-data-evaluate-expression y") == "outer y"


async def test_addressed_questions_do_not_depend_on_the_place(recording: Any, opened: Any) -> None:
    lines = [
        (">", "2-thread-select 2\n"),
        ("<", '2^done,new-thread-id="2"\n'),
        (">", "3-stack-list-variables --thread 1 --frame 0 --simple-values\n"),
        ("<", '3^done,v="of thread 1"\n'),
    ]
    async with opened(recording(*lines)) as client:
        assert await client.says("-stack-list-variables --thread 1 --frame 0 --simple-values") == "of thread 1"


async def test_repeated_questions_are_answered_in_order_then_with_the_last_answer(
    recording: Any, opened: Any
) -> None:
    lines = [
        line
        for n in (1, 2, 3)
        for line in ((">", f"{n + 10}-list-thread-groups\n"), ("<", f'{n + 10}^done,v="{n}"\n'))
    ]
    async with opened(recording(*lines)) as client:
        assert [await client.says("-list-thread-groups") for _ in range(5)] == ["1", "2", "3", "3", "3"]


def step(token: int, line: int) -> list[tuple[str, str]]:
    return [
        (">", f"{token}-exec-next\n"),
        ("<", f'{token}^running\n*running,thread-id="all"\n(gdb) \n'),
        ("<", f'*stopped,reason="end-stepping-range",line="{line}",thread-id="1"\n(gdb) \n'),
        (">", f"{token + 1}-stack-list-variables --thread 1 --frame 0 --simple-values\n"),
        ("<", f'{token + 1}^done,v="at {line}"\n(gdb) \n'),
    ]


async def test_steps_are_answered_in_time(recording: Any, opened: Any) -> None:
    question = "-stack-list-variables --thread 1 --frame 0 --simple-values"
    async with opened(recording(*step(10, 5), *step(20, 6), *step(30, 7))) as client:
        for line in (5, 6, 7):
            assert await client.says("-exec-next") == "running"
            assert await client.says(question) == f"at {line}"
            assert await client.says(question) == f"at {line}"
        assert client.stops() == ["end-stepping-range"] * 3
        assert await client.says("-exec-next") == "not recorded"
        assert await client.says("-exec-step") == "not recorded"
        assert await client.says(question) == "at 7"


async def test_breakpoints_decide_what_running_does(recording: Any, opened: Any) -> None:
    lines = [(">", "2-break-insert -f f\n"), ("<", '2^done,bkpt={number="1"}\n'), *step(10, 5)]
    async with opened(recording(*lines)) as client:
        assert await client.says("-exec-next") == "not recorded"
        await client.ask("-break-insert -f f")
        assert await client.says("-exec-next") == "running"


async def test_questions_at_a_stop_do_not_depend_on_breakpoints(recording: Any, opened: Any) -> None:
    lines = [*step(10, 5), (">", "40-break-insert -f g\n"), ("<", '40^done,bkpt={number="1"}\n')]
    async with opened(recording(*lines)) as client:
        await client.ask("-exec-next")
        await client.ask("-break-insert -f g")
        assert await client.says("-stack-list-variables --thread 1 --frame 0 --simple-values") == "at 5"


async def test_an_assignment_changes_the_answers_behind_it(recording: Any, opened: Any) -> None:
    lines = [
        (">", "2-data-evaluate-expression i\n"),
        ("<", '2^done,v="1"\n'),
        (">", '3-data-evaluate-expression "i = 5"\n'),
        ("<", '3^done,v="5"\n'),
        (">", "4-data-evaluate-expression i\n"),
        ("<", '4^done,v="5"\n'),
        (">", '5-data-evaluate-expression "i == 5"\n'),
        ("<", '5^done,v="true"\n'),
    ]
    async with opened(recording(*lines)) as client:
        assert [await client.says("-data-evaluate-expression i") for _ in range(3)] == ["1", "1", "1"]
        await client.ask('-data-evaluate-expression "i = 5"')
        assert await client.says("-data-evaluate-expression i") == "5"
        assert await client.says('-data-evaluate-expression "i == 5"') == "true"
        assert await client.says("-data-evaluate-expression i") == "5"


async def test_an_opening_is_answered_whatever_was_asked_before(recording: Any, opened: Any) -> None:
    lines = [
        (">", '2-file-exec-and-symbols "a"\n'),
        ("<", "2^done\n"),
        (">", '3-interpreter-exec console "target cudacore d.nvcudmp"\n'),
        ("<", '~"Opening GPU coredump: d.nvcudmp\\n"\n3^done,v="opened"\n'),
        (">", "4-cuda-info-kernels\n"),
        ("<", '4^done,v="k"\n'),
    ]
    async with opened(recording(*lines)) as client:
        assert await client.says("-cuda-info-kernels") == "not recorded"
        assert await client.says('-interpreter-exec console "target cudacore d.nvcudmp"') == "opened"
        assert client.console() == ["Opening GPU coredump: d.nvcudmp\n"]
        assert await client.says("-cuda-info-kernels") == "k"


FRAMES = ",".join(f'frame={{level="{n}",func="f\\"{n}"}}' for n in range(8))


@pytest.mark.parametrize(
    ("asked", "levels"),
    [
        ("0 3", [0, 1, 2, 3]),
        ("0 7", list(range(8))),
        ("2 4", [2, 3, 4]),
        ("0 8", None),
        ("", None),
        ("8 9", None),
    ],
)
async def test_a_smaller_window_of_a_stack_is_cut_from_a_larger_one(
    recording: Any, opened: Any, asked: str, levels: list[int] | None
) -> None:
    held = recording((">", "2-stack-list-frames --thread 1 0 7\n"), ("<", f"2^done,stack=[{FRAMES}]\n"))
    async with opened(held) as client:
        command = f"-stack-list-frames --thread 1 {asked}".strip()
        if levels is None:
            assert await client.says(command) == "not recorded"
        else:
            stack = (await client.ask(command)).results["stack"]
            assert stack == [{"level": str(n), "func": f'f"{n}'} for n in levels]
        assert await client.says("-stack-list-frames --thread 2 0 3") == "not recorded"


async def test_a_larger_window_is_answered_where_the_whole_stack_was_recorded(recording: Any, opened: Any) -> None:
    held = recording((">", "2-stack-list-frames 0 20\n"), ("<", f"2^done,stack=[{FRAMES}]\n"))
    async with opened(held) as client:
        for window in ("0 50", "", "3 90"):
            assert (await client.ask(f"-stack-list-frames {window}".strip())).results["stack"]


async def test_arguments_of_a_stack_are_cut_as_its_frames_are(recording: Any, opened: Any) -> None:
    ask = "-stack-list-arguments --thread 1 --simple-values"
    row = 'frame={level="%d",args=[{name="n",type="int",value="%d"}]}'
    rows = ",".join(row % (level, level * 10) for level in range(3))
    held = recording(
        (">", f"2{ask} 0 49\n"),
        ("<", f"2^done,stack-args=[{rows}]\n"),
        (">", "3-stack-select-frame --thread 1 1\n"),
        ("<", "3^done\n"),
    )
    async with opened(held) as client:
        whole = (await client.ask(f"{ask} 0 9")).results["stack-args"]
        assert [each["args"][0]["value"] for each in whole] == ["0", "10", "20"]
        assert (await client.ask(f"{ask} 1 1")).results["stack-args"] == whole[1:2]
        await client.ask("-stack-select-frame --thread 1 1")
        assert (await client.ask(f"{ask} 0 0")).results["stack-args"] == whole[:1]


async def test_console_lines(recording: Any, opened: Any) -> None:
    lines = [
        ("c<", "(cuda-gdb) "),
        *lane(10, 232, "a"),
        ("c>", "print i\n"),
        ("c<", "print i\r\n$1 = 1000\r\n(cuda-gdb) "),
        *lane(20, 240, "b"),
        ("c>", "print i\n"),
        ("c<", "print i\r\n$2 = 1008\r\n(cuda-gdb) "),
    ]
    async with opened(recording(*lines)) as client:

        async def typed(line: bytes) -> bytes:
            client.streams[Channel.CLI] = b""
            client.session.send(Channel.CLI, line)
            for _ in range(3):
                await asyncio.sleep(0)
            return client.streams[Channel.CLI]

        assert await typed(b"print i\n") == b"print i\r\nnot in this recording\r\n(cuda-gdb) "
        await client.ask(SWITCH.format(240))
        assert b"1008" in await typed(b"print i\n")
        await client.ask(SWITCH.format(232))
        assert b"1000" in await typed(b"print i\n")
        assert b"not in this recording" in await typed(b"print n\n")


async def test_a_typed_focus_change_is_followed(recording: Any, opened: Any) -> None:
    query = "-cuda-focus-query kernel grid block thread"
    lines = [
        *lane(10, 232, "a"),
        *lane(20, 240, "b"),
        ("c>", "cuda thread (232,0,0)\n"),
        ("c<", "[Switching focus to CUDA kernel 0, grid 1, block (3,0,0), thread (232,0,0)]\r\n(cuda-gdb) "),
        (">", f"30{query}\n"),
        ("<", '30^done,"kernel 0, grid 1, block (3,0,0), thread (232,0,0)"\n'),
    ]
    async with opened(recording(*lines)) as client:
        await client.ask(SWITCH.format(240))
        client.session.send(Channel.CLI, b"cuda thread (232,0,0)\n")
        assert await client.says(VARIABLES) == "not recorded"
        await client.ask(query)
        assert await client.says(VARIABLES) == "a"


async def test_a_run_typed_in_the_console(recording: Any, opened: Any) -> None:
    lines = [
        ("c>", "run\n"),
        ("c<", "run\r\nStarting program\r\n"),
        ("<", '*running,thread-id="all"\n'),
        ("p<", "hello\r\n"),
        ("<", '*stopped,reason="signal-received",thread-id="1"\n(gdb) \n'),
        ("c<", "(gdb) "),
        (">", "5-stack-list-frames --thread 1 0 9\n"),
        ("<", '5^done,v="frames"\n'),
    ]
    async with opened(recording(*lines)) as client:
        assert await client.says("-stack-list-frames --thread 1 0 9") == "not recorded"
        client.session.send(Channel.CLI, b"run\n")
        assert await client.says("-stack-list-frames --thread 1 0 9") == "frames"
        assert client.stops() == ["signal-received"]
        assert client.streams[Channel.PROGRAM] == b"hello\r\n"


async def test_a_stop_that_an_interrupt_made_waits_for_the_interrupt(recording: Any, opened: Any) -> None:
    lines = [
        (">", "2-exec-continue\n"),
        ("<", '2^running\n*running,thread-id="all"\n'),
        (">", "3-exec-interrupt\n"),
        ("<", "3^done\n"),
        ("<", '*stopped,reason="signal-received",thread-id="1"\n'),
    ]
    async with opened(recording(*lines)) as client:
        assert await client.says("-exec-continue") == "running"
        await asyncio.sleep(0)
        assert client.stops() == []
        assert await client.says("-exec-interrupt") == "done"
        await asyncio.sleep(0)
        assert client.stops() == ["signal-received"]


async def test_input_of_the_program_leads_on(recording: Any, opened: Any) -> None:
    lines = [
        (">", "2-exec-run\n"),
        ("<", '2^running\n*running,thread-id="all"\n'),
        ("p<", "name? "),
        ("p>", "ada\n"),
        ("p<", "ada\r\nhello ada\r\n"),
        ("<", '*stopped,reason="exited-normally"\n'),
    ]
    async with opened(recording(*lines)) as client:
        await client.ask("-exec-run")
        await asyncio.sleep(0)
        client.session.send(Channel.PROGRAM, b"bob\n")
        await asyncio.sleep(0)
        assert client.streams[Channel.PROGRAM] == b"name? "
        client.session.send(Channel.PROGRAM, b"ada\n")
        await asyncio.sleep(0.01)
        assert client.streams[Channel.PROGRAM].endswith(b"hello ada\r\n")
        assert client.stops() == ["exited-normally"]


def table(token: int, marked: int) -> list[tuple[str, str]]:
    rows = ",".join(f'Row={{current="{"*" if row == marked else " "}",warp="{row}"}}' for row in (6, 7))
    return [
        (">", f"{token}-cuda-info-warps device 0 sm 9\n"),
        ("<", f"{token}^done,T={{body=[{rows}]}}\n(gdb) \n"),
    ]


async def test_a_table_that_names_its_subject_marks_only_the_row_it_was_recorded_for(
    recording: Any, opened: Any
) -> None:
    lines = [*lane(10, 200, "a"), *table(12, 6), *lane(20, 232, "b"), *table(22, 7), *lane(30, 240, "c")]

    async def marks(client: Any) -> list[str]:
        body = (await client.ask("-cuda-info-warps device 0 sm 9")).results["T"]["body"]
        assert [row["warp"] for row in body] == ["6", "7"]
        return [row["warp"] for row in body if row["current"] == "*"]

    async with opened(recording(*lines)) as client:
        for thread, marked in ((232, ["7"]), (240, []), (200, ["6"]), (232, ["7"])):
            await client.ask(SWITCH.format(thread))
            assert await marks(client) == marked
        assert await client.says("-cuda-info-warps device 0 sm 8") == "not recorded"
        assert await client.says("-cuda-info-warps") == "not recorded"


async def test_kernels_are_marked_alike_in_all_lanes_of_a_kernel(recording: Any, opened: Any) -> None:
    kernels = [(">", "12-cuda-info-kernels\n"), ("<", '12^done,T={body=[Row={current="*",kernel="0"}]}\n')]
    async with opened(recording(*lane(10, 232, "a"), *kernels, *lane(20, 240, "b"))) as client:
        await client.ask(SWITCH.format(240))
        body = (await client.ask("-cuda-info-kernels")).results["T"]["body"]
        assert body == [{"current": "*", "kernel": "0"}]


async def test_completions_are_those_of_their_time(recording: Any, opened: Any) -> None:
    lines = [
        (">", '2-complete "print "\n'),
        ("<", '2^done,v="nothing"\n'),
        (">", '3-file-exec-and-symbols "a"\n'),
        ("<", "3^done\n"),
        (">", '4-complete "print "\n'),
        ("<", '4^done,v="symbols"\n'),
    ]
    async with opened(recording(*lines)) as client:
        assert [await client.says('-complete "print "') for _ in range(2)] == ["nothing", "nothing"]
        await client.ask('-file-exec-and-symbols "a"')
        assert await client.says('-complete "print "') == "symbols"
