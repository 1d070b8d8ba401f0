"""Changes one value in the user's `config.toml`; every other line of it stays as the user wrote it."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Sequence
from pathlib import Path

from ladder_backends.errors import SettingInvalid
from ladder_backends.text import clean_line
from ladder_backends.whole_file import writing_whole

_HEADER = re.compile(r"\s*\[")
_COMMENT = re.compile(r"\]\s*(#.*)$")


def write_list(file: Path, table: str, key: str, values: Sequence[str]) -> None:
    """Give a key of a table a list of strings, in one atomic write.

    Raises:
        SettingInvalid: The file cannot be read or written, or is written in a way that is not understood well
            enough to change it without a loss.
    """
    # A link, as to a file among others that are kept somewhere, stays one.
    target = Path(os.path.realpath(file))
    shown = clean_line(str(file))
    by_hand = f"write `{key} = {_list(values)}` under [{table}] by hand"
    try:
        try:
            text, mode = target.read_text("utf-8"), target.stat().st_mode & 0o777
        except FileNotFoundError:
            text, mode = "", 0o644
        changed = with_list(text, table, key, values)
        target.parent.mkdir(parents=True, exist_ok=True)
        with writing_whole(target, mode=mode) as stream:
            stream.write(changed.encode("utf-8"))
    except OSError as error:
        raise SettingInvalid(f"{shown} cannot be changed", error.strerror or str(error), by_hand) from error
    except ValueError as error:
        raise SettingInvalid(f"{shown} cannot be changed", clean_line(str(error)), by_hand) from error


def with_list(text: str, table: str, key: str, values: Sequence[str]) -> str:
    """The text of a file with the value changed or added.

    Raises:
        ValueError: It is not TOML, or the table is written in another form than under a header of its own.
    """
    before = tomllib.loads(text)
    wanted = {**before, table: {**before.get(table, {}), key: list(values)}}
    lines = text.splitlines()
    start = next((number for number, line in enumerate(lines) if _is_header(line, table)), None)
    if start is None:
        if table in before:
            raise ValueError(f"[{table}] has no header of its own")
        lines += [*([""] if lines and lines[-1].strip() else []), f"[{table}]", f"{key} = {_list(values)}"]
    else:
        first, last = _lines_of(lines, start + 1, key)
        comment = _COMMENT.search(lines[last - 1]) if last > first else None
        kept = f"  {comment[1]}" if comment is not None else ""
        lines[first:last] = [f"{key} = {_list(values)}{kept}"]
    after = "\n".join(lines) + "\n"
    if tomllib.loads(after) != wanted:
        raise ValueError("it is written in a way that is not understood")
    return after


def _is_header(line: str, table: str) -> bool:
    return re.fullmatch(rf"\s*\[\s*{re.escape(table)}\s*\]\s*(#.*)?", line) is not None


def _lines_of(lines: Sequence[str], start: int, key: str) -> tuple[int, int]:
    """The lines that hold a key, from the first to behind the last; an empty range where it would stand."""
    for number in range(start, len(lines)):
        if _HEADER.match(lines[number]):
            break
        if re.match(rf"\s*{re.escape(key)}\s*=", lines[number]):
            for end in range(number + 1, len(lines) + 1):
                try:
                    tomllib.loads("\n".join(lines[number:end]))
                except tomllib.TOMLDecodeError:
                    continue
                return number, end
    return start, start


def _list(values: Sequence[str]) -> str:
    return f"[{', '.join(_quoted(value) for value in values)}]"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + re.sub(r"[\x00-\x1f\x7f]", lambda found: f"\\u{ord(found[0]):04x}", escaped) + '"'
