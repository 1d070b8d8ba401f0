"""What only ranks of NCCL have, on stand-ins: RAS, by a recording and its manual, and the recorder's pipe."""

from __future__ import annotations

import json
import os
import pickle
import socket
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from ladder_backends.model.ranks import Job, Launcher, RankSource
from ladder_backends.ranks.choosing import job_named
from ladder_backends.ranks.discovery import Discovery
from ladder_backends.ranks.looking import Look, look_at
from ladder_backends.ranks.ras.reading import join, read_ras
from ladder_backends.ranks.ras.report import read_text
from ladder_backends.ranks.recorder.reading import read_recorders


def free_port() -> int:
    """A port of this host that nobody listens on."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        return int(server.getsockname()[1])


STAND_IN = Path(__file__).parent / "programs" / "stand_in_rank.py"
RECORDED = (Path(__file__).parent / "nccl-ras-missing-rank.txt").read_text()


@pytest.fixture
def stand_ins(start, tmp_path) -> Callable[..., Job]:
    """Two ranks by hand, with a RAS of theirs."""

    def launch(port: int | None = None, *, answers=(), as_json=False, dump: bytes | None = None, env=None) -> Job:
        library = tmp_path / "libnccl.so.2"
        library.write_bytes(b"\0" * 4096)
        settings: dict[str, object] = {"library": str(library), "answers": list(answers), "json": as_json}
        if port is not None:
            settings["port"] = port
        if dump is not None:
            settings["dump"] = dump.hex()
        file = tmp_path / f"settings{port}.json"
        file.write_text(json.dumps(settings))
        master = free_port()
        folder = tmp_path / f"ranks{master}"
        folder.mkdir()
        shell = "".join(f"RANK={rank} {sys.executable} {STAND_IN} {file} & " for rank in (0, 1)) + "wait"
        told = {"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(master), **(env or {})}
        if port is not None:
            told["NCCL_RAS_ADDR"] = f"localhost:{port}"
        running = start(["bash", "-c", shell], 2, folder=folder, env=told)
        running.wait_until(lambda: running.output().count("stands") == 2, "both stand")
        return job_named(Discovery(), f":{master}")

    return launch


def with_pids(text: str, job_pids: list[int]) -> str:
    return text.replace("process 836", f"process {job_pids[1]}")


def mismatch(pid: int, first: int, second: int) -> str:
    """As NCCL's documentation shows a mismatch."""
    return (
        "NCCL version 2.24.3 compiled with CUDA 12.6\n\nWarnings\n========\n\n#0-0 (0a6a2b5bfe63c692) MISMATCH\n"
        "  Communicator ranks have different collective operation counts\n"
        f"  1 rank has launched up to operation {first}\n"
        f"  1 rank has launched up to operation {second}\n"
        f"  Rank 1 -- GPU 1 managed by process {pid} on node 127.0.0.1\n"
    )


def of_json(pids, counts) -> str:
    ranks = [
        {"rank": rank, "pid": pid, "host": "127.0.0.1", "status": {"init_state": 0, "async_error": 0},
         "collective_counts": {"AllReduce": counts[rank], "Broadcast": 1}}
        for rank, pid in enumerate(pids)
    ]  # fmt: skip
    return json.dumps({"nccl_version": "2.28.9", "communicators": [{"hash": "0xabc", "size": 2, "ranks": ranks}]})


async def test_a_job_set_up_by_hand_is_found(stand_ins):
    job = stand_ins()
    assert (job.launcher, job.size, job.missing) == (Launcher.TORCH, 2, ())
    assert [rank.rank for rank in job.ranks] == [0, 1]


async def test_the_recording_of_a_rank_that_ras_misses(stand_ins):
    port = free_port()
    job = stand_ins(port, answers=[RECORDED])
    counts, reading = await read_ras(job, between=0.05)
    assert counts == ()
    assert reading.note == "NCCL 2.28.9"
    assert reading.took > 0


async def test_a_rank_that_ras_misses_is_known_by_its_process(stand_ins):
    job = stand_ins()
    pids = [rank.pid for rank in job.ranks]
    status = read_text(with_pids(RECORDED, pids))
    (count,) = join(job, status, status)
    assert (count.rank, count.state, count.unchanged) == (1, "MISSING", True)
    assert count.communicator == "0a6a2b5bfe63c692"


async def test_only_unchanged_counts_count(stand_ins):
    job = stand_ins()
    pid = job.ranks[1].pid
    stuck = join(job, read_text(mismatch(pid, 66, 65)), read_text(mismatch(pid, 66, 65)))
    assert [(each.rank, dict(each.counts), each.unchanged) for each in stuck] == [
        (0, {"operation": 66}, True),
        (1, {"operation": 65}, True),
    ]
    moving = join(job, read_text(mismatch(pid, 66, 65)), read_text(mismatch(pid, 70, 69)))
    assert [each.unchanged for each in moving] == [False, False]


async def test_the_json_form_names_every_rank(stand_ins):
    port = free_port()
    # The stand-in cannot know its number beforehand: ranks of the communicator stand for those of the job.
    answer = of_json([None, None], [12, 11])
    job = stand_ins(port, answers=[answer], as_json=True)
    counts, reading = await read_ras(job, between=0.05)
    assert [(each.rank, each.counts["AllReduce"], each.unchanged, each.state) for each in counts] == [
        (0, 12, True, "RUNNING"),
        (1, 11, True, "RUNNING"),
    ]
    assert reading.answered == (0, 1)
    assert reading.note == "NCCL 2.28.9"


async def test_counts_that_moved_between_two_questions(stand_ins):
    port = free_port()
    job = stand_ins(port, answers=[of_json([None, None], [12, 11]), of_json([None, None], [14, 11])], as_json=True)
    counts, _ = await read_ras(job, between=0.05)
    assert [(each.rank, each.unchanged) for each in counts] == [(0, False), (1, True)]


@pytest.mark.parametrize("answer", ["", "{", "[[[[", "{}", "HTTP/1.1 400 Bad Request\r\n\r\n", "\x00\xff" * 50])
async def test_what_answers_like_no_ras_is_a_reason_or_nothing(stand_ins, answer):
    port = free_port()
    job = stand_ins(port, answers=[answer])
    counts, _ = await read_ras(job, between=0.05)
    assert counts == ()


async def test_the_ras_of_another_job_is_not_asked(stand_ins):
    port = free_port()
    stand_ins(port, answers=[of_json([None, None], [1, 1])], as_json=True)
    other = stand_ins(env={"NCCL_RAS_ADDR": f"localhost:{port}"})
    counts, reading = await read_ras(other, between=0.05)
    assert counts == ()
    assert f"port {port} belongs to another job" in reading.note
    assert "NCCL_RAS_ADDR" in reading.note


async def test_a_switched_off_ras_and_one_that_nobody_began(stand_ins):
    assert "NCCL_RAS_ENABLE=0" in (await read_ras(stand_ins(env={"NCCL_RAS_ENABLE": "0"})))[1].note
    nobody = stand_ins(env={"NCCL_RAS_ADDR": f"localhost:{free_port()}"})
    _, reading = await read_ras(nobody)
    assert "no RAS of NCCL listens" in reading.note
    assert reading.silent == ()


FRAMES = [{"name": "step", "filename": "train.py", "line": 7}, {"name": "main", "filename": "train.py", "line": 9}]
STATUS = {"last_completed_collective": 1, "last_enqueued_collective": 2, "last_started_collective": 2}
DUMP = {
    "version": "2.4",
    "pg_config": {"0": {"name": "0", "desc": "default_pg", "ranks": "[0, 1]"}},
    "pg_status": {"0": STATUS},
    "entries": [
        {"record_id": number, "pg_id": 0, "process_group": ("0", "default_pg"), "collective_seq_id": number + 1,
         "p2p_seq_id": 0, "op_id": number, "profiling_name": "nccl:all_reduce", "time_created_ns": time.time_ns(),
         "input_sizes": [[25, 4]], "input_dtypes": ["BFloat16"], "output_sizes": [[25, 4]], "state": state,
         "timeout_ms": 600000, "is_p2p": False, "retired": False, "frames": FRAMES}
        for number, state in enumerate(("scheduled", "started"))
    ],
}  # fmt: skip


def pipes(tmp_path):
    return {
        "TORCH_NCCL_DEBUG_INFO_PIPE_FILE": str(tmp_path / "pipe_"),
        "TORCH_NCCL_DEBUG_INFO_TEMP_FILE": str(tmp_path / "trace_"),
        "TORCH_NCCL_TRACE_BUFFER_SIZE": "2000",
    }


async def test_ranks_are_asked_to_dump_by_their_pipes_and_that_is_said(stand_ins, tmp_path):
    job = stand_ins(dump=pickle.dumps(DUMP, protocol=2), env=pipes(tmp_path))
    collectives, reading = await read_recorders(job)
    assert reading.answered == (0, 1)
    assert "wrote a byte to 2 pipes" in reading.note
    first, second = collectives[1]
    assert (first.state, second.state) == ("completed", "started")
    assert (second.seq, second.op, second.dtype, second.group) == (2, "all_reduce", "bfloat16", "0 (default_pg)")
    assert second.group_ranks == (0, 1)
    assert second.time_out == 600.0
    assert [frame.function for frame in second.frames] == ["main", "step"]


async def test_no_pipe_is_written_where_that_is_not_wanted(stand_ins, tmp_path):
    job = stand_ins(dump=pickle.dumps(DUMP, protocol=2), env=pipes(tmp_path))
    evidence = await look_at(job, Look(triggers=False))
    assert evidence.collectives == {}
    assert not (tmp_path / "trace_0").exists()
    silent = evidence.reading(RankSource.RECORDER).silent
    assert [each.rank for each in silent] == [0, 1]
    assert all(each.remedy for each in silent)


async def test_what_lies_where_a_pipe_should_be_is_not_written(stand_ins, tmp_path):
    (tmp_path / "victim").write_text("kept")
    os.symlink(tmp_path / "victim", tmp_path / "pipe_0.pipe")
    (tmp_path / "pipe_1.pipe").write_text("kept")
    _, reading = await read_recorders(stand_ins(env=pipes(tmp_path)))
    assert (tmp_path / "victim").read_text() == "kept"
    assert (tmp_path / "pipe_1.pipe").read_text() == "kept"
    assert [each.rank for each in reading.silent] == [0, 1]
    assert "no pipe" in reading.silent[1].reason


async def test_a_dump_of_an_earlier_job_is_not_this_one_s(stand_ins, tmp_path):
    (tmp_path / "trace_0").write_bytes(pickle.dumps(DUMP, protocol=2))
    os.utime(tmp_path / "trace_0", (time.time() - 3600, time.time() - 3600))
    collectives, _ = await read_recorders(stand_ins(env=pipes(tmp_path)))
    assert collectives == {}


async def test_a_dump_that_would_run_code_is_refused_and_told(stand_ins, tmp_path):
    job = stand_ins(env=pipes(tmp_path))
    (tmp_path / "trace_0").write_bytes(b"cos\nsystem\n(S'touch " + str(tmp_path / "run").encode() + b"'\ntR.")
    collectives, reading = await read_recorders(job)
    assert collectives == {}
    assert "would call code" in reading.silent[0].reason
    assert not (tmp_path / "run").exists()
