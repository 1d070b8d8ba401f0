"""Stacks of many ranks as one tree: joined, cut where communication begins, merged, and compared over samples."""

from ladder_backends.ranks.stacks.boundaries import BOUNDARIES, Boundary, BoundaryKind, boundary_of
from ladder_backends.ranks.stacks.classes import StackClass, classes_of, intern_stacks
from ladder_backends.ranks.stacks.cutting import cut_frames, cut_stack
from ladder_backends.ranks.stacks.joining import join_stacks
from ladder_backends.ranks.stacks.labels import Granularity, frame_label, short_function
from ladder_backends.ranks.stacks.samples import Course, Samples
from ladder_backends.ranks.stacks.tree import StackTree, TreeNode, merge

__all__ = [
    "BOUNDARIES",
    "Boundary",
    "BoundaryKind",
    "Course",
    "Granularity",
    "Samples",
    "StackClass",
    "StackTree",
    "TreeNode",
    "boundary_of",
    "classes_of",
    "cut_frames",
    "cut_stack",
    "frame_label",
    "intern_stacks",
    "join_stacks",
    "merge",
    "short_function",
]
