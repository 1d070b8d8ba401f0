"""Run the real command, the way a shell does."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

COMMAND = Path(sys.executable).parent / "ladder-tui"


@dataclass(frozen=True)
class Answer:
    """What a command left: exit code and both streams."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Standard output as strict JSON: no NaN, no Infinity."""

        def refuse(constant: str) -> None:
            raise AssertionError(f"{constant} is not JSON")

        return json.loads(self.out, parse_constant=refuse)

    @property
    def complaint(self) -> str:
        """Standard error, which has to be one line of ours."""
        lines = self.err.splitlines()
        assert len(lines) == 1, self.err
        assert lines[0].startswith("ladder-tui: ")
        return lines[0]


Command = Callable[..., Answer]


@pytest.fixture
def ladder_tui(tmp_path: Path) -> Command:
    """Call `ladder-tui` with words and, where wanted, other variables; its standard output is no terminal."""

    def run(
        *words: str | Path,
        environment: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        typed: bytes = b"",
    ) -> Answer:
        done = subprocess.run(
            [COMMAND, *map(str, words)],
            input=typed,
            capture_output=True,
            cwd=cwd or tmp_path,
            env={**os.environ, **(environment or {})},
            timeout=50,
            check=False,
        )
        return Answer(done.returncode, done.stdout.decode(), done.stderr.decode())

    return run
