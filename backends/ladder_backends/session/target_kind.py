"""Which rung fits a target, told from the files themselves."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from pathlib import Path

from ladder_backends.case import FileKind, classify, plain_file
from ladder_backends.debugger.target import AttachTarget, CoreTarget, GpuDumpTarget, LaunchTarget, Target
from ladder_backends.errors import TargetInvalid
from ladder_backends.gdb.process_check import check_process
from ladder_backends.images import ElfImage, ElfInvalid, carries_device_code
from ladder_backends.late_dataclass import dataclass
from ladder_backends.rungs import device_rung, dump_rung, host_rung
from ladder_backends.session.device_here import live_device_rung, uses_gpu
from ladder_backends.text import clean_line

_HIP_SECTIONS = frozenset({".hip_fatbin", ".hipFatBinSegment"})


@dataclass(frozen=True, slots=True)
class Choice:
    """Where a target is opened.

    Attributes:
        debugger: Entry point name.
        target: The target, of the kind that its file really is, unpacked.
        notice: What the user should know about the choice, or an empty string.
    """

    debugger: str
    target: Target
    notice: str = ""


def choose_debugger(target: Target) -> Choice:
    """Look at the target's files; may unpack a dump, so not on an event loop.

    Raises:
        TargetInvalid: A packed dump cannot be unpacked, or a process cannot be attached to.
    """
    if isinstance(target, LaunchTarget):
        return _choose_for_program(target)
    if isinstance(target, AttachTarget):
        # Before a session gives way to one that could not begin.
        check_process(target.pid)
        if uses_gpu(target.pid) and (device := live_device_rung()) is not None:
            return Choice(device.debugger, target)
        notice = _device_notice(Path(f"/proc/{target.pid}/exe"))
        return Choice(host_rung().debugger, target, notice)
    file = target.core if isinstance(target, CoreTarget) else target.dump
    found = classify(file)
    if found.kind is FileKind.GPU_DUMP:
        return Choice(dump_rung().debugger, GpuDumpTarget(plain_file(found), target.executable))
    if found.kind is FileKind.CORE:
        return Choice(host_rung().debugger, CoreTarget(plain_file(found), target.executable))
    if isinstance(target, CoreTarget) and target.executable is not None:
        other = classify(target.executable)
        if other.kind in (FileKind.CORE, FileKind.GPU_DUMP) and found.kind is FileKind.EXECUTABLE:
            shown = clean_line(target.executable.name)
            raise TargetInvalid(
                f"{clean_line(file.name)} is a program, and {shown} the {other.kind}",
                "",
                "name them the other way round",
            )
    # The debugger itself says what is wrong with anything else.
    fitting = host_rung() if isinstance(target, CoreTarget) else dump_rung()
    return Choice(fitting.debugger, target)


def _choose_for_program(target: LaunchTarget) -> Choice:
    program = target.program
    if "/" not in str(program) and not program.exists():
        found = shutil.which(str(program))
        if found is not None:
            program = Path(found)
            target = replace(target, program=program)
    if os.path.isfile(program) and carries_device_code(program) and (device := live_device_rung()) is not None:
        return Choice(device.debugger, target)
    return Choice(host_rung().debugger, target, _device_notice(program))


def _device_notice(program: Path) -> str:
    if not os.path.isfile(program):
        return ""
    if carries_device_code(program):
        return (
            "the program has CUDA kernels: gdb shows its host side — for the kernels, sanitize it and jump"
            " from a finding, or open its GPU core dump"
        )
    try:
        with ElfImage.open(program) as image:
            names = {section.name for section in image.sections}
    except (OSError, ElfInvalid):
        return ""
    if names & _HIP_SECTIONS:
        rung = device_rung("HIP")
        driven = (
            f"{rung.name}, on {rung.place}, the kernels"
            if rung and not rung.missing
            else "rocgdb is not driven yet"
        )
        return f"the program has HIP kernels: gdb shows its host side; {driven}"
    return ""
