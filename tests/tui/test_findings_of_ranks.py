"""Several reports at once: the same lane of two ranks is two lanes, and each row names its report."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ladder_backends.sanitizer import read_report
from ladder_backends.session.ladder import Ladder

LOG = Path(__file__).parents[1] / "sanitizer/reports/logs/memcheck-oob.log"


async def test_a_lane_names_the_report_it_is_of(show: Any, tmp_path: Path) -> None:
    for rank in (0, 1):
        (tmp_path / f"rank.{rank}.log").write_bytes(LOG.read_bytes())
    ladder = Ladder()
    ladder.state.report = read_report([tmp_path / "rank.%p.log"])
    ladder.state.rung = "sanitizer"
    async with show(ladder, (80, 24)) as view:
        assert "(3,0,0) (232,0,0)  base+4,000  rank.0.log" in view.text()


async def test_a_single_report_is_not_named_in_its_rows(show: Any) -> None:
    ladder = Ladder()
    ladder.state.report = read_report([LOG])
    ladder.state.rung = "sanitizer"
    async with show(ladder, (80, 24)) as view:
        row = next(line for line in view.text().splitlines() if "base+4,000" in line)
        assert row.rstrip().endswith("base+4,000")
