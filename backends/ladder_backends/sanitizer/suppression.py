"""Entries for a file that compute-sanitizer's `--suppressions` takes.

The tool's manual (Error suppression): only CUDA API errors, initcheck's reads and racecheck's analysis reports can
be suppressed; integers match exactly, strings as regular expressions; a stack of the entry must not be longer than
that of the record, and every frame is compared. A text report may leave frames out, so a stack is written only
where the report shows it from the driver on. Version 2025.3 compares no lines on the device: there an entry holds
for its function in its file.
"""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree as Xml

from ladder_backends.errors import LadderError
from ladder_backends.model.finding import CodeLocation, Finding, FindingKind, Side
from ladder_backends.model.frame import file_name
from ladder_backends.sanitizer.group_key import bare_name
from ladder_backends.sanitizer.user_frame import user_frame
from ladder_backends.text import clean_line
from ladder_backends.whole_file import writing_whole

ROOT = "ComputeSanitizerOutput"
LARGEST = 8 << 20
"""Bytes of a suppressions file that is added to."""

_SPECIAL = re.compile(r"[\\^$.|?*+()\[\]{}]")
_TEMPLATE = re.compile(r"<(?:[^<>]|<(?:[^<>]|<[^<>]*>)*>)*>")
_HIT = re.compile(r"Program hit (?:(?P<name>\w+) \(error (?P<number>\d+)\)|error (?P<bare>\d+))")
_DRIVER = re.compile(r"(?:.*[\\/])?(?:libcuda|nvcuda)[\w.-]*$")
_XML_UNSAFE = re.compile(r"[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def why_not_suppressible(finding: Finding) -> str:
    """Why the tool cannot suppress such a finding; empty where it can."""
    if finding.kind in (
        FindingKind.API_ERROR,
        FindingKind.UNINIT_READ,
        FindingKind.UNINIT_API,
        FindingKind.RACE_ANALYSIS,
    ):
        return ""
    if finding.kind is FindingKind.RACE_HAZARD:
        return "compute-sanitizer suppresses race analyses, not hazards: run with --racecheck-report analysis"
    return "compute-sanitizer suppresses only API errors, initcheck's reads and race analyses"


def escaped(text: str) -> str:
    """A literal as a regular expression that matches it.

    What would be special is any character: in paths the tool (2025.3) takes a backslash for a separator, and an
    escaped dot then matches nothing.
    """
    return _SPECIAL.sub(".", _XML_UNSAFE.sub("?", text))


def _function(name: str) -> str:
    """A function however it is written: the tool compares its name without scope, arguments and return type."""
    return f".*{escaped(_TEMPLATE.sub('', bare_name(name)).rpartition('::')[2])}.*"


def _add(parent: Xml.Element, tag: str, text: str) -> None:
    Xml.SubElement(parent, tag).text = text


def _where(parent: Xml.Element, location: CodeLocation) -> None:
    where = Xml.SubElement(parent, "where")
    if location.function:
        _add(where, "func", _function(location.function))
    if location.file:
        _add(where, "path", f".*{escaped(file_name(location.file))}")
        if location.line is not None:
            _add(where, "line", str(location.line))


def _direction(side: Side) -> str:
    return escaped(side.access.capitalize()) or ".*"


def _host_stack(record: Xml.Element, finding: Finding) -> None:
    frames = finding.host_frames
    if not frames or not _DRIVER.match(frames[0].module):
        return
    own = user_frame(frames)
    stack = Xml.SubElement(record, "hostStack")
    for frame in frames:
        entry = Xml.SubElement(stack, "frame")
        if frame.function:
            _add(entry, "func", _function(frame.function))
        if frame.module:
            # Versions of a library's file differ from machine to machine.
            stem = file_name(frame.module).split(".so", 1)[0]
            _add(entry, "module", f".*{escaped(stem)}.*")
        if frame is own:
            break


def suppression_of(finding: Finding) -> Xml.Element:
    """The entry that suppresses findings like this one.

    Raises:
        LadderError: The tool cannot suppress it.
    """
    why = why_not_suppressible(finding)
    if why:
        raise LadderError("this finding cannot be suppressed", why, "mark it as ignored here instead")
    record = Xml.Element("record")
    first = finding.raw.split("\n", 1)[0]
    if finding.kind is FindingKind.API_ERROR:
        _add(record, "kind", "Api")
        what = Xml.SubElement(record, "what")
        if finding.access:
            _add(what, "api", escaped(finding.access))
        hit = _HIT.search(first)
        if hit is not None:
            if hit["name"]:
                _add(what, "error", escaped(hit["name"]))
            _add(what, "result", hit["number"] or hit["bare"])
        _host_stack(record, finding)
    elif finding.kind is FindingKind.UNINIT_API:
        _add(record, "kind", "InitcheckApiError")
        _add(Xml.SubElement(record, "what"), "text", "Host API uninitialized memory access.*")
        _host_stack(record, finding)
    elif finding.kind is FindingKind.UNINIT_READ:
        _add(record, "kind", "Initcheck")
        what = Xml.SubElement(record, "what")
        space = finding.space or "global"
        _add(what, "text", f"Uninitialized __{escaped(space)}__ memory read.*")
        if finding.size is not None:
            _add(what, "size", str(finding.size))
        _where(record, finding.sides[0].location if finding.sides else CodeLocation(finding.kernel))
    else:
        _add(record, "kind", "Analysis")
        what = Xml.SubElement(record, "what")
        _add(what, "text", "Race condition.*")
        for number, side in enumerate(finding.sides):
            place = Xml.SubElement(what, "destination" if number else "source")
            _add(place, "direction", _direction(side))
            _where(place, side.location)
    return record


def add_suppression(file: Path, finding: Finding) -> str:
    """Add the entry for a finding to a file, which is begun where there is none; returns what to tell the user.

    Raises:
        LadderError: The tool cannot suppress the finding, the file is no suppressions file, or cannot be written.
    """
    record = suppression_of(finding)
    shown = clean_line(str(file))
    root = _read(file, shown)
    text = Xml.tostring(record)
    if any(Xml.tostring(_bare(one)) == text for one in root.iter("record")):
        return f"{shown} holds that entry already"
    root.append(record)
    Xml.indent(root)
    try:
        with writing_whole(file, mode=0o644) as stream:
            stream.write(Xml.tostring(root, encoding="utf-8", xml_declaration=True) + b"\n")
    except (OSError, ValueError) as error:
        raise LadderError(f"cannot write {shown}", _why(error), "choose another file") from error
    count = sum(1 for _ in root.iter("record"))
    return f"{count:,} {'entry' if count == 1 else 'entries'} in {shown}: pass --suppressions {shown}"


def _why(error: Exception) -> str:
    return error.strerror if isinstance(error, OSError) and error.strerror else str(error)


def _read(file: Path, shown: str) -> Xml.Element:
    try:
        if file.stat().st_size > LARGEST:
            raise LadderError(f"cannot add to {shown}", "it is too large", "choose another file")
        raw = file.read_bytes()
    except FileNotFoundError:
        return Xml.Element(ROOT)
    except (OSError, ValueError) as error:
        raise LadderError(f"cannot read {shown}", _why(error), "choose another file") from error
    if b"<!DOCTYPE" in raw or b"<!ENTITY" in raw:
        raise LadderError(f"cannot add to {shown}", "it declares entities", "choose another file")
    try:
        root = Xml.fromstring(raw) if raw.strip() else Xml.Element(ROOT)
    except Xml.ParseError as error:
        raise LadderError(f"{shown} is no suppressions file", str(error), "choose another file") from error
    if root.tag != ROOT:
        raise LadderError(
            f"{shown} is no suppressions file", f"it holds <{clean_line(root.tag)}>", "choose another"
        )
    return root


def _bare(element: Xml.Element) -> Xml.Element:
    """An element without the blanks between its children, for comparison."""
    copy = Xml.Element(element.tag, element.attrib)
    copy.text = element.text if element.text and element.text.strip() else None
    copy.extend(_bare(child) for child in element)
    return copy
