"""Whether a file has the tables of a simulated machine, in words for whoever wrote it."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

DOCUMENT = Path(__file__).parent / "MACHINES.md"
"""Where the form is written down."""

LISTS = ("gpu", "port", "nic", "link", "fault", "answer")
TABLES = ("host", "staged", "environment", "nvml", "files", "symlinks")

_BUS = re.compile(r"^[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]$", re.IGNORECASE)


def check(raw: Mapping[str, Any]) -> None:
    """Look at tables, numbers, bus addresses, and the GPUs that links and faults name.

    Raises:
        ValueError: One is not as it has to be; it says which.
    """
    for name in LISTS:
        found = raw.get(name, [])
        if not isinstance(found, list) or not all(isinstance(one, Mapping) for one in found):
            raise ValueError(f"{name} is not a list of tables: write [[{name}]]")
    for name in TABLES:
        if not isinstance(raw.get(name, {}), Mapping):
            raise ValueError(f"{name} is no table: write [{name}]")
    _finite(raw, "")
    for name in ("gpu", "port", "nic"):
        for table in raw.get(name, []):
            for key in ("bus", *(("under",) if table.get("under") else ())):
                if key in table and not _BUS.match(str(table[key])):
                    raise ValueError(f"{key} = {table[key]!r} of [[{name}]] is no bus address like 0000:41:00.0")
    for name in ("link", "fault"):
        for table in raw.get(name, []):
            for key in ("from", "to", "lands_on"):
                _there(table.get(key, "*"), len(raw.get("gpu", [])), f"{key} of [[{name}]]")


def _finite(value: Any, where: str) -> None:
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{where} is {value}, which is no number")
    if isinstance(value, Mapping):
        for key, one in value.items():
            _finite(one, str(key))
    elif isinstance(value, list):
        for one in value:
            _finite(one, where)


def _there(value: Any, gpus: int, where: str) -> None:
    for one in value if isinstance(value, list) else [value]:
        if isinstance(one, int) and not isinstance(one, bool) and not 0 <= one < gpus:
            raise ValueError(f"{where} is {one}, and there are {gpus} GPUs, from 0 on")
