"""A real terminal: tmux with a server of its own, so that no other session on this machine is touched."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest

_BESIDE = Path(sys.executable).parent / "ladder-tui"
COMMAND = _BESIDE if _BESIDE.exists() else Path(shutil.which("ladder-tui") or _BESIDE)
PATIENCE = 25.0
"""Seconds until a screen that never comes is given up; a machine under load is slow, not wrong."""

_POLL = 0.05
_VARIABLES = re.compile(r"XDG_|LADDER_|HOME$|PATH$|LANG$|LC_|PYTHON|CC$|TMPDIR$")


class Terminal:
    """One tmux pane: type, click, and read what is on the screen."""

    def __init__(self, columns: int, rows: int, folder: Path) -> None:
        self.columns = columns
        self.rows = rows
        self._socket = f"ladder-{uuid.uuid4().hex[:12]}"
        self._folder = folder

    def _tmux(self, *words: str) -> str:
        done = subprocess.run(
            ["tmux", "-L", self._socket, "-f", "/dev/null", *words],
            capture_output=True,
            text=True,
            timeout=20,
            check=False,
            env={**os.environ, "TERM": "xterm-256color"},
        )
        return done.stdout

    def start(
        self,
        *words: str | Path,
        terminal: str = "tmux-256color",
        command: tuple[str | Path, ...] = (COMMAND,),
        **variables: str,
    ) -> None:
        """Run `ladder-tui` with these words in a new pane; the pane stays when it ends and shows its exit code."""
        kept = {name: value for name, value in os.environ.items() if _VARIABLES.match(name)}
        environment = {**kept, "TERM": terminal, "LANG": "C.UTF-8", **variables}
        clean = shlex.join(["env", "-i", *(f"{name}={value}" for name, value in environment.items())])
        line = f"{clean} {shlex.join(map(str, (*command, *words)))}; echo EXIT=$?; exec sleep 600"
        self._tmux(
            "new-session", "-d", "-x", str(self.columns), "-y", str(self.rows), "-c", str(self._folder), line
        )  # fmt: skip
        self._tmux("set-option", "-g", "status", "off")
        self._tmux("resize-window", "-x", str(self.columns), "-y", str(self.rows))

    def screen(self, *, colours: bool = False) -> list[str]:
        """The lines on the screen; with `colours`, with their escape sequences."""
        text = self._tmux("capture-pane", "-p", *(["-e"] if colours else []))
        return text.split("\n")[: self.rows]

    def text(self) -> str:
        """The screen as one piece of text."""
        return "\n".join(self.screen())

    def wait(self, shown: str | Callable[[list[str]], bool], patience: float = PATIENCE) -> list[str]:
        """Poll until the screen holds a text, or satisfies a condition; returns the screen."""
        deadline = time.monotonic() + patience
        while True:
            lines = self.screen()
            found = any(shown in line for line in lines) if isinstance(shown, str) else shown(lines)
            if found:
                return lines
            if time.monotonic() > deadline:
                what = repr(shown) if isinstance(shown, str) else "what was waited for"
                raise AssertionError(f"{what} is not on the screen:\n" + "\n".join(lines))
            time.sleep(_POLL)

    def gone(self, shown: str) -> list[str]:
        """Poll until the screen no longer holds a text."""
        return self.wait(lambda lines: not any(shown in line for line in lines))

    def press(self, *keys: str) -> None:
        """Press keys by tmux's names: `Enter`, `Down`, `C-c`, `q`."""
        self._tmux("send-keys", *keys)

    def write(self, text: str) -> None:
        """Type a text as it stands."""
        self._tmux("send-keys", "-l", text)

    def click(self, column: int, row: int) -> None:
        """Press and release the left button on a cell, counted from 0."""
        self.write(f"\x1b[<0;{column + 1};{row + 1}M")
        self.write(f"\x1b[<0;{column + 1};{row + 1}m")

    def click_on(self, text: str, nth: int = 0) -> None:
        """Click on the nth place, from the top, where the screen shows a text."""
        places = [(line.index(text), row) for row, line in enumerate(self.screen()) if text in line]
        assert len(places) > nth, f"{text!r} is not on the screen {nth + 1} times:\n{self.text()}"
        self.click(places[nth][0] + len(text) // 2, places[nth][1])

    def resize(self, columns: int, rows: int) -> None:
        """Give the terminal another size."""
        self.columns, self.rows = columns, rows
        self._tmux("resize-window", "-x", str(columns), "-y", str(rows))

    def exit_code(self, patience: float = PATIENCE) -> int:
        """Wait for the end of the command."""
        lines = self.wait("EXIT=", patience)
        return int(next(match.group(1) for line in lines if (match := re.search(r"EXIT=(\d+)", line))))

    def processes(self) -> dict[int, str]:
        """Every process below the pane's shell, with its command line."""
        root = int(self._tmux("display-message", "-p", "#{pane_pid}").strip())
        return descendants(root)

    def application(self) -> int:
        """The process of `ladder-tui` itself."""
        found = [one for one, words in self.processes().items() if f"{COMMAND} " in f"{words} "]
        assert found, "ladder-tui does not run in this terminal"
        return max(found)

    def all_dead(self, processes: Iterable[int], patience: float = PATIENCE) -> bool:
        """Poll until none of the processes lives."""
        return not wait_until_dead(set(processes), patience)

    def close(self) -> None:
        """End this server and no other."""
        self._tmux("kill-server")


def descendants(root: int) -> dict[int, str]:
    """Processes that descend from `root`, with their command lines."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                status = (entry / "stat").read_text()
            except OSError:
                continue
            parents[int(entry.name)] = int(status.rpartition(")")[2].split()[1])
    found: dict[int, str] = {}
    for process in parents:
        ancestor = process
        while ancestor and ancestor != root:
            ancestor = parents.get(ancestor, 0)
        if ancestor == root and process != root:
            try:
                words = (Path("/proc") / str(process) / "cmdline").read_bytes().replace(b"\0", b" ")
            except OSError:
                continue
            found[process] = words.decode("utf-8", "backslashreplace").strip()
    return found


def alive(process: int) -> bool:
    """Whether a process exists and is no zombie."""
    try:
        status = (Path("/proc") / str(process) / "stat").read_text()
    except OSError:
        return False
    return status.rpartition(")")[2].split()[0] != "Z"


def wait_until_dead(processes: set[int], patience: float = PATIENCE) -> set[int]:
    """Poll until the processes are gone; returns those that are not."""
    deadline = time.monotonic() + patience
    left = {one for one in processes if alive(one)}
    while left and time.monotonic() < deadline:
        time.sleep(_POLL)
        left = {one for one in left if alive(one)}
    return left


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Callable[..., Terminal]]:
    """Make terminals of any size; 80x24 unless told otherwise."""
    if shutil.which("tmux") is None:
        pytest.skip("no tmux; demos/setup --tests installs one")
    made: list[Terminal] = []

    def make(columns: int = 80, rows: int = 24) -> Terminal:
        made.append(Terminal(columns, rows, tmp_path))
        return made[-1]

    yield make
    for one in made:
        one.close()
