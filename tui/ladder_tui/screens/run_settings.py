"""The form for how a program is started the next time."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from ladder_backends.model.launch import AVOID_UNRECORDABLE, ForkMode, LaunchSettings
from ladder_backends.paths import typed_path
from ladder_backends.session.launch_words import environment_words, read_environment
from ladder_tui.screens.form import FormScreen, FormValues
from ladder_tui.widgets.form_fields import Field, Select, TextField, Toggle

if TYPE_CHECKING:
    from ladder_backends.session.control_state import ControlState
    from ladder_tui.theming import Palette


class SettingInvalid(ValueError):
    """What is in a field cannot be taken.

    Attributes:
        field: Name of the field.
    """

    def __init__(self, field: str, why: str) -> None:
        super().__init__(why)
        self.field = field


def run_settings_form(control: ControlState, title: str, palette: Palette, *, launched: bool) -> FormScreen:
    """The form, filled in with what holds now or, where nothing was chosen, with what held the last time.

    Args:
        control: State of the session.
        title: The target in few words.
        palette: Of the application.
        launched: The program is started here; of one that was attached to only its forks can be chosen.
    """
    fork = Select("fork", "At a fork", [(mode.name, mode.value) for mode in ForkMode], control.fork.name)
    fork.note = "where both are held, they run and stop together"
    if not launched:
        return FormScreen(f"At a fork of {title}", (fork,), palette)
    settings, why = control.settings, "From the next start on; kept for this program"
    if settings.plain and control.last_used is not None:
        settings, why = control.last_used, "As it was started the last time; from the next start on"
    plain, recordable = without_recordable(settings.environment)
    fields: tuple[Field, ...] = (
        TextField(
            "arguments",
            "Arguments",
            shlex.join(settings.arguments),
            note="words as in a shell; nothing is expanded",
        ),
        TextField("environment", "Environment", environment_words(plain), note="NAME=value …, -NAME takes away"),
        TextField("directory", "Folder", str(settings.directory or ""), placeholder="the console's own"),
        TextField("stdin", "Input from", str(settings.stdin or ""), placeholder="its terminal"),
        fork,
        Toggle("recordable", "Recordable", recordable, note="avoids instructions that gdb cannot record backwards"),
    )
    return FormScreen(f"How to start {title}", fields, palette, why=why, check=_complaint)


def without_recordable(environment: dict[str, str | None]) -> tuple[dict[str, str | None], bool]:
    """An environment without the variables of the switch, and whether they all were there."""
    on = all(environment.get(name) == value for name, value in AVOID_UNRECORDABLE.items())
    if not on:
        return environment, False
    return {name: value for name, value in environment.items() if name not in AVOID_UNRECORDABLE}, True


def settings_of(values: FormValues) -> LaunchSettings:
    """What the form holds.

    Raises:
        SettingInvalid: A field cannot be read, or names what is not there.
    """
    try:
        arguments = tuple(shlex.split(str(values["arguments"])))
    except ValueError as error:
        raise SettingInvalid("arguments", f"{error}".lower()) from error
    try:
        environment = read_environment(str(values["environment"]))
    except ValueError as error:
        raise SettingInvalid("environment", f"{error}") from error
    if values["recordable"]:
        environment.update(AVOID_UNRECORDABLE)
    directory, stdin = _path(values["directory"]), _path(values["stdin"])
    if directory is not None and not directory.is_dir():
        raise SettingInvalid("directory", f"{directory} is no folder" if directory.exists() else "no such folder")
    if stdin is not None and not stdin.exists():
        raise SettingInvalid("stdin", "no such file")
    if stdin is not None and stdin.is_dir():
        raise SettingInvalid("stdin", f"{stdin} is a folder")
    return LaunchSettings(arguments, environment, directory, stdin)


def _path(value: str | bool) -> Path | None:
    text = str(value)
    return typed_path(text) if text.strip() else None


def _complaint(values: FormValues) -> tuple[str, str] | None:
    try:
        settings_of(values)
    except SettingInvalid as wrong:
        return wrong.field, str(wrong)
    return None
