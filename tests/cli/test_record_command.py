"""`record`: a failure in one file, opened again where neither the engine nor the files are."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from ladder_backends.case import Role, read_case
from ladder_demos.catalogue import find_demo
from ladder_demos.compile import compile_demo

WITHOUT = {"LADDER_GDB": "/gone", "LADDER_CUDA_GDB": "/gone"}


def test_a_program_is_recorded_with_itself_and_its_sources(ladder_tui, gdb, tmp_path: Path) -> None:
    program = compile_demo(find_demo("segfault"))
    answer = ladder_tui("record", "-o", "crash.ladder", "--", program)
    assert answer.code == 1
    assert "SIGSEGV" in answer.out
    assert "crash.ladder holds recording/crash.jsonl, executable/segfault, source/segfault.c" in answer.complaint

    again = ladder_tui("replay", "crash.ladder", environment=WITHOUT)
    assert (again.code, again.err) == (0, "")
    assert "from a recording" in again.out
    assert "data  = 0x0" in again.out
    assert "compute_total" in ladder_tui("open", "crash.ladder", environment=WITHOUT).out


def test_json_is_one_document_about_the_case(ladder_tui, gdb) -> None:
    answer = ladder_tui("record", "-o", "x.ladder", "--json", "--", "/bin/true")
    assert (answer.code, answer.err) == (0, "")
    document = answer.json
    assert (document["format"], document["exit_code"]) == (1, 0)
    assert {part["role"] for part in document["parts"]} == {"recording", "executable"}


@pytest.mark.cuda_gdb
def test_files_are_packed_with_the_sources_that_the_report_names(
    ladder_tui, cuda_gdb, vector_add, tmp_path: Path
) -> None:
    source = tmp_path / "vector_add_oob.cu"
    shutil.copy(vector_add.sources[0].file, source)
    report = tmp_path / "memcheck.log"
    report.write_text(vector_add.reports[0].read_text().replace("/home/user/ladder", str(tmp_path)))
    answer = ladder_tui("record", "-o", "oob.ladder", "--", report, vector_add.dump, vector_add.executable)
    assert answer.code == 0
    case = read_case(tmp_path / "oob.ladder")
    assert [part.role for part in case.parts] == ["findings", "dump", "executable", "source"]
    assert case.of(Role.SOURCE)[0].path == str(source)
    assert case.of(Role.DUMP)[0].size < vector_add.dump.stat().st_size / 50
    assert ladder_tui("open", "oob.ladder", "--json").json["jump"]["reached"]["thread"] == [232, 0, 0]


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["-o", "x.ladder"], "nothing was named"),
        (["--", "/bin/true"], "-o/--output"),
        (["-o", "x.zip", "--", "/bin/true"], "does not end in .ladder"),
        (["-o", "/gone/x.ladder", "--", "/bin/true"], "cannot be written"),
        (["-o", "x.ladder", "--", "./gone"], "does not exist"),
        (["-o", "x.ladder", "--", str(find_demo("race").path)], "it is a case"),
    ],
)
def test_what_cannot_be_recorded_is_one_line(ladder_tui, words: list[str], why: str) -> None:
    answer = ladder_tui("record", *words)
    assert answer.code == 2
    assert why in answer.complaint
