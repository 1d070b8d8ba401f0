"""Read a case's table and check the archive before anything is unpacked."""

from __future__ import annotations

import json
import stat
import struct
import zipfile
from pathlib import Path, PurePosixPath
from typing import Any

from ladder_backends.case.bounds import (
    MAX_MEMBERS,
    MAX_NAME_CHARACTERS,
    MAX_PART_BYTES,
    MAX_RATIO,
    MAX_TABLE_BYTES,
    MAX_TOTAL_BYTES,
    RATIO_FREE_BYTES,
)
from ladder_backends.case.model import FORMAT, TABLE, Case, Origin, Part
from ladder_backends.errors import CaseInvalid
from ladder_backends.text import clean_line

_END_OF_DIRECTORY = b"PK\x05\x06"
_END_BYTES = 22
_MAX_COMMENT = 0xFFFF
_ENCRYPTED = 0x1


def read_case(file: Path) -> Case:
    """Read the table of a case; every bound on members, sizes and names holds for the result.

    Raises:
        CaseInvalid: The file is not a case, or it breaks a bound.
    """
    try:
        _check_member_count(file)
        with zipfile.ZipFile(file) as archive:
            members = _checked_members(file, archive)
            table = _read_table(file, archive, members)
    except (OSError, zipfile.BadZipFile, struct.error, EOFError, ValueError, NotImplementedError) as error:
        raise CaseInvalid(f"{_name(file)} is not a case", _reason(error)) from error
    return _build(file, table, members)


def _name(file: Path) -> str:
    return clean_line(file.name)


def _reason(error: Exception) -> str:
    text = error.strerror if isinstance(error, OSError) else str(error)
    return clean_line(text or type(error).__name__)[:200]


def _check_member_count(file: Path) -> None:
    """Read the number of members from the archive's end, before a parser builds objects for each of them."""
    with file.open("rb") as stream:
        size = stream.seek(0, 2)
        stream.seek(max(0, size - _END_BYTES - _MAX_COMMENT))
        tail = stream.read()
    at = tail.rfind(_END_OF_DIRECTORY)
    if at < 0 or len(tail) - at < _END_BYTES:
        raise zipfile.BadZipFile("it is no zip archive, or it is cut short")
    (count,) = struct.unpack_from("<H", tail, at + 10)
    if count > MAX_MEMBERS:
        raise CaseInvalid(f"{_name(file)} is refused", f"it has more than {MAX_MEMBERS} members")


def _checked_members(file: Path, archive: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    members: dict[str, zipfile.ZipInfo] = {}
    total = 0
    for member in archive.infolist():
        if fault := _fault(member):
            raise CaseInvalid(f"{_name(file)} is refused", f"member {clean_line(member.filename)[:80]!r} {fault}")
        if member.filename in members:
            name = clean_line(member.filename)[:80]
            raise CaseInvalid(f"{_name(file)} is refused", f"it holds {name!r} twice")
        total += member.file_size
        members[member.filename] = member
    if len(members) > MAX_MEMBERS:
        raise CaseInvalid(f"{_name(file)} is refused", f"it has more than {MAX_MEMBERS} members")
    if total > MAX_TOTAL_BYTES:
        raise CaseInvalid(f"{_name(file)} is refused", f"it unpacks to more than {MAX_TOTAL_BYTES >> 30} GiB")
    return members


def _fault(member: zipfile.ZipInfo) -> str:
    """What is wrong with a member, or an empty string."""
    name = member.orig_filename
    mode = member.external_attr >> 16
    if len(name) > MAX_NAME_CHARACTERS:
        return "has a name that is too long"
    if name.startswith("/") or "\\" in name or ":" in name.split("/", 1)[0]:
        return "has an absolute or foreign path"
    if any(part in ("", ".", "..") for part in name.split("/")):
        return "leads out of the archive or is a folder"
    if clean_line(name) != name:
        return "has control characters in its name"
    if mode and stat.S_IFMT(mode) not in (0, stat.S_IFREG):
        return "is no regular file"
    if member.flag_bits & _ENCRYPTED:
        return "is encrypted"
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        return "is packed in a way other than deflate"
    if member.file_size > MAX_PART_BYTES:
        return f"is larger than {MAX_PART_BYTES >> 30} GiB"
    if member.file_size > RATIO_FREE_BYTES and member.file_size > MAX_RATIO * max(1, member.compress_size):
        return f"unpacks to more than {MAX_RATIO} times its size"
    return ""


def _read_table(file: Path, archive: zipfile.ZipFile, members: dict[str, zipfile.ZipInfo]) -> dict[str, Any]:
    member = members.get(TABLE)
    if member is None:
        raise CaseInvalid(f"{_name(file)} is not a case", f"it is a zip archive without {TABLE}")
    if member.file_size > MAX_TABLE_BYTES:
        raise CaseInvalid(f"{_name(file)} is refused", f"its {TABLE} is larger than {MAX_TABLE_BYTES >> 20} MiB")
    with archive.open(member) as stream:
        raw = stream.read(MAX_TABLE_BYTES + 1)
    try:
        table = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise CaseInvalid(f"{_name(file)} is not a case", f"its {TABLE} is not JSON") from error
    if not isinstance(table, dict):
        raise CaseInvalid(f"{_name(file)} is not a case", f"its {TABLE} is not an object")
    if table.get("format") != FORMAT:
        found = clean_line(str(table.get("format")))[:20]
        raise CaseInvalid(
            f"{_name(file)} cannot be read",
            f"its format is {found}, this console reads {FORMAT}",
            "open it with a newer ladder-tui",
        )
    return table


def _build(file: Path, table: dict[str, Any], members: dict[str, zipfile.ZipInfo]) -> Case:
    rows = table.get("parts")
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise CaseInvalid(f"{_name(file)} is not a case", f"its {TABLE} has no list of parts")
    if len(rows) > MAX_MEMBERS:
        raise CaseInvalid(f"{_name(file)} is refused", f"its {TABLE} names more than {MAX_MEMBERS} parts")
    parts = tuple(_part(file, row, members) for row in rows)
    if len({part.name for part in parts}) != len(parts):
        raise CaseInvalid(f"{_name(file)} is refused", f"its {TABLE} names a part twice")
    title = _text(table, "title") or clean_line(file.stem)
    return Case(file, title, parts, _text(table, "note"))


def _part(file: Path, row: dict[str, Any], members: dict[str, zipfile.ZipInfo]) -> Part:
    name = row.get("name")
    member = members.get(name) if isinstance(name, str) else None
    if not isinstance(name, str) or member is None:
        raise CaseInvalid(f"{_name(file)} is incomplete", f"the part {clean_line(str(name))[:80]!r} is missing")
    digest = row.get("sha256")
    if not isinstance(digest, str) or len(digest) != 64 or set(digest) - set("0123456789abcdef"):
        raise CaseInvalid(f"{_name(file)} is refused", f"the part {name!r} has no SHA-256 digest")
    origin = row.get("origin")
    origin = origin if isinstance(origin, dict) else {}
    path = _text(row, "path")
    return Part(
        name=name,
        role=_text(row, "role"),
        sha256=digest,
        size=member.file_size,
        path=path if path and PurePosixPath(path).name else "",
        origin=Origin(*(_text(origin, key) for key in ("tool", "version", "device", "time"))),
    )


def _text(row: dict[str, Any], key: str) -> str:
    value = row.get(key)
    return clean_line(value)[:400] if isinstance(value, str) else ""
