"""What a person does with findings besides looking: notes, marks, export, suppressions, comparison."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from ladder_backends.errors import LadderError
from ladder_backends.session.finding_remarks import LONGEST_NOTE, Mark

if TYPE_CHECKING:
    from ladder_backends.model.finding import Finding, FindingGroup, Report
    from ladder_tui.panes.findings_pane import FindingsPane

_EXPORT = "findings.sarif"
_SUPPRESSIONS = "suppressions.xml"


class FindingsActs:
    """Asks, and does it.

    Args:
        pane: Whose findings.
    """

    def __init__(self, pane: FindingsPane) -> None:
        self._pane = pane

    def note(self, group: FindingGroup) -> None:
        """Ask for a note on a bug; an empty one takes it away."""

        def give(text: str) -> None:
            self._pane.desk.note(group, text[:LONGEST_NOTE])
            self._pane.said()

        before = self._pane.desk.about(group).remark.note
        self._ask("note", give, initial=before, placeholder="your words on this bug; kept for the next run")

    def mark(self, group: FindingGroup, mark: Mark) -> None:
        """Mark a bug, or open it again."""
        now = self._pane.desk.mark(group, mark)
        self._pane.said()
        self._pane.ladder_app.say(f"{now}: {group.title}" if now is not Mark.OPEN else f"open again: {group.title}")

    def export(self, report: Report) -> None:
        """Ask for a file, whose ending tells the form, and write the report to it."""
        self._ask(
            "export to",
            lambda text: self._pane.work(self._export(report, text)),
            initial=_EXPORT,
            placeholder="name.sarif, name.md or name.json",
        )

    async def _export(self, report: Report, name: str) -> None:
        from ladder_backends.paths import typed_path
        from ladder_backends.sanitizer.exporting import export_file, exported, format_of
        from ladder_tui import __version__

        if not name.strip():
            return
        file, desk = typed_path(name), self._pane.desk
        form, notes, against = format_of(file), desk.notes(), desk.against
        said = await asyncio.to_thread(
            export_file, file, lambda: exported(report, form, version=__version__, notes=notes, against=against)
        )
        self._pane.ladder_app.say(said)

    def suppress(self, finding: Finding) -> None:
        """Ask for a suppressions file, and add an entry for a finding to it; says why where there is none."""
        from ladder_backends.sanitizer.suppression import why_not_suppressible

        why = why_not_suppressible(finding)
        if why:
            self._pane.ladder_app.say(why)
            return
        self._ask(
            "suppress in",
            lambda text: self._pane.work(self._suppress(finding, text)),
            initial=_SUPPRESSIONS,
            placeholder="a file for --suppressions",
        )

    async def _suppress(self, finding: Finding, name: str) -> None:
        from ladder_backends.paths import typed_path
        from ladder_backends.sanitizer.suppression import add_suppression

        if name.strip():
            self._pane.ladder_app.say(await asyncio.to_thread(add_suppression, typed_path(name), finding))

    def compare(self) -> None:
        """Ask for the report of an earlier run, and say what is new and what is gone since."""
        self._ask(
            "compare with", lambda text: self._pane.work(self._compare(text)), placeholder="an earlier report"
        )

    async def _compare(self, name: str) -> None:
        from ladder_backends.paths import typed_path
        from ladder_backends.sanitizer import expand, read_report

        if not name.strip():
            return
        paths: list[Path] = expand([str(typed_path(name))])
        earlier = await asyncio.to_thread(read_report, paths)
        self._pane.desk.compare_with(earlier)
        self._pane.look_again()
        against = self._pane.desk.against
        if against is None:
            raise LadderError("there is nothing to compare", "no report is open", "open one first")
        self._pane.ladder_app.say(f"since {name.strip()}: {against.words()}")

    def _ask(self, label: str, give: object, *, initial: str = "", placeholder: str = "") -> None:
        self._pane.ladder_app.workspace.prompt.ask(
            label,
            give,  # type: ignore[arg-type]
            initial=initial,
            placeholder=placeholder,
            typed_over=bool(initial) and label != "note",
        )
