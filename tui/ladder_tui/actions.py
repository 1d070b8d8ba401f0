"""Every action of the console, once.

Bindings, the command palette, the `?` screen, the hints of the status bar and the key table of the README are all
made from `ACTIONS`. To add an action: one entry here, and a method `action_<name>` on what its scope names.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.binding import Binding

from ladder_backends.debugger.contract import Capability
from ladder_backends.model.provenance import Provenance
from ladder_backends.rungs import OURS
from ladder_backends.session.state import NOT_STARTED, NOT_STARTED_HERE, LadderState, Run

if TYPE_CHECKING:
    from textual.binding import BindingType

    from ladder_backends.session.debug_state import DebugState


class Need(enum.Flag):
    """What has to be so for an action to make sense."""

    NOTHING = 0
    SESSION = enum.auto()
    RUN_CONTROL = enum.auto()
    STOPPED = enum.auto()
    RUNNING = enum.auto()
    FINDINGS = enum.auto()
    DISASSEMBLE = enum.auto()
    BREAKPOINTS = enum.auto()
    CONSOLE = enum.auto()
    RESTING = enum.auto()
    PROCESS = enum.auto()
    ALIVE = enum.auto()
    DEVICE = enum.auto()
    """A living program on a GPU."""
    ROW = enum.auto()
    """A row in the view; only hints look at it."""


@dataclass(frozen=True, slots=True)
class Action:
    """One thing a person can do.

    Attributes:
        id: Stable, for users' own keys: `run.next`.
        keys: Built-in keys by Textual's names; the first is the letter, the others its twins.
        hint: One or two words for the status bar.
        description: A sentence for the help and the palette.
        group: Heading in the help.
        call: Textual action string: `resume('next')`.
        scope: `workspace` anywhere, `list` in every view, or the id of a pane.
        needs: What has to be so.
        hinted: The status bar may offer it.
        opens: It opens what is typed to, or a question: where it is refused, keys right behind it are no commands.
    """

    id: str
    keys: tuple[str, ...]
    hint: str
    description: str
    group: str
    call: str
    scope: str = "workspace"
    needs: Need = Need.NOTHING
    hinted: bool = False
    opens: bool = False

    @property
    def bound(self) -> tuple[str, ...]:
        """The keys that call it: the user's own where there are any, else the built-in ones."""
        return _chosen.get(self.id, self.keys)

    @property
    def key_label(self) -> str:
        """The first key as a person writes it."""
        return key_label(self.bound[0]) if self.bound else ""

    @property
    def key_in_text(self) -> str:
        """The first key that works even where text is typed, or an empty string."""
        return next((key for key in self.bound if key in ALWAYS_COMMANDS or self.scope == "console"), "")

    def hint_in(self, debug: DebugState | None) -> str:
        """The hint, as it is true now: what continues a stopped program starts one that has ended."""
        if self.id == "run.continue" and debug is not None:
            return {Run.EXITED: "run", Run.DEAD: "restart"}.get(debug.run, self.hint)
        return self.hint


ALWAYS_COMMANDS = frozenset({"ctrl+c", "ctrl+p", "ctrl+q", "shift+f11", *(f"f{number}" for number in range(1, 13))})
"""Keys that are commands even where text is typed."""

_KEY_LABELS = {
    "enter": "⏎",
    "space": "Space",
    "escape": "Esc",
    "slash": "/",
    "comma": ",",
    "full_stop": ".",
    "semicolon": ";",
    "colon": ":",
    "grave_accent": "`",
    "less_than_sign": "<",
    "greater_than_sign": ">",
    "question_mark": "?",
    "exclamation_mark": "!",
    "left_square_bracket": "[",
    "equals_sign": "=",
    "plus": "+",
    "minus": "-",
    "up": "↑",
    "down": "↓",
    "left": "←",
    "right": "→",
    "pageup": "PgUp",
    "pagedown": "PgDn",
    "home": "Home",
    "end": "End",
    "tab": "Tab",
    "backspace": "⌫",
}


def key_label(key: str) -> str:
    """A Textual key name as a person writes it: `ctrl+c` is `Ctrl-C`."""
    *modifiers, last = key.split("+")
    last = _KEY_LABELS.get(last, last.upper() if len(last) > 1 or modifiers else last)
    return "-".join([*(modifier.capitalize() for modifier in modifiers), last])


_chosen: dict[str, tuple[str, ...]] = {}


def choose_keys(keys: Mapping[str, str]) -> None:
    """Take the user's own keys: hints, help and messages name these from now on.

    Args:
        keys: By action id, in Textual's names, several separated by commas.
    """
    _chosen.clear()
    _chosen.update({name: tuple(text.split(",")) for name, text in keys.items()})


def key_of(action_id: str) -> str:
    """The first key of an action as a person writes it, for texts that tell what to press."""
    return next(action.key_label for action in ACTIONS if action.id == action_id)


_RUN = "Run control"
_GPU = "On a GPU"
_GO = "Going places"
_VIEW = "In a view"
_TELL = "Console"

_CAN_STEP = Need.RUN_CONTROL | Need.STOPPED

ACTIONS: tuple[Action, ...] = (
    # Run control
    Action("run.next", ("n", "f10"), "next", "Run to the next line of this function", _RUN, "resume('next')",
           needs=_CAN_STEP, hinted=True),
    Action("run.step", ("s", "f11"), "step", "Run to the next line, into calls", _RUN, "resume('step')",
           needs=_CAN_STEP, hinted=True),
    Action("run.finish", ("f", "shift+f11"), "finish", "Run until this function returns", _RUN,
           "resume('finish')", needs=_CAN_STEP, hinted=True),
    Action("run.continue", ("c", "f5"), "continue", "Run on, or start the program", _RUN, "resume('continue')",
           needs=Need.RUN_CONTROL | Need.RESTING, hinted=True),
    Action("run.next-instruction", ("N",), "next instr", "Run to the next instruction of this function", _RUN,
           "resume('next-instruction')", needs=_CAN_STEP),
    Action("run.step-instruction", ("S",), "step instr", "Run one instruction, into calls", _RUN,
           "resume('step-instruction')", needs=_CAN_STEP),
    Action("run.until", ("u",), "until", "Run to the cursor's line of the source", _RUN, "until",
           needs=_CAN_STEP),
    Action("run.advance", ("a",), "advance", "Run to the cursor's line, in whatever frame it is reached", _RUN,
           "advance", needs=_CAN_STEP | Need.PROCESS),
    Action("run.jump", ("J",), "jump", "Go on at the cursor's line, running nothing between; asks", _RUN,
           "jump_line", needs=_CAN_STEP | Need.PROCESS, opens=True),
    Action("run.return", ("R",), "return", "Leave the selected frame at once, with a value or none; asks", _RUN,
           "return_now", needs=_CAN_STEP | Need.PROCESS, opens=True),
    Action("run.call", ("X",), "call", "Call a function of the program", _RUN, "call",
           needs=_CAN_STEP | Need.PROCESS, opens=True),
    Action("run.backwards", ("left_square_bracket",), "backwards",
           "Record from here on; then run backwards, and forwards again", _RUN, "backwards",
           needs=_CAN_STEP | Need.PROCESS),
    Action("run.stop-recording", (), "stop recording", "Drop what was recorded for running backwards", _RUN,
           "stop_recording", needs=_CAN_STEP | Need.PROCESS),
    Action("run.settings", ("E",), "settings", "How it is started: arguments, environment, folder, input, forks",
           _RUN, "run_settings", needs=Need.PROCESS, opens=True),
    Action("run.fork-parent", (), "at a fork", "At a fork, follow the parent", _RUN, "at_fork('PARENT')",
           needs=Need.PROCESS),
    Action("run.fork-child", (), "at a fork", "At a fork, follow the child", _RUN, "at_fork('CHILD')",
           needs=Need.PROCESS),
    Action("run.fork-both", (), "at a fork", "At a fork, hold parent and child", _RUN, "at_fork('BOTH')",
           needs=Need.PROCESS),
    Action("run.kill", ("k",), "kill", "End the program; asks", _RUN, "kill", needs=Need.PROCESS | Need.ALIVE,
           opens=True),
    Action("run.detach", ("D",), "detach", "Let the program run on without the debugger; asks", _RUN, "detach",
           needs=Need.PROCESS | Need.ALIVE, opens=True),
    Action("run.start", ("r",), "start", "Start the program, again if need be, and stop at main", _RUN, "start",
           needs=Need.RUN_CONTROL | Need.RESTING, opens=True),
    Action("breakpoint.toggle", ("b", "f9"), "break", "Set or take away a breakpoint on the cursor's line",
           _RUN, "toggle_breakpoint", needs=Need.BREAKPOINTS, hinted=True),
    Action("breakpoint.new", ("B",), "new break", "Set a breakpoint of any kind, with all its options", _RUN,
           "new_breakpoint", needs=Need.BREAKPOINTS, opens=True),
    Action("breakpoint.watch", ("W",), "watch data", "Stop where a value is written, or read", _RUN, "watch_data",
           needs=Need.BREAKPOINTS, opens=True),
    Action("run.alone", ("L",), "alone", "Let only the focused thread run, or all of them again", _RUN, "run_alone",
           needs=Need.RUN_CONTROL),
    Action("threads.continue-all", (), "continue all", "Let all threads go on that are not frozen (non-stop)",
           "Threads", "all_threads_go_on", needs=Need.RUN_CONTROL),
    Action("threads.interrupt-all", (), "interrupt all", "Stop all threads (non-stop)", "Threads",
           "all_threads_hold", needs=Need.RUN_CONTROL),
    Action("gpu.dump", ("C",), "dump GPU", "Write a GPU core dump of what stands here; then open it beside, or not",
           _GPU, "dump_gpu", needs=_CAN_STEP | Need.DEVICE, opens=True),
    Action("gpu.launches", (), "launches", "Stop at each launch of a kernel, or run through them", _GPU, "launches",
           needs=Need.DEVICE, opens=True),
    Action("gpu.failures", (), "driver calls", "Choose what happens when a call of the GPU's driver fails", _GPU,
           "failures", needs=Need.DEVICE, opens=True),
    Action("gpu.back", (), "back to the lane", "Back to the lane that was left for a thread of the host", _GPU,
           "back_to_lane", needs=Need.DEVICE | Need.STOPPED),
    Action("run.interrupt", ("ctrl+c",), "interrupt", "Stop the target; twice offers more", _RUN, "interrupt",
           needs=Need.RUNNING, hinted=True),
    # Going places
    Action("pane.go", ("w", "f6"), "panes", "Go to a pane: then its letter", _GO, "panes",
           hinted=True),
    Action("pane.zoom", ("z", "f12"), "zoom", "Give the whole screen to this pane, or give it back", _GO, "zoom"),
    Action("pane.next", ("tab",), "next pane", "Go to the next pane", _GO, "next_pane(1)"),
    Action("pane.previous", ("shift+tab",), "previous pane", "Go to the pane before", _GO, "next_pane(-1)"),
    Action("go.to", ("g",), "goto", "Go to a line, or to a block and thread", _GO, "goto",
           hinted=True, opens=True),
    Action("jump.ways", ("j",), "ways", "Choose the way to the lane: dump, run to it, its line …", _GO, "jump_ways",
           opens=True),
    Action("jump.live", (), "jump live", "Run the program to the finding's lane, or to the one that is shown", _GO,
           "jump_live"),
    Action("jump.back", ("comma",), "back", "Back to the lane that was jumped to before", _GO, "jump_walk(-1)"),
    Action("jump.forward", ("full_stop",), "forward", "On to the lane that was jumped to after", _GO,
           "jump_walk(1)"),
    Action("jump.list", ("semicolon",), "jumps", "List the lanes that were jumped to", _GO, "jump_list",
           opens=True),
    Action("memory.at", ("M",), "memory", "Show memory at an address or where an expression points", _GO, "memory",
           needs=Need.SESSION | Need.STOPPED, opens=True),
    Action("source.open", ("O",), "open", "Open a source file by a part of its name; h comes back", _GO,
           "open_source", opens=True),
    Action("search", ("slash",), "search", "Search in this view; empty repeats, or shows all findings", _GO,
           "search", opens=True),
    Action("console", ("colon",), "console", "Type a command to the engine; Esc leaves", _TELL, "console",
           needs=Need.CONSOLE, hinted=True, opens=True),
    *(Action(f"rung.{rung.name}", (rung.key,), rung.name, f"Show the {rung.name} rung", _GO, f"rung('{rung.name}')")
      for rung in OURS),
    Action("rung.added", ("6", "7", "8", "9"), "added rung", "Show the rung of a debugger that was added", _GO,
           "added_rung"),
    Action("seat.next", ("grave_accent",), "other session",
           "The other session of this rung: dump or live program; opens the program of a dump", _GO, "next_seat"),
    Action("seat.close", (), "close session", "End the session on screen; the other one of this rung stays", _GO,
           "close_seat", needs=Need.SESSION),
    Action("attach", ("A",), "attach", "Choose a running process and attach to it; it lives on afterwards", _GO,
           "attach", opens=True),
    Action("sanitize.run", ("K",), "sanitizer", "Check a program with the sanitizer: tools, helps, limits", _GO,
           "sanitize", opens=True),
    Action("messages", ("exclamation_mark",), "messages", "Show what was said so far, long messages whole", _GO,
           "messages"),
    Action("help", ("question_mark", "f1"), "keys", "Show every key", _GO, "help", hinted=True),
    Action("palette", ("ctrl+p",), "commands", "Find any command by name", _GO, "app.command_palette"),
    Action("redraw", ("ctrl+l",), "redraw", "Paint the whole screen again, where something else wrote over it", _GO,
           "redraw"),
    Action("quit", ("q", "ctrl+q"), "quit", "Leave; asks before it ends something", _GO, "request_quit"),
    # In every view
    Action("list.up", ("up",), "up", "Move up", _VIEW, "move(-1)", "list"),
    Action("list.down", ("down",), "down", "Move down", _VIEW, "move(1)", "list"),
    Action("list.page-up", ("pageup",), "page up", "Move up a page", _VIEW, "page(-1)", "list"),
    Action("list.page-down", ("pagedown",), "page down", "Move down a page", _VIEW, "page(1)", "list"),
    Action("list.first", ("home",), "first", "Go to the first row", _VIEW, "edge('first')", "list"),
    Action("list.last", ("end",), "last", "Go to the last row", _VIEW, "edge('last')", "list"),
    Action("list.left", ("left",), "left", "Scroll left", _VIEW, "sideways(-8)", "list"),
    Action("list.right", ("right",), "right", "Scroll right", _VIEW, "sideways(8)", "list"),
    Action("list.act", ("enter",), "act", "Act on the selected row", _VIEW, "act", "list"),
    Action("list.copy", ("y",), "copy", "Copy the selected row", _VIEW, "copy", "list"),
    # Source
    Action("source.disassembly", ("d",), "disassembly", "Show the machine code", "Source",
           "disassembly", "source", needs=Need.DISASSEMBLE, hinted=True),
    Action("source.value", ("v",), "value", "Show the value of an expression of this line; again the next one's;"
           " Enter keeps it in Variables", "Source", "value", "source", needs=Need.SESSION),
    Action("source.home", ("h",), "here", "Back to where the target stands", "Source", "here", "source",
           needs=Need.SESSION),
    Action("disassembly.source", ("d",), "source", "Back to the source, from the machine code", "Source",
           "source", "disassembly", hinted=True),
    Action("source.edit", ("enter",), "edit", "Change the breakpoint on the cursor's line", "Source", "act",
           "source", needs=Need.BREAKPOINTS),
    # Disassembly
    Action("disassembly.mixed", ("m",), "mixed", "Show source lines between the instructions, or not",
           "Disassembly", "mixed", "disassembly"),
    Action("disassembly.raw", ("o",), "bytes", "Show the bytes of instructions, or not", "Disassembly", "raw",
           "disassembly"),
    Action("disassembly.back", ("backspace",), "back", "Back from a jump or call that Enter followed",
           "Disassembly", "back", "disassembly"),
    Action("disassembly.home", ("h",), "here", "Back to where the target stands", "Disassembly", "here",
           "disassembly", needs=Need.SESSION),
    Action("disassembly.follow", ("enter",), "follow", "Follow a jump or a call, or show the line of source",
           "Disassembly", "act", "disassembly", needs=Need.ROW, hinted=True),
    # Variables
    Action("variables.evaluate", ("e",), "evaluate", "Evaluate an expression in this frame, and at every stop",
           "Variables", "evaluate", needs=Need.SESSION, hinted=True, opens=True),
    Action("variables.expand", ("space", "enter"), "open", "Open the value, or close it; load more of a long one",
           "Variables", "expand", "variables", needs=Need.ROW, hinted=True),
    Action("variables.assign", ("equals_sign",), "assign", "Set the value", "Variables", "assign", "variables",
           needs=Need.ROW, hinted=True),
    Action("variables.form", ("t",), "form", "Write the value as hex, decimal, binary, octal, char, float",
           "Variables", "form", "variables", needs=Need.ROW, hinted=True),
    Action("variables.storage", ("at",), "spaces", "Show address spaces in types, as @shared, or leave them out",
           "Variables", "storage", "variables"),
    Action("variables.elements", ("i",), "elements", "Choose which elements are shown: 500..520", "Variables",
           "elements", "variables"),
    Action("variables.watch", ("p",), "watch", "Watch the value at every stop, as an expression", "Variables",
           "watch", "variables"),
    Action("variables.copy-expression", ("Y",), "copy expression", "Copy the expression that names the value",
           "Variables", "copy_expression", "variables"),
    Action("variables.forget", ("x",), "forget", "Forget an expression", "Variables", "forget", "variables"),
    # Stack
    Action("stack.go", ("enter",), "frame", "Stand in the frame; open what is folded, or read more frames", "Stack",
           "act", "stack", needs=Need.ROW, hinted=True),
    Action("stack.fold", ("space",), "fold", "Hide frames of libraries or the interpreter, or list them again",
           "Stack", "fold", "stack"),
    Action("stack.cancel", ("escape",), "cancel", "End a search through the stack, or the way to its end", "Stack",
           "cancel", "stack"),
    Action("stack.copy-all", (), "copy all", "Copy the backtrace, as far as it was read", "Stack", "copy_all",
           "stack", needs=Need.SESSION),
    Action("python.toggle", ("P",), "python", "Weave Python frames into the stack, or take them out; says why not",
           "Stack", "toggle_python", needs=Need.SESSION | Need.STOPPED),
    # Threads
    Action("threads.go", ("enter",), "thread", "Stand in the thread; open or close a group of threads",
           "Threads", "act", "threads", needs=Need.ROW, hinted=True),
    Action("threads.freeze", ("space",), "freeze", "Hold a thread while the others run, or let it go (non-stop)",
           "Threads", "freeze", "threads", needs=Need.RUN_CONTROL),
    Action("threads.non-stop", ("m",), "non-stop", "Stop threads one by one or together; before the program runs",
           "Threads", "non_stop", "threads", needs=Need.RUN_CONTROL),
    Action("threads.all", ("escape",), "all", "Show all threads again after a search", "Threads", "show_all",
           "threads"),
    # Machine
    Action("registers.memory", ("enter",), "memory", "Show what the register points to; open or close a group",
           "Machine", "act", "registers"),
    Action("registers.format", ("t",), "format", "Choose how registers are printed", "Machine", "format",
           "registers", hinted=True),
    Action("registers.set", ("equals_sign",), "set", "Set the register under the cursor", "Machine", "set",
           "registers", needs=Need.STOPPED | Need.RUN_CONTROL | Need.ROW, hinted=True),
    Action("memory.follow", ("enter",), "follow", "Go where the pointer under the cursor points", "Machine",
           "act", "memory", needs=Need.ROW, hinted=True),
    Action("memory.format", ("t",), "format", "Choose as what memory is read", "Machine", "format", "memory",
           needs=Need.ROW, hinted=True),
    Action("memory.space", ("at",), "space", "Choose the address space: shared, local, global, parameter, constant",
           "Machine", "space", "memory"),
    Action("memory.set", ("equals_sign",), "set", "Write a value where the cursor stands", "Machine", "set",
           "memory", needs=Need.STOPPED | Need.RUN_CONTROL | Need.ROW, hinted=True),
    Action("memory.wider", ("greater_than_sign",), "wider", "Read larger elements", "Machine", "wider(1)",
           "memory"),
    Action("memory.narrower", ("less_than_sign",), "narrower", "Read smaller elements", "Machine", "wider(-1)",
           "memory"),
    Action("memory.back", ("backspace",), "back", "Back from a pointer that Enter followed", "Machine", "back",
           "memory"),
    Action("signals.change", ("enter",), "change", "Choose what is done about a signal, or about the one that came",
           "Machine", "act", "signals", needs=Need.ROW, hinted=True),
    Action("libraries.read", ("enter",), "read symbols", "Read the symbols of the library", "Machine", "act",
           "libraries", needs=Need.SESSION | Need.ROW, hinted=True),
    Action("libraries.matching", ("p",), "read", "Read symbols of the libraries whose paths match", "Machine",
           "read_matching", "libraries", needs=Need.SESSION),
    Action("libraries.automatic", ("o",), "automatic", "Read symbols when a library is loaded, or when asked to",
           "Machine", "automatic", "libraries", needs=Need.SESSION),
    # Findings
    Action("findings.go", ("enter",), "lane", "Stand in the lane of the finding; open what is folded", "Findings",
           "act", "findings", needs=Need.FINDINGS),
    Action("findings.fold", ("space",), "fold", "Fold or unfold a bug, its further lanes, its consequences",
           "Findings", "fold", "findings", needs=Need.FINDINGS | Need.ROW, hinted=True),
    Action("findings.order", ("o",), "order", "List by arrival, lanes, severity, line or kernel", "Findings",
           "order", "findings", needs=Need.FINDINGS, hinted=True),
    Action("findings.details", ("d",), "details", "Show all the report says of a bug: both sides, launch stack",
           "Findings", "details", "findings", needs=Need.FINDINGS | Need.ROW, hinted=True),
    Action("findings.map", ("t",), "map", "Draw a bug's lanes as a map of the grid, or list them", "Findings",
           "map", "findings", needs=Need.FINDINGS | Need.ROW, hinted=True),
    Action("findings.side", ("p",), "other side", "Stand in the lane of a hazard's other side", "Findings", "side",
           "findings", needs=Need.FINDINGS | Need.ROW),
    Action("findings.note", ("i",), "note", "Write a note on a bug; kept for this program's next runs", "Findings",
           "note", "findings", needs=Need.FINDINGS | Need.ROW, opens=True),
    Action("findings.ignore", ("x",), "ignore", "Ignore a bug from now on, or no longer", "Findings", "ignore",
           "findings", needs=Need.FINDINGS | Need.ROW),
    Action("findings.done", ("m",), "done", "Mark a bug as done, or open it again", "Findings", "done", "findings",
           needs=Need.FINDINGS | Need.ROW),
    Action("findings.export", ("ctrl+s",), "export", "Write the findings as SARIF, Markdown or JSON", "Findings",
           "export", "findings", needs=Need.FINDINGS, opens=True),
    Action("findings.suppress", (), "suppress", "Add a bug to a file for the sanitizer's --suppressions",
           "Findings", "suppress", "findings", needs=Need.FINDINGS | Need.ROW, opens=True),
    Action("findings.compare", (), "compare", "Compare with an earlier report: what is new, what is gone",
           "Findings", "compare", "findings", needs=Need.FINDINGS, opens=True),
    Action("findings.all", ("escape",), "all", "Show all findings again after a search", "Findings", "show_all",
           "findings", needs=Need.FINDINGS),
    Action("sanitize.stop", ("h",), "stop", "Stop the sanitizer's run; what was found stays", "Findings",
           "sanitize_stop", "findings"),
    Action("sanitize.again", ("v",), "run again", "Run the sanitizer again: one kernel, hazards, guard bytes …",
           "Findings", "sanitize_again", "findings", needs=Need.FINDINGS, opens=True),
    # Lanes
    Action("lanes.evaluate", ("V",), "over lanes", "Ask an expression of all lanes of the warp, block or grid",
           "Lanes", "over_lanes", needs=Need.SESSION | Need.STOPPED, opens=True),
    Action("lanes.go", ("enter",), "go", "Stand in the lane, or in the first one with that value", "Lanes", "act",
           "lanes", needs=Need.ROW, hinted=True),
    Action("lanes.span", ("space",), "wider", "Ask the warp, the block, all resident blocks", "Lanes", "span",
           "lanes", needs=Need.ROW, hinted=True),
    Action("lanes.more", ("m",), "go on", "Ask the lanes that have not answered, however long it takes", "Lanes",
           "more", "lanes"),
    Action("lanes.cancel", ("escape",), "cancel", "Ask no more; what has come stays", "Lanes", "cancel", "lanes"),
    # Grid
    Action("grid.go", ("enter",), "go", "Stand in the warp, block or kernel of the row", "Grid", "act", "grid"),
    Action("grid.hardware", ("h",), "hardware", "Show devices, SMs and their warps, or blocks and lanes again",
           "Grid", "hardware", "grid", needs=Need.SESSION, hinted=True),
    Action("grid.details", ("i",), "details", "How the kernel was launched; what the lane's exception means",
           "Grid", "details", "grid"),
    Action("grid.closer", ("plus", "greater_than_sign"), "closer", "Look closer at the map of blocks", "Grid",
           "zoom_map(1)", "grid"),
    Action("grid.farther", ("minus", "less_than_sign"), "farther", "Look at the map of blocks from farther away",
           "Grid", "zoom_map(-1)", "grid"),
    Action("grid.until-block", ("U",), "until block", "Run until the block that was asked for is on the device",
           "Grid", "until_block", "grid", needs=_CAN_STEP | Need.BREAKPOINTS),
    # Topology
    Action("topology.closer", ("enter",), "facts", "Show every fact of the row, with its source", "Hardware", "act",
           "topology", needs=Need.ROW, hinted=True),
    Action("topology.back", ("escape",), "back", "Go back to the whole machine", "Hardware", "back", "topology"),
    Action("topology.form", ("m",), "tree/matrix", "Draw the machine as a tree, or distances as a matrix",
           "Hardware", "form", "topology", needs=Need.ROW, hinted=True),
    Action("topology.host", ("h",), "host", "Show every fact of the host", "Hardware", "host", "topology",
           needs=Need.ROW, hinted=True),
    Action("topology.compare", ("o",), "compare", "Say what has changed since a baseline", "Hardware",
           "compare", "topology", needs=Need.ROW, hinted=True, opens=True),
    Action("topology.save", ("ctrl+s",), "save", "Keep what is so now as a baseline", "Hardware", "save",
           "topology", needs=Need.ROW, opens=True),
    Action("topology.again", ("v",), "read again", "Read the machine again", "Hardware", "again", "topology"),
    Action("topology.commands", ("t",), "for root", "Show what root can run, to tell what is unread", "Hardware",
           "commands", "topology", needs=Need.ROW),
    Action("topology.paste", ("i",), "paste", "Take the output of those commands from a file", "Hardware", "paste",
           "topology", needs=Need.ROW, opens=True),
    # Pairs of GPUs
    Action("matrix.start", ("t",), "test", "Test every pair of GPUs: seconds, nothing is changed", "Pairs of GPUs",
           "start('quick')", "matrix", hinted=True),
    Action("matrix.deep", ("T",), "deep", "Test every pair with all arms: sizes, handshake, IPC, NCCL",
           "Pairs of GPUs", "start('deep')", "matrix"),
    Action("matrix.soak", (), "soak", "Test every pair with all arms, then all pairs at once for a minute",
           "Pairs of GPUs", "start('soak')", "matrix"),
    Action("matrix.open", ("enter",), "evidence", "Show what each arm found on the pair", "Pairs of GPUs", "act",
           "matrix", needs=Need.ROW, hinted=True),
    Action("matrix.again", ("v",), "again", "Test the pair under the cursor again", "Pairs of GPUs", "again",
           "matrix", needs=Need.ROW, hinted=True),
    Action("matrix.evidence", ("e",), "facts", "Show every fact that the verdict leans on", "Pairs of GPUs",
           "evidence", "matrix", needs=Need.ROW, hinted=True),
    Action("matrix.command", ("m",), "command", "Copy the command that helps now", "Pairs of GPUs",
           "copy_command", "matrix", needs=Need.ROW, hinted=True),
    Action("matrix.back", ("escape",), "back", "Go back to the matrix; stop a sweep that is at work",
           "Pairs of GPUs", "back", "matrix"),
    # Console and program
    Action("console.leave", ("escape",), "leave", "Give the keys back to the view that had them",
           "Console and program", "leave", "console", hinted=True),
    Action("console.search", ("ctrl+s",), "search", "Search what the engine wrote", "Console and program",
           "search_here", "console"),
    Action("output.type", ("i",), "type", "Type a line to the program that runs under the sanitizer",
           "Console and program", "type_line", "output", opens=True),
    Action("program.type", ("i", "enter"), "type", "Type to the program; Esc Esc or Ctrl-] leaves",
           "Console and program", "type", "program", needs=Need.SESSION, hinted=True),
    Action("program.search", ("ctrl+s",), "search", "Search what the program wrote, from the end upwards",
           "Console and program", "search_here", "program"),
    Action("program.older", ("less_than_sign",), "older", "Go to the match before", "Console and program",
           "again(False)", "program"),
    Action("program.newer", ("greater_than_sign",), "newer", "Go to the match after", "Console and program",
           "again(True)", "program"),
    Action("program.select", ("space",), "select", "Select lines: arrows go on, y copies", "Console and program",
           "select", "program"),
    Action("program.drop", ("escape",), "end", "Forget what is selected or found, and go to the end",
           "Console and program", "drop", "program"),
    Action("program.save", ("o",), "save", "Save the kept output to a file, as text or as raw bytes",
           "Console and program", "save", "program"),
    # Environment
    Action("environment.flip", ("space",), "flip", "Let in what is kept from the engine, or keep it out",
           "Environment", "flip", "environment", needs=Need.SESSION | Need.ROW, hinted=True),
    Action("environment.keep", ("enter",), "for good", "Keep that for good, in config.toml", "Environment", "keep",
           "environment", needs=Need.SESSION | Need.ROW, hinted=True),
    # Breakpoints
    Action("breakpoints.edit", ("enter",), "edit", "Change the breakpoint's place, condition, message, commands …",
           "Breakpoints", "act", "breakpoints", needs=Need.BREAKPOINTS | Need.ROW, hinted=True),
    Action("breakpoints.enable", ("space",), "on/off", "Switch the breakpoint, or one place of it, on or off;"
           " try again what waits", "Breakpoints",
           "switch", "breakpoints", needs=Need.BREAKPOINTS | Need.ROW, hinted=True),
    Action("breakpoints.delete", ("x",), "delete", "Take the breakpoint away", "Breakpoints", "delete",
           "breakpoints", needs=Need.BREAKPOINTS | Need.ROW, hinted=True),
    Action("breakpoints.temporary", ("t",), "once", "Take the breakpoint away at its next hit, or keep it",
           "Breakpoints", "temporary", "breakpoints", needs=Need.BREAKPOINTS),
    Action("breakpoints.line", ("l",), "line", "Show the breakpoint's line of source", "Breakpoints", "line",
           "breakpoints", needs=Need.ROW, hinted=True),
)  # fmt: skip


def actions_of(scope: str) -> Iterator[Action]:
    """The actions of a scope, in the order of the registry."""
    return (action for action in ACTIONS if action.scope == scope)


def bindings_for(scope: str) -> list[BindingType]:
    """Textual bindings of a scope; the ids let a user choose other keys."""
    return [
        Binding(
            ",".join(action.keys),
            action.call,
            action.description,
            show=False,
            # Decided before the next key is looked at: what is typed ahead then meets the right view.
            priority=scope == "workspace",
            id=action.id,
        )
        for action in actions_of(scope)
        if action.keys
    ]


def why_not(action: Action, state: LadderState, debug: DebugState | None) -> str:
    """Why an action makes no sense now, in a few words; empty where it does."""
    needs = action.needs & ~Need.ROW
    if needs & Need.FINDINGS and state.report is None:
        return "no report is open"
    if not needs & ~Need.FINDINGS:
        return ""
    if debug is None or debug.run is Run.NOTHING:
        return "nothing is open on this rung"
    if debug.run is Run.DEAD:
        return "" if needs & Need.RESTING else f"the engine is gone; {key_of('run.continue')} starts it again"
    able = debug.capabilities
    if debug.run is Run.STARTING and needs & (Need.RUN_CONTROL | Need.STOPPED | Need.BREAKPOINTS | Need.CONSOLE):
        listens = able & Capability.CONSOLE or debug.provenance is Provenance.ENGINE
        # Lines that are typed before the engine listens wait for that.
        return "" if needs is Need.CONSOLE and listens else "it is only just starting"
    if needs & Need.RUN_CONTROL and not able & Capability.RUN_CONTROL:
        if debug.provenance is Provenance.RECORDING:
            return "a recording cannot run"
        return "a dump cannot run" if debug.run is Run.DUMP else "this target cannot run"
    if needs & Need.STOPPED and debug.run is Run.RUNNING:
        return f"the target runs; {key_of('run.interrupt')} stops it"
    if needs & Need.STOPPED and debug.run is Run.EXITED:
        return runs_no_more(debug)
    if needs & Need.RESTING and not debug.control.startable:
        if debug.run is Run.EXITED:
            return runs_no_more(debug)
        if action.id == "run.start":
            return NOT_STARTED_HERE
    if needs & Need.RESTING and debug.run is Run.RUNNING:
        return f"the target runs already; {key_of('run.interrupt')} stops it"
    if needs & Need.PROCESS and not able & Capability.PROCESS:
        if debug.provenance is Provenance.RECORDING:
            return "a recording has no process"
        return "a dump has no process" if debug.run is Run.DUMP else "this target has no process that is held"
    if needs & Need.ALIVE and debug.run not in (Run.RUNNING, Run.STOPPED):
        return "no program runs"
    if needs & Need.RUNNING and debug.run is not Run.RUNNING:
        return "the target does not run"
    if needs & Need.DEVICE and not (able & Capability.DEVICE_FOCUS and able & Capability.RUN_CONTROL):
        return "a dump is of one moment" if debug.run is Run.DUMP else "no program runs on a GPU here"
    if needs & Need.DISASSEMBLE and not able & Capability.DISASSEMBLE:
        return "this target has no machine code to show"
    if needs & Need.BREAKPOINTS and not able & Capability.BREAKPOINTS:
        return "a dump takes no breakpoints" if debug.run is Run.DUMP else "this target takes no breakpoints"
    if needs & Need.CONSOLE and not able & Capability.CONSOLE:
        return "this engine has no command line"
    return ""


def runs_no_more(debug: DebugState) -> str:
    """Why a program stands nowhere that does not run, or is no longer held, and what can be done."""
    if not debug.control.startable:
        why = debug.run_detail or "the process has ended"
        live = debug.provenance is Provenance.ENGINE
        return f"{why}; {key_of('attach')} attaches to a process" if live else why
    key = key_of("run.continue")
    if debug.run_detail == NOT_STARTED:
        return f"the program does not run yet; {key} runs it"
    if debug.run_detail.startswith("detached"):
        return f"{debug.run_detail}; {key} starts another run"
    return f"the program has ended; {key} runs it again"


_PALETTE_KEYS = next(action.keys for action in ACTIONS if action.id == "palette")
"""What leads to an action that has no key of its own."""


def key_table() -> str:
    """Every key as Markdown tables, for the README."""
    lines: list[str] = []
    groups = dict.fromkeys(action.group for action in ACTIONS)
    for group in groups:
        lines += [f"**{group}**", "", "| key | does |", "|---|---|"]
        for action in ACTIONS:
            if action.group == group:
                keys = " ".join(f"`{key_label(key)}`" for key in action.keys or _PALETTE_KEYS)
                lines.append(f"| {keys} | {action.description} |")
        lines.append("")
    return "\n".join(lines)


def parse_key(label: str) -> str:
    """A key as a person writes it (`Ctrl-C`, `F10`, `n`) as Textual names it; several are separated by commas."""
    names = {text.lower(): name for name, text in _KEY_LABELS.items()}
    if label.strip() == ",":
        return "comma"
    keys = []
    for one in label.split(","):
        *modifiers, last = one.strip().replace("+", "-").rsplit("-") if one.strip() != "-" else ["minus"]
        name = names.get(last.lower(), last if len(last) == 1 and not modifiers else last.lower())
        keys.append("+".join([*(modifier.lower() for modifier in modifiers), name]))
    return ",".join(keys)
