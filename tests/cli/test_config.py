"""Settings: strict, and each value knows where it comes from."""

from __future__ import annotations

from pathlib import Path

import pytest

from ladder_backends.errors import SettingInvalid
from ladder_backends.paths import config_file, configure_engines, find_engine, state_dir
from ladder_tui.config import load_settings


def write(text: str) -> Path:
    file = config_file()
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def test_without_a_file_everything_is_built_in() -> None:
    settings = load_settings()
    assert (settings.theme, settings.log_level, settings.source_roots) == ("dark", "warning", ())
    assert settings.origins["theme"] == "built in"


def test_flag_before_environment_before_file(monkeypatch: pytest.MonkeyPatch) -> None:
    write('theme = "from-file"\n')
    assert (load_settings().theme, load_settings().origins["theme"]) == ("from-file", "config.toml")
    monkeypatch.setenv("LADDER_THEME", "from-environment")
    assert (load_settings().theme, load_settings().origins["theme"]) == ("from-environment", "LADDER_THEME")
    settings = load_settings(theme="from-flag")
    assert (settings.theme, settings.origins["theme"]) == ("from-flag", "--theme")


def test_threads_stop_together_unless_the_file_says_otherwise() -> None:
    assert not load_settings().non_stop
    write("non_stop = true\n")
    assert load_settings().non_stop
    assert load_settings().origins["non_stop"] == "config.toml"
    assert load_settings().at_fork == "parent"
    write('at_fork = "both"\n')
    assert (load_settings().at_fork, load_settings().origins["at_fork"]) == ("both", "config.toml")


def test_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    write('source_roots = ["~/src"]\n[engines]\ngdb = "/opt/gdb"\n[keys]\n"run.next" = "n,f10"\n')
    settings = load_settings()
    assert settings.engines == {"gdb": "/opt/gdb"}
    assert settings.keys == {"run.next": "n,f10"}
    assert settings.source_roots == (str(Path("~/src").expanduser()),)
    assert settings.origins["engines.gdb"] == "config.toml"
    monkeypatch.setenv("LADDER_GDB", "/other/gdb")
    assert load_settings().origins["engines.gdb"] == "LADDER_GDB"


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ('colour = "red"', "colour is not a setting"),
        ('[engines]\nlldb = "/x"', "engines.lldb is not a setting"),
        ("theme = 3", "theme is of the wrong kind"),
        ('non_stop = "yes"', "non_stop is of the wrong kind"),
        ('at_fork = "all"', "at_fork is 'all': it can be parent, child, both"),
        ("keys = 3", "keys is of the wrong kind"),
        ("[keys]\nnext = 3", "keys.next is of the wrong kind"),
        ("source_roots = [1]", "source_roots is of the wrong kind"),
        ('log_level = "loud"', "log_level is 'loud'"),
        ("theme =", "is not TOML"),
        ('"\\u001b[2J" = 1', "is not a setting"),
    ],
)
def test_what_is_not_understood_is_an_error_that_names_file_and_key(text: str, what: str) -> None:
    file = write(text)
    with pytest.raises(SettingInvalid) as caught:
        load_settings()
    line = caught.value.line()
    assert what in line
    assert str(file) in line
    assert "\x1b" not in line


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    config_file().mkdir(parents=True)
    with pytest.raises(SettingInvalid, match="cannot be read"):
        load_settings()
    other = tmp_path / "latin1.toml"
    other.write_bytes(b'theme = "\xe9"')
    with pytest.raises(SettingInvalid, match="not UTF-8"):
        load_settings(file=other)


def test_a_relative_xdg_path_is_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", "relative")
    assert state_dir().is_absolute()


def program(file: Path) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("#!/bin/sh\n")
    file.chmod(0o755)
    return file


def test_engines_are_found_in_the_agreed_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LADDER_CUDA_GDB", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    assert find_engine("cuda-gdb").missing == "cuda-gdb is not on PATH"

    installed = program(tmp_path / ".data" / "ladder-tui" / "cuda-gdb" / "bin" / "cuda-gdb")
    assert (find_engine("cuda-gdb").path, find_engine("cuda-gdb").origin) == (installed, "installer")

    on_path = program(tmp_path / "bin" / "cuda-gdb")
    assert (find_engine("cuda-gdb").path, find_engine("cuda-gdb").origin) == (on_path, "PATH")

    configured = program(tmp_path / "configured")
    configure_engines({"cuda-gdb": str(configured)})
    assert (find_engine("cuda-gdb").path, find_engine("cuda-gdb").origin) == (configured, "config.toml")

    named = program(tmp_path / "named")
    monkeypatch.setenv("LADDER_CUDA_GDB", str(named))
    assert (find_engine("cuda-gdb").path, find_engine("cuda-gdb").origin) == (named, "LADDER_CUDA_GDB")


@pytest.mark.parametrize(("make", "why"), [(False, "does not exist"), (True, "not an executable file")])
def test_a_named_engine_that_is_unusable_is_not_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make: bool, why: str
) -> None:
    file = tmp_path / "gdb"
    if make:
        file.write_text("")
    monkeypatch.setenv("LADDER_GDB", str(file))
    found = find_engine("gdb")
    assert found.path is None
    assert found.missing == f"LADDER_GDB names {file}, which {'is ' if make else ''}{why}"


def test_the_engine_of_an_added_debugger_is_a_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    from ladder_backends.debugger import registry

    monkeypatch.setattr(registry, "debugger_names", lambda: ("gdb", "lldb-mi"))
    write('[engines]\nlldb-mi = "/opt/lldb-mi"\n')
    assert load_settings().engines == {"lldb-mi": "/opt/lldb-mi"}
    assert load_settings().origins["engines.lldb-mi"] == "config.toml"
    configure_engines(load_settings().engines)
    assert find_engine("lldb-mi").missing == "config.toml names /opt/lldb-mi, which does not exist"
    monkeypatch.setenv("LADDER_LLDB_MI", "/other")
    assert load_settings().origins["engines.lldb-mi"] == "LADDER_LLDB_MI"
