"""Settings of gdb that the console makes, what they are without it, and why."""

from __future__ import annotations

from typing import Final

from ladder_backends.late_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class ForcedSetting:
    """A setting.

    Attributes:
        name: As `set` takes it; `debuginfod` stands for `debuginfod enabled`.
        ours: The console's value.
        yours: gdb's own.
        why: Why the console makes it.
        fixed: Why it cannot be otherwise; empty where it can.
    """

    name: str
    ours: str
    yours: str
    why: str
    fixed: str = ""

    @property
    def parameter(self) -> str:
        """As gdb knows it."""
        return "debuginfod enabled" if self.name == DEBUGINFOD else self.name

    def command(self, value: str) -> str:
        """The MI command that sets it."""
        return f"-gdb-set {self.parameter} {value}"


DEBUGINFOD: Final = "debuginfod"

_SCROLLS = "the console scrolls; a pager would wait for a key"

SETTINGS: Final = (
    ForcedSetting(DEBUGINFOD, "off", "on", "a server that does not answer holds up the start for minutes"),
    ForcedSetting("print elements", "200", "200", "a value of a million elements holds up a stop for minutes"),
    ForcedSetting("print repeats", "10", "10", "elements that are the same are told once"),
    ForcedSetting("max-value-size", "16777216", "65536", "arrays over 64 KiB show as an error in views otherwise"),
    ForcedSetting("confirm", "off", "on", "the console asks by itself before it ends something"),
    ForcedSetting("breakpoint pending", "on", "auto", "a library may be loaded later than its breakpoint is set"),
    ForcedSetting("pagination", "off", "on", _SCROLLS, _SCROLLS),
    ForcedSetting("height", "0", "24", _SCROLLS, _SCROLLS),
    ForcedSetting("width", "0", "80", "lines are cut to the view, not by gdb", "views read whole lines"),
    ForcedSetting("style enabled", "off", "on", "colours are the theme's", "escape sequences would show as text"),
    ForcedSetting(
        "mi-async",
        "on",
        "off",
        "a target that runs can be stopped",
        "without it, a running target cannot be stopped",
    ),
)
"""In the order in which they are shown. The views' own questions keep their limits, whatever is let in."""

BY_NAME: Final = {setting.name: setting for setting in SETTINGS}
