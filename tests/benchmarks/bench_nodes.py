"""Stacks of 1,024 nodes through the agent's own framing and this console's links, to the drawn tree."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ladder_backends.model.ranks import RankFrame, RankStack
from ladder_backends.ranks.nodes.far_tree import tree_of_nodes
from ladder_backends.ranks.nodes.framing import frame
from ladder_backends.ranks.nodes.node_link import NodeLink
from ladder_backends.ranks.nodes.nodes import Node, Nodes
from ladder_backends.ranks.stacks import StackTree
from ladder_backends.ranks.stacks.wire import to_wire

NODES = 1_024
RANKS = 98
CLASSES = 200
FRAMES = 25
FEEDERS = 2
LATE, TORN, UNHEARD = 3, 5, 7


@dataclass(slots=True)
class Swept:
    """What a sweep gave.

    Attributes:
        seconds: From the question to the drawn tree.
        work: Seconds of this process's processor time for it.
        bytes: That came over all links.
        nodes: That answered.
    """

    tree: StackTree
    silent: dict[str, str]
    seconds: float
    work: float
    bytes: int
    nodes: int


def rows() -> Iterator[dict[str, Any]]:
    """The sweep, whole and with faults, and the bytes of a node."""
    best = min((asyncio.run(sweep(NODES, RANKS, faults=False)) for _ in range(3)), key=lambda each: each.work)
    what = "tree of 1,024 nodes, 100,352 ranks"
    yield {"what": f"{what}: processor time", "ours": best.work * 1e3, "unit": "ms", "budget": 1_000}
    yield {"what": f"{what}: until drawn", "ours": best.seconds * 1e3, "unit": "ms"}
    yield {"what": "bytes of one node of 98 stacks, all different", "ours": best.bytes / NODES / 1e3, "unit": "kB"}
    bad = asyncio.run(sweep(NODES, RANKS, faults=True))
    yield {"what": "the same with 15 bad nodes, 3 s for the late ones", "ours": bad.seconds * 1e3, "unit": "ms"}


async def sweep(nodes: int, ranks: int, *, faults: bool) -> Swept:
    """Ask made nodes for their stacks, and draw the tree.

    Args:
        nodes: How many.
        ranks: On each.
        faults: Some answer late, some torn, some not at all.
    """
    pairs = [socket.socketpair() for _ in range(nodes)]
    context = multiprocessing.get_context("fork")
    feeders = []
    for number in range(FEEDERS):
        feeder = context.Process(target=_feed, args=(number, pairs, ranks, faults), daemon=True)
        feeder.start()
        feeders.append(feeder)
    for _, theirs in pairs:
        theirs.close()
    links: list[Node] = []
    for number, (ours, _) in enumerate(pairs):
        reader, writer = await asyncio.open_connection(sock=ours, limit=1 << 20)
        links.append(Node(f"n{number}", NodeLink(f"n{number}", reader, writer)))
    every = Nodes(links, {})
    try:
        await every.each(lambda node: node.link.ask("clock", 30.0))
        by_host = {f"n{number}": range(number * ranks, (number + 1) * ranks) for number in range(nodes)}
        began, cpu = time.perf_counter(), time.process_time()
        tree = await tree_of_nodes(every, by_host, deadline=3.0 if faults else 30.0)
        for row in tree.rows():
            assert row.last.listed
        seconds, work = time.perf_counter() - began, time.process_time() - cpu
        count = sum(node.link.bytes for node in links)
        return Swept(tree, dict(every.silent), seconds, work, count, len(every.live))
    finally:
        await every.close()
        for feeder in feeders:
            feeder.terminate()
            feeder.join()


def _stacks(number: int, ranks: int) -> dict[str, Any]:
    pool = [RankFrame(f"function_{index}", f"file{index % 30}.c", index, "app") for index in range(400)]
    common = tuple(pool[:12])
    found = []
    for rank in range(number * ranks, (number + 1) * ranks):
        kind = rank % CLASSES
        frames = common + tuple(pool[(kind * 7 + level) % 400] for level in range(FRAMES - 12))
        found.append(RankStack(rank, rank + 1, "", frames))
    return to_wire(found)


def _feed(which: int, pairs: list[tuple[socket.socket, socket.socket]], ranks: int, faults: bool) -> None:
    """Play every second node: answer the clock's question, then send the stacks when they are asked for."""
    import selectors

    chosen = selectors.DefaultSelector()
    ready: dict[int, bytes] = {}
    for number, (ours, theirs) in enumerate(pairs):
        ours.close()
        if number % FEEDERS != which:
            theirs.close()
            continue
        ready[number] = json.dumps(_stacks(number, ranks)).encode()
        chosen.register(theirs, selectors.EVENT_READ, number)
    while True:
        for key, _ in chosen.select():
            link, number = key.fileobj, key.data
            assert isinstance(link, socket.socket)
            data = link.recv(1 << 16)
            if not data:
                chosen.unregister(link)
                link.close()
                continue
            for line in data.splitlines():
                asked = json.loads(line.split(b" ", 2)[2])
                if asked.get("ask") == "clock":
                    link.sendall(frame(1, {"id": asked["id"], "clock": 0.0}))
                elif asked.get("ask") == "look":
                    _answer(link, number, asked["id"], ready[number], chosen, faults)


def _answer(link: socket.socket, number: int, asked: int, stacks: bytes, chosen: Any, faults: bool) -> None:
    body = b'{"id": %d, "python": {}, "native": %s}' % (asked, stacks)
    line = b"@2 %d %s\n" % (len(body), body)
    fault = number if faults else NODES
    if fault < LATE:
        return
    if fault < LATE + TORN:
        line = line[: len(line) // 2] + b"\n"
    elif fault < LATE + TORN + UNHEARD:
        chosen.unregister(link)
        link.close()
        return
    link.sendall(line)


if __name__ == "__main__":
    print(*rows(), sep="\n")
