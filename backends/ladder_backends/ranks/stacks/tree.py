"""The merged tree: the stacks of all ranks and threads as one, with who stands where.

Its counts add up: the threads of a node are those of its children and those whose stack ends there; all threads are
those of the outermost nodes and the few without a frame; the ranks of the whole and those that did not answer are
all that were asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from ladder_backends.model.ranks import RankFrame, RankStack, Unreachable
from ladder_backends.ranks.rank_list import fold
from ladder_backends.ranks.stacks.classes import Frames, StackClass, intern_stacks, regroup
from ladder_backends.ranks.stacks.cutting import cut_frames
from ladder_backends.ranks.stacks.labels import FrameKey, Granularity, frame_key

MOST_FRAMES = 400
"""Frames of one stack that become nodes; of a deeper one the innermost are left out, and it says so."""


class TreeNode:
    """One frame, and everybody who stands in it or further in.

    Attributes:
        frame: What it is; of frames that count as one, the first that was met.
        children: Frames called from it, those with the fewest ranks first.
        classes: Indices of the classes that pass through it.
        stacks: How many threads that are.
        ends: How many of them stand in the frame itself.
    """

    __slots__ = ("_tree", "children", "classes", "ends", "frame", "stacks")

    def __init__(self, frame: RankFrame, tree: StackTree) -> None:
        self.frame = frame
        self.children: list[TreeNode] = []
        self.classes: list[int] = []
        self.stacks = 0
        self.ends = 0
        self._tree = tree

    @property
    def ranks(self) -> tuple[int, ...]:
        """Ranks with a thread here, ascending, each once."""
        return self._tree.ranks_of(self.classes)

    @property
    def listed(self) -> str:
        """The same as a compressed list."""
        return self._tree.listed(self.classes)

    @property
    def representative(self) -> tuple[int, int]:
        """Rank and kernel's thread id that stand for all others; the thread is 0 where it is not known."""
        one = self._tree.classes[self.classes[0]]
        return one.representative, one.thread


class TreeRow(NamedTuple):
    """A line of the drawn tree: a branch between two forks.

    Attributes:
        nodes: The frames of the branch, outermost first; all have the same threads.
        guides: For each level above, whether a sibling follows below; then for this row.
    """

    nodes: tuple[TreeNode, ...]
    guides: tuple[bool, ...]

    @property
    def last(self) -> TreeNode:
        """The innermost frame, which stands for the row."""
        return self.nodes[-1]

    @property
    def lead(self) -> str:
        """The lines in front of it: `│  ├─ `, as wide as the row is deep."""
        if not self.guides:
            return ""
        return "".join("│  " if goes_on else "   " for goes_on in self.guides[:-1]) + (
            "├─ " if self.guides[-1] else "└─ "
        )


class StackTree:
    """A merged tree.

    Attributes:
        classes: Different stacks.
        children: Outermost frames, those with the fewest ranks first.
        unreachable: Ranks that were asked and did not answer, with the reason.
        granularity: What made two frames the same.
    """

    def __init__(
        self, classes: Sequence[StackClass], unreachable: Iterable[Unreachable], granularity: Granularity
    ) -> None:
        self.classes = tuple(classes)
        self.unreachable = tuple(unreachable)
        self.granularity = granularity
        self.children: list[TreeNode] = []
        self._ranks: dict[tuple[int, ...], tuple[int, ...]] = {}
        self._lists: dict[tuple[int, ...], str] = {}
        self._of_class: list[frozenset[int]] = [frozenset(one.ranks) for one in self.classes]
        self._build()

    @property
    def stacks(self) -> int:
        """How many threads there are in all."""
        return sum(one.stacks for one in self.classes)

    @property
    def frameless(self) -> int:
        """How many threads have a stack without any frame: they are in no node."""
        return sum(one.stacks for one in self.classes if not one.frames)

    @property
    def ranks(self) -> tuple[int, ...]:
        """Ranks with a stack, ascending."""
        return self.ranks_of(range(len(self.classes)))

    @property
    def answered(self) -> int:
        """How many ranks have a stack."""
        return len(self.ranks)

    @property
    def asked(self) -> int:
        """How many ranks there are, those that did not answer among them."""
        silent = {one.rank for one in self.unreachable}
        return len(silent.union(self.ranks))

    def ranks_of(self, classes: Sequence[int]) -> tuple[int, ...]:
        """Ranks of some classes, ascending; worked out once for each set of them."""
        key = tuple(classes)
        found = self._ranks.get(key)
        if found is None:
            if len(key) == 1:
                found = tuple(sorted(self._of_class[key[0]]))
            else:
                found = tuple(sorted(frozenset().union(*(self._of_class[index] for index in key))))
            self._ranks[key] = found
        return found

    def listed(self, classes: Sequence[int]) -> str:
        """The same as a compressed list."""
        key = tuple(classes)
        text = self._lists.get(key)
        if text is None:
            ranks = self.ranks_of(key)
            # All of a job is the commonest list, and the longest.
            whole = len(ranks) > 1 and ranks[-1] - ranks[0] == len(ranks) - 1
            text = self._lists[key] = f"{ranks[0]}-{ranks[-1]}" if whole else fold(ranks)
        return text

    def _build(self) -> None:
        made: dict[tuple[int, FrameKey], TreeNode] = {}
        keys: dict[int, FrameKey] = {}
        granularity = self.granularity
        for index, one in enumerate(self.classes):
            node: TreeNode | None = None
            for frame in one.frames[:MOST_FRAMES]:
                key = keys.get(id(frame))
                if key is None:
                    key = keys[id(frame)] = frame_key(frame, granularity)
                # The parent's address tells it apart: every node lives as long as the tree.
                here = made.get((id(node), key))
                if here is None:
                    here = made[id(node), key] = TreeNode(frame, self)
                    (self.children if node is None else node.children).append(here)
                here.classes.append(index)
                here.stacks += one.stacks
                node = here
            if node is not None:
                node.ends += one.stacks
        self._sort(made.values())

    def _sort(self, nodes: Iterable[TreeNode]) -> None:
        def order(node: TreeNode) -> tuple[int, int]:
            ranks = node.ranks
            return len(ranks), ranks[0] if ranks else 0

        for children in (self.children, *(node.children for node in nodes)):
            if len(children) > 1:
                children.sort(key=order)

    def rows(self) -> Iterator[TreeRow]:
        """The tree as lines: chains of frames with the same threads are one line each, forks begin new ones."""
        waiting: list[tuple[TreeNode, tuple[bool, ...]]] = []

        def push(children: list[TreeNode], guides: tuple[bool, ...], *, top: bool) -> None:
            for number in range(len(children) - 1, -1, -1):
                lead = () if top else (*guides, number < len(children) - 1)
                waiting.append((children[number], lead))

        push(self.children, (), top=True)
        while waiting:
            node, guides = waiting.pop()
            chain = [node]
            while len(node.children) == 1 and not node.ends:
                node = node.children[0]
                chain.append(node)
            yield TreeRow(tuple(chain), guides)
            push(node.children, guides, top=False)


def merge(
    stacks: Iterable[RankStack],
    granularity: Granularity = Granularity.LINE,
    unreachable: Iterable[Unreachable] = (),
    *,
    change: Callable[[Frames], Frames] | None = cut_frames,
) -> StackTree:
    """Merge the stacks of ranks and threads.

    Args:
        stacks: Of every thread.
        granularity: What makes two frames the same.
        unreachable: Ranks that were asked and did not answer.
        change: What becomes of the frames of each different stack first; None leaves them whole.
    """
    return StackTree(regroup(intern_stacks(stacks), granularity, change), unreachable, granularity)
