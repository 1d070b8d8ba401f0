"""What makes two findings of different runs the same bug.

A group's id holds what a report says of its bug, word for word. From run to run and from version to version these
words differ: paths are stripped or whole, addresses move, arguments are written in other ways. A key leaves out
whatever may differ so, a loose key the lines too: it finds a bug again whose file was edited above it.
"""

from __future__ import annotations

import hashlib
import re
from functools import lru_cache

from ladder_backends.model.finding import CodeLocation, Finding, FindingGroup, Report
from ladder_backends.model.frame import file_name
from ladder_backends.sanitizer.user_frame import user_frame

_HEX = re.compile(r"0x[0-9a-fA-F]+")
_LONGEST = 4_096


@lru_cache(maxsize=4096)
def bare_name(function: str) -> str:
    """A function without arguments, clone marks and return type, for comparison only."""
    text = function[:_LONGEST].replace("(anonymous namespace)", "<unnamed>").split(" [clone", 1)[0].strip()
    depth = start = 0
    for index, char in enumerate(text):
        if char == "<":
            depth += 1
        elif char == ">" and text[index - 1 : index] != "-":
            depth -= 1
        elif depth == 0 and char == "(" and index:
            # What stands in template arguments is no list of arguments: `k<(int)4>(T1 *)`.
            text = text[:index]
            break
        elif depth == 0 and char == " ":
            # Only a template is written with its return type.
            start = index + 1
    return text[start:].replace(" ", "") or function


def _place(function: str, file: str, line: int | None, *, loose: bool) -> str:
    return f"{bare_name(function)}|{file_name(file)}|{'' if loose or line is None else line}"


def _of_frame(frame: CodeLocation | None, *, loose: bool) -> str:
    return _place(frame.function, frame.file, frame.line, loose=loose) if frame is not None else ""


def finding_key(finding: Finding, *, loose: bool = False) -> str:
    """The key of the bug that a finding is an instance of, 16 hex digits.

    Args:
        finding: The first of its group.
        loose: Leave out line numbers.
    """
    inner = finding.sides[0].location if finding.sides else CodeLocation()
    parts = [
        finding.kind.value,
        finding.access,
        finding.space,
        _HEX.sub("0x", finding.reason),
        bare_name(finding.kernel),
        _place(inner.function, finding.src_file, finding.line, loose=loose),
    ]
    if not finding.src_file and not finding.kernel:
        # Nothing on the device: the place is where the host called or allocated.
        parts.append(_of_frame(user_frame(finding.host_frames), loose=loose))
    text = "\x1f".join(parts).encode("utf-8", "replace")
    return hashlib.blake2s(text, digest_size=8).hexdigest()


def group_key(report: Report, group: FindingGroup, *, loose: bool = False) -> str:
    """The key of a group; that of its first finding. Empty where the group has no member yet."""
    return finding_key(report.findings[group.members[0]], loose=loose) if group.members else ""
