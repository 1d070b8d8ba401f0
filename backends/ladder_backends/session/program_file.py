"""What is kept of a program in the user's state folder: one JSON document, whole or not at all.

The file is named by a digest of the program's real path, which is also in the document, under `program`. Folders
and files are for the user alone: conditions and environments may hold what is nobody else's business.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path

from ladder_backends.paths import state_dir
from ladder_backends.whole_file import writing_whole

LARGEST = 1 << 20
"""Bytes of a document that is read."""


class ProgramFile:
    """One document.

    Args:
        program: Whose; links are followed.
        kind: What is kept, the name of a folder in `state_dir()`.

    Attributes:
        path: Where it is kept.
    """

    def __init__(self, program: Path, kind: str) -> None:
        self._program = os.path.realpath(program)
        digest = hashlib.sha256(os.fsencode(self._program)).hexdigest()[:32]
        self.path = state_dir() / kind / f"{digest}.json"

    def read(self) -> object:
        """The document.

        Raises:
            FileNotFoundError: Nothing is kept.
            OSError, ValueError, RecursionError: It cannot be read.
        """
        if self.path.stat().st_size > LARGEST:
            raise ValueError("it is too large")
        return json.loads(self.path.read_bytes())

    def put_aside(self) -> Path:
        """Keep a document that cannot be understood under another name, which is returned."""
        aside = self.path.with_suffix(".json.bad")
        with contextlib.suppress(OSError):
            os.replace(self.path, aside)
        return aside

    def make_folder(self) -> None:
        """Have the folder for it.

        Raises:
            OSError: There can be none.
        """
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)

    def write(self, format: int, document: Mapping[str, object]) -> None:
        """Keep a document, in one atomic write.

        Raises:
            OSError: It cannot be written.
        """
        whole = {"format": format, "program": self._program, **document}
        self.make_folder()
        with writing_whole(self.path) as file:
            file.write(json.dumps(whole, indent=1).encode("utf-8", "surrogateescape"))
