"""The area between the bars: places panes where the layout says, with separators that meet."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from textual.geometry import Offset, Region, Size, Spacing
from textual.layout import ArrangeResult, Layout, WidgetPlacement
from textual.strip import Strip
from textual.widget import Widget

from ladder_tui.panes.pane import Pane
from ladder_tui.screens.layouts import Part, Placed, Slot, edges, place, without_idle

if TYPE_CHECKING:
    from ladder_tui.theming import Palette


class _PanesByRegion(Layout):
    """Places each child where `PaneArea.regions` says."""

    name = "panes"

    def arrange(self, parent: Widget, children: list[Widget], size: Size, greedy: bool = True) -> ArrangeResult:
        assert isinstance(parent, PaneArea)
        nowhere = Spacing()
        return [
            WidgetPlacement(region, Offset(0, 0), nowhere, child)
            for child in children
            if child.id is not None and (region := parent.regions.get(child.id)) is not None
        ]


class PaneArea(Widget):
    """Holds the panes.

    Attributes:
        regions: Where each visible pane is, by id.
        active: The pane shown in each slot that was changed by hand, by the slot's ids.
        zoomed: Id of the pane that has the whole area, or an empty string.
        folded: Panes with nothing to show, of which only the title line is left.
    """

    ALLOW_SELECT = False
    DEFAULT_CSS = "PaneArea { width: 1fr; height: 1fr; }"

    def __init__(self, palette: Palette) -> None:
        super().__init__(id="pane-area")
        self.palette = palette
        self.regions: dict[str, Region] = {}
        self.active: dict[tuple[str, ...], str] = {}
        self.zoomed = ""
        self.folded: frozenset[str] = frozenset()
        self._arrangement = _PanesByRegion()

    @property
    def layout(self) -> Layout:
        """Panes go by region."""
        return self._arrangement

    def render_lines(self, crop: Region) -> list[Strip]:
        """Blank, in the palette's own colours; panes cover all of it."""
        return [Strip.blank(crop.width, self.palette.base)] * crop.height

    def visible_ids(self, part: Part, size: Size, idle: Collection[str] = ()) -> list[tuple[str, Placed]]:
        """Ids of the panes a layout shows, with their places, in reading order; `idle` ones show nothing."""
        area = Region(0, 0, size.width, size.height)
        self.folded = frozenset()
        if isinstance(part, Slot):
            first = next((pane for pane in part.panes if pane not in idle), part.panes[0])
            zoomed = self.zoomed if self.zoomed in part.panes else ""
            return [(zoomed or self.active.get(part.panes, first), Placed(part, area))]
        placed = place(part if self.zoomed else without_idle(part, idle, self.active), area)
        if self.zoomed:
            for one in placed:
                if self.zoomed in one.slot.panes:
                    return [(self.zoomed, Placed(one.slot, area))]
        shown = [(self.active.get(one.slot.panes, one.slot.panes[0]), one) for one in placed if one.region.area]
        self.folded = frozenset(name for name, one in shown if one.slot.fixed and name in idle)
        return shown

    def arrange_panes(self, shown: list[tuple[str, Placed]], panes: Mapping[str, Pane]) -> None:
        """Put the panes where they go; panes that are not shown are hidden."""
        regions = {pane_id: placed.region for pane_id, placed in shown}
        for pane_id, pane in panes.items():
            pane.display = pane_id in regions
        for pane_id, placed in shown:
            pane = panes[pane_id]
            others = [region for other, region in regions.items() if other != pane_id]
            edge, joins = edges(placed.region, others)
            if (pane.edge, pane.joins, pane.tabs) != (edge, joins, placed.slot.panes):
                pane.edge, pane.joins, pane.tabs = edge, joins, placed.slot.panes
                pane.repaint()
        if regions != self.regions:
            self.regions = regions
            self.refresh(layout=True)
            if shown:
                # Where the same panes stay, only one of them that asks makes the area forget where they were.
                panes[shown[0][0]].refresh(layout=True)
