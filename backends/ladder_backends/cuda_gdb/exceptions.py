"""Exceptions of a device in words: what each means, and what helps to find its cause.

Numbers and names are those of the table "GPU Error Reporting" in the manual of CUDA-GDB. Whether the lane, its warp
or only the device is told says how exact an exception is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from ladder_backends.model.kernel_launch import LaneException

_MEMCHECK = "run memcheck: it names the access and its allocation"
_STACK = "raise cudaLimitStackSize, or recurse less deep"
_CODE = "look at the instruction (w d); a damaged function pointer or return address leads there"

_KNOWN: Mapping[int, tuple[str, str, str]] = {
    1: ("Lane Illegal Address", "the lane read or wrote an address that is none of its", _MEMCHECK),
    2: ("Lane User Stack Overflow", "the lane's stack is full", _STACK),
    3: ("Device Hardware Stack Overflow", "the hardware's stack of a warp is full", _STACK),
    4: ("Warp Illegal Instruction", "a lane of the warp ran an instruction that is none", _CODE),
    5: (
        "Warp Out-of-range Address",
        "a lane of the warp went past the end of local or shared memory",
        "compare its index with the size of the array; " + _MEMCHECK,
    ),
    6: (
        "Warp Misaligned Address",
        "an address is no multiple of the size of the access",
        "look for a cast to a wider type, as of char* to float4*; " + _MEMCHECK,
    ),
    7: (
        "Warp Invalid Address Space",
        "an instruction for one address space was given an address of another",
        "look for a pointer to shared or local memory that is used as a global one",
    ),
    8: ("Warp Invalid PC", "the warp's program counter left its code", _CODE),
    9: ("Warp Hardware Stack Overflow", "the hardware's stack of the warp is full", _STACK),
    10: ("Device Illegal Address", "somebody on the device used an address that is none", _MEMCHECK),
    11: (
        "Lane Misaligned Address",
        "an address is no multiple of the size of the access",
        "look for a cast to a wider type, as of char* to float4*; " + _MEMCHECK,
    ),
    12: (
        "Warp Assert",
        "a lane's assert() failed; it can be continued",
        "the frame below __assert_fail is the one that asserts: go up to it",
    ),
    13: ("Lane Syscall Error", "a call as malloc, free or printf was given something invalid", _MEMCHECK),
    14: ("Warp Illegal Address", "a lane of the warp used an address that is none of its", _MEMCHECK),
    15: (
        "Invalid Managed Memory Access",
        "the host touched managed memory while the device had it",
        "synchronize before the host reads or writes it",
    ),
    16: (
        "Non-migratable System-scoped Atomic",
        "an atomic of system scope on memory that cannot move to the device",
        "allocate it with cudaMallocManaged or cudaHostAlloc, or take an atomic of device scope",
    ),
    17: (
        "Cluster Target Block Not Present",
        "the block of the cluster whose shared memory was used has ended or not begun",
        "keep all blocks until the last one is done: cluster.sync() before they leave",
    ),
    18: (
        "Cluster Out-of-range Address",
        "an address is past the end of another block's shared memory",
        "compare the offset with the size of that block's array",
    ),
}
_NUMBER = re.compile(r"CUDA_EXCEPTION_(\d+)")


def exception_in(text: str) -> LaneException | None:
    """The exception that a signal, a column of the table of lanes or a stop's words name; None for none."""
    text = text.strip()
    number = _NUMBER.search(text)
    if number is not None:
        return described(int(number[1]), text)
    for known, (name, _, _) in _KNOWN.items():
        if name.casefold() in text.casefold():
            return described(known, name)
    return LaneException(None, text) if text and text.casefold() not in ("none", "no exception") else None


def explained(text: str) -> str:
    """`Warp Assert: a lane's assert() failed — …` of the exception a text names; nothing where it says no more."""
    told = exception_in(text)
    if told is None or not told.meaning:
        return ""
    return f"{told.name}: {told.meaning} — {told.remedy}"


def described(number: int, told: str = "") -> LaneException:
    """An exception by its number; of one that is not known, what the engine told."""
    known = _KNOWN.get(number)
    if known is None:
        return LaneException(number, told or f"CUDA_EXCEPTION_{number}")
    exact = known[0].split(" ", 1)[0].casefold()
    return LaneException(number, known[0], known[1], known[2], exact if exact in ("lane", "warp", "device") else "")
