"""Values of a Rust program, by paths in Rust's own words."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from ladder_backends.debugger import LaunchTarget, StepKind
from ladder_backends.debugger.facets.values import Wanted
from ladder_backends.model.breakpoint import BreakpointIntent
from ladder_backends.model.events import TargetStopped

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
