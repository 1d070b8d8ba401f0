"""The second process of tests between processes: it writes into memory that the first one owns."""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ladder_backends.gpu_calls.gpus import Buffer, DeviceFault, Gpus
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
        stores = _Stores(gpus, channel, int(job["writer"]), int(job["owner"]))
        while (asked := lines.heard()) is not None:
            try:
                lines.tell("stored", tally=stores.do(asked))
            except DeviceFault as fault:
                lines.tell("failed", text=fault.line(), code=fault.code)
    return 0


class _Stores:
    """What the first process asks for: a store, a look at what was stored, an end of it."""

    def __init__(self, gpus: Gpus, channel: socket.socket, writer: int, owner: int) -> None:
        self._gpus = gpus
        self._channel = channel
        self._writer = writer
        self._owner = owner
        self._open: tuple[Buffer, bool] | None = None

    def do(self, asked: Mapping[str, Any]) -> list[int]:
        """Do it; the counts of a look, and nothing otherwise."""
        if asked["do"] == "close":
            self.close()
            return []
        data, around = Stuff(*asked["data"]), Stuff(*asked["around"])
        start, stop, size = int(asked["start"]), int(asked["stop"]), int(asked["size"])
        if asked["do"] == "look" and self._open is not None:
            return list(self._gpus.check(self._writer, self._open[0], Expected(start, stop, data, around)))
        if asked["do"] == "shm":
            source = self._gpus.allocate(self._writer, size)
            self._gpus.fill(self._writer, source, data)
            self._gpus.to_shared(str(asked["path"]), source, size)
            self._gpus.free(source)
            return []
        self.close()
        if asked["do"] == "fd":
            place = self._exported(size)
        else:
            place = self._gpus.open(self._writer, str(asked["handle"]), self._owner, size)
        self._open = place, asked["do"] == "fd"
        self._gpus.fill(self._writer, place, data, start, stop)
        return []

    def close(self) -> None:
        """Unmap what is open."""
        if self._open is None:
            return
        (place, exported), self._open = self._open, None
        if exported:
            self._gpus.free_exported(place)
        else:
            self._gpus.close(place)

    def _exported(self, size: int) -> Buffer:
        _, descriptors, _, _ = socket.recv_fds(self._channel, 16, 1)
        if not descriptors:
            raise DeviceFault("no file descriptor came over the socket")
        try:
            return self._gpus.open_exported(self._writer, descriptors[0], self._owner, size)
        finally:
            os.close(descriptors[0])
