"""Names of the system calls in which ranks are found waiting; others show by number."""

from __future__ import annotations

import platform

# Linux, include/uapi: arch/x86/entry/syscalls/syscall_64.tbl and include/uapi/asm-generic/unistd.h.
_X86_64 = {
    0: "read", 1: "write", 7: "poll", 23: "select", 34: "pause", 35: "nanosleep", 42: "connect", 43: "accept",
    44: "sendto", 45: "recvfrom", 46: "sendmsg", 47: "recvmsg", 61: "wait4", 72: "fcntl", 73: "flock", 74: "fsync",
    128: "rt_sigtimedwait", 130: "rt_sigsuspend", 202: "futex", 230: "clock_nanosleep", 232: "epoll_wait",
    247: "waitid", 270: "pselect6", 271: "ppoll", 281: "epoll_pwait", 16: "ioctl", 17: "pread64", 24: "sched_yield",
}  # fmt: skip
_GENERIC = {
    63: "read", 64: "write", 72: "pselect6", 73: "ppoll", 101: "nanosleep", 203: "connect", 202: "accept",
    206: "sendto", 207: "recvfrom", 211: "sendmsg", 212: "recvmsg", 260: "wait4", 25: "fcntl", 32: "flock",
    82: "fsync", 137: "rt_sigtimedwait", 133: "rt_sigsuspend", 98: "futex", 115: "clock_nanosleep",
    22: "epoll_pwait", 95: "waitid", 29: "ioctl", 67: "pread64", 124: "sched_yield",
}  # fmt: skip
_NAMES = {"x86_64": _X86_64, "aarch64": _GENERIC}.get(platform.machine(), {})


def syscall_name(text: str) -> str:
    """The call out of `/proc/PID/syscall` (proc(5)): its name or number, `running`, or empty if untold."""
    first = text.split(None, 1)[0] if text.strip() else ""
    if first == "running":
        return first
    if first == "-1" or not first.isdecimal():
        return ""
    return _NAMES.get(int(first), f"system call {first}")
