"""Findings out of the garbage collector's sight.

A report of 100,000 findings is half a million objects that stay. Each full collection looks through all of them and
stops everything, the keys too, for a tenth of a second; it finds nothing, because findings hold no cycles.
"""

from __future__ import annotations

import gc

EVERY = 4_096
"""Findings that are read between two times that what stays is set aside."""


def set_aside() -> None:
    """Take what has been read out of every later collection.

    Young garbage is collected first, so that only what has survived is set aside. Does nothing where collecting is
    switched off, as while the first screen is made.
    """
    if gc.isenabled():
        gc.collect(1)
        gc.freeze()
