"""Every action of the console, once.

Bindings, the command palette, the `?` screen, the hints of the status bar and the key table of the README are all
made from `ACTIONS`. To add an action: one entry in the table of its view, and a method `action_<name>` on what its
scope names.
"""

from ladder_tui.actions.action import Action, Need
from ladder_tui.actions.availability import runs_no_more, why_not
from ladder_tui.actions.keys import ALWAYS_COMMANDS, choose_keys, key_label, parse_key
from ladder_tui.actions.registry import ACTIONS, actions_of, bindings_for, key_of, key_table

__all__ = [
    "ACTIONS",
    "ALWAYS_COMMANDS",
    "Action",
    "Need",
    "actions_of",
    "bindings_for",
    "choose_keys",
    "key_label",
    "key_of",
    "key_table",
    "parse_key",
    "runs_no_more",
    "why_not",
]
