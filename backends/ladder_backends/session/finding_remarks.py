"""What a person says of findings, kept for each program over restarts and runs.

One file a program in `state_dir()/findings`, named by a digest of the program's real path:

```
{"format": 1, "program": "/real/path",
 "remarks": {KEY: {"loose": KEY, "title": "...", "note": "...", "mark": "done"}}}
```

The keys are those of `sanitizer/group_key.py`: a run after an edit finds its bugs again by the loose one.
"""

from __future__ import annotations

import enum
from collections.abc import Container, Mapping
from dataclasses import dataclass
from pathlib import Path

from ladder_backends.session.program_file import ProgramFile
from ladder_backends.text import clean_line

FORMAT = 1
LONGEST_NOTE = 2_000
"""Characters of a note."""

_MOST = 2_000
_LONGEST_KEY = 64
_LONGEST_TITLE = 300


class Mark(enum.StrEnum):
    """What a person has decided about a bug."""

    OPEN = "open"
    DONE = "done"
    IGNORED = "ignored"


@dataclass(frozen=True, slots=True)
class Remark:
    """A person's word on a bug."""

    note: str = ""
    mark: Mark = Mark.OPEN


NO_REMARK = Remark()


class FindingRemarks:
    """Remarks on the findings of one program.

    Attributes:
        notice: What was wrong with the file, for the user; empty where nothing was.
    """

    def __init__(self, program: Path | None) -> None:
        self._kept = ProgramFile(program, "findings") if program is not None else None
        self._rows: dict[str, dict[str, str]] = {}
        self._loose: dict[str, str | None] = {}
        self.notice = ""
        self._load()

    def __len__(self) -> int:
        return len(self._rows)

    def _moved(self, key: str, loose: str, present: Container[str]) -> str:
        """The key under which the bug was known before its lines changed, or an empty string."""
        before = self._loose.get(loose) or ""
        return before if key not in self._rows and before not in present else ""

    def of(self, key: str, loose: str = "", present: Container[str] = ()) -> Remark:
        """What is said of a bug; that of one which differs in its lines alone, where only one does.

        Args:
            key: The bug's key.
            loose: Its key without lines.
            present: Keys of bugs that are there: none of them has become this one.
        """
        row = self._rows.get(key) or self._rows.get(self._moved(key, loose, present))
        return Remark(row["note"], Mark(row["mark"])) if row is not None else NO_REMARK

    def put(
        self, key: str, remark: Remark, *, loose: str = "", title: str = "", present: Container[str] = ()
    ) -> None:
        """Say something of a bug, and keep it; nothing said takes the entry away."""
        before = dict(self._rows)
        if moved := self._moved(key, loose, present):
            # The bug of another line has become this one.
            self._rows.pop(moved, None)
        if remark == NO_REMARK:
            self._rows.pop(key, None)
        else:
            self._rows[key] = {
                "loose": loose,
                "title": title[:_LONGEST_TITLE],
                "note": clean_line(remark.note)[:LONGEST_NOTE],
                "mark": remark.mark.value,
            }
        while len(self._rows) > _MOST:
            del self._rows[next(iter(self._rows))]
        if self._rows != before:
            self._index()
            self._save()

    def _index(self) -> None:
        self._loose = {}
        for key, row in self._rows.items():
            if row["loose"]:
                # Two bugs that differ in their lines alone: neither is taken for a third.
                self._loose[row["loose"]] = None if row["loose"] in self._loose else key

    def _load(self) -> None:
        if self._kept is None:
            return
        try:
            self._rows = _rows(self._kept.read())
        except FileNotFoundError:
            return
        except (OSError, ValueError, RecursionError) as error:
            why, aside = clean_line(str(error)), self._kept.put_aside()
            self.notice = f"kept notes on findings cannot be read: {why} — the file is now {aside}"
        self._index()

    def _save(self) -> None:
        if self._kept is None:
            self.notice = "the report does not tell its program: notes last only as long as the console"
            return
        try:
            self._kept.write(FORMAT, {"remarks": self._rows})
        except OSError as error:
            self.notice = f"notes cannot be kept in {self._kept.path.parent}: {error.strerror or error}"


def _rows(document: object) -> dict[str, dict[str, str]]:
    if not isinstance(document, Mapping) or document.get("format") != FORMAT:
        raise ValueError("it is of another format")
    remarks = document.get("remarks")
    if not isinstance(remarks, Mapping):
        raise ValueError("it holds no remarks")
    rows = {}
    for key, row in list(remarks.items())[:_MOST]:
        if not isinstance(key, str) or len(key) > _LONGEST_KEY or not isinstance(row, Mapping):
            continue
        texts = {name: row.get(name) for name in ("loose", "title", "note", "mark")}
        if row.get("mark") not in tuple(Mark) or not all(isinstance(text, str) for text in texts.values()):
            continue
        rows[key] = {name: clean_line(str(text))[:LONGEST_NOTE] for name, text in texts.items()}
    return rows
