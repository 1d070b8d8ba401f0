"""The last line of every command: whatever happens, a person reads one line and a machine gets an exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

COULD_NOT_RUN = 2
INTERRUPTED = 130
PIPE_CLOSED = 141


def guarded(command: Callable[[list[str]], int], words: list[str]) -> int:
    """Run a command; errors become one line on standard error, and a traceback goes to the log file only."""
    _make_output_safe()
    try:
        code = command(words)
        sys.stdout.flush()
    except BrokenPipeError:
        return _pipe_closed()
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:
        return _say(error)
    return code


def _make_output_safe() -> None:
    """Let nothing that a program was called make printing itself fail."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def _pipe_closed() -> int:
    # Python flushes standard output once more at exit; that has to meet an open file.
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, sys.stdout.fileno())
    os.close(null)
    return PIPE_CLOSED


def _say(error: Exception) -> int:
    from ladder_backends.errors import LadderError
    from ladder_backends.text import clean_line

    if isinstance(error, LadderError):
        line = clean_line(error.line())
    else:
        from ladder_tui.log_file import keep_traceback

        kept = keep_traceback(error)
        line = clean_line(f"unexpected {type(error).__name__}: {error}")[:300] + f" — {kept}"
    try:
        sys.stdout.flush()
        sys.stderr.write(f"ladder-tui: {line}\n")
    except (OSError, ValueError):
        return _pipe_closed() and COULD_NOT_RUN
    return COULD_NOT_RUN
