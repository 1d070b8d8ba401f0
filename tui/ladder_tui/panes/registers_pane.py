"""The registers of the selected frame, by groups."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from ladder_backends.model.register import Register
from ladder_backends.session.ladder import Ladder
from ladder_backends.session.state import Change, LadderState, Run
from ladder_tui.actions import bindings_for
from ladder_tui.panes.pane import Pane
from ladder_tui.widgets.line_view import Hit, Title
from ladder_tui.widgets.row import Cell, Row

if TYPE_CHECKING:
    from ladder_tui.theming import Palette

FORMS = (
    ("n", "natural", "as the engine prints it, with what it points to"),
    ("x", "hex", ""),
    ("d", "decimal", ""),
    ("u", "unsigned", ""),
    ("t", "binary", ""),
    ("o", "octal", ""),
    ("f", "float", ""),
)
"""Letters, names and notes of the formats."""

_FIRST = "general"
_ADDRESS = re.compile(r"0x[0-9a-f]+")
_MOST_BLANKS = 12

_OF_CODE = frozenset({"pc", "errorpc", "rip", "eip"})
"""Registers that point to instructions, whose bytes say little and which a dump may not hold as memory."""


class _Group(NamedTuple):
    """A group's heading."""

    name: str


class RegistersPane(Pane):
    """Groups fold; one that is folded is not asked for. Enter on a register goes to what it points to."""

    INTEREST = Change.FRAMES | Change.FOCUS | Change.RUN | Change.MACHINE
    BINDINGS: ClassVar = bindings_for("registers")

    def __init__(self, ladder: Ladder, *, palette: Palette, id: str) -> None:
        super().__init__(ladder, palette=palette, id=id)
        self._open = {_FIRST}
        self._lines: list[_Group | Register] = []
        self._looked: tuple[object, ...] = ()
        self._name_width = 4

    def refresh_from(self, state: LadderState, change: Change) -> None:
        """Look at the registers where what is here is of another stop, frame or format."""
        debug, session = self.debug, self.session
        if debug is not None and session is not None and debug.run in (Run.STOPPED, Run.DUMP):
            machine = debug.machine.registers
            stands = (debug.place_name, debug.since, debug.focus, debug.selected_frame)
            place = (*stands, machine.form, *sorted(self._open))
            # A value that was set here or in the console leaves the place as it is: then all is looked at again.
            if place != self._looked or change & Change.FRAMES:
                self._looked = place
                self.work(session.machine.registers.look([name for name in self._groups if name in self._open]))
        else:
            self._looked = ()
        self._lay_out()
        self.update()

    @property
    def _groups(self) -> tuple[str, ...]:
        debug = self.debug
        return (debug.machine.registers.groups if debug is not None else ()) or (_FIRST,)

    def _lay_out(self) -> None:
        lines: list[_Group | Register] = []
        debug = self.debug
        if debug is not None and not self.not_standing() and debug.machine.registers.groups:
            for name in debug.machine.registers.groups:
                lines.append(_Group(name))
                if name in self._open:
                    lines += debug.machine.registers.read.get(name, ())
        self._lines = lines
        names = [len(line.name) for line in lines if isinstance(line, Register)]
        self._name_width = min(_MOST_BLANKS, max(names, default=4))

    @property
    def row_count(self) -> int:
        """Headings, and the registers of open groups."""
        return len(self._lines)

    def row(self, index: int) -> Row:
        """A heading; or mark, name, value, and what the value means."""
        line = self._lines[index]
        if isinstance(line, _Group):
            mark = "▾ " if line.name in self._open else "▸ "
            return Row((Cell(mark, "muted"), Cell(line.name, "strong")), target=line)
        cells = [
            Cell("• " if line.changed else "  ", "changed"),
            Cell(f"{line.name:<{self._name_width}}  ", "name"),
        ]
        if line.error:
            cells.append(Cell(f"N/A  {line.error}", "muted"))
        else:
            cells.append(Cell(line.value, "changed" if line.changed else "value"))
            cells.append(Cell(f"  {line.note}" if line.note else "", _note_style(line.note)))
        return Row(tuple(cells), target=line, pinned=2)

    def title(self) -> Title:
        """Of which frame, and in which format, where these are not the usual ones."""
        debug = self.debug
        told = []
        if debug is not None:
            machine = debug.machine.registers
            told += [machine.form] if machine.form != "natural" else []
            told += [f"of frame {machine.frame}"] if machine.frame else []
        return Title(self.pane_name, (Cell(" · ".join(told), "muted"),) if told else (), self.tab_cells())

    def empty_text(self) -> str:
        """Why there are none."""
        debug = self.debug
        return self.not_standing() or (debug.machine.registers.note if debug is not None else "") or "reading …"

    def activate(self, hit: Hit) -> None:
        """Fold or unfold a group; show the memory that a register points to, or the code."""
        if isinstance(hit.target, _Group):
            self._open ^= {hit.target.name}
            self.refresh_from(self.ladder.state, Change.NONE)
        elif isinstance(hit.target, Register) and hit.column is None and hit.target.name in _OF_CODE:
            self.ladder_app.workspace.show_code(hit.target.target or f"${hit.target.name}")
        elif isinstance(hit.target, Register) and hit.column is None:
            self.ladder_app.workspace.show_memory(hit.target.target or f"${hit.target.name}")

    def copy_text(self, index: int) -> str:
        """The value."""
        line = self._lines[index]
        return line.value if isinstance(line, Register) else line.name

    def expression_at_cursor(self) -> str:
        """The register under the cursor as an expression, or an empty string."""
        line = self._lines[self.cursor] if self.cursor < len(self._lines) else None
        return f"${line.name}" if isinstance(line, Register) else ""

    def action_format(self) -> None:
        """Choose how registers are printed."""
        session = self.session
        if session is not None:
            registers = session.machine.registers
            self.ladder_app.workspace.offer(
                "Print registers as",
                [(key, name, name, note) for key, name, note in FORMS],
                lambda form: self.work(registers.print_as(form)),
            )

    def action_set(self) -> None:
        """Ask for a new value of the register under the cursor."""
        session = self.session
        line = self._lines[self.cursor] if self.cursor < len(self._lines) else None
        if session is None or not isinstance(line, Register):
            self.ladder_app.refuse("set: choose a register first")
            return
        name, why = line.name, session.machine.read_only()
        if why:
            self.ladder_app.refuse(f"set: {why}")
            return

        def give(text: str) -> None:
            if text.strip():
                self.work(session.machine.registers.write(name, text.strip()))

        initial = line.value if _ADDRESS.fullmatch(line.value) or line.value.lstrip("-").isdecimal() else ""
        self.ladder_app.workspace.prompt.ask(
            f"{name} =", give, initial=initial, placeholder="an expression", typed_over=True
        )


def _note_style(note: str) -> str:
    if note.startswith("<"):
        return "function"
    return "syntax.string" if note.startswith('"') else "muted"
