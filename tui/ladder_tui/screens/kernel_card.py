"""How a kernel was launched, where the focused lane stands in it, and what its exception means."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from textual import events
from textual.app import ComposeResult
from textual.screen import ModalScreen

from ladder_backends.model.focus import Focus, format_coordinate
from ladder_backends.model.frame import FrameKind, file_name
from ladder_backends.model.grid import LANES, volume
from ladder_backends.model.kernel_launch import KernelLaunch
from ladder_backends.model.provenance import Provenance
from ladder_backends.session.lane_words import global_number, lane_words
from ladder_tui.screens.dialog import Dialog
from ladder_tui.theming import Palette
from ladder_tui.widgets.line_view import LineView, Title
from ladder_tui.widgets.row import Cell, Row, printable

if TYPE_CHECKING:
    from ladder_tui.panes.pane import Pane

_LABEL = 12
_UNKNOWN = "?"


class KernelCard(LineView):
    """Facts of a launch, one a line; what the engine does not tell is `?`, what is computed here says so."""

    def __init__(self, launch: KernelLaunch, focus: Focus | None, *, palette: Palette) -> None:
        super().__init__(id="kernel-card", palette=palette)
        self._launch, self._focus = launch, focus
        self._rows: list[Row] = []

    def sized(self) -> None:
        """Wrap for this width."""
        self._rows = list(card_rows(self._launch, self._focus, max(20, self.body_width - _LABEL - 3)))

    @property
    def row_count(self) -> int:
        """Lines of all facts."""
        return len(self._rows)

    def row(self, index: int) -> Row:
        """A line of a fact."""
        return self._rows[index]

    def title(self) -> Title:
        """The kernel, and how to leave."""
        kernel, source = self._launch.kernel, self._launch.provenance
        state = [Cell(printable(kernel.name), "function"), Cell(f"  kernel {kernel.number}", "muted")]
        if source is Provenance.RECORDING:
            state.append(Cell("  recording", "recording"))
        keys = (Cell("y", "key"), Cell(" copies  ", "muted"), Cell("Esc", "key"), Cell(" closes", "muted"))
        return Title("Kernel", tuple(state), keys)

    def copy_text(self, index: int) -> str:
        """The whole fact."""
        target = self._rows[index].target
        return target if isinstance(target, str) else ""


class KernelCardScreen(Dialog, ModalScreen[None]):
    """The card, over everything."""

    BLANK = True
    ALLOW_SELECT = False
    DEFAULT_CSS = (
        "KernelCardScreen { background: $background; } KernelCardScreen KernelCard { width: 1fr; height: 1fr; }"
    )

    def __init__(self, palette: Palette, launch: KernelLaunch, focus: Focus | None) -> None:
        super().__init__()
        self._card = KernelCard(launch, focus, palette=palette)

    def compose(self) -> ComposeResult:
        """The card alone."""
        yield self._card

    def on_mount(self) -> None:
        """Arrows move, `y` copies."""
        self._card.take_focus()

    def on_key(self, event: events.Key) -> None:
        """Esc closes, as q and the key that opened it do."""
        if event.key in ("escape", "ctrl+g", "q", "i"):
            event.stop()
            event.prevent_default()
            self.dismiss()


async def show_kernel(pane: Pane) -> None:
    """Show the focused kernel's card over a pane's workspace, or say why there is none."""
    session, debug = pane.session, pane.debug
    if session is None or debug is None:
        return
    await session.machine.kernel.look()
    told = debug.machine.kernel
    if told.launch is None:
        pane.ladder_app.refuse(f"kernel: {told.note or 'the program does not stand in one'}")
        return
    launch, variables = told.launch, debug.variables
    lane = [one for one in debug.frames.frames if one.kind is FrameKind.DEVICE]
    if not launch.arguments and len(lane) == 1 and not variables.frame_level:
        # The innermost frame is the kernel itself: its arguments are on screen already.
        launch = replace(launch, arguments=tuple(one for one in variables.variables if one.is_argument))
    pane.app.push_screen(KernelCardScreen(pane.ladder_app.workspace.palette, launch, debug.focus))


def card_rows(launch: KernelLaunch, focus: Focus | None, width: int) -> Iterator[Row]:
    """The card's lines; `width` is that of a fact beside its label."""
    for label, text, style in _facts(launch, focus, width):
        text = printable(text)
        for number, line in enumerate(textwrap.wrap(text, width) or [""]):
            yield Row((Cell(f" {'' if number else label:<{_LABEL}} ", "muted"), Cell(line, style)), target=text)


def _facts(launch: KernelLaunch, focus: Focus | None, width: int) -> Iterator[tuple[str, str, str]]:
    kernel, exception = launch.kernel, launch.exception
    if exception is not None:
        number = f" (CUDA_EXCEPTION_{exception.number})" if exception.number is not None else ""
        yield "exception", exception.name + number, "fault"
        if exception.meaning:
            yield "means", exception.meaning, "text"
        if exception.remedy:
            yield "helps", exception.remedy, "text"
        if exception.exact in ("warp", "device"):
            yield "", f"told of the {exception.exact}: which of its lanes raised it is not", "muted"
    if launch.error_counter:
        place = launch.error_place
        line = f" · {file_name(place.file)}:{place.line}" if place is not None else ""
        yield "raised at", f"{launch.error_counter} {launch.error_symbol}{line}", "number"
    blocks, threads = volume(kernel.grid_dim), volume(kernel.block_dim)
    warps = -(-threads // LANES)
    yield "grid", f"{format_coordinate(kernel.grid_dim)} blocks", "number"
    yield "block", f"{format_coordinate(kernel.block_dim)} threads", "number"
    cluster = format_coordinate(kernel.cluster_dim) + " blocks" if kernel.cluster_dim is not None else "none told"
    yield "cluster", cluster, "number" if kernel.cluster_dim is not None else "muted"
    together = (
        f"{_count(blocks, 'block')} of {_count(threads, 'thread')}, {_count(warps, 'warp')} each:"
        f" {_count(blocks * threads, 'thread')}"
    )
    yield "", f"{together} (computed)", "muted"
    yield "shared", _shared_words(launch), "number"
    yield "registers", f"{launch.registers} a thread" if launch.registers else _UNKNOWN, "number"
    yield "stream", _UNKNOWN, "muted"
    for position, argument in enumerate(launch.arguments):
        value = argument.error or argument.value or _UNKNOWN
        kind = f"  {argument.type}" if argument.type else ""
        yield "" if position else "arguments", f"{argument.name} = {value}{kind}", "value"
    if not launch.arguments:
        yield "arguments", launch.build or "none told", "muted"
    if words := lane_words(focus, kernel, max(width, 40), kernel.device or None):
        yield "lane", words, "text"
        if focus is not None and "computed" not in words:
            yield "", f"number {global_number(focus, kernel):,} of the grid (computed)", "muted"
    if launch.build and launch.arguments:
        yield "build", launch.build, "warn"
    if launch.debug:
        told = {"full": "with -G", "lines": "with lines of source only", "none": "without debug information"}
        yield "compiled", told.get(launch.debug, launch.debug), "muted"
    yield "code", "Disassembly shows SASS; the engine tells no PTX", "muted"


def _shared_words(launch: KernelLaunch) -> str:
    """Bytes of a block, of which kind as far as that is told."""
    if launch.shared is None:
        return f"? of which {launch.dynamic:,} B by the launch" if launch.dynamic is not None else _UNKNOWN
    dynamic = f", of which {launch.dynamic:,} B by the launch" if launch.dynamic is not None else ""
    return f"{launch.shared:,} B a block with what the system keeps of it{dynamic}"


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
