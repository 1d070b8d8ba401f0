"""The axes of a job: as a person writes them, or as the options of known trainers tell."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from ladder_backends.errors import LadderError
from ladder_backends.model.ranks import Mesh
from ladder_backends.text import clean_line

_AXIS = re.compile(r"\s*([A-Za-z_]\w{0,31})\s*=\s*(\d{1,7})\s*")

_OPTIONS: tuple[tuple[str, tuple[tuple[str, str], ...], str], ...] = (
    # The axes from the slowest on; the one without an option takes what is left of the ranks.
    # Megatron-LM, megatron/training/arguments.py; the order is that of parallel_state.py, `tp-cp-ep-dp-pp`.
    (
        "Megatron's options",
        (
            ("pp", "--pipeline-model-parallel-size"),
            ("dp", ""),
            ("cp", "--context-parallel-size"),
            ("tp", "--tensor-model-parallel-size"),
        ),
        "--tensor-model-parallel-size",
    ),
    # torchtitan, torchtitan/distributed/parallel_dims.py: pp, dp_replicate, dp_shard, cp, tp.
    (
        "torchtitan's options",
        (
            ("pp", "--parallelism.pipeline_parallel_degree"),
            ("dp", ""),
            ("cp", "--parallelism.context_parallel_degree"),
            ("tp", "--parallelism.tensor_parallel_degree"),
        ),
        "--parallelism.tensor_parallel_degree",
    ),
)


class MeshInvalid(LadderError):
    """Axes that cannot be taken."""


def read_mesh(text: str, size: int | None = None) -> Mesh:
    """Axes as a person writes them, the last one varying fastest: `dp=2,pp=2,tp=2`.

    Raises:
        MeshInvalid: It is no such list, names an axis twice, or does not cover `size` ranks.
    """
    axes: list[tuple[str, int]] = []
    at = 0
    while True:
        match = _AXIS.match(text, at)
        if match is None:
            raise MeshInvalid(
                f"{clean_line(text)!r} is no mesh",
                f"column {at + 1}: an axis and its size are expected",
                "write it as dp=2,pp=2,tp=2, the last one varying fastest",
            )
        name, length = match[1], int(match[2])
        if length == 0 or any(name == other for other, _ in axes):
            why = f"{name} has no ranks" if length == 0 else f"{name} is named twice"
            raise MeshInvalid(f"{clean_line(text)!r} is no mesh", f"column {match.start(1) + 1}: {why}")
        axes.append((name, length))
        at = match.end()
        if at == len(text):
            break
        if text[at] != ",":
            raise MeshInvalid(f"{clean_line(text)!r} is no mesh", f"column {at + 1}: a comma is expected")
        at += 1
    mesh = Mesh(tuple(axes), "you")
    if size is not None and mesh.size != size:
        raise MeshInvalid(
            f"the mesh {clean_line(text)} has {mesh.size} places",
            f"the job has {size} ranks",
            "name every axis with its size",
        )
    return mesh


def mesh_of(command: Sequence[str], size: int) -> Mesh | None:
    """The axes that the options of a rank's program tell; None where there are none, or they do not fit."""
    for source, axes, mark in _OPTIONS:
        if _option(command, mark) is None:
            continue
        told = {name: _option(command, option) or 1 for name, option in axes if option}
        rest, left = divmod(size, math.prod(told.values()))
        if left or not rest:
            return None
        return Mesh(tuple((name, told.get(name, rest)) for name, _ in axes), source)
    return None


def _option(command: Sequence[str], name: str) -> int | None:
    for at, word in enumerate(command):
        option, equals, value = word.partition("=")
        if option.replace("_", "-") != name.replace("_", "-"):
            continue
        text = value if equals else command[at + 1] if at + 1 < len(command) else ""
        if text.isascii() and text.isdecimal() and 0 < int(text[:9]) < 1 << 22:
            return int(text[:9])
    return None
