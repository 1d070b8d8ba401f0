"""What a case, or files that belong together, hold: findings first, then the lane that the dump points at."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ladder_backends.case import Opened, open_files
from ladder_backends.debugger.target import CoreTarget, LaunchTarget
from ladder_backends.errors import EngineMissing, TargetInvalid
from ladder_backends.model.finding import Report
from ladder_backends.model.focus import Focus
from ladder_backends.session.jump import JumpOutcome, asked_by
from ladder_tui.cli.output import print_json, print_lines, say


def print_opened(paths: Sequence[Path], *, json_wanted: bool, record: Path | None = None) -> int:
    """Print findings and lane; the exit code is that of the findings, else that of the lane.

    Args:
        paths: Files that belong together.
        json_wanted: Print for a machine.
        record: File that the engine's streams are recorded into, or None.
    """
    from ladder_tui.cli.headless import apply_settings

    apply_settings()
    opened = open_files(paths)
    for note in opened.notes:
        say(note)
    if not opened.reports and opened.dump is None:
        return _print_session(opened, json_wanted=json_wanted, record=record)

    from ladder_backends.sanitizer import exit_code
    from ladder_backends.sanitizer.run_report import report_of
    from ladder_backends.session.jump_json import jump_exit_code

    report = report_of(opened) if opened.reports else None
    outcome = _lane(opened, report, record)
    if json_wanted:
        _print_json(opened, report, outcome)
    else:
        _print_text(opened, report, outcome)
    if report is not None:
        return exit_code(report)
    return jump_exit_code(outcome) if outcome is not None else 2


def _lane(opened: Opened, report: Report | None, record: Path | None) -> JumpOutcome | None:
    """The lane of the first finding that names one, else the dump's own; None where there is none to stand in."""
    if opened.dump is None:
        return None
    from ladder_tui.cli.lane import reach

    finding = next((one for one in (report.findings if report else ()) if asked_by(one)), None)
    try:
        return reach(opened, asked_by(finding) if finding is not None else Focus(), finding, record=record)
    except EngineMissing as missing:
        say(missing.line())
        return None


def _print_json(opened: Opened, report: Report | None, outcome: JumpOutcome | None) -> None:
    from ladder_backends.sanitizer import report_json
    from ladder_backends.session.jump_json import jump_json

    print_json(
        {
            "format": 1,
            "title": opened.title,
            "report": report_json(report) if report is not None else None,
            "jump": jump_json(outcome) if outcome is not None else None,
        }
    )


def _print_text(opened: Opened, report: Report | None, outcome: JumpOutcome | None) -> None:
    from ladder_tui.cli.findings_text import report_lines
    from ladder_tui.cli.jump_text import outcome_lines

    print_lines([opened.title])
    if report is not None:
        print_lines(["", *report_lines(report)])
    if outcome is not None:
        print_lines(["", *outcome_lines(outcome)])


def _print_session(opened: Opened, *, json_wanted: bool, record: Path | None) -> int:
    """Neither report nor GPU dump: a host core, a program or a recording alone."""
    from ladder_tui.cli.session_run import open_and_show, replay_and_show, run_to_the_end, show_json, show_text

    show = show_json if json_wanted else show_text
    if opened.core is not None:
        return open_and_show(CoreTarget(opened.core, opened.executable), show, record=record)
    if opened.recordings:
        return replay_and_show(opened.recordings[0], show)
    if opened.executable is not None:
        return run_to_the_end(LaunchTarget(opened.executable.absolute()), show, record=record)
    raise TargetInvalid(f"there is nothing to debug in {opened.title}", "it holds only sources")
