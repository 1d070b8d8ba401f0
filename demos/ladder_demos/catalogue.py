"""The demos, as data: a new one is a row here and a file in `cases/` or `programs/`."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from pathlib import Path

from ladder_backends.errors import LadderError
from ladder_backends.late_dataclass import dataclass
from ladder_backends.text import clean_line


class DemoKind(enum.StrEnum):
    """How a demo is opened."""

    CASE = "case"
    PROGRAM = "program"
    PYTHON = "python"


@dataclass(frozen=True, slots=True)
class Live:
    """How a demo of a GPU is built and run where there is one.

    Attributes:
        source: A CUDA program or a Python script, a path inside this package.
        rung: `sanitizer`, or the debugger it runs under.
        tool: The sanitizer's tool.
        leaks: memcheck looks for leaks as well.
        flags: What nvcc is told beside the architecture.
        modules: Python packages that the script needs.
        at_launch: The debugger stops at each kernel launch.
        at_failure: The debugger stops at each call of CUDA that fails.
        driver_dump: Its case holds a dump by CUDA's driver: the sanitizer's holds no lane that failed an assertion.
    """

    source: str
    rung: str = "sanitizer"
    tool: str = "memcheck"
    leaks: bool = False
    flags: tuple[str, ...] = ("-g", "-G")
    modules: tuple[str, ...] = ()
    at_launch: bool = False
    at_failure: bool = False
    driver_dump: bool = False

    @property
    def path(self) -> Path:
        """The source on this machine."""
        return Path(__file__).parent / self.source

    @property
    def is_script(self) -> bool:
        """It is run by Python, not compiled by nvcc."""
        return self.source.endswith(".py")


@dataclass(frozen=True, slots=True)
class Demo:
    """One demo.

    Attributes:
        title: What is broken, in a few words.
        shows: What a person will see, one line.
        rung: The rung it opens on.
        file: Path inside this package.
        live: How it is run on a GPU; None for what needs none.
    """

    name: str
    title: str
    shows: str
    rung: str
    kind: DemoKind
    file: str
    live: Live | None = None

    @property
    def path(self) -> Path:
        """The shipped file on this machine."""
        return Path(__file__).parent / self.file

    @property
    def shipped(self) -> bool:
        """It can be opened without a GPU."""
        return self.path.exists()


_CUDA = "programs/cuda"


def _case(name: str, title: str, shows: str, live: Live, rung: str = "sanitizer") -> Demo:
    """A case of a run on a GPU, and the program it was."""
    return Demo(name, title, shows, rung, DemoKind.CASE, f"cases/{name}.ladder", live)


DEMOS: tuple[Demo, ...] = (
    _case(
        "vector-add",
        "24 threads run past the end of a vector (H200)",
        "Enter on a finding: its lane, line 10, i = 1000, n = 1000",
        Live(f"{_CUDA}/vector_add_oob.cu"),
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
    _case(
        "vector-add-lineinfo",
        "the same kernel compiled with -lineinfo only",
        "the same lanes and line, and why there are no locals",
        Live(f"{_CUDA}/vector_add_oob.cu", flags=("-lineinfo",)),
    ),
    _case(
        "misaligned",
        "32 lanes write to odd addresses",
        "32 findings in one warp",
        Live(f"{_CUDA}/misaligned.cu"),
    ),
    _case(
        "uninit",
        "a kernel reads memory that nobody wrote",
        "64 findings in two warps",
        Live(f"{_CUDA}/uninitialised.cu", tool="initcheck"),
    ),
    _case(
        "race",
        "two threads of a block share a cell without a barrier",
        "hazards with two lanes each, and no dump to jump into",
        Live(f"{_CUDA}/shared_race.cu", tool="racecheck"),
    ),
    _case(
        "barrier",
        "half a warp waits at a barrier that the other half never reaches",
        "synccheck names the 16 lanes that wait; it writes no dump to jump into",
        Live(f"{_CUDA}/divergent_barrier.cu", tool="synccheck", flags=("-g", "-lineinfo")),
    ),
    _case(
        "leak",
        "a buffer for each round, freed in none",
        "three leaks and the line of the host that allocates; no lane, and why",
        Live(f"{_CUDA}/leak.cu", leaks=True),
    ),
    _case(
        "assert",
        "an assertion on the device fails in one lane",
        "one finding; its lane stands below the assertion, index[85] = 1000 above",
        Live(f"{_CUDA}/device_assert.cu", driver_dump=True),
    ),
    _case(
        "assert-live",
        "the same assertion where the program runs into it under cuda-gdb",
        "it stands in the kernel's own line, below the frame that asserts",
        Live(f"{_CUDA}/device_assert.cu", rung="cuda-gdb"),
        rung="cuda-gdb",
    ),
    _case(
        "illegal-address",
        "one block of four follows a null pointer",
        "the hardware stops it: the line that faults, not the one after it",
        Live(f"{_CUDA}/illegal_address.cu", rung="cuda-gdb"),
        rung="cuda-gdb",
    ),
    _case(
        "hang",
        "two blocks spin on a flag for ever",
        "a dump without findings: warps at two places of one loop",
        Live(f"{_CUDA}/hang.cu", rung="cuda-gdb"),
        rung="cuda-gdb",
    ),
    _case(
        "hang-live",
        "the same kernel live: interrupted, stepped, interrupted again",
        "Ctrl-C stops it where it spins; every lane of both blocks can be looked at",
        Live(f"{_CUDA}/hang.cu", rung="cuda-gdb"),
        rung="cuda-gdb",
    ),
    _case(
        "step",
        "the vector's kernel live: from its launch to one lane, step by step",
        "c runs on; g goes to a lane; n is a step of its whole warp",
        Live(f"{_CUDA}/vector_add_oob.cu", rung="cuda-gdb", at_launch=True),
        rung="cuda-gdb",
    ),
    _case(
        "grid",
        "250 x 1000 blocks whose neighbours go different ways",
        "the map of the grid at the launch; n: half of each warp waits",
        Live(f"{_CUDA}/divergent_grid.cu", rung="cuda-gdb", at_launch=True),
        rung="cuda-gdb",
    ),
    _case(
        "clusters",
        "blocks in clusters of four read each other's shared memory",
        "a block's rank in its cluster beside its index; the device prints",
        Live(f"{_CUDA}/clusters.cu", rung="cuda-gdb", at_launch=True),
        rung="cuda-gdb",
    ),
    _case(
        "two-kernels",
        "two kernels at once in two streams, then a copy from nowhere",
        "both kernels on the map; then a stop at the call that fails",
        Live(f"{_CUDA}/two_kernels.cu", rung="cuda-gdb", at_launch=True, at_failure=True),
        rung="cuda-gdb",
    ),
    _case(
        "torch-extension",
        "a torch extension reads past its table",
        "from train.py through the extension's C++ into the lanes of block 3",
        Live("programs/torch_extension/train.py", modules=("torch",)),
    ),
    _case(
        "triton-oob",
        "a Triton kernel without a mask",
        "lines of a .py file; the dump needs no executable",
        Live("programs/triton_oob.py", modules=("torch", "triton")),
    ),
    _case(
        "cupy-oob",
        "a CuPy raw kernel writes past its arrays",
        "found with the memory pool off only; the kernel's text is in no file",
        Live("programs/cupy_oob.py", modules=("cupy",)),
    ),
    _case(
        "torch-assert",
        "torch looks a row up that its table has not",
        "an assertion in torch's own kernel, and the line of Python that led there",
        Live("programs/torch_assert.py", modules=("torch",), driver_dump=True),
    ),
)


def find_demo(name: str, also: Iterable[str] = ()) -> Demo:
    """The demo of that name.

    Args:
        name: Which.
        also: Names of what else can be asked for.

    Raises:
        LadderError: There is none.
    """
    for demo in DEMOS:
        if demo.name == name:
            return demo
    known = ", ".join([*(demo.name for demo in DEMOS), *also])
    raise LadderError(f"no demo is called {clean_line(name)!r}", "", f"there are {known}")
