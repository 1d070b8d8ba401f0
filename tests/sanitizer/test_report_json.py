from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from ladder_backends.model.finding import Report
from ladder_backends.sanitizer import read_report, report_json

LOG = Path(__file__).parent / "reports" / "logs" / "memcheck-oob.log"
FINDING_KEYS = {
    "tool", "kind", "access", "size", "space", "kernel", "src_file", "line", "block", "thread", "sides",
    "device_frames", "host_frames", "allocation", "address", "severity", "group", "consequence_of", "lane", "why",
    "raw",
}  # fmt: skip


def test_shape() -> None:
    data = json.loads(json.dumps(report_json(read_report(LOG))))
    assert list(data)[:7] == ["format", "tool", "ran", "complete", "reason", "summary", "findings"]
    assert (data["format"], data["tool"], data["ran"], data["complete"], data["reason"]) == (
        1, "memcheck", True, True, None,
    )  # fmt: skip
    assert data["summary"] == {"errors": 24}
    assert len(data["findings"]) == 24
    finding = data["findings"][8]
    assert set(finding) >= FINDING_KEYS
    assert (finding["kind"], finding["block"], finding["thread"]) == ("oob", [3, 0, 0], [240, 0, 0])
    assert finding["kernel"] == "vadd(const float *, const float *, float *, int)"
    assert (finding["src_file"], finding["line"], finding["size"]) == ("/home/user/ladder/vector_add_oob.cu", 10, 4)
    assert finding["allocation"] == {
        "address": "0x7f586c800000", "size": 4000, "relation": "after", "distance": 33, "name": "", "where": None,
    }  # fmt: skip
    assert finding["host_frames"][0]["function"] == "main"
    assert finding["host_frames"][0]["module"] == "/home/user/ladder/build/vector_add_oob"
    assert (finding["lane"], finding["why"], finding["consequence_of"]) == ("exact", "", None)
    assert finding["raw"].startswith("========= Invalid __global__ read of size 4 bytes\n=========     at vadd(")
    assert data["groups"][0]["members"] == list(range(24))
    assert data["groups"][0]["id"] == finding["group"]
    assert data["provenance"] == "report"
    assert data["dumps"] == ["/home/user/ladder/memcheck-oob.nvcudmp"]


def test_did_not_run(read: Callable[..., Report]) -> None:
    data = report_json(read("========= COMPUTE-SANITIZER\n========= Error: Device not supported\n"))
    assert (data["ran"], data["complete"], data["reason"]) == (
        False, False, "Device not supported — use a version of the tool for this GPU, outside a sandbox",
    )  # fmt: skip
    assert [finding["kind"] for finding in data["findings"]] == ["tool-error"]
