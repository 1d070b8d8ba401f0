"""Merging the stacks of many ranks, and saying what is wrong with them: 100,000 stacks of 25 frames and more."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from typing import Any

from ladder_backends.model.ranks import Collective, Evidence, Job, Launcher, Rank, RankFrame, RankStack
from ladder_backends.ranks.stacks import Granularity, StackTree, merge
from ladder_backends.ranks.stacks.wire import StackPool, from_wire, join_classes, to_wire
from ladder_backends.ranks.verdict import verdicts

STACKS = 100_000
FRAMES = 25
CLASSES = 200
NODES = 1_024
TURNS = 5


def rows() -> Iterator[dict[str, Any]]:
    """The merge of stacks in each form, of nodes' answers, and the verdict over recorders, in seconds of CPU."""
    pool = [RankFrame(f"function_{number}", f"file{number % 30}.c", number, "app") for number in range(400)]
    common = tuple(pool[:12])
    kinds = [
        common + tuple(pool[(kind * 7 + level) % 400] for level in range(FRAMES - 12)) for kind in range(CLASSES)
    ]
    for what, budget, stacks in (
        ("merge 100,000 stacks, each kind read once", 100, _stacks(kinds, lambda frames: frames)),
        ("merge 100,000 stacks, frames read once", 100, _stacks(kinds, lambda frames: tuple(iter(frames)))),
    ):
        yield {
            "what": what,
            "ours": _best(lambda stacks=stacks: _drawn(merge(stacks))),
            "unit": "ms",
            "budget": budget,
        }
    every = _stacks(kinds, lambda frames: frames)
    share = STACKS // NODES
    sent = [json.dumps(to_wire(every[node * share : (node + 1) * share])).encode() for node in range(NODES)]

    def whole() -> None:
        pool = StackPool()
        classes = join_classes(from_wire(json.loads(line), pool)[0] for line in sent)
        _drawn(StackTree(classes, (), Granularity.LINE))

    yield {"what": "read and merge 1,024 nodes of 97 ranks", "ours": _best(whole, 2), "unit": "ms", "budget": 1_000}
    yield {"what": "bytes of one node of 97 ranks", "ours": len(sent[0]) / 1e3, "unit": "kB"}
    yield {"what": "bytes of 10,000 ranks", "ours": len(json.dumps(to_wire(every[:10_000]))) / 1e3, "unit": "kB"}
    yield {"what": "verdict over 512 ranks of 2,000 collectives", "ours": _best(_verdict, 2), "unit": "ms"}


def _stacks(
    kinds: list[tuple[RankFrame, ...]], form: Callable[[tuple[RankFrame, ...]], tuple[RankFrame, ...]]
) -> list[RankStack]:
    return [RankStack(rank, rank + 1, "", form(kinds[rank % CLASSES])) for rank in range(STACKS)]


def _drawn(tree: StackTree) -> None:
    for row in tree.rows():
        assert row.last.listed


def _verdict() -> None:
    ranks = 512
    job = Job("k", Launcher.TORCHRUN, 1, ranks, tuple(Rank(rank, rank + 1, "n", 1, "x") for rank in range(ranks)))
    done = tuple(Collective(seq, "all_reduce", ((16,),), "float", "completed", "0") for seq in range(1, 2_000))
    waits = Collective(2_000, "all_reduce", ((16,),), "float", "started", "0", age=3.0)
    told = {rank: done if rank == 7 else (*done, waits) for rank in range(ranks)}
    look = Evidence(job, 1.0, collectives=told)
    assert verdicts([look, look])[0].suspects == (7,)


def _best(work: Callable[[], None], turns: int = TURNS) -> float:
    best = float("inf")
    for _ in range(turns):
        began = time.process_time()
        work()
        best = min(best, time.process_time() - began)
    return best * 1e3
