"""Keys and pasted text as the bytes that a terminal sends for them (xterm)."""

from __future__ import annotations

_CURSOR = {"up": "A", "down": "B", "right": "C", "left": "D", "home": "H", "end": "F"}
_MODIFIERS = {"shift": 1, "alt": 2, "ctrl": 4}
_NUMBERED = {
    "insert": 2,
    "delete": 3,
    "pageup": 5,
    "pagedown": 6,
    "f5": 15,
    "f6": 17,
    "f7": 18,
    "f8": 19,
    "f9": 20,
    "f10": 21,
    "f11": 23,
    "f12": 24,
}
_SIMPLE = {
    "enter": b"\r",
    "tab": b"\t",
    "shift+tab": b"\x1b[Z",
    "backspace": b"\x7f",
    "alt+backspace": b"\x1b\x7f",
    "escape": b"\x1b",
    "f1": b"\x1bOP",
    "f2": b"\x1bOQ",
    "f3": b"\x1bOR",
    "f4": b"\x1bOS",
    "ctrl+space": b"\0",
    "ctrl+@": b"\0",
    "ctrl+backslash": b"\x1c",
    "ctrl+right_square_bracket": b"\x1d",
    "ctrl+circumflex_accent": b"\x1e",
    "ctrl+underscore": b"\x1f",
}


def key_bytes(key: str, character: str | None, *, application_keys: bool = False) -> bytes | None:
    """What a program reads for a key, or None for one that no terminal sends.

    Args:
        key: Textual's name: `ctrl+left`, `a`, `f5`.
        character: What it types, or None.
        application_keys: The program asked for arrow keys as `ESC O A`.
    """
    simple = _SIMPLE.get(key)
    if simple is not None:
        return simple
    *modifiers, name = key.split("+") if key != "+" else [key]
    shift = sum(_MODIFIERS.get(modifier, 0) for modifier in modifiers)
    if name in _CURSOR:
        if shift:
            return f"\x1b[1;{shift + 1}{_CURSOR[name]}".encode()
        return f"\x1b{'O' if application_keys else '['}{_CURSOR[name]}".encode()
    if name in _NUMBERED:
        return f"\x1b[{_NUMBERED[name]}{f';{shift + 1}' if shift else ''}~".encode()
    if "ctrl" in modifiers and len(name) == 1 and "a" <= name <= "z":
        control = bytes([ord(name) & 0x1F])
        return b"\x1b" + control if "alt" in modifiers else control
    if character is not None and (character.isprintable() or character == " "):
        typed = character.encode("utf-8", "replace")
        return b"\x1b" + typed if "alt" in modifiers else typed
    if "alt" in modifiers and len(name) == 1:
        return b"\x1b" + name.encode("utf-8", "replace")
    return None


def paste_bytes(text: str, *, bracketed: bool = False) -> bytes:
    """Pasted text; marked as such where the program asked for that."""
    typed = text.replace("\r\n", "\r").replace("\n", "\r").replace("\x1b", "").encode("utf-8", "replace")
    return b"\x1b[200~" + typed + b"\x1b[201~" if bracketed else typed
