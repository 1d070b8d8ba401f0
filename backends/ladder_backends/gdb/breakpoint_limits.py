"""Why an engine could not put its breakpoints into the target, in one line."""

from __future__ import annotations

import re
from collections.abc import Iterable

_WATCH = re.compile(r"Could not insert hardware (?P<kind>watchpoint|breakpoint) (?P<number>\d+)")
_CODE = re.compile(r"Cannot insert breakpoint (?P<number>\d+)")
_MEMORY = re.compile(r"Cannot access memory at address (?P<address>0x[0-9a-f]+)")


def why_not_inserted(log: Iterable[str]) -> str:
    """What the last lines of the engine's log stream say of breakpoints that could not be inserted.

    Returns:
        One line: what, why behind a colon, what to do; an empty string where they speak of something else.
    """
    watches: dict[str, str] = {}
    code: list[str] = []
    address = ""
    for line in log:
        if match := _WATCH.search(line):
            watches[match["number"]] = match["kind"]
        elif match := _CODE.search(line):
            code.append(match["number"])
        elif match := _MEMORY.search(line):
            address = match["address"]
    if watches:
        numbers = ", ".join(watches)
        return (
            f"no hardware left for {next(iter(watches.values()))} {numbers}: the processor watches few places at "
            "once — switch one off or watch something smaller"
        )
    if code:
        where = f": there is no memory at {address}" if address else ""
        numbers = ", ".join(dict.fromkeys(code))
        return f"breakpoint {numbers} cannot be inserted{where} — delete it or switch it off"
    return ""
