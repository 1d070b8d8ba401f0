"""The form for a run of the sanitizer: program, tools, helps with their prices, limits."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ladder_backends.paths import typed_path
from ladder_backends.sanitizer.installed import TOOLS
from ladder_backends.sanitizer.plan import Plan
from ladder_backends.sanitizer.presets import PRESETS, SWITCHES, Switch
from ladder_backends.session.launch_words import environment_words, read_environment
from ladder_tui.screens.form import FormScreen, FormValues
from ladder_tui.screens.run_settings import SettingInvalid
from ladder_tui.widgets.form_fields import Field, Select, TextField, Toggle
from ladder_tui.widgets.row import Cell, cut, width_of

if TYPE_CHECKING:
    from ladder_tui.theming import Palette

_TOOL_NOTES = {
    "memcheck": "accesses out of bounds or misaligned, leaks, failed API calls",
    "racecheck": "threads of a block that race on shared memory; writes no dump",
    "initcheck": "reads of global memory that nobody wrote",
    "synccheck": "barriers that threads of a block reach apart",
}
_LONGEST = 1e7


class SwitchField(Toggle):
    """A help that a preset turns too; what it sets stands beside it, its price below the form.

    Args:
        switch: The help.
        on: Whether it is on at first.
        missing: Why it would be left out, or an empty string.
    """

    def __init__(self, switch: Switch, on: bool, missing: str) -> None:
        super().__init__(f"switch-{switch.id}", switch.label, on, note=missing or switch.price)
        self._does = switch.does

    def turn(self, on: bool) -> None:
        """Put it on or off."""
        self._on = on

    def cells(self, room: int, focused: bool) -> list[Cell]:
        """The box, and what it sets."""
        box = super().cells(room, focused)
        return [*box, Cell(cut(f"  {self._does}", max(0, room - width_of(box))), "muted")]


class PresetField(Select):
    """A kind of program; another one turns the helps.

    Args:
        name: Key of its value.
        value: Name of the preset.
        turned: Told of the preset that is chosen.
    """

    def __init__(self, name: str, value: str, turned: Callable[[str], None]) -> None:
        options = [(preset.name, preset.label) for preset in PRESETS.values()]
        super().__init__(name, "Kind", options, value, note="turns the helps below as is good for it")
        self._turned = turned

    def _turn(self, by: int) -> None:
        super()._turn(by)
        self._turned(self.value)


def sanitizer_form(plan: Plan | None, palette: Palette, known: Callable[[str], bool], version: str) -> FormScreen:
    """The form, filled in with a plan.

    Args:
        plan: What is at hand; None where nothing is.
        palette: Of the application.
        known: Whether the installed version has an option.
        version: Of compute-sanitizer.
    """
    base = plan or Plan(Path())
    switches = {
        one.id: SwitchField(
            one, base.is_on(one.id), "" if _is_known(one.does, known) else f"not in version {version}"
        )
        for one in SWITCHES.values()
    }

    def turned(name: str) -> None:
        for id, field in switches.items():
            field.turn(id in PRESETS[name].switches)

    program = shlex.join((str(base.program), *base.arguments)) if plan is not None else ""
    number = {"note": "0 for all", "placeholder": "0"}
    fields: list[Field] = [
        TextField(
            "program",
            "Program",
            program,
            placeholder="./prog args…",
            note="words as in a shell; mpirun -n 4 {} ./prog checks each rank",
        ),
        *(Toggle(f"tool-{tool}", tool, tool in base.tools, note=_TOOL_NOTES[tool]) for tool in TOOLS),
        Toggle("leaks", "leaks", base.leaks, note="memcheck: allocations that are never freed; needs a clean end"),
        Select(
            "racecheck_report",
            "races as",
            [("analysis", "a summary of each race"), ("hazard", "every hazard, with its lanes"), ("all", "both")],
            base.racecheck_report,
            note="racecheck: a summary names no lane",
        ),
        PresetField("preset", base.preset, turned),
        *switches.values(),
        TextField(
            "kernels", "Kernels", " ".join(base.kernels), placeholder="all", note="parts of names, blanks between"
        ),
        TextField(
            "launch_skip", "Skip", _number(base.launch_skip), placeholder="0", note="launches left out first"
        ),
        TextField("launch_count", "Check", _number(base.launch_count), **number),
        TextField("print_limit", "Print at most", str(base.print_limit), note="findings; 0 for all"),
        TextField(
            "timeout", "Time-out", f"{base.timeout:g}" if base.timeout else "", placeholder="none", note="seconds"
        ),
        Select(
            "target_processes",
            "Processes",
            [("", "as the tool does"), ("all", "children too"), ("application-only", "not its children")],
            base.target_processes,
        ),
        TextField("environment", "Environment", environment_words(base.environment), note="NAME=value …, -NAME"),
        TextField("directory", "Folder", str(base.directory or ""), placeholder="the console's own"),
        TextField("stdin", "Input from", str(base.stdin or ""), placeholder="its terminal"),
        TextField(
            "suppressions", "Suppressions", str(base.suppressions or ""), placeholder="none", note="an XML file"
        ),
        TextField("extra", "More options", shlex.join(base.extra), note="words for compute-sanitizer itself"),
        TextField("save", "Keep in", "", placeholder="the state folder", note="log, dump and output"),
    ]
    return FormScreen(
        "Check with the sanitizer",
        fields,
        palette,
        why=f"compute-sanitizer {version}; what a help costs is said below",
        check=lambda values: _complaint(values, base),
    )


def _is_known(does: str, known: Callable[[str], bool]) -> bool:
    return not does.startswith("--") or known(does.split()[0])


def plan_of(values: FormValues, base: Plan | None) -> tuple[Plan, Path | None]:
    """What the form holds, and the folder to keep the run in.

    Raises:
        SettingInvalid: A field cannot be read, or names what is not there.
    """
    words = _words(values, "program")
    if not words:
        raise SettingInvalid("program", "no program is named")
    program = _program(words[0])
    tools = tuple(tool for tool in TOOLS if values[f"tool-{tool}"])
    if not tools:
        raise SettingInvalid("tool-memcheck", "no tool is chosen")
    try:
        environment = read_environment(str(values["environment"]))
    except ValueError as error:
        raise SettingInvalid("environment", str(error)) from error
    directory = _path(values, "directory")
    if directory is not None and not directory.is_dir():
        raise SettingInvalid("directory", "no such folder")
    for name in ("stdin", "suppressions"):
        file = _path(values, name)
        if file is not None and not file.is_file():
            raise SettingInvalid(name, "no such file")
    switches = frozenset(id for id in SWITCHES if values[f"switch-{id}"])
    plan = replace(
        base or Plan(program),
        program=program,
        arguments=tuple(words[1:]),
        directory=directory,
        environment=environment,
        stdin=_path(values, "stdin"),
        tools=tools,
        leaks=bool(values["leaks"]),
        preset=str(values["preset"]),
        switches=switches,
        padding=base.padding if base is not None and "padding" in switches else 0,
        kernels=tuple(str(values["kernels"]).split()),
        launch_skip=_count(values, "launch_skip"),
        launch_count=_count(values, "launch_count"),
        print_limit=_count(values, "print_limit"),
        target_processes=str(values["target_processes"]),
        racecheck_report=str(values["racecheck_report"]),
        timeout=_seconds(values, "timeout"),
        suppressions=_path(values, "suppressions"),
        extra=tuple(_words(values, "extra")),
    )
    return plan, _path(values, "save")


def _complaint(values: FormValues, base: Plan) -> tuple[str, str] | None:
    try:
        plan_of(values, base)
    except SettingInvalid as wrong:
        return wrong.field, str(wrong)
    return None


def _program(word: str) -> Path:
    import shutil

    path = typed_path(word)
    if "/" not in word and not path.exists() and (found := shutil.which(word)):
        return Path(found)
    if not path.is_file():
        raise SettingInvalid("program", "no such program")
    return path


def _words(values: FormValues, name: str) -> list[str]:
    try:
        return shlex.split(str(values[name]))
    except ValueError as error:
        raise SettingInvalid(name, str(error).lower()) from error


def _path(values: FormValues, name: str) -> Path | None:
    text = str(values[name])
    return typed_path(text) if text.strip() else None


def _number(value: int) -> str:
    return str(value) if value else ""


def _count(values: FormValues, name: str) -> int:
    text = str(values[name]).strip().replace(",", "")
    if text and not (text.isascii() and text.isdecimal()):
        raise SettingInvalid(name, "no number")
    return int(text or "0")


def _seconds(values: FormValues, name: str) -> float | None:
    text = str(values[name]).strip()
    try:
        value = float(text) if text else None
    except ValueError as error:
        raise SettingInvalid(name, "no number of seconds") from error
    if value is not None and not 0 < value < _LONGEST:
        raise SettingInvalid(name, "no number of seconds")
    return value
