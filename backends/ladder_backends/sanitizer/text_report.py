"""Reads the text report while the tool writes it.

Lines of the tool carry a prefix (`=========`), possibly behind output of the program; everything else is the
program's. An indented line goes on with the record before it, any other begins one, an empty one ends it. Only
stream-ordered races have empty lines inside; should any other record go on after one, its finding is amended.
"""

from __future__ import annotations

import re

from ladder_backends.model.finding import Finding, FindingKind, Report, Side
from ladder_backends.sanitizer.build import ReportBuilder
from ladder_backends.sanitizer.continuation import Effect, is_continuation, parse_continuation
from ladder_backends.sanitizer.describe import RUN_KINDS
from ladder_backends.sanitizer.draft import Head, RecordDraft
from ladder_backends.sanitizer.heads import parse_head
from ladder_backends.sanitizer.messages import coredump_of, is_bare_message, is_cut_head, is_note, unknown_message
from ladder_backends.sanitizer.outcome import Outcome
from ladder_backends.sanitizer.summary import counted_errors, is_summary, read_summary
from ladder_backends.sanitizer.sync_heads import first_place
from ladder_backends.text import clean

DEFAULT_PREFIX = "========="
PROGRAM_LINES = 2_000
"""How many of the program's last lines are kept."""

_PLAIN = bytes(range(0x20, 0x7F)) + b"\t\n"
_LONGEST_LINE = 1 << 18
_LONGEST_RECORD = 20_000
_CACHED = 20_000
_LONGEST_KEPT = 4_096
_MOST_RANKS = 10_000
_BANNERS = ("COMPUTE-SANITIZER", "CUDA-MEMCHECK")
_BANNER = re.compile(rf"(?P<prefix>.*?) *\b(?:{'|'.join(_BANNERS)}) *$")
_TAG = re.compile(
    r"\s*(?:\[\d+,\d+\]<std(?:out|err)>:|\[(?:rank|default|\w*:)?\d+\]:?|\d{1,6}:|[\w.-]+: *\[?\d+\]?:)\s*$"
)
_QUOTED = re.compile(r"\s*(?:[\w./@-]{1,80}\s*)?[|>#*;]+\s*$")
_NUMBERED = re.compile(r"\d{1,9}[:-]$")
_COLOUR = re.compile(rb"\x1b\[[0-9;]{0,40}[mK]")
_TIME = re.compile(r"[\s\[]*\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[\d.,:+Z-]*\]?\s*$")


class _Stream:
    """Records of one stream: a log, or one rank's part of a log that tags its lines."""

    __slots__ = ("closed", "draft", "draft_index", "in_note", "origin")

    def __init__(self, origin: str) -> None:
        self.origin = origin
        self.draft: RecordDraft | None = None
        self.draft_index: int | None = None
        self.closed = False
        self.in_note = False


class TextReportReader:
    """Turns the bytes of a text report into findings, a piece at a time.

    Attributes:
        report: The report so far; its findings grow while bytes come in.
        outcome: What the run is worth so far.
    """

    def __init__(self, prefix: str | None = None, builder: ReportBuilder | None = None) -> None:
        """Begin a report.

        Args:
            prefix: What the tool was told to begin its lines with; found in the banner when None.
            builder: Where findings go; several readers can fill one report.
        """
        self._builder = builder if builder is not None else ReportBuilder()
        self.report: Report = self._builder.report
        self.outcome = Outcome()
        self._prefix = prefix or DEFAULT_PREFIX
        self._prefix_fixed = prefix is not None
        self._rest = bytearray()
        self._main = _Stream("")
        self._tagged: dict[str, _Stream] = {}
        self._effects: dict[str, Effect] = {}
        self._heads: dict[str, Head] = {}
        self._done: list[Finding] = []
        self._finished = False
        self._at_end = False

    def feed(self, chunk: bytes) -> list[Finding]:
        """Read more bytes; a line may be cut anywhere.

        Returns:
            Findings whose records ended, in order.
        """
        end = chunk.rfind(b"\n")
        if end < 0:
            self._rest += chunk
            if len(self._rest) > _LONGEST_LINE:
                self._read(bytes(self._rest))
                self._rest.clear()
            return self._take()
        whole = bytes(self._rest) + chunk[:end] if self._rest else chunk[:end]
        self._rest = bytearray(chunk[end + 1 :])
        self._read(whole)
        return self._take()

    def feed_line(self, line: str | bytes) -> list[Finding]:
        """Read one line, with or without its end."""
        raw = line.encode("utf-8", "surrogateescape") if isinstance(line, str) else line
        return self.feed(raw if raw.endswith(b"\n") else raw + b"\n")

    def finish(self, exit_status: int | None = None) -> list[Finding]:
        """The stream ended: emit what is open and settle what the report is worth.

        Args:
            exit_status: Exit status of the tool where it is known, negative for a signal.
        """
        if self._rest:
            self._at_end = True
            self._read(bytes(self._rest))
            self._rest.clear()
            if self._main.draft is not None and not self._main.closed:
                self._main.draft.cut = True
        for stream in (self._main, *self._tagged.values()):
            self._close(stream)
        self._finished = True
        self.outcome.settle(self.report, ended=True, status=exit_status)
        return self._take()

    def _take(self) -> list[Finding]:
        done, self._done = self._done, []
        if not self._finished:
            self.outcome.settle(self.report, ended=False)
        return done

    def _read(self, raw: bytes) -> None:
        """Read whole lines."""
        if b"\x1b[" in raw:
            # Colours of a log viewer; of no other sequence is anything known.
            raw = _COLOUR.sub(b"", raw)
        if raw.translate(None, _PLAIN):
            text = raw.replace(b"\r\n", b"\n").decode("utf-8", "backslashreplace")
            text = clean(text.rstrip("\r"))
        else:
            text = raw.decode("ascii")
        prefix = self._prefix
        size = len(prefix)
        effects = self._effects
        main = self._main
        for line in text.split("\n"):
            if line.startswith(prefix):
                effect = effects.get(line)
                if effect is not None:
                    draft = main.draft
                    if draft is not None and not main.closed and len(draft.lines) < _LONGEST_RECORD:
                        effect[0](draft, effect[1])
                        draft.lines.append(line)
                        continue
                body = line[size:]
                if body == " " or not body:
                    self._blank(main)
                    continue
                if body[0] != "=":
                    self._tool_line(main, line, body)
                    continue
            self._other_line(line)
            prefix = self._prefix
            size = len(prefix)

    def _other_line(self, line: str) -> None:
        """A line that does not begin with the prefix: the program's, or both on one line."""
        prefix = self._prefix
        at = line.find(prefix)
        while at >= 0 and line[at + len(prefix) : at + len(prefix) + 1] == "=":
            end = at + len(prefix)
            while line[end : end + 1] == "=":
                end += 1
            at = line.find(prefix, end)
        if at < 0:
            if not self._prefix_fixed and self._finds_prefix(line):
                return
            if is_bare_message(line):
                self._begin(self._main, line, line.strip())
            else:
                self._program(line)
            return
        left, body = line[:at], line[at + len(prefix) :]
        if not left.strip() or _TIME.match(left) or _QUOTED.match(left) or _NUMBERED.match(left):
            self._tool_line(self._main, line[at:], body)
        elif _TAG.match(left):
            self._tool_line(self._tagged_stream(left), line[at:], body)
        elif self._is_tools(body):
            self._program(left)
            self._tool_line(self._main, line[at:], body)
        else:
            self._program(line)

    def _tagged_stream(self, left: str) -> _Stream:
        """The stream of the rank that a launcher's tag names; many tags are no launcher's."""
        name = left.strip(" :").removesuffix("<stdout>").removesuffix("<stderr>")
        stream = self._tagged.get(name)
        if stream is None:
            if len(self._tagged) >= _MOST_RANKS:
                return self._main
            digits = re.findall(r"\d+", name)
            stream = self._tagged[name] = _Stream(f"rank {digits[-1]}" if digits else name)
        return stream

    def _finds_prefix(self, line: str) -> bool:
        """Whether the line is a banner behind a prefix of its own; later lines are read by that prefix."""
        match = _BANNER.match(line) if len(line) < 200 else None
        if match is None or self.outcome.recognized or not match["prefix"].strip():
            return False
        self._prefix = match["prefix"].strip()
        self._prefix_fixed = True
        self._effects.clear()
        self.outcome.banner()
        return True

    def _is_tools(self, body: str) -> bool:
        """Whether what follows a prefix in mid-line can only be the tool's."""
        stripped = body.strip()
        if not stripped or body.startswith("   "):
            return True
        return is_summary(stripped) or is_note(stripped) or self._head(stripped) is not None

    def _head(self, body: str) -> Head | None:
        head = self._heads.get(body)
        if head is None:
            head = parse_head(body)
            if head is not None and len(body) < _LONGEST_KEPT:
                if len(self._heads) > _CACHED:
                    self._heads.clear()
                self._heads[body] = head
        return head

    def _program(self, line: str) -> None:
        self.outcome.program_line()
        lines = self.report.program
        lines.append(line)
        if len(lines) > 2 * PROGRAM_LINES:
            del lines[:PROGRAM_LINES]
            self.report.program_dropped += PROGRAM_LINES

    def _tool_line(self, stream: _Stream, line: str, body: str) -> None:
        stripped = body.strip()
        if not stripped:
            self._blank(stream)
        elif body.startswith("   ") or (stream.draft is not None and is_continuation(stripped)):
            self._continue(stream, line, stripped)
        else:
            self._begin(stream, line, stripped)

    def _blank(self, stream: _Stream) -> None:
        draft = stream.draft
        if draft is None or draft.head.kind is FindingKind.STREAM_RACE:
            stream.in_note = False
            return
        self._emit(stream)
        stream.closed = True

    def _continue(self, stream: _Stream, line: str, body: str) -> None:
        draft = stream.draft
        if draft is None or (draft.head.kind in RUN_KINDS and not draft.head.unknown):
            if draft is not None:
                draft.lines.append(line)
            elif not stream.in_note:
                if parse_continuation(body)[0] is None:
                    self.report.unknown_lines += 1
                else:
                    self.outcome.orphan()
            return
        effect, again = parse_continuation(body)
        if effect is None:
            self.report.unknown_lines += not draft.head.unknown
        else:
            effect[0](draft, effect[1])
            if again and stream is self._main and len(line) < _LONGEST_KEPT:
                if len(self._effects) > _CACHED:
                    self._effects.clear()
                self._effects[line] = effect
        if len(draft.lines) < _LONGEST_RECORD:
            draft.lines.append(line)
        if stream.closed and stream.draft_index is not None:
            self._builder.amend(stream.draft_index, draft)

    def _begin(self, stream: _Stream, line: str, body: str) -> None:
        head = self._heads.get(body)
        if head is None:
            if is_summary(body):
                self._summary(stream, line, body)
                return
            if is_note(body):
                self._note(stream, line, body)
                return
            head = self._head(body)
        if head is None:
            if self._at_end and is_cut_head(body):
                # A log that was cut in the midst of a line: what is left of it is no finding.
                self.report.notes.append(f"{body}… (the log ends here)")
                return
            if body.endswith("==="):
                self._program(line)
                return
            head = unknown_message(body)
            self.report.unknown_lines += 1
        if head.kind in RUN_KINDS:
            self.outcome.message(head.reason)
        if head.message:
            self._message(stream, line, head)
            return
        self._open(stream, line, head)
        if head.kind is FindingKind.RACE_ANALYSIS:
            self._first_place(stream, body)

    def _open(self, stream: _Stream, line: str, head: Head) -> None:
        self._close(stream)
        draft = RecordDraft(head)
        draft.origin = stream.origin
        draft.lines.append(line)
        stream.draft = draft
        stream.draft_index = None
        stream.closed = False
        stream.in_note = False

    def _first_place(self, stream: _Stream, body: str) -> None:
        access, where, rest = first_place(body)
        draft = stream.draft
        if draft is None:
            return
        draft.add_side(Side(access.lower(), where))
        if rest:
            effect, _ = parse_continuation(rest)
            if effect is not None:
                effect[0](draft, effect[1])

    def _message(self, stream: _Stream, line: str, head: Head) -> None:
        """A word of the tool about its run; it joins the one before it, the graver kind wins."""
        draft = stream.draft
        if draft is None or stream.closed or not draft.head.message:
            self._open(stream, line, head)
            return
        draft.lines.append(line)
        if draft.head.kind is FindingKind.SESSION and head.kind is FindingKind.TOOL_ERROR:
            draft.head = head
        draft.reason = f"{draft.reason}; {head.reason}"

    def _summary(self, stream: _Stream, line: str, body: str) -> None:
        if stream.draft is not None and not stream.draft.head.message:
            self._close(stream)
        hidden = self.report.summary.get("not_printed", 0)
        counted = counted_errors(self.report.summary)
        tool, ends_run = read_summary(body, self.report.summary)
        if tool and not self.report.tool:
            self.report.tool = tool
        self.outcome.summary(ends_run, counted_errors(self.report.summary) - counted)
        if self.report.summary.get("not_printed", 0) != hidden:
            text = body.split(":", 1)[-1].strip()
            self._message(stream, line, Head(FindingKind.SESSION, severity="info", reason=text, message=True))

    def _note(self, stream: _Stream, line: str, body: str) -> None:
        if stream.draft is not None and not stream.draft.head.message:
            self._close(stream)
        stream.in_note = True
        if body in _BANNERS:
            self.outcome.banner()
            return
        if body.startswith("Launch #"):
            self.report.summary["launches"] = self.report.summary.get("launches", 0) + 1
            self.outcome.activity()
            return
        self.outcome.recognized = True
        dump = coredump_of(body)
        if dump:
            self.report.dumps.append(dump)
        if len(self.report.notes) < PROGRAM_LINES:
            self.report.notes.append(body)

    def _emit(self, stream: _Stream) -> None:
        """Make the finding of the open record, once."""
        draft = stream.draft
        if draft is None or stream.draft_index is not None:
            return
        finding = self._builder.add(draft)
        stream.draft_index = finding.index
        if finding.kind not in RUN_KINDS:
            self.outcome.finding()
        elif finding.kind is FindingKind.TOOL_ERROR:
            self.outcome.own_error()
        self._done.append(finding)

    def _close(self, stream: _Stream) -> None:
        self._emit(stream)
        stream.draft = None
        stream.draft_index = None
        stream.closed = False
