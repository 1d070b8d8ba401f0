"""What the workspace's keys do with runs of the sanitizer: start one, stop it, run again with more or less."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, cast

from ladder_backends.rungs import rung_named
from ladder_backends.text import clean_line

if TYPE_CHECKING:
    from pathlib import Path

    from ladder_backends.model.finding import Finding
    from ladder_backends.sanitizer.plan import Plan
    from ladder_tui.screens.form import FormValues
    from ladder_tui.screens.workspace import Workspace


class SanitizerCommands:
    """Actions on the run of the sanitizer."""

    def action_sanitize(self) -> None:
        """Ask what to run the sanitizer on, and how."""
        home = cast("Workspace", self)
        if home.ladder.state.sanitizer.active:
            home.ladder_app.refuse("a run of the sanitizer goes on already; Ctrl-C on its rung stops it")
            return
        # The tool is asked what it knows first: keys typed meanwhile are no commands.
        home.stray_keys.begin("the form is being opened")
        home.ladder_app.work(self._ask(None))

    async def _ask(self, plan: Plan | None) -> None:
        from ladder_backends.sanitizer.installed import installed_sanitizer
        from ladder_tui.screens.sanitizer_form import plan_of, sanitizer_form

        home = cast("Workspace", self)
        tool = await asyncio.to_thread(installed_sanitizer)
        plan = plan or await asyncio.to_thread(home.ladder.sanitizer.suggestion)

        def answered(values: FormValues | None) -> None:
            if values is not None:
                home.ladder_app.work(self._start_instead(*plan_of(values, plan)))

        home.stray_keys.end()
        home.app.push_screen(sanitizer_form(plan, home.palette, tool.knows, tool.version), answered)

    def stop_sanitizer(self) -> None:
        """End the run, or say that none goes on."""
        home = cast("Workspace", self)
        if home.ladder.state.sanitizer.active:
            home.ladder_app.work(home.ladder.sanitizer.stop())
        else:
            home._say("stop: no run of the sanitizer goes on", "information")

    def interrupts_sanitizer(self) -> bool:
        """Take Ctrl-C where the run is what is looked at; returns whether it was."""
        home = cast("Workspace", self)
        state = home.ladder.state
        if not (state.sanitizer.active and rung_named(state.rung).findings):
            return False
        self.stop_sanitizer()
        return True

    def sanitize_again(self, finding: Finding | None) -> None:
        """Offer runs with what a finding, or the run before, calls for."""
        home = cast("Workspace", self)
        state = home.ladder.state
        from ladder_backends.sanitizer.again import ways_again
        from ladder_tui.screens.choice import ChoiceScreen, Option

        plan = state.sanitizer.plan or home.ladder.sanitizer.suggestion()
        if plan is None:
            home.ladder_app.work(self._ask(None))
            return
        ways = ways_again(plan, finding, state.report)
        options = [Option(way.key, way.label, str(number), way.note) for number, way in enumerate(ways)]
        options.append(Option("e", "with other settings …", "edit"))

        def answered(answer: str | None) -> None:
            if answer == "edit":
                if state.sanitizer.active:
                    self.stop_sanitizer()
                home.ladder_app.work(self._ask(plan))
            elif answer:
                home.ladder_app.work(self._start_instead(ways[int(answer)].plan))

        title = f"Run {clean_line(plan.program.name)} under the sanitizer again"
        why = "The run that goes on is stopped first; what it found is kept." if state.sanitizer.active else ""
        home.app.push_screen(ChoiceScreen(title, tuple(options), home.palette, why=why), answered)

    async def _start_instead(self, plan: Plan, save: Path | None = None) -> None:
        """Start a run, after the one that goes on was stopped."""
        runs = cast("Workspace", self).ladder.sanitizer
        if runs.state.active:
            await runs.stop()
            await runs.ended()
        await runs.start(plan, save)
