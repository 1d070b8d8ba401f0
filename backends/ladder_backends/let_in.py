"""What of the user's own environment is let through to engines; everything else of the ledger is kept from them.

Choices are names of ledger entries: `debuginfod`, `confirm`, `PYTHONPATH`, `~/.gdbinit`. They hold for this
process; those that the configuration names, under `let_in` of its table `[environment]`, hold for good.
"""

from __future__ import annotations

from collections.abc import Iterable

_now: set[str] = set()
_kept: frozenset[str] = frozenset()


def configure_let_in(names: Iterable[str]) -> None:
    """Take what the configuration lets in."""
    global _kept
    _kept = frozenset(names)
    _now.clear()
    _now.update(_kept)


def lets_in(name: str) -> bool:
    """Whether an entry is let in now."""
    return name in _now


def let_in(name: str, on: bool) -> None:
    """Let an entry in, or keep it out, until this process ends."""
    if on:
        _now.add(name)
    else:
        _now.discard(name)


def kept_for_good() -> frozenset[str]:
    """What the configuration lets in."""
    return _kept


def keep_for_good(names: Iterable[str]) -> None:
    """Note that the configuration lets these in from now on."""
    global _kept
    _kept = frozenset(names)
