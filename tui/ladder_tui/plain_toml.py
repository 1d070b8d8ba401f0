"""TOML as themes use it, without what it takes to import a reader of all of TOML.

Tables, strings without escapes, booleans, and inline tables of these, a line each, are read here. Whatever else a
text holds, and any text with a fault in it, is left to the standard library.
"""

from __future__ import annotations

from typing import Any


def read_toml(text: str) -> dict[str, Any]:
    """Read a document.

    Raises:
        tomllib.TOMLDecodeError: It is not TOML.
    """
    document = read_plain(text)
    if document is None:
        import tomllib

        return tomllib.loads(text)
    return document


def read_plain(text: str) -> dict[str, Any] | None:
    """Read a document that holds only what is read here; None for any other."""
    document: dict[str, Any] = {}
    table = document
    for line in text.split("\n"):
        if not line or (line[0] == "#" and line.isprintable()):
            continue
        if "\\" in line or "'" in line or not line.isprintable():
            return None
        if line[0] == "[":
            name = line[1:-1]
            if line[-1] != "]" or not _is_bare(name) or name in document:
                return None
            document[name] = table = {}
        elif not _take(line, table):
            return None
    return document


def _take(pair: str, table: dict[str, Any]) -> bool:
    """Put `key = value` into a table; False where that is not plain."""
    key, _, written = pair.partition(" = ")
    if key[:1] == '"' and key[-1] == '"' and key.count('"') == 2:
        key = key[1:-1]
    elif not _is_bare(key):
        return False
    if key in table:
        return False
    value: Any
    if written[:1] == '"':
        if written[-1] != '"' or written.count('"') != 2:
            return False
        value = written[1:-1]
    elif written in ("true", "false"):
        value = written == "true"
    elif written == "{}":
        value = {}
    elif written[:2] == "{ " and written[-2:] == " }" and "{" not in written[1:]:
        value = {}
        if not all(_take(part, value) for part in written[2:-2].split(", ")):
            return False
    else:
        return False
    table[key] = value
    return True


def _is_bare(key: str) -> bool:
    return key.isascii() and key.replace("-", "").replace("_", "").isalnum()
