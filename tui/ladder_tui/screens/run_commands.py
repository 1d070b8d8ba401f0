"""What the workspace's keys do with a run beyond its steps: elsewhere at once, backwards, started, ended."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from ladder_backends.debugger.contract import StepKind
from ladder_backends.debugger.target import LaunchTarget
from ladder_backends.model.launch import ForkMode

if TYPE_CHECKING:
    from collections.abc import Callable

    from ladder_backends.session.debug_session import DebugSession
    from ladder_tui.screens.form import FormValues
    from ladder_tui.screens.workspace import Workspace


class RunCommands:
    """Actions on the target as a process. What cannot be undone asks first."""

    def _session_for(self, call: str) -> DebugSession | None:
        home = cast("Workspace", self)
        return None if home._refused(call) else home.ladder.active

    def _cursor_line(self, action: str) -> str:
        home = cast("Workspace", self)
        location = home.location_at_cursor()
        if not location:
            home._say(f"{action}: no source line is selected")
        return location

    def action_advance(self) -> None:
        """Run to the cursor's line, in whatever frame it is reached."""
        home = cast("Workspace", self)
        session = self._session_for("advance")
        if session is not None and (location := self._cursor_line("advance")):
            home.ladder_app.work(session.resume(StepKind.ADVANCE, location))

    def action_jump_line(self) -> None:
        """Go on at the cursor's line without running what lies between, after a question."""
        home = cast("Workspace", self)
        session = self._session_for("jump_line")
        if session is None or not (location := self._cursor_line("jump")):
            return
        short = location.rpartition("/")[2]
        home._confirm(
            f"Jump to {short}?",
            "jump",
            "Nothing between here and there is run, or undone.",
            lambda: home.ladder_app.work(session.control.jump(location)),
        )

    def action_return_now(self) -> None:
        """Leave the selected frame at once, after a question for its value."""
        home = cast("Workspace", self)
        session = self._session_for("return_now")
        if session is None:
            return
        from ladder_tui.screens.form import FormScreen
        from ladder_tui.widgets.form_fields import TextField

        state = session.state
        frames = state.frames
        position = state.selected_frame - frames.start
        name = frames.frames[position].function if 0 <= position < len(frames.frames) else "this frame"
        value = TextField("value", "Value", placeholder="none", note="an expression of the frame")
        form = FormScreen(f"Return from {name} now?", (value,), home.palette, why="The rest of it is not run.")

        def answered(values: FormValues | None) -> None:
            if values is not None:
                home.ladder_app.work(session.control.return_now(str(values["value"]).strip()))

        home.app.push_screen(form, answered)

    def action_call(self) -> None:
        """Ask for a call, and do it in the selected frame."""
        home = cast("Workspace", self)
        session = self._session_for("call")
        if session is None:
            return

        def call(text: str) -> None:
            if text.strip():
                home.ladder_app.work(session.control.call(text.strip()))

        home.prompt.ask("call", call, placeholder="function(arguments); Ctrl-C interrupts it")

    def action_backwards(self) -> None:
        """Record, then run backwards, then forwards again."""
        session = self._session_for("backwards")
        if session is not None:
            cast("Workspace", self).ladder_app.work(session.control.toggle_backwards())

    def action_stop_recording(self) -> None:
        """Drop what was recorded."""
        session = self._session_for("stop_recording")
        if session is not None:
            cast("Workspace", self).ladder_app.work(session.control.stop_recording())

    def action_kill(self) -> None:
        """End the target, after a question."""
        home = cast("Workspace", self)
        session = self._session_for("kill")
        if session is None:
            return
        many = len(session.state.control.processes)
        home._confirm(
            f"Kill {session.state.title or session.state.rung}?" + (f" {many} processes" if many > 1 else ""),
            "kill",
            "Breakpoints stay; it can be started again."
            if isinstance(session.target, LaunchTarget)
            else "It was not started here, and ends for good.",
            lambda: home.ladder_app.work(session.control.kill()),
        )

    def action_detach(self) -> None:
        """Let the target run on by itself, after a question."""
        home = cast("Workspace", self)
        session = self._session_for("detach")
        if session is None:
            return
        home._confirm(
            f"Detach from {session.state.title or session.state.rung}?",
            "detach",
            "It runs on without the debugger, and outlives the console.",
            lambda: home.ladder_app.work(session.control.detach()),
        )

    def action_run_settings(self) -> None:
        """Ask how the program is to be started the next time."""
        home = cast("Workspace", self)
        session = self._session_for("run_settings")
        if session is None:
            return
        from ladder_tui.screens.run_settings import run_settings_form, settings_of

        launched = isinstance(session.target, LaunchTarget)
        control = session.control

        def answered(values: FormValues | None) -> None:
            if values is None:
                return
            fork = ForkMode[str(values["fork"])]
            home.ladder_app.work(
                control.configure(settings_of(values), fork) if launched else control.follow_at_fork(fork)
            )

        title = session.state.title or session.state.rung
        home.app.push_screen(run_settings_form(control.state, title, home.palette, launched=launched), answered)

    def action_at_fork(self, mode: str) -> None:
        """Choose what happens at the next fork."""
        session = self._session_for(f"at_fork('{mode}')")
        if session is not None:
            cast("Workspace", self).ladder_app.work(session.control.follow_at_fork(ForkMode[mode]))

    def _confirm(self, question: str, answer: str, why: str, then: Callable[[], None]) -> None:
        """Ask; the answer's first letter, `y` or Enter does it, `n` or Esc does not."""
        from ladder_tui.screens.choice import ChoiceScreen, Option

        home = cast("Workspace", self)
        options = (Option(answer[0], answer, answer, also="y"), Option("n", "no", ""))
        home.app.push_screen(
            ChoiceScreen(question, options, home.palette, why=why), lambda chosen: then() if chosen else None
        )
