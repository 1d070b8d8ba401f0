"""Whether a finding names a lane; if not, why, and which action would get one."""

from __future__ import annotations

from ladder_backends.model.finding import CodeLocation, FindingKind, LaneAnswer
from ladder_backends.model.frame import file_name

_WHY: dict[FindingKind, str] = {
    FindingKind.RACE_ANALYSIS: (
        "a race analysis sums up many accesses and names no thread: re-run racecheck with "
        "--racecheck-report hazard to get both lanes"
    ),
    FindingKind.LEAK: "memory left at exit has no place on the device",
    FindingKind.API_ERROR: "the error came back to the host, no device code is named",
    FindingKind.UNINIT_API: "a copy by the host read the memory, no kernel did",
    FindingKind.STREAM_RACE: "two calls of the host are out of order, no kernel is named",
    FindingKind.UNUSED_MEMORY: "memory that nobody wrote has no access to show",
    FindingKind.UVM_GPU_FAULT: (
        "the driver reports only the address: re-run under cuda-gdb, which stops in the faulting kernel"
    ),
    FindingKind.UVM_CPU_FAULT: "the host touched managed memory the GPU was using: re-run under gdb to stop there",
    FindingKind.TOOL_ERROR: "it is about the run of the tool, not about the program",
    FindingKind.TOOL_WARNING: "it is about the run of the tool, not about the program",
    FindingKind.SESSION: "it is about the run of the tool, not about the program",
}
_HOST_ACTION = {
    FindingKind.LEAK: "open the frame that allocated it",
    FindingKind.API_ERROR: "open the frame that called",
    FindingKind.UNINIT_API: "open the frame that copies",
    FindingKind.STREAM_RACE: "open the frame that called",
    FindingKind.UNUSED_MEMORY: "open the frame that allocated it",
}


def frame_words(frame: CodeLocation) -> str:
    """`main uninit.cu:14`, `solve in 11_runner`, as much as is known."""
    name = frame.function.split("(", 1)[0] or frame.offset
    if frame.file:
        where = file_name(frame.file) + (f":{frame.line}" if frame.line is not None else "")
        return f"{name} {where}".strip()
    return f"{name} in {file_name(frame.module)}" if frame.module else name


def lane_of(
    kind: FindingKind, lanes: int, user: CodeLocation | None, stack: bool, follows: bool, cut: bool = False
) -> tuple[LaneAnswer, str]:
    """The lane answer of a finding and, unless exact, the reason with the action that helps.

    Args:
        kind: What the finding is about.
        lanes: How many places with a thread and a block it has.
        user: The user's frame of its host stack, or None.
        stack: It has a host stack at all.
        follows: It is the consequence of an earlier finding.
        cut: The report ends inside its record.
    """
    if lanes >= 2:
        return LaneAnswer.TWO, ""
    if lanes == 1:
        return LaneAnswer.EXACT, ""
    if follows:
        return LaneAnswer.NONE, "it follows from an earlier device error: jump to the finding it is folded under"
    why = _WHY.get(kind)
    if why is None and cut:
        return (
            LaneAnswer.NONE,
            "the report ends inside this record, which may be of a bug listed before: run the sanitizer again",
        )
    if why is None:
        return (
            LaneAnswer.NONE,
            "the report names no thread here: break on the line, or on the kernel, under cuda-gdb",
        )
    action = _HOST_ACTION.get(kind)
    if action is not None:
        if user is None and stack:
            return LaneAnswer.NONE, f"{why}, and its host stack holds no frame with a name outside of libraries"
        if user is None:
            return LaneAnswer.NONE, f"{why}: re-run with --show-backtrace yes to get the host stack"
        return LaneAnswer.NONE, f"{why}: {action} ({frame_words(user)})"
    return LaneAnswer.NONE, why
