"""How a program is started, in the words of a shell."""

from __future__ import annotations

import shlex
from collections.abc import Mapping

from ladder_backends.model.launch import LaunchSettings
from ladder_backends.text import clean_line


def describe(settings: LaunchSettings) -> str:
    """Settings as a shell would be told them: `cd /tmp; A=1 … -n 3 < input`."""
    parts = [f"cd {shlex.quote(str(settings.directory))};"] if settings.directory is not None else []
    parts += [environment_words(settings.environment)] if settings.environment else []
    parts += [shlex.join(settings.arguments)] if settings.arguments else []
    parts += [f"< {shlex.quote(str(settings.stdin))}"] if settings.stdin is not None else []
    return " ".join(parts)


def environment_words(environment: Mapping[str, str | None]) -> str:
    """Variables as shell words: `A=1 'B=two words' -GONE`."""
    return shlex.join(f"-{name}" if value is None else f"{name}={value}" for name, value in environment.items())


def read_environment(text: str) -> dict[str, str | None]:
    """What `environment_words` writes.

    Raises:
        ValueError: A quote is not closed, or a word is neither `NAME=value` nor `-NAME`.
    """
    environment: dict[str, str | None] = {}
    for word in shlex.split(text):
        name, equals, value = word.partition("=")
        if equals and name:
            environment[name] = value
        elif word.startswith("-") and len(word) > 1 and not equals:
            environment[word[1:]] = None
        else:
            raise ValueError(f"{clean_line(word)!r} is neither NAME=value nor -NAME")
    return environment
