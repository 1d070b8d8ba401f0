"""What the workspace's keys do with memory, machine code and source files."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, cast

from ladder_backends.debugger.contract import Capability

if TYPE_CHECKING:
    from ladder_backends.session.source_names import SourceNames
    from ladder_tui.panes.pane import Pane
    from ladder_tui.screens.workspace import Workspace


class MachineCommands:
    """Actions on the machine below the source, whichever pane is shown."""

    _source_names: tuple[object, SourceNames] | None = None

    @property
    def _focused_pane(self) -> Pane | None:
        home = cast("Workspace", self)
        focused = home.focused
        return home.panes.get(focused.id or "") if focused is not None else None

    def offer(
        self,
        question: str,
        answers: Iterable[tuple[str, str, str, str]],
        then: Callable[[str], None],
        *,
        why: str = "",
    ) -> None:
        """Let a person choose.

        Args:
            question: What it is about.
            answers: Letter, label, value and note of each answer.
            then: Called with the value of the answer; not at all where none is given.
            why: A second line.
        """
        from ladder_tui.screens.choice import ChoiceScreen, Option

        home = cast("Workspace", self)
        options = tuple(Option(*answer) for answer in answers)
        screen = ChoiceScreen(question, options, home.palette, why=why)
        home.app.push_screen(screen, lambda value: then(value) if value else None)

    def show_memory(self, expression: str) -> None:
        """Show memory where an expression of the selected frame points."""
        from ladder_tui.panes.memory_pane import MemoryPane

        pane = cast("Workspace", self).show_pane("memory")
        if isinstance(pane, MemoryPane):
            pane.show(expression)

    def show_code(self, place: str) -> None:
        """Show the machine code at an address or a register."""
        from ladder_tui.panes.disassembly_pane import DisassemblyPane

        pane = cast("Workspace", self).show_pane("disassembly")
        if isinstance(pane, DisassemblyPane):
            pane.go(place)

    async def show_kernel(self, pane: Pane) -> None:
        """Show how the kernel was launched that a pane's session stands in."""
        from ladder_tui.screens.kernel_card import show_kernel

        await show_kernel(pane)

    def action_memory(self) -> None:
        """Ask where to look; the value under the cursor is offered."""
        home = cast("Workspace", self)
        if home._refused("memory"):
            return

        pane = self._focused_pane
        offered = pane.expression_at_cursor() if pane is not None else ""

        def give(text: str) -> None:
            if not home.goes_to_lane(text) and (expression := text.strip() or offered):
                self.show_memory(expression)

        placeholder = f"an address or expression; ⏎ alone: {offered}" if offered else "an address or expression"
        if home.debug is not None and home.debug.capabilities & Capability.DEVICE_FOCUS:
            placeholder += "; or a lane: 3,0,0 240"
        home.prompt.ask("memory at", give, placeholder=placeholder)

    def action_open_source(self) -> None:
        """Choose a source file and show it; the target stays where it is."""
        from ladder_backends.session.source_names import SourceNames
        from ladder_tui.screens.open_source import SourceScreen

        home = cast("Workspace", self)
        session = home.ladder.active
        engine = session.debugger if session is not None else None
        # What a program that does not run yet knows of is not all: its libraries come later.
        key = (engine, session.machine.stop > 0 if session is not None else False)
        if self._source_names is None or self._source_names[0] != key:
            self._source_names = key, SourceNames(session)

        def chosen(name: str | None) -> None:
            if name:
                home.show_source(name, 1, name if name.startswith("/") else "")

        home.app.push_screen(SourceScreen(home.ladder, self._source_names[1], home.palette), chosen)

    def asks_place(self) -> bool:
        """Let the pane with the focus ask for a place of its own kind; False where it has none."""
        pane = self._focused_pane
        return pane is not None and pane.ask_place()

    def location_at_cursor(self) -> str:
        """The place under the cursor of the pane with the focus, as engines write it; else that of the source."""
        panes = (self._focused_pane, cast("Workspace", self).panes.get("source"))
        return next((place for pane in panes if pane is not None and (place := pane.location_at_cursor())), "")
