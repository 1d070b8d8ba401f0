"""A thousand nodes through the real link and reader, fed by a few processes: late, torn and missing ones too."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))
from bench_nodes import LATE, NODES, RANKS, TORN, UNHEARD, sweep


async def test_counts_hold_with_late_torn_and_missing_nodes():
    swept = await sweep(NODES, RANKS, faults=True)
    lost = TORN + UNHEARD + LATE
    assert swept.nodes == NODES - lost
    assert swept.tree.answered == (NODES - lost) * RANKS
    assert swept.tree.stacks == (NODES - lost) * RANKS
    assert len(swept.silent) == lost
    assert sum("torn" in why for why in swept.silent.values()) == TORN
    assert sum("has ended" in why for why in swept.silent.values()) == UNHEARD
    assert sum("no answer within" in why for why in swept.silent.values()) == LATE
    assert swept.tree.asked == NODES * RANKS
    assert 0 < swept.bytes < NODES * 64_000
