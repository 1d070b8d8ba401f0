"""Sweeps over pairs of GPUs, and the question before GPUs are touched that somebody uses."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from ladder_tui.screens.workspace import Workspace


class PairCommands:
    """Actions of the workspace that test pairs."""

    _sweep_seen = 0.0

    def note_sweep(self) -> None:
        """Bring the matrix to the front once, when a sweep begins."""
        home = cast("Workspace", self)
        pairs = home.ladder.state.pairs
        if pairs.running and pairs.began != self._sweep_seen:
            self._sweep_seen = pairs.began
            home.show_pane("matrix")

    def test_pairs(self, depth: str) -> None:
        """Sweep every pair; where GPUs are in use, ask first."""
        home = cast("Workspace", self)
        home.ladder_app.work(self._test_pairs(depth))

    def ask_report(self) -> None:
        """Ask for the file that a report of the machine and its pairs is written to; without one it is copied."""
        home = cast("Workspace", self)
        home.prompt.ask(
            "report to",
            lambda name: home.ladder_app.work(self._report(name.strip())),
            placeholder="a file (.md, .json, or text); empty: copied as Markdown",
        )

    async def _report(self, name: str) -> None:
        home = cast("Workspace", self)
        told = await home.ladder.hardware.report(name)
        if name:
            home.ladder_app.say(f"report written to {told}")
            return
        home.app.copy_to_clipboard(told)
        home.ladder_app.say(f"copied: a report of {len(told.splitlines())} lines")

    async def _test_pairs(self, depth: str) -> None:
        from ladder_backends.session.p2p_wish import BusyGpus
        from ladder_tui.screens.choice import ChoiceScreen, Option

        home = cast("Workspace", self)
        try:
            await home.ladder.pairs.start(depth)
        except BusyGpus as busy:
            # Whoever uses them is slowed down, and has not been asked.
            question = ChoiceScreen(
                "GPUs are in use: test them all the same?",
                (
                    Option("n", "no", "", "nothing was touched"),
                    Option("y", "yes", "yes", "what runs there gets slower meanwhile, and less memory"),
                ),
                home.palette,
                why=busy.why,
            )

            def answered(answer: str | None) -> None:
                if answer == "yes":
                    home.ladder_app.work(home.ladder.pairs.start(depth, busy_too=True))

            home.app.push_screen(question, answered)
