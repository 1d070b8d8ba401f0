"""What the tool says about its own run: that it started, that it failed to, that it may have missed something."""

from __future__ import annotations

import enum
import re

from ladder_backends.model.finding import FindingKind
from ladder_backends.sanitizer.draft import Head
from ladder_backends.sanitizer.fields import ADDRESS, SIZE, number


class Fate(enum.Enum):
    """What a message means for the worth of the report."""

    NONE = enum.auto()
    DID_NOT_RUN = enum.auto()
    INCOMPLETE = enum.auto()


_DID_NOT_RUN = re.compile(
    r"terminated before first instrumented|No attachable process|Device not supported|not a valid executable"
    r"|Unable to find (?:\w+ )?injection|Injection (?:not found|is wrong)|Could not connect to target"
    r"|Error launching target|Could not (?:load|read) report|No CUDA-MEMCHECK results found"
    r"|Failed to (?:parse (?:program )?options|attach|read report|run)|unrecogni[sz]ed option|Filter ill-formed"
    r"|(?:Unknown|Invalid) macro|the argument for option '--|no save location was specified|Connection Error"
    r"|not supported on (?:this|the current)",
    re.IGNORECASE,
)
_INCOMPLETE = re.compile(
    r"Internal Sanitizer|didn't track|might go undetected|might be incorrect|error buffer overflow"
    r"|didn't terminate successfully|Failed to wait for target|Maximum number of hazards",
    re.IGNORECASE,
)
_INTERNAL = re.compile(r"Internal (?:Sanitizer )?(?P<word>\w+)\b[^:]*:?", re.IGNORECASE)
_LAUNCHING = re.compile(r"while launching (.+?)(?: and (?:didn't|did not)|\.? Errors| \()")
_SESSION = re.compile(
    r"Target application (?:terminated|returned|finished)|Target app finished|Tracking kernels launched by child"
    r"|Default timeout can be adjusted|The application may have hit|Please rerun the application"
    r"|No CUDA-MEMCHECK results found|.*\bto catch host side errors"
)
_FAILURE = re.compile(
    r"Target application doesn't exist|.*not a valid executable|Unable to find|(?:Target )?process didn't"
    r" terminate"
    r"|couldn't find exit code|No attachable process|Device not supported|Could not|Injection |Failed to"
)
_NOTE = re.compile(
    r"COMPUTE-SANITIZER$|CUDA-MEMCHECK$|NVIDIA \(R\)|Copyright|Version \d|Launch #|Generating coredump file"
    r"|It can be loaded in the debugger|cuda-gdb -ex|This tool is deprecated|Please use the compute-sanitizer"
    r"|(?:Process ID|Created|System OS|OS build|System CPU|CPU architecture|Computer Name|Target application"
    r"|CUDA version|Display Driver version|Driver version|Tool|Command line)\s*:"
    r"|Wait(?:ing)? for|Finding attachable|Connected to|Launching |Attach(?:ed|ing) |Try using --"
    r"|Saving |Report saved|Using |Suppress(?:ed|ing)|\d+ (?:errors?|records?) suppressed"
)
_BEGINNINGS = (
    "ERROR SUMMARY: ",
    "RACECHECK SUMMARY: ",
    "LEAK SUMMARY: ",
    "COMPUTE-SANITIZER",
    "Invalid __",
    "Uninitialized __",
    "Program hit ",
    "Target application ",
    "Generating coredump file ",
    "Barrier error detected",
    "Potential ",
    "Leaked ",
    "Error: ",
    "Warning: ",
)
"""How common lines begin."""
_ADVICE = (
    ("before first instrumented", "it made no CUDA call; where a child makes them, pass --target-processes all"),
    ("No attachable process", "pass a longer --launch-timeout"),
    ("Device not supported", "use a version of the tool for this GPU, outside a sandbox"),
    ("not a valid executable", "check the path of the program"),
    ("injection", "pass --injection-path, or install the complete package"),
    ("load report file", "only files written with --save can be read"),
    ("didn't track the launch", "leave it more memory, or select fewer kernels with --kernel-name"),
)
_BARE = re.compile(
    r"(?:Error: )?(?:Target application (?:terminated before first|doesn't exist)|No attachable process found"
    r"|process didn't terminate successfully|couldn't find exit code|Could not load report file"
    r"|Device not supported"
    r"|Unable to find injection library|unrecogni[sz]ed option '|--xml was enabled but no save location"
    r"|Filter ill-formed:|Failed to parse program options|Unknown macro '|the argument for option '--)"
)
_SPACE = re.compile(r"\b__([a-z]\w{0,40}?)__\b")
_COREDUMP = re.compile(r"Generating coredump file (.+?)\s*$")


def fate_of(text: str) -> Fate:
    """What a message of the tool, with or without its severity, means for the run."""
    if _DID_NOT_RUN.search(text):
        return Fate.DID_NOT_RUN
    if _INCOMPLETE.search(text):
        return Fate.INCOMPLETE
    return Fate.NONE


def advice_on(text: str) -> str:
    """What to do about a message of the tool, or an empty string."""
    return next((advice for part, advice in _ADVICE if part in text), "")


def is_note(body: str) -> bool:
    """Whether a line of the tool is a remark that is no finding: banner, launch log, core dump hint."""
    return _NOTE.match(body.strip()) is not None


def is_bare_message(line: str) -> bool:
    """Whether a line without prefix is one of the failures the tool reports before its prefix is set up."""
    return line[:1] in "ETNpcCDUutF-" and len(line) < 400 and _BARE.match(line) is not None


def is_cut_head(body: str) -> bool:
    """Whether a line is no more than the beginning of a common one: the end of a log that was cut."""
    return any(form.startswith(body) for form in _BEGINNINGS)


def coredump_of(body: str) -> str:
    """The file of a `Generating coredump file` line, or an empty string."""
    match = _COREDUMP.match(body.strip())
    return match[1] if match is not None else ""


def known_message(text: str, severity: str) -> Head | None:
    """A message about the run, by its text; `severity` is empty where the line names none."""
    internal = _INTERNAL.match(text)
    if internal is not None:
        warning = internal["word"].lower().startswith("warn")
        launching = _LAUNCHING.search(text)
        return Head(
            FindingKind.TOOL_WARNING if warning else FindingKind.TOOL_ERROR,
            severity="warning" if warning else "error",
            reason=text,
            kernel=launching[1] if launching is not None else "",
        )
    if severity not in ("", "info"):
        return None
    if _SESSION.match(text):
        return Head(FindingKind.SESSION, severity="info", reason=text, message=True)
    if _FAILURE.match(text) or _BARE.match(text):
        return Head(FindingKind.TOOL_ERROR, reason=text, message=True)
    return None


def marked_message(text: str, severity: str) -> Head:
    """A message that names its severity but is of no other form."""
    if severity == "warning":
        return Head(FindingKind.TOOL_WARNING, severity=severity, reason=text)
    if severity == "info":
        return Head(FindingKind.SESSION, severity=severity, reason=text, message=True)
    return Head(FindingKind.TOOL_ERROR, severity=severity, reason=text, message=True)


def unknown_message(text: str) -> Head:
    """A first line of no known form: kept, because what the tool says must not get lost."""
    space, size, address = _SPACE.search(text), SIZE.search(text), ADDRESS.search(text)
    return Head(
        FindingKind.TOOL_WARNING,
        size=number(size[1]) if size is not None else None,
        space=space[1] if space is not None else "",
        severity="warning",
        reason=text,
        address=address[0] if address is not None else "",
        unknown=True,
    )
