"""One table of rungs; a debugger of another package stands at its end without any change here."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from ladder_backends import rungs
from ladder_backends.debugger import registry
from ladder_backends.paths import ENGINE_VARIABLES, engine_variable, find_engine

FOREIGN = """
from ladder_backends.gdb import GdbDebugger

class Added(GdbDebugger):
    name = "{name}"
    rung = "{rung}"
    rung_answers = "which object, in its own words"
    rung_device = "{device}"
"""


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator:
    """Puts a package with a debugger where Python finds it, as an installer does."""
    monkeypatch.syspath_prepend(tmp_path)

    def put(name: str, rung: str = "", *, device: str = "", source: str = "") -> None:
        module = f"added_{name.replace('-', '_')}"
        (tmp_path / f"{module}.py").write_text(
            source or FOREIGN.format(name=name, rung=rung or name, device=device)
        )
        info = tmp_path / f"{module}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[{registry.GROUP}]\n{name} = {module}:Added\n")
        registry._entries.cache_clear()

    yield put
    registry._entries.cache_clear()
    rungs.add({})


def test_each_rung_is_told_apart() -> None:
    for part in ("key", "name", "short"):
        assert max(Counter(getattr(rung, part) for rung in rungs.OURS).values()) == 1, part
    assert [rung.key for rung in rungs.OURS] == list("012345")
    assert all(rung.answers for rung in rungs.OURS)


def test_what_is_asked_of_the_table() -> None:
    assert rungs.host_rung().name == "gdb"
    assert rungs.dump_rung() == rungs.device_rung("CUDA")
    assert rungs.findings_rung().engine == "compute-sanitizer"
    assert rungs.rung_at("3") == rungs.dump_rung()
    assert rungs.rung_at("") is rungs.rung_at(None) is None
    assert rungs.rung_named("nobody").missing == rungs.rung_named("nobody").key == ""
    assert rungs.dump_rung().place == "rung 3"
    assert rungs.debugger_list() == "gdb or cuda-gdb"


def test_engines_are_named_by_variables(monkeypatch) -> None:
    assert {"gdb", "cuda-gdb", "rocgdb", "compute-sanitizer"} <= ENGINE_VARIABLES.keys()
    assert engine_variable("cuda-gdb") == "LADDER_CUDA_GDB"
    assert engine_variable("my-gdb.2") == "LADDER_MY_GDB_2"
    monkeypatch.setenv("LADDER_MY_GDB", sys.executable)
    assert find_engine("my-gdb").origin == "LADDER_MY_GDB"


def test_an_added_debugger_stands_at_the_end(install) -> None:
    assert not registry.find_rungs()
    install("zz-lldb")
    install("aa-gpu", "agpu", device="HIP")
    assert registry.find_rungs()
    assert [(rung.key, rung.name) for rung in rungs.rungs()[-2:]] == [("6", "agpu"), ("7", "zz-lldb")]
    gpu, lldb = rungs.added()
    assert (gpu.debugger, gpu.layout, lldb.layout) == ("aa-gpu", rungs.Layout.DEVICE, rungs.Layout.HOST)
    assert lldb.answers == "which object, in its own words"
    assert lldb.opens == "ladder-tui run --rung zz-lldb PROGRAM"
    assert rungs.rung_at("7") == lldb
    assert not registry.find_rungs()


def test_one_that_serves_a_rung_of_ours_adds_none(install) -> None:
    install("better-gdb", "gdb")
    assert not registry.find_rungs()
    assert rungs.rung_named("gdb").debugger == "gdb"


@pytest.mark.parametrize(
    ("source", "why"),
    [("import no_such_thing", "ModuleNotFoundError"), ("Added = 3", "is no debugger")],
    ids=["import", "kind"],
)
def test_one_that_does_not_load_stands_there_and_says_why(install, source: str, why: str) -> None:
    install("broken", source=source)
    assert registry.find_rungs()
    (rung,) = rungs.added()
    assert (rung.name, rung.key) == ("broken", "6")
    assert why in rung.missing


def test_one_that_names_no_rung_says_so(install) -> None:
    source = "from ladder_backends.gdb import GdbDialect\nclass Added(GdbDialect):\n    name = 'half'\n"
    install("half", source=source)
    assert registry.find_rungs()
    assert "does not say which rung it serves" in rungs.added()[0].missing


def test_there_may_be_more_than_digits(install) -> None:
    for letter in "abcdef":
        install(f"{letter}-gdb")
    assert registry.find_rungs()
    assert [rung.key for rung in rungs.added()] == ["6", "7", "8", "9", "", ""]
    assert rungs.added()[-1].place == "the f-gdb rung"


def test_the_table_imports_no_debugger() -> None:
    script = (
        "import sys, ladder_backends.rungs, ladder_backends.paths;"
        "print([name for name in sys.modules if 'ladder_backends.debugger' in name or '.gdb' in name])"
    )
    answer = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=30)
    assert answer.stdout.strip() == "[]"


def test_nothing_else_tells_debuggers_apart_by_name() -> None:
    root = Path(rungs.__file__).parents[2]
    names = {rung.name for rung in rungs.OURS if rung.device or rung.debugger}
    named = [
        f"{file.relative_to(root)}:{node.lineno}"
        for folder in ("backends/ladder_backends/session", "backends/ladder_backends/debugger", "tui/ladder_tui")
        for file in sorted((root / folder).rglob("*.py"))
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Constant) and node.value in names
    ]
    assert named == []
