"""Unpack parts of cases and compressed dumps into the cache, once for equal content."""

from __future__ import annotations

import contextlib
import hashlib
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from ladder_backends.case.bounds import MAX_PART_BYTES, MAX_UNPACKED_DUMP_BYTES
from ladder_backends.case.model import Case, Part
from ladder_backends.case.packing import SUFFIXES, Broken, unpacked, without_xz
from ladder_backends.errors import CaseInvalid, LadderError, TargetInvalid
from ladder_backends.paths import cache_dir
from ladder_backends.text import clean_line
from ladder_backends.whole_file import writing_whole

_CHUNK = 1 << 20
_XZ_SUFFIX = ".xz"


def unpack_part(case: Case, part: Part) -> Path:
    """The part as a plain file; an `.xz` layer is taken off.

    Raises:
        CaseInvalid: The content is not what the table says, or it breaks a bound.
        LadderError: The cache cannot be written.
    """
    packed = part.file_name.endswith(_XZ_SUFFIX)
    target = _place(part.sha256, part.file_name.removesuffix(_XZ_SUFFIX))
    if target.exists():
        return target
    what = f"{clean_line(case.file.name)} is damaged"
    try:
        with zipfile.ZipFile(case.file) as archive, archive.open(part.name) as member, _writing(target) as out:
            digest = hashlib.sha256()
            chunks = _measured(member, digest, min(part.size, MAX_PART_BYTES))
            for chunk in _bounded(without_xz(chunks)) if packed else chunks:
                out.write(chunk)
            if digest.hexdigest() != part.sha256:
                raise CaseInvalid(what, f"the part {part.name!r} does not have the digest that its table gives")
    except Broken as error:
        raise CaseInvalid(what, f"the part {part.name!r} {error}") from error
    except (zipfile.BadZipFile, zlib.error, EOFError, KeyError, NotImplementedError, RuntimeError) as error:
        raise CaseInvalid(what, f"the part {part.name!r} does not unpack") from error
    return target


def unpack_file(file: Path, packing: str) -> Path:
    """A compressed dump or core as a plain file in the cache.

    Args:
        file: What is packed.
        packing: As `packing_of` names it.

    Raises:
        TargetInvalid: It is damaged or too large, or the program that unpacks it is missing.
        LadderError: The cache cannot be written.
    """
    try:
        with file.open("rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
        target = _place(digest, file.name.removesuffix(SUFFIXES[packing]))
        if target.exists():
            return target
        with _writing(target) as out:
            for chunk in unpacked(file, packing, MAX_UNPACKED_DUMP_BYTES):
                out.write(chunk)
    except Broken as error:
        raise TargetInvalid(f"{clean_line(file.name)} cannot be opened", f"it {error}") from error
    except OSError as error:
        raise TargetInvalid(f"{clean_line(str(file))} cannot be read", error.strerror or "") from error
    return target


def unpack_xz(file: Path) -> Path:
    """`unpack_file` of an xz layer."""
    return unpack_file(file, "xz")


def _place(digest: str, name: str) -> Path:
    return cache_dir() / "parts" / digest / (name if name.strip(".") else "part")


def _measured(stream: IO[bytes], digest: hashlib._Hash, limit: int) -> Iterator[bytes]:
    taken = 0
    while chunk := stream.read(_CHUNK):
        taken += len(chunk)
        if taken > limit:
            raise Broken("is longer than its table says")
        digest.update(chunk)
        yield chunk


def _bounded(chunks: Iterator[bytes]) -> Iterator[bytes]:
    given = 0
    for chunk in chunks:
        given += len(chunk)
        if given > MAX_UNPACKED_DUMP_BYTES:
            raise Broken(f"unpacks to more than {MAX_UNPACKED_DUMP_BYTES >> 30} GiB")
        yield chunk


@contextlib.contextmanager
def _writing(target: Path) -> Iterator[IO[bytes]]:
    """Write beside the target and move it there whole, so that nobody ever sees half of it."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with writing_whole(target) as out:
            yield out
    except OSError as error:
        raise _unwritable(error) from error
    finally:
        # Gone again where nothing came of it.
        with contextlib.suppress(OSError):
            target.parent.rmdir()


def _unwritable(error: OSError) -> LadderError:
    return LadderError(
        f"nothing can be unpacked into {clean_line(str(cache_dir()))}",
        error.strerror or "",
        "free some space there, or name another folder with XDG_CACHE_HOME",
    )
