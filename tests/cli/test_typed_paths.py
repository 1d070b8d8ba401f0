"""Paths as people type them."""

from pathlib import Path
from typing import Any

import pytest

from ladder_backends.paths import typed_path
from ladder_tui.screens.run_settings import settings_of
from ladder_tui.screens.start import read_opening

NOBODY = "~no-such-user-anywhere"


def test_a_home_folder_is_the_one_of_its_user(monkeypatch: Any) -> None:
    monkeypatch.setenv("HOME", "/home/somebody")
    assert typed_path(" ~/core ") == Path("/home/somebody/core")
    assert typed_path(f"{NOBODY}/core") == Path.cwd() / NOBODY / "core"


def test_a_user_that_there_is_none_of_is_no_failure_of_ours() -> None:
    with pytest.raises(Exception, match="no such folder") as refused:
        settings_of({"arguments": "", "environment": "", "directory": NOBODY, "stdin": "", "recordable": False})
    assert not isinstance(refused.value, RuntimeError)
    assert read_opening(f"{NOBODY}/core").files == (Path.cwd() / NOBODY / "core",)
