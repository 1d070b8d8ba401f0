"""Debuggers are found through their entry points; one that fails is a reason, never an end."""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points

import pytest

from ladder_backends.cuda_gdb import CudaGdbDebugger
from ladder_backends.debugger import Debugger, registry
from ladder_backends.debugger.registry import debugger_names, load_debugger
from ladder_backends.errors import EngineMissing
from ladder_backends.gdb import GdbDebugger


def test_ours_are_registered_as_anyones() -> None:
    assert {"gdb", "cuda-gdb", "ranks"} <= set(debugger_names())
    assert load_debugger("gdb") is GdbDebugger
    assert load_debugger("cuda-gdb") is CudaGdbDebugger


def test_what_is_loaded_without_a_search_is_what_is_registered() -> None:
    registered = {entry.name: entry.value for entry in entry_points(group=registry.GROUP)}
    assert {name: registered[name] for name in registry._OURS} == registry._OURS


@pytest.mark.parametrize("name", ["gdb", "cuda-gdb"])
def test_each_keeps_the_contract(name: str) -> None:
    kind = load_debugger(name)
    assert issubclass(kind, Debugger)
    assert kind.name == name
    assert kind.focus_schema
    # Nothing is abstract any more.
    kind()


@pytest.mark.parametrize(
    ("value", "line"),
    [
        ("no_such_package:Thing", "the debugger 'mine' does not load: ModuleNotFoundError"),
        ("json:no_such_name", "the debugger 'mine' does not load: AttributeError"),
        ("json:JSONDecoder", "json:JSONDecoder is no debugger: it does not derive from Debugger"),
    ],
)
def test_a_foreign_one_that_is_broken_says_so_in_one_line(monkeypatch, value: str, line: str) -> None:
    entry = EntryPoint("mine", value, registry.GROUP)
    monkeypatch.setattr(registry, "_entries", lambda: {"mine": entry})
    with pytest.raises(EngineMissing) as missing:
        load_debugger("mine")
    assert missing.value.line().startswith(line)


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(EngineMissing, match="registered are cuda-gdb, gdb"):
        load_debugger("nothing\x1b")
