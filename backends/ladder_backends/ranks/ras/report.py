"""From a report of RAS to counts of each member of each communicator.

The text form (2.24 to 2.28) names outliers only, at most ten; the JSON form (2.28.7 and later) names everyone.
NCCL 2.28.9 forgets a comma before the status of a rank that is missing.
Ranks in it are those of the communicator: which rank of the job a member is, its process id tells.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ladder_backends.text import clean_line

OPERATION = "operation"
"""Name under which the text form's one count of all operations goes."""

_MOST_MEMBERS = 1 << 20
_LONGEST = 200
_HEAD = re.compile(r"#\d+-\d+ \((?P<hash>[0-9a-f]{1,32})\)\s*(?P<word>[A-Z ]*)")
_MEMBER = re.compile(
    r"\s*Rank (?P<rank>\d{1,9}) -- GPU \S+ managed by process (?P<pid>\d{1,9}) on node (?P<host>\S+)"
)
_LAUNCHED = re.compile(r"\s*(?P<count>\d{1,9}) ranks? (?:has|have) launched up to operation (?P<op>\d{1,18})")
_STATUS = re.compile(r"\s*(?P<count>\d{1,9}) ranks? (?:has|have) status (?P<status>\w+)")
_MISSING = re.compile(r"\s*Missing communicator data from \d+ rank")
_VERSION = re.compile(r"NCCL version (\S+)")
_NO_COMMA = re.compile(r"""(["\d}\]el])(\s*\n\s*)("[^"\n]*"\s*:)""")
_HOST = ("host", "hostname", "node", "addr", "address")
_NAMES = ("hash", "comm_hash", "communicator", "id", "comm_id")


@dataclass(frozen=True, slots=True)
class RasMember:
    """One rank of a communicator.

    Attributes:
        rank: Its number in the communicator.
        counts: Operations begun, by name.
        state: `MISSING`, or what RAS says of it.
    """

    communicator: str
    rank: int
    pid: int | None
    host: str
    counts: Mapping[str, int]
    state: str = ""


@dataclass(slots=True)
class RasStatus:
    """One report, read.

    Attributes:
        size: Ranks of a communicator, by its hash, where that is told.
        most: Count of the ranks that are no outliers, by the hash of the communicator; text form only.
    """

    version: str = ""
    members: list[RasMember] = field(default_factory=list)
    sizes: dict[str, int] = field(default_factory=dict)
    most: dict[str, int] = field(default_factory=dict)


def read_text(text: str) -> RasStatus:
    """The text form."""
    status = RasStatus()
    version = _VERSION.search(text[:2000])
    if version is not None:
        status.version = clean_line(version[1])[:40]
    communicator = ""
    missing = False
    count: int | None = None
    state = ""
    for line in text.splitlines():
        if (head := _HEAD.match(line)) is not None:
            communicator, missing, count, state = head["hash"], False, None, ""
        elif not communicator:
            continue
        elif _MISSING.match(line):
            missing, count, state = True, None, ""
        elif (launched := _LAUNCHED.match(line)) is not None:
            # The first line of several is the most of them: nobody is named below it.
            if communicator not in status.most:
                status.most[communicator] = int(launched["op"])
            count, missing = int(launched["op"]), False
        elif (told := _STATUS.match(line)) is not None:
            state, missing, count = clean_line(told["status"])[:40], False, None
        elif (member := _MEMBER.match(line)) is not None and len(status.members) < _MOST_MEMBERS:
            counts = {OPERATION: count} if count is not None else {}
            status.members.append(
                RasMember(
                    communicator,
                    int(member["rank"]),
                    int(member["pid"]),
                    clean_line(member["host"])[:_LONGEST],
                    counts,
                    "MISSING" if missing else state,
                )
            )
    return status


def read_json(text: str) -> RasStatus:
    """The JSON form; keys that are not known are passed over.

    Raises:
        ValueError: It is none.
    """
    try:
        try:
            told = json.loads(text)
        except ValueError:
            told = json.loads(_NO_COMMA.sub(r"\1,\2\3", text))
    except RecursionError as error:
        raise ValueError("nested without end") from error
    status = RasStatus()
    if isinstance(told, dict):
        status.version = _text(told.get("nccl_version") or told.get("version"))[:40]
    for communicator in _communicators(told):
        name = next((_text(communicator[key]) for key in _NAMES if communicator.get(key) is not None), "")
        rows = communicator["ranks"]
        size = _whole(communicator.get("size") or communicator.get("nranks"))
        status.sizes[name] = size if size is not None else len(rows)
        for row in rows:
            if isinstance(row, dict) and len(status.members) < _MOST_MEMBERS:
                status.members.append(_member(name, row))
        for row in communicator.get("missing_ranks") or ():
            if isinstance(row, dict):
                member = _member(name, row)
                status.members.append(
                    RasMember(name, member.rank, member.pid, member.host, member.counts, "MISSING")
                )
    return status


def _member(communicator: str, row: Mapping[str, Any]) -> RasMember:
    counts = row.get("collective_counts")
    status = row.get("status")
    state = _state(status) if isinstance(status, dict) else _text(status or row.get("init_state"))
    rank = _whole(row.get("rank"))
    return RasMember(
        communicator,
        rank if rank is not None else -1,
        _whole(row.get("pid")),
        next((_text(row[key]) for key in _HOST if isinstance(row.get(key), str)), ""),
        {_text(name): number for name, value in list(counts.items())[:64] if (number := _whole(value)) is not None}
        if isinstance(counts, dict)
        else {},
        "MISSING" if row.get("missing") is True else state,
    )


def _state(status: Mapping[str, Any]) -> str:
    """The word of the text form for the marks of the JSON form; numbers are those of `ncclResult_t`."""
    if status.get("abort_flag") is True:
        return "ABORT"
    if status.get("finalize_called") is True or status.get("destroy_flag") is True:
        return "FINALIZE"
    if _whole(status.get("async_error")) not in (None, 0):
        return "ERROR"
    return "RUNNING" if status.get("init_state") == 0 else "INIT" if "init_state" in status else ""


def _communicators(told: object, depth: int = 0) -> Iterator[Mapping[str, Any]]:
    if depth > 8:
        return
    if isinstance(told, dict):
        rows = (told.get("ranks"), told.get("missing_ranks"))
        if isinstance(rows[0], list) and any(isinstance(row, dict) for part in rows for row in part or ()):
            yield told
            return
        for value in told.values():
            yield from _communicators(value, depth + 1)
    elif isinstance(told, list):
        for value in told:
            yield from _communicators(value, depth + 1)


def _text(value: object) -> str:
    if isinstance(value, str):
        return clean_line(value[:_LONGEST])
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else ""


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
