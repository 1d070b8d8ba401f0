"""Stops of a program on a GPU, as their records tell: exceptions, launches, attaches, failed driver calls."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from ladder_backends.cuda_gdb.exceptions import explained
from ladder_backends.cuda_gdb.fault_origin import place_in, raised_at
from ladder_backends.gdb.translation import number_of, text_of
from ladder_backends.mi.records import Value
from ladder_backends.model.events import TargetStopped
from ladder_backends.model.frame import FrameKind
from ladder_backends.model.stop_reasons import API_FAILURE, KERNEL_ENTRY

# `Cuda API error detected: cuMemAlloc_v2 returned (0x2)` up to 12, since 13 in longer words.
_API_ERROR = re.compile(
    r"Cuda (?:Runtime |Driver )?API error detected: (?P<function>\S+) returned"
    r" (?:\(?(?P<code>0x[0-9a-fA-F]+|\d+)\)?|(?P<name>[A-Za-z]\w*)(?:\(CUresult=\d+\))?(?:: (?P<why>[^\n]+))?)"
)
_API_SIGNAL = "CUDA API ERROR"
_EXCEPTION = "CUDA_EXCEPTION_"
_ATTACHED = "0"
_API_STOPS = frozenset({"SIGTRAP", "SIGINT", _ATTACHED, ""})


def api_error_in(line: str) -> str:
    """`cuMemAlloc_v2 returned error 2` where a line of the engine tells of a failed call; else an empty string."""
    match = _API_ERROR.search(line)
    if match is None:
        return ""
    if match["code"]:
        return f"{match['function']} returned error {int(match['code'], 0)}"
    why = f": {match['why'].rstrip('.')}" if match["why"] else ""
    return f"{match['function']} returned {match['name']}{why}"


class StopWords:
    """Reads a stop's record for what is special to a GPU.

    Attributes:
        api_error: The last failed call of the driver that the engine told of since the target ran.
    """

    def __init__(self) -> None:
        self.api_error = ""

    def overhear(self, line: str) -> None:
        """Take a line of the engine."""
        if said := api_error_in(line):
            self.api_error = said

    def amend(self, results: Mapping[str, Value], stop: TargetStopped) -> TargetStopped:
        """The stop in better words, and with the place where an exception was raised."""
        api_error, self.api_error = self.api_error, ""
        on_device = "CudaFocus" in results
        if on_device and stop.frame is not None:
            stop = replace(stop, frame=replace(stop.frame, kind=FrameKind.DEVICE))
        signal = text_of(results.get("signal-name"))
        if signal.startswith(_EXCEPTION):
            return _exception(results, stop)
        if signal == _API_SIGNAL:
            meaning = text_of(results.get("signal-meaning"))
            words = api_error_in(meaning) or api_error or meaning or "a call of the driver failed"
            return replace(stop, reason=API_FAILURE, description=words, fault=True)
        if on_device and stop.reason == "breakpoint-hit" and "bkptno" not in results:
            name = stop.frame.function if stop.frame is not None else "a kernel"
            return replace(stop, reason=KERNEL_ENTRY, description=f"{name} was launched")
        if (
            api_error
            and not on_device
            and stop.reason in ("signal-received", "", "stopped")
            and signal in _API_STOPS
        ):
            return replace(stop, reason=API_FAILURE, description=api_error, fault=True)
        if signal == _ATTACHED:
            return replace(stop, description="attached" if on_device else stop.description, fault=False)
        return stop


def _exception(results: Mapping[str, Value], stop: TargetStopped) -> TargetStopped:
    """An exception: the record of some tells the instruction that raised it, past which the frame may stand."""
    name = text_of(results.get("exception_name")) or text_of(results.get("signal-meaning"))
    number = text_of(results.get("signal-name")).removeprefix(_EXCEPTION)
    words = name or f"CUDA exception {number}"
    stop = replace(stop, description=words, fault=True, meaning=explained(f"{_EXCEPTION}{number}"))
    line, file = number_of(results.get("line")), text_of(results.get("filename"))
    if line is None or line < 1 or not file:
        return stop
    return raised_at(stop, place_in(file, line, stop.frame))
