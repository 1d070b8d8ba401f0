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
