"""The log file: a rotating file in the state folder. Nothing of it ever reaches the terminal."""

from __future__ import annotations

import logging
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
            logger.addHandler(_LateHandler())
        logger.setLevel(level.upper())
        logger.propagate = False


def keep_traceback(error: BaseException) -> str:
    """Write an error's traceback to the log file; returns the clause that tells a person where it is."""
    logger = logging.getLogger(_ROOT)
    if not logger.handlers:
        open_log("warning")
    logger.error("unexpected", exc_info=error)
    if any(isinstance(handler, _LateHandler) and handler.writes for handler in logger.handlers):
        return f"details are in {clean_line(str(log_path()))}"
    return f"no details were kept: {clean_line(str(state_dir()))} cannot be written"


class _LateHandler(logging.Handler):
    """Opens the file with the first record: mostly there is none, and a start-up need not wait for it."""

    def __init__(self) -> None:
        super().__init__()
        self._file: logging.Handler | None = None

    @property
    def writes(self) -> bool:
        """A record was taken to the file."""
        return isinstance(self._file, logging.FileHandler)

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record."""
        if self._file is None:
            self._file = _open_file()
        self._file.handle(record)

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
        super().close()


def _open_file() -> logging.Handler:
    from logging.handlers import RotatingFileHandler

    try:
        log_path().parent.mkdir(parents=True, exist_ok=True)
        handler = RotatingFileHandler(
            log_path(), maxBytes=_BYTES, backupCount=_KEPT, encoding="utf-8", errors="backslashreplace"
        )
    except OSError:
        return logging.NullHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(process)d %(levelname)s %(name)s: %(message)s"))
    return handler
