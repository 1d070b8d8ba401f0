"""Why a process does not stop, from what `/proc` tells of it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ladder_backends.processes import ProcFiles
from ladder_backends.session.deafness import why_deaf


@pytest.mark.parametrize(
    ("tasks", "why"),
    [
        ([("S (sleeping)", 0, "0")], ""),
        ([("R (running)", 2, "0")], "it blocks SIGINT"),
        ([("S (sleeping)", 2, "0"), ("S (sleeping)", 0, "0")], ""),
        (
            [("S (sleeping)", 0, "0"), ("D (disk sleep)", 0, "nfs_wait_bit")],
            "it sleeps in the kernel in nfs_wait_bit, and nothing can interrupt that until it ends",
        ),
        ([("D (disk sleep)", 0, "0")], "it sleeps in the kernel, and nothing can interrupt that until it ends"),
        ([], ""),
    ],
)
def test_what_is_told(tmp_path: Path, tasks: list[tuple[str, int, str]], why: str) -> None:
    for number, (state, blocked, channel) in enumerate(tasks, 40):
        task = tmp_path / f"40/task/{number}"
        task.mkdir(parents=True)
        (task / "status").write_text(f"Name:\tx\nState:\t{state}\nPid:\t{number}\nSigBlk:\t{blocked:016x}\n")
        (task / "wchan").write_text(channel)
    assert why_deaf(40, ProcFiles(tmp_path)) == why


def test_one_that_is_gone_and_this_one() -> None:
    assert why_deaf(2**22 + 1) == ""
    assert why_deaf(os.getpid()) == ""
