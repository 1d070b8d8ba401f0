"""First lines about what hardware, driver and runtime report: exceptions, faults, failed calls."""

from __future__ import annotations

import re

from ladder_backends.model.finding import FindingKind
from ladder_backends.sanitizer.draft import Head
from ladder_backends.sanitizer.fields import slug

_ENCOUNTERED = re.compile(r"(?P<what>[\w/ -]+?) ?error encountered ?: ?(?P<detail>.*?)[.]?$", re.IGNORECASE)
_PROGRAM_HIT = re.compile(
    r"Program hit (?P<name>.*?) ?\(?\berror (?P<result>-?\d+)\)?(?: due to (?P<text>.*?))?"
    r"(?: on (?:\w+ )?API call(?: to (?P<api>.+?))?)?[.]?$"
)
_API_LOG = re.compile(r"CUDA (?:API|driver)\b[^:]*: ?(?P<text>.*)$", re.IGNORECASE)
_UVM = re.compile(r"Fatal UVM (?P<side>GPU|CPU) fault\b\s*(?P<reason>.*)$")
_TENSOR = re.compile(
    r"\btcgen05\b|\bTensor Memory\b|\bTMEM\b|\bTCMMA\b|\bmmakind\b|\bsparse mode\b|unrelated tcgen05"
)
_TENSOR_INSTRUCTION = re.compile(r"tcgen05(?:\.\w+)+")
_FABRIC = re.compile(r"fabric operation|logical endpoint|counted operation")
_EXCEPTION = re.compile(
    r"(?:(?:Device|Lane|Warp|User|Hardware|Cluster|Grid|Imprecise|Potential|Global|Shared|Local|Thread)\b[\w -]*?)?"
    r"(?:(?:illegal|invalid|misaligned|out[- ]of[- ]range)(?: [\w-]+){0,4}? address(?: space)?|illegal instruction"
    r"|stack (?:canary )?overflow|invalid (?:pc|program counter|managed memory access)|\bassert(?:ion)?|breakpoint"
    r"|syscall error|access with a partial warp|target block not present|address out of range|unknown error"
    r"|nvlink error)\b.*$",
    re.IGNORECASE,
)
_AT = re.compile(r"\bat (?:address )?(0x[0-9a-fA-F]+)")


def device_runtime_error(body: str, severity: str) -> Head | None:
    """`Malloc/Free error encountered : Double free`."""
    match = _ENCOUNTERED.match(body)
    if match is None:
        return None
    return Head(
        FindingKind.MALLOC_FREE, "memcheck", slug(match["detail"]), severity=severity, reason=match["detail"]
    )


def failed_call(body: str, severity: str) -> Head | None:
    """`Program hit NAME (error N) due to "TEXT" on CUDA API call to FUNCTION.` and its shorter forms."""
    match = _PROGRAM_HIT.match(body)
    if match is None:
        return None
    name, text = match["name"].strip(" ("), (match["text"] or "").strip('"')
    reason = f"{name or 'error'} ({match['result']})" + (f": {text}" if text else "")
    api, result = match["api"] or "", int(match["result"][:12])
    noise = api.startswith("cuGetProcAddress") and result == 500
    return Head(
        FindingKind.API_ERROR,
        "memcheck",
        api,
        severity="info" if noise else severity,
        reason=reason,
        result=result,
    )


def managed_fault(body: str, severity: str) -> Head | None:
    """`Fatal UVM GPU fault of type … due to …`."""
    match = _UVM.match(body)
    if match is None:
        return None
    kind = FindingKind.UVM_GPU_FAULT if match["side"] == "GPU" else FindingKind.UVM_CPU_FAULT
    return Head(kind, "memcheck", space="managed", severity=severity, reason=match["reason"])


def hardware_exception(body: str, severity: str) -> Head | None:
    """`Illegal instruction`, `Out-of-range shared or local address`: what the hardware reports."""
    if _EXCEPTION.match(body) is None:
        return None
    lowered = body.lower()
    both = "shared or local" in lowered or "local or shared" in lowered
    address = _AT.search(body)
    return Head(
        FindingKind.HW_EXCEPTION,
        space="shared|local" if both else "",
        severity=severity,
        reason=body.rstrip("."),
        address=address[1] if address else "",
    )


def tensor_memory(body: str, severity: str) -> Head | None:
    """`Tensor Memory column 32 being accessed by instruction tcgen05.ld is not allocated…`."""
    if _TENSOR.search(body) is None:
        return None
    instruction = _TENSOR_INSTRUCTION.search(body)
    return Head(
        FindingKind.TENSOR_MEMORY,
        "memcheck",
        instruction[0] if instruction else "",
        space="tensor",
        severity=severity,
        reason=body.rstrip("."),
    )


def fabric_error(body: str, severity: str) -> Head | None:
    """`The size of a fabric operation is not a multiple of 16 bytes`."""
    if _FABRIC.search(body) is None:
        return None
    return Head(FindingKind.HW_EXCEPTION, "memcheck", severity=severity, reason=body.rstrip("."))


def driver_log(body: str, severity: str) -> Head | None:
    """A line of the driver's log that the tool passes on: `CUDA API error: …`."""
    match = _API_LOG.match(body)
    if match is None:
        return None
    return Head(FindingKind.API_ERROR, "memcheck", severity=severity, reason=match["text"])
