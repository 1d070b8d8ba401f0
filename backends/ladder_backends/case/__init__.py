"""Cases: one file with findings, dump, executable, recording and sources that opens without a GPU."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ladder_backends.case.classify import Classified, FileKind, classify
from ladder_backends.exports import on_demand

if TYPE_CHECKING:
    from ladder_backends.case.model import Case, Opened, Origin, Part, Role, SourcePart
    from ladder_backends.case.opened import open_files, plain_file, refuse_unknown
    from ladder_backends.case.reader import read_case
    from ladder_backends.case.unpack import unpack_part, unpack_xz
    from ladder_backends.case.writer import NewPart, write_case
else:
    __getattr__ = on_demand(
        __name__,
        model="Case Opened Origin Part Role SourcePart",
        opened="open_files plain_file refuse_unknown",
        reader="read_case",
        unpack="unpack_part unpack_xz",
        writer="NewPart write_case",
    )

__all__ = [
    "Case",
    "Classified",
    "FileKind",
    "NewPart",
    "Opened",
    "Origin",
    "Part",
    "Role",
    "SourcePart",
    "classify",
    "open_files",
    "plain_file",
    "read_case",
    "refuse_unknown",
    "unpack_part",
    "unpack_xz",
    "write_case",
]
