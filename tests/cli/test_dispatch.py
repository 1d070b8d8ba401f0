"""Which command a line means, and what a person reads when it means none."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from ladder_tui.cli import dispatch as cli_dispatch
from ladder_tui.cli.commands import COMMANDS, LATER
from ladder_tui.cli.failure import guarded
from ladder_tui.cli.option_parser import Parser
from ladder_tui.cli.parser import Defaults
from ladder_tui.cli.words import split_options
from ladder_tui.log_file import log_path


@pytest.mark.parametrize(
    ("line", "options", "rest"),
    [
        ("prog -x --json", "", "prog -x --json"),
        ("--rung gdb prog -x", "--rung gdb", "prog -x"),
        ("--json --record out.jsonl prog --record x", "--json --record out.jsonl", "prog --record x"),
        ("--theme=light prog", "--theme=light", "prog"),
        ("--json -- findings", "--json", "findings"),
        ("-- -x", "", "-x"),
        ("--json", "--json", ""),
        ("", "", ""),
    ],
)
def test_our_options_come_before_the_program(line: str, options: str, rest: str) -> None:
    split = split_options(line.split())
    assert (split.options, split.rest) == (options.split(), rest.split())


@pytest.mark.parametrize(
    ("line", "command", "words"),
    [
        ("./prog -x", "run", "./prog -x"),
        ("run ./prog -x", "run", "./prog -x"),
        ("-- findings -x", "run", "-- findings -x"),
        ("run -- findings", "run", "-- findings"),
        ("findings log --json", "findings", "log --json"),
        ("--json findings log", "findings", "--json log"),
        ("--rung gdb ./findings", "run", "--rung gdb ./findings"),
        ("--theme light", "", "--theme light"),
        ("", "", ""),
    ],
)
def test_which_command(line: str, command: str, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    called: list[tuple[str, list[str]]] = []
    monkeypatch.setattr(cli_dispatch, "_run", lambda command, words: called.append((command.name, words)) or 0)
    assert cli_dispatch.dispatch(line.split()) == 0
    assert called == [(command, words.split())]


@pytest.mark.parametrize(("word", "meant"), [("findngs", "findings"), ("opne", "open"), ("Jump", "jump")])
def test_a_word_like_a_command_is_no_program(ladder_tui, word: str, meant: str) -> None:
    answer = ladder_tui(word, "x.log")
    assert answer.code == 2
    assert answer.complaint == f"ladder-tui: cannot run {word}: there is no such file — did you mean {meant}?"


def test_a_program_may_be_called_almost_like_a_command(ladder_tui, tmp_path: Path) -> None:
    (tmp_path / "findngs").write_text("print()\n")
    assert "did you mean" not in ladder_tui("findngs").complaint
    assert "did you mean" not in ladder_tui("no-such-program-here").complaint
    assert "did you mean" not in ladder_tui("run", "findngs").complaint


def test_help_names_every_command(ladder_tui) -> None:
    answer = ladder_tui("--help")
    assert (answer.code, answer.err) == (0, "")
    for name in COMMANDS:
        assert f"\n  {name} " in answer.out
    assert all(len(line) <= 80 for line in answer.out.splitlines())


def test_help_names_every_option_of_a_program(ladder_tui) -> None:
    answer, of_run = ladder_tui("--help").out, ladder_tui("run", "--help").out
    options = set(re.findall(r"^  (--[a-z-]+)", of_run, re.MULTILINE))
    assert {"--cwd", "--env", "--stdin", "--non-stop", "--stop-at-main"} <= options
    assert sorted(option for option in options if f"\n  {option} " not in answer) == []


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(ladder_tui, name: str) -> None:
    answer = ladder_tui(name, "--help")
    assert answer.code == 0
    assert answer.out.startswith(f"usage: ladder-tui {name}")


@pytest.mark.parametrize("name", LATER)
def test_commands_of_a_later_version_say_so(ladder_tui, name: str) -> None:
    answer = ladder_tui(name)
    assert answer.code == 2
    assert f"{name} is not in this version" in answer.complaint


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["findings"], "the following arguments are required"),
        (["findings", "--colour", "x"], "unrecognized arguments: --colour"),
        (["config", "edit"], "invalid choice"),
        (["jump", "--block", "a,b", "--dump", "x"], "not a coordinate"),
        (["run"], "no program"),
        (["./gone"], "gone: it does not exist"),
    ],
)
def test_a_line_that_is_not_understood_is_one_line(ladder_tui, words: list[str], why: str) -> None:
    answer = ladder_tui(*words)
    assert answer.code == 2
    assert answer.out == ""
    assert why in answer.complaint


def test_version(ladder_tui) -> None:
    assert ladder_tui("--version").out.startswith("ladder-tui 0.")


def test_an_unexpected_error_is_one_line_and_its_traceback_is_in_the_log(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def broken(words: list[str]) -> int:
        raise RuntimeError("a\x1b[2J\nb")

    assert guarded(broken, []) == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert "\x1b" not in err
    assert str(log_path()) in err
    assert "in broken" in log_path().read_text()


def test_an_unwritable_state_folder_does_not_hide_the_error(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    monkeypatch.setattr("ladder_tui.log_file._ROOT", "ladder-unwritable")

    def broken(words: list[str]) -> int:
        raise RuntimeError("boom")

    assert guarded(broken, []) == 2
    assert "boom" in capsys.readouterr().err


def test_a_reader_that_leaves_early_is_no_error() -> None:
    shell = f"{Path(sys.executable).parent}/ladder-tui --help | true"
    done = subprocess.run(["bash", "-c", shell], capture_output=True, text=True, check=True, timeout=30)
    assert done.stderr == ""


def test_output_that_the_terminal_cannot_hold(ladder_tui) -> None:
    environment = {"PYTHONIOENCODING": "ascii", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    answer = ladder_tui("demo", environment=environment)
    assert (answer.code, answer.err) == (0, "")
    assert os.fsencode(answer.out).isascii()


def test_config_path_and_show(ladder_tui) -> None:
    path = ladder_tui("config", "path").out.strip()
    assert path.endswith("ladder-tui/config.toml")
    shown = ladder_tui("config", "show", "--json").json
    assert next(iter(shown)) == "format"
    assert shown["path"] == path
    assert {"name": "theme", "value": "dark", "origin": "built in"} in shown["settings"]


def test_a_broken_config_stops_a_command_with_one_line(ladder_tui) -> None:
    file = Path(ladder_tui("config", "path").out.strip())
    file.parent.mkdir(parents=True)
    file.write_text("colour = 1\n")
    answer = ladder_tui("config", "show")
    assert answer.code == 2
    assert "colour is not a setting" in answer.complaint


@pytest.mark.parametrize("option", ["--bogus", "--json", "--record=x"])
def test_options_without_a_command_name_no_command_that_is_none(ladder_tui, option: str) -> None:
    answer = ladder_tui(option)
    assert (answer.code, answer.out) == (2, "")
    assert answer.complaint == f"ladder-tui: unrecognized arguments: {option} — see ladder-tui --help"


@pytest.mark.parametrize("words", ["--help", "config show", "findings {log}", "findings --json {log}"])
def test_a_full_disk_is_one_line(words: str, tmp_path: Path) -> None:
    log = tmp_path / "run.log"
    log.write_text("========= COMPUTE-SANITIZER\nx\n" * 10_000 + "========= ERROR SUMMARY: 0 errors\n")
    command = [sys.executable, "-m", "ladder_tui", *words.format(log=log).split()]
    with open("/dev/full", "wb") as full:
        answer = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
    assert answer.returncode == 2
    assert (
        answer.stderr == "ladder-tui: cannot write: No space left on device — free some space, or write elsewhere\n"
    )


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-", ">&- 2>&-"])
@pytest.mark.parametrize(("words", "code"), [("--help", 0), ("findings /gone.log", 2), ("config show --json", 0)])
def test_closed_streams_leave_no_traceback(words: str, code: int, closed: str) -> None:
    line = f"exec '{sys.executable}' -m ladder_tui {words} {closed}"
    answer = subprocess.run(["sh", "-c", line], capture_output=True, text=True, timeout=60)
    assert answer.returncode == code
    assert "Traceback" not in answer.stderr
    assert len(answer.stderr.splitlines()) == (1 if code and "2>" not in closed else 0)


@pytest.mark.parametrize("words", ["./prog", "prog", "run ../prog", "--json prog"])
def test_a_folder_that_is_gone_is_one_line(words: str, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    line = f"cd '{gone}' && rmdir '{gone}' && exec '{sys.executable}' -P -m ladder_tui {words}"
    answer = subprocess.run(
        ["sh", "-c", line], capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL
    )
    assert (answer.returncode, answer.stdout) == (2, "")
    assert answer.stderr.startswith("ladder-tui: ")
    assert len(answer.stderr.splitlines()) == 1
    assert "unexpected" not in answer.stderr


@pytest.mark.parametrize("name", COMMANDS)
def test_no_options_mean_what_the_parser_makes_of_none(name: str) -> None:
    command = COMMANDS[name]
    module = import_module(command.module)
    defaults, parser = Defaults(), Parser(command.name, command.summary, command.usage)
    module.configure(defaults)
    module.configure(parser)
    if defaults.suffices:
        assert defaults.values == vars(parser.parse_args([]))
    assert defaults.suffices or name not in ("run", "sanitize")
