"""What screens over the workspace share: keys are done with one by one, and such a screen leaves once.

Stock Textual puts a key into the queue of the screen that is on top when it is read. Of keys that come in one
piece, as over a slow line, those behind the one that closes a dialog would still go to it, and close what lies
beneath.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from textual import events
from textual.await_complete import AwaitComplete

from ladder_tui._textual_compat import was_taken
from ladder_tui.escapes import behind_escape

if TYPE_CHECKING:
    from textual.screen import Screen

    _Screen = Screen[Any]
else:
    # Styles are inherited from the first base that has some: this one must have none.
    _Screen = object


class Dialog(_Screen):
    """Stands before a `Screen` among the bases of a class."""

    _early: tuple[events.Key, ...] = ()
    _shown = False

    def take_key(self, event: events.Key) -> bool:
        """Do now what a key means to what has the focus, or else to the screen; False where it means nothing.

        What comes before the screen is mounted waits for that.
        """
        if not self._shown:
            self._early += (event,)
            return True
        for taker in dict.fromkeys((self.focused, self)):
            handle = getattr(taker, "on_key", None)
            if handle is not None:
                handle(event)
                if was_taken(event):
                    return True
        return False

    def on_mount(self) -> None:
        """Take the keys that were typed ahead; runs after the handlers of the class itself."""
        self._shown = True
        early, self._early = self._early, ()
        for event in early:
            self.app.post_message(event)

    def apart(self, event: events.Key) -> Iterator[events.Key]:
        """A key that comes right behind Esc reads as one with Alt: where that edits nothing, both were meant."""
        second = behind_escape(event)
        editors = (edits for taker in (self.focused, self) if (edits := getattr(taker, "edits", None)) is not None)
        if second is None or any(edits(event.key) for edits in editors):
            yield event
        else:
            yield events.Key("escape", "\x1b")
            yield second

    def dismiss(self, result: Any = None) -> AwaitComplete:
        """Leave, unless that was done already."""
        return super().dismiss(result) if self.is_active else AwaitComplete()
