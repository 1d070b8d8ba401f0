"""Two runs of one program: what is new, gone, moved, or was not looked for."""

from pathlib import Path

from ladder_backends.model.finding import Report
from ladder_backends.sanitizer import TextReportReader, read_report
from ladder_backends.sanitizer.comparison import compare_reports, comparison_json
from ladder_backends.sanitizer.group_key import bare_name

LOGS = Path(__file__).parent / "reports/logs"
RECORD = """\
========= Invalid __global__ {access} of size 4 bytes
=========     at {function}+0x10 in {file}:{line}
=========     by thread ({thread},0,0) in block (0,0,0)
=========     Access to 0x{address:x} is out of bounds
=========
"""


def report(*bugs: tuple[str, int], end: bool = True, file: str = "/src/a.cu", function: str = "k(int *)") -> Report:
    reader = TextReportReader()
    text = "========= COMPUTE-SANITIZER\n" + "".join(
        RECORD.format(access=access, function=function, file=file, line=line, thread=number, address=4096 + number)
        for number, (access, line) in enumerate(bugs)
    )
    reader.feed((text + ("========= ERROR SUMMARY: 1 errors\n" if end else "")).encode())
    reader.finish()
    return reader.report


def test_new_gone_and_same() -> None:
    against = compare_reports(report(("read", 1), ("read", 2)), report(("read", 1), ("write", 9)))
    assert against.words() == "1 gone, 1 new, 1 as before"
    assert [group.title for group in against.gone] == ["read 4 B out of bounds  k :2"]


def test_an_edited_file_moves_a_bug() -> None:
    against = compare_reports(report(("read", 10)), report(("read", 12)))
    assert against.words() == "1 moved"
    assert against.new == ()


def test_a_line_is_not_moved_onto_a_bug_that_is_there_already() -> None:
    against = compare_reports(report(("read", 10), ("read", 20)), report(("read", 20), ("read", 25)))
    assert against.words() == "1 as before, 1 moved"


def test_paths_and_spelling_may_differ() -> None:
    old = report(("read", 3), file="/src/a.cu", function="void k<float>(T1 *)")
    new = report(("read", 3), file="a.cu", function="k<float>(float *)")
    assert compare_reports(old, new).words() == "1 as before"


def test_what_an_unfinished_run_does_not_show_is_not_gone() -> None:
    against = compare_reports(report(("read", 1)), report(end=False))
    assert against.words() == "1 not seen (the run is incomplete)"
    assert not comparison_json(against)["sure"]


def test_another_tool_does_not_make_a_bug_go() -> None:
    against = compare_reports(
        read_report([LOGS / "racecheck-analysis.log"]), read_report([LOGS / "memcheck-oob.log"])
    )
    assert against.words() == "1 new, 1 of another tool"


def test_a_report_is_the_same_as_itself() -> None:
    for path in LOGS.iterdir():
        one, other = read_report([path]), read_report([path])
        against = compare_reports(one, other)
        assert not against.new
        assert not against.gone
        assert all(now == before for now, before in against.same)


def test_bare_names() -> None:
    assert bare_name("void at::k<float, long>(T1 *, ...)") == "at::k<float,long>"
    assert bare_name("test(int*, int*)") == "test"
    assert (
        bare_name("a::(anonymous namespace)::k(int)") == bare_name("void a::<unnamed>::k(T1)") == "a::<unnamed>::k"
    )
    assert bare_name("unsigned int k(int) [clone .sass]") == "k"
    assert bare_name("void <unnamed>::reduce<(int)37>(int *)") == "<unnamed>::reduce<(int)37>"
    assert bare_name("void k<(bool)1, f<(int)2>>(T1 *)") == "k<(bool)1,f<(int)2>>"
    assert bare_name("") == ""
    assert bare_name("(x)") == "(x)"
