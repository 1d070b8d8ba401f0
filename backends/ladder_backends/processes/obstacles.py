"""What stands between a debugger and a process: one cause, one remedy.

The rules are those of the kernel, ptrace(2), "Ptrace access mode checking", and of its Yama module
(Documentation/admin-guide/LSM/Yama.rst).
"""

from __future__ import annotations

import enum
import os
import time
from collections.abc import Mapping

from ladder_backends.late_dataclass import dataclass
from ladder_backends.processes.proc_files import ProcFiles
from ladder_backends.text import clean_line

_SYS_PTRACE = 1 << 19
"""The bit of CAP_SYS_PTRACE in a capability set, capabilities(7)."""
_SECCOMP_FILTER = "2"
_LOOKS, _BETWEEN_LOOKS = 5, 0.05
"""Looks at a process that waits in the kernel until it counts as stuck, and the seconds between them."""


class ObstacleKind(enum.StrEnum):
    """Causes, each with its own remedy."""

    GONE = "gone"
    OURSELVES = "ourselves"
    TERMINAL = "terminal"
    ZOMBIE = "zombie"
    KERNEL = "kernel thread"
    TRACED = "traced"
    WAITING = "waiting"
    OWNER = "owner"
    YAMA = "yama"
    NOT_DUMPABLE = "not dumpable"
    CAPABLE = "capable"
    USER_NAMESPACE = "user namespace"
    SECCOMP = "seccomp"
    FORBIDDEN = "forbidden"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Obstacle:
    """Why a process cannot be attached to.

    Attributes:
        cause: A clause.
        remedy: What to do, in the imperative; may be empty.
        certain: It is in the way whatever is tried; otherwise trying may still succeed.
    """

    kind: ObstacleKind
    cause: str
    remedy: str = ""
    certain: bool = True


def obstacle_before(pid: int, proc: ProcFiles | None = None) -> Obstacle | None:
    """What is known to be in the way before anything is tried; takes a quarter of a second at most."""
    proc = proc or ProcFiles()
    status = proc.status(pid)
    found = _obstacle(pid, status, proc)
    if found is not None and found.kind is ObstacleKind.WAITING and not _keeps_waiting(pid, proc):
        return None
    return found


def obstacle_at_a_glance(pid: int, status: Mapping[str, str], proc: ProcFiles) -> Obstacle | None:
    """Like `obstacle_before`, of a `status` that was read already; a wait in the kernel may be over by now."""
    return _state_obstacle(pid, status, proc) or _right_obstacle(pid, status, proc, glance=True)


def obstacle_after(pid: int, message: str, proc: ProcFiles | None = None) -> Obstacle:
    """Why the engine was refused, given its own words."""
    proc = proc or ProcFiles()
    status = proc.status(pid)
    found = _obstacle(pid, status, proc)
    if found is not None:
        return found
    if "permitted" not in message and "ermission" not in message:
        return Obstacle(ObstacleKind.OTHER, clean_line(message.strip().rstrip(".")))
    return _forbidden(proc)


def _obstacle(pid: int, status: Mapping[str, str], proc: ProcFiles) -> Obstacle | None:
    return (
        _state_obstacle(pid, status, proc) or _right_obstacle(pid, status, proc) or kernel_wait(pid, proc, status)
    )


def _state_obstacle(pid: int, status: Mapping[str, str], proc: ProcFiles) -> Obstacle | None:
    if not status:
        return Obstacle(ObstacleKind.GONE, "there is no such process", "look at the list of processes again")
    if pid == os.getpid():
        return Obstacle(ObstacleKind.OURSELVES, "it is this console itself")
    state = status.get("State", "")[:1]
    if state in ("Z", "X"):
        parent = status.get("PPid", "")
        name = _name(parent, proc)
        whose = f" ({name}, process {parent})" if name else ""
        return Obstacle(ObstacleKind.ZOMBIE, f"it has ended and waits for its parent{whose} (zombie)")
    if status.get("Kthread") == "1" or (not status.get("VmSize") and "2" in (str(pid), status.get("PPid"))):
        return Obstacle(ObstacleKind.KERNEL, "it is a thread of the kernel")
    tracer = status.get("TracerPid", "0")
    if tracer != "0":
        holder = _name(tracer, proc) or "another program"
        remedy = "let that one detach first; `py-spy dump --nonblocking` reads a Python stack meanwhile"
        return Obstacle(ObstacleKind.TRACED, f"{holder} (process {tracer}) traces it already", remedy)
    return None


def _right_obstacle(
    pid: int, status: Mapping[str, str], proc: ProcFiles, *, glance: bool = False
) -> Obstacle | None:
    own = proc.status("self")
    scope = proc.setting("kernel/yama/ptrace_scope")
    if scope == "3":
        return Obstacle(
            ObstacleKind.YAMA,
            "kernel.yama.ptrace_scope is 3: nobody may attach until the next boot",
            "read its stacks with `py-spy dump --nonblocking`, or start it under the console",
        )
    if _mask(own.get("CapEff")) & _SYS_PTRACE:
        return _refused_by_kernel(pid, proc)
    user, owner = _effective(own), _effective(status)
    if user and owner and any(number != user for number in _three(status)):
        who = user_name(int(owner)) if owner.isdecimal() else owner
        return Obstacle(
            ObstacleKind.OWNER, f"it belongs to user {who}", f"run the console as {who}, or as root with sudo"
        )
    if _mask(status.get("CapPrm")) & ~_mask(own.get("CapPrm")):
        return Obstacle(
            ObstacleKind.CAPABLE,
            "it has privileges that this console lacks (its file has capabilities, see getcap)",
            "run the console as root with sudo",
        )
    root_owns = owner not in ("", "0") and proc.owner(pid) == 0
    if root_owns:
        return Obstacle(
            ObstacleKind.NOT_DUMPABLE,
            "it protects itself (not dumpable): its file is setuid, or it called prctl",
            "run the console as root with sudo",
        )
    if scope == "2":
        return Obstacle(
            ObstacleKind.YAMA,
            "kernel.yama.ptrace_scope is 2: only root may attach",
            "run the console as root with sudo, or `sudo sysctl kernel.yama.ptrace_scope=0`",
        )
    if scope == "1":
        return Obstacle(
            ObstacleKind.YAMA,
            "kernel.yama.ptrace_scope is 1: only a program's own starter may attach",
            "run `sudo sysctl kernel.yama.ptrace_scope=0`, start it under the console, or be root",
            # It may have called PR_SET_PTRACER. Yama writes each refusal to the kernel's log: none for a mere list.
            certain=not glance and proc.may_trace(pid) is False,
        )
    return _refused_by_kernel(pid, proc)


def _refused_by_kernel(pid: int, proc: ProcFiles) -> Obstacle | None:
    """What no rule above explains, told by the kernel's own check."""
    if proc.may_trace(pid) is not False:
        return None
    theirs, ours = proc.link(pid, "ns/user"), proc.link("self", "ns/user")
    if theirs and ours and theirs != ours:
        return Obstacle(
            ObstacleKind.USER_NAMESPACE,
            "it is in a container with users of its own (another user namespace)",
            "run the console as root of the host, or inside that container",
        )
    return _forbidden(proc)


def _forbidden(proc: ProcFiles) -> Obstacle:
    if proc.status("self").get("Seccomp") == _SECCOMP_FILTER:
        return Obstacle(
            ObstacleKind.SECCOMP,
            "the seccomp profile of this container forbids tracing",
            "start it with `docker run --cap-add SYS_PTRACE --security-opt seccomp=unconfined`;"
            " in Kubernetes, `kubectl debug --profile=general --target CONTAINER`",
        )
    return Obstacle(
        ObstacleKind.FORBIDDEN,
        "the system does not permit tracing",
        "in a container, start it with `--cap-add SYS_PTRACE`",
    )


def kernel_wait(
    pid: int, proc: ProcFiles | None = None, status: Mapping[str, str] | None = None
) -> Obstacle | None:
    """The obstacle where a process waits inside the kernel and hears no signal (state D), at one look."""
    proc = proc or ProcFiles()
    status = proc.status(pid) if status is None else status
    if status.get("State", "")[:1] != "D":
        return None
    where = clean_line(proc.text(pid, "wchan").strip())
    place = f" in {where}" if where not in ("", "0") else ""
    return Obstacle(
        ObstacleKind.WAITING,
        f"it waits{place} inside the kernel (state D) and stops for nobody before that ends",
        f"look at /proc/{pid}/stack as root, and try again later",
    )


def _keeps_waiting(pid: int, proc: ProcFiles) -> bool:
    """Whether a process is in the kernel at every one of a few looks: each read from a disk is a short wait too."""
    for _ in range(_LOOKS):
        time.sleep(_BETWEEN_LOOKS)
        if proc.status(pid).get("State", "")[:1] != "D":
            return False
    return True


def holds_our_terminal(pid: int, proc: ProcFiles | None = None) -> Obstacle | None:
    """The obstacle where a process shows this console, as a terminal emulator, tmux or sshd does."""
    proc = proc or ProcFiles()
    ancestor, seen = os.getppid(), set[int]()
    while ancestor > 1 and ancestor not in seen:
        if ancestor == pid:
            masters = ("/dev/ptmx", "/dev/pts/ptmx")
            if any(link in masters for link in proc.open_files(pid)):
                return Obstacle(
                    ObstacleKind.TERMINAL,
                    "it shows this console: once stopped, it would take no key any more",
                    "attach to it from another terminal",
                )
            return None
        seen.add(ancestor)
        parent = proc.status(ancestor).get("PPid", "0")
        ancestor = int(parent) if parent.isdecimal() else 0
    return None


def user_name(uid: int) -> str:
    """A user's name; the number where there is none. Clean."""
    import pwd

    try:
        return clean_line(pwd.getpwuid(uid).pw_name)
    except (KeyError, OverflowError):
        return str(uid)


def _name(pid: str, proc: ProcFiles) -> str:
    return proc.status(pid).get("Name", "") if pid.isdecimal() and pid != "0" else ""


def _mask(text: str | None) -> int:
    try:
        return int(text or "0", 16)
    except ValueError:
        return 0


def _three(status: Mapping[str, str]) -> list[str]:
    """Real, effective and saved user ids: all of them have to be ours."""
    return status.get("Uid", "").replace("␉", " ").split()[:3]


def _effective(status: Mapping[str, str]) -> str:
    numbers = _three(status)
    return numbers[1] if len(numbers) > 1 else ""
