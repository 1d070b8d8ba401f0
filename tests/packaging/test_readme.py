"""What the README shows is what the console is."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture
def write_readme() -> ModuleType:
    spec = importlib.util.spec_from_file_location("write_readme", Path(__file__).with_name("write_readme.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_key_table_is_that_of_the_registry(write_readme: ModuleType) -> None:
    text = write_readme.README.read_text("utf-8")
    assert write_readme.with_keys(text) == text, "run tests/packaging/write_readme.py"


async def test_screenshot_is_what_the_screen_shows(
    write_readme: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLORTERM", "truecolor")
    monkeypatch.setenv("LADDER_CUDA_GDB", "")
    drawn = await write_readme.screenshot()
    assert drawn == write_readme.SCREENSHOT.read_text("utf-8"), "run tests/packaging/write_readme.py"


def test_the_readme_shows_the_screenshot(write_readme: ModuleType) -> None:
    text = write_readme.README.read_text("utf-8")
    assert f"]({write_readme.SCREENSHOT.relative_to(write_readme.README.parent)})" in text
