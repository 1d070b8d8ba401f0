"""The session's own rules, with the test as the engine: what real engines do too seldom to wait for."""

from __future__ import annotations

import asyncio
import gc
import time
from typing import Any

import pytest

from ladder_backends.errors import CommandFailed, DeadlinePassed, EngineDied, MalformedRecord, NotRecorded
from ladder_backends.mi.records import AsyncRecord, ResultRecord, StreamRecord, UnknownRecord, all_values
from ladder_backends.mi.session import MiSession, Notice
from ladder_backends.mi.transport import Channel


class Told:
    """What a session told its listener, in order."""

    def __init__(self, session: MiSession) -> None:
        self.notices: list[Notice] = []
        self.streams: list[tuple[Channel, bytes]] = []
        self.ends: list[tuple[int | None, bool]] = []
        session.listen(
            notice=self.notices.append,
            stream=lambda channel, chunk: self.streams.append((channel, chunk)),
            ended=lambda status, expected: self.ends.append((status, expected)),
        )


@pytest.fixture
async def session(played: Any) -> MiSession:
    session = MiSession(played)
    await session.start()
    return session


@pytest.fixture
def told(session: MiSession) -> Told:
    return Told(session)


async def test_answers_find_their_commands_in_any_order(played: Any, session: MiSession) -> None:
    answers = [session.submit(f"-x {n}") for n in range(3)]
    assert played.sent[1:] == [b"2-x 0\n", b"3-x 1\n", b"4-x 2\n"]
    assert [command.text for command in session.pending()] == ["-x 0", "-x 1", "-x 2"]
    played.says(b'(gdb) \n4^done,n="2"\n2^done,n="0"\n(gdb) \n')
    assert [command.text for command in session.pending()] == ["-x 1"]
    played.says(b'3^done,n="1"\n')
    assert [(await answer).results["n"] for answer in answers] == ["0", "1", "2"]
    assert session.pending() == []


async def test_prompts_and_a_quit_without_a_token_answer_nothing(
    played: Any, session: MiSession, told: Told
) -> None:
    answer = session.submit("-x")
    played.says(b'&"Quit\\n"\n(gdb) \n(gdb) \n')
    assert not answer.done()
    played.says(b"2^done\n")
    assert (await answer).cls == "done"
    assert told.notices == [StreamRecord("&", "Quit\n")]


async def test_an_error_is_an_exception_with_its_code(played: Any, session: MiSession) -> None:
    answer = session.submit("-foo")
    played.says(b'2^error,msg="Undefined MI command: foo \\033[1m",code="undefined-command"\n')
    with pytest.raises(CommandFailed) as caught:
        await answer
    assert caught.value.command == "-foo"
    assert caught.value.code == "undefined-command"
    assert "\x1b" not in caught.value.line()


async def test_an_error_without_a_message(played: Any, session: MiSession) -> None:
    answer = session.submit("-foo")
    played.says(b"2^error\n")
    with pytest.raises(CommandFailed, match="refused"):
        await answer


async def test_not_recorded_is_told_apart(played: Any, session: MiSession) -> None:
    answer = session.submit("-foo")
    played.says(b'2^error,msg="not in this recording",code="not-recorded"\n')
    with pytest.raises(NotRecorded, match="-foo"):
        await answer


async def test_a_deadline_passes_and_the_late_answer_is_dropped(
    played: Any, session: MiSession, told: Told
) -> None:
    with pytest.raises(DeadlinePassed):
        await session.command("-slow", deadline=0.01)
    assert session.pending() == []
    played.says(b'2^done,late="yes"\n')
    answer = session.submit("-next")
    played.says(b"3^done\n")
    assert await answer == ResultRecord(3, "done")
    assert told.notices == []


async def test_a_cancelled_command_is_forgotten(played: Any, session: MiSession, told: Told) -> None:
    asking = asyncio.ensure_future(session.command("-slow"))
    await asyncio.sleep(0)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert session.pending() == []
    played.says(b'2^error,msg="late"\n')
    assert told.notices == []


async def test_two_results_for_one_command(played: Any, session: MiSession, told: Told) -> None:
    answer = session.submit("-exec-continue")
    played.says(
        b'2^running\n*running,thread-id="all"\n(gdb) \n2^error,msg="Could not insert hardware watchpoint 2."\n'
    )
    assert (await answer).cls == "running"
    assert told.notices == [
        AsyncRecord("*", "running", {"thread-id": "all"}),
        ResultRecord(2, "error", {"msg": "Could not insert hardware watchpoint 2."}),
    ]


async def test_a_malformed_answer_is_an_answer(played: Any, session: MiSession, told: Told) -> None:
    answer = session.submit("-x")
    played.says(b"2^done,a=oops\n3^done\n")
    with pytest.raises(MalformedRecord):
        await answer
    assert isinstance(told.notices[0], UnknownRecord)


async def test_a_slightly_broken_stop_is_not_lost(played: Any, session: MiSession, told: Told) -> None:
    played.says(b'*stopped,reason="breakpoint-hit" junk\n')
    assert told.notices == [AsyncRecord("*", "stopped", {"reason": "breakpoint-hit"})]


async def test_the_end_fails_everything_that_is_pending(played: Any, session: MiSession, told: Told) -> None:
    answers = [session.submit("-a"), session.submit("-b", deadline=None)]
    played.writes(Channel.CLI, b"cuda-state.c:123: internal-error: \x1b[31mboom\r\n(cuda-gdb) ")
    played.says(b'2^done,a="cut')
    played.dies(-6)
    for answer, name in zip(answers, ("-a", "-b"), strict=True):
        with pytest.raises(EngineDied) as caught:
            await answer
        line = caught.value.line()
        assert "SIGABRT" in line
        assert f"pending: {name}" in line
        assert "internal-error" in line
        assert "\x1b" not in line
    assert told.ends == [(-6, False)]
    assert not session.alive
    with pytest.raises(EngineDied):
        await session.command("-c")


async def test_answers_that_came_with_the_end_still_count(played: Any, session: MiSession, told: Told) -> None:
    answer = session.submit("-a")
    played.says(b'2^done,a="1"')
    played.dies(0)
    assert (await answer).results == {"a": "1"}
    assert told.ends == [(0, False)]


async def test_records_and_bytes_come_in_the_turn_that_read_them(
    played: Any, session: MiSession, told: Told
) -> None:
    played.says(b'=a,n="1"\n~"two\\n"\njunk\n=a,n="3"\n')
    played.writes(Channel.PROGRAM, b"\xff\x00raw")
    assert [type(notice).__name__ for notice in told.notices] == [
        "AsyncRecord",
        "StreamRecord",
        "UnknownRecord",
        "AsyncRecord",
    ]
    assert told.streams == [(Channel.PROGRAM, b"\xff\x00raw")]


async def test_a_storm_of_threads_is_few_notices_and_loses_no_thread(
    played: Any, session: MiSession, told: Told
) -> None:
    storm = b"".join(b'=thread-created,id="%d",group-id="i1"\n' % n for n in range(20_000))
    for start in range(0, len(storm), 4096):
        played.says(storm[start : start + 4096])
    played.says(b'*stopped,reason="x"\n=thread-exited,id="7",group-id="i1"\n')
    while not told.notices or getattr(told.notices[-1], "cls", "") != "thread-exited":  # noqa: ASYNC110
        await asyncio.sleep(0)
    created = [
        notice for notice in told.notices if isinstance(notice, AsyncRecord) and notice.cls == "thread-created"
    ]
    assert len(created) < 250
    assert [thread for notice in created for thread in all_values(notice.results, "id")] == [
        str(n) for n in range(20_000)
    ]
    assert told.notices[-2:] == [
        AsyncRecord("*", "stopped", {"reason": "x"}),
        AsyncRecord("=", "thread-exited", {"id": "7", "group-id": "i1"}),
    ]


async def test_of_many_hits_of_a_breakpoint_the_last_one_is_told(
    played: Any, session: MiSession, told: Told
) -> None:
    hits = [b'=breakpoint-modified,bkpt={number="%d",times="%d"}\n' % (n // 50, n) for n in range(100)]
    played.says(b"".join(hits) + b'*stopped,reason="x"\n')
    assert [notice.results.get("bkpt") for notice in told.notices if isinstance(notice, AsyncRecord)] == [
        {"number": "0", "times": "49"},
        {"number": "1", "times": "99"},
        None,
    ]


async def test_a_storm_leaves_the_loop_its_turns_and_an_answer_behind_it_its_place(
    played: Any, session: MiSession, told: Told
) -> None:
    turns = 0

    def turn() -> None:
        nonlocal turns
        turns += 1
        asyncio.get_running_loop().call_soon(turn)

    answer = session.submit("-x", deadline=60)
    rows = b",".join(b'{a="%d",b="some text that is longer"}' % n for n in range(100_000))
    turn()
    played.says(b"=x,rows=[" + rows + b']\n*stopped,reason="x"\n2^done\n')
    await answer
    assert turns >= 5
    assert told.notices[1:] == [AsyncRecord("*", "stopped", {"reason": "x"})]


async def test_a_large_answer_that_nobody_waits_for_costs_nothing(
    played: Any, session: MiSession, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(DeadlinePassed):
        await session.command("-x", deadline=0.01)
    monkeypatch.setattr("ladder_backends.mi.assembly.parse_in_slices", None)
    answer = session.submit("-y")
    played.says(b"2^done,rows=[" + b",".join(b'{n="%d"}' % n for n in range(100_000)) + b"]\n3^done\n")
    assert (await answer).cls == "done"
    assert told.notices == []


async def test_an_answer_of_many_megabytes(played: Any, session: MiSession) -> None:
    answer = session.submit("-rows", deadline=60)
    played.says(
        b"2^done,rows=[" + b",".join(b'{n="%d",t="a \\"text\\""}' % n for n in range(200_000)) + b"]\n(gdb) \n"
    )
    rows = (await answer).results["rows"]
    assert len(rows) == 200_000
    assert rows[-1] == {"n": "199999", "t": 'a "text"'}  # type: ignore[index]


@pytest.mark.parametrize(
    "command",
    [
        "-x\n-y",
        "-x\r",
        "-x\0",
        "-x \ud800",
        "info threads",
        "commands 1",
        '-interpreter-exec console "commands 1"',
        '-interpreter-exec console "comm"',
        '-interpreter-exec console "python"',
        '-interpreter-exec "console" "py"',
        '-interpreter-exec console "define hook-stop"',
        '-interpreter-exec console "while 1"',
        '-interpreter-exec console "if x"',
    ],
)
async def test_commands_that_would_swallow_what_follows_are_refused(
    played: Any, session: MiSession, command: str
) -> None:
    before = len(played.sent)
    with pytest.raises(CommandFailed):
        await session.command(command)
    assert len(played.sent) == before


@pytest.mark.parametrize(
    "command",
    [
        '-interpreter-exec console "python print(1)"',
        '-interpreter-exec console "info line 3"',
        '-interpreter-exec console "complete comm"',
    ],
)
async def test_other_commands_go_through(played: Any, session: MiSession, command: str) -> None:
    answer = session.submit(command)
    played.says(b"2^done\n")
    assert (await answer).cls == "done"


async def test_nothing_is_sent_before_the_start(played: Any) -> None:
    session = MiSession(played)
    assert not session.alive
    with pytest.raises(EngineDied, match="not running"):
        await session.command("-x")
    await session.close()


async def test_closing_asks_then_closes(played: Any, session: MiSession, told: Told) -> None:
    closing = asyncio.ensure_future(session.close())
    await asyncio.sleep(0)
    assert played.sent[-1] == b"2-gdb-exit\n"
    played.says(b"2^exit\n")
    await closing
    assert told.ends == [(0, True)]


async def test_nobody_waits_for_a_failed_answer_and_nothing_is_reported(played: Any, session: MiSession) -> None:
    reports: list[Any] = []
    asyncio.get_running_loop().set_exception_handler(lambda _loop, context: reports.append(context))
    session.submit("-a")
    played.says(b'2^error,msg="no"\n')
    session.submit("-b")
    played.dies(1)
    gc.collect()
    await asyncio.sleep(0)
    assert reports == []


async def test_ages_grow(played: Any, session: MiSession) -> None:
    session.submit("-a")
    begun = time.monotonic()
    await asyncio.sleep(0.02)
    (pending,) = session.pending()
    assert 0.02 <= pending.age <= time.monotonic() - begun + 1
