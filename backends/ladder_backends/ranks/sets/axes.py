"""Ranks told by the axes of their job: `all tp=1 of pp=2`."""

from __future__ import annotations

from collections.abc import Iterable

from ladder_backends.model.ranks import Mesh
from ladder_backends.ranks.rank_list import fold


def axis_places(ranks: Iterable[int], mesh: Mesh) -> dict[str, tuple[int, ...]] | None:
    """The places on each axis whose combinations are exactly these ranks; None where they are no such block.

    Axes of which all places are meant are left out: nothing is left for all ranks.
    """
    members = set(ranks)
    if not members or min(members) < 0 or max(members) >= mesh.size:
        return None
    places: dict[str, set[int]] = {name: set() for name, _ in mesh.axes}
    for rank in members:
        for name, place in mesh.coordinates(rank).items():
            places[name].add(place)
    size = 1
    for found in places.values():
        size *= len(found)
    if size != len(members):
        return None
    return {name: tuple(sorted(places[name])) for name, length in mesh.axes if len(places[name]) < length}


def in_axes(ranks: Iterable[int], mesh: Mesh | None) -> str:
    """Ranks in words of the axes; an empty string where those would say no more than the ranks do."""
    members = set(ranks)
    if mesh is None or len(members) < 2:
        return ""
    found = axis_places(members, mesh)
    if found is not None:
        return f"all {_block(found, mesh)}" if found else "all ranks"
    others = set(range(mesh.size)) - members
    if others and members <= set(range(mesh.size)):
        found = axis_places(others, mesh)
        if found and len(others) > 1:
            return f"all but {_block(found, mesh)}"
        if len(others) == 1:
            return f"all but rank {others.pop()}"
    return ""


def _block(places: dict[str, tuple[int, ...]], mesh: Mesh) -> str:
    """`tp=1 of pp=2`: the axis that varies fastest first."""
    named = [f"{name}={_places(places[name])}" for name, _ in reversed(mesh.axes) if name in places]
    first, rest = named[0], named[1:]
    return f"{first} of {','.join(rest)}" if rest else first


def _places(places: tuple[int, ...]) -> str:
    if len(places) == 1:
        return str(places[0])
    text = fold(places).replace("-", "..")
    return f"({text})" if "," in text else text
