"""What the workspace's keys do with jumps: the way there, run to a lane, back and forth through earlier ones."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, cast

from ladder_backends.rungs import rung_named
from ladder_tui.actions import key_of

if TYPE_CHECKING:
    from ladder_backends.model.finding import Finding
    from ladder_backends.session.alternatives import Alternative
    from ladder_backends.session.jump import JumpOutcome
    from ladder_backends.session.jump_ways import Goal
    from ladder_tui.screens.workspace import Workspace

_MOST_LISTED = 18


class JumpCommands:
    """Actions that lead into lanes."""

    # Where to ---------------------------------------------------------------------------------------------------

    def _goal(self) -> Goal | None:
        """The finding under the cursor where findings are looked at, else the lane on screen."""
        from ladder_backends.session.jump_ways import goal_here, goal_of_finding
        from ladder_tui.panes.findings_pane import FindingsPane

        home = cast("Workspace", self)
        pane = home.panes.get("findings")
        if rung_named(home.ladder.state.rung).findings and isinstance(pane, FindingsPane):
            finding = pane.finding_at_cursor()
            if finding is not None:
                return goal_of_finding(finding, pane.side_at_cursor())
        session = home.ladder.active
        return goal_here(session.state) if session is not None else None

    def action_jump_ways(self) -> None:
        """Offer every way to the place: dump, live, its line."""
        from ladder_backends.session.alternatives import Act
        from ladder_backends.session.jump_ways import ways
        from ladder_tui.screens.choice import ChoiceScreen, Option

        home = cast("Workspace", self)
        goal = self._goal()
        found = ways(home.ladder, goal) if goal is not None else ()
        if goal is None or not found:
            what = "no finding and no lane is here" if goal is None else f"there is no way to {goal.title}"
            home.ladder_app.refuse(f"jump: {what}")
            return
        letters = {
            Act.LIVE: "l",
            Act.WAIT: "w",
            Act.STAY: "s",
            Act.GPU_DUMP: "u",
            Act.HAZARDS: "h",
            Act.BREAK_LANES: "b",
            Act.BREAK_HOST: "o",
            Act.SIDE: "p",
            Act.PROGRAM: "n",
            Act.NO_PROGRAM: "d",
        }
        options, taken = [], set[str]()
        for number, way in enumerate(found):
            key = letters.get(way.act, "d" if way.act is Act.GO and way.note else "")
            if not key or key in taken:
                key = str(1 + sum(letter.isdecimal() for letter in taken))
            taken.add(key)
            also = key_of("jump.ways") if way.act is Act.LIVE else ""
            options.append(Option(key, way.label, str(number), way.note, also))

        def answered(answer: str | None) -> None:
            if answer:
                self._take_way(found[int(answer)], goal)

        why = goal.finding.why if goal.finding is not None and not goal.wish.asked else ""
        no_live = home.ladder.jumps.live.why_not() if goal.wish.asked else ""
        why = why or (f"Not live: {no_live}." if no_live else "")
        home.app.push_screen(ChoiceScreen(goal.title, tuple(options), home.palette, why=why), answered)

    def action_jump_live(self) -> None:
        """Run the program to the lane."""
        home = cast("Workspace", self)
        goal = self._goal()
        why = home.ladder.jumps.live.why_not()
        if goal is None or not goal.wish.asked:
            self._refuse_lane(goal)
        elif why:
            home.ladder_app.refuse(f"jump live: {why}")
        else:
            self._go_live(goal, anew=False)

    def _refuse_lane(self, goal: Goal | None) -> None:
        home = cast("Workspace", self)
        why = goal.finding.why if goal is not None and goal.finding is not None else ""
        offer = f"; {key_of('jump.ways')} offers what there is" if goal is not None else ""
        home.ladder_app.refuse(f"jump: {why or 'no lane is told here'}{offer}")

    # Going ------------------------------------------------------------------------------------------------------

    async def jump_to_finding(self, finding: Finding, side: int = 0) -> None:
        """Stand in its lane; where it has none, or none is reached, show its line and say what else there is."""
        home = cast("Workspace", self)
        outcome = await home.ladder.jump(finding, side)
        if outcome is not None and outcome.reached is None and not outcome.superseded:
            self._look_at_nearest(outcome)
            if not outcome.asked:
                from ladder_backends.session.jump_ways import goal_of_finding, ways

                # What there is besides lines of source needs no dump, and no lane.
                outcome = replace(outcome, alternatives=ways(home.ladder, goal_of_finding(finding, side)))
        self._offer_rest(outcome)

    def _look_at_nearest(self, outcome: JumpOutcome) -> None:
        """Show the line that is left to look at, without taking the keys from where they are."""
        from ladder_backends.model.frame import Place
        from ladder_tui.panes.source_pane import SourcePane

        source = cast("Workspace", self).panes.get("source")
        line = next((each for each in outcome.alternatives if each.file and each.line is not None), None)
        if line is not None and line.line is not None and isinstance(source, SourcePane) and source.display:
            source.look_at(Place(line.file, line.line))

    def _offer_rest(self, outcome: JumpOutcome | None) -> None:
        """Say that there are ways left that no pane lists."""
        from ladder_backends.session.alternatives import Act

        home = cast("Workspace", self)
        if outcome is None or outcome.reached is not None or outcome.superseded:
            return
        acts = [each for each in outcome.alternatives if each.act is not Act.GO]
        if acts:
            offered = ", ".join(each.label for each in acts[:3])
            home.ladder.notice(f"{outcome.reason} — {key_of('jump.ways')}: {offered}", "warning")
        elif any(each.focus is None for each in outcome.alternatives):
            home.ladder.notice(f"{outcome.reason}; {key_of('jump.ways')} lists what else there is", "warning")

    def _go_live(self, goal: Goal, *, anew: bool) -> None:
        from ladder_backends.session.alternatives import Way

        home = cast("Workspace", self)
        jumps = home.ladder.jumps
        if goal.finding is not None:
            home.ladder_app.work(self._told(jumps.to_finding(goal.finding, goal.side, Way.LIVE, anew=anew)))
        else:
            home.ladder_app.work(self._told(jumps.live_to(goal.wish, anew=anew)))

    def take_alternative(self, way: Alternative) -> None:
        """Take one of the ways that a pane lists where a lane was not reached."""
        from ladder_backends.session.jump_ways import goal_here

        session = cast("Workspace", self).ladder.active
        goal = self._goal() or (goal_here(session.state) if session is not None else None)
        if goal is not None:
            self._take_way(way, goal)

    async def _told(self, jumping: object) -> None:
        outcome: JumpOutcome | None = await jumping  # type: ignore[misc]
        self._offer_rest(outcome)

    def _take_way(self, way: Alternative, goal: Goal) -> None:
        from ladder_backends.session.alternatives import Act, Way

        home = cast("Workspace", self)
        jumps, finding, work = home.ladder.jumps, goal.finding, home.ladder_app.work
        if way.act is Act.LIVE:
            # Chosen among the ways: what stands live elsewhere may go for it.
            session = jumps.live.session
            elsewhere = session is not None and bool(session.state.reason)
            self._go_live(goal, anew=elsewhere)
        elif way.act is Act.WAIT:
            work(self._told(jumps.live.wait_on()))
        elif way.act is Act.STAY:
            work(jumps.live.stay())
        elif way.act is Act.GPU_DUMP:
            home.action_dump_gpu()
        elif way.act is Act.HAZARDS:
            home.sanitize_again(finding)
        elif way.act in (Act.BREAK_LANES, Act.BREAK_HOST) and way.line is not None:
            work(jumps.live.break_at(way.file, way.line, host=way.act is Act.BREAK_HOST))
        elif way.act is Act.SIDE and finding is not None and way.line is not None:
            work(self.jump_to_finding(finding, way.line))
        elif way.act is Act.PROGRAM:
            from ladder_tui.screens.dump_program import ask_for_dump_program

            ask_for_dump_program(home, lambda: self._into_dump(goal))
        elif way.act is Act.NO_PROGRAM:
            jumps.name_program(None)
            self._into_dump(goal)
        elif way.focus is not None and finding is not None and way.focus == goal.wish.asked:
            work(self._told(jumps.to_finding(finding, goal.side, Way.DUMP)))
        elif way.focus is not None:
            work(home.ladder.jump_to(way.focus))
        elif way.file:
            home.show_source(way.file, way.line or 1)

    def _into_dump(self, goal: Goal) -> None:
        """Into the dump, which is opened with another program than before, or with none."""
        from ladder_backends.session.alternatives import Way

        home = cast("Workspace", self)
        jumps = home.ladder.jumps
        if goal.finding is not None:
            home.ladder_app.work(self._told(jumps.to_finding(goal.finding, goal.side, Way.DUMP)))
        else:
            home.ladder_app.work(home.ladder.jump_to(goal.wish.asked))

    def interrupts_jump(self, *, twice: bool) -> bool:
        """Take Ctrl-C where a live jump goes on; returns whether it did.

        Args:
            twice: It comes right behind another one, which has not helped yet.
        """
        home = cast("Workspace", self)
        if not home.ladder.state.runs_to or (twice and home.ladder.jumps.live.stopping):
            return False
        home.ladder_app.work(home.ladder.jumps.live.interrupt())
        return True

    # Back and forth ---------------------------------------------------------------------------------------------

    def action_jump_walk(self, step: int) -> None:
        """Back to the place before, or on to the one after."""
        cast("Workspace", self).ladder_app.work(self._walk(step))

    async def _walk(self, step: int) -> None:
        home = cast("Workspace", self)
        history = home.ladder.jumps.history
        if not await (history.back() if step < 0 else history.forward()):
            home._say(f"there is no {'earlier' if step < 0 else 'later'} jump", "information")

    def action_jump_list(self) -> None:
        """List where one has been, the last first."""
        from ladder_tui.screens.choice import ChoiceScreen, Option

        home = cast("Workspace", self)
        history = home.ladder.jumps.history
        if not history.places:
            home.ladder_app.refuse("jumps: nothing was jumped to yet")
            return
        options = []
        first = max(0, len(history.places) - _MOST_LISTED)
        for place, index in enumerate(range(len(history.places) - 1, first - 1, -1)):
            key = "123456789abcdefghi"[place]
            here = "◀ last" if index == history.at else ""
            options.append(Option(key, history.places[index].label, str(index), here))

        def answered(answer: str | None) -> None:
            if answer:
                home.ladder_app.work(history.go(int(answer)))

        title = f"Places that were jumped to: {len(history.places)}"
        home.app.push_screen(ChoiceScreen(title, tuple(options), home.palette), answered)
