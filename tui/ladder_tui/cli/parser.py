"""Argument parsing with one-line errors."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import NoReturn

from ladder_backends.errors import LadderError


class UsageError(LadderError):
    """A command line that cannot be understood."""


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


def add_json(parser: argparse.ArgumentParser) -> None:
    """`--json`: strict JSON on standard output, and no screen."""
    parser.add_argument("--json", action="store_true", help="print JSON for machines; opens no screen")


def add_screen(parser: argparse.ArgumentParser) -> None:
    """Options of commands that open the screen, or can."""
    parser.add_argument("--theme", metavar="NAME", help="colours: dark, light, or a theme of your own")


def add_tui(parser: argparse.ArgumentParser) -> None:
    """`--tui`, for commands that print unless told otherwise."""
    parser.add_argument("--tui", action="store_true", help="open the screen there instead of printing")
    add_screen(parser)


def add_record(parser: argparse.ArgumentParser) -> None:
    """`--record FILE`."""
    parser.add_argument(
        "--record", metavar="FILE", type=Path, help="record the engine's streams, to be played back by replay"
    )
