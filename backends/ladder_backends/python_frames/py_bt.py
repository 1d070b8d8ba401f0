"""CPython's own gdb script: where it lies, and what its `py-bt-full` prints.

A line is `#5 Frame 0x7ffff7fba180, for file /src/train.py, line 12, in step (self=<Model at remote ...>, x=0)`, and
`#5` is the native frame that runs it (`Tools/gdb/libpython.py`, CPython 3.2 to 3.14). Source lines between them and
built-in functions (`#20 <built-in method sum of ...>`) are passed over.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable
from pathlib import Path

from ladder_backends.model.python_stack import PythonFrame
from ladder_backends.model.variable import Variable
from ladder_backends.python_frames.detect import Interpreter
from ladder_backends.python_frames.reading import VALUE_LIMIT
from ladder_backends.text import clean_line

_FRAME = re.compile(
    r"#(?P<level>\d+) Frame 0x[0-9a-f]+, for file (?P<file>.*?), line (?P<line>\d+), in (?P<function>\S+) "
    r"\((?P<arguments>.*)"
)
_UNREADABLE = re.compile(r"#\d+ \((?:unable to read|frame information optimized out)")
_NAME = re.compile(r"(?:^|, )(?P<name>[A-Za-z_]\w*)=")
_TRUNCATED = "...(truncated)"
_AUTO_LOAD = Path("/usr/share/gdb/auto-load")


def script_for(interpreter: Interpreter) -> tuple[Path | None, str]:
    """CPython's gdb script of an interpreter, and why there is none that can be run.

    A script runs in the debugger with the user's rights: one that somebody else could have written, or could put
    another in the place of, is not taken.
    """
    refused = ""
    for path in _candidates(interpreter):
        try:
            real = path.resolve(strict=True)
            status = real.stat()
            ours = status.st_uid in (0, os.geteuid()) and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
            ours = ours and all(_keeps_names(folder.stat()) for folder in real.parents)
        except (OSError, RuntimeError):
            continue
        if ours:
            return real, ""
        refused = refused or f"{clean_line(str(path))} can be written by others, so it is not run"
    return None, refused or "CPython's gdb script (python3-dbg) is not installed"


def _keeps_names(folder: os.stat_result) -> bool:
    """Whether not everybody can put another file in the place of one in a folder, as in one that is not sticky."""
    open_to_all = folder.st_mode & stat.S_IWOTH and not folder.st_mode & stat.S_ISVTX
    return folder.st_uid in (0, os.geteuid()) and not open_to_all


def _candidates(interpreter: Interpreter) -> Iterable[Path]:
    mapped = Path(interpreter.path)
    real = Path(os.path.realpath(mapped))
    for image in dict.fromkeys((real, mapped)):
        yield image.with_name(f"{image.name}-gdb.py")
        yield _AUTO_LOAD / f"{str(image).lstrip('/')}-gdb.py"
    if interpreter.version:
        name = f"python{interpreter.version}-gdb.py"
        for folder in dict.fromkeys((real.parent, real.parent.parent / "bin")):
            yield folder / name


def frames_of(text: str) -> tuple[tuple[PythonFrame, ...], bool]:
    """The frames that a backtrace tells, innermost first, and whether some could not be read."""
    told: list[tuple[int, re.Match[str]]] = []
    lost = False
    for line in text.splitlines():
        match = _FRAME.match(line)
        if match is not None:
            told.append((int(match["level"]), match))
        elif _UNREADABLE.match(line):
            lost = True
    frames = []
    for position, (level, match) in enumerate(told):
        last = position + 1 == len(told) or told[position + 1][0] != level
        frames.append(
            PythonFrame(
                function=clean_line(match["function"])[:500],
                file=clean_line(match["file"]),
                line=int(match["line"]),
                entry=last,
                level=level,
                variables=variables_of(match["arguments"]),
            )
        )
    return tuple(frames), lost


def variables_of(text: str) -> tuple[Variable, ...]:
    """The variables of one line, `self=<Layer at remote 0x7f>, x=0)`; the script cuts long lines itself."""
    cut = text.endswith(_TRUNCATED) or not text.endswith(")")
    text = text.removesuffix(_TRUNCATED) if cut else text.removesuffix(")")
    starts = [match for match in _NAME.finditer(text) if _is_top(text, match.start())]
    variables = []
    for position, match in enumerate(starts):
        end = starts[position + 1].start() if position + 1 < len(starts) else len(text)
        value = clean_line(text[match.end() : end])
        if (cut and position + 1 == len(starts)) or len(value) > VALUE_LIMIT:
            value = value[: VALUE_LIMIT - 1] + "…"
        variables.append(Variable(match["name"], value))
    return tuple(variables)


def _is_top(text: str, position: int) -> bool:
    """A place in the line that is inside no string, bracket or object."""
    depth = 0
    quote = ""
    escaped = False
    for character in text[:position]:
        if quote:
            if escaped:
                escaped = False
            elif character == "\\":
                escaped = True
            elif character == quote:
                quote = ""
        elif character in "'\"":
            quote = character
        elif character in "([{<":
            depth += 1
        elif character in ")]}>":
            depth -= 1
    return not quote and depth == 0
