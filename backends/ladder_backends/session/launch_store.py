"""How each program was started last, kept over sessions.

One file a program in `state_dir()/launch`, named by a digest of the program's real path:

```
{"format": 1, "program": "/real/path", "arguments": [], "environment": {"NAME": "value", "GONE": null},
 "directory": null, "stdin": null}
```
"""

from __future__ import annotations

from pathlib import Path

from ladder_backends.model.launch import LaunchSettings
from ladder_backends.session.program_file import ProgramFile

FORMAT = 1


class LaunchStore:
    """Settings of one program on disk.

    Attributes:
        file: Where they are kept.
    """

    def __init__(self, program: Path) -> None:
        self._kept = ProgramFile(program, "launch")
        self.file = self._kept.path

    def load(self) -> LaunchSettings | None:
        """What was kept; None where nothing was, or nothing that can be read."""
        try:
            return _settings(self._kept.read())
        except (OSError, ValueError, RecursionError):
            return None

    def save(self, settings: LaunchSettings) -> str:
        """Keep settings, in one atomic write; returns why that cannot be, or an empty string."""
        document = {
            "arguments": list(settings.arguments),
            "environment": dict(settings.environment),
            "directory": str(settings.directory) if settings.directory is not None else None,
            "stdin": str(settings.stdin) if settings.stdin is not None else None,
        }
        try:
            self._kept.write(FORMAT, document)
        except OSError as error:
            return f"start settings cannot be kept in {self.file.parent}: {error.strerror or error}"
        return ""


def _settings(document: object) -> LaunchSettings | None:
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        return None
    arguments, environment = document.get("arguments"), document.get("environment")
    directory, stdin = document.get("directory"), document.get("stdin")
    if not isinstance(arguments, list) or not all(isinstance(one, str) for one in arguments):
        return None
    if not isinstance(environment, dict) or not all(
        value is None or isinstance(value, str) for value in environment.values()
    ):
        return None
    return LaunchSettings(
        arguments=tuple(arguments),
        environment=environment,
        directory=Path(directory) if isinstance(directory, str) and directory else None,
        stdin=Path(stdin) if isinstance(stdin, str) and stdin else None,
    )
