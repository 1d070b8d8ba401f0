"""Write a case: equal parts give an equal file, whenever and wherever it is written."""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ladder_backends.case.bounds import MAX_MEMBERS, MAX_PART_BYTES
from ladder_backends.case.model import FORMAT, TABLE, Origin, Role
from ladder_backends.errors import CaseInvalid
from ladder_backends.text import clean_line
from ladder_backends.whole_file import writing_whole

_EPOCH = (1980, 1, 1, 0, 0, 0)
_CHUNK = 1 << 20
_REGULAR_FILE = 0o100644 << 16
_PACKED = (".xz", ".gz", ".zst")


@dataclass(frozen=True, slots=True)
class NewPart:
    """A file that goes into a case.

    Attributes:
        file: Where it lies now.
        path: For a source, its path as debug information names it.
    """

    file: Path
    role: Role
    path: str = ""
    origin: Origin = field(default_factory=Origin)

    @property
    def name(self) -> str:
        """Member name: the role as a folder, then the file's name."""
        return f"{self.role}/{self.file.name}"


def write_case(file: Path, title: str, parts: Sequence[NewPart], note: str = "") -> None:
    """Write a case; an existing file is replaced only by a whole new one.

    Raises:
        CaseInvalid: A part cannot be read or breaks a bound, or the file cannot be written.
    """
    _check(file, parts)
    try:
        with writing_whole(file, mode=0o644) as stream, zipfile.ZipFile(stream, "w") as archive:
            table = {"format": FORMAT, "title": title, "note": note, "parts": [_row(part) for part in parts]}
            text = json.dumps(table, indent=1, ensure_ascii=False) + "\n"
            archive.writestr(_member(TABLE), text.encode(), zipfile.ZIP_DEFLATED, 9)
            for part in parts:
                _add(archive, part)
    except OSError as error:
        raise CaseInvalid(f"{clean_line(str(file))} cannot be written", error.strerror or str(error)) from error


def _check(file: Path, parts: Sequence[NewPart]) -> None:
    what = f"{clean_line(file.name)} cannot be written"
    if len(parts) >= MAX_MEMBERS:
        raise CaseInvalid(what, f"a case holds fewer than {MAX_MEMBERS} parts")
    names = [part.name for part in parts]
    if len(set(names)) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise CaseInvalid(what, f"two parts are called {clean_line(twice)}", "rename one of them")
    for part in parts:
        try:
            size = part.file.stat().st_size
        except OSError as error:
            raise CaseInvalid(what, f"{clean_line(str(part.file))}: {error.strerror}") from error
        if size > MAX_PART_BYTES:
            raise CaseInvalid(what, f"{clean_line(part.file.name)} is larger than {MAX_PART_BYTES >> 30} GiB")


def _row(part: NewPart) -> dict[str, object]:
    with part.file.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    origin = {key: value for key in Origin.__slots__ if (value := getattr(part.origin, key))}
    row: dict[str, object] = {
        "name": part.name,
        "role": str(part.role),
        "sha256": digest,
        "size": part.file.stat().st_size,
    }
    if part.path:
        row["path"] = part.path
    if origin:
        row["origin"] = origin
    return row


def _member(name: str) -> zipfile.ZipInfo:
    member = zipfile.ZipInfo(name, _EPOCH)
    member.external_attr = _REGULAR_FILE
    member.create_system = 3
    return member


def _add(archive: zipfile.ZipFile, part: NewPart) -> None:
    member = _member(part.name)
    member.compress_type = zipfile.ZIP_STORED if part.file.suffix in _PACKED else zipfile.ZIP_DEFLATED
    with part.file.open("rb") as source, archive.open(member, "w") as out:
        while chunk := source.read(_CHUNK):
            out.write(chunk)
