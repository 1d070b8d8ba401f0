"""Esc and the key right behind it: read in one piece, as over a slow line, the two look like one key with Alt."""

from __future__ import annotations

from textual import events

from ladder_tui._textual_compat import key_of_character


def behind_escape(event: events.Key) -> events.Key | None:
    """The key that may have been typed right behind Esc; None where the event can be no such two."""
    if event.key == "alt+backspace":
        return events.Key("backspace", "\x7f")
    character = event.character
    if not event.key.startswith("alt+") or character is None or not character.isprintable():
        return None
    return events.Key(key_of_character(character), character)
