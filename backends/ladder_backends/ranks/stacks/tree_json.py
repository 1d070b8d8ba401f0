"""The merged tree and its classes in the shape of `ladder-tui ranks --json`, and as text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ladder_backends.model.ranks import RankFrame
from ladder_backends.ranks.rank_list import fold
from ladder_backends.ranks.stacks.boundaries import boundary_of
from ladder_backends.ranks.stacks.labels import Granularity, frame_label
from ladder_backends.ranks.stacks.tree import StackTree, TreeNode, TreeRow


def frame_json(frame: RankFrame) -> dict[str, Any]:
    """One frame; `boundary` names the library at which the stack was cut, or is null."""
    boundary = boundary_of(frame)
    return {
        "function": frame.function,
        "file": frame.file,
        "line": frame.line or None,
        "module": frame.module,
        "language": frame.language,
        "boundary": boundary.library if boundary is not None else None,
    }


def tree_json(tree: StackTree) -> dict[str, Any]:
    """`asked`, `answered`, `unreachable`, `classes` and `tree` of a merged tree.

    A node of `tree` is a branch between two forks: `frames` outermost first, `ranks`, `stacks` (threads), `ends`
    (threads that stand in its last frame), `children`.
    """
    classes = sorted(tree.classes, key=lambda one: (len(set(one.ranks)), min(one.ranks)))
    reasons: dict[tuple[str, str], list[int]] = {}
    for one in tree.unreachable:
        reasons.setdefault((one.reason, one.remedy), []).append(one.rank)
    return {
        "asked": tree.asked,
        "answered": tree.answered,
        "unreachable": [
            {"rank": one.rank, "reason": one.reason, "remedy": one.remedy or None} for one in tree.unreachable
        ],
        "classes": [
            {
                "ranks": one.listed,
                "threads": one.stacks,
                "representative": {"rank": one.representative, "thread": one.thread or None},
                "stack": [frame_json(frame) for frame in one.frames],
            }
            for one in classes
        ],
        "tree": {"granularity": str(tree.granularity), "children": _branches(tree)},
    }


def _branches(tree: StackTree) -> list[dict[str, Any]]:
    """The branches without recursion: a tree may be as deep as its deepest stack."""
    top: list[dict[str, Any]] = []
    # The lists that a branch of each depth goes into.
    places: list[list[dict[str, Any]]] = [top]
    for row in tree.rows():
        depth = len(row.guides)
        del places[depth + 1 :]
        branch = _branch(row.nodes)
        places[depth].append(branch)
        places.append(branch["children"])
    return top


def _branch(nodes: tuple[TreeNode, ...]) -> dict[str, Any]:
    last = nodes[-1]
    return {
        "frames": [frame_json(node.frame) for node in nodes],
        "ranks": last.listed,
        "stacks": last.stacks,
        "ends": last.ends,
        "children": [],
    }


def row_label(row: TreeRow, granularity: Granularity) -> str:
    """The frames of a branch in one line: `train.py:212 step ── distributed_c10d.py:3913 all_reduce`."""
    return " ── ".join(frame_label(node.frame, granularity) for node in row.nodes)


def tree_lines(tree: StackTree, width: int = 100) -> Iterator[str]:
    """The tree as text, with the ranks at the right; the silent ones after it."""
    rows = [(row.lead + row_label(row, tree.granularity), row.last) for row in tree.rows()]
    room = max(20, min(width - 24, max((len(text) for text, _ in rows), default=0)))
    for text, node in rows:
        cut = len(text) > room
        # Of a branch without forks above it the innermost frames say more; the lines of a tree stay.
        shown = text if not cut else text[: room - 1] + "…" if text[0] in "├└│ " else "…" + text[1 - room :]
        threads = f"  ({node.stacks} threads)" if node.stacks > len(node.ranks) else ""
        yield f"{shown:<{room}}  {node.listed}{threads}"
    yield from silent_lines(tree)


def silent_lines(tree: StackTree) -> Iterator[str]:
    """Who did not answer, and why: one line for each reason."""
    reasons: dict[str, list[int]] = {}
    for one in tree.unreachable:
        words = one.reason + (f" — {one.remedy}" if one.remedy else "")
        reasons.setdefault(words, []).append(one.rank)
    if reasons:
        yield f"answered {tree.answered} of {tree.asked}"
    for words, ranks in reasons.items():
        yield f"unreachable {fold(ranks)}: {words}"
