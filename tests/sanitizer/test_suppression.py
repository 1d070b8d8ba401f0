"""Suppression entries: only where the tool takes them, literal text escaped, files kept whole."""

import re
from pathlib import Path
from xml.etree import ElementTree as Xml

import pytest

from ladder_backends.errors import LadderError
from ladder_backends.model.finding import CodeLocation, Finding, FindingKind, Side
from ladder_backends.sanitizer import read_report
from ladder_backends.sanitizer.suppression import add_suppression, escaped, suppression_of, why_not_suppressible

REPORTS = Path(__file__).parent / "reports"


def first(path: str, kind: FindingKind) -> Finding:
    return next(one for one in read_report([REPORTS / path]).findings if one.kind is kind)


def texts(element: Xml.Element, *path: str) -> list[str | None]:
    return [one.text for one in element.findall("/".join(path))]


def test_an_api_error_by_its_call_and_result() -> None:
    record = suppression_of(first("logs/memcheck-leak.log", FindingKind.API_ERROR))
    assert texts(record, "kind") == ["Api"]
    assert texts(record, "what", "api") == ["cudaFree"]
    assert texts(record, "what", "error") == ["cudaErrorInvalidValue"]
    assert texts(record, "what", "result") == ["1"]
    # The text left frames out: a stack of it would not be the tool's.
    assert record.find("hostStack") is None


def test_an_initcheck_read_by_its_line() -> None:
    record = suppression_of(first("logs/initcheck-uninit.log", FindingKind.UNINIT_READ))
    assert texts(record, "kind") == ["Initcheck"]
    assert texts(record, "what", "size") == ["4"]
    assert texts(record, "where", "path") == [".*uninit.cu"]
    assert texts(record, "where", "line") == ["5"]
    assert record.find("who") is None


def test_a_race_by_both_ends() -> None:
    record = suppression_of(first("logs/racecheck-analysis.log", FindingKind.RACE_ANALYSIS))
    assert texts(record, "kind") == ["Analysis"]
    assert texts(record, "what", "source", "where", "line") == ["8"]
    assert texts(record, "what", "destination", "where", "line") == ["6", "8"]


def test_a_whole_stack_is_kept_up_to_the_own_frame() -> None:
    record = suppression_of(first("xml/initcheck_uninit.xml", FindingKind.UNINIT_READ))
    assert record.find("hostStack") is None
    api = Finding(
        0,
        FindingKind.API_ERROR,
        access="cudaFree",
        raw="Program hit error 1 on CUDA API call to cudaFree.",
        host_frames=first("xml/initcheck_uninit.xml", FindingKind.UNINIT_READ).host_frames,
    )
    stack = suppression_of(api).findall("hostStack/frame")
    assert stack[0].findtext("module") == ".*libcuda.*"
    assert stack[-1].findtext("func") == ".*scale.*"


@pytest.mark.parametrize("kind", [FindingKind.OOB, FindingKind.RACE_HAZARD, FindingKind.LEAK, FindingKind.BARRIER])
def test_what_the_tool_cannot_suppress_is_refused_with_a_way_on(kind: FindingKind, tmp_path: Path) -> None:
    finding = Finding(0, kind)
    assert why_not_suppressible(finding)
    with pytest.raises(LadderError, match="mark it as ignored"):
        add_suppression(tmp_path / "s.xml", finding)
    assert not (tmp_path / "s.xml").exists()


def test_literal_text_is_escaped() -> None:
    text = "operator()(a*) [x] {y}.z|w^$?+\\"
    pattern = escaped(text)
    assert "\\" not in pattern
    assert re.fullmatch(pattern, text)
    assert escaped("a\x07b\ufffe") == "a.b."


def test_entries_are_added_once(tmp_path: Path) -> None:
    file = tmp_path / "s.xml"
    api = first("logs/memcheck-leak.log", FindingKind.API_ERROR)
    race = first("logs/racecheck-analysis.log", FindingKind.RACE_ANALYSIS)
    assert add_suppression(file, api).startswith("1 entry")
    assert add_suppression(file, race).startswith("2 entries")
    assert "already" in add_suppression(file, api)
    root = Xml.parse(file).getroot()
    assert root.tag == "ComputeSanitizerOutput"
    assert texts(root, "record", "kind") == ["Api", "Analysis"]


def test_a_users_own_entries_stay(tmp_path: Path) -> None:
    file = tmp_path / "s.xml"
    file.write_text((REPORTS / "cases/112-xml-initcheck-api-suppression.txt").read_text())
    add_suppression(file, first("logs/memcheck-leak.log", FindingKind.API_ERROR))
    root = Xml.parse(file).getroot()
    assert texts(root, "record", "kind") == ["InitcheckApiError", "Api"]
    assert len(root.findall("record/hostStack/frame")) == 4


@pytest.mark.parametrize("content", ["hello", "<other/>", "<a", '<!DOCTYPE x [<!ENTITY a "b">]><x/>'])
def test_another_file_is_left_alone(tmp_path: Path, content: str) -> None:
    file = tmp_path / "s.xml"
    file.write_text(content)
    with pytest.raises(LadderError):
        add_suppression(file, first("logs/memcheck-leak.log", FindingKind.API_ERROR))
    assert file.read_text() == content


@pytest.mark.parametrize(
    ("function", "pattern"),
    [
        ("void ns::scale<float>(const T1 *, T1 *)", ".*scale.*"),
        ("scale(const float *)", ".*scale.*"),
        ("a::(anonymous namespace)::k<b<c<int>>>(int)", ".*k.*"),
        ("void <unnamed>::reduce<(int)37>(int *)", ".*reduce.*"),
        ("main", ".*main.*"),
    ],
)
def test_functions_are_named_as_the_tool_compares_them(function: str, pattern: str) -> None:
    race = Finding(0, FindingKind.RACE_ANALYSIS, sides=(Side("read", CodeLocation(function)),))
    assert texts(suppression_of(race), "what", "source", "where", "func") == [pattern]
