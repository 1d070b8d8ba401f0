from __future__ import annotations

from ladder_backends.mi.environment import engine_environment, withheld

BASE = {
    "PATH": "/bin",
    "TERM": "xterm-256color",
    "PYTHONHOME": "/python",
    "CONDA_PREFIX": "/conda",
    "VIRTUAL_ENV": "/venv",
    "LINES": "40",
    "DEBUGINFOD_URLS": "http://example.invalid/",
}
LOADER = {
    "LD_PRELOAD": "/lib/mine.so",
    "LD_BIND_NOW": "1",
    "LD_HWCAP_MASK": "0",
    "GLIBC_TUNABLES": "glibc.malloc.check=3",
    "MALLOC_PERTURB_": "165",
}


def test_what_harms_an_engine_is_kept_from_it() -> None:
    environment = engine_environment(BASE, {"ADDED": "1", "PATH": None})
    assert environment == {"TERM": "dumb", "DEBUGINFOD_URLS": "", "ADDED": "1"}


def test_the_program_gets_it_back() -> None:
    assert withheld(BASE) == {
        "PYTHONHOME": "/python",
        "CONDA_PREFIX": "/conda",
        "VIRTUAL_ENV": "/venv",
        "TERM": "xterm-256color",
        "DEBUGINFOD_URLS": "http://example.invalid/",
    }
    assert withheld({}) == {"TERM": None, "DEBUGINFOD_URLS": None}


def test_what_steers_the_loader_or_the_allocator_is_for_the_program_alone() -> None:
    assert engine_environment(LOADER, {}) == {"TERM": "dumb", "DEBUGINFOD_URLS": ""}
    assert withheld(LOADER) == {**LOADER, "TERM": None, "DEBUGINFOD_URLS": None}


def test_whether_an_engine_needs_its_library_path_is_not_known_here() -> None:
    libraries = {"LD_LIBRARY_PATH": "/opt/lib"}
    assert engine_environment(libraries, {})["LD_LIBRARY_PATH"] == "/opt/lib"
    assert "LD_LIBRARY_PATH" not in engine_environment(libraries, {"LD_LIBRARY_PATH": None})
