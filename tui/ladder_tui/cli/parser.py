"""Options of commands, and one-line errors of those that cannot be understood.

What parses them is imported where there is something to parse: to import it takes as long as to read a theme.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ladder_backends.errors import LadderError

if TYPE_CHECKING:
    import argparse


class UsageError(LadderError):
    """A command line that cannot be understood."""


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


class Defaults:
    """Takes options as `argparse.ArgumentParser` does, for a command line that has none.

    Attributes:
        values: What such a command line means, by name.
        suffices: It is understood so; else it is the parser that has to say what is missing.
    """

    epilog: str | None = None

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}
        self.suffices = True

    def add_argument(self, *names: str, **how: Any) -> None:
        """Note what an option is where it is left out."""
        action = how.get("action", "store")
        if not names[0].startswith("-") or how.get("required") or action not in ("store", "store_true", "append"):
            self.suffices = False
        name = how.get("dest") or next((name for name in names if name.startswith("--")), names[0])
        default = how.get("default", False if action == "store_true" else None)
        if isinstance(default, str) and "type" in how:
            self.suffices = False
        self.values[name.lstrip("-").replace("-", "_")] = default

    def __getattr__(self, name: str) -> Any:
        # Groups, and whatever else there is.
        self.suffices = False
        return lambda *_, **__: self
