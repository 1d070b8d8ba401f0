"""`findings`: JSON for machines, paragraphs for people, and exit codes that never call a failed run clean."""

from __future__ import annotations

from pathlib import Path

import pytest

from ladder_demos.catalogue import find_demo

RACE = Path(__file__).parents[1] / "sanitizer/reports/cases/096-race-sync-trace-and-deadlock.txt"
CLEAN = "========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\n"


def test_json_of_the_shipped_report(ladder_tui, vector_add) -> None:
    answer = ladder_tui("findings", vector_add.reports[0], "--json")
    assert (answer.code, answer.err) == (1, "")
    document = answer.json
    assert next(iter(document)) == "format"
    assert (document["format"], document["tool"], document["ran"], document["complete"]) == (
        1,
        "memcheck",
        True,
        True,
    )
    assert len(document["findings"]) == 24
    first = document["findings"][0]
    assert (first["kind"], first["access"], first["size"], first["line"]) == ("oob", "read", 4, 10)
    assert (first["block"], first["thread"], first["lane"]) == ([3, 0, 0], [232, 0, 0], "exact")
    assert len({one["group"] for one in document["findings"]}) == 1


def test_text_of_the_shipped_report(ladder_tui, vector_add) -> None:
    answer = ladder_tui("findings", vector_add.reports[0])
    assert (answer.code, answer.err) == (1, "")
    assert "read 4 B out of bounds" in answer.out
    assert "block (3,0,0) threads (232-255,0,0)" in answer.out
    assert "/home/user/ladder/vector_add_oob.cu:10" in answer.out


def test_each_of_several_reports_is_named_with_its_findings(ladder_tui, vector_add, tmp_path: Path) -> None:
    whole = vector_add.reports[0].read_bytes()
    (tmp_path / "rank.0.log").write_bytes(whole)
    (tmp_path / "rank.1.log").write_bytes(whole[: len(whole) // 2])
    answer = ladder_tui("findings", tmp_path / "rank.%p.log")
    line = next(line for line in answer.out.splitlines() if "in rank.0.log (24)" in line)
    assert "rank.1.log (" in line
    assert "in rank" not in ladder_tui("findings", tmp_path / "rank.0.log").out


def test_a_clean_run_is_0(ladder_tui, tmp_path: Path) -> None:
    (tmp_path / "clean.log").write_text(CLEAN)
    answer = ladder_tui("findings", "clean.log")
    assert (answer.code, answer.err) == (0, "")
    assert "nothing found" in answer.out


def test_a_run_that_did_not_start_is_not_a_clean_one(ladder_tui, tmp_path: Path) -> None:
    (tmp_path / "x.log").write_text("========= Target application doesn't exist or is not a valid executable\n")
    answer = ladder_tui("findings", "x.log", "--json")
    assert answer.code == 2
    assert answer.json["ran"] is False
    assert "did not run: Target application doesn't exist" in answer.complaint


@pytest.mark.parametrize("log", ["========= COMPUTE-SANITIZER\n", CLEAN.replace("ERROR", "LEAK")])
def test_what_proves_nothing_says_why_on_standard_error(ladder_tui, tmp_path: Path, log: str) -> None:
    (tmp_path / "x.log").write_text(log)
    answer = ladder_tui("findings", "x.log")
    assert answer.code == 2
    assert answer.complaint.removeprefix("ladder-tui: ") in answer.out


@pytest.mark.parametrize(
    ("raw", "why"),
    [(b"", "is empty"), (b"hello\n", "is not a sanitizer report"), (b"\x00\xff" * 99, "is not a sanitizer report")],
)
def test_what_is_no_report_is_one_line(ladder_tui, tmp_path: Path, raw: bytes, why: str) -> None:
    (tmp_path / "x.log").write_bytes(raw)
    answer = ladder_tui("findings", "x.log", "--json")
    assert (answer.code, answer.out) == (2, "")
    assert why in answer.complaint


def test_a_missing_file_with_a_hostile_name_is_one_clean_line(ladder_tui) -> None:
    answer = ladder_tui("findings", "\x1b]0;owned\a[/bold]\n.log")
    assert answer.code == 2
    assert "\x1b" not in answer.complaint
    assert "\a" not in answer.complaint


def test_several_reports_by_the_placeholder_of_the_tool(ladder_tui, vector_add, tmp_path: Path) -> None:
    text = vector_add.reports[0].read_text()
    for process in (101, 102):
        (tmp_path / f"log.{process}").write_text(text)
    answer = ladder_tui("findings", "log.%p", "--json")
    assert answer.code == 1
    assert len(answer.json["findings"]) == 48


def test_hostile_text_in_a_report_does_not_reach_the_terminal(ladder_tui, tmp_path: Path) -> None:
    text = CLEAN.replace("ERROR SUMMARY: 0 errors", "ERROR SUMMARY: 1 error").splitlines()
    body = [
        "========= Invalid __global__ read of size 4 bytes",
        "=========     at k\x1b[2J\u202e[bold](int)+0x10 in /tmp/a\x1b]0;x\a.cu:3",
        "=========     by thread (0,0,0) in block (0,0,0)",
    ]
    (tmp_path / "x.log").write_text("\n".join([text[0], *body, text[1], ""]))
    for words in ([], ["--json"]):
        answer = ladder_tui("findings", "x.log", *words)
        assert answer.code == 1
        assert not {"\x1b", "\a", "\u202e"} & set(answer.out)


def test_tui_needs_a_terminal(ladder_tui, vector_add) -> None:
    answer = ladder_tui("findings", vector_add.reports[0], "--tui")
    assert answer.code == 2
    assert "no terminal" in answer.complaint


def test_only_bugs_are_numbered(ladder_tui) -> None:
    answer = ladder_tui("findings", RACE)
    assert answer.out.startswith("racecheck: 1 bug ")
    assert [line[:12] for line in answer.out.splitlines() if line[:1].isdigit()] == ["1. deadlock "]
    assert "\nnot bugs by themselves:\n\n·  Barrier trace  kernel :36" in answer.out
    assert answer.out.index("1. deadlock") < answer.out.index("not bugs by themselves")


def test_a_dump_is_opened_with_a_command_of_ours(ladder_tui, vector_add, tmp_path: Path) -> None:
    (tmp_path / "my.log").write_text(vector_add.reports[0].read_text())
    dump = "/home/user/ladder/memcheck-oob.nvcudmp"
    out = ladder_tui("findings", "my.log").out
    assert "cuda-gdb" not in out
    assert "loaded in the debugger" not in out
    assert f"note: the tool wrote {dump}; to stand in its lanes: ladder-tui open my.log {dump} PROGRAM\n" in out


@pytest.mark.parametrize(
    ("form", "words"), [("sarif", '"version": "2.1.0"'), ("markdown", "## memcheck"), ("json", '"format": 1')]
)
def test_exports(ladder_tui, vector_add, tmp_path: Path, form: str, words: str) -> None:
    answer = ladder_tui("findings", vector_add.reports[0], "--export", form)
    assert (answer.code, answer.err) == (1, "")
    assert words in answer.out
    name = {"sarif": "r.sarif", "markdown": "r.md", "json": "r.json"}[form]
    saved = ladder_tui("findings", vector_add.reports[0], "-o", name)
    assert (saved.code, saved.out) == (1, "")
    assert "bytes written to" in saved.complaint
    assert words in (tmp_path / name).read_text()
    again = ladder_tui("findings", vector_add.reports[0], "-o", name)
    assert again.code == 2
    assert "is there already" in again.complaint
    assert ladder_tui("findings", vector_add.reports[0], "-o", name, "--force").code == 1


def test_a_name_that_tells_no_form(ladder_tui, vector_add) -> None:
    answer = ladder_tui("findings", vector_add.reports[0], "-o", "r.html")
    assert answer.code == 2
    assert ".json, .md or .sarif" in answer.complaint


def test_against_an_earlier_report(ladder_tui, vector_add, tmp_path: Path) -> None:
    old = tmp_path / "old.log"
    old.write_text(Path(vector_add.reports[0]).read_text().replace("vector_add_oob.cu:10", "other.cu:3"))
    answer = ladder_tui("findings", vector_add.reports[0], "--against", old)
    assert answer.code == 1
    assert "against the earlier report: 1 gone, 1 new" in answer.out
    assert "1. new: read 4 B out of bounds" in answer.out
    document = ladder_tui("findings", vector_add.reports[0], "--against", old, "--json").json
    assert document["against"]["new"] == [document["findings"][0]["group"]]
    assert ladder_tui("findings", old, "--against", old, "--json").json["against"]["words"] == "1 as before"


def test_the_report_in_a_case_is_read_too(ladder_tui) -> None:
    answer = ladder_tui("findings", find_demo("vector-add").path)
    assert (answer.code, answer.err) == (1, "")
    assert answer.out.startswith("memcheck: 1 bug · 24 lanes")
    without = ladder_tui("findings", find_demo("hang").path)
    assert without.code == 2
    assert "holds no sanitizer report" in without.complaint
    assert "ladder-tui open" in without.complaint


def test_what_replaces_a_file_is_said(ladder_tui, vector_add, tmp_path: Path) -> None:
    file = tmp_path / "a.sarif"
    file.write_text("mine")
    answer = ladder_tui("findings", vector_add.reports[0], "-o", file)
    assert answer.code == 2
    assert "--force" in answer.complaint
    assert file.read_text() == "mine"
