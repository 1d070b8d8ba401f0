"""Values of a Rust program, by paths in Rust's own words."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from ladder_backends.debugger import LaunchTarget, StepKind
from ladder_backends.debugger.facets.values import Wanted
from ladder_backends.gdb.rust_printers import LOADER, find_printers, settings_for_rust
from ladder_backends.model.breakpoint import BreakpointIntent
from ladder_backends.model.events import EngineNotice, TargetStopped

SOURCE = Path(__file__).parents[1] / "programs/shapes.rs"


@pytest.fixture(scope="module")
def shapes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rustc = shutil.which("rustc")
    if rustc is None:
        pytest.skip("no rustc: install rust")
    program = tmp_path_factory.mktemp("rust") / "shapes"
    subprocess.run([rustc, "-g", "-o", str(program), str(SOURCE)], check=True, timeout=120, capture_output=True)
    return program


async def test_values_of_rust(watched, shapes) -> None:
    line = next(number for number, text in enumerate(SOURCE.read_text().splitlines(), 1) if "stop here" in text)
    debugger = watched.debugger
    await debugger.open(LaunchTarget(shapes))
    await debugger.set_breakpoint(BreakpointIntent(1, f"shapes.rs:{line}"))
    await debugger.resume(StepKind.RUN)
    await watched.next(TargetStopped)
    for expression, expected in {
        "deep.shape": {"side": "7"},
        "circle": {"0": "1.5"},
        "empty": {},
        "deep.maybe": {"0": "4"},
        "deep.pair": {"0": "1", "1": "2"},
        "deep.boxed": {"x": "8", "y": "9"},
        "deep.cells": {"[0]": "1", "[1]": "2", "[2]": "3", "[3]": "4"},
        "*slice.data_ptr": {},
        "deep.points": {"[0]": "shapes::Point {x: 3, y: 4}", "[1]": "shapes::Point {x: 5, y: 6}"},
        "ages": {'["ann"]': "30"},
        "other": {"value": "shapes::Point {x: 1, y: 2}", "strong": "2", "weak": "0"},
    }.items():
        window = await debugger.values.children(expression, 0, 0, 20)
        assert {each.name: each.value for each in window.children} == expected, expression
        for child in window.children:
            (again,) = await debugger.values.read([Wanted(child.path)], 0)
            assert again.value == child.value
    through = await debugger.values.children("borrowed", 0, 0, 20)
    assert [each.name for each in through.children] == [
        "name", "points", "shape", "pair", "maybe", "boxed", "cells",
    ]  # fmt: skip
    assert through.children[0].value == '"hello"'
    assert (await debugger.values.assign("total", 0, "41")).value == "41"
    variables = {each.name: each for each in (await debugger.variables(0, 50)).variables}
    assert variables["deep"].children
    assert variables["borrowed"].children
    assert not variables["total"].children
    assert (variables["text"].value, variables["text"].children) == ('"h\u00e9llo"', False)
    assert not watched.all(EngineNotice)


def test_printers_are_found_beside_the_compiler(tmp_path, monkeypatch) -> None:
    def install(prefix: str) -> Path:
        folder = tmp_path / prefix / "lib/rustlib/etc"
        folder.mkdir(parents=True)
        (folder / LOADER).touch()
        return folder

    monkeypatch.setattr("ladder_backends.gdb.rust_printers._PREFIXES", (str(tmp_path / "usr"),))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("RUSTUP_HOME", str(tmp_path / "rustup"))
    monkeypatch.delenv("RUSTUP_TOOLCHAIN", raising=False)
    assert (find_printers(), settings_for_rust()) == (None, ())
    distribution = install("usr")
    assert find_printers() == distribution
    install("rustup/toolchains/nightly-x")
    stable = install("rustup/toolchains/a-stable")
    (tmp_path / "rustup/settings.toml").write_text('version = "12"\ndefault_toolchain = "a-stable"\n')
    assert find_printers() == stable
    assert all(str(stable) in command for command in settings_for_rust())
    # A folder that commands cannot name is passed over.
    monkeypatch.setenv("RUSTUP_HOME", str(tmp_path / "odd folder"))
    install("odd folder/toolchains/x")
    assert find_printers() == distribution
