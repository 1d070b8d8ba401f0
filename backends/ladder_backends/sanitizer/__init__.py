"""compute-sanitizer reports of every era, as findings.

`read_report` reads files; `TextReportReader` reads a report while the tool writes it. Both fill a `Report`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ladder_backends.exports import on_demand
from ladder_backends.sanitizer.report_json import PROVES_NOTHING, exit_code, finding_json, report_json

if TYPE_CHECKING:
    from ladder_backends.sanitizer.build import ReportBuilder
    from ladder_backends.sanitizer.describe import (
        allocation_line,
        group_count,
        headline,
        lane_words,
        member_line,
        offset_words,
        short_function,
    )
    from ladder_backends.sanitizer.read import expand, read_report, sniff
    from ladder_backends.sanitizer.text_report import TextReportReader
    from ladder_backends.sanitizer.xml_report import XmlReportReader
else:
    __getattr__ = on_demand(
        __name__,
        build="ReportBuilder",
        describe="allocation_line group_count headline lane_words member_line offset_words short_function",
        read="expand read_report sniff",
        text_report="TextReportReader",
        xml_report="XmlReportReader",
    )

__all__ = [
    "PROVES_NOTHING",
    "ReportBuilder",
    "TextReportReader",
    "XmlReportReader",
    "allocation_line",
    "exit_code",
    "expand",
    "finding_json",
    "group_count",
    "headline",
    "lane_words",
    "member_line",
    "offset_words",
    "read_report",
    "report_json",
    "short_function",
    "sniff",
]
