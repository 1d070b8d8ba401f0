"""Assertions at source lines on a job that runs: recorded, compared, and let go."""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path

import pytest

from ladder_backends.ranks.compare.hit_comparison import compare_hits
from ladder_backends.ranks.compare.recorded_hits import read_run
from ladder_backends.ranks.compare.recording_live import record_job
from ladder_backends.ranks.compare.wish import read_wish
from ladder_tui.cli import main

SOURCE = Path(__file__).parent / "programs" / "steady_ranks.c"
LINE = f"steady_ranks.c:{SOURCE.read_text().splitlines().index('    act();') + 1}"


def written(folder: Path) -> set[int]:
    return {int(path.stem) for path in folder.glob("*.hits")} if folder.is_dir() else set()


@pytest.fixture
def compare(steady, gdb, capsys):
    def call(*wishes: str, more: tuple[str, ...] = ()) -> tuple[int, str, str]:
        capsys.readouterr()
        run = "--run", f"a=pid:{steady.process.pid}", "--hits", "20"
        code = main(["compare", *wishes, *run, *more])
        told = capsys.readouterr()
        for pid in steady.pids.values():
            assert "TracerPid:\t0\n" in Path(f"/proc/{pid}/status").read_text()
        return code, told.out, told.err

    return call


def test_what_holds_and_what_does_not(compare, tmp_path: Path) -> None:
    assert compare(f"a::tied@{LINE} == 7")[:2] == (0, "no difference in 80 hits\n")
    code, out, _ = compare(f"a{{0..2}}::share[0]@4@{LINE} == 0", more=("--json", "-o", str(tmp_path)))
    told = json.loads(out)
    assert code == 1
    assert [(each["rank"], each["index"], each["left"]) for each in told["divergences"]] == [
        (0, 1, 1.0),
        (1, 0, 4.0),
        (2, 0, 8.0),
    ]
    assert sorted(read_run(tmp_path / "a")) == [0, 1, 2]
    code, _, error = compare(f"a::tied@{LINE.partition(':')[0]}:9999 == 7")
    assert code == 2
    assert "no rank knows steady_ranks.c:9999" in error
    code, out, _ = compare(f"a{{3..4}}::tied@{LINE} == 7")
    assert "not compared: a rank 4: there is no such rank in this job" in out


def test_sets_are_paired_by_what_says_where_they_are(compare) -> None:
    code, out, _ = compare(f"a{{0..1}}::turns@{LINE} ~ a{{2..3}}::turns by=turns")
    assert code == 0, out
    code, out, _ = compare(f"a{{0}}::share[0]@{LINE} ~ a{{1}}::share[0]")
    assert code == 1
    assert "not compared: which hits belong together" in out


def test_a_run_that_is_named_wrongly(steady, capsys) -> None:
    for named, words in (
        ("pid:x", "is no process id"),
        ("pid:999999999", "there is no process"),
        ("job:nosuch", "no job"),
    ):
        assert main(["compare", f"a::tied@{LINE} == 7", "--run", f"a={named}"]) == 2
        assert words in capsys.readouterr().err


async def test_ranks_that_do_not_come_there_or_end_are_told_of(steady, tmp_path: Path) -> None:
    wish = read_wish(f"a::rank@{LINE} ~ a::rank")
    probes = [(0, "steady_ranks.c:38", "rank")]
    told = await record_job(steady.job, None, tmp_path / "none", probes, within=0.5)
    assert told.unreachable == ()
    found = compare_hits((wish,), {"a": read_run(tmp_path / "none")})
    assert (found.compared, found.endings) == (0, ())
    steady.may_die = True
    recording = asyncio.create_task(record_job(steady.job, None, tmp_path / "a", [(0, LINE, "rank")], most=10**6))
    end = time.monotonic() + 30
    while 2 not in (await asyncio.to_thread(written, tmp_path / "a")):
        assert time.monotonic() < end
        await asyncio.sleep(0.05)
    steady.tell("exit", 2)
    await asyncio.wait_for(recording, 30)
    ranks = read_run(tmp_path / "a")
    assert ranks[2].ending == "exit status 3"


def test_hits_are_paired_by_a_key(tmp_path: Path) -> None:
    import hashlib
    import struct

    for rank, keys in enumerate(((3, 4, 5, 6), (5, 6, 7))):
        raw, lines = b"", [{"rank": rank, "probe": 0, "place": "f.c:1", "expression": "i"}]
        lines.append({"rank": rank, "probe": 1, "place": "f.c:1", "expression": "x"})
        kind = {"code": "i", "size": 4, "count": 1, "name": "int"}
        lines += [{"p": probe, "t": kind} for probe in (0, 1)]  # type: ignore[dict-item]
        for key in keys:
            for probe, value in ((0, key), (1, key + (key == 6 and rank))):
                one = struct.pack("<i", value)
                digest = hashlib.blake2b(one).hexdigest()
                lines.append({"p": probe, "h": digest, "o": len(raw), "n": 4})  # type: ignore
                raw += one
        text = "".join(json.dumps(line) + "\n" for line in [*lines, {"live": 4}])
        (tmp_path / f"{rank}.hits").write_text(text)
        (tmp_path / f"{rank}.values").write_bytes(raw)
    runs = {"a": read_run(tmp_path)}
    found = compare_hits((read_wish("a{0}::x@f.c:1 ~ a{1}::x by=i"),), runs)
    assert (found.compared, found.unseen) == (2, ())
    assert found.first is not None
    assert (found.first.hit, found.first.left, found.first.right) == (4, 6, 7)
    found = compare_hits((read_wish("a{0}::x@f.c:1 ~ a{1}::x by=nosuch"),), runs)
    assert found.unseen == ("a has not recorded nosuch at f.c:1",)
