"""What is known of the Python frames of the focused thread."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ladder_backends.late_dataclass import dataclass

if TYPE_CHECKING:
    from ladder_backends.model.frame import Place
    from ladder_backends.model.python_stack import PythonFrame, WovenStack


@dataclass(slots=True)
class PythonState:
    """Python frames as panes see them; only the session writes it.

    Attributes:
        on: They are wanted.
        woven: The native stack of `DebugState.frames` with its Python frames in their places, or None.
        source: Who read them: `py-spy`, `py-bt`.
        seconds: How long that took.
        gil: Which other thread holds the interpreter lock, or an empty string.
        why: Why there are none where there could be some, one line; else an empty string.
        selected: Index of the Python frame that is shown, or None where a native one is.
        place: Its line of source.
    """

    on: bool = True
    woven: WovenStack | None = None
    source: str = ""
    seconds: float = 0.0
    gil: str = ""
    why: str = ""
    selected: int | None = None
    place: Place | None = None

    @property
    def frame(self) -> PythonFrame | None:
        """The Python frame that is shown, or None."""
        if self.woven is None or self.selected is None:
            return None
        return self.woven.frame(self.selected)
