"""Ranks under debuggers: one warm gdb for those of a node that can share one."""

from ladder_backends.ranks.engine.rank_engine import BudgetTooSmall, RankEngine
from ladder_backends.ranks.engine.rank_events import RankEvent, RankEventKind
from ladder_backends.ranks.engine.replies import Reply, ReplyClass
from ladder_backends.ranks.engine.stack_reading import StacksReply, read_stacks, snapshot

__all__ = [
    "BudgetTooSmall",
    "RankEngine",
    "RankEvent",
    "RankEventKind",
    "Reply",
    "ReplyClass",
    "StacksReply",
    "read_stacks",
    "snapshot",
]
