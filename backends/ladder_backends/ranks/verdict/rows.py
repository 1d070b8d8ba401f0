"""The table of verdicts: what each needs to be said, in which words, and where the rule comes from."""

from __future__ import annotations

from typing import NamedTuple


class Row(NamedTuple):
    """One kind of verdict.

    Attributes:
        needs: What has to be seen for it, a clause.
        sentence: Its words; names in braces are filled in.
        source: Where the rule comes from.
        diverges: It holds the job up; false for news of progress, and for nothing known.
        base: Points before any fact speaks: how telling the sign is by itself.
    """

    id: str
    needs: str
    sentence: str
    source: str
    diverges: bool = True
    base: int = 0


_FR = "PyTorch flight recorder: docs, torch/distributed/flight_recorder (analyzer)"
_MPI = "MPI standard 4.1, section 6.1: collectives are called by all ranks of a group, in one order"

ROWS: tuple[Row, ...] = (
    Row("dead", "a rank of the job has no live process while others live",
        "{ranks} {has} died{why}; {waiters} live on.", "proc(5): state Z, or no process", base=3),
    Row("stopped", "a rank stands in state T or t, at two looks or under a tracer",
        "{ranks} {is} stopped{why}, and {waiters} cannot go on without {it}.", "proc(5): state T, t, TracerPid",
        base=2),
    Row("kernel", "a rank is in state D at two looks",
        "{ranks} {is} held in the kernel{why}: uninterruptible.", "proc(5): state D, wchan", base=1),
    Row("wrong-op", "two ranks of a group issued different operations under one number",
        "{ranks} {is} in {op} where {waiters} {are} in {others}, as number {seq} of {group}.",
        f"{_FR}: COLLECTIVE_TYPE_MISMATCH", base=2),
    Row("split-op", "the same, with no majority",
        "Half of {group} is in {op} ({ranks}), the other half in {others} ({waiters}), as number {seq}.",
        f"{_FR}: COLLECTIVE_TYPE_MISMATCH", base=2),
    Row("size", "one operation under one number, with sizes that have to agree and do not",
        "{ranks} called {op} #{seq} of {group} with {mine} where {waiters} called it with {theirs}.",
        f"{_FR}: SIZE_OR_SYNTAX_MISMATCH", base=2),
    Row("dtype", "one operation under one number, with different element types",
        "{ranks} called {op} #{seq} of {group} with {mine} where {waiters} called it with {theirs}.",
        f"{_FR}: COLLECTIVE_DTYPE_MISMATCH", base=2),
    Row("crossed", "ranks wait for each other in different groups, round in a circle",
        "{ranks} wait for each other: {circle}.", "NCCL user guide: operations on several communicators", base=2),
    Row("missing", "some ranks of a group have not issued a collective that others wait in",
        "{ranks} {has} not joined {op} #{seq}{in_group} ({count} wait{age}).", f"{_FR}: missing ranks", base=2),
    Row("alone", "the same, where fewer ranks wait than have not come",
        "{waiters} {are} alone in {op} #{seq}{in_group}{age}: {ranks} {has} not issued it.",
        f"{_FR}: missing ranks", base=1),
    Row("never", "a member of a group has issued none of its collectives",
        "{ranks} {has} never issued a collective of {group}; {count} wait in {op} #{seq}{age}.",
        f"{_FR}: missing ranks", base=2),
    Row("p2p", "a receive waits whose send was not issued, or the other way round",
        "{ranks} {has} not issued the {other} of {op}: {waiters} {wait} for it{age}.", f"{_FR}: send and recv",
        base=2),
    Row("no-evidence", "all ranks that tell anything wait in the same place, and some tell nothing",
        "{ranks} told nothing{why}; {count} wait in {op}{number}{age}.",
        "pytorch/pytorch#167023, #196968: a rank that hangs elsewhere writes no dump", base=1),
    Row("stacks-missing", "some ranks are in no communication while others wait in one collective",
        "{ranks} {has} not joined {op} ({count} wait).", _MPI, base=1),
    Row("stacks-wrong-op", "ranks stand in different collectives",
        "{ranks} {is} in {op}, {waiters} in {others}.", _MPI, base=1),
    Row("stacks-split", "the same, with no majority",
        "{ranks} {is} in {op}, {waiters} in {others}: no majority.", _MPI, base=1),
    Row("stacks-receive", "some ranks wait for a message while others wait in a collective",
        "{ranks} {wait} in {op} for a message, {waiters} in {others}.", _MPI, base=1),
    Row("stacks-outside", "ranks wait in different collectives while some are in no communication",
        "{ranks} {is} in no communication while {waiters} {do_wait} in {op}.", _MPI, base=1),
    Row("stacks-messages", "all ranks stand in calls between two ranks, in the same place at two looks",
        "All {count} wait in {op}{place}, each for another: a circle, or a lost message.",
        "MPI standard 4.1, section 3.5: send and receive in a circle may not complete", base=0),
    Row("call-site", "all stand in one operation, called from different lines",
        "All {count} wait in {op}, but {ranks} called it from {mine}, {waiters} from {theirs}.", _MPI, base=0),
    Row("ras-behind", "RAS counts differ, and did not change between two queries",
        "{ranks} {has} begun fewer {op} than {waiters}{on}: {mine} against {theirs}.",
        "NCCL user guide, RAS: mismatches of a single query are normal", base=1),
    Row("ras-silent", "RAS knows a rank and hears nothing of it",
        "{ranks} {does} not answer NCCL's RAS; {waiters} {do}.", "NCCL user guide, RAS: INCOMPLETE", base=1),
    Row("same", "all ranks wait in the same operation, called from one line, at two looks",
        "All {count} wait in {op}{number}{age}: nobody is missing{so_far}. Look at the network or the GPUs.",
        "NVIDIA/nccl#857: back traces of all ranks, then the transport", base=0),
    Row("moving", "collectives or stacks went on between the looks, and nobody is missing",
        "The job goes on: {words}.", "two looks", diverges=False, base=2),
    Row("together", "nobody is missing as far as is seen, at one look",
        "No divergence is seen: {words}.", "one look", diverges=False),
    Row("nothing", "no source told anything of the ranks",
        "Nothing is known of what the ranks do{why}.", "-", diverges=False),
)  # fmt: skip
"""Most telling first; where two apply, the first is the verdict, and the others are facts beside it."""

BY_ID = {row.id: row for row in ROWS}


class Doing(NamedTuple):
    """What a thread does whose innermost known function or system call has such a name.

    Attributes:
        names: Of functions and system calls, without leading underscores.
        words: A verb and what it is about, third person.
    """

    names: tuple[str, ...]
    words: str


DOING: tuple[Doing, ...] = (
    Doing(("nanosleep", "clock_nanosleep", "sleep", "usleep", "pause", "time.sleep"), "sleeps"),
    Doing(("read", "pread", "pread64", "readv", "preadv", "preadv2"), "reads a file"),
    Doing(("write", "pwrite", "pwrite64", "writev"), "writes"),
    Doing(("fsync", "fdatasync", "sync", "sync_file_range", "msync"), "waits for a disk"),
    Doing(("open", "openat", "openat2", "stat", "newfstatat", "statx", "getdents64"), "looks for a file"),
    Doing(("flock", "fcntl", "fcntl64"), "waits for a lock on a file"),
    Doing(("recv", "recvfrom", "recvmsg", "recvmmsg", "recv_bytes"), "waits for a socket"),
    Doing(("send", "sendto", "sendmsg", "sendmmsg"), "sends to a socket"),
    Doing(("accept", "accept4", "connect"), "waits for a connection"),
    Doing(("poll", "ppoll", "select", "pselect6", "pselect", "epoll_wait", "epoll_pwait", "epoll_pwait2"),
          "waits for a descriptor"),
    Doing(("wait4", "waitpid", "waitid", "wait3", "_try_wait", "vfork"), "waits for a child process"),
    Doing(("pthread_mutex_lock", "lll_lock_wait", "lll_lock_wait_private", "acquire", "pthread_spin_lock",
           "pthread_rwlock_rdlock", "pthread_rwlock_wrlock"), "waits for a lock"),
    Doing(("futex", "futex_wait", "futex_wait_queue", "futex_abstimed_wait_common", "pthread_cond_wait",
           "pthread_cond_timedwait", "wait", "_wait_for_tstate_lock", "sem_wait"),
          "waits for another thread"),
    Doing(("get", "put"), "waits for a queue"),
    Doing(("pthread_join", "pthread_timedjoin_np", "pthread_clockjoin_np", "pthread_clockjoin_ex",
           "join"), "waits for a thread to end"),
    Doing(("cudaStreamSynchronize", "cudaDeviceSynchronize", "cudaEventSynchronize", "cuStreamSynchronize",
           "cuCtxSynchronize", "cuCtxSynchronize_v2", "cuEventSynchronize", "synchronize", "hipStreamSynchronize",
           "hipDeviceSynchronize"), "waits for its GPU"),
)  # fmt: skip
"""Function names of the C library and of Python's, and Linux system calls (syscalls(2))."""

HELPER_THREADS = (
    r"gloo::transport::.*Loop::run.*",
    r"c10d::.*(?:[Ww]atchdog|[Hh]eartbeat|runLoop|Daemon|BackgroundThread|hookLoop).*",
    r"nccl(?:Proxy|Ras|RAS)\w*",
    r"ucs_async_thread\w*",
    r"(?:opal_)?progress_engine|listen_thread.*|orte_.*|pmix_.*",
)
"""Functions by which a library's own thread is known: it says nothing of what its rank does."""

COLLECTIVES_OF_MPI = frozenset((
    "Barrier", "Bcast", "Reduce", "Allreduce", "Gather", "Gatherv", "Scatter", "Scatterv", "Allgather",
    "Allgatherv", "Alltoall", "Alltoallv", "Alltoallw", "Reduce_scatter", "Reduce_scatter_block", "Scan",
    "Exscan", "Comm_dup", "Comm_split", "Comm_split_type", "Comm_create", "Comm_free", "Comm_spawn",
    "Comm_accept", "Comm_connect", "Cart_create", "Graph_create", "Dist_graph_create",
    "Dist_graph_create_adjacent", "Neighbor_allgather", "Neighbor_allgatherv", "Neighbor_alltoall",
    "Neighbor_alltoallv", "Neighbor_alltoallw", "Win_create", "Win_allocate", "Win_allocate_shared",
    "Win_fence", "Win_free", "File_open", "File_close", "File_read_all", "File_write_all", "File_read_at_all",
    "File_write_at_all", "File_set_view", "File_set_size", "Init", "Init_thread", "Finalize", "Session_init",
    "Intercomm_create", "Intercomm_merge",
))  # fmt: skip
"""MPI standard 4.1: operations that every rank of a communicator, window or file has to call."""

POINT_TO_POINT = frozenset((
    "send", "recv", "isend", "irecv", "batch_isend_irecv", "send_object_list", "recv_object_list",
))  # fmt: skip
"""torch.distributed: operations between two ranks."""

UNEVEN_INPUTS = frozenset((
    "all_to_all", "all_to_all_single", "all_to_all_v_single", "alltoall", "alltoall_base", "all_to_all_base",
    "scatter", "all_gather_v", "reduce_scatter_v", "all_gather",
))  # fmt: skip
"""Operations whose inputs may differ in size from rank to rank (`Op.match` of the analyzer; uneven gathers)."""

UNEVEN_OUTPUTS = frozenset((
    "all_to_all", "all_to_all_single", "all_to_all_v_single", "alltoall", "alltoall_base", "all_to_all_base",
    "gather", "reduce", "all_gather_v", "reduce_scatter_v",
))  # fmt: skip
"""The same of outputs."""
