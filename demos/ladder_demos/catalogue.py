"""The demos, as data: a new one is a row here and a file in `cases/` or `programs/`."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from pathlib import Path

from ladder_backends.errors import LadderError
from ladder_backends.text import clean_line


class DemoKind(enum.StrEnum):
    """How a demo is opened."""

    CASE = "case"
    PROGRAM = "program"
    PYTHON = "python"


@dataclass(frozen=True, slots=True)
class Demo:
    """One demo.

    Attributes:
        title: What is broken, in a few words.
        shows: What a person will see, one line.
        rung: The rung it opens on.
        file: Path inside this package.
    """

    name: str
    title: str
    shows: str
    rung: str
    kind: DemoKind
    file: str

    @property
    def path(self) -> Path:
        """The shipped file on this machine."""
        return Path(__file__).parent / self.file


DEMOS: tuple[Demo, ...] = (
    Demo(
        "vector-add",
        "24 threads run past the end of a vector (H200)",
        "Enter on a finding: its lane, line 10, i = 1000, n = 1000",
        "sanitizer",
        DemoKind.CASE,
        "cases/vector-add.ladder",
    ),
    Demo(
        "segfault",
        "a C program follows a null pointer",
        "gdb runs it to SIGSEGV: data = 0x0 in compute_total, called from main",
        "gdb",
        DemoKind.PROGRAM,
        "programs/segfault.c",
    ),
    Demo(
        "python-crash",
        "a Python program crashes in its C extension",
        "one stack from train.py through forward to the C line that reads NULL",
        "gdb",
        DemoKind.PYTHON,
        "programs/python_crash/train.py",
    ),
    Demo(
        "vector-add-lineinfo",
        "the same kernel compiled with -lineinfo only",
        "the same lanes and line, and why there are no locals",
        "sanitizer",
        DemoKind.CASE,
        "cases/vector-add-lineinfo.ladder",
    ),
    Demo(
        "misaligned",
        "32 lanes write to odd addresses",
        "32 findings in one warp",
        "sanitizer",
        DemoKind.CASE,
        "cases/misaligned.ladder",
    ),
    Demo(
        "uninit",
        "a kernel reads memory that nobody wrote",
        "64 findings in two warps",
        "sanitizer",
        DemoKind.CASE,
        "cases/uninit.ladder",
    ),
    Demo(
        "race",
        "two threads of a block share a cell without a barrier",
        "hazards with two lanes each, and no dump to jump into",
        "sanitizer",
        DemoKind.CASE,
        "cases/race.ladder",
    ),
    Demo(
        "hang",
        "two blocks spin on a flag for ever",
        "a dump without findings: warps at two places of one loop",
        "cuda-gdb",
        DemoKind.CASE,
        "cases/hang.ladder",
    ),
    Demo(
        "triton-oob",
        "a Triton kernel without a mask",
        "lines of a .py file; the dump needs no executable",
        "sanitizer",
        DemoKind.CASE,
        "cases/triton-oob.ladder",
    ),
)


def find_demo(name: str) -> Demo:
    """The demo of that name.

    Raises:
        LadderError: There is none.
    """
    for demo in DEMOS:
        if demo.name == name:
            return demo
    known = ", ".join(demo.name for demo in DEMOS)
    raise LadderError(f"no demo is called {clean_line(name)!r}", "", f"there are {known}")
