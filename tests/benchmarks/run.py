"""Run all benchmarks and print one table of ratios: `python tests/benchmarks/run.py [NAME...] [--json]`.

A benchmark is a module `bench_NAME.py` here with `rows()`, which yields one dict a row:

- `what`: what is measured, a few words.
- `ours`, `unit`: our figure.
- `partner`, `of`: the figure it is held against, measured in the same run, and what that is. Left out for a row
  that has no partner: such a figure depends on the machine and is not a gate.
- `budget`: the highest ratio (`ours / partner`) that is acceptable, or with `higher_is_better` the lowest; without
  a partner, in the row's own unit.

Exit code 1 where a row misses its budget. Run it on a quiet machine.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
import traceback
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent


def names() -> list[str]:
    """Names of the benchmarks, in order."""
    return sorted(path.stem.removeprefix("bench_") for path in HERE.glob("bench_*.py"))


def measured(wanted: list[str]) -> Iterator[dict[str, Any]]:
    """Rows of the wanted benchmarks; one that fails gives a row that says so and ends nothing."""
    sys.path.insert(0, str(HERE))
    for name in wanted:
        print(f"measuring {name} ...", file=sys.stderr, flush=True)
        try:
            for row in importlib.import_module(f"bench_{name}").rows():
                yield {"benchmark": name, **row}
        except Exception as error:
            traceback.print_exc()
            yield {"benchmark": name, "what": f"failed: {type(error).__name__}: {error}", "failed": True}


def ratio(row: Mapping[str, Any]) -> float | None:
    """Ours over the partner's, or None without a partner."""
    partner = row.get("partner")
    return row["ours"] / partner if partner else None


def missed(row: Mapping[str, Any]) -> bool:
    """Whether the row is outside its budget."""
    if row.get("failed"):
        return True
    budget = row.get("budget")
    if budget is None:
        return False
    figure = ratio(row)
    value = row["ours"] if figure is None else figure
    return bool(value < budget if row.get("higher_is_better") else value > budget)


def figure(value: Any) -> str:
    """A number with three significant digits."""
    if not isinstance(value, int | float):
        return str(value)
    if value >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def table(rows: list[dict[str, Any]]) -> str:
    """Markdown, aligned."""
    lines = [("what", "ours", "held against", "ratio", "budget", "")]
    for row in rows:
        if row.get("failed"):
            lines.append((str(row["what"]), "", "", "", "", "MISSED"))
            continue
        of = row.get("of", "")
        held = f"{figure(row['partner'])} {row['unit']} {of}".strip() if row.get("partner") else of
        times = ratio(row)
        sign = "≥" if row.get("higher_is_better") else "≤"
        unit = "" if times is not None else f" {row['unit']}"
        budget = f"{sign} {figure(row['budget'])}{unit}" if row.get("budget") is not None else ""
        lines.append(
            (
                str(row["what"]),
                f"{figure(row['ours'])} {row['unit']}",
                held,
                figure(times) if times is not None else "",
                budget,
                "MISSED" if missed(row) else "",
            )
        )
    widths = [max(len(line[column]) for line in lines) for column in range(6)]
    text = [" | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in lines]
    text.insert(1, "-|-".join("-" * width for width in widths))
    return "\n".join(f"| {line} |" if index != 1 else f"|-{line}-|" for index, line in enumerate(text))


def main() -> int:
    """Measure, print, and say whether every row keeps its budget."""
    parser = argparse.ArgumentParser(description="Run benchmarks and print one table.")
    parser.add_argument("name", nargs="*", choices=[[], *names()], help="only these")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    rows = list(measured(arguments.name or names()))
    print(json.dumps({"format": 1, "rows": rows}, indent=1) if arguments.json else table(rows))
    return 1 if any(missed(row) for row in rows) else 0


if __name__ == "__main__":
    raise SystemExit(main())
