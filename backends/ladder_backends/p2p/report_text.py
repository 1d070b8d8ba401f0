"""A sweep and its verdict as lines for people: what was claimed, what is proven, what it means, what to type."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence

from ladder_backends.model.p2p import PairResult, Result, Sweep, Verdict
from ladder_backends.p2p.arms import ARMS

GLYPHS: dict[Result, str] = {
    Result.RIGHT: "✓",
    Result.SLOW: "~",
    Result.HUNG: "H",
    Result.NOT_TESTED: "·",
    Result.ERROR: "!",
}
"""What stands before the word of a class; every other one has a cross."""

WIDTH = 78
_GPU = re.compile(r"(GPU\d+(?: – GPU\d+)?) (.+)")


def glyph(result: Result) -> str:
    """The sign of a class, besides its word and its colour."""
    return GLYPHS.get(result, "✗")


def cell_text(sweep: Sweep, pair: PairResult) -> str:
    """A cell of the matrix in words: the class, or the rate where it is right."""
    if not pair.arms:
        if pair.claim.offered is False:
            return "- not offered"
        return "… " + pair.running.partition(":")[0] if pair.running else "· not tested"
    kind = pair.kind
    if any(gpu.state == "wedged" and gpu.index == pair.target for gpu in sweep.gpus) and kind.wrong:
        return "W wedged"
    if kind is Result.RIGHT and pair.bandwidth:
        return f"✓ {pair.bandwidth:g}"
    if kind is Result.SLOW and pair.bandwidth:
        return f"~ slow {pair.bandwidth:g}"
    if kind is Result.NOT_TESTED and pair.claim.offered is False:
        return "- not offered"
    return f"{glyph(kind)} {kind.replace('_', ' ')}"


def claimed_line(sweep: Sweep) -> str:
    """How many pairs are claimed, and how many proven."""
    total = len(sweep.pairs)
    claimed = sum(bool(pair.claim.offered) for pair in sweep.pairs.values())
    proven = sum(pair.kind is Result.RIGHT for pair in sweep.pairs.values())
    return f"claimed by CUDA {claimed} of {total} pairs · proven right {proven} of {total}"


def lines(sweep: Sweep, found: Sequence[Verdict], baseline: Sequence[str] = ()) -> list[str]:
    """The whole report; what to do stands last, where the eye is when the command has ended.

    Args:
        sweep: What was found.
        found: What it means.
        baseline: What is different since a baseline, if one is compared.
    """
    out = []
    if sweep.simulated:
        out.append(f"SIMULATED: {sweep.simulated}")
    for gpu in sweep.gpus:
        state = "" if gpu.state == "ok" else f"  {gpu.state.upper()}: {gpu.why}"
        out.append(f"GPU{gpu.index}  {gpu.name}  {gpu.bus}{state}")
    if sweep.pairs:
        out += ["", f"P2P  row writes to column, GB/s   {claimed_line(sweep)}", *matrix(sweep)]
    if controls := control_lines(sweep):
        out += ["", *controls]
    if facts := [line for verdict in found for line in fact_lines(verdict)]:
        out += ["", "Evidence", *facts]
    if sweep.untested:
        out += [
            "",
            f"Not tested  ({sweep.depth} arms, {sweep.took:.1f} s)",
            *(f"  {line}" for line in sweep.untested),
        ]
    if baseline:
        out += ["", *baseline]
    for verdict in found:
        out += ["", *verdict_lines(verdict)]
    return out[1:] if out and not out[0] else out


def matrix(sweep: Sweep) -> list[str]:
    """The pairs as a table, rows write to columns."""
    numbers = [gpu.index for gpu in sweep.gpus]
    cells = {key: cell_text(sweep, pair) for key, pair in sweep.pairs.items()}
    width = max([6, *(len(text) for text in cells.values())]) + 2
    out = ["        " + "".join(f"{f'GPU{number}':<{width}}" for number in numbers).rstrip()]
    for source in numbers:
        row = "".join(
            f"{'·' if source == target else cells.get((source, target), '·'):<{width}}" for target in numbers
        )
        out.append(f" GPU{source:<3} {row}".rstrip())
    return out


def control_lines(sweep: Sweep) -> list[str]:
    """What the controls showed, one line an arm."""
    out = []
    for arm in ("local", "host", "staged", "ipc", "shm"):
        found = [one for one in sweep.controls.values() if one.arm == arm]
        if not found:
            continue
        right = sum(one.result is Result.RIGHT for one in found)
        left = sum(one.result is Result.NOT_TESTED for one in found)
        names = ("GBps",) if arm == "staged" else ("to_gpu_GBps", "from_gpu_GBps")
        rates = [rate for one in found for name in names if isinstance(rate := one.evidence.get(name), int | float)]
        speed = ""
        if rates:
            low, high = min(rates), max(rates)
            speed = f", {low:g} GB/s" if low == high else f", {low:g} to {high:g} GB/s"
        what = "all right" if right == len(found) else f"{right} of {len(found)} right"
        if left:
            what = "not tested" if left == len(found) else f"{what}, {left} not tested"
        out.append(f"  {ARMS[arm].does}: {what}{speed}  ({ARMS[arm].test})")
        out += [f"    GPU{one.source} → GPU{one.target}: {one.said}" for one in found if one.result.wrong][:4]
    for one in sweep.together.values():
        out.append(f"  {ARMS[one.arm].does}: {one.result.replace('_', ' ')}  {one.said}  ({ARMS[one.arm].test})")
    return ["Controls", *out] if out else []


def verdict_lines(verdict: Verdict, width: int = WIDTH) -> list[str]:
    """A verdict: sentence, cause, command, evidence, in this order."""
    sign = "✓" if verdict.good else "✗" if verdict.conclusive else "?"
    out = textwrap.wrap(f"{sign} {verdict.sentence}", width, subsequent_indent="  ")
    if verdict.likely:
        facts = f"{len(verdict.facts)} fact" + ("" if len(verdict.facts) == 1 else "s")
        cause = f"Likely: {verdict.likely}.  confidence {verdict.confidence} ({facts})"
        out += textwrap.wrap(cause, width, initial_indent="  ", subsequent_indent="          ")
    for label, one in (("Now:   ", verdict.now), *(("Later: ", later) for later in verdict.later)):
        if one is None:
            continue
        # The command stands alone on its line, so that it can be copied whole.
        out.append(f"  {label} {one.command}")
        notes = "; ".join(part for part in (one.price, f"by {one.who}" if one.who else "") if part)
        if notes:
            out += textwrap.wrap(notes, width, initial_indent="            ", subsequent_indent="            ")
    return out + [f"  Changed: {line}" for line in verdict.changed]


def fact_lines(verdict: Verdict) -> list[str]:
    """What a verdict leans on, each with where it comes from."""
    return [f"  {fact.text}{f'  [{fact.source}]' if fact.source else ''}" for fact in verdict.facts]


def grouped(changes: Sequence[str], most: int = 6) -> tuple[str, ...]:
    """Changes that are the same for several GPUs as one line; what is left over is counted."""
    found: dict[str, list[str]] = {}
    for line in changes:
        match = _GPU.match(line)
        place, rest = (match[1], match[2]) if match else ("", line)
        found.setdefault(rest, []).append(place)
    out = [
        rest if not places[0] else f"{places[0]} {rest}" if len(places) == 1 else f"{_places(places)}: {rest}"
        for rest, places in found.items()
    ]
    return (*out[:most], *([f"{len(out) - most} more"] if len(out) > most else ()))


def _places(places: Sequence[str]) -> str:
    pairs = sum("–" in place for place in places)
    return f"{len(places)} pairs" if pairs == len(places) else f"{len(places)} GPUs"
