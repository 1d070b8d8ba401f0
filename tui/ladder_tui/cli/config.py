"""`config path` and `config show`."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from ladder_backends.paths import ENGINE_VARIABLES, config_file, find_engine
from ladder_backends.text import clean_line
from ladder_tui.cli.output import print_json, print_lines
from ladder_tui.cli.parser import add_json


def configure(parser: ArgumentParser) -> None:
    """Arguments of `config`."""
    parser.add_argument("what", choices=("path", "show"), help="the file's path, or every setting and its origin")
    parser.add_argument("--theme", help="show the settings as with this theme")
    add_json(parser)


def run(arguments: Namespace) -> int:
    """Print the configuration."""
    from ladder_backends.paths import configure_engines
    from ladder_tui.config import load_settings

    path = clean_line(str(config_file()))
    if arguments.what == "path":
        if arguments.json:
            print_json({"format": 1, "path": path, "exists": config_file().exists()})
        else:
            print_lines([path])
        return 0
    settings = load_settings(theme=arguments.theme)
    configure_engines(settings.engines)
    rows: list[tuple[str, object, str]] = [
        ("theme", settings.theme, settings.origins["theme"]),
        ("log_level", settings.log_level, settings.origins["log_level"]),
        ("non_stop", settings.non_stop, settings.origins["non_stop"]),
        ("environment.let_in", list(settings.let_in), settings.origins["environment.let_in"]),
        ("at_fork", settings.at_fork, settings.origins["at_fork"]),
        ("source_roots", list(settings.source_roots), settings.origins["source_roots"]),
    ]
    for name in dict.fromkeys((*ENGINE_VARIABLES, *settings.engines)):
        found = find_engine(name)
        shown = clean_line(str(found.path)) if found.path else ""
        rows.append((f"engines.{name}", shown, found.origin or found.missing))
    rows += [(f"keys.{action}", keys, "config.toml") for action, keys in settings.keys.items()]
    if arguments.json:
        print_json(
            {
                "format": 1,
                "path": path,
                "settings": [{"name": name, "value": value, "origin": origin} for name, value, origin in rows],
            }
        )
        return 0
    width = max(len(name) for name, _, _ in rows)
    print_lines([f"{path}{'' if config_file().exists() else ' (not there; built-in values)'}", ""])
    print_lines(f"{name:{width}}  {_shown(value)}  ({origin})" for name, value, origin in rows)
    return 0


def _shown(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(str(item) for item in value) or "-"
    return str(value) or "-"
