"""`ranks --hosts`, the real command, against agents that run by `env` on this host."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

PROGRAM = Path(sys.executable).parent / "ladder-tui"


def call(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(PROGRAM), "ranks", *map(str, words)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_a_look_with_a_node_that_does_not_answer(ranks):
    ranks(2, size=4)
    launch = "sh -c 'test {host} = n1 || { echo no route to {host} >&2; exit 255; }; exec \"$@\"' sh"
    told = call("--job", "n1:29555", "--hosts", "n1,n2", "--launch", launch + " ", "--json", "--samples", "1")
    assert told.returncode in (0, 1), told.stderr
    assert "answered 1 of 2 nodes; n2: no route to n2" in told.stderr
    look = json.loads(told.stdout)
    assert [rank["rank"] for rank in look["job"]["ranks"]] == [0, 1]
    assert "ms of the same moment" in told.stderr


def test_words_that_do_not_go_together():
    assert call("--launch", "ssh {host}").returncode == 2
    assert call("--hosts", "n1", "--do", "bt $a").returncode == 2


def test_no_way_to_a_node_says_why(ranks):
    ranks(1)
    told = call("--job", "n1:29555", "--hosts", "n1", "--launch", "/nowhere/ssh {host}")
    assert "n1" in told.stderr


def test_the_command_is_said_before_it_runs(ranks):
    ranks(1)
    told = call("--job", "n1:29555", "--hosts", "n1", "--launch", "env -u {host}", "--samples", "1")
    assert told.stderr.splitlines()[0].startswith("ladder-tui: agents, by --launch: env -u n1 python3 -c")
    assert "answered 1 of 1 nodes" in told.stderr


def test_looks_are_kept_until_it_is_told_to_end(ranks, tmp_path):
    ranks(1)
    words = [
        "--job",
        "n1:29555",
        "--hosts",
        "n1",
        "--launch",
        "env -u {host}",
        "--every",
        "0.1",
        "-o",
        tmp_path / "looks",
    ]
    running = subprocess.Popen([str(PROGRAM), "ranks", *map(str, words)], stderr=subprocess.PIPE, text=True)
    assert running.stderr is not None
    lines = [running.stderr.readline() for _ in range(4)]
    running.terminate()
    _, rest = running.communicate(timeout=30)
    # 2 where the node has no py-spy: nothing is known then of what the rank does.
    assert running.returncode in (0, 2), (lines, rest)
    kept = sorted((tmp_path / "looks").glob("ranks-*.json"))
    assert kept
    assert [rank["rank"] for rank in json.loads(kept[-1].read_text())["job"]["ranks"]] == [0]
    assert "answered 1 of 1 nodes" in lines[-1]
