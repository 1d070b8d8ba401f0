"""The given transcripts played back: the same answers, asked in their own order."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from ladder_backends.errors import CommandFailed, MalformedRecord
from ladder_backends.mi.parse import parse
from ladder_backends.mi.records import ResultRecord
from ladder_backends.recording import read_recording

FOLDER = Path(__file__).parents[1] / "mi" / "recordings"
TRANSCRIPTS = sorted(FOLDER.glob("*.jsonl"))
# The program shared the machine interface's terminal: an answer was glued behind its output.
UNANSWERED = {
    "misaligned-exception": 1,
    "hang-interrupt": 1,
    "host-segfault-under-cuda-gdb": 1,
    "oob-runs-clean": 1,
}


@pytest.mark.parametrize("path", TRANSCRIPTS, ids=lambda path: path.stem)
async def test_every_command_gets_its_recorded_answer(path: Path, opened: Any) -> None:
    held = read_recording(path)
    answers: dict[int, ResultRecord] = {}
    commands: dict[int, str] = {}
    for entry in held.entries:
        text = entry.raw.decode().rstrip("\n")
        match = re.match(r"(\d+)(-.*)", text)
        if entry.sent and match:
            commands[int(match[1])] = match[2]
        elif not entry.sent:
            try:
                record = parse(text.encode())
            except MalformedRecord:
                continue
            if isinstance(record, ResultRecord) and record.token is not None:
                answers.setdefault(record.token, record)
    assert len(commands) >= 8
    unanswered = 0
    async with opened(held) as client:
        for token, command in commands.items():
            expected = answers.get(token)
            if expected is None:
                unanswered += 1
                assert await client.says(command) == "not recorded"
            elif expected.cls == "error":
                with pytest.raises(CommandFailed) as refused:
                    await client.ask(command)
                assert refused.value.what == expected.results["msg"]
            else:
                record = await client.ask(command)
                assert (record.cls, record.results) == (expected.cls, expected.results)
    assert unanswered <= UNANSWERED.get(path.stem, 0)


async def test_the_stop_and_its_place_follow_the_run(opened: Any) -> None:
    async with opened(read_recording(FOLDER / "oob-launch-then-condition.jsonl")) as client:
        for command in (
            '-interpreter-exec console "set cuda break_on_launch application"',
            "-exec-run",
            '-break-insert -c "blockIdx.x==3 && threadIdx.x==232" vector_add_oob.cu:10',
            '-interpreter-exec console "set cuda break_on_launch none"',
            "-exec-continue",
        ):
            await client.ask(command)
        focus = (await client.ask("-cuda-focus-query kernel grid block thread device sm warp lane")).results
        assert focus["CudaFocus"]["threadIdx"] == "(232,0,0)"  # type: ignore[index,call-overload]
        assert len(client.stops()) == 2


async def test_a_recorded_dump_answers_for_its_two_lanes_only(opened: Any) -> None:
    async with opened(read_recording(FOLDER / "coredump-memcheck-oob.jsonl")) as client:
        await client.ask('-interpreter-exec console "target cudacore /home/user/ladder/core_oob.nvcudmp"')
        await client.ask("-cuda-focus-query kernel grid block thread device sm warp lane")
        await client.ask("-cuda-focus-switch block (3,0,0) thread (240,0,0)")
        variables = (await client.ask("-stack-list-variables --all-values")).results["variables"]
        assert {"name": "i", "value": "1008"} in variables
        assert await client.says("-cuda-focus-switch block (3,0,0) thread (241,0,0)") == "not recorded"
        assert await client.says("-cuda-info-lanes") == "not recorded"
