"""Settings: command line before environment before `config.toml` before built-in values.

The file is optional. What it holds is checked strictly: a key that is not known here, or a value of the wrong kind,
is an error that names the file and the key, because a setting that is silently ignored looks like a bug.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import field
from pathlib import Path
from types import MappingProxyType

from ladder_backends.errors import SettingInvalid
from ladder_backends.late_dataclass import dataclass
from ladder_backends.paths import ENGINE_VARIABLES, config_file, engine_variable
from ladder_backends.text import clean_line

DEFAULT_THEME = "dark"
AT_FORK = ("parent", "child", "both")
LOG_LEVELS = ("debug", "info", "warning", "error")
_EMPTY: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Settings:
    """Every setting, resolved.

    Attributes:
        theme: Name of a theme. Flag `--theme`, variable `LADDER_THEME`, key `theme`.
        engines: Executables by engine. Variables `LADDER_GDB` and the like, table `[engines]`.
        keys: Keys by action id, as the key table writes them. Table `[keys]`.
        source_roots: Folders in which source files are looked up by name. Key `source_roots`.
        let_in: Entries of the Environment view that are not kept from engines. Key `let_in` of `[environment]`.
        non_stop: Threads of programs that are started stop one by one. Key `non_stop`.
        at_fork: Which side of a fork is followed: `parent`, `child`, or `both`, which holds both. Key `at_fork`.
        log_level: What the log file keeps. Variable `LADDER_LOG`, key `log_level`.
        origins: Where each value comes from: `--theme`, a variable, `config.toml` or `built in`.
    """

    theme: str = DEFAULT_THEME
    engines: Mapping[str, str] = field(default_factory=lambda: _EMPTY)
    keys: Mapping[str, str] = field(default_factory=lambda: _EMPTY)
    source_roots: tuple[str, ...] = ()
    let_in: tuple[str, ...] = ()
    non_stop: bool = False
    at_fork: str = "parent"
    log_level: str = "warning"
    origins: Mapping[str, str] = field(default_factory=lambda: _EMPTY)


def load_settings(*, theme: str | None = None, file: Path | None = None) -> Settings:
    """Read the file and the environment.

    Args:
        theme: The value of `--theme`, or None.
        file: Read instead of `config_file()`.

    Raises:
        SettingInvalid: The file cannot be read, is not TOML, or holds an unknown key or a value of the wrong kind.
    """
    source = config_file() if file is None else file
    table = _read(source)
    reader = _Reader(source, table)
    written_theme = reader.text("theme")
    written_level = reader.text("log_level")
    engines = reader.texts("engines", known=tuple(ENGINE_VARIABLES), others=_added_debuggers)
    keys = reader.texts("keys")
    roots = reader.list_of_text("source_roots")
    non_stop = reader.flag("non_stop")
    at_fork = reader.text("at_fork") or "parent"
    let_in = reader.list_in("environment", "let_in")
    reader.refuse_unknown()

    origins: dict[str, str] = {}
    chosen_theme = _first(
        origins,
        "theme",
        ("--theme", theme or ""),
        ("LADDER_THEME", os.environ.get("LADDER_THEME", "")),
        ("config.toml", written_theme),
        ("built in", DEFAULT_THEME),
    )
    level = _first(
        origins,
        "log_level",
        ("LADDER_LOG", os.environ.get("LADDER_LOG", "")),
        ("config.toml", written_level),
        ("built in", "warning"),
    )
    if level not in LOG_LEVELS:
        where = origins["log_level"] if origins["log_level"] != "config.toml" else clean_line(str(source))
        raise SettingInvalid(
            f"{where}: log_level is {clean_line(level)!r}",
            f"it can be {', '.join(LOG_LEVELS)}",
            "change or remove it",
        )
    if at_fork not in AT_FORK:
        raise SettingInvalid(
            f"{clean_line(str(source))}: at_fork is {clean_line(at_fork)!r}",
            f"it can be {', '.join(AT_FORK)}",
            "change or remove it",
        )
    for name in (*ENGINE_VARIABLES, *(engines.keys() - ENGINE_VARIABLES.keys())):
        variable = engine_variable(name)
        if os.environ.get(variable):
            origins[f"engines.{name}"] = variable
        elif name in engines:
            origins[f"engines.{name}"] = "config.toml"
    origins["at_fork"] = "config.toml" if "at_fork" in table else "built in"
    origins["non_stop"] = "config.toml" if non_stop is not None else "built in"
    origins["environment.let_in"] = "config.toml" if let_in else "built in"
    origins["source_roots"] = "config.toml" if roots else "built in"
    return Settings(
        theme=chosen_theme,
        engines=engines,
        keys=keys,
        source_roots=tuple(os.path.expanduser(root) for root in roots),
        let_in=let_in,
        non_stop=bool(non_stop),
        at_fork=at_fork,
        log_level=level,
        origins=origins,
    )


def _added_debuggers() -> tuple[str, ...]:
    """Debuggers of other packages; looked for only where a name is none of ours."""
    from ladder_backends.debugger.registry import debugger_names

    return debugger_names()


def _first(origins: dict[str, str], name: str, *candidates: tuple[str, str]) -> str:
    for origin, value in candidates:
        if value:
            origins[name] = origin
            return value
    return ""


def _read(file: Path) -> dict[str, object]:
    shown = clean_line(str(file))
    try:
        text = file.read_text("utf-8")
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise SettingInvalid(f"{shown} cannot be read", error.strerror or "") from error
    except UnicodeDecodeError as error:
        raise SettingInvalid(f"{shown} cannot be read", "it is not UTF-8") from error
    import tomllib

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SettingInvalid(f"{shown} is not TOML", clean_line(str(error))) from error


class _Reader:
    """Takes keys out of a table one by one, each checked; what is left at the end is unknown."""

    def __init__(self, file: Path, table: dict[str, object]) -> None:
        self._file = clean_line(str(file))
        self._left = dict(table)
        self._known: list[str] = []

    def text(self, key: str) -> str:
        value = self._take(key, "")
        if not isinstance(value, str):
            raise self._wrong(key, "a string")
        return value

    def flag(self, key: str) -> bool | None:
        value = self._take(key, None)
        if value is not None and not isinstance(value, bool):
            raise self._wrong(key, "true or false")
        return value

    def list_of_text(self, key: str) -> tuple[str, ...]:
        value = self._take(key, [])
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise self._wrong(key, "a list of strings")
        return tuple(value)

    def list_in(self, table: str, key: str) -> tuple[str, ...]:
        value = self._take(table, {})
        if not isinstance(value, dict):
            raise self._wrong(table, "a table")
        for name in value:
            if name != key:
                raise self._unknown(f"{table}.{name}", (key,))
        found = value.get(key, [])
        if not isinstance(found, list) or not all(isinstance(item, str) for item in found):
            raise self._wrong(f"{table}.{key}", "a list of strings")
        return tuple(found)

    def texts(
        self, key: str, known: tuple[str, ...] = (), others: Callable[[], tuple[str, ...]] = tuple
    ) -> Mapping[str, str]:
        value = self._take(key, {})
        if not isinstance(value, dict):
            raise self._wrong(key, "a table")
        for name, item in value.items():
            if known and name not in known and name not in (known := (*known, *others())):
                raise self._unknown(f"{key}.{name}", known)
            if not isinstance(item, str):
                raise self._wrong(f"{key}.{name}", "a string")
        return MappingProxyType(dict(value))

    def refuse_unknown(self) -> None:
        for key in self._left:
            raise self._unknown(key, tuple(self._known))

    def _take(self, key: str, default: object) -> object:
        self._known.append(key)
        return self._left.pop(key, default)

    def _wrong(self, key: str, wanted: str) -> SettingInvalid:
        return SettingInvalid(f"{self._file}: {clean_line(key)} is of the wrong kind", f"it has to be {wanted}")

    def _unknown(self, key: str, known: tuple[str, ...]) -> SettingInvalid:
        return SettingInvalid(
            f"{self._file}: {clean_line(key)} is not a setting",
            f"known are {', '.join(known)}",
            "correct or remove it",
        )
