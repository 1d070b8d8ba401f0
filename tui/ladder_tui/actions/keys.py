"""Keys: what they are called, which ones work while text is typed, and those that a user has chosen."""

from __future__ import annotations

import re
from collections.abc import Mapping

ALWAYS_COMMANDS = frozenset({"ctrl+c", "ctrl+p", "ctrl+q", "shift+f11", *(f"f{number}" for number in range(1, 13))})
"""Keys that are commands even where text is typed."""

_KEY_LABELS = {
    "enter": "⏎",
    "space": "Space",
    "escape": "Esc",
    "slash": "/",
    "comma": ",",
    "full_stop": ".",
    "semicolon": ";",
    "colon": ":",
    "grave_accent": "`",
    "less_than_sign": "<",
    "greater_than_sign": ">",
    "question_mark": "?",
    "exclamation_mark": "!",
    "left_square_bracket": "[",
    "equals_sign": "=",
    "plus": "+",
    "minus": "-",
    "at": "@",
    "up": "↑",
    "down": "↓",
    "left": "←",
    "right": "→",
    "pageup": "PgUp",
    "pagedown": "PgDn",
    "home": "Home",
    "end": "End",
    "tab": "Tab",
    "backspace": "⌫",
}


def key_label(key: str) -> str:
    """A Textual key name as a person writes it: `ctrl+c` is `Ctrl-C`."""
    *modifiers, last = key.split("+")
    last = _KEY_LABELS.get(last, last.upper() if len(last) > 1 or modifiers else last)
    return "-".join([*(modifier.capitalize() for modifier in modifiers), last])


def parse_key(label: str) -> str:
    """A key as a person writes it (`Ctrl-C`, `F10`, `n`) as Textual names it; several are separated by commas."""
    names = {text.lower(): name for name, text in _KEY_LABELS.items()}
    if label.strip() == ",":
        return "comma"
    keys = []
    for one in label.split(","):
        *modifiers, last = re.split("[-+](?=.)", one.strip())
        name = names.get(last.lower(), last if len(last) == 1 and not modifiers else last.lower())
        keys.append("+".join([*(modifier.lower() for modifier in modifiers), name]))
    return ",".join(keys)


_chosen: dict[str, tuple[str, ...]] = {}


def choose_keys(keys: Mapping[str, str]) -> None:
    """Take the user's own keys: hints, help and messages name these from now on.

    Args:
        keys: By action id, in Textual's names, several separated by commas.
    """
    _chosen.clear()
    _chosen.update({name: tuple(text.split(",")) for name, text in keys.items()})


def keys_chosen_for(action_id: str, built_in: tuple[str, ...]) -> tuple[str, ...]:
    """The user's own keys of an action where there are any, else the built-in ones."""
    return _chosen.get(action_id, built_in)
