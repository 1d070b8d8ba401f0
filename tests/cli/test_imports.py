"""What is imported before the first paint, and by `--help`: everything else waits until it is asked for."""

from __future__ import annotations

import subprocess
import sys

import pytest

START = """
import ladder_tui.cli.dispatch, ladder_tui.cli.parser, ladder_tui.cli.output
import ladder_tui.cli.start, ladder_tui.cli.screen, ladder_tui.cli.headless
import ladder_backends.session.ladder, ladder_tui.app, ladder_tui.screens.start
"""
SESSION = "import ladder_backends.session.target_kind, ladder_backends.gdb, ladder_backends.session.debug_session"
HELP = "from ladder_tui.cli import main; main(['--help'])"

PARSERS = ("xml", "email", "importlib.metadata", "pygments", "watchfiles", "tomllib", "argparse", "json")
READERS = ("ladder_backends.sanitizer", "ladder_backends.recording")
ENGINES = ("ladder_backends.gdb", "ladder_backends.cuda_gdb", "ladder_backends.mi", "ladder_backends.images")
DIALOGS = ("ladder_tui.command_palette", "ladder_tui.screens.choice", "ladder_tui.screens.help")
UNSEEN = (
    "logging.handlers",
    "ladder_backends.model.finding",
    "ladder_backends.model.grid",
    "ladder_backends.session.alternatives",
)
PANES = ("ladder_tui.panes.source_pane", "ladder_tui.panes.findings_pane", "ladder_tui.panes.grid_pane")


@pytest.mark.parametrize(
    ("script", "unwanted"),
    [
        pytest.param(
            START,
            (*PARSERS, *READERS, *ENGINES, *DIALOGS, *PANES, *UNSEEN, "ladder_backends.case"),
            id="start screen",
        ),
        pytest.param(SESSION, (*READERS, "xml", "pygments", "ladder_backends.images.gpu_dump"), id="session"),
        pytest.param(
            HELP, ("asyncio", "dataclasses", "textual", "rich", "ladder_backends.session", "logging"), id="help"
        ),
    ],
)
def test_what_is_not_shown_is_not_imported(script: str, unwanted: tuple[str, ...]) -> None:
    shown = "\nimport sys; print('\\n'.join(sys.modules), file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", script + shown], capture_output=True, text=True, check=True)
    imported = done.stderr.split()
    assert [name for name in imported if any(f"{name}.".startswith(f"{one}.") for one in unwanted)] == []
