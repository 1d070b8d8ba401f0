"""First lines of records: what a record is about.

The forms are those of the tool's manual and of reports from cuda-memcheck 10 to Compute Sanitizer 2026.4.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from ladder_backends.model.finding import CodeLocation, FindingKind
from ladder_backends.model.focus import Dim3, parse_dim3
from ladder_backends.sanitizer.draft import Head
from ladder_backends.sanitizer.locations import parse_location
from ladder_backends.sanitizer.messages import known_message, marked_message

_SEVERITY = re.compile(r"(WARN(?:ING)?|ERROR|INFO|FATAL)\s*:\s*", re.IGNORECASE)
_SPACE = r"(?:(?P<space>__\w+__) )?"
_INVALID = re.compile(
    rf"(?P<potential>Potential )?[Ii]nvalid {_SPACE}(?P<access>\?|\w[\w .:-]*?)"
    r" of size (?P<size>[\d,]+)(?: bytes?)?(?: is (?P<reason>.*?))?[.]?$"
)
_INVALID_OPERATION = re.compile(r"Invalid (?P<what>[\w-]+(?: [\w-]+)*) operation\b(?: \((?P<reason>[^)]*)\))?")
_UNINITIALIZED = re.compile(
    rf"Uninitialized {_SPACE}memory (?P<access>\w+)(?: of size (?P<size>[\d,]+)(?: bytes?)?)?[.]?$"
)
_HOST_ACCESS = re.compile(r"Host API (?:memory access error|uninitialized memory access)(?P<rest>.*)$")
_UNUSED = re.compile(rf"Unused {_SPACE}memory in allocation\b(?P<rest>.*)$")
_DETECTED = re.compile(r"(?P<what>[\w:. -]*?) ?error detected ?[.:]? ?(?P<detail>.*?)[.]?$")
_ENCOUNTERED = re.compile(r"(?P<what>[\w/ -]+?) ?error encountered ?: ?(?P<detail>.*?)[.]?$", re.IGNORECASE)
_HAZARD = re.compile(
    r"(?P<level>\(Warp Level Programming\)\s*)?Potential (?P<type>RAW|WAR|WAW) hazard detected(?P<rest>.*)$"
)
_RACE = re.compile(r"Race reported between (?P<access>\w+) access at (?P<where>.*)$")
_PROGRAM_HIT = re.compile(
    r"Program hit (?P<name>.*?) ?\(?\berror (?P<result>-?\d+)\)?(?: due to (?P<text>.*?))?"
    r"(?: on (?:\w+ )?API call(?: to (?P<api>.+?))?)?[.]?$"
)
_API_LOG = re.compile(r"CUDA (?:API|driver)\b[^:]*: ?(?P<text>.*)$", re.IGNORECASE)
_LEAKED = re.compile(r"Leaked (?P<size>[\d,]+) bytes?\b(?P<rest>.*)$")
_LEAKED_HANDLE = re.compile(r"Leaked an? (?P<what>\S+)(?: with)?(?: handle)? ?(?P<handle>0x[0-9a-fA-F]+|\?)?")
_STREAM_RACE = re.compile(
    r"(?P<what>(?:Free|Use)-(?:before|after)-\w+) on allocation of size (?P<size>[\d,]+)(?: bytes?)?"
    r"(?: at (?P<address>0x[0-9a-fA-F]+))?"
)
_UVM = re.compile(r"Fatal UVM (?P<side>GPU|CPU) fault\b\s*(?P<reason>.*)$")
_TENSOR = re.compile(
    r"\btcgen05\b|\bTensor Memory\b|\bTMEM\b|\bTCMMA\b|\bmmakind\b|\bsparse mode\b|unrelated tcgen05"
)
_TENSOR_INSTRUCTION = re.compile(r"tcgen05(?:\.\w+)+")
_FABRIC = re.compile(r"fabric operation|logical endpoint|counted operation")
_THREADS = re.compile(
    r"(?P<what>.*?) called by threads starting at \((?P<thread>[^)]*)\) in block \((?P<block>[^)]*)\)"
    r"(?P<rest>.*)$"
)
_SYNC_VERB = re.compile(
    r"(.*(?:barrier|syncwarp|copy.*))\s+(init\w*|inval\w*|arrive.*|wait|expect.*)$", re.IGNORECASE
)
_EXCEPTION = re.compile(
    r"(?:Potential )?(?:(?:Device|Lane|Warp|User|Hardware|Cluster|Grid|Imprecise)\b[\w -]*)?"
    r"(?:illegal (?:instruction|address)(?: error)?|(?:shared or local|local or shared) address|misaligned address"
    r"|out[- ]of[- ]range (?:\w+ )*address|stack (?:canary )?overflow\w*"
    r"|invalid (?:address space|pc|program counter)"
    r"|address space|\bassert\w*|breakpoint\b.*|syscall error|access with a partial warp|target block not present"
    r"|unknown error|nvlink error|invalid managed memory access)\b.*$",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"\bat (?:address )?(0x[0-9a-fA-F]+)")
_ALLOCATION = re.compile(r" ?(0x[0-9a-fA-F]+)")
_CALLED = re.compile(r"\bcalled (.*?)(?: of size [\d,]+(?: bytes?)?.*)?$")
_SIZE = re.compile(r"of size ([\d,]+)")
_BLOCK = re.compile(r"\bin [Bb]lock \(([^)]*)\)")
_WORDS = re.compile(r"[^a-z0-9]+")
_LONGEST = 8192


def number(text: str | None) -> int | None:
    """An integer with or without thousands separators; None where there is none, or one too long to be real."""
    if not text or len(text) > 40:
        return None
    digits = text.replace(",", "")
    return int(digits) if digits.isdigit() else None


def dim3(text: str | None) -> Dim3 | None:
    """`(x,y,z)` as a coordinate, or None where it is none."""
    if not text or len(text) > 60:
        return None
    try:
        return parse_dim3(text)
    except ValueError:
        return None


def _space(text: str | None, default: str = "") -> str:
    return text.strip("_") if text else default


def _slug(text: str) -> str:
    """`Divergent thread(s) in warp` as `divergent-warp`, `Invalid arguments` as `invalid-arguments`."""
    lowered = text.lower()
    if lowered.startswith("divergent thread"):
        return "divergent-" + ("warp" if "warp" in lowered else "block")
    return "-".join(_WORDS.sub(" ", lowered.split(". ")[0]).split()[:6])


def _reason_kind(reason: str, potential: bool) -> FindingKind:
    """The kind of an access that the tool calls invalid."""
    if potential:
        return FindingKind.CLUSTER_EARLY_EXIT if "exited" in reason else FindingKind.CLUSTER_LATE_ENTRY
    if "misaligned" in reason:
        return FindingKind.MISALIGNED
    if "not readable" in reason or "not writable" in reason or "permission" in reason or "non-migratable" in reason:
        return FindingKind.PERMISSION
    return FindingKind.OOB


def kind_of_access(head: Head, reason: str) -> FindingKind:
    """The kind of an invalid access, its reason now known."""
    return _reason_kind(reason, head.kind is FindingKind.CLUSTER_LATE_ENTRY)


def _invalid(body: str, severity: str) -> Head | None:
    match = _INVALID.match(body)
    if match is not None:
        potential = match["potential"] is not None
        reason = match["reason"] or ""
        return Head(
            kind=_reason_kind(reason, potential),
            tool="racecheck" if potential else "memcheck",
            access=match["access"].lower(),
            size=number(match["size"]),
            space=_space(match["space"]),
            severity=severity,
            reason=reason,
            default_kind=True,
        )
    match = _INVALID_OPERATION.match(body)
    if match is None:
        return None
    what = match["what"]
    access = "atomic" if "atomic" in what else what
    return Head(FindingKind.PERMISSION, "memcheck", access, severity=severity, reason=match["reason"] or body)


def _potential(body: str, severity: str) -> Head | None:
    return _invalid(body, severity) or _hazard(body, severity or "error") or _exception(body, severity)


def _uninitialized(body: str, severity: str) -> Head | None:
    match = _UNINITIALIZED.match(body)
    if match is None:
        return None
    return Head(
        FindingKind.UNINIT_READ,
        "initcheck",
        match["access"].lower(),
        number(match["size"]),
        _space(match["space"], "global"),
        severity,
        "uninitialized",
    )


def _host_access(body: str, severity: str) -> Head | None:
    match = _HOST_ACCESS.match(body)
    if match is None:
        return None
    size = _SIZE.search(match["rest"])
    address = re.search(r"0x[0-9a-fA-F]+", match["rest"])
    return Head(
        FindingKind.UNINIT_API,
        "initcheck",
        size=number(size[1]) if size else None,
        space="global" if size else "",
        severity=severity,
        reason="uninitialized",
        address=address[0] if address else "",
    )


def _unused(body: str, severity: str) -> Head | None:
    match = _UNUSED.match(body)
    if match is None:
        return None
    rest = match["rest"]
    address, called, block = _ALLOCATION.match(rest), _CALLED.search(rest), _BLOCK.search(rest)
    sizes = _SIZE.findall(rest)
    return Head(
        FindingKind.UNUSED_MEMORY,
        "initcheck",
        size=number(sizes[-1]) if sizes else None,
        space=_space(match["space"], "global"),
        severity=severity,
        reason="unused",
        address=address[1] if address else "",
        block=dim3(block[1]) if block else None,
        name=called[1] if called else "",
    )


def _detected(body: str, severity: str) -> Head | None:
    match = _DETECTED.match(body)
    if match is None:
        return None
    what, detail = match["what"].strip(), match["detail"]
    barrier = what.lower() in ("barrier", "")
    access = _slug(detail) if detail else _slug(what)
    reason = detail if barrier else f"{what}: {detail}" if detail else what
    return Head(FindingKind.BARRIER, "synccheck", access, severity=severity, reason=reason)


def _encountered(body: str, severity: str) -> Head | None:
    match = _ENCOUNTERED.match(body)
    if match is None:
        return None
    return Head(
        FindingKind.MALLOC_FREE, "memcheck", _slug(match["detail"]), severity=severity, reason=match["detail"]
    )


def _hazard(body: str, severity: str) -> Head | None:
    match = _HAZARD.match(body)
    if match is None:
        return None
    rest = match["rest"]
    address, block = re.search(r"0x[0-9a-fA-F]+", rest), _BLOCK.search(rest)
    notes = re.findall(r"\(([^()\d][^()]*)\)", rest)
    if match["level"]:
        notes.insert(0, "Warp Level Programming")
    return Head(
        FindingKind.RACE_HAZARD,
        "racecheck",
        match["type"],
        1,
        "global" if " at global " in rest else "shared",
        severity,
        ", ".join(notes),
        address[0] if address else "",
        dim3(block[1]) if block else None,
    )


def _race(body: str, severity: str) -> Head | None:
    match = _RACE.match(body)
    if match is None:
        return None
    return Head(
        FindingKind.RACE_ANALYSIS, "racecheck", match["access"], space="shared", severity=severity, reason="race"
    )


def _program_hit(body: str, severity: str) -> Head | None:
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


def _cuda(body: str, severity: str) -> Head | None:
    match = _API_LOG.match(body)
    if match is not None:
        return Head(FindingKind.API_ERROR, "memcheck", severity=severity, reason=match["text"])
    return _called(body, severity) or _detected(body, severity) or _encountered(body, severity)


def _leaked(body: str, severity: str) -> Head | None:
    match = _LEAKED.match(body)
    if match is not None:
        rest = match["rest"]
        address, called = re.search(r"0x[0-9a-fA-F]+", rest), _CALLED.search(rest)
        space = "device-heap" if "device heap" in rest else "global"
        for what in ("array", "module"):
            if f"from CUDA {what}" in rest:
                space = what
        return Head(
            FindingKind.LEAK,
            "memcheck",
            size=number(match["size"]),
            space=space,
            severity=severity,
            reason="leaked",
            address=address[0] if address else "",
            name=called[1] if called else "",
        )
    match = _LEAKED_HANDLE.match(body)
    if match is None:
        return None
    return Head(
        FindingKind.LEAK,
        "memcheck",
        space="optix" if match["what"].startswith("Optix") else "",
        severity=severity,
        reason=f"leaked {match['what']}",
        address=match["handle"] or "",
    )


def _stream_race(body: str, severity: str) -> Head | None:
    match = _STREAM_RACE.match(body)
    if match is None:
        return None
    return Head(
        FindingKind.STREAM_RACE,
        "memcheck",
        match["what"].lower(),
        number(match["size"]),
        "global",
        severity,
        match["what"].lower(),
        match["address"] or "",
    )


def _uvm(body: str, severity: str) -> Head | None:
    match = _UVM.match(body)
    if match is None:
        return None
    kind = FindingKind.UVM_GPU_FAULT if match["side"] == "GPU" else FindingKind.UVM_CPU_FAULT
    return Head(kind, "memcheck", space="managed", severity=severity, reason=match["reason"])


def _called(body: str, severity: str) -> Head | None:
    match = _THREADS.match(body)
    if match is None:
        return None
    what = match["what"]
    deadlock = what.startswith("Deadlock detected in ")
    if deadlock:
        what = what.removeprefix("Deadlock detected in ")
    verb = _SYNC_VERB.match(what)
    _, found, where = match["rest"].partition(" at ")
    address = re.search(r"barrier address: (0x[0-9a-fA-F]+)", match["rest"])
    return Head(
        kind=FindingKind.DEADLOCK if deadlock else FindingKind.SYNC_TRACE,
        tool="racecheck",
        access=(verb[1] if verb else what).lower(),
        space="shared" if deadlock else "",
        severity=severity if deadlock else "info",
        reason=what,
        address=address[1] if address else "",
        block=dim3(match["block"]),
        thread=dim3(match["thread"]),
        location=parse_location(where) if found else None,
    )


def _exception(body: str, severity: str) -> Head | None:
    if _EXCEPTION.match(body) is None:
        return None
    lowered = body.lower()
    both = "shared or local" in lowered or "local or shared" in lowered
    address = _ADDRESS.search(body)
    return Head(
        FindingKind.HW_EXCEPTION,
        space="shared|local" if both else "",
        severity=severity,
        reason=body.rstrip("."),
        address=address[1] if address else "",
    )


def _tensor(body: str, severity: str) -> Head | None:
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


def _fabric(body: str, severity: str) -> Head | None:
    if _FABRIC.search(body) is None:
        return None
    return Head(FindingKind.HW_EXCEPTION, "memcheck", severity=severity, reason=body.rstrip("."))


_Form = Callable[[str, str], "Head | None"]

_FORMS: dict[str, tuple[_Form, ...]] = {
    "Invalid": (_invalid, _tensor, _exception),
    "Potential": (_potential,),
    "Uninitialized": (_uninitialized,),
    "Host": (_host_access,),
    "Unused": (_unused,),
    "Race": (_race,),
    "Program": (_program_hit,),
    "Leaked": (_leaked,),
    "Fatal": (_uvm,),
    "Deadlock": (_called,),
    "Barrier": (_detected, _called),
    "CUDA": (_cuda,),
}
"""Forms by the first word; every other line is tried against all of `_REST`."""

_REST: tuple[_Form, ...] = (
    _hazard,
    _stream_race,
    _called,
    _encountered,
    _detected,
    _tensor,
    _exception,
    _fabric,
)


def parse_head(body: str) -> Head | None:
    """Read the first line of a record, its prefix cut off.

    Returns:
        None for a line of no known form.
    """
    body = body.strip()
    if len(body) > _LONGEST and " access at " not in body[:80]:
        body = body[:_LONGEST]
    severity, rest = "error", body
    marked = _SEVERITY.match(body)
    if marked is not None:
        word = marked[1].upper()
        severity = "warning" if word.startswith("WARN") else "info" if word == "INFO" else "error"
        rest = body[marked.end() :]
    word, _, _ = rest.partition(" ")
    for form in _FORMS.get(word, ()):
        head = form(rest, severity)
        if head is not None:
            return head
    message = known_message(rest, severity if marked is not None else "")
    if message is not None:
        return message
    for form in _REST:
        head = form(rest, severity)
        if head is not None:
            return head
    return marked_message(rest, severity) if marked is not None else None


def first_place(body: str) -> tuple[str, CodeLocation, str]:
    """The first side of a race analysis: access word, location, and what follows on the same line."""
    match = _RACE.search(body)
    if match is None:
        return "", CodeLocation(), ""
    where = match["where"]
    second = re.search(r" and (?=\w+ access at )", where)
    if second is None:
        return match["access"], parse_location(where), ""
    return match["access"], parse_location(where[: second.start()]), where[second.start() + 1 :]
