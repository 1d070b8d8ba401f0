"""The panes of the workspace: one widget, one file each.

To add a pane: write `panes/<id>_pane.py` with a subclass of `Pane`, add its line to `PANES`, and name its id in a
slot of `screens/layouts.py`. Its own keys are entries of `actions.ACTIONS` whose scope is the pane's id.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from ladder_tui.panes.pane import Pane


class PaneEntry(NamedTuple):
    """A pane that the workspace can show.

    Attributes:
        name: What its title and the tabs say.
        letter: What is pressed after `w`.
        module: Module below `ladder_tui.panes`; imported when the pane is first shown.
        widget: Class in that module.
        short: Its name where all of them have to fit into 80 columns; `name` in small letters where empty.
        quiet: It is not named in the titles of the panes it shares its place with; `w` and its letter show it.
    """

    name: str
    letter: str
    module: str
    widget: str
    short: str = ""
    quiet: bool = False


PANES: dict[str, PaneEntry] = {
    "source": PaneEntry("Source", "s", "source_pane", "SourcePane"),
    "disassembly": PaneEntry("Disassembly", "d", "disassembly_pane", "DisassemblyPane", "code"),
    "stack": PaneEntry("Stack", "t", "stack_pane", "StackPane"),
    "variables": PaneEntry("Variables", "v", "variables_pane", "VariablesPane", "vars"),
    "breakpoints": PaneEntry("Breakpoints", "b", "breakpoints_pane", "BreakpointsPane", "breaks"),
    "threads": PaneEntry("Threads", "h", "threads_pane", "ThreadsPane"),
    "registers": PaneEntry("Registers", "r", "registers_pane", "RegistersPane", "regs"),
    "memory": PaneEntry("Memory", "m", "memory_pane", "MemoryPane", quiet=True),
    "signals": PaneEntry("Signals", "n", "signals_pane", "SignalsPane", quiet=True),
    "libraries": PaneEntry("Libraries", "l", "libraries_pane", "LibrariesPane", "libs", quiet=True),
    "environment": PaneEntry("Environment", "e", "environment_pane", "EnvironmentPane", "env", quiet=True),
    "findings": PaneEntry("Findings", "f", "findings_pane", "FindingsPane"),
    "grid": PaneEntry("Grid", "g", "grid_pane", "GridPane"),
    "lanes": PaneEntry("Lanes", "a", "lanes_pane", "LanesPane", quiet=True),
    "matrix": PaneEntry("P2P", "x", "matrix_pane", "MatrixPane"),
    "topology": PaneEntry("Topology", "y", "topology_pane", "TopologyPane"),
    "ranks": PaneEntry("Ranks", "k", "ranks_pane", "RanksPane"),
    "verdict": PaneEntry("Verdict", "i", "verdict_pane", "VerdictPane"),
    "console": PaneEntry("Console", "c", "console_pane", "ConsolePane"),
    "program": PaneEntry("Program", "p", "program_pane", "ProgramPane"),
    "output": PaneEntry("Output", "o", "output_pane", "OutputPane", "out", quiet=True),
}


def load_pane(pane_id: str) -> type[Pane]:
    """The widget class of a pane."""
    entry = PANES[pane_id]
    module = importlib.import_module(f"ladder_tui.panes.{entry.module}")
    widget: type[Pane] = getattr(module, entry.widget)
    return widget
