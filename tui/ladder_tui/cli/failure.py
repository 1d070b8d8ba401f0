"""The last line of every command: whatever happens, a person reads one line and a machine gets an exit code."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable

COULD_NOT_RUN = 2
INTERRUPTED = 130
PIPE_CLOSED = 141


def guarded(command: Callable[[list[str]], int], words: list[str]) -> int:
    """Run a command; errors become one line on standard error, and a traceback goes to the log file only."""
    _open_closed_streams()
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


def _open_closed_streams() -> None:
    """Where standard streams are closed, let what is opened next not be taken for them."""
    for descriptor, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        try:
            os.fstat(descriptor)
        except OSError:
            null = os.open(os.devnull, os.O_RDWR)
            if null != descriptor:
                os.dup2(null, descriptor, inheritable=True)
                os.close(null)
            else:
                os.set_inheritable(null, True)
        if getattr(sys, name) is None:
            setattr(sys, name, open(descriptor, mode, closefd=False))  # noqa: SIM115


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


def _words_of_system(error: OSError) -> str:
    """A failure of the system that can meet any command, as one line; an empty string for any other."""
    why = error.strerror or ""
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO):
        return f"cannot write: {why} — free some space, or write elsewhere"
    if error.errno in (errno.EMFILE, errno.ENFILE):
        return f"cannot open any more files: {why} — raise the limit, as with `ulimit -n 1024`"
    if error.errno == errno.ENOENT and not _has_folder():
        return "the current folder is not there any more — change to one that is"
    return ""


def _has_folder() -> bool:
    try:
        os.getcwd()
    except OSError:
        return False
    return True


def _say(error: Exception) -> int:
    from ladder_backends.errors import LadderError
    from ladder_backends.text import clean_line

    if isinstance(error, LadderError):
        line = clean_line(error.line())
    elif isinstance(error, OSError) and (words := _words_of_system(error)):
        line = words
    else:
        from ladder_tui.log_file import keep_traceback

        kept = keep_traceback(error)
        line = clean_line(f"unexpected {type(error).__name__}: {error}")[:300] + f" — {kept}"
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        _pipe_closed()
    try:
        sys.stderr.write(f"ladder-tui: {line}\n")
        sys.stderr.flush()
    except (OSError, ValueError):
        return COULD_NOT_RUN
    return COULD_NOT_RUN
