"""One thing a person can do, and what has to be so for it to make sense."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING

from ladder_backends.late_dataclass import dataclass
from ladder_backends.session.state import Run
from ladder_tui.actions.keys import ALWAYS_COMMANDS, key_label, keys_chosen_for

if TYPE_CHECKING:
    from ladder_backends.session.debug_state import DebugState


class Need(enum.Flag):
    """What has to be so for an action to make sense."""

    NOTHING = 0
    SESSION = enum.auto()
    RUN_CONTROL = enum.auto()
    STOPPED = enum.auto()
    RUNNING = enum.auto()
    FINDINGS = enum.auto()
    DISASSEMBLE = enum.auto()
    BREAKPOINTS = enum.auto()
    CONSOLE = enum.auto()
    RESTING = enum.auto()
    PROCESS = enum.auto()
    ALIVE = enum.auto()
    DEVICE = enum.auto()
    """A living program on a GPU."""
    ROW = enum.auto()
    """A row in the view; only hints look at it."""


@dataclass(frozen=True, slots=True)
class Action:
    """One thing a person can do.

    Attributes:
        id: Stable, for users' own keys: `run.next`.
        keys: Built-in keys by Textual's names; the first is the letter, the others its twins.
        hint: One or two words for the status bar.
        description: A sentence for the help and the palette.
        group: Heading in the help.
        call: Textual action string: `resume('next')`.
        scope: `workspace` anywhere, `list` in every view, or the id of a pane.
        needs: What has to be so.
        hinted: The status bar may offer it.
        hinted_in: The scope in which alone the status bar offers it, or an empty string.
        opens: It opens what is typed to, or a question: where it is refused, keys right behind it are no commands.
    """

    id: str
    keys: tuple[str, ...]
    hint: str
    description: str
    group: str
    call: str
    scope: str = "workspace"
    needs: Need = Need.NOTHING
    hinted: bool = False
    hinted_in: str = ""
    opens: bool = False

    @property
    def bound(self) -> tuple[str, ...]:
        """The keys that call it: the user's own where there are any, else the built-in ones."""
        return keys_chosen_for(self.id, self.keys)

    @property
    def key_label(self) -> str:
        """The first key as a person writes it."""
        return key_label(self.bound[0]) if self.bound else ""

    @property
    def key_in_text(self) -> str:
        """The first key that works even where text is typed, or an empty string."""
        return next((key for key in self.bound if key in ALWAYS_COMMANDS or self.scope == "console"), "")

    def hint_in(self, debug: DebugState | None) -> str:
        """The hint, as it is true now: what continues a stopped program starts one that has ended."""
        if self.id == "run.continue" and debug is not None:
            return {Run.EXITED: "run", Run.DEAD: "restart"}.get(debug.run, self.hint)
        return self.hint


CAN_STEP = Need.RUN_CONTROL | Need.STOPPED
"""The target stands, and can run."""
