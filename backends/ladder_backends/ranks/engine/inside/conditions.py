# mypy: ignore-errors
"""Conditions of breakpoints that many inferiors share, from within gdb.

gdb looks the names of a condition up when the breakpoint is set, in the symbols of one inferior, and reads there
whichever inferior comes to it: a global of a program that lies elsewhere in each is then another one's, or nothing.
`$_ladder_true(TEXT)` looks them up at each hit, where that happened. What cannot be evaluated counts as true, as in
gdb's own conditions.
"""

import gdb


class ladder_true(gdb.Function):
    """Whether an expression is true where the program stands now."""

    def __init__(self):
        super().__init__("_ladder_true")

    def invoke(self, text):
        """Evaluate it."""
        try:
            return 1 if gdb.parse_and_eval(text.string()) else 0
        except gdb.error:
            return 1


ladder_true()
