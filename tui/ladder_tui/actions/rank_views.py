"""What can be done in the views of a parallel job's ranks."""

from __future__ import annotations

from ladder_tui.actions.action import Action, Need

_RANKS = "Ranks"
_VERDICT = "Verdict"

RANK_VIEW_ACTIONS: tuple[Action, ...] = (
    Action("ranks.act", ("enter",), "ranks", "Show the ranks of the row and their stack; choose a job", _RANKS,
           "act", "ranks", needs=Need.ROW, hinted=True),
    Action("ranks.back", ("escape",), "back", "Go back to the tree, from it to the jobs", _RANKS, "back", "ranks"),
    Action("ranks.again", ("v",), "look again", "Look again: a second look tells a hang from a moment", _RANKS,
           "again", "ranks", hinted=True),
    Action("ranks.stacks", ("t",), "stacks", "Read native stacks: each thread stands for a moment", _RANKS,
           "stacks", "ranks", hinted=True),
    Action("ranks.gdb", ("T",), "gdb stacks", "Read native stacks by gdb: all ranks stand for it, at one moment",
           _RANKS, "stacks_by_gdb", "ranks"),
    Action("ranks.debugger", ("d",), "debugger", "Put a debugger on the row's first rank; it stands then", _RANKS,
           "debugger", "ranks", needs=Need.ROW, hinted=True),
    Action("ranks.print", ("p",), "print", "Evaluate an expression on all ranks of the row; they stand for it",
           _RANKS, "print", "ranks", needs=Need.ROW, hinted=True, opens=True),
    Action("ranks.name", ("equals_sign",), "name", "Give the ranks of the row a name", _RANKS, "name", "ranks",
           needs=Need.ROW, opens=True),
    Action("ranks.whole", ("i",), "whole", "Show stacks whole, or cut where communication begins", _RANKS, "whole",
           "ranks", needs=Need.ROW),
    Action("ranks.hold", (), "hold", "Let ranks in a debugger stand for as long as wished, or go on in time again",
           _RANKS, "hold", "ranks"),
    Action("ranks.granularity", ("m",), "by line", "Tell frames apart by line, by function, or by offset",
           _RANKS, "granularity", "ranks", needs=Need.ROW),
    Action("verdict.facts", ("i", "enter"), "facts", "Show what the verdict leans on; do what a row offers",
           _VERDICT, "act", "verdict", needs=Need.ROW, hinted=True),
    Action("verdict.command", ("m",), "command", "Copy the command that leads further", _VERDICT, "copy_command",
           "verdict", needs=Need.ROW, hinted=True),
    Action("verdict.debugger", ("d",), "debugger", "Put a debugger on the first suspect; it stands then", _VERDICT,
           "debugger", "verdict", needs=Need.ROW, hinted=True),
)  # fmt: skip
