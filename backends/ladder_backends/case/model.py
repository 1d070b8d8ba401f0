"""A case: one file that holds everything a colleague needs to look at a failure without the machine it happened on.

Format: a zip archive `NAME.ladder` with `case.json` and the parts it names:

```
{"format": 1, "title": "...", "note": "...",
 "parts": [{"name": "dump/oob.nvcudmp.xz", "role": "dump", "sha256": "...", "size": 29248, "path": "...",
            "origin": {"tool": "...", "version": "...", "device": "...", "time": "..."}}]}
```

Unknown keys and unknown roles are ignored by readers. `size` is the part's size in bytes as stored in the archive's
own terms (unpacked from the zip, an `.xz` dump still compressed); `sha256` is of the same bytes.
"""

from __future__ import annotations

import enum
from pathlib import Path
from typing import TYPE_CHECKING

from ladder_backends.late_dataclass import dataclass

if TYPE_CHECKING:
    from ladder_backends.case.run_folder import KeptRun

FORMAT = 1
TABLE = "case.json"


class Role(enum.StrEnum):
    """What a part is for."""

    FINDINGS = "findings"
    DUMP = "dump"
    CORE = "core"
    EXECUTABLE = "executable"
    RECORDING = "recording"
    SOURCE = "source"
    HARDWARE = "hardware"


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a part comes from; what is not known is empty.

    Attributes:
        tool: Program that wrote it: `compute-sanitizer`, `nvcc`.
        version: Its version text.
        device: The GPU or machine: `NVIDIA H200`.
        time: When, ISO 8601.
    """

    tool: str = ""
    version: str = ""
    device: str = ""
    time: str = ""


@dataclass(frozen=True, slots=True)
class Part:
    """One file of a case.

    Attributes:
        name: Member name in the archive, with forward slashes.
        role: A `Role`, or the word of a later format that this reader does not know.
        sha256: Hex digest of the member's bytes.
        size: Bytes of the member once unpacked from the archive.
        path: For a source, its path as debug information names it; otherwise empty.
    """

    name: str
    role: str
    sha256: str
    size: int
    path: str = ""
    origin: Origin = Origin()

    @property
    def file_name(self) -> str:
        """The last component of the member's name."""
        return self.name.rsplit("/", 1)[-1]


@dataclass(frozen=True, slots=True)
class Case:
    """A case that was read and checked; its parts are still packed.

    Attributes:
        file: The archive.
        title: One line for a person.
        note: What to see in it, or an empty string.
    """

    file: Path
    title: str
    parts: tuple[Part, ...]
    note: str = ""

    def of(self, role: Role) -> tuple[Part, ...]:
        """The parts with that role, in the order of the table."""
        return tuple(part for part in self.parts if part.role == role)


@dataclass(frozen=True, slots=True)
class SourcePart:
    """A source file that travelled with a case.

    Attributes:
        file: Where it lies on this machine now.
        path: Its path as debug information names it, or an empty string.
    """

    file: Path
    path: str = ""


@dataclass(slots=True)
class Opened:
    """Files that belong together, by what they are for; everything is a plain file on this machine, unpacked.

    Attributes:
        title: The case's title, or the names of the files.
        reports: Sanitizer reports, text or XML.
        dump: A GPU core dump.
        core: A host core file.
        executable: The program that dump, core or report are of.
        recordings: Recordings of engines.
        sources: Source files.
        notes: One line each for what was ignored and why.
        run: A run of the sanitizer that the reports are of, or None.
    """

    title: str = ""
    note: str = ""
    reports: tuple[Path, ...] = ()
    dump: Path | None = None
    core: Path | None = None
    executable: Path | None = None
    recordings: tuple[Path, ...] = ()
    sources: tuple[SourcePart, ...] = ()
    notes: tuple[str, ...] = ()
    run: KeptRun | None = None
