"""Write the generated part of README.md: the table of keys, from the registry of actions."""

from __future__ import annotations

import re
from pathlib import Path

from ladder_tui.actions import key_table

README = Path(__file__).resolve().parents[2] / "README.md"
_KEYS = re.compile(r"(?<=<!-- keys -->\n).*?(?=<!-- /keys -->)", re.DOTALL)


def with_keys(text: str) -> str:
    """README's text with the table of keys made anew."""
    return _KEYS.sub(lambda _: f"\n{key_table()}\n".replace("\n\n\n", "\n\n"), text)


if __name__ == "__main__":
    README.write_text(with_keys(README.read_text("utf-8")), "utf-8")
