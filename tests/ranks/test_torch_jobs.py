"""Jobs of torchrun with gloo: which rank never joined, which called another collective; nothing is stopped."""

from __future__ import annotations

import asyncio
import json
import os
import stat
from pathlib import Path

import pytest

from ladder_backends.model.ranks import Launcher, RankSource
from ladder_backends.ranks.looking import look_often
from ladder_backends.ranks.verdict import verdicts
from ladder_demos.rank_jobs import find_rank_demo

pytestmark = [pytest.mark.torch, pytest.mark.timeout(240)]

PROGRAMS = Path(__file__).parent / "programs"


async def looks_at(running, times=2):
    return [each async for each in look_often(running.find(), times=times, between=0.3)]


async def hanging(running, seq, ranks):
    """Looks at a job once so many ranks have issued collective `seq`."""
    for _ in range(100):
        looks = await looks_at(running, 1)
        issued = [rank for rank, each in looks[-1].collectives.items() if any(one.seq >= seq for one in each)]
        if len(issued) == ranks:
            return await looks_at(running)
        await asyncio.sleep(0.1)
    raise AssertionError(running.output()[-3000:])


async def test_a_rank_that_sleeps_before_a_collective(torch_job):
    running = torch_job(find_rank_demo("torch-missing").path, 3, until="step 2")
    looks = await hanging(running, 4, 2)
    now = looks[-1]
    assert (now.job.launcher, now.job.size, now.job.missing) == (Launcher.TORCHRUN, 3, ())
    assert now.job.launcher_pid == running.pid
    assert [rank.local_rank for rank in now.job.ranks] == [0, 1, 2]
    assert {rank: each[-1].seq for rank, each in now.collectives.items()} == {0: 4, 1: 3, 2: 4}
    assert {rank: each[-1].state for rank, each in now.collectives.items()} == {
        0: "scheduled",
        1: "completed",
        2: "scheduled",
    }
    last = now.collectives[0][-1]
    assert (last.op, last.sizes, last.dtype, last.time_out) == ("all_reduce", ((4, 2),), "float", 1800.0)
    assert last.age is not None
    assert all(reading.predicted == reading.measured == 0 for reading in now.readings)
    assert RankSource.EU_STACK not in {reading.source for reading in now.readings}
    lines = {
        stack.rank: [(os.path.basename(frame.file), frame.function) for frame in stack.frames][-1]
        for stack in now.python
        if stack.name == "MainThread"
    }
    assert lines[1] == ("torch_missing_rank.py", "next_batch")
    assert lines[0] == lines[2] == ("distributed_c10d.py", "all_reduce")
    verdict = verdicts(looks)[0]
    assert verdict.diverges
    assert tuple(verdict.suspects) == (1,)
    assert "torch_missing_rank.py:14" in verdict.sentence


async def test_a_rank_in_another_collective_is_no_missing_one(torch_job):
    running = torch_job(find_rank_demo("torch-wrong-op").path, 4, until="step 1")
    looks = await hanging(running, 3, 4)
    assert {rank: each[-1].op for rank, each in looks[-1].collectives.items()} == {
        0: "all_reduce",
        1: "all_reduce",
        2: "all_reduce",
        3: "all_gather",
    }
    verdict = verdicts(looks)[0]
    assert verdict.diverges
    assert tuple(verdict.suspects) == (3,)
    assert "all_gather" in verdict.sentence


async def test_workers_of_a_loader_and_shells_are_beside_their_ranks(torch_job, torch_python, tmp_path):
    shell = tmp_path / "wrapped.sh"
    shell.write_text(f"#!/bin/bash\n{torch_python} {PROGRAMS / 'torch_loading.py'}\ntrue\n")
    shell.chmod(shell.stat().st_mode | stat.S_IXUSR)
    running = torch_job(shell, 2, "--no-python", until="both loading")
    job = running.find()
    assert [rank.rank for rank in job.ranks] == [0, 1]
    for rank in job.ranks:
        assert "torch_loading.py" in " ".join(rank.command)
        whys = [other.why for other in rank.others]
        assert whys.count("wrapper") == 1
        assert whys.count("DataLoader worker") == 2, rank.others
    looks = await looks_at(running, 1)
    assert looks[0].reading(RankSource.PY_SPY).answered == (0, 1)


async def test_ranks_that_torchrun_started_again_are_the_job(torch_job, tmp_path):
    running = torch_job(
        PROGRAMS / "torch_failing_once.py",
        2,
        "--max-restarts",
        "2",
        env={"FOLDER": str(tmp_path)},
        until="again: both",
    )
    running.may_die = True
    job = running.find()
    assert [rank.rank for rank in job.ranks] == [0, 1]
    # A start on a busy machine may fail once more.
    assert job.restart >= 1
    assert job.missing == ()
    assert [note for note in job.notes if note.startswith("torchrun has started the ranks again")]
    first = json.loads((tmp_path / "pids-0").read_text())
    assert {rank.pid for rank in job.ranks}.isdisjoint(first)


async def test_dumps_in_files_are_read_where_no_server_answers(torch_job, tmp_path):
    running = torch_job(
        PROGRAMS / "torch_dumping.py",
        2,
        env={"TORCH_FR_DUMP_TEMP_FILE": str(tmp_path / "dump_")},
        until="both dumped",
    )
    looks = await looks_at(running, 1)
    reading = looks[0].reading(RankSource.RECORDER)
    assert reading.answered == (0, 1)
    assert "from files" in reading.note
    entry = looks[0].collectives[1][0]
    assert (entry.op, entry.state, entry.seq) == ("all_reduce", "completed", 1)
    assert os.path.basename(entry.frames[0].file) == "torch_dumping.py"
    assert entry.frames[0].line > 0
