"""What the workspace's keys do with a living GPU: dumps, stops at launches and failing calls, the way back."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from ladder_backends.session.debug_session import DebugSession
    from ladder_tui.screens.form import FormValues
    from ladder_tui.screens.workspace import Workspace

_LAUNCHES = (
    ("n", "none", "none", "run through kernel launches"),
    ("a", "application", "application", "at each kernel of the program"),
    ("s", "system", "system", "at kernels that the driver launches"),
    ("e", "every", "all", "at each kernel of either"),
)
_FAILURES = (
    ("i", "ignore", "ignore", "tell of fatal errors, run on"),
    ("s", "stop", "stop", "stop at fatal errors"),
    ("a", "all", "stop_all", "stop at any error"),
    ("t", "tell all", "ignore_all", "tell of any error, run on"),
    ("h", "hide", "hide", "tell of none"),
)


class DeviceCommands:
    """Actions on a living program's GPU."""

    def _device_session(self, call: str) -> DebugSession | None:
        home = cast("Workspace", self)
        return None if home._refused(call) else home.ladder.active

    def action_dump_gpu(self) -> None:
        """Ask for a file, write a GPU core dump of this stop into it, and offer to open that."""
        home = cast("Workspace", self)
        session = self._device_session("dump_gpu")
        if session is None:
            return
        from ladder_tui.screens.form import FormScreen
        from ladder_tui.widgets.form_fields import TextField, Toggle

        offered = f"{_name_of(session)}-{time.strftime('%H%M%S')}.nvcudmp"
        fields = (
            TextField("file", "File", offered, note="in the folder of the console, unless it names another"),
            Toggle("light", "Without memory", note="registers, stacks and counters alone: small, and fast"),
        )

        def given(values: FormValues | None) -> None:
            if values is not None and (name := str(values["file"]).strip()):
                path = Path(name).expanduser()
                home.ladder_app.work(self._dump(session, path, light=values["light"] is True))

        why = "The target stands as before. All of the GPU's used memory is written, unless you leave it out."
        home.app.push_screen(FormScreen("Dump the GPU", fields, home.palette, why=why), given)

    async def _dump(self, session: DebugSession, path: Path, *, light: bool) -> None:
        if not await session.device.dump(path, lightweight=light):
            return
        home = cast("Workspace", self)
        from ladder_tui.screens.choice import ChoiceScreen, Option

        options = (Option("o", "open it beside the program", "open", also="y"), Option("n", "not now", ""))

        def chosen(answer: str | None) -> None:
            if answer:
                home.ladder_app.work(_open_dump(home, session, path))

        home.app.push_screen(ChoiceScreen(f"{path.name} is written", options, home.palette), chosen)

    def action_launches(self) -> None:
        """Ask at which kernel launches the program stops."""
        from ladder_backends.debugger.facets.device_stops import LaunchStops

        session = self._device_session("launches")
        if session is not None:
            now = session.state.device.launches
            self._choose("Stop at kernel launches?", _LAUNCHES, str(now), session, LaunchStops)

    def action_failures(self) -> None:
        """Ask what happens when a call of the driver fails."""
        from ladder_backends.debugger.facets.device_stops import ApiFailures

        session = self._device_session("failures")
        if session is not None:
            now = session.state.device.failures
            self._choose("When a call of the driver fails?", _FAILURES, str(now), session, ApiFailures)

    def _choose(
        self,
        question: str,
        rows: tuple[tuple[str, str, str, str], ...],
        now: str,
        session: DebugSession,
        kind: type,
    ) -> None:
        home = cast("Workspace", self)
        from ladder_backends.debugger.facets.device_stops import LaunchStops
        from ladder_tui.screens.choice import ChoiceScreen, Option

        options = tuple(
            Option(key, label, value, note + (" (now)" if value == now else "")) for key, label, value, note in rows
        )

        def chosen(answer: str | None) -> None:
            if not answer:
                return
            device = session.device
            wanted = kind(answer)
            choose = device.choose_launches if isinstance(wanted, LaunchStops) else device.choose_failures
            home.ladder_app.work(choose(wanted))

        home.app.push_screen(ChoiceScreen(question, options, home.palette), chosen)

    def action_back_to_lane(self) -> None:
        """Back to the lane that was left for a thread of the host."""
        session = self._device_session("back_to_lane")
        if session is not None:
            cast("Workspace", self).ladder_app.work(session.device.return_to_lane())


def _name_of(session: DebugSession) -> str:
    """The kernel that stands here, or the program, as a part of a file's name."""
    frames = session.state.frames.frames
    name = frames[0].function if frames else session.state.title
    name = "".join(character if character.isalnum() or character == "_" else "-" for character in name)
    return name.strip("-")[:40] or "gpu"


async def _open_dump(home: Workspace, session: DebugSession, path: Path) -> None:
    from ladder_backends.debugger.target import GpuDumpTarget
    from ladder_backends.session.target_program import program_of

    program = program_of(session.target) if session.target is not None else None
    await home.ladder.open_target(GpuDumpTarget(path, program))
