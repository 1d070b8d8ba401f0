"""What is kept of a program in the user's state folder: one JSON document, whole or not at all.

The file is named by a digest of the program's real path, which is also in the document, under `program`. For an
interpreter it is one file a script, which the digest covers behind a NUL byte, and which is there under `script`;
until there is one, what was kept for the interpreter as a whole is read. Folders and files are for the user alone:
conditions and environments may hold what is nobody else's business.
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
        script: What the program runs, where it is an interpreter.

    Attributes:
        path: Where it is kept.
    """

    def __init__(self, program: Path, kind: str, script: str = "") -> None:
        self._program, self._script = os.path.realpath(program), script
        self.path = self._whole = state_dir() / kind / _name(self._program)
        if script:
            self.path = self._whole.with_name(_name(f"{self._program}\0{script}"))

    def read(self) -> object:
        """The document.

        Raises:
            FileNotFoundError: Nothing is kept.
            OSError, ValueError, RecursionError: It cannot be read.
        """
        path = self._found()
        if path.stat().st_size > LARGEST:
            raise ValueError("it is too large")
        return json.loads(path.read_bytes())

    def _found(self) -> Path:
        return self.path if self.path.exists() else self._whole

    def put_aside(self) -> Path:
        """Keep a document that cannot be understood under another name, which is returned."""
        path = self._found()
        aside = path.with_suffix(".json.bad")
        with contextlib.suppress(OSError):
            os.replace(path, aside)
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
        script = {"script": self._script} if self._script else {}
        whole = {"format": format, "program": self._program, **script, **document}
        self.make_folder()
        with writing_whole(self.path) as file:
            file.write(json.dumps(whole, indent=1).encode("utf-8", "surrogateescape"))


def _name(owner: str) -> str:
    return f"{hashlib.sha256(os.fsencode(owner)).hexdigest()[:32]}.json"
