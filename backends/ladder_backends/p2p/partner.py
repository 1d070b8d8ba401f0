"""The second process of tests between processes: it writes into memory that the first one owns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ladder_backends.gpu_calls.gpus import DeviceFault
from ladder_backends.gpu_calls.tally import Expected
from ladder_backends.gpu_calls.words import Stuff
from ladder_backends.p2p.layers import open_layer

if TYPE_CHECKING:
    from ladder_backends.p2p.worker import Lines


def serve(job: Mapping[str, Any], lines: Lines) -> int:
    """Do what the first process asks, line by line, until it closes the pipe."""
    numbers = tuple(job["gpus"])
    try:
        gpus = open_layer(job["layer"], numbers)
        gpus.prepare()
    except DeviceFault as fault:
        lines.tell("failed", text=fault.line(), code=fault.code)
        return 1
    writer, owner = int(job["writer"]), int(job["owner"])
    lines.tell("there")
    while (asked := lines.heard()) is not None:
        data, around = Stuff(*asked["data"]), Stuff(*asked["around"])
        start, stop, size = int(asked["start"]), int(asked["stop"]), int(asked["size"])
        try:
            if asked["do"] == "ipc":
                place = gpus.open(writer, str(asked["handle"]), owner, size)
                gpus.fill(writer, place, data, start, stop)
                found = gpus.check(writer, place, Expected(start, stop, data, around))
                gpus.close(place)
                lines.tell("stored", right=found.right, tally=list(found))
            else:
                source = gpus.allocate(writer, size)
                gpus.fill(writer, source, data)
                gpus.to_shared(str(asked["path"]), source, size)
                gpus.free(source)
                lines.tell("stored", right=True, tally=[])
        except DeviceFault as fault:
            lines.tell("failed", text=fault.line(), code=fault.code)
    return 0
