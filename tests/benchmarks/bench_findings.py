"""Sanitizer reports: how fast text and XML are read; 100,000 findings grouped while they come in, sorted, filtered.

The list is looked at as the findings pane does it, without a terminal: what a key waits for while it is busy.
"""

from __future__ import annotations

import gc
import time
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ladder_backends.model.finding import Report
from ladder_backends.sanitizer import TextReportReader, XmlReportReader
from ladder_backends.sanitizer.comparison import compare_reports
from ladder_backends.session.finding_query import Order
from ladder_backends.session.findings_desk import FindingsDesk
from ladder_tui.panes.findings_rows import FindingsRows

REPORTS = Path(__file__).resolve().parent.parent / "sanitizer" / "reports"
CHUNK = 1 << 16
ROUNDS = 3
FLOOD = 100_000

RECORD = b"""\
========= Invalid __global__ read of size 4 bytes
=========     at vadd(const float *, const float *, float *, int)+0x370 in /home/user/ladder/vector_add_oob.cu:%d
=========     by thread (%d,0,0) in block (%d,0,0)
=========     Access to 0x%x is out of bounds
=========     and is %d bytes after the nearest allocation at 0x7f586c800000 of size 4,000 bytes
=========     Saved host backtrace up to driver entry point at kernel launch time
=========         Host Frame: main in /home/user/ladder/vector_add_oob.cu:19 [0x1656]
=========                        in /home/user/ladder/build/vector_add_oob
=========
"""


def flood(count: int, bugs: int) -> bytes:
    """A log of `count` records, no two of one lane, on `bugs` different lines."""
    records = [
        RECORD % (10 + number % bugs, number % 256, number // 256, 0x7F586C800FA0 + 4 * number, 1 + 4 * number)
        for number in range(count)
    ]
    return b"".join((b"========= COMPUTE-SANITIZER\n", *records, b"========= ERROR SUMMARY: %d errors\n" % count))


def read(raw: bytes, reader: TextReportReader | XmlReportReader) -> tuple[Report, float, float]:
    """The report, the seconds it took, and the seconds of the slowest piece of 64 KiB."""
    worst = 0.0
    began = time.perf_counter()
    for start in range(0, len(raw), CHUNK):
        piece = time.perf_counter()
        reader.feed(raw[start : start + CHUNK])
        worst = max(worst, time.perf_counter() - piece)
    reader.finish()
    return reader.report, time.perf_counter() - began, worst


def split(raw: bytes) -> float:
    """Seconds to cut the same bytes into lines of text and look at each."""
    began = time.perf_counter()
    kept = [line for line in raw.decode().split("\n") if line.startswith("=========")]
    assert kept
    return time.perf_counter() - began


class List:
    """The list of the findings pane: a screen of its rows is built at each look."""

    def __init__(self) -> None:
        self.rows = FindingsRows()
        self.desk = FindingsDesk()
        self.rows.insets.about = self.desk.about

    def look(self, report: Report) -> float:
        """Seconds to take in what has come and to build forty rows."""
        began = time.perf_counter()
        if self.desk.take(report):
            self.rows.say_again()
        self.rows.update(report)
        self._draw()
        return time.perf_counter() - began

    def arrange(self, **how: Any) -> float:
        """Seconds to list in another way and to build forty rows."""
        began = time.perf_counter()
        self.rows.arrange(**how)
        self._draw()
        return time.perf_counter() - began

    def _draw(self) -> None:
        for number in range(min(40, len(self.rows))):
            self.rows[number]


def arriving(raw: bytes, slice_size: int) -> tuple[Report, List, float, float]:
    """Findings that arrive while the list is looked at; the longest turn of the loop, and the longest look."""
    reader, listed = TextReportReader(), List()
    turn = look = 0.0
    for number, start in enumerate(range(0, len(raw), slice_size)):
        began = time.perf_counter()
        reader.feed(raw[start : start + slice_size])
        turn = max(turn, time.perf_counter() - began)
        # The pane looks four times a second: at 20 MB/s, after some forty slices.
        if number % 40 == 39:
            look = max(look, listed.look(reader.report))
    reader.finish()
    return reader.report, listed, turn, max(look, listed.look(reader.report))


def list_rows() -> Iterator[dict[str, Any]]:
    """100,000 findings: of a thousand bugs, of one, and each of its own."""
    for bugs in (1_000, 1, FLOOD):
        raw = flood(FLOOD, bugs)
        gc.collect()
        report, listed, turn, look = arriving(raw, 1 << 17)
        name = f"100,000 findings of {bugs:,} bug{'s' if bugs > 1 else ''}"
        yield {"what": f"{name}, arriving: longest turn", "ours": turn * 1000, "unit": "ms", "budget": 50.0}
        yield {"what": f"{name}, arriving: longest look at the list", "ours": look * 1000, "unit": "ms"}
        orders = max(listed.arrange(order=order) for order in (*list(Order)[1:], Order.ARRIVAL))
        # As many bugs as findings is what no program was seen to do: told, and no gate.
        limit = {"budget": 100.0} if bugs < FLOOD else {}
        yield {"what": f"{name}, sorted", "ours": orders * 1000, "unit": "ms", **limit}
        queries = ("kind:oob kernel:vadd", "block:7", "-line:12", "(5,0,0)", "nothing like it", "")
        filters = max(listed.arrange(query=query) for query in queries)
        yield {"what": f"{name}, filtered", "ours": filters * 1000, "unit": "ms", **limit}
        began = time.perf_counter()
        compare_reports(report, report)
        yield {"what": f"{name}, compared", "ours": (time.perf_counter() - began) * 1000, "unit": "ms"}
    tracemalloc.start()
    reader = TextReportReader()
    reader.feed(flood(FLOOD, 1_000))
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    yield {"what": "100,000 findings, memory for each", "ours": kept / FLOOD, "unit": "B"}


def rows() -> Iterator[dict[str, Any]]:
    """Text of one bug, text with deep Python stacks, XML; then the flood."""
    one = flood(75_000, 1)
    deep = (REPORTS / "logs" / "triton-oob.log").read_bytes() * 500
    for name, raw in (("text, 75,000 records", one), ("text, deep Python stacks", deep)):
        times = [read(raw, TextReportReader())[1] for _ in range(ROUNDS)]
        bare = min(split(raw) for _ in range(ROUNDS))
        speed, partner = len(raw) / min(times) / 1e6, len(raw) / bare / 1e6
        size = f"{len(raw) / 1e6:.0f} MB {name}"
        yield {"what": size, "ours": speed, "unit": "MB/s", "budget": 20.0, "higher_is_better": True}
        yield {
            "what": f"{size}, of it",
            "ours": speed,
            "unit": "MB/s",
            "partner": partner,
            "of": "split into lines",
            "higher_is_better": True,
        }
    xml = (REPORTS / "xml" / "memcheck_vector_add_oob.xml").read_bytes() * 100
    seconds = min(read(xml, XmlReportReader())[1] for _ in range(ROUNDS))
    yield {"what": f"{len(xml) / 1e6:.0f} MB XML", "ours": len(xml) / seconds / 1e6, "unit": "MB/s"}
    report, seconds, worst = read(flood(FLOOD, 1_000), TextReportReader())
    assert len(report.findings) == FLOOD
    assert len(report.groups) == 1_000
    yield {"what": "100,000 findings of 1,000 bugs, grouped", "ours": seconds, "unit": "s"}
    yield {"what": "slowest 64 KiB of it, garbage collection included", "ours": worst * 1000, "unit": "ms"}
    yield from list_rows()
