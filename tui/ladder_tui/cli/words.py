"""Words of a command line that are told apart before any parser is built."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

_SANITIZE = """--tool --preset --with --without --kernel --launch-skip --launch-count --padding --print-limit
--racecheck-report --timeout --launch-timeout --target-processes --processes --error-exitcode --suppressions
--option --save"""
_RANKS = "--pid --job --pids --mesh --stacks --samples --between --every --do --hosts --launch"

_RUN = "--theme --rung --record -o --cwd --env --stdin --follow-fork"

VALUED = frozenset(f"{_RUN} {_SANITIZE} {_RANKS}".split())
"""Options of ours that take the next word as their value."""


class Split(NamedTuple):
    """A command line cut at its first word that is no option.

    Attributes:
        options: Options of ours, with their values.
        rest: Everything from the first other word on, exactly as given.
        dashes: The cut is a `--`, so the rest is a program whatever its name.
    """

    options: list[str]
    rest: list[str]
    dashes: bool


def split_options(words: Sequence[str]) -> Split:
    """Cut before the first word that is no option; what follows belongs to a command or a program."""
    at = 0
    while at < len(words):
        word = words[at]
        if word == "--":
            return Split(list(words[:at]), list(words[at + 1 :]), True)
        if not word.startswith("-") or word == "-":
            break
        at += 2 if word in VALUED else 1
    return Split(list(words[:at]), list(words[at:]), False)
