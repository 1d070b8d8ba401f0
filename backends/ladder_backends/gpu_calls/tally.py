"""What a check of memory counts, and the class of failure that the counts name."""

from __future__ import annotations

from typing import NamedTuple

from ladder_backends.gpu_calls.words import WORD, Stuff
from ladder_backends.model.p2p import Result


class Expected(NamedTuple):
    """What a buffer should hold: `data` in the bytes `start`..`stop`, `around` everywhere else.

    `shift` is added to a data byte's place to get its place in the memory it was copied from.
    """

    start: int
    stop: int
    data: Stuff
    around: Stuff
    shift: int = 0


class Tally(NamedTuple):
    """Words of a buffer that are not as expected, by what they hold instead.

    Attributes:
        words: Words that should have arrived.
        bad: Of those, how many are wrong.
        old: Still what the owner wrote before.
        zeros: All zero.
        ones: All ones, as a bus answers a read that nobody took.
        earlier: The same transfer of an earlier epoch.
        foreign: A word that belongs elsewhere: another pair, or another place.
        other: Nothing we ever wrote.
        outside: Words beyond the transfer that were overwritten.
        first: Byte offset of the first wrong word, or -1.
        last: Byte offset of the last wrong word, or -1.
        sample: The first foreign or other word, or 0.
    """

    words: int
    bad: int = 0
    old: int = 0
    zeros: int = 0
    ones: int = 0
    earlier: int = 0
    foreign: int = 0
    other: int = 0
    outside: int = 0
    first: int = -1
    last: int = -1
    sample: int = 0

    @property
    def right(self) -> bool:
        """Everything is as expected."""
        return not self.bad and not self.outside

    def evidence(self) -> dict[str, object]:
        """The counts that are not zero, for a report."""
        shown: dict[str, object] = {"words": self.words, "bad": self.bad}
        for name in ("old", "zeros", "ones", "earlier", "foreign", "other", "outside"):
            if count := getattr(self, name):
                shown[name] = count
        if self.first >= 0:
            shown["first_bad_byte"], shown["last_bad_byte"] = self.first, self.last
        if self.sample:
            shown["sample"] = f"{self.sample:#018x}"
        return shown


def classify(owner: Tally, writer: Tally | None = None, later: Tally | None = None) -> tuple[Result, str]:
    """Name what happened to a transfer.

    Args:
        owner: What the GPU that owns the memory finds there.
        writer: What the writing GPU reads back through the peer window, where that was asked.
        later: What the owner finds a while later, where that was asked.

    Returns:
        The class, and a sentence of evidence.
    """
    from ladder_backends.gpu_calls.words import decoded

    if owner.right:
        return Result.RIGHT, f"{owner.words:,} words, all as written"
    if later is not None and later.right:
        return Result.STALE, f"{owner.bad:,} of {owner.words:,} words arrived after the copy was reported complete"
    if owner.foreign or owner.outside:
        tag = decoded(owner.sample)
        if owner.foreign and tag is not None:
            return Result.MISROUTED, (
                f"{owner.foreign:,} words belong elsewhere: GPU{tag.source} wrote the first for GPU{tag.target},"
                f" byte {tag.place * WORD:,}"
            )
        return (
            Result.MISROUTED,
            f"{max(owner.outside, owner.foreign):,} words outside the transfer were overwritten",
        )
    if owner.bad < owner.words:
        what = ", ".join(
            f"{count:,} {text}"
            for count, text in (
                (owner.old, "keep their old bytes"),
                (owner.zeros, "are zero"),
                (owner.ones, "are all ones"),
                (owner.earlier, "are of an earlier transfer"),
                (owner.other, "hold neither the old nor the new bytes"),
            )
            if count
        )
        text = (
            f"{owner.bad:,} of {owner.words:,} words wrong from byte {owner.first:,} to {owner.last + 7:,}: {what}"
        )
        return (Result.STALE if owner.earlier == owner.bad else Result.PARTIAL), text
    if owner.earlier == owner.bad:
        return Result.STALE, f"all {owner.bad:,} words are those of an earlier transfer"
    if writer is not None and writer.right:
        return Result.MIRRORED, (
            "the writer reads its own data back through the window, the owner's memory keeps its old bytes"
        )
    if owner.old == owner.bad:
        return Result.DROPPED, f"all {owner.bad:,} words keep their old bytes, and every call reported success"
    if owner.ones == owner.bad:
        return Result.DROPPED, f"all {owner.bad:,} words read as ones: nothing answered the read"
    if owner.zeros == owner.bad:
        return Result.DROPPED, f"all {owner.bad:,} words are zero"
    return Result.PARTIAL, f"{owner.bad:,} of {owner.words:,} words hold neither the old nor the new bytes"
