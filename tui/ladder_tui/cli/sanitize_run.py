"""Run the sanitizer without a screen: its findings go to standard output, the program's lines to standard error."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from ladder_backends.sanitizer import PROVES_NOTHING, exit_code, headline, report_json
from ladder_backends.sanitizer.plan import Plan
from ladder_backends.session.ladder import Ladder
from ladder_backends.session.sanitizer_state import SanitizerRunState
from ladder_backends.text import clean
from ladder_tui.cli.headless import with_ladder
from ladder_tui.cli.interruption import interrupting
from ladder_tui.cli.output import print_json, print_lines, say
from ladder_tui.cli.program_input import passing_input


def run_to_the_end(plan: Plan, save: Path | None, *, json_wanted: bool) -> int:
    """Run, print what was found, and say what it is worth as an exit code.

    Raises:
        LadderError: It could not be started.
    """
    return with_ladder(lambda ladder: _run(ladder, plan, save, json_wanted))


async def _run(ladder: Ladder, plan: Plan, save: Path | None, json_wanted: bool) -> int:
    runs, teller = ladder.sanitizer, _Teller()
    leave = ladder.subscribe(lambda change: teller.tell(runs.state))
    await runs.start(plan, save)
    with interrupting(runs), passing_input(runs.type_to_program):
        await runs.ended()
    leave()
    state, report = runs.state, ladder.state.report
    teller.tell(state)
    assert report is not None
    if json_wanted:
        print_json({**report_json(report), "run": run_json(state)})
    else:
        from ladder_tui.cli.findings_text import report_lines

        print_lines(report_lines(report))
        _say_where(state)
    code = exit_code(report)
    if code == PROVES_NOTHING:
        say(headline(report))
    return code


def run_json(state: SanitizerRunState) -> dict[str, Any]:
    """The run beside its findings: what was run, how each tool ended, and where it is kept."""
    return {
        "seconds": round(state.seconds, 3),
        "folder": str(state.folder) if state.folder is not None else None,
        "launches": state.launches,
        "notes": list(state.notes),
        "tools": [
            {
                "tool": end.tool,
                "end": str(end.end),
                "found": end.found,
                "status": end.status,
                "ran": end.ran,
                "complete": end.complete,
                "reason": end.reason or None,
                "argv": list(command),
                "dumps": [str(dump) for dump in dumps],
            }
            for end, command, dumps in zip(state.ends, state.commands, state.dumps, strict=False)
        ],
        "output_lines": state.output_lines,
    }


def _say_where(state: SanitizerRunState) -> None:
    for note in state.notes:
        say(note)
    if len(state.ends) > 1:
        for end in state.ends:
            say(end.line)
    if state.folder is not None and state.found:
        import shlex

        say(f"to look into it: ladder-tui open {shlex.quote(str(state.folder))}")


class _Teller:
    """Hands the program's output on, a line at a time."""

    def __init__(self) -> None:
        self._told = 0

    def tell(self, state: SanitizerRunState) -> None:
        """Write the lines that have ended since."""
        first = state.output_lines - len(state.output)
        end = state.output_lines - state.output_open
        for number in range(max(self._told, first), end):
            sys.stderr.write(clean(state.output[number - first]) + "\n")
        self._told = max(self._told, end)
        sys.stderr.flush()
