"""Where a rank's own code ends and waiting for others begins: a table, one row a library's entry.

What lies inside such a frame differs from moment to moment, and from rank to rank, without meaning anything: a
spinning progress engine is found in another function each time. Stacks are cut at the outermost boundary.
"""

from __future__ import annotations

import re
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

from ladder_backends.model.ranks import RankFrame


class BoundaryKind(StrEnum):
    """What a frame at a boundary does."""

    COLLECTIVE = "collective"
    """It waits for other ranks, or may."""
    DEVICE = "device"
    """It waits for a GPU, on which a collective may be waiting for other ranks."""
    WAIT = "wait"
    """It waits for something else: a lock, a file, a socket, time."""


class Boundary(NamedTuple):
    """One row.

    Attributes:
        library: Who waits: `MPI`, `NCCL`, `c10d`.
        functions: What the whole function name matches, without arguments and versions.
        files: How the path of a Python frame ends, or an empty string.
        source: Where the names come from.
    """

    library: str
    kind: BoundaryKind
    functions: str
    source: str
    files: tuple[str, ...] = ()

    @property
    def python(self) -> bool:
        """It is a boundary of Python frames."""
        return bool(self.files)


_COLLECTIVE, _DEVICE, _WAIT = BoundaryKind.COLLECTIVE, BoundaryKind.DEVICE, BoundaryKind.WAIT
_ANY = r".+"

BOUNDARIES: tuple[Boundary, ...] = (
    # Python, outermost for a script of torch.
    Boundary("c10d", _COLLECTIVE, r"(?!<module>).+", "torch/distributed/distributed_c10d.py",
             ("torch/distributed/distributed_c10d.py",)),
    Boundary("c10d", _COLLECTIVE, _ANY, "torch/distributed/_functional_collectives.py",
             ("torch/distributed/_functional_collectives.py",)),
    Boundary("c10d", _COLLECTIVE, _ANY, "torch/distributed/rendezvous.py",
             ("torch/distributed/rendezvous.py",)),
    Boundary("DeepSpeed", _COLLECTIVE, _ANY, "deepspeed/comm/comm.py",
             ("deepspeed/comm/comm.py", "deepspeed/comm/torch.py")),
    Boundary("Horovod", _COLLECTIVE, _ANY, "horovod/torch/mpi_ops.py", ("horovod/torch/mpi_ops.py",)),
    Boundary("CUDA", _DEVICE, r"(?:Stream\.|Event\.)?synchronize", "torch/cuda/__init__.py, torch/cuda/streams.py",
             ("torch/cuda/__init__.py", "torch/cuda/streams.py")),
    Boundary("Python", _WAIT, r"(?:\w+\.)?(?:wait|wait_for|acquire|join|_wait_for_tstate_lock|result)",
             "Lib/threading.py, Lib/concurrent/futures/_base.py", ("/threading.py", "concurrent/futures/_base.py")),
    Boundary("Python", _WAIT, r"(?:\w+\.)?(?:get|put|join)", "Lib/queue.py, Lib/multiprocessing/queues.py",
             ("/queue.py", "multiprocessing/queues.py")),
    Boundary("Python", _WAIT, r"(?:\w+\.)?(?:select|poll|_try_wait|wait|_poll|recv_bytes|_recv)",
             "Lib/selectors.py, Lib/subprocess.py, Lib/multiprocessing/connection.py",
             ("/selectors.py", "/subprocess.py", "multiprocessing/connection.py", "multiprocessing/popen_fork.py")),
    # MPI: the names of the standard, of its profiling interface, and of the Fortran bindings.
    Boundary("MPI", _COLLECTIVE, r"P?MPIX?_[A-Z]\w*", "MPI standard 4.1, chapter 15 (profiling interface)"),
    # Open MPI's MPI_Finalize and MPI_Init jump into these, and leave no frame of their own.
    Boundary("MPI", _COLLECTIVE, r"ompi_mpi_(?:init|finalize)", "ompi/runtime/ompi_mpi_finalize.c"),
    Boundary("MPI", _COLLECTIVE, r"p?mpi_\w+", "MPI standard 4.1, section 19.1 (Fortran)"),
    Boundary("OpenSHMEM", _COLLECTIVE, r"p?shmemx?_\w+", "OpenSHMEM 1.5"),
    # Libraries of collectives.
    Boundary("NCCL", _COLLECTIVE, r"p?nccl[A-Z]\w*", "nccl.h; RCCL has the same names"),
    Boundary("NVSHMEM", _COLLECTIVE, r"nvshmemx?i?_\w+", "nvshmem.h"),
    Boundary("oneCCL", _COLLECTIVE, r"(?:oneapi::)?ccl::.+", "oneapi/ccl.hpp"),
    Boundary("HCCL", _COLLECTIVE, r"Hccl[A-Z]\w*|hccl[A-Z]\w*", "hccl.h"),
    Boundary("c10d", _COLLECTIVE, r"c10d::.+", "torch/csrc/distributed/c10d"),
    Boundary("gloo", _COLLECTIVE, r"gloo::.+", "gloo, namespace gloo"),
    # Transports, where nothing above them is known by name.
    Boundary("UCX", _COLLECTIVE, r"uc[pts]_\w+", "ucp/api/ucp.h, uct/api/uct.h"),
    Boundary("libfabric", _COLLECTIVE, r"fi_(?:cq|cntr|eq|wait|poll|trecv|tsend|recv|send)\w*", "rdma/fi_domain.h"),
    Boundary("PMIx", _COLLECTIVE, r"PMIx?2?_[A-Z]\w*", "pmix.h, pmi.h"),
    # A GPU.
    Boundary("CUDA", _DEVICE, r"cuda(?:Stream|Device|Event|Thread)(?:Synchronize|Query|WaitEvent)\w*"
             r"|cu(?:Stream|Ctx|Event)(?:Synchronize|Query|WaitEvent)\w*|cuda(?:Memcpy|Free|Malloc|Launch)\w*"
             r"|cu(?:Memcpy|MemFree|MemAlloc|Launch)\w*", "cuda_runtime_api.h, cuda.h"),
    Boundary("HIP", _DEVICE, r"hip(?:Stream|Device|Event)(?:Synchronize|Query|WaitEvent)\w*", "hip_runtime_api.h"),
    # The C library: waiting as such.
    Boundary("libc", _WAIT, r"_*(?:GI_+)?pthread_(?:cond_\w*wait|mutex_\w*lock|rwlock_\w+lock|join|barrier_wait"
             r"|timedjoin\w*|clockjoin\w*|spin_lock)\w*|_*futex_\w+|_*lll_lock_wait\w*|_*new_sem_\w*wait\w*|sem_\w*wait\w*",
             "pthread.h, semaphore.h"),
    Boundary("libc", _WAIT, r"_*(?:GI_+|libc_)?(?:poll|ppoll|select|pselect|epoll_p?wait2?|accept4?|connect"
             r"|recv(?:from|msg|mmsg)?|send(?:to|msg|mmsg)?|read|pread(?:64)?|readv|write|pwrite(?:64)?|writev"
             r"|waitpid|wait4|waitid|wait3|fsync|fdatasync|flock|open(?:at)?(?:64)?|fcntl(?:64)?|ioctl)"
             r"(?:_nocancel)?", "unistd.h, sys/socket.h, poll.h, sys/wait.h"),
    Boundary("libc", _WAIT, r"_*(?:GI_+)?(?:clock_nanosleep|nanosleep|usleep|sleep|pause|sigwait\w*|sigsuspend"
             r"|sched_yield)", "time.h, unistd.h, signal.h"),
    Boundary("C++", _WAIT, r"std::(?:condition_variable|this_thread|thread::join|__basic_future|__future_base).*",
             "C++ standard library"),
)  # fmt: skip
"""In the order in which they are tried; the first that matches a frame names it."""

_PYTHON_PLUMBING = (
    "torch/distributed/c10d_logger.py",
    "torch/utils/_contextlib.py",
    "torch/_dynamo/eval_frame.py",
    "runpy.py",
    "<frozen runpy>",
    "<frozen importlib._bootstrap>",
)
"""Python files whose frames only lead from a caller to what it called."""

_PYTHON_START = re.compile(r"(?:Thread\.)?(?:_bootstrap|_bootstrap_inner|run)")
"""Functions of `Lib/threading.py` that begin a thread."""

_START = re.compile(r"_start|__libc_start_\w+|start_thread|__clone3?|clone3?|__libc_main|_dl_start_user")
_VERSION = re.compile(r"@.*|(?:\.(?:part|isra|constprop|cold|localalias|lto_priv|llvm)(?:\.\w+)*)+$|\[clone .*")
_ROWS = tuple((row, re.compile(row.functions)) for row in BOUNDARIES)


def bare_function(function: str) -> str:
    """A function's name without symbol versions, arguments and what compilers append."""
    name = _VERSION.sub("", function).strip()
    if "(" in name:
        # The first bracket that is not inside a template's: `f(int)`, but not `g<void (*)(int)>::h`.
        depth = 0
        for at, letter in enumerate(name):
            if letter == "<":
                depth += 1
            elif letter == ">" and name[at - 1 : at] != "-":
                depth -= 1
            elif letter == "(" and depth == 0 and not name.startswith("(anonymous namespace)", at):
                return name[:at].rstrip()
    return name


def boundary_of(frame: RankFrame) -> Boundary | None:
    """The row that a frame matches, or None: it is the program's own, or a library's that waits for nothing."""
    return _boundary(frame.function, frame.file if frame.language == "python" else "", frame.language == "python")


@lru_cache(maxsize=1 << 14)
def _boundary(function: str, file: str, python: bool) -> Boundary | None:
    name = function if python else bare_function(function)
    for row, pattern in _ROWS:
        if row.python is python and (not python or file.endswith(row.files)) and pattern.fullmatch(name):
            return row
    return None


def is_plumbing(frame: RankFrame) -> bool:
    """A frame that says nothing: it wraps a call, or starts a program or thread."""
    if frame.language == "python":
        if frame.file.endswith("/threading.py"):
            return _PYTHON_START.fullmatch(frame.function) is not None
        return frame.file.endswith(_PYTHON_PLUMBING)
    return is_start(frame.function)


@lru_cache(maxsize=1 << 12)
def is_start(function: str) -> bool:
    """What begins a program or thread, outside the program's own code."""
    return _START.fullmatch(bare_function(function)) is not None
