"""What helps the sanitizer with a kind of program: each help by itself, what it does, and its price."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Switch:
    """One help that can be on or off.

    Attributes:
        label: What it is, in a few words.
        does: What it sets, as a shell would be told.
        price: What it costs, a clause.
        environment: Variables that it sets for the program.
    """

    id: str
    label: str
    does: str
    price: str
    environment: Mapping[str, str] = field(default_factory=dict)


SWITCHES: Mapping[str, Switch] = {
    switch.id: switch
    for switch in (
        Switch(
            "dump",
            "GPU core dump",
            "--generate-coredump",
            "Enter stands in a lane at once, but the program ends at its first error",
        ),
        Switch("paths", "full paths", "--strip-paths no", "longer lines in the log"),
        Switch(
            "launches",
            "count launches",
            "--dump-kernel-launches",
            "a record of each launch with its host stack: a large log",
        ),
        Switch(
            "padding",
            "guard bytes",
            "--padding",
            "memory for guards; finds what runs over into the neighbour",
        ),
        Switch(
            "torch-cache",
            "no torch cache",
            "PYTORCH_NO_CUDA_MEMORY_CACHING=1",
            "each tensor is an allocation of its own: slower by far",
            {"PYTORCH_NO_CUDA_MEMORY_CACHING": "1"},
        ),
        Switch(
            "cupy-pool",
            "no CuPy pool",
            "cupy.cuda.set_allocator(None)",
            "each array is an allocation of its own: slower by far",
        ),
        Switch(
            "patience",
            "wait for imports",
            "--launch-timeout 600",
            "that no CUDA is used is noticed after ten minutes only",
        ),
        Switch(
            "quiet-lookups",
            "no lookup noise",
            "--ignore-getprocaddress-notfound",
            "failed look-ups of driver functions are not reported",
        ),
    )
}
"""Every switch by its id, in the order shown."""

PATIENCE = 600
"""Seconds of `--launch-timeout` with the switch `patience`."""


@dataclass(frozen=True, slots=True)
class Preset:
    """A kind of program.

    Attributes:
        switches: Ids of the switches that are on at first.
    """

    name: str
    label: str
    switches: frozenset[str]


PLAIN = Preset("plain", "C++ or CUDA", frozenset({"dump", "paths"}))
PRESETS: Mapping[str, Preset] = {
    preset.name: preset
    for preset in (
        PLAIN,
        Preset(
            "torch",
            "PyTorch",
            frozenset({"dump", "paths", "padding", "torch-cache", "patience", "quiet-lookups"}),
        ),
        Preset(
            "triton",
            "Triton",
            frozenset({"dump", "paths", "padding", "torch-cache", "patience", "quiet-lookups"}),
        ),
        Preset("cupy", "CuPy", frozenset({"dump", "paths", "padding", "cupy-pool", "patience", "quiet-lookups"})),
    )
}
"""Every preset by its name, in the order shown."""

_PYTHON = re.compile(r"(?:python|pypy)[\d.]*$|torchrun$|accelerate$")
_IMPORTS = re.compile(
    rb"^[ \t]*(?:from[ \t]+|import[ \t]+(?:[\w.]+[ \t]*,[ \t]*)*)(torch|triton|cupy)\b", re.MULTILINE
)
_READ = 256 << 10


def is_python(program: Path) -> bool:
    """Whether a program is an interpreter of Python, or one of the launchers written in it, by its name."""
    return _PYTHON.match(program.name) is not None


def fitting_preset(program: Path, arguments: Sequence[str], directory: Path | None = None) -> Preset:
    """The preset for a program: by what its script imports, where it is one of Python; reads that script."""
    if not is_python(program):
        return PLAIN
    script = next((word for word in arguments if word.endswith(".py")), "")
    try:
        with ((directory or Path()) / script).open("rb") as stream:
            found = set(_IMPORTS.findall(stream.read(_READ)))
    except (OSError, ValueError):
        found = set()
    for name in ("triton", "torch", "cupy"):
        if name.encode() in found:
            return PRESETS[name]
    return PRESETS["torch"] if program.name.startswith(("torchrun", "accelerate")) else PLAIN
