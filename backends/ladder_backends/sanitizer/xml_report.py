"""Reads the XML report leniently, a record at a time.

The tool writes it with `--save F --xml`; no schema is published, killed runs leave it unclosed, and the manual's
own sample is wrapped in CDATA with its record never closed. So nothing here needs the document to be well formed:
records are cut out by their tags. Document types and entities other than the five of XML are not interpreted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from ladder_backends.model.finding import CodeLocation, Finding, FindingKind, Report, Side
from ladder_backends.model.focus import Dim3
from ladder_backends.sanitizer.build import ReportBuilder
from ladder_backends.sanitizer.describe import RUN_KINDS
from ladder_backends.sanitizer.draft import Head, RecordDraft
from ladder_backends.sanitizer.fields import number
from ladder_backends.sanitizer.heads import parse_head
from ladder_backends.sanitizer.messages import unknown_message
from ladder_backends.sanitizer.outcome import Outcome
from ladder_backends.sanitizer.user_frame import is_cuda
from ladder_backends.text import decode

_OPEN, _CLOSE = b"<record>", b"</record>"
_ROOT = re.compile(rb"<ComputeSanitizerOutput\b|<record>")
_END = b"</ComputeSanitizerOutput>"
_LONGEST_RECORD = 4 << 20
_DEEPEST = 32
_TOKEN = re.compile(
    r"<!\[CDATA\[(?P<cdata>.*?)(?:\]\]>|$)|<(?P<end>/?)(?P<tag>[A-Za-z_][\w.:-]*)[^<>]*?(?P<empty>/?)>|<[!?][^>]*>?"
    r"|(?P<text>[^<]+)|<",
    re.DOTALL,
)
_ENTITY = re.compile(r"&(?:(lt|gt|amp|quot|apos)|#(\d{1,7})|#x([0-9a-fA-F]{1,6}));")
_NAMED = {"lt": "<", "gt": ">", "amp": "&", "quot": '"', "apos": "'"}
_REASON = re.compile(r" is (.*)$")


def looks_like_xml(head: bytes) -> bool:
    """Whether bytes begin like an XML report rather than a text one."""
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    return start.startswith((b"<", b"<![CDATA[")) and _ROOT.search(head) is not None


class Node:
    """An element: its text and its children, by name and in order."""

    __slots__ = ("children", "name", "text")

    def __init__(self, name: str) -> None:
        self.name = name
        self.text = ""
        self.children: list[Node] = []

    def child(self, path: str) -> Node | None:
        """The first element at `a/b/c` below this one."""
        node: Node | None = self
        for name in path.split("/"):
            if node is None:
                return None
            node = next((child for child in node.children if child.name == name), None)
        return node

    def get(self, path: str) -> str:
        """The text of the element at a path, or an empty string."""
        node = self.child(path)
        return node.text.strip() if node is not None else ""


def _entities(text: str) -> str:
    def replace(match: re.Match[str]) -> str:
        if match[1]:
            return _NAMED[match[1]]
        code = int(match[2]) if match[2] else int(match[3], 16)
        return chr(code) if 0x20 <= code < 0x110000 and not 0xD800 <= code < 0xE000 else match[0]

    return _ENTITY.sub(replace, text) if "&" in text else text


def parse_record(text: str) -> Node:
    """Read the inside of one record; what is not closed is closed at its end."""
    root = Node("record")
    stack = [root]
    for match in _TOKEN.finditer(text):
        if match["text"] is not None:
            stack[-1].text += _entities(match["text"])
        elif match["tag"] is not None:
            if match["end"]:
                names = [node.name for node in stack]
                if match["tag"] in names[1:]:
                    del stack[len(names) - 1 - names[::-1].index(match["tag"]) :]
            else:
                node = Node(match["tag"])
                stack[-1].children.append(node)
                if not match["empty"] and len(stack) < _DEEPEST:
                    stack.append(node)
        elif match["cdata"] is not None:
            stack[-1].text += match["cdata"]
    return root


def _dim3(node: Node | None) -> Dim3 | None:
    if node is None:
        return None
    x, y, z = (number(node.get(axis)) for axis in "xyz")
    if x is None and y is None and z is None:
        return None
    return x or 0, y or 0, z or 0


def _location(node: Node | None) -> CodeLocation | None:
    if node is None or not node.children:
        return None
    return CodeLocation(
        node.get("func"), node.get("path"), number(node.get("line")), node.get("pc"), node.get("module")
    )


def _frames(node: Node) -> Iterator[CodeLocation]:
    for child in node.children:
        if child.name == "frame":
            yield _location(child) or CodeLocation()


def _innermost_first(frames: list[CodeLocation]) -> list[CodeLocation]:
    """A host stack in the order of the text report; some versions write it from `_start` inwards."""
    if len(frames) > 1 and is_cuda(frames[-1]) and not is_cuda(frames[0]):
        return frames[::-1]
    return frames


_KINDS = {
    "Precise": Head(FindingKind.OOB, "memcheck", default_kind=True),
    "Imprecise": Head(FindingKind.HW_EXCEPTION),
    "StackOverflow": Head(FindingKind.HW_EXCEPTION, reason="stack overflow"),
    "FabricGuardrail": Head(FindingKind.HW_EXCEPTION),
    "Api": Head(FindingKind.API_ERROR, "memcheck"),
    "Initcheck": Head(FindingKind.UNINIT_READ, "initcheck", "read", space="global", reason="uninitialized"),
    "InitcheckApiError": Head(FindingKind.UNINIT_API, "initcheck", reason="uninitialized"),
    "UnusedMemory": Head(FindingKind.UNUSED_MEMORY, "initcheck", space="global", reason="unused"),
    "Leak": Head(FindingKind.LEAK, "memcheck", space="global", reason="leaked"),
    "Syscall": Head(FindingKind.MALLOC_FREE, "memcheck"),
    "Uvm": Head(FindingKind.UVM_GPU_FAULT, "memcheck", space="managed"),
    "Tcgen05Guardrail": Head(FindingKind.TENSOR_MEMORY, "memcheck", space="tensor"),
    "Analysis": Head(FindingKind.RACE_ANALYSIS, "racecheck", space="shared", reason="race"),
    "Hazard": Head(FindingKind.RACE_HAZARD, "racecheck", size=1, space="shared"),
    "GlobalHazard": Head(FindingKind.RACE_HAZARD, "racecheck", space="global"),
    "ClusterEntryExit": Head(FindingKind.CLUSTER_LATE_ENTRY, "racecheck", space="shared", default_kind=True),
    "SyncLog": Head(FindingKind.SYNC_TRACE, "racecheck", severity="info"),
    "Synccheck": Head(FindingKind.BARRIER, "synccheck"),
    "StreamOrderedRace": Head(FindingKind.STREAM_RACE, "memcheck", space="global"),
    "Internal": Head(FindingKind.TOOL_ERROR),
    "Error": Head(FindingKind.TOOL_ERROR),
}


class XmlReportReader:
    """Turns the bytes of an XML report into findings, a piece at a time.

    Attributes:
        report: The report so far.
        outcome: What the run is worth so far.
    """

    def __init__(self, builder: ReportBuilder | None = None) -> None:
        self._builder = builder if builder is not None else ReportBuilder()
        self.report: Report = self._builder.report
        self.outcome = Outcome()
        self._rest = bytearray()
        self._inside = False
        self._scanned = 0
        self._ended = False
        self._done: list[Finding] = []

    def feed(self, chunk: bytes) -> list[Finding]:
        """Read more bytes, cut anywhere; returns the findings whose records ended."""
        self._rest += chunk
        while self._step():
            pass
        done, self._done = self._done, []
        return done

    def _step(self) -> bool:
        """Consume one tag's worth of the buffer; False when more bytes are needed."""
        rest = self._rest
        if not self._inside:
            if not self.outcome.recognized and _ROOT.search(rest) is not None:
                self.outcome.banner()
            at = rest.find(_OPEN)
            if at < 0:
                self._ended = self._ended or _END in rest
                del rest[: max(0, len(rest) - len(_END))]
                return False
            del rest[: at + len(_OPEN)]
            self._inside, self._scanned = True, 0
            return True
        start = max(0, self._scanned - len(_CLOSE))
        close, reopen = rest.find(_CLOSE, start), rest.find(_OPEN, start)
        if 0 <= reopen < close or (close < 0 <= reopen):
            self._record(bytes(rest[:reopen]))
            del rest[: reopen + len(_OPEN)]
            self._scanned = 0
            return True
        if close >= 0:
            self._record(bytes(rest[:close]))
            del rest[: close + len(_CLOSE)]
            self._inside = False
            return True
        self._scanned = len(rest)
        if len(rest) > _LONGEST_RECORD:
            self._record(bytes(rest))
            rest.clear()
            self._inside = False
        return False

    def finish(self, exit_status: int | None = None) -> list[Finding]:
        """The stream ended: emit a record left open and settle what the report is worth."""
        if self._inside and self._rest.strip():
            text = bytes(self._rest)
            self._ended = self._ended or _END in text
            self._record(text.replace(_END, b""))
        if self._ended and self.report.findings:
            self.outcome.summary(ends_run=True)
        self.outcome.settle(self.report, ended=True, status=exit_status)
        if not self.report.findings and self.outcome.recognized:
            self.report.reason = "the XML holds no record, and XML carries no summary that would prove a clean run"
        elif self.report.reason and self.report.reason.startswith("no summary"):
            self.report.reason = "the XML is cut: the run was ended before its report was closed"
        done, self._done = self._done, []
        return done

    def _record(self, raw: bytes) -> None:
        text = decode(raw).replace("\u240d\n", "\n")
        draft = draft_of(parse_record(text))
        draft.lines.append("<record>" + text.rstrip() + "\n</record>")
        finding = self._builder.add(draft)
        if finding.kind in RUN_KINDS:
            self.outcome.message(finding.reason)
        else:
            self.outcome.finding()
        self._done.append(finding)


def _head_of(record: Node) -> Head:
    """The record's head: from the text the tool would have printed, else from the record's kind."""
    text, word = record.get("what/text"), record.get("kind").replace(" ", "").replace("-", "")
    level = record.get("level").lower()
    severity = "warning" if level.startswith("warn") else "info" if level == "info" else "error"
    base = next((head for name, head in _KINDS.items() if name.lower() == word.lower()), None)
    parsed = parse_head(text) if text else None
    if parsed is None and base is None:
        return unknown_message(text or f"record of kind {word or '?'}")
    if parsed is None or (base is not None and parsed.kind in RUN_KINDS):
        assert base is not None
        parsed = Head(
            base.kind, base.tool, base.access, base.size, base.space, severity, text or base.reason,
            default_kind=base.default_kind,
        )  # fmt: skip
    what = record.child("what") or Node("what")
    result = what.get("result")
    if parsed.kind is FindingKind.API_ERROR and not parsed.reason and what.get("error"):
        told = f"{what.get('error')} ({result or '?'})"
        parsed = replace(parsed, reason=f"{told}: {what.get('message')}" if what.get("message") else told)
    return Head(
        kind=parsed.kind,
        tool=parsed.tool or (base.tool if base is not None else ""),
        access=parsed.access or what.get("direction").lower() or what.get("api"),
        size=parsed.size if parsed.size is not None else number(what.get("size") or what.get("accessSize")),
        space=parsed.space or what.get("space").strip("_") or (base.space if base is not None else ""),
        severity=severity if level else parsed.severity,
        reason=(what.get("error") or what.get("message") or parsed.reason)
        if parsed.default_kind
        else parsed.reason,
        address=what.get("address") or what.get("accessAddress") or what.get("errorAddress") or parsed.address,
        block=parsed.block,
        thread=parsed.thread,
        kernel=parsed.kernel,
        name=parsed.name or what.get("name"),
        result=parsed.result if parsed.result is not None else int(result[:9]) if result.isdecimal() else None,
        default_kind=parsed.default_kind,
    )


def draft_of(record: Node) -> RecordDraft:
    """A record's draft, as if its text had been read."""
    draft = RecordDraft(_head_of(record))
    who = record.child("who")
    if who is not None:
        draft.thread, draft.block = _dim3(who.child("threadIdx")), _dim3(who.child("blockIdx"))
        draft.block_rank = number(who.get("ctaRank"))
    draft.at = _location(record.child("where")) or draft.at
    what = record.child("what")
    for child in what.children if what is not None else ():
        where = _location(child.child("where"))
        if where is not None:
            _add_side(draft, child, where)
    device = record.child("deviceStack")
    if device is not None:
        for frame in _frames(device):
            draft.add_device_frame(frame)
    for name in ("hostStack", "hostAccessStack", "hostMemOpStack"):
        for stack in record.children:
            if stack.name == name:
                draft.open_stack(stack.get("saveLocation"))
                for frame in _innermost_first(list(_frames(stack))):
                    draft.add_host_frame(frame)
    nearest = what.child("nearest") if what is not None else None
    if nearest is not None:
        draft.relation = nearest.get("relation") or "inside"
        draft.allocation_address, draft.allocation_size = nearest.get("address"), number(nearest.get("size"))
    return draft


def _add_side(draft: RecordDraft, node: Node, where: CodeLocation) -> None:
    access = (node.get("direction") or node.get("access") or node.get("type")).lower()
    who = node.child("who") or node
    draft.add_side(
        Side(
            access,
            where,
            _dim3(who.child("blockIdx")) or draft.block,
            _dim3(who.child("threadIdx")),
            number(who.get("ctaRank")),
        )
    )
    if draft.head.kind is FindingKind.RACE_ANALYSIS:
        draft.access = f"{draft.access}/{access.capitalize()}" if draft.access else access.capitalize()
