"""The wheel holds everything the console needs, and importing a part of it brings in no more than that part."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from ladder_tui import __version__

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("wheel")
    build = "import sys; from hatchling.build import build_wheel; print(build_wheel(sys.argv[1]))"
    done = subprocess.run(
        [sys.executable, "-c", build, str(out)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return out / done.stdout.splitlines()[-1]


def test_the_wheel_holds_data_as_well_as_code(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    assert wheel.name == f"ladder_tui-{__version__}-py3-none-any.whl"
    wanted = {
        "ladder_tui/cli/dispatch.py",
        "ladder_backends/py.typed",
        "ladder_themes/dark.toml",
        "ladder_themes/light.toml",
        "ladder_demos/cases/vector-add.ladder",
        "ladder_demos/programs/segfault.c",
        f"ladder_tui-{__version__}.dist-info/licenses/LICENSE",
    }
    assert wanted <= names
    assert not [name for name in names if name.startswith("tests") or "__pycache__" in name]
    on_disk = {
        str(path.relative_to(ROOT / folder))
        for folder in ("tui", "backends", "themes", "demos")
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and path.parent != ROOT / folder
    }
    assert on_disk <= names


def test_entry_points() -> None:
    (script,) = [entry for entry in entry_points(group="console_scripts") if entry.name == "ladder-tui"]
    assert script.load().__module__ == "ladder_tui.cli"
    assert {"gdb", "cuda-gdb"} <= {entry.name for entry in entry_points(group="ladder.debuggers")}


def imported(code: str) -> set[str]:
    """Names of the modules that a fresh interpreter holds after running `code`."""
    probe = f"import sys\n{code}\nprint('\\n'.join(sorted(sys.modules)), file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    return set(done.stderr.splitlines())


def packages(modules: set[str]) -> set[str]:
    return {name.split(".", 1)[0] for name in modules}


def test_help_imports_next_to_nothing() -> None:
    modules = imported("from ladder_tui.cli import main\nmain(['--help'])")
    assert not packages(modules) & {"textual", "rich", "asyncio", "importlib_metadata", "pygments", "watchfiles"}
    assert not modules & {"importlib.metadata", "argparse", "ladder_backends.session", "ladder_tui.app"}


def test_findings_imports_no_screen_and_no_engine(vector_add) -> None:
    log = str(vector_add.reports[0])
    modules = imported(f"from ladder_tui.cli import main\nassert main(['findings', {log!r}]) == 1")
    assert not packages(modules) & {"textual", "rich", "pygments", "watchfiles", "pygdbmi"}
    assert "ladder_backends.mi.session" not in modules


def test_backends_import_no_screen() -> None:
    rooms = [
        ".".join(path.relative_to(ROOT / "backends").with_suffix("").parts).removesuffix(".__init__")
        for path in (ROOT / "backends" / "ladder_backends").rglob("*.py")
        # Only gdb's own Python can run what is inside gdb.
        if path.parent.name != "inside"
    ]
    modules = imported("import importlib\n" + "\n".join(f"importlib.import_module({room!r})" for room in rooms))
    assert not packages(modules) & {"textual", "rich", "ladder_tui", "ladder_themes"}
