"""Argument parsing with one-line errors."""

from __future__ import annotations

import argparse
from typing import NoReturn

from ladder_tui.cli.parser import UsageError


class Parser(argparse.ArgumentParser):
    """Raises instead of printing, and accepts no abbreviations: they would break with the next option."""

    def __init__(self, command: str, summary: str, usage: str) -> None:
        super().__init__(
            prog=f"ladder-tui {command}".rstrip(),
            description=summary[:1].upper() + summary[1:] + ".",
            usage=f"ladder-tui {command} [OPTIONS] {usage}".rstrip(),
            allow_abbrev=False,
        )
        self._command = command

    def error(self, message: str) -> NoReturn:
        """Turn a complaint of argparse into ours."""
        if not self._command:
            raise UsageError(message, "", "see ladder-tui --help")
        raise UsageError(self._command, message, f"see ladder-tui {self._command} --help")
