"""Reports as SARIF, Markdown and JSON: what others' tools require of them, and nothing of the report escapes."""

import json
from pathlib import Path
from typing import Any

import pytest

from ladder_backends.errors import LadderError
from ladder_backends.model.finding import Report
from ladder_backends.sanitizer import TextReportReader, read_report
from ladder_backends.sanitizer.comparison import compare_reports
from ladder_backends.sanitizer.export_markdown import code, markdown
from ladder_backends.sanitizer.export_sarif import sarif
from ladder_backends.sanitizer.exporting import export_file, exported, format_of

REPORTS = Path(__file__).parent / "reports"
ALL = sorted([*(REPORTS / "logs").iterdir(), *(REPORTS / "cases").glob("*.txt")])


def report_of(text: str) -> Report:
    reader = TextReportReader()
    reader.feed(text.encode())
    reader.finish()
    return reader.report


def results_of(log: dict[str, Any]) -> list[dict[str, Any]]:
    return log["runs"][0]["results"]


def assert_location(location: dict[str, Any]) -> None:
    assert location.keys() <= {"id", "physicalLocation", "logicalLocations", "message"}
    physical = location.get("physicalLocation")
    if physical is not None:
        uri = physical["artifactLocation"]["uri"]
        assert uri
        assert not set(uri) & set(' "<>\\^`{|}')
        assert uri.startswith("file:///") or ":" not in uri.split("/")[0]
        if "region" in physical:
            assert physical["region"]["startLine"] >= 1
    for logical in location.get("logicalLocations", ()):
        assert logical["fullyQualifiedName"]
    if "message" in location:
        assert location["message"]["text"]


@pytest.mark.parametrize("path", ALL, ids=lambda path: path.name)
def test_what_sarif_requires(path: Path) -> None:
    report = read_report([path])
    log = json.loads("".join(exported(report, "sarif", version="1.0")))
    assert log["version"] == "2.1.0"
    assert log["$schema"].endswith("sarif-2.1.0.json")
    (run,) = log["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert run["tool"]["driver"]["name"]
    assert len({rule["id"] for rule in rules}) == len(rules)
    for invocation in run["invocations"]:
        assert invocation["executionSuccessful"] is (report.ran and report.complete)
        for note in invocation.get("toolExecutionNotifications", ()):
            assert note["message"]["text"]
            assert note["level"] in ("none", "note", "warning", "error")
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["level"] in ("none", "note", "warning", "error")
        assert result["message"]["text"]
        assert result["occurrenceCount"] >= 1
        assert all(isinstance(one, str) and one for one in result["partialFingerprints"].values())
        places = [*result.get("locations", ()), *result.get("relatedLocations", ())]
        for location in places:
            assert location.keys() & {"physicalLocation", "logicalLocations"}
            assert_location(location)
        ids = [location["id"] for location in result.get("relatedLocations", ())]
        assert len(set(ids)) == len(ids)
        for stack in result.get("stacks", ()):
            assert stack["frames"]
            for frame in stack["frames"]:
                assert_location(frame["location"])


def test_a_result_is_a_bug_and_its_lanes_are_listed() -> None:
    (result,) = results_of(sarif(read_report([REPORTS / "logs/memcheck-oob.log"])))
    assert result["occurrenceCount"] == 24
    assert result["ruleId"] == "oob"
    region = result["locations"][0]["physicalLocation"]
    assert region["artifactLocation"]["uri"] == "file:///home/user/ladder/vector_add_oob.cu"
    assert region["region"]["startLine"] == 10
    assert "24 lanes" in result["message"]["text"]
    assert "1 B past a 4,000 B allocation" in result["message"]["text"]
    assert result["properties"]["lanes"][0] == "(3,0,0) (232,0,0)"
    launched = result["relatedLocations"][-1]
    assert launched["message"]["text"] == "launched from here"
    assert launched["physicalLocation"]["region"]["startLine"] == 19


def test_the_other_side_of_a_hazard_is_a_related_location() -> None:
    result = results_of(sarif(read_report([REPORTS / "logs/racecheck-hazard.log"])))[0]
    other = result["relatedLocations"][0]
    assert other["message"]["text"] == "write by the other side"
    assert other["physicalLocation"]["region"]["startLine"] == 6


def test_fingerprints_hold_over_runs_and_paths() -> None:
    log = (REPORTS / "logs/memcheck-oob.log").read_text()
    ours = results_of(sarif(report_of(log)))[0]["partialFingerprints"]
    stripped = log.replace("/home/user/ladder/", "").replace("0x7f586c800", "0x7f6aaa900")
    assert results_of(sarif(report_of(stripped)))[0]["partialFingerprints"] == ours
    moved = results_of(sarif(report_of(log.replace(".cu:10", ".cu:12"))))[0]["partialFingerprints"]
    assert moved["ladderGroup/v1"] != ours["ladderGroup/v1"]
    assert moved["ladderGroupWithoutLines/v1"] == ours["ladderGroupWithoutLines/v1"]


def test_markdown_shows_the_python_frame_first_and_folds_the_interpreter() -> None:
    text = "\n".join(markdown(read_report([REPORTS / "logs/triton-oob.log"])))
    stack = text.split("Host stack (folded):")[1]
    assert stack.split("```text\n")[1].startswith("triton_oob.py:7 <module>\n")
    assert "_PyEval_EvalFrameDefault" not in stack.split("```")[1]
    assert "frames: interpreter" in stack


@pytest.mark.parametrize("hostile", ["k`x", "k```x", "k<script>", "k](http://x)", "k|x", "`k`"])
def test_markdown_of_the_report_stays_code(hostile: str) -> None:
    report = report_of(
        "========= COMPUTE-SANITIZER\n========= Invalid __global__ read of size 4 bytes\n"
        f"=========     at {hostile}+0x10 in /src/{hostile}.cu:3\n"
        "=========     by thread (0,0,0) in block (0,0,0)\n=========\n========= ERROR SUMMARY: 1 error\n"
    )
    for line in markdown(report):
        if line.startswith("- kernel:"):
            span = line.removeprefix("- kernel: ")
            fence = len(span) - len(span.lstrip("`"))
            inner = span[fence:-fence]
            assert "`" * fence not in inner.strip(" ").strip("`") or fence > 1
            assert inner.strip() == hostile
            break
    else:
        raise AssertionError("no kernel line")


def test_a_code_span_is_longer_than_any_ticks_in_it() -> None:
    assert code("a``b`c") == "```a``b`c```"
    assert code("`a") == "`` `a ``"
    assert code("a\nb") == "`a b`"


@pytest.mark.parametrize(
    ("name", "form"),
    [("x.json", "json"), ("x.MD", "markdown"), ("x.sarif", "sarif"), ("x.sarif.json", "sarif")],
)
def test_the_name_tells_the_form(name: str, form: str) -> None:
    assert format_of(Path(name)) == form


def test_a_name_without_a_form_is_refused() -> None:
    with pytest.raises(LadderError, match=r"\.json, \.md or \.sarif"):
        format_of(Path("x.html"))


def test_a_file_is_not_replaced_unless_asked(tmp_path: Path) -> None:
    file = tmp_path / "r.md"
    assert export_file(file, lambda: iter(["a", "b"])) == f"2 bytes written to {file}"
    with pytest.raises(LadderError, match="is there already"):
        export_file(file, lambda: iter(["c"]))
    assert file.read_text() == "ab"
    export_file(file, lambda: iter(["c"]), overwrite=True)
    assert file.read_text() == "c"


def test_a_folder_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(LadderError, match="No such file or directory"):
        export_file(tmp_path / "none" / "r.md", lambda: iter(["a"]))


def test_notes_and_comparison_stand_in_json_and_markdown() -> None:
    old = read_report([REPORTS / "logs/racecheck-analysis.log"])
    new = read_report([REPORTS / "logs/racecheck-hazard.log"])
    against = compare_reports(old, new)
    first = next(iter(new.groups))
    document = json.loads("".join(exported(new, "json", notes={first: "mine"}, against=against)))
    assert document["format"] == 1
    assert document["against"]["new"] == list(against.new)
    assert document["notes_of_groups"] == {first: "mine"}
    text = "".join(exported(new, "markdown", notes={first: "mine"}, against=against))
    assert "- note: `mine`" in text
    assert "1 gone" in text
