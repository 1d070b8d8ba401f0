"""The area between the bars: places panes where the layout says, with separators that meet."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from textual.geometry import Offset, Region, Size, Spacing
from textual.layout import ArrangeResult, Layout, WidgetPlacement
from textual.strip import Strip
from textual.widget import Widget

from ladder_tui.panes.pane import Pane
from ladder_tui.screens.layouts import Part, Placed, edges, place

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
    """

    ALLOW_SELECT = False
    DEFAULT_CSS = "PaneArea { width: 1fr; height: 1fr; }"

    def __init__(self, palette: Palette) -> None:
        super().__init__(id="pane-area")
        self.palette = palette
        self.regions: dict[str, Region] = {}
        self.active: dict[tuple[str, ...], str] = {}
        self.zoomed = ""
        self._arrangement = _PanesByRegion()

    @property
    def layout(self) -> Layout:
        """Panes go by region."""
        return self._arrangement

    def render_lines(self, crop: Region) -> list[Strip]:
        """Blank, in the palette's own colours; panes cover all of it."""
        return [Strip.blank(crop.width, self.palette.base)] * crop.height

    def visible_ids(self, part: Part, size: Size) -> list[tuple[str, Placed]]:
        """Ids of the panes a layout shows, with their places, in reading order."""
        area = Region(0, 0, size.width, size.height)
        placed = place(part, area)
        if self.zoomed:
            for one in placed:
                if self.zoomed in one.slot.panes:
                    return [(self.zoomed, Placed(one.slot, area))]
        return [(self.active.get(one.slot.panes, one.slot.panes[0]), one) for one in placed if one.region.area]

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
