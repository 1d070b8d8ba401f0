"""Files that are there whole or not at all."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO


@contextlib.contextmanager
def writing_whole(file: Path, *, mode: int = 0o600) -> Iterator[IO[bytes]]:
    """Write beside a file and put the result in its place at the end; where anything fails, all is as it was.

    Args:
        file: What is written; its folder must exist.
        mode: Permissions of the new file.

    Raises:
        OSError: The folder or the file cannot be written.
    """
    handle, name = tempfile.mkstemp(dir=file.parent, prefix=".writing-")
    try:
        with os.fdopen(handle, "wb") as stream:
            yield stream
        os.chmod(name, mode)
        os.replace(name, file)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise
