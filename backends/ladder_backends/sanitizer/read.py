"""Reads report files: text or XML, one or several, plain or compressed."""

from __future__ import annotations

import bz2
import codecs
import contextlib
import glob
import gzip
import lzma
import os
import re
import zlib
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import IO, Protocol, cast

from ladder_backends.errors import ReportInvalid
from ladder_backends.model.finding import Finding, Report
from ladder_backends.sanitizer.build import ReportBuilder
from ladder_backends.sanitizer.outcome import Outcome
from ladder_backends.sanitizer.text_report import TextReportReader
from ladder_backends.sanitizer.xml_report import XmlReportReader, looks_like_xml
from ladder_backends.text import clean_line

CHUNK = 1 << 18
"""Bytes read at a time."""

LARGEST = 8 << 30
"""Most bytes of one report, unpacked."""

_HEAD = 1 << 16
_BINARY_PATIENCE = 4 << 20
_PATTERN = re.compile(r"%p|%q\{[^}]*\}")
_REPORT_LINE = re.compile(
    rb"(?:^|[^=])={9}(?: +(?:COMPUTE-SANITIZER|CUDA-MEMCHECK|(?:ERROR|LEAK|RACECHECK) SUMMARY|Invalid |Error: "
    rb"|Uninitialized |Program hit |Leaked |Unused |Barrier |Host |Malloc/Free|WARN|Warning: |Race reported"
    rb"|Potential |Target application|Internal Sanitizer|Fatal UVM|Illegal |Out-of-range|Free-before|Use-before"
    rb"|Use-after|Deadlock |Tensor Memory|Syncwarp |  +(?:at |by thread|Host Frame:|Device Frame:|Saved host))"
    rb")",
    re.MULTILINE,
)


class _Reader(Protocol):
    outcome: Outcome

    def feed(self, chunk: bytes) -> list[Finding]: ...

    def finish(self, exit_status: int | None = None) -> list[Finding]: ...


def _name(path: Path) -> str:
    """A path as it may be shown."""
    return clean_line(str(path))


@contextmanager
def _open(path: Path) -> Iterator[IO[bytes]]:
    """The file's bytes, unpacked; the compression is told by content."""
    with path.open("rb") as raw:
        magic = raw.peek(6)
        if magic.startswith(b"\x1f\x8b"):
            with gzip.GzipFile(fileobj=raw) as unpacked:
                yield cast("IO[bytes]", unpacked)
        elif magic.startswith(b"\xfd7zXZ\x00"):
            with lzma.LZMAFile(raw) as unpacked:
                yield cast("IO[bytes]", unpacked)
        elif magic.startswith(b"BZh"):
            with bz2.BZ2File(raw) as unpacked:
                yield cast("IO[bytes]", unpacked)
        elif magic.startswith(b"\x28\xb5\x2f\xfd"):
            raise ReportInvalid(f"{_name(path)} cannot be unpacked", "it is packed with zstd", "unpack it first")
        else:
            yield raw


def _chunks(path: Path) -> Generator[bytes]:
    """The file as UTF-8 bytes, bounded; UTF-16 with a byte order mark, as PowerShell writes it, is converted."""
    try:
        with _open(path) as stream:
            total = 0
            decoder: codecs.IncrementalDecoder | None = None
            while chunk := stream.read(CHUNK):
                if total == 0:
                    if chunk.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
                        decoder = codecs.getincrementaldecoder("utf-16")("replace")
                    chunk = chunk.removeprefix(codecs.BOM_UTF8)
                total += len(chunk)
                if total > LARGEST:
                    raise ReportInvalid(
                        f"{_name(path)} is too large",
                        f"more than {LARGEST >> 30} GiB unpacked",
                        "cut it into parts",
                    )
                yield decoder.decode(chunk).encode() if decoder is not None else chunk
    except (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile) as broken:
        raise ReportInvalid(f"{_name(path)} cannot be unpacked", str(broken) or "it is cut short") from broken
    except IsADirectoryError as broken:
        raise ReportInvalid(
            f"{_name(path)} is a folder", "", "name the report files in it, or a pattern"
        ) from broken
    except FileNotFoundError as broken:
        raise ReportInvalid(
            f"{_name(path)} does not exist", "", "name a log or XML written by compute-sanitizer"
        ) from broken
    except OSError as broken:
        raise ReportInvalid(f"{_name(path)} cannot be read", broken.strerror or str(broken)) from broken


def expand(paths: Iterable[str | Path]) -> list[Path]:
    """The files meant by paths, `-`, glob patterns and the tool's own `%p` and `%q{VAR}`, each once, in order.

    Raises:
        ReportInvalid: A pattern matches nothing.
    """
    found: dict[Path, None] = {}
    for given in paths:
        text = os.path.expanduser(os.fspath(given))
        if text == "-":
            found[Path("/dev/stdin")] = None
            continue
        if os.path.exists(text):
            found[Path(text)] = None
            continue
        pattern = text
        if _PATTERN.search(text):
            pattern = "*".join(glob.escape(part) for part in _PATTERN.split(text)).replace("%%", "%")
        elif not glob.has_magic(text):
            found[Path(text)] = None
            continue
        matches = sorted(glob.glob(pattern))
        if not matches:
            raise ReportInvalid(f"no file matches {clean_line(text)}", "", "check the name given to --log-file")
        for match in matches:
            found[Path(match)] = None
    return list(found)


def sniff(path: str | Path) -> bool:
    """Whether a file begins like a sanitizer report, text or XML; never raises."""
    try:
        head = b""
        with closing(_chunks(Path(path))) as chunks:
            for chunk in chunks:
                head += chunk
                if len(head) >= _HEAD:
                    break
    except ReportInvalid:
        return False
    return looks_like_xml(head) or _REPORT_LINE.search(head) is not None


def _refuse(path: Path, size: int, binary: bool) -> ReportInvalid:
    if size == 0:
        return ReportInvalid(
            f"{_name(path)} is empty", "", "the run that should have written it did not start or not end"
        )
    if binary:
        return ReportInvalid(
            f"{_name(path)} is not a sanitizer report",
            "it is binary",
            f"if compute-sanitizer --save wrote it, print it with compute-sanitizer --read {_name(path)}",
        )
    return ReportInvalid(
        f"{_name(path)} is not a sanitizer report",
        "no line of it is compute-sanitizer's",
        "give a log written with --log-file, or an XML written with --save --xml",
    )


def _read_into(builder: ReportBuilder, path: Path, prefix: str | None) -> _Reader:
    """Read one file to its end."""
    reader: _Reader | None = None
    size, binary = 0, False
    with closing(_chunks(path)) as chunks:
        for chunk in chunks:
            if reader is None:
                binary = b"\x00" in chunk[:_HEAD]
                xml = looks_like_xml(chunk[:_HEAD])
                reader = XmlReportReader(builder) if xml else TextReportReader(prefix, builder)
            size += len(chunk)
            reader.feed(chunk)
            if binary and size > _BINARY_PATIENCE and not reader.outcome.recognized:
                break
    if reader is None:
        raise _refuse(path, 0, False)
    reader.finish()
    if not reader.outcome.recognized:
        raise _refuse(path, size, binary)
    return reader


def read_report(paths: str | Path | Iterable[str | Path], prefix: str | None = None) -> Report:
    """Read one report, or several as one; each finding of several knows its file.

    Args:
        paths: Files, glob patterns, or names with the tool's macros `%p` and `%q{VAR}`.
        prefix: What the tool was told to begin its lines with; found in the banner when None.

    Raises:
        ReportInvalid: A file is missing, unreadable, or no sanitizer report.
    """
    given = [paths] if isinstance(paths, str | Path) else list(paths)
    files = expand(given)
    if not files:
        raise ReportInvalid("no report was named", "", "name a log or XML written by compute-sanitizer")
    if len(files) == 1:
        builder = ReportBuilder()
        _read_into(builder, files[0], prefix)
        return builder.report
    return _merge(files, prefix)


def _is_xml(path: Path) -> bool:
    """Whether a file begins like an XML report; a pipe, which can be read but once, is taken for text."""
    if not path.is_file():
        return False
    with contextlib.suppress(ReportInvalid), closing(_chunks(path)) as chunks:
        return looks_like_xml(next(chunks, b"")[:_HEAD])
    return False


def _merge(files: list[Path], prefix: str | None) -> Report:
    """Several reports as one: it ran if any ran, and is complete only if all are and each file is a report.

    Text comes first, because it tells more; of an XML beside it only what the text has not is taken.
    """
    xml = {path for path in files if _is_xml(path)}
    builder = ReportBuilder()
    report = builder.report
    ran, complete, reasons = False, True, []
    refused: list[ReportInvalid] = []
    for path in sorted(files, key=xml.__contains__):
        builder.begin_file(_name(path), repeats=path in xml and len(xml) < len(files))
        try:
            _read_into(builder, path, prefix)
        except ReportInvalid as broken:
            if not path.exists():
                raise
            refused.append(broken)
            reasons.append(f"{broken.what}: {broken.why}" if broken.why else broken.what)
            complete = False
            continue
        ran, complete = ran or report.ran, complete and report.complete
        if report.reason:
            reasons.append(f"{clean_line(path.name)}: {report.reason}")
        if builder.repeated:
            count = f"{builder.repeated:,} record{'' if builder.repeated == 1 else 's'}"
            report.notes.append(f"{clean_line(path.name)} repeats {count} of the text: counted once")
        report.summary["reports"] = report.summary.get("reports", 0) + 1
    if len(refused) == len(files):
        raise refused[0]
    report.ran, report.complete = ran, complete
    report.reason = "; ".join(reasons[:5]) + (f"; and {len(reasons) - 5} more" if len(reasons) > 5 else "") or None
    return report
