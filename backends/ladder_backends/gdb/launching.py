"""How gdb starts a program: arguments, environment, folder, input; given exactly or refused in one line."""

from __future__ import annotations

import asyncio
import os
import re
import shlex
from pathlib import Path

from ladder_backends.errors import TargetInvalid
from ladder_backends.gdb.environment import program_environment
from ladder_backends.gdb.questions import Engine
from ladder_backends.gdb.quoting import mi_lines
from ladder_backends.model.launch import LaunchSettings
from ladder_backends.paths import current_folder, folder_instead
from ladder_backends.text import clean_line

_NAME = re.compile(r"[^\s=\0]+")


class Launching:
    """Tells an engine how to start its program; a later telling takes back what an earlier one set.

    Attributes:
        settings: What was told last.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._set: set[str] = set()
        self.settings = LaunchSettings()

    async def apply(self, settings: LaunchSettings) -> None:
        """Tell all of it; nothing is changed where something is wrong.

        Raises:
            TargetInvalid: A folder or file does not exist, or a value cannot be handed on exactly.
        """
        check_settings(settings)
        commands = [self._arguments(settings), *self._environment(settings), *self._folder(settings)]
        self.settings = settings
        await asyncio.gather(*(self._tell(command) for command in commands))

    async def find_folder(self) -> str:
        """Where the folder that programs inherit was deleted and made anew, as by a build, start in the new one.

        Returns:
            What to tell of it where there is none; else an empty string.
        """
        if self.settings.directory is not None or (folder := folder_instead()) is None:
            return ""
        await self._tell(f"set cwd {folder}")
        was = current_folder()
        return f"{clean_line(str(was))} was deleted: the program starts in {folder}" if was != folder else ""

    async def _tell(self, command: str) -> None:
        if "\n" in command or "\r" in command:
            await self._engine.command(f"-interpreter-exec console {mi_lines(command)}")
        elif command.startswith("unset "):
            await self._engine.command(f'-interpreter-exec console "{command}"')
        else:
            await self._engine.command(f"-gdb-{command}")

    def _arguments(self, settings: LaunchSettings) -> str:
        words = [shlex.quote(argument) for argument in settings.arguments]
        if settings.stdin is not None:
            words.append(f"< {shlex.quote(str(settings.stdin.absolute()))}")
        return " ".join(["set args", *words])

    def _environment(self, settings: LaunchSettings) -> list[str]:
        plain = {name: value for name, value in settings.environment.items() if value is not None}
        changes = program_environment(plain)
        changes.update({name: None for name, value in settings.environment.items() if value is None})
        for name in self._set - changes.keys():
            changes[name] = os.environ.get(name)
        self._set |= settings.environment.keys()
        return [
            f"unset environment {name}" if value is None else f"set environment {name} = {value}"
            for name, value in changes.items()
        ]

    def _folder(self, settings: LaunchSettings) -> list[str]:
        if settings.directory is not None:
            return [f"set cwd {settings.directory.absolute()}"]
        return ["set cwd"] if self.settings.directory is not None else []


def check_settings(settings: LaunchSettings) -> None:
    """Look whether a program can be started like this.

    Raises:
        TargetInvalid: A folder or file does not exist, or a value cannot be handed on exactly.
    """
    if any("\0" in argument for argument in settings.arguments):
        raise TargetInvalid("cannot pass the arguments", "an argument holds a NUL byte")
    for name, value in settings.environment.items():
        shown = clean_line(name) or "an empty name"
        if _NAME.fullmatch(name) is None:
            raise TargetInvalid(f"cannot set {shown}", "it is no name of an environment variable")
        if value is not None and "\0" in value:
            raise TargetInvalid(f"cannot set {shown}", "its value holds a NUL byte")
        if value is not None and value != value.strip(" \t\n\r\f\v"):
            raise TargetInvalid(
                f"cannot set {shown}",
                "gdb drops blanks at the ends of a value",
                "quote them inside, or set it in the shell",
            )
    if settings.directory is not None:
        _check_folder(settings.directory)
    if settings.stdin is not None:
        _check_input(settings.stdin)


def _check_folder(folder: Path) -> None:
    shown = clean_line(str(folder))
    if not folder.is_dir():
        raise TargetInvalid(
            f"cannot run in {shown}", "it is no folder" if folder.exists() else "there is no such folder"
        )
    if not os.access(folder, os.X_OK):
        raise TargetInvalid(f"cannot run in {shown}", "it may not be entered", "check its permissions")


def _check_input(file: Path) -> None:
    shown = clean_line(str(file))
    if file.is_dir():
        raise TargetInvalid(f"cannot read input from {shown}", "it is a folder")
    if not file.exists():
        raise TargetInvalid(f"cannot read input from {shown}", "there is no such file")
    if not os.access(file, os.R_OK):
        raise TargetInvalid(f"cannot read input from {shown}", "it may not be read", "check its permissions")
