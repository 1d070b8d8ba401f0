"""What holds for the repository as a whole: sizes, names, and texts that are made from code."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("backends/ladder_backends", "tui/ladder_tui", "themes/ladder_themes", "demos/ladder_demos")
FORBIDDEN_NAMES = re.compile(r"(^|_)(utils?|helpers?|managers?|misc|common|data|info)(_|$)")
MOST_LINES = 500


def python_files() -> list[Path]:
    return [path for package in (*PACKAGES, "tests") for path in (ROOT / package).rglob("*.py")]


def test_no_file_has_grown_too_long() -> None:
    lengths = {str(path.relative_to(ROOT)): len(path.read_text("utf-8").splitlines()) for path in python_files()}
    assert {path: length for path, length in lengths.items() if length > MOST_LINES} == {}


def test_names_say_what_a_thing_is() -> None:
    names = {part for path in python_files() for part in (path.stem, path.parent.name)}
    assert [name for name in names if FORBIDDEN_NAMES.search(name)] == []


def test_top_level_holds_only_what_it_should() -> None:
    files = {"pyproject.toml", "README.md", "LICENSE", "CONTRIBUTING.md", "requirements.lock"}
    folders = {"tui", "backends", "demos", "tests", "themes"}
    found = {path.name for path in ROOT.iterdir() if not path.name.startswith(".")}
    assert found - {"build", "dist"} == files | folders


def test_files_that_the_readme_names_exist() -> None:
    for document in ("README.md", "CONTRIBUTING.md"):
        text = (ROOT / document).read_text("utf-8")
        links = re.findall(r"\]\(([^)#:]+)\)", text)
        scripts = re.findall(r"\b((?:demos|tests|tui|backends|themes)/[\w./-]*\w/?)(?=[\s`)])", text)
        for name in {name for name in (*links, *scripts) if "NAME" not in name}:
            assert (ROOT / name).exists(), f"{document} names {name}"


def test_ci_runs_the_test_command_of_the_readme() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    commands = re.findall(r"^```\n(.+?)\n```$", readme, re.MULTILINE | re.DOTALL)
    assert "tests/run" in commands
    script = (ROOT / ".ci" / "run").read_text("utf-8")
    assert script.splitlines()[-1] == "tests/run"


def test_lock_holds_hashes_and_no_addresses() -> None:
    text = (ROOT / "requirements.lock").read_text("utf-8")
    assert not re.search(r"https?:|--(extra-)?index|--find-links|@ ", text)
    pins = re.findall(r"^([A-Za-z0-9._-]+)==", text, re.MULTILINE)
    assert {"textual", "pygdbmi", "pytest", "ruff", "hatchling"} <= set(pins)
    blocks = re.split(r"\n(?=[A-Za-z0-9])", text)[1:]
    assert all("--hash=sha256:" in block for block in blocks)


def test_no_test_package_markers() -> None:
    assert list((ROOT / "tests").rglob("__init__.py")) == []


def test_recordings_of_tests_name_no_machine() -> None:
    named = [
        str(path.relative_to(ROOT))
        for path in (ROOT / "tests").rglob("*.jsonl")
        if re.search(rb"/(root|work|home/(?!user/))", path.read_bytes())
    ]
    assert named == []


def test_shipped_recordings_name_no_machine() -> None:
    from ladder_backends.case import open_files
    from ladder_backends.recording import read_recording
    from ladder_demos.catalogue import DEMOS, DemoKind

    for demo in (one for one in DEMOS if one.kind is DemoKind.CASE and one.shipped):
        for path in open_files([demo.path]).recordings:
            recording = read_recording(path)
            assert recording.argv[0] == "cuda-gdb"
            for entry in recording.entries:
                assert not re.search(rb"/(root|work|tmp|home/(?!user/))\b", entry.raw), (demo.name, entry.raw)
                assert b"New UI allocated" not in entry.raw
