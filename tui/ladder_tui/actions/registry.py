"""Every action of the console, once, and what is made from them all."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from textual.binding import Binding

from ladder_tui.actions.action import Action
from ladder_tui.actions.gpu_views import GPU_VIEW_ACTIONS
from ladder_tui.actions.hardware_views import HARDWARE_VIEW_ACTIONS
from ladder_tui.actions.keys import key_label
from ladder_tui.actions.program_views import PROGRAM_VIEW_ACTIONS
from ladder_tui.actions.rank_views import RANK_VIEW_ACTIONS
from ladder_tui.actions.workspace import WORKSPACE_ACTIONS

if TYPE_CHECKING:
    from textual.binding import BindingType

ACTIONS: tuple[Action, ...] = (
    *WORKSPACE_ACTIONS,
    *PROGRAM_VIEW_ACTIONS,
    *GPU_VIEW_ACTIONS,
    *HARDWARE_VIEW_ACTIONS,
    *RANK_VIEW_ACTIONS,
)
"""In the order of the help, of the hints, and of the README's key table."""

_PALETTE_KEYS = next(action.keys for action in ACTIONS if action.id == "palette")
"""What leads to an action that has no key of its own."""


def key_of(action_id: str) -> str:
    """The first key of an action as a person writes it, for texts that tell what to press."""
    return next(action.key_label for action in ACTIONS if action.id == action_id)


def actions_of(scope: str) -> Iterator[Action]:
    """The actions of a scope, in the order of the registry."""
    return (action for action in ACTIONS if action.scope == scope)


def bindings_for(scope: str) -> list[BindingType]:
    """Textual bindings of a scope; the ids let a user choose other keys."""
    return [
        Binding(
            ",".join(action.keys),
            action.call,
            action.description,
            show=False,
            # Decided before the next key is looked at: what is typed ahead then meets the right view.
            priority=scope == "workspace",
            id=action.id,
        )
        for action in actions_of(scope)
        if action.keys
    ]


def key_table() -> str:
    """Every key as Markdown tables, for the README."""
    lines: list[str] = []
    groups = dict.fromkeys(action.group for action in ACTIONS)
    for group in groups:
        lines += [f"**{group}**", "", "| key | does |", "|---|---|"]
        for action in ACTIONS:
            if action.group == group:
                keys = " ".join(f"`{key_label(key)}`" for key in action.keys or _PALETTE_KEYS)
                lines.append(f"| {keys} | {action.description} |")
        lines.append("")
    return "\n".join(lines)
