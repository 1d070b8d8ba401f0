"""The hardware as rows: devices, the SMs of one as a map, the warps of one SM with their lanes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from ladder_backends.model.focus import format_coordinate
from ladder_backends.model.grid import LANES, Device, LaneState, Sm
from ladder_backends.session.state import DebugState
from ladder_tui.panes.grid_lanes import counters_line, lane_cells, program_counters, ranges_words
from ladder_tui.widgets.row import Cell, Row

_HEAD = 8
_LEVELS = ((1.0, "█"), (0.75, "▓"), (0.4, "▒"), (0.0, "░"))
_MOST_SMS = 1_024


class DeviceTarget(NamedTuple):
    """A device's row."""

    device: int


class SmsTarget(NamedTuple):
    """A line of the map of SMs: the first of them, and how many."""

    first: int
    size: int


class SmTarget(NamedTuple):
    """One SM of the map."""

    sm: int


class SlotTarget(NamedTuple):
    """A warp of an SM, by its slot; `lane` is one that can be stood in, or None."""

    device: int
    sm: int
    warp: int
    lane: int | None


@dataclass(slots=True)
class HardwareRows:
    """Rows of one state.

    Attributes:
        lane_start: Column of lane 0 in a warp's row.
        slot_rows: Row number by warp slot.
        sm_columns: SMs on one line of the map.
    """

    rows: list[Row] = field(default_factory=list)
    lane_start: int = 0
    slot_rows: dict[int, int] = field(default_factory=dict)
    sm_columns: int = 1


def hardware_rows(
    debug: DebugState, *, width: int, cursor_sm: int | None, cursor_slot: int | None, cursor_lane: int
) -> HardwareRows:
    """Lay the hardware out.

    Args:
        debug: The state to draw.
        width: Columns of a row.
        cursor_sm: The SM under the cursor, or None.
        cursor_slot: The warp slot under the cursor, or None.
        cursor_lane: Lane under the cursor.
    """
    built = HardwareRows()
    rows, state = built.rows, debug.hardware
    shown = next((device for device in state.devices if device.number == state.device), None)
    here = debug.focus.index("device") if debug.focus is not None else None
    rows += [_device_row(device, device is shown, device.number == here) for device in state.devices]
    if state.note:
        rows.append(Row((Cell("! ", "warn"), Cell(state.note, "warn"))))
    if shown is not None:
        _sm_rows(built, debug, shown, width, cursor_sm)
    _slot_rows(built, debug, width, cursor_slot, cursor_lane)
    if state.asked:
        rows.append(Row((Cell(f"asking for {state.asked} …", "muted"),)))
    return built


def _device_row(device: Device, shown: bool, focused: bool) -> Row:
    """Filled where the engine stands, hollow where only its SMs are looked at."""
    used = device.active_sms.bit_count()
    cells = (
        Cell("◆ " if focused else "◇ " if shown else "  ", "focus"),
        Cell(f"device {device.number}  ", "number"),
        Cell(device.name, "function"),
        Cell(f"  {device.architecture}  {device.bus}", "muted"),
    )
    return Row(cells, (Cell(f"{used} of {device.sm_count} SMs in use", "muted"),), DeviceTarget(device.number))


def _sm_rows(built: HardwareRows, debug: DebugState, device: Device, width: int, cursor: int | None) -> None:
    """All SMs of a device, each by the share of its warp slots that are taken."""
    state, rows = debug.hardware, built.rows
    by_number: dict[int, Sm] = {sm.number: sm for sm in state.sms}
    count = min(_MOST_SMS, max(device.sm_count, max(by_number, default=-1) + 1))
    focus = debug.focus
    here = focus.index("sm") if focus is not None and focus.index("device") == device.number else None
    room = max(8, min(66, width - _HEAD))
    # Lines of equal length, so that a column means something.
    lines = -(-count // room) if count else 0
    built.sm_columns = columns = -(-count // lines) if lines else 1
    idle: list[int] = []
    for first in range(0, count, columns):
        size = min(columns, count - first)
        if not any(number in by_number or number in (here, cursor) for number in range(first, first + size)):
            idle.append(first)
            continue
        _idle_row(rows, idle, first)
        cells = [Cell(f"{'SM ' + str(first):<{_HEAD}}", "muted")]
        for number in range(first, first + size):
            sm = by_number.get(number)
            style = "lane-active" if sm is not None and sm.warps else "lane-absent"
            glyph = _glyph(sm, device)
            if number == here:
                glyph, style = "◆", "focus"
            if number == cursor:
                style = "lane-focus"
            cells.append(Cell(glyph, style, SmTarget(number)))
        rows.append(Row(tuple(cells), target=SmsTarget(first, size)))
    _idle_row(rows, idle, count)
    about = cursor if cursor is not None else state.sm
    if about is not None:
        rows.append(Row((Cell(" " * _HEAD), Cell(_sm_words(about, by_number.get(about), device), "muted"))))


def _idle_row(rows: list[Row], idle: list[int], after: int) -> None:
    """One row for lines on which nothing is resident."""
    if idle:
        words = f"· SM {idle[0]}–{after - 1} idle" if after - 1 > idle[0] else f"· SM {after - 1} idle"
        rows.append(Row((Cell(" " * _HEAD), Cell(words, "lane-absent"))))
        idle.clear()


def _glyph(sm: Sm | None, device: Device) -> str:
    if sm is None or not sm.warps:
        return "·"
    share = sm.warps / max(device.warps_per_sm, sm.warps)
    return next(shade for level, shade in _LEVELS if share >= level)


def _sm_words(number: int, sm: Sm | None, device: Device) -> str:
    if sm is None or not sm.warps:
        return f"SM {number} idle"
    slots = ranges_words([slot for slot in range(sm.active_warps.bit_length()) if sm.active_warps >> slot & 1])
    of = f" of {device.warps_per_sm}" if device.warps_per_sm else ""
    return f"SM {number} · {sm.warps}{of} warp slots taken: {slots}"


def _slot_rows(
    built: HardwareRows, debug: DebugState, width: int, cursor_slot: int | None, cursor_lane: int
) -> None:
    """The warps of the SM that is looked at: slot, lanes, whose they are."""
    state, rows = debug.hardware, built.rows
    if state.sm is None or not state.warps:
        return
    counters = program_counters(state.warps)
    if counters.diverge:
        rows.append(Row(tuple(counters_line(counters, width))))
    digits = len(str(max(warp.number for warp in state.warps)))
    mark = "w" if width >= digits + 2 + LANES else ""
    digits += len(mark)
    built.lane_start = digits + 1
    focus = debug.focus
    stands = focus is not None and (focus.index("device"), focus.index("sm")) == (state.device, state.sm)
    for warp in state.warps:
        built.slot_rows[warp.number] = len(rows)
        here = focus is not None and stands and focus.index("warp") == warp.number
        lane = focus.index("lane") if here and focus is not None else None
        at_cursor = warp.number == cursor_slot
        cells = lane_cells(warp, counters, lane, cursor_lane if at_cursor else None)
        whose = f" {format_coordinate(warp.block)} warp {warp.index}"
        if warp.kernel is not None and len(debug.grid.kernels) > 1:
            whose = f" kernel {warp.kernel}{whose}"
        end = (Cell(whose, "muted"),) if width >= built.lane_start + LANES + len(whose) else ()
        first = next((each.number for each in warp.lanes if each.state is not LaneState.ABSENT), None)
        target = SlotTarget(state.device or 0, state.sm, warp.number, first)
        rows.append(Row((Cell(f"{f'{mark}{warp.number}':>{digits}} ", "number"), *cells), end, target))
