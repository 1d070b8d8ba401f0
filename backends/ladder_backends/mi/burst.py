"""Records that come in thousands, told as few."""

from __future__ import annotations

from ladder_backends.mi.records import AsyncRecord, Repeated, all_values

_THREADS = ("thread-created", "thread-exited")
_BREAKPOINT = "breakpoint-modified"


class Burst:
    """Neighbouring records of one kind, joined.

    Of threads, all ids are kept, in a `Repeated`. Of one breakpoint, whose hits are counted, the last record is.
    """

    def __init__(self) -> None:
        self._held: AsyncRecord | None = None

    @staticmethod
    def takes(record: AsyncRecord) -> bool:
        """It is of a kind that comes in bursts."""
        return record.cls in _THREADS or record.cls == _BREAKPOINT

    def join(self, record: AsyncRecord) -> bool:
        """Hold a record with those before it; False where these must be taken first."""
        held = self._held
        if held is None or (record.cls == _BREAKPOINT and _subject(held) == _subject(record)):
            self._held = record
            return True
        if _kind(held) != _kind(record) or record.cls == _BREAKPOINT:
            return False
        ids = held.results.get("id")
        if not isinstance(ids, Repeated):
            ids = held.results["id"] = Repeated(all_values(held.results, "id"))
        ids.extend(all_values(record.results, "id"))
        return True

    def take(self) -> AsyncRecord | None:
        """What is held, which is then held no more."""
        held, self._held = self._held, None
        return held


def _kind(record: AsyncRecord) -> tuple[str, object]:
    """What neighbours have in common; threads of two processes are told apart."""
    return record.cls, record.results.get("group-id")


def _subject(record: AsyncRecord) -> tuple[str, object]:
    row = record.results.get("bkpt")
    return record.cls, row.get("number") if isinstance(row, dict) else None
