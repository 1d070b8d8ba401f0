from __future__ import annotations

import os
from pathlib import Path

import pytest

from ladder_backends.session import source_index
from ladder_backends.session.sources import MOST_BYTES, SourceFinder, SourceState


def write(path: Path, content: str | bytes = "line 1\nline 2\n", *, at: float | None = None) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    if at is not None:
        os.utime(path, (at, at))
    return path


def test_the_very_file(tmp_path: Path) -> None:
    file = write(tmp_path / "a" / "kernel.cu")
    found = SourceFinder().find("kernel.cu", str(file))
    assert (found.state, found.path, found.lines, found.note) == (SourceState.FOUND, file, ("line 1", "line 2"), "")
    assert SourceFinder().find(str(file)).path == file


def test_a_basename_that_is_there_once_says_where_it_was_found(tmp_path: Path) -> None:
    file = write(tmp_path / "src" / "deep" / "kernel.cu")
    found = SourceFinder([tmp_path]).find("kernel.cu")
    assert (found.state, found.path) == (SourceState.FOUND, file)
    assert str(file) in found.note


def test_a_basename_that_is_there_twice_is_asked_for(tmp_path: Path) -> None:
    one, two = write(tmp_path / "a" / "kernel.cu"), write(tmp_path / "b" / "kernel.cu")
    finder = SourceFinder([tmp_path])
    found = finder.find("kernel.cu")
    assert (found.state, found.path, found.lines) == (SourceState.AMBIGUOUS, None, ())
    assert found.candidates == (one, two)
    assert "choose" in found.note
    finder.choose("kernel.cu", two)
    chosen = finder.find("kernel.cu")
    assert (chosen.state, chosen.path) == (SourceState.FOUND, two)


def test_folders_of_the_path_decide_between_two(tmp_path: Path) -> None:
    write(tmp_path / "src" / "a" / "kernel.cu")
    right = write(tmp_path / "src" / "b" / "kernel.cu")
    found = SourceFinder([tmp_path]).find("kernel.cu", "/build/job/src/b/kernel.cu")
    assert (found.state, found.path) == (SourceState.FOUND, right)
    assert "1 other file" in found.note
    undecided = SourceFinder([tmp_path]).find("kernel.cu", "/build/c/kernel.cu")
    assert undecided.state is SourceState.AMBIGUOUS


def test_two_ways_to_one_file_are_one(tmp_path: Path) -> None:
    file = write(tmp_path / "a" / "kernel.cu")
    (tmp_path / "z").mkdir()
    (tmp_path / "z" / "kernel.cu").symlink_to(file)
    found = SourceFinder([tmp_path, tmp_path / "a"]).find("kernel.cu")
    assert found.state is SourceState.FOUND


def test_what_is_nowhere_says_what_to_do(tmp_path: Path) -> None:
    finder = SourceFinder([tmp_path])
    for name in ("kernel.cu", "/elsewhere/kernel.cu"):
        found = finder.find(name)
        assert (found.state, found.lines) == (SourceState.MISSING, ())
        assert "add its folder to source_roots in the file that `ladder-tui config path` names" in found.note
        assert found.lost


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("kernel.ttgir", "intermediate code"),
        ("<stdin>", "typed or generated"),
        ("<ipython-input-3-abc>", "typed or generated"),
        ("", "names no source file"),
        ("a\0b.cu", "typed or generated"),
        ("..", "not below the source folders"),
    ],
)
def test_names_that_are_no_files(tmp_path: Path, name: str, words: str) -> None:
    found = SourceFinder([tmp_path]).find(name)
    assert found.state is SourceState.MISSING
    assert words in found.note
    assert found.lost is (name == "..")
    assert "\0" not in found.note + found.name


def test_a_source_newer_than_its_program_is_edited(tmp_path: Path) -> None:
    program = write(tmp_path / "prog", at=1_000_000)
    file = write(tmp_path / "kernel.cu", at=1_000_001)
    assert SourceFinder([], built=[program]).find(str(file)).state is SourceState.FOUND
    os.utime(file, (1_000_900, 1_000_900))
    found = SourceFinder([], built=[tmp_path / "missing", program]).find(str(file))
    assert (found.state, found.lines[0]) == (SourceState.EDITED, "line 1")
    assert found.note == "kernel.cu was edited after prog was made: lines may have moved"


def test_an_edit_while_it_is_open_is_seen(tmp_path: Path) -> None:
    program = write(tmp_path / "prog", at=1_000_000)
    file = write(tmp_path / "kernel.cu", at=999_000)
    finder = SourceFinder([], built=[program])
    first = finder.find(str(file))
    assert finder.find(str(file)).lines is first.lines
    write(file, "other\n", at=2_000_000)
    second = finder.find(str(file))
    assert (second.state, second.lines) == (SourceState.EDITED, first.lines)
    assert second.note == "kernel.cu was edited after prog was made: shown as it was then"
    assert finder.lines_now(str(file)) == ("other",)
    write(file, "third\n", at=2_000_500)
    assert SourceFinder([], built=[program]).find(str(file)).lines == ("third",)


def test_what_was_read_says_more_than_times(tmp_path: Path) -> None:
    program = write(tmp_path / "prog", at=1_000_000)
    file = write(tmp_path / "kernel.cu", at=999_000)
    finder = SourceFinder([], built=[program])
    finder.find(str(file))
    os.utime(file, (2_000_000, 2_000_000))
    assert finder.find(str(file)).state is SourceState.FOUND
    write(file, "edited in the second of the build\n", at=1_000_000)
    assert finder.find(str(file)).state is SourceState.EDITED


def test_a_source_is_judged_by_the_build_that_is_debugged(tmp_path: Path) -> None:
    program = write(tmp_path / "prog", at=1_000_000)
    file = write(tmp_path / "kernel.cu", at=999_000)
    finder = SourceFinder([], built=[program])
    finder.made_at(1_000_000)
    built_from = finder.find(str(file)).lines
    write(file, "other\n", at=2_000_000)
    write(program, at=2_000_100)
    assert finder.find(str(file)).state is SourceState.EDITED
    assert finder.find(str(file)).lines == built_from
    finder.made_at(2_000_100)
    assert (finder.find(str(file)).state, finder.find(str(file)).lines) == (SourceState.FOUND, ("other",))


def test_a_line_beyond_the_end_proves_an_edit(tmp_path: Path) -> None:
    file = write(tmp_path / "kernel.cu")
    assert SourceFinder().find(str(file), line=2).state is SourceState.FOUND
    found = SourceFinder().find(str(file), line=10)
    assert (found.state, "has 2 lines, so line 10" in found.note) == (SourceState.EDITED, True)


def test_a_case_carries_its_sources(tmp_path: Path) -> None:
    local = write(tmp_path / "vector_add.cu", "local\n")
    unpacked = write(tmp_path / "parts" / "uninit.cu", "carried\n", at=9_000_000_000)
    finder = SourceFinder(
        [tmp_path],
        embedded={"/home/user/ladder/vector_add.cu": "carried\nsecond\n", "/home/user/ladder/uninit.cu": unpacked},
        built=[local],
    )
    for name, fullname in (("vector_add.cu", ""), ("vector_add.cu", "/home/user/ladder/vector_add.cu")):
        found = finder.find(name, fullname)
        assert (found.state, found.lines, found.path) == (SourceState.FOUND, ("carried", "second"), None)
        assert found.note == "from the case"
    found = finder.find("uninit.cu", "/home/user/ladder/uninit.cu")
    assert (found.state, found.lines) == (SourceState.FOUND, ("carried",))
    assert finder.find("vector_add.cu", "/opt/other/vector_add.cu").lines == ("local",)


@pytest.mark.parametrize(
    ("content", "lines"),
    [
        (b"a\r\nb\r\n", ("a", "b")),
        (b"a\rb", ("a", "b")),
        ("\ufeffa\nä".encode(), ("a", "ä")),
        (b"gr\xfc\xdf\n", ("grüß",)),
        (b"a\x1b[31m\n\tb\x07", ("a␛[31m", "\tb␇")),
        ("a\u202eb\u2028c\n".encode(), ("a\\u202eb\\u2028c",)),
        (b"", ()),
        (b"\n\n", ("", "")),
    ],
)
def test_text_of_every_make(tmp_path: Path, content: bytes, lines: tuple[str, ...]) -> None:
    assert SourceFinder().find(str(write(tmp_path / "s.cu", content))).lines == lines


def test_binary_huge_and_odd_files(tmp_path: Path) -> None:
    binary = SourceFinder().find(str(write(tmp_path / "b.cu", b"\x7fELF\0\0")))
    assert (binary.state, "binary" in binary.note) == (SourceState.MISSING, True)
    huge = SourceFinder().find(str(write(tmp_path / "h.cu", b"x" * 9_000 + b"\n" + b"y\n" * (MOST_BYTES // 2))))
    assert len(huge.lines[0]) < 5_000
    assert "only the first 8 MiB" in huge.note
    os.mkfifo(tmp_path / "pipe.cu")
    assert SourceFinder([tmp_path]).find("pipe.cu").state is SourceState.MISSING
    assert SourceFinder().find(str(tmp_path)).state is SourceState.MISSING


def test_some_folders_are_never_searched(tmp_path: Path) -> None:
    write(tmp_path / "node_modules" / "kernel.cu")
    write(tmp_path / ".git" / "kernel.cu")
    right = write(tmp_path / "src" / "kernel.cu")
    assert SourceFinder([tmp_path]).find("kernel.cu").path == right


def test_the_walk_is_bounded_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(60):
        write(tmp_path / f"f{number}.cu")
    (tmp_path / "loop").symlink_to(tmp_path)
    monkeypatch.setattr(source_index, "MOST_ENTRIES", 30)
    finder = SourceFinder([tmp_path])
    states = {finder.find(f"f{number}.cu").state for number in range(60)}
    assert states == {SourceState.FOUND, SourceState.MISSING}
    found = next(each for number in range(60) if (each := finder.find(f"f{number}.cu")).state is SourceState.FOUND)
    assert "not all" in found.note


async def test_prepare_walks_ahead(tmp_path: Path) -> None:
    write(tmp_path / "kernel.cu")
    finder = SourceFinder([tmp_path])
    await finder.prepare()
    assert finder.find("kernel.cu").state is SourceState.FOUND


def test_a_program_that_is_built_again_is_of_the_edited_source(tmp_path: Path) -> None:
    file, program = write(tmp_path / "a.c", "old\n", at=1_000), write(tmp_path / "a", at=1_001)
    finder = SourceFinder(built=[program])
    assert finder.find(str(file)).state is SourceState.FOUND
    write(file, "new\nlines\n", at=2_000)
    assert finder.find(str(file)).state is SourceState.EDITED
    os.utime(program, (2_001, 2_001))
    found = finder.find(str(file))
    assert (found.state, found.note, found.lines) == (SourceState.FOUND, "", ("new", "lines"))


def test_a_text_that_cupy_compiled_is_in_no_file(tmp_path: Path) -> None:
    name = "/src/scratch/tmpa09e/129f7b636405fcdbcebc6c9792c5c40bc128bd49.cubin.cu"
    found = SourceFinder((tmp_path,)).find(name)
    assert found.state is SourceState.MISSING
    assert found.lost
    assert "no file holds that" in found.note
