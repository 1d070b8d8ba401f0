"""The ledger on the screen: what is shown, flipped, and kept for good."""

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ladder_backends import let_in
from ladder_backends.errors import SettingInvalid
from ladder_backends.model.ledger import Kind, LedgerEntry, Scope
from ladder_backends.model.provenance import Provenance
from ladder_backends.paths import config_file
from ladder_backends.session.state import Change, Run
from ladder_tui.config import load_settings
from ladder_tui.config_edit import with_list, write_list

ENTRIES = (
    LedgerEntry("debuginfod", Kind.SETTING, Scope.ENGINE, "off", "on", "off", "a dead server holds up the start"),
    LedgerEntry("print elements", Kind.SETTING, Scope.ENGINE, "200", "200", "unlimited", "long values take long"),
    LedgerEntry(
        "mi-async", Kind.SETTING, Scope.ENGINE, "on", "off", "on", "stopping", fixed="nothing could stop it"
    ),
    LedgerEntry("~/.gdbinit", Kind.FILE, Scope.ENGINE, "not read", "read at start", "not read", "hooks in the way"),
    LedgerEntry(
        "PYTHONPATH",
        Kind.VARIABLE,
        Scope.ENGINE,
        "for the program only",
        "/x",
        "for the program only",
        "py",
        later=True,
    ),
    LedgerEntry(
        "TERM", Kind.VARIABLE, Scope.PROGRAM, "xterm-256color", "screen", "xterm-256color", "ours", later=True
    ),
)


@pytest.fixture(autouse=True)
def nothing_let_in() -> Iterator[None]:
    let_in.configure_let_in(())
    yield
    let_in.configure_let_in(())


@pytest.fixture
def ledger(segfault: Any) -> Any:
    segfault.active.state.ledger.entries = ENTRIES
    segfault.active.state.ledger.read = True
    return segfault


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)])
async def test_everything_in_one_place(ledger: Any, show: Any, size: tuple[int, int]) -> None:
    async with show(ledger, size) as view:
        await view.press("w", "e", "z")
        text = view.text()
        for entry in ENTRIES:
            assert entry.name in text
        assert "fixed" in text
        assert "yours on" in text
        assert "unlimited" in text


async def test_the_ledger(ledger: Any, show: Any, shots: Any) -> None:
    async with show(ledger) as view:
        await view.press("w", "e", "z")
        shots.text(view.app, "environment")


async def test_it_is_asked_for_only_when_it_shows_and_only_once(segfault: Any, show: Any) -> None:
    async with show(segfault) as view:
        segfault.tell(Change.RUN)
        await view.settle()
        assert ("load_ledger",) not in segfault.active.asked
        await view.press("w", "e")
        assert segfault.active.asked.count(("load_ledger",)) == 1
        segfault.active.state.ledger.read = True
        segfault.tell(Change.RUN | Change.LEDGER)
        await view.settle()
        assert segfault.active.asked.count(("load_ledger",)) == 1


async def test_space_flips_and_enter_keeps_it_for_good(ledger: Any, show: Any) -> None:
    async with show(ledger) as view:
        await view.press("w", "e", "space")
        assert ("flip", "debuginfod") in ledger.active.asked
        let_in.let_in("debuginfod", True)
        ledger.tell(Change.LEDGER)
        await view.settle()
        assert "yours*" in view.text()
        assert "until the console ends" in view.text()
        await view.press("enter")
        assert tomllib.loads(config_file().read_text()) == {"environment": {"let_in": ["debuginfod"]}}
        assert load_settings().let_in == ("debuginfod",)
        assert "yours*" not in view.text()
        assert "let in for good" in view.text()
        await view.press("enter")
        assert "already" in view.text()
        let_in.let_in("debuginfod", False)
        await view.press("enter")
        assert load_settings().let_in == ()


async def test_a_click_on_what_holds_flips_it(ledger: Any, show: Any) -> None:
    async with show(ledger) as view:
        await view.press("w", "e", "z")
        await view.click("#environment", 3, 4)
        assert ("flip", "~/.gdbinit") in ledger.active.asked
        await view.click("#environment", 20, 2)
        assert len([one for one in ledger.active.asked if one[0] == "flip"]) == 1


async def test_a_file_that_cannot_be_changed_is_told(ledger: Any, show: Any) -> None:
    file = config_file()
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("environment = {let_in = []}\n")
    let_in.let_in("debuginfod", True)
    async with show(ledger) as view:
        await view.press("w", "e", "enter")
        # A long path may break the sentence over two lines anywhere.
        assert "cannot be changed" in " ".join(view.text().split())
        assert file.read_text() == "environment = {let_in = []}\n"


async def test_recordings_and_dead_engines_say_so_calmly(segfault: Any, show: Any) -> None:
    debug = segfault.active.state
    debug.provenance = Provenance.RECORDING
    debug.ledger.read = True
    async with show(segfault) as view:
        await view.press("w", "e")
        assert "a recording has no engine" in view.text()
        await view.press("space", "enter", "y")
        debug.provenance, debug.run, debug.ledger.read = Provenance.ENGINE, Run.DEAD, False
        debug.ledger.note = "the engine is gone"
        segfault.tell(Change.RUN)
        await view.settle()
        assert "the engine is gone" in view.text()
        assert ("load_ledger",) not in segfault.active.asked


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", '[environment]\nlet_in = ["a"]\n'),
        ('theme = "light"\n', 'theme = "light"\n\n[environment]\nlet_in = ["a"]\n'),
        (
            '# mine\n[environment] # here\n\nlet_in = ["b",\n  # two\n  "c"]  # kept\n[keys]\n"run.next" = "x"\n',
            '# mine\n[environment] # here\n\nlet_in = ["a"]  # kept\n[keys]\n"run.next" = "x"\n',
        ),
        ("[environment]\n[keys]\n", '[environment]\nlet_in = ["a"]\n[keys]\n'),
    ],
)
def test_only_the_value_changes(before: str, after: str) -> None:
    assert with_list(before, "environment", "let_in", ["a"]) == after


@pytest.mark.parametrize("text", ["environment = {}\n", "environment.let_in = []\n", "no toml"])
def test_what_is_not_understood_is_not_touched(text: str, tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text(text)
    with pytest.raises(SettingInvalid, match="cannot be changed"):
        write_list(file, "environment", "let_in", ["a"])
    assert file.read_text() == text


def test_hostile_names_and_links(tmp_path: Path) -> None:
    real, file = tmp_path / "dotfiles.toml", tmp_path / "config.toml"
    real.write_text("# mine\n")
    real.chmod(0o640)
    file.symlink_to(real)
    names = ['a"b', "c\\d", "e\x1b[2J\nf", "ü"]
    write_list(file, "environment", "let_in", names)
    assert file.is_symlink()
    assert real.stat().st_mode & 0o777 == 0o640
    assert real.read_text().startswith("# mine\n")
    assert tomllib.loads(real.read_text())["environment"]["let_in"] == names
