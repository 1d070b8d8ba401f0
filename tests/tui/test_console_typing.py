"""Typing into the console: editing, history, completion."""

from pathlib import Path

import pytest

from ladder_tui.panes.console_completion import MAX_SHOWN, Completion
from ladder_tui.panes.console_history import LIMIT, ConsoleHistory, history_file
from ladder_tui.widgets.line_editor import MAX_LENGTH, LineEditor


def typed(*keys: str) -> LineEditor:
    editor = LineEditor()
    for key in keys:
        if len(key) == 1:
            editor.press(key, key)
        elif " " in key or not editor.press(key, None):
            editor.insert(key)
    return editor


@pytest.mark.parametrize(
    ("keys", "text", "position"),
    [
        (("print i",), "print i", 7),
        (("print i", "ctrl+a", "x"), "xprint i", 1),
        (("print i", "home", "ctrl+k"), "", 0),
        (("print i", "left", "left", "ctrl+u"), " i", 0),
        (("print *foo->bar", "ctrl+w"), "print ", 6),
        (("print foo->bar ", "alt+backspace"), "print foo->", 11),
        (("a b c", "alt+b", "alt+b", "alt+d"), "a  c", 2),
        (("print i", "ctrl+u", "ctrl+y", "ctrl+y"), "print iprint i", 14),
        (("pritn", "ctrl+t"), "print", 5),
        (("ab", "ctrl+a", "ctrl+d"), "b", 0),
        (("ab", "left", "backspace"), "b", 0),
        (("ab", "left", "delete", "end"), "a", 1),
        (("日本", "backspace"), "日", 1),
        (("left", "backspace", "delete", "ctrl+w", "ctrl+t"), "", 0),
    ],
)
def test_editing(keys: tuple[str, ...], text: str, position: int) -> None:
    editor = typed(*keys)
    assert (editor.text, editor.position) == (text, position)


def test_keys_of_no_editor_are_left_to_others() -> None:
    editor = LineEditor()
    assert not editor.press("enter", "\r")
    assert not editor.press("ctrl+c", "\x03")
    assert not editor.press("f5", None)
    assert editor.text == ""


def test_a_line_has_an_end() -> None:
    editor = LineEditor()
    editor.insert("x" * 10_000)
    assert len(editor.text) == MAX_LENGTH


def test_walking_keeps_the_unfinished_line() -> None:
    history = ConsoleHistory()
    for line in ("break main", "run", "run", "  secret", ""):
        history.add(line)
    assert history.lines == ["break main", "run"]
    assert history.walk(-1, "print") == "run"
    assert history.walk(-1, "run") == "break main"
    assert history.walk(-1, "break main") is None
    assert history.walk(1, "break main") == "run"
    assert history.walk(1, "run") == "print"
    assert history.walk(1, "print") is None


def test_searching_goes_back_in_time() -> None:
    history = ConsoleHistory()
    for line in ("info cuda lanes", "print i", "info locals"):
        history.add(line)
    newest = history.search("INFO")
    assert newest == 2
    assert history.search("info", newest) == 0
    assert history.search("info", 0) is None


def test_history_lasts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    file = history_file("cuda-gdb")
    assert file == tmp_path / "ladder-tui/history/cuda-gdb"
    assert history_file("../../etc/x").parent == file.parent
    one, other = ConsoleHistory(file), ConsoleHistory(file)
    one.add("print i")
    other.add("print \x1b[31mn\u202e")
    assert ConsoleHistory(file).lines == ["print i", r"print ␛[31mn\u202e"]
    assert file.stat().st_mode & 0o777 == 0o600


def test_a_long_or_broken_history_is_cut_and_read(tmp_path: Path) -> None:
    file = tmp_path / "gdb"
    file.write_bytes(b"\xff\xfe\x00broken\n" + b"".join(b"line %d\n" % number for number in range(LIMIT + 50)))
    history = ConsoleHistory(file)
    assert len(history.lines) == LIMIT
    assert history.lines[-1] == f"line {LIMIT + 49}"
    assert len(file.read_bytes().splitlines()) == LIMIT
    file.write_bytes(b"x" * (3 << 20) + b"\nlast\n")
    assert ConsoleHistory(file).lines[-1] == "last"


def test_no_place_for_history_is_no_failure(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    history = ConsoleHistory(blocked / "gdb")
    history.add("run")
    assert history.lines == ["run"]


def test_completion_goes_as_far_as_candidates_agree() -> None:
    completion = Completion("info l", "", ("info line", "info locals"))
    assert completion.line == "info l"
    assert not completion.finished
    completion = Completion("inf", "", ("info line", "info locals"))
    assert completion.line == "info l"
    completion.cycle()
    assert completion.line == "info line"
    completion.cycle()
    completion.cycle()
    assert completion.line == "info line"
    completion.cycle(-1)
    assert completion.line == "info locals"
    assert completion.words() == ["line", "locals"]


def test_completion_of_one_or_none() -> None:
    only = Completion("info loc", "", ("info locals",))
    assert only.finished
    assert only.line == "info locals"
    none = Completion("xyzzy", "", ())
    assert none.finished
    assert none.line == "xyzzy"
    none.cycle()
    assert none.line == "xyzzy"


def test_completion_is_bounded() -> None:
    completion = Completion("b ", "", [f"b f{number}" for number in range(100_000)])
    assert len(completion.candidates) == MAX_SHOWN
    assert completion.more == 100_000 - MAX_SHOWN
    assert completion.line == "b f"
