"""Where stacks are cut: at each library's entry, and nowhere in a program's own code."""

from __future__ import annotations

import pytest

from ladder_backends.model.ranks import RankFrame
from ladder_backends.ranks.stacks import (
    BOUNDARIES,
    BoundaryKind,
    boundary_of,
    cut_frames,
    frame_label,
    short_function,
)
from ladder_backends.ranks.stacks.boundaries import bare_function


def native(*names: str) -> tuple[RankFrame, ...]:
    return tuple(RankFrame(name) for name in names)


def python(function: str, file: str) -> RankFrame:
    return RankFrame(function, file, 7, language="python")


@pytest.mark.parametrize(
    ("name", "library", "kind"),
    [
        ("MPI_Barrier", "MPI", BoundaryKind.COLLECTIVE),
        ("PMPI_Allreduce", "MPI", BoundaryKind.COLLECTIVE),
        ("mpi_barrier_", "MPI", BoundaryKind.COLLECTIVE),
        ("pmpi_allreduce__", "MPI", BoundaryKind.COLLECTIVE),
        ("mpi_send_f08_", "MPI", BoundaryKind.COLLECTIVE),
        ("ncclAllReduce", "NCCL", BoundaryKind.COLLECTIVE),
        ("pncclGroupEnd", "NCCL", BoundaryKind.COLLECTIVE),
        ("gloo::transport::tcp::Loop::run()", "gloo", BoundaryKind.COLLECTIVE),
        ("c10d::Work::wait(std::chrono::duration<long, std::ratio<1l, 1000l> >)", "c10d", BoundaryKind.COLLECTIVE),
        ("ucp_worker_progress", "UCX", BoundaryKind.COLLECTIVE),
        ("fi_cq_sread", "libfabric", BoundaryKind.COLLECTIVE),
        ("PMIx_Fence", "PMIx", BoundaryKind.COLLECTIVE),
        ("cudaDeviceSynchronize", "CUDA", BoundaryKind.DEVICE),
        ("cuCtxSynchronize_v2", "CUDA", BoundaryKind.DEVICE),
        ("hipStreamSynchronize", "HIP", BoundaryKind.DEVICE),
        ("pthread_cond_wait@@GLIBC_2.3.2", "libc", BoundaryKind.WAIT),
        ("__futex_abstimed_wait_common", "libc", BoundaryKind.WAIT),
        ("poll", "libc", BoundaryKind.WAIT),
        ("__GI___poll", "libc", BoundaryKind.WAIT),
        ("clock_nanosleep@@GLIBC_2.17", "libc", BoundaryKind.WAIT),
        ("std::condition_variable::wait(std::unique_lock<std::mutex>&)", "C++", BoundaryKind.WAIT),
        ("nvshmem_barrier_all", "NVSHMEM", BoundaryKind.COLLECTIVE),
    ],
)
def test_each_library_has_its_boundary(name: str, library: str, kind: BoundaryKind) -> None:
    found = boundary_of(RankFrame(name))
    assert found is not None
    assert (found.library, found.kind) == (library, kind)


@pytest.mark.parametrize(
    "name",
    [
        "main", "compute", "my_MPI_wrapper", "MPIRunner::go()", "ncclient_read", "reader", "poll_queue", "polling",
        "fill", "fi_nd", "ucp", "cudaKernelWrapper", "mpi", "sleepy_loop", "pthread_create", "readline",
        "c10d_helper", "gloomy", "std::vector<int>::push_back(int const&)", "run(gloo::Context&)",
        "call<c10d::Work>(int)", "??", "",
    ],
)  # fmt: skip
def test_own_code_is_no_boundary(name: str) -> None:
    assert boundary_of(RankFrame(name)) is None


@pytest.mark.parametrize(
    ("function", "file", "library"),
    [
        ("all_reduce", "/v/lib/python3.11/site-packages/torch/distributed/distributed_c10d.py", "c10d"),
        ("get", "/usr/lib/python3.11/queue.py", "Python"),
        ("Condition.wait", "/usr/lib/python3.11/threading.py", "Python"),
        ("synchronize", "torch/cuda/__init__.py", "CUDA"),
    ],
)
def test_python_has_boundaries_too(function: str, file: str, library: str) -> None:
    found = boundary_of(python(function, file))
    assert found is not None
    assert found.library == library


@pytest.mark.parametrize(
    ("function", "file"),
    [("MPI_Barrier", "mine.py"), ("all_reduce", "train.py"), ("get", "/src/my_queue.py"), ("poll", "app.py")],
)
def test_python_functions_of_the_same_name_are_not(function: str, file: str) -> None:
    assert boundary_of(python(function, file)) is None


def test_the_outermost_boundary_cuts_and_stays() -> None:
    cut = cut_frames(
        native("_start", "__libc_start_main@@GLIBC_2.34", "main", "MPI_Barrier", "opal_progress", "poll")
    )
    assert [frame.function for frame in cut] == ["main", "MPI_Barrier"]


def test_wrappers_between_the_script_and_its_collective_say_nothing() -> None:
    where = "/v/site-packages/torch/distributed"
    frames = (
        python("<module>", "/a/train.py"),
        python("wrapper", f"{where}/c10d_logger.py"),
        python("all_reduce", f"{where}/distributed_c10d.py"),
        *native("c10d::Work::wait(int)", "pthread_cond_wait"),
    )
    assert [frame.function for frame in cut_frames(frames)] == ["<module>", "all_reduce"]


def test_how_a_thread_of_python_begins_says_nothing() -> None:
    where = "/usr/lib/python3.11/threading.py"
    frames = (python("Thread._bootstrap", where), python("Thread.run", where), python("feed", "/a/data.py"))
    assert [frame.function for frame in cut_frames(frames)] == ["feed"]
    assert len(cut_frames((python("Thread.run", "/a/mine.py"), python("feed", "/a/data.py")))) == 2


def test_a_stack_that_has_no_boundary_stays_as_it_is() -> None:
    frames = native("main", "compute")
    assert cut_frames(frames) is frames
    assert cut_frames(()) == ()
    # Something is left even of a thread that is only just being made.
    assert cut_frames(native("__clone3", "start_thread")) == native("start_thread")


def test_every_row_has_a_source_and_its_own_names() -> None:
    for row in BOUNDARIES:
        assert row.source
        assert row.library


def test_names_are_bare_and_short() -> None:
    assert bare_function("f(int, char)") == "f"
    assert bare_function("g<void (*)(int)>::h(long)") == "g<void (*)(int)>::h"
    assert bare_function("(anonymous namespace)::f(int)") == "(anonymous namespace)::f"
    assert bare_function("work.part.0") == "work"
    long = "pybind11::cpp_function::initialize<" + "a, " * 60 + "b>(bool)::{lambda(int)#1}::_FUN(int)"
    assert len(short_function(long)) < 70
    assert frame_label(RankFrame("next_batch", "/d/loader.py", 41, language="python")) == "loader.py:41 next_batch"
