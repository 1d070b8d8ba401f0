"""The second process of tests between processes: it writes into memory that the first one owns."""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ladder_backends.gpu_calls.gpus import DeviceFault, Gpus
from ladder_backends.gpu_calls.tally import Expected
from ladder_backends.gpu_calls.words import Stuff
from ladder_backends.p2p.layers import open_layer

if TYPE_CHECKING:
    from ladder_backends.p2p.worker import Lines


def serve(job: Mapping[str, Any], lines: Lines) -> int:
    """Do what the first process asks, line by line, until it closes the pipe."""
    with socket.socket(fileno=int(job["socket"])) as channel:
        try:
            gpus = open_layer(job["layer"], tuple(job["gpus"]))
            gpus.prepare()
        except DeviceFault as fault:
            lines.tell("failed", text=fault.line(), code=fault.code)
            return 1
        lines.tell("there")
        while (asked := lines.heard()) is not None:
            try:
                lines.tell("stored", tally=_done(asked, gpus, channel, int(job["writer"]), int(job["owner"])))
            except DeviceFault as fault:
                lines.tell("failed", text=fault.line(), code=fault.code)
    return 0


def _done(asked: Mapping[str, Any], gpus: Gpus, channel: socket.socket, writer: int, owner: int) -> list[int]:
    """Store, and count what the writer reads back; nothing for shared memory."""
    data, around = Stuff(*asked["data"]), Stuff(*asked["around"])
    start, stop, size = int(asked["start"]), int(asked["stop"]), int(asked["size"])
    if asked["do"] == "shm":
        source = gpus.allocate(writer, size)
        gpus.fill(writer, source, data)
        gpus.to_shared(str(asked["path"]), source, size)
        gpus.free(source)
        return []
    if asked["do"] == "fd":
        _, descriptors, _, _ = socket.recv_fds(channel, 16, 1)
        if not descriptors:
            raise DeviceFault("no file descriptor came over the socket")
        try:
            place = gpus.open_exported(writer, descriptors[0], owner, size)
        finally:
            os.close(descriptors[0])
    else:
        place = gpus.open(writer, str(asked["handle"]), owner, size)
    gpus.fill(writer, place, data, start, stop)
    found = gpus.check(writer, place, Expected(start, stop, data, around))
    if asked["do"] == "fd":
        gpus.free_exported(place)
    else:
        gpus.close(place)
    return list(found)
