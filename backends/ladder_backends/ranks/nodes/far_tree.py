"""The merged stacks of very many ranks, without taking any of them for itself: for jobs of thousands of nodes."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ladder_backends.model.ranks import Unreachable
from ladder_backends.ranks.nodes.nodes import Node, Nodes
from ladder_backends.ranks.stacks.classes import StackClass
from ladder_backends.ranks.stacks.labels import Granularity
from ladder_backends.ranks.stacks.tree import StackTree
from ladder_backends.ranks.stacks.wire import StackPool, from_wire, join_classes


async def tree_of_nodes(
    nodes: Nodes, ranks: Mapping[str, Sequence[int]], *, deadline: float = 60.0, **wish: Any
) -> StackTree:
    """The tree over all nodes that answer; ranks of the others are told with the reason.

    Args:
        nodes: Who is asked.
        ranks: The ranks of each host.
        deadline: Seconds for the slowest of them.
        wish: What an agent's look takes.
    """
    pool = StackPool()
    silent: list[Unreachable] = []

    async def one(node: Node) -> list[list[StackClass]]:
        told = await node.link.ask("look", deadline, **wish)
        found = []
        for name in ("python", "native"):
            # Read as it comes: the last node's answer waits for no other one's.
            classes, unheard = from_wire(told.get(name), pool)
            found.append(classes)
            silent.extend(unheard)
        return found

    with _without_collection():
        answers = await nodes.each(one)
    for host, why in nodes.silent.items():
        silent += [
            Unreachable(rank, f"node {host} did not answer: {why}", "look again") for rank in ranks.get(host, ())
        ]
    classes = join_classes(classes for found in answers.values() for classes in found)
    return StackTree(classes, silent, Granularity.LINE)


@contextlib.contextmanager
def _without_collection() -> Iterator[None]:
    """Look for no garbage meanwhile: an answer has no circles, and its lists would be searched again and again."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()
