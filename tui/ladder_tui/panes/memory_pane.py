"""Memory as bytes, numbers, pointers and text."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TYPE_CHECKING, ClassVar

from ladder_backends.model.memory import MemoryLayout
from ladder_backends.session.ladder import Ladder
from ladder_backends.session.machine_state import MemoryState
from ladder_backends.session.memory import TOP, WINDOW, byte_range, bytes_before, differs, is_read
from ladder_backends.session.state import Change, LadderState, Run
from ladder_tui.actions import bindings_for, key_of
from ladder_tui.panes.memory_kinds import BYTES, FAMILIES, MemoryKind, characters, of_family, wider
from ladder_tui.panes.pane import Pane
from ladder_tui.widgets.line_view import Hit, Title
from ladder_tui.widgets.row import Cell, Row

if TYPE_CHECKING:
    from ladder_tui.theming import Palette

_REACH = 1 << 20
"""Rows that can be scrolled to on either side of the address asked for."""

_SPACES = {
    "generic": ("e", "as pointers of kernels are, whatever they point to"),
    "global": ("g", "of the device, the same for every lane"),
    "shared": ("s", "of the block"),
    "local": ("l", "of the lane: its stack and spilled registers"),
    "parameter": ("p", "the kernel's arguments"),
    "constant": ("c", "banks of constants; constant 3:0x0 names one"),
}
"""Letter and note of each address space."""

_NOTHING = MemoryState()
_USUAL = MemoryLayout()


class MemoryPane(Pane):
    """Rows of elements round an address, read as they come into view.

    The arrows move from element to element; Enter follows the pointer under the cursor.
    """

    INTEREST = Change.FRAMES | Change.FOCUS | Change.RUN | Change.MACHINE
    BINDINGS: ClassVar = bindings_for("memory")
    CURSOR_LIT = False

    def __init__(self, ladder: Ladder, *, palette: Palette, id: str) -> None:
        super().__init__(ladder, palette=palette, id=id)
        self._kind: MemoryKind = BYTES
        self._home: int | None = None
        self._column = 0
        self._trail: list[tuple[int, int, MemoryKind, str]] = []
        self._symbols_of: tuple[int, int] | None = None
        self._stop: tuple[object, ...] = ()
        self._bytes = 8

    # Following -------------------------------------------------------------------------------------------------

    def refresh_from(self, state: LadderState, change: Change) -> None:
        """Go where was asked to; look again at each stop."""
        debug, session = self.debug, self.session
        if debug is not None:
            if session is not None and self._memory.spaces:
                session.machine.memory.stand()
            stop = (debug.place_name, debug.since, debug.run)
            if stop != self._stop or change & Change.FRAMES:
                self._stop, self._symbols_of = stop, None
            if self._home is None and self._memory.home is not None:
                self._go(self._memory.home)
            if self._unread() and change & Change.RUN and not change & Change.RUNG:
                # What is painted is as it was before: it is painted again when it was read again.
                self._want()
                return
        self.update()

    def show(self, expression: str) -> None:
        """Show memory where an expression points; where one was before is kept to come back to."""
        session = self.session
        if session is not None:
            self.work(self._ask(session.machine.memory.go(expression)))

    async def _ask(self, going: Awaitable[int | None]) -> None:
        before = self._address if self._home is not None else None
        space = self._memory.space
        address = await going
        if address is None:
            return
        if before is not None and (before, space) != (address, self._memory.space):
            self._trail.append((before, self._column, self._kind, space))
        self._go(address)
        self.update()

    def _go(self, address: int) -> None:
        self._home, self._column, self._bytes = address, 0, self._row_bytes
        self._symbols_of = None
        self._follow_cursor = True
        self.cursor = self._home_row
        self.top = self._home_row

    def update(self) -> None:
        """Paint; then ask for what came into view and is not read yet."""
        super().update()
        self._want()

    def _visible(self) -> tuple[int, int]:
        """The first address in view, and how many bytes are."""
        start = self._row_address(self.top)
        return start, min(TOP - start, self.body_height * self._bytes)

    def _unread(self) -> bool:
        """The target stands, and something in view is not read yet."""
        debug = self.debug
        if debug is None or self._home is None or debug.run not in (Run.STOPPED, Run.DUMP):
            return False
        start, length = self._visible()
        return length > 0 and not is_read(self._memory, start, length)

    def _want(self) -> None:
        session, debug = self.session, self.debug
        if session is None or debug is None or self._home is None or not self.display or not self.size.height:
            return
        if debug.run not in (Run.STOPPED, Run.DUMP):
            return
        start, length = self._visible()
        pointers = self._kind.family == "pointer"
        fresh = pointers and self._symbols_of != (start, length)
        if length > 0 and (fresh or not is_read(self._memory, start, length)):
            self._symbols_of = (start, length) if pointers else None
            self.work(session.machine.memory.look(start, length, pointers=pointers))

    def sized(self) -> None:
        """Where rows hold another number of bytes now, the cursor stays at its address."""
        before, self._bytes = self._bytes, self._row_bytes
        if self._home is None or before == self._bytes:
            return
        self._stand_at(self._home + (self.cursor - self._home_row) * before + self._column * self._kind.size)

    def _stand_at(self, address: int) -> None:
        """Put the cursor on the element an address is in; rows go on beginning where they began."""
        offset = self.cursor - self.top
        rows, rest = divmod(address - (self._home or 0), self._bytes)
        self.cursor, self._column = self._home_row + rows, rest // self._kind.size
        self.top = max(0, self.cursor - offset)

    # Geometry --------------------------------------------------------------------------------------------------

    @property
    def _memory(self) -> MemoryState:
        debug = self.debug
        return debug.machine.memory if debug is not None else _NOTHING

    @property
    def _layout(self) -> MemoryLayout:
        return self._memory.layout or _USUAL

    @property
    def _address_digits(self) -> int:
        return 12 if (self._home or 0) < 1 << 48 else 16

    @property
    def _row_bytes(self) -> int:
        """Bytes of a row as wide as the pane is: 16 or 8, or one pointer with what it points to."""
        kind = self._kind
        if kind.family == "pointer":
            return kind.size
        for count in (32, 16, 8):
            elements = count // kind.size
            width = self._address_digits + 4 + elements * (kind.width + 1) + count + 2
            if elements and width <= self.body_width and count <= max(16, 4 * kind.size):
                return count
        return max(8, kind.size)

    @property
    def _home_row(self) -> int:
        home = self._home or 0
        return min(_REACH, home // self._bytes)

    def _row_address(self, index: int) -> int:
        return (self._home or 0) + (index - self._home_row) * self._bytes

    @property
    def _address(self) -> int:
        """Of the element under the cursor."""
        return self._row_address(self.cursor) + self._column * self._kind.size

    @property
    def row_count(self) -> int:
        """Rows that can be scrolled to; none before anything was asked for."""
        if self._home is None or self.not_standing():
            return 0
        after = (TOP - self._home + self._bytes - 1) // self._bytes
        return self._home_row + min(_REACH, after)

    # Rows ------------------------------------------------------------------------------------------------------

    def _why_unread(self, index: int) -> str:
        """Why nothing of a row could be read; empty where something was."""
        start = self._row_address(index)
        count = min(self._bytes, TOP - start)
        unread = is_read(self._memory, start, 1) and all(
            one is None for one in byte_range(self._memory, start, count)
        )
        return self._memory.why.get(start - start % WINDOW, "") if unread else ""

    def row(self, index: int) -> Row:
        """Address, elements, their bytes as text; for pointers what they point to."""
        kind, state, little = self._kind, self._memory, self._layout.little
        start = self._row_address(index)
        count = min(self._bytes, TOP - start)
        raw, before = byte_range(state, start, count), bytes_before(state, start, count)
        waiting = not is_read(state, start, 1)
        if waiting:
            raw = before
        moved = raw != before
        cells = [Cell(f"0x{start:0{self._address_digits}x}  ", "gutter")]
        for number in range(count // kind.size):
            at = number * kind.size
            piece = raw[at : at + kind.size]
            text = "" if waiting and None in piece else kind.text(piece, little=little)
            style = "value"
            if waiting or None in piece:
                style = "muted"
            elif moved and differs(piece, before[at : at + kind.size]):
                style = "changed"
            here = index == self.cursor and number == self._column
            cells.append(Cell(f"{text:>{kind.width}}", "text-cursor" if here else style, start + at))
            cells.append(Cell("•" if style == "changed" else " ", "changed"))
        if kind.family == "pointer":
            symbol = state.symbols.get(start, "")
            cells.append(Cell(f" {symbol}" if symbol else "", "function"))
        else:
            cells += [Cell(" "), Cell(characters(raw), "muted" if waiting else "syntax.string")]
        why = self._why_unread(index) if not waiting else ""
        if why:
            # Once for all rows below each other that share it.
            said = index > self.top and self._why_unread(index - 1) == why
            cells = [cells[0], Cell("" if said else why, "muted", start)]
        return Row(tuple(cells), target=start, pinned=1)

    def title(self) -> Title:
        """Where, and as what it is read."""
        told = []
        state, debug = self._memory, self.debug
        if self._home is not None:
            known = state.symbol if state.home == self._home else ""
            told = [known or f"{self._home:#x}", self._kind.name]
            if state.spaces:
                told.insert(0, f"@{state.space}" + (f" of {state.size:,} B" if state.size else ""))
            if debug is not None and debug.run is Run.DUMP:
                told.append("read only")
        words = " ".join(word for word in told if word)
        return Title(self.pane_name, (Cell(words, "muted"),) if words else (), self.tab_cells())

    def empty_text(self) -> str:
        """How to see some."""
        nowhere = self.not_standing()
        return nowhere or self._memory.note or f"{key_of('memory.at')} asks for an address or expression"

    def is_marked(self, index: int) -> bool:
        """The element under the cursor is marked, not its row."""
        return False

    def copy_text(self, index: int) -> str:
        """The bytes of the row as hex pairs."""
        raw = byte_range(self._memory, self._row_address(index), self._bytes)
        return " ".join("??" if byte is None else f"{byte:02x}" for byte in raw)

    # Moving ----------------------------------------------------------------------------------------------------

    def action_sideways(self, columns: int) -> None:
        """Left and right go from element to element, over the ends of rows."""
        if self._home is None:
            return
        elements = self._bytes // self._kind.size
        column = self._column + (1 if columns > 0 else -1)
        row = self.cursor
        if not 0 <= column < elements:
            row += 1 if column >= elements else -1
            column %= elements
        if 0 <= row < self.row_count:
            self._column = column
            self.move_cursor(row)

    def action_edge(self, which: str) -> None:
        """Home and End lead to the address that was asked for: memory has no ends to go to."""
        self._column = 0
        self.move_cursor(self._home_row)

    def search(self, needle: str, *, backwards: bool = False) -> bool:
        """Look for text in the rows round the cursor that are read already."""
        self._needle = needle = (needle or self._needle).casefold()
        if not needle or self._home is None:
            return False
        state, size = self._memory, self._bytes
        read = sorted(state.windows)
        here = self._row_address(self.cursor)
        for base in (*(one for one in read if one + len(state.windows[one]) > here), *read):
            text = characters(state.windows[base]).casefold()
            at = text.find(needle, max(0, here + size - base) if base <= here else 0)
            if at >= 0:
                index = self._home_row + (base + at - self._home) // size
                self._column = (base + at - self._row_address(index)) // self._kind.size
                self.move_cursor(index)
                return True
        return False

    # Acting ----------------------------------------------------------------------------------------------------

    def activate(self, hit: Hit) -> None:
        """A click moves the cursor to an element; Enter follows the pointer that begins there."""
        if hit.column is not None:
            if isinstance(hit.target, int):
                self._column = (hit.target - self._row_address(hit.index)) // self._kind.size
                self.update()
            return
        raw = byte_range(self._memory, self._address, self._layout.pointer)
        if None in raw:
            why = self._memory.why.get(self._address - self._address % WINDOW, "")
            words = f": {why}" if why else ""
            self.ladder_app.say(f"no pointer can be read at {self._address:#x}{words}", "warning")
            return
        whole = bytes(byte for byte in raw if byte is not None)
        target = int.from_bytes(whole if not self._layout.little else whole[::-1], "big")
        self.show(f"{target:#x}")

    def action_back(self) -> None:
        """Go back to where the last pointer was followed from."""
        if not self._trail:
            self.ladder_app.say("memory: nothing to go back to", "information")
            return
        address, column, kind, space = self._trail.pop()
        self._kind = kind
        if space != self._memory.space and self.session is not None:
            self.work(self._return(self.session.machine.memory.go(f"{space} {address:#x}"), address, column))
            return
        self._go(address - column * kind.size)
        self._column = column
        self.update()

    async def _return(self, going: Awaitable[int | None], address: int, column: int) -> None:
        if await going is not None:
            self._go(address - column * self._kind.size)
            self._column = column
            self.update()

    def action_space(self) -> None:
        """Choose the address space that is looked at."""
        session = self.session
        memory = session.machine.memory if session is not None else None
        if memory is None or not memory.spaces:
            self.ladder_app.refuse("space: this engine knows one address space")
            return
        self.ladder_app.workspace.offer(
            "Look at the memory that is",
            [(_SPACES[name][0], name, name, _SPACES[name][1]) for name in memory.spaces if name in _SPACES],
            lambda space: self.work(self._ask(memory.choose_space(space))),
        )

    def action_format(self) -> None:
        """Choose as what memory is read."""
        self.ladder_app.workspace.offer(
            "Read memory as",
            [(key, family, family, note) for key, family, note, _ in FAMILIES],
            lambda family: self._read_as(of_family(family, max(2, self._kind.size), self._layout.pointer)),
        )

    def action_wider(self, steps: int) -> None:
        """Larger or smaller elements."""
        self._read_as(wider(self._kind, steps))

    def _read_as(self, kind: MemoryKind) -> None:
        address = self._address
        self._kind, self._symbols_of = kind, None
        self._bytes = self._row_bytes
        if self._home is not None:
            self._stand_at(address)
        self.update()

    def action_set(self) -> None:
        """Ask for a value of the element under the cursor, and write exactly its bytes."""
        session = self.session
        why = session.machine.read_only() if session is not None else "nothing is open"
        if session is None or why or self._home is None:
            self.ladder_app.refuse(f"set: {why or 'go to some memory first'}")
            return
        address, kind, little = self._address, self._kind, self._layout.little

        def give(text: str) -> None:
            if not text.strip():
                return
            try:
                contents = kind.bytes_of(text, little=little)
            except ValueError as error:
                self.ladder_app.say(f"nothing was written: {error}", "warning")
                return
            self.work(session.machine.memory.write(address, contents))

        raw = byte_range(self._memory, address, kind.size)
        initial = "" if None in raw else kind.text(raw, little=little)
        self.ladder_app.workspace.prompt.ask(f"{address:#x} {kind.name} =", give, initial=initial, typed_over=True)

    def ask_place(self) -> bool:
        """Ask for an address or expression to show."""
        self.ladder_app.workspace.action_memory()
        return True
