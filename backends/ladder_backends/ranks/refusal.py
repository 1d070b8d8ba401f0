"""Why a connection was not made, in the system's words."""

from __future__ import annotations

import os
import socket


def refusal(error: Exception) -> str:
    """A clause: asyncio words a refused connection with addresses, and several of them as a list."""
    if isinstance(error, socket.gaierror | UnicodeError):
        return "the name is not known"
    number = getattr(error, "errno", None)
    return os.strerror(number).lower() if isinstance(number, int) and number > 0 else "nobody listens there"
