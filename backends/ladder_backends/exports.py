"""Names that a package offers and imports only when they are first asked for.

A screen that opens on a program needs no reader of cases or reports. The package lists its names under
`TYPE_CHECKING`, as it would without this, and gives itself `__getattr__ = on_demand(...)` (PEP 562).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any


def on_demand(package: str, **homes: str) -> Callable[[str], Any]:
    """A `__getattr__` for a package.

    Args:
        package: Its `__name__`.
        homes: The names that each of its modules defines, separated by spaces. A name that a module has too must
            be imported at once instead: importing that module puts it in the place of the name.
    """
    home_of = {name: module for module, names in homes.items() for name in names.split()}
    assert not home_of.keys() & homes.keys(), package

    def find(name: str) -> Any:
        if name not in home_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(f"{package}.{home_of[name]}"), name)
        # Found at once from now on.
        setattr(sys.modules[package], name, value)
        return value

    return find
