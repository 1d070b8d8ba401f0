"""The log file: a rotating file in the state folder. Nothing of it ever reaches the terminal."""

from __future__ import annotations

import logging
import logging.handlers
from pathlib import Path

from ladder_backends.paths import state_dir
from ladder_backends.text import clean_line

_BYTES = 1 << 20
_KEPT = 3
_ROOT = "ladder"


def log_path() -> Path:
    """`$XDG_STATE_HOME/ladder-tui/ladder-tui.log`."""
    return state_dir() / "ladder-tui.log"


def open_log(level: str) -> None:
    """Send the `ladder*` loggers to the log file; without a writable state folder they are silent.

    Args:
        level: `debug`, `info`, `warning` or `error`.
    """
    for name in ("ladder_tui", "ladder_backends", _ROOT):
        logger = logging.getLogger(name)
        if not logger.handlers:
            logger.addHandler(_handler())
        logger.setLevel(level.upper())
        logger.propagate = False


def keep_traceback(error: BaseException) -> str:
    """Write an error's traceback to the log file; returns the clause that tells a person where it is."""
    logger = logging.getLogger(_ROOT)
    if not logger.handlers:
        open_log("warning")
    logger.error("unexpected", exc_info=error)
    if any(isinstance(handler, logging.FileHandler) for handler in logger.handlers):
        return f"details are in {clean_line(str(log_path()))}"
    return f"no details were kept: {clean_line(str(state_dir()))} cannot be written"


def _handler() -> logging.Handler:
    try:
        log_path().parent.mkdir(parents=True, exist_ok=True)
        handler: logging.Handler = logging.handlers.RotatingFileHandler(
            log_path(), maxBytes=_BYTES, backupCount=_KEPT, encoding="utf-8", errors="backslashreplace"
        )
    except OSError:
        return logging.NullHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(process)d %(levelname)s %(name)s: %(message)s"))
    return handler
