"""The command palette: every action of the registry, by name."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, cast

from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content

from ladder_tui.actions import ACTIONS, Action, why_not
from ladder_tui.theming import available_themes, user_theme_dir

if TYPE_CHECKING:
    from ladder_tui.app import LadderApp


class LadderCommands(Provider):
    """Offers what makes sense now, and the themes."""

    @property
    def _ladder_app(self) -> LadderApp:
        return cast("LadderApp", self.app)

    def _offers(self) -> list[tuple[str, str, str, partial[None]]]:
        app = self._ladder_app
        debug = app.workspace.debug
        offers = [
            (
                action.description,
                action.hint,
                f"{action.key_label}  {action.group}",
                partial(app.workspace.perform, action),
            )
            for action in ACTIONS
            if self._useful(action) and not why_not(action, app.ladder.state, debug)
        ]
        themes = available_themes(user_theme_dir())
        return offers + [
            (f"Theme: {name}", "", "Draw everything in it", partial(app.use_theme, name)) for name in themes
        ]

    def _useful(self, action: Action) -> bool:
        return action.scope != "list" and action.id != "palette"

    async def discover(self) -> Hits:
        """Everything, before anything is typed."""
        for name, _, note, run in self._offers():
            yield DiscoveryHit(Content(name), run, name, note)

    async def search(self, query: str) -> Hits:
        """What matches by its description, or by its word in the field: quit, break, step."""
        matcher = self.matcher(query)
        for name, word, note, run in self._offers():
            if (score := max(matcher.match(name), matcher.match(word))) > 0:
                yield Hit(score, matcher.highlight(name), run, name, note)
