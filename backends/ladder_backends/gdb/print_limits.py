"""Limits on values that our own questions print, where the user has set others for the console."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

_LIMITS: Mapping[str, str] = {
    "print elements": "200",
    "print repeats": "10",
    "max-value-size": "16777216",
    "print pretty": "off",
    "print array": "off",
    "print array-indexes": "off",
}
"""What our questions need: bounds, and no form of a value that takes more than a line."""

_UNLIMITED: Mapping[str, str] = {"4294967295": "unlimited", "-1": "unlimited"}
"""How engines report a limit that was taken off, and what they take for it."""


_CALLS = "may-call-functions"


def quiet_round(told: Mapping[str, str]) -> tuple[Sequence[str], Sequence[str]]:
    """Commands before and behind a question that is not to run functions of the target.

    Args:
        told: As for `limits_round`.
    """
    if told.get(_CALLS) == "off":
        return (), ()
    return [f"-gdb-set {_CALLS} off"], [f"-gdb-set {_CALLS} on"]


def limits_round(told: Mapping[str, str]) -> tuple[Sequence[str], Sequence[str]]:
    """Commands before and behind a question of ours.

    Args:
        told: The settings that were changed in the engine's command line, by name.
    """
    theirs = [(name, _UNLIMITED.get(told[name], told[name])) for name in _LIMITS if name in told]
    return (
        [f"-gdb-set {name} {_LIMITS[name]}" for name, _ in theirs],
        [f"-gdb-set {name} {value}" for name, value in theirs],
    )
