"""Stops of a program on a GPU, as their records tell: exceptions, launches, attaches, failed driver calls."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from ladder_backends.gdb.translation import number_of, text_of
from ladder_backends.mi.records import Value
from ladder_backends.model.events import TargetStopped
from ladder_backends.model.frame import Frame, FrameKind, Place, file_name
from ladder_backends.model.stop_reasons import API_FAILURE, KERNEL_ENTRY

_API_ERROR = re.compile(r"Cuda API error detected: (?P<function>\S+) returned \(?(?P<code>0x[0-9a-fA-F]+|\d+)\)?")
_EXCEPTION = "CUDA_EXCEPTION_"
_ATTACHED = "0"
_API_STOPS = frozenset({"SIGTRAP", "SIGINT", _ATTACHED, ""})


def api_error_in(line: str) -> str:
    """`cuMemAlloc_v2 returned error 2` where a line of the engine tells of a failed call; else an empty string."""
    match = _API_ERROR.search(line)
    if match is None:
        return ""
    code = int(match["code"], 0)
    return f"{match['function']} returned error {code}"


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
    name = name or f"CUDA exception {number}"
    origin = _origin(results, stop.frame)
    at = f" at {origin}" if origin is not None else ""
    place = stop.frame.place if stop.frame is not None else None
    past = ""
    if (
        origin is not None
        and place is not None
        and (origin.line, file_name(origin.file))
        != (
            place.line,
            file_name(place.file),
        )
    ):
        past = f"; the lane stands past it, on line {place.line}"
    return replace(stop, description=f"{name}{at}{past}", fault=True, origin=origin)


def _origin(results: Mapping[str, Value], frame: Frame | None) -> Place | None:
    line, file = number_of(results.get("line")), text_of(results.get("filename"))
    if line is None or line < 1 or not file:
        return None
    known = frame.place if frame is not None else None
    same = known is not None and file_name(known.file) == file_name(file)
    return Place(file, line, known.fullname if known is not None and same else "")
