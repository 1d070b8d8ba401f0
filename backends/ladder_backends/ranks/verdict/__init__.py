"""What is wrong with a job, from everything that is known of its ranks: pure functions over evidence."""

from ladder_backends.ranks.verdict.judging import courses, joined_stacks, judge, verdicts
from ladder_backends.ranks.verdict.verdict_json import verdict_json, verdict_lines

__all__ = ["courses", "joined_stacks", "judge", "verdict_json", "verdict_lines", "verdicts"]
