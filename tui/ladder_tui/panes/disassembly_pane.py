"""Machine code, mixed with the source it was made of: SASS or the host's."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ladder_backends.debugger.contract import Capability
from ladder_backends.model.breakpoint import BreakpointBinding
from ladder_backends.model.frame import Place, file_name
from ladder_backends.model.grid import Instruction
from ladder_backends.session.ladder import Ladder
from ladder_backends.session.state import Change, LadderState, Run
from ladder_tui.actions import bindings_for
from ladder_tui.panes.breakpoint_rows import breakpoint_mark
from ladder_tui.panes.code_rows import (
    FunctionLine,
    SourceLine,
    Target,
    address_of,
    breakpoint_addresses,
    code_cells,
    mixed_lines,
    target_of,
)
from ladder_tui.panes.lane_counts import LaneCounts, lane_counts
from ladder_tui.panes.pane import Pane
from ladder_tui.widgets.line_view import Hit, Title
from ladder_tui.widgets.row import Cell, Row

if TYPE_CHECKING:
    from ladder_backends.session.debug_state import DebugState
    from ladder_tui.theming import Palette

_ASKED = 64
_GUTTER = 2
_RAW_WIDTH = 24
_NO_TOOLS = "no SASS without cuobjdump and nvdisasm: pip install nvidia-cuda-cuobjdump nvidia-cuda-nvdisasm"
_NEAR = 4
"""Rows from an end of what is held at which more is read."""


class DisassemblyPane(Pane):
    """Instructions; they are asked for only while this pane is visible, and read on as it is scrolled.

    Enter on a jump or call goes where it leads, Backspace comes back. `b` and `u` act on the cursor's instruction.
    """

    CURSOR_LIT = False
    INTEREST = Change.DISASSEMBLY | Change.FRAMES | Change.FOCUS | Change.RUN | Change.BREAKPOINTS | Change.GRID
    BINDINGS: ClassVar = bindings_for("disassembly")

    def __init__(self, ladder: Ladder, *, palette: Palette, id: str) -> None:
        super().__init__(ladder, palette=palette, id=id)
        self._asked_for = ""
        self._held: tuple[Instruction, ...] = ()
        self._lines: list[SourceLine | FunctionLine | Instruction] = []
        self._by_address: dict[int, int] = {}
        self._breakpoints: dict[int, BreakpointBinding] = {}
        self._mixed = True
        self._raw = False
        self._arrives = True
        self._stood: tuple[object, ...] = ()
        self._trail: list[int] = []
        self._lanes = LaneCounts()
        self._lanes_asked: tuple[object, ...] = ()
        self._error = -1
        self.reads_code = False

    # Following -------------------------------------------------------------------------------------------------

    def refresh_from(self, state: LadderState, change: Change) -> None:
        """Ask for the code round the program counter where it left what is here, and go there."""
        debug, session = self.debug, self.session
        if debug is not None and session is not None and debug.run in (Run.STOPPED, Run.DUMP):
            counter = self._counter
            # A stop brings the code along while this pane is visible; a pane that was hidden has to ask.
            missing = counter and not debug.disassembly and counter != self._asked_for
            if missing and debug.capabilities & Capability.DISASSEMBLE:
                self._asked_for = counter
                self.work(self._load())
        self._breakpoints = breakpoint_addresses(debug.breakpoints) if debug is not None else {}
        self._look_at_lanes(debug)
        stands = (debug.place_name, debug.since, self._counter) if debug is not None else ()
        if stands != self._stood:
            # Once the code is here; from then on the cursor is where one moves it.
            self._stood, self._arrives = stands, True
            self._trail.clear()
        self._lay_out()
        if self._arrives and (current := self._current) >= 0:
            self._arrives = False
            self._stand_at(current)
        self.update()

    async def _load(self) -> None:
        """Ask for code; a kernel's first takes its time."""
        session = self.session
        if session is None:
            return
        self.reads_code = True
        self.update()
        try:
            await session.load_disassembly(_ASKED)
        finally:
            self.reads_code = False
            self.update()

    def _look_at_lanes(self, debug: DebugState | None) -> None:
        """In a lane, ask where the others of its block stand, and which instruction raised an exception."""
        session = self.session
        focus = debug.focus if debug is not None else None
        if debug is None or session is None or focus is None or "block" not in focus:
            self._lanes, self._error = LaneCounts(), -1
            return
        if debug.run in (Run.STOPPED, Run.DUMP):
            wanted = (debug.place_name, debug.since, focus)
            if wanted != self._lanes_asked:
                self._lanes_asked = wanted
                self.work(session.machine.device.look_lines())
                self.work(session.machine.kernel.look_error())
        self._lanes = lane_counts(debug)
        told = debug.machine.kernel.error_counter
        self._error = int(told, 16) if told else -1

    def _lay_out(self, *, again: bool = False) -> None:
        debug = self.debug
        code = debug.disassembly if debug is not None else ()
        if code is self._held and not again:
            return
        near = range(self.cursor, min(self.cursor + _NEAR, len(self._lines)))
        kept = next((index for index in near if isinstance(self._lines[index], Instruction)), -1)
        kept_line, below, offset = (
            self._lines[kept] if kept >= 0 else None,
            kept - self.cursor,
            self.cursor - self.top,
        )
        self._held = code
        self._lines = mixed_lines(code, source=self._mixed)
        self._by_address = {
            address_of(one): index for index, one in enumerate(self._lines) if isinstance(one, Instruction)
        }
        if isinstance(kept_line, Instruction) and (row := self._row_of(address_of(kept_line))) >= 0:
            # What was read before the first row must not push the others away.
            self.cursor = max(0, row - below)
            self.top = max(0, self.cursor - offset)

    def _row_of(self, address: int) -> int:
        return self._by_address.get(address, -1)

    def _stand_at(self, row: int) -> None:
        self.cursor = row
        self._follow_cursor = False
        if not self.top <= row < self.top + self.body_height - 1:
            self.top = max(0, row - self.body_height // 3)

    @property
    def _counter(self) -> str:
        debug = self.debug
        if debug is None:
            return ""
        return next((one.address for one in debug.frames.frames if one.level == debug.selected_frame), "")

    @property
    def _current(self) -> int:
        counter = self._counter
        try:
            return self._row_of(int(counter, 16)) if counter else -1
        except ValueError:
            return -1

    # Rows ------------------------------------------------------------------------------------------------------

    @property
    def row_count(self) -> int:
        """Instructions, with the lines between them."""
        return len(self._lines)

    def row(self, index: int) -> Row:
        """A breakpoint's mark, the counter's, where it lies, the instruction; or a line of source."""
        line = self._lines[index]
        if isinstance(line, FunctionLine):
            return Row((Cell("  "), Cell(f"<{line.name}>:" if line.name else "…", "function")))
        if isinstance(line, SourceLine):
            return self._source_row(line)
        debug = self.debug
        current = index == self._current
        address = address_of(line)
        binding = self._breakpoints.get(address)
        outer = debug is not None and debug.selected_frame > 0
        style = "fault" if current and debug is not None and debug.fault_here and not outer else "current-line"
        place = f"{line.offset:+}" if line.function else f"{address:#x}" if address >= 0 else line.address
        marker = ("▷ " if outer else "▶ ") if current else "✗ " if address == self._error else "  "
        cells = [
            breakpoint_mark(binding) if binding is not None else Cell(" "),
            Cell(marker, style if current else "fault"),
            Cell(f"{place:>6}  ", style if current else "gutter"),
        ]
        if self._raw and line.raw.strip("0 "):
            cells.append(Cell(f"{line.raw:<{_RAW_WIDTH}} ", "muted"))
        cells += code_cells(line.text)
        leads = target_of(line)
        if leads is not None and leads.address in self._by_address and not leads.stored:
            cells.append(Cell(" ↑" if leads.address < address else " ↓", "muted"))
        end = self._lanes.words(address, raised=address == self._error)
        return Row(tuple(cells), tuple(Cell(words, style) for words, style in end), target=line, pinned=3)

    def _source_row(self, line: SourceLine) -> Row:
        """A line of source; its file where it is of another one than the target stands in, as of inlined code."""
        debug, place = self.debug, line.place
        file = file_name(place.file)
        stands = file_name(debug.place.file) if debug is not None and debug.place is not None else ""
        cells = (Cell(f"{place.line:>9}  ", "gutter"), Cell(self._source_text(place) or file, "syntax.comment"))
        return Row(cells, (Cell(file, "file"),) if file != stands else (), target=line, pinned=1)

    def _source_text(self, place: Place) -> str:
        lines = self.ladder.source(place.file, place.fullname).lines
        return lines[place.line - 1].strip() if 0 < place.line <= len(lines) else ""

    def is_marked(self, index: int) -> bool:
        """The cursor shows where it is not on the current instruction, which has a marker of its own."""
        return index == self.cursor != self._current

    def title(self) -> Title:
        """The function, and where in memory."""
        line = self._instruction_at(self.cursor)
        if line is None:
            return Title(self.pane_name, (), self.tab_cells())
        cells = [Cell(line.function or line.address, "muted")]
        if self._lanes.places > 1:
            cells.append(Cell(f"  lanes stand at {self._lanes.places} instructions", "warn"))
        return Title(self.pane_name, tuple(cells), self.tab_cells())

    def empty_text(self) -> str:
        """Why there is none."""
        debug = self.debug
        if nowhere := self.not_standing():
            return nowhere
        if debug is not None and not debug.capabilities & Capability.DISASSEMBLE:
            lane = debug.focus is not None and "block" in debug.focus
            return _NO_TOOLS if lane else "this target has no machine code to show"
        counter = self._counter
        if self.reads_code:
            return "disassembling …"
        if counter and counter == self._asked_for:
            return f"no readable code at {counter}"
        return "no instructions yet"

    def _instruction_at(self, index: int) -> Instruction | None:
        """The instruction of a row, or the next one below it."""
        for line in self._lines[index : index + 3]:
            if isinstance(line, Instruction):
                return line
        return None

    # Moving ----------------------------------------------------------------------------------------------------

    def cursor_moved(self) -> None:
        """Read on where the end of what is held comes near."""
        self._read_on()

    def scroll_rows(self, count: int) -> None:
        """The wheel reads on as well."""
        super().scroll_rows(count)
        self._read_on()

    def _read_on(self) -> None:
        session = self.session
        if session is None or not self._held or self.not_standing():
            return
        low, high = min(self.cursor, self.top), max(self.cursor, self.top + self.body_height)
        if low <= _NEAR:
            self.work(session.machine.code.extend(forward=False))
        if high >= len(self._lines) - _NEAR:
            self.work(session.machine.code.extend(forward=True))

    def go(self, place: str) -> None:
        """Show the code at an address or symbol, until the target moves."""
        self.work(self._go(place, remember=True))

    async def _go(self, place: str, *, remember: bool) -> None:
        session = self.session
        if session is None:
            return
        here = self._instruction_at(self.cursor)
        address = await session.machine.code.go(place)
        if address is None:
            return
        if remember and here is not None:
            self._trail.append(address_of(here))
        self._arrives = False
        self._lay_out()
        row = self._row_of(address)
        if row >= 0:
            self._stand_at(row)
        self.update()

    def ask_place(self) -> bool:
        """Ask for an address or symbol to show the code of."""
        self.ladder_app.workspace.prompt.ask(
            "code at", self._ask_go, placeholder="an address or a symbol, or a lane"
        )
        return True

    def _ask_go(self, text: str) -> None:
        if text.strip() and not self.ladder_app.workspace.goes_to_lane(text):
            self.go(text.strip())

    # Acting ----------------------------------------------------------------------------------------------------

    def location_at_cursor(self) -> str:
        """`*0x401136` of the cursor's instruction, or an empty string."""
        line = self._instruction_at(self.cursor)
        return f"*{address_of(line):#x}" if line is not None and address_of(line) >= 0 else ""

    def activate(self, hit: Hit) -> None:
        """A click in the gutter sets or takes away a breakpoint; Enter follows a jump, a call, or a source line."""
        if isinstance(hit.target, SourceLine):
            place = hit.target.place
            if hit.column is None:
                self.ladder_app.workspace.show_source(place.file, place.line, place.fullname)
            return
        if not isinstance(hit.target, Instruction) or self.session is None:
            return
        if hit.column is not None:
            if 0 <= hit.column < _GUTTER:
                self.work(self.session.toggle_breakpoint(f"*{address_of(hit.target):#x}"))
            return
        target = target_of(hit.target)
        if target is None:
            self.ladder_app.say("this instruction leads nowhere else that its text tells", "information")
        elif target.register and hit.index != self._current:
            self.ladder_app.say(f"where it leads is in {target.register} once it is the next one", "information")
        else:
            self.work(self._follow(target))

    async def _follow(self, target: Target) -> None:
        session = self.session
        address: int | None = target.address
        if target.stored and session is not None:
            address = await session.machine.memory.pointer_at(target.address)
            if address is None:
                self.ladder_app.say(f"the pointer at {target.address:#x} cannot be read", "warning")
                return
        await self._go(f"${target.register}" if target.register else f"{address:#x}", remember=True)

    def action_back(self) -> None:
        """Back to where a jump or call was followed from."""
        if not self._trail:
            self.ladder_app.say("code: nothing to go back to", "information")
            return
        self.work(self._go(f"{self._trail.pop():#x}", remember=False))

    def action_here(self) -> None:
        """Back to where the target stands; the code is read anew."""
        session = self.session
        self._arrives = True
        self._trail.clear()
        if session is not None and not self.not_standing():
            # It may look otherwise now, as after a change of the engine's flavour.
            session.machine.code.forget()
            self.work(session.load_disassembly(_ASKED))
        if self._current >= 0:
            self._stand_at(self._current)
            self.update()

    def action_mixed(self) -> None:
        """Show source lines between the instructions, or instructions alone."""
        self._mixed = not self._mixed
        self._lay_out(again=True)
        self.update()

    def action_raw(self) -> None:
        """Show the bytes of instructions, or hide them."""
        if self._held and not any(one.raw.strip("0 ") for one in self._held):
            self.ladder_app.refuse("bytes: the engine tells none of this code")
            return
        self._raw = not self._raw
        self.repaint()

    def action_source(self) -> None:
        """Back to the source."""
        self.ladder_app.workspace.show_pane("source")
