"""Variables that decide what NCCL, vLLM and llama.cpp do: of this process, and of NCCL's own files.

NCCL reads the file that NCCL_CONF_FILE names, or `~/.nccl.conf`, then `/etc/nccl.conf`; what is set already stays
(its manual, "Environment Variables").
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from ladder_backends.hardware.reader import Reader
from ladder_backends.model.fact import Fact
from ladder_backends.text import clean_line

PROCESS = "environment of this process"
SYSTEM = "/etc/nccl.conf"
_NAMES = ("NCCL_", "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "GGML_CUDA_P2P", "VLLM_SKIP_P2P_CHECK",
          "NVIDIA_VISIBLE_DEVICES")  # fmt: skip
_SECRET = ("TOKEN", "KEY", "SECRET", "PASSWORD")


class Setting(NamedTuple):
    """A variable's value, and where it comes from."""

    value: str
    source: str


def is_setting(name: str) -> bool:
    """Whether a variable decides about transfers, and is no secret."""
    return name.startswith(_NAMES) and not any(word in name for word in _SECRET)


def settings(reader: Reader) -> dict[str, Setting]:
    """Every such variable, as a job that is started from here would have it."""
    environment = reader.files.environment()
    found = {
        clean_line(name): Setting(clean_line(value), PROCESS)
        for name, value in environment.items()
        if is_setting(name)
    }
    home = environment.get("HOME", "")
    own = environment.get("NCCL_CONF_FILE") or (f"{home}/.nccl.conf" if home.startswith("/") else "")
    for path in (own, SYSTEM):
        if not path.startswith("/"):
            continue
        for line in (reader.text(path) or "").splitlines():
            name, equals, value = line.strip().partition("=")
            if equals and is_setting(name.strip()) and name.startswith("NCCL_"):
                found.setdefault(name.strip(), Setting(value.strip(), clean_line(path)))
    return found


def setting_facts(found: Mapping[str, Setting]) -> Iterator[Fact]:
    """One fact a variable; a job that is started elsewhere may have others."""
    for name in sorted(found):
        value, source = found[name]
        fact = Fact(f"env.{name}", name, value, source=source)
        if name == "GGML_CUDA_P2P":
            fact = fact.noted("set to anything at all, 0 too, it switches P2P of llama.cpp on: unset it")
        elif name == "NCCL_P2P_LEVEL" and value.upper() in ("LOC", "0"):
            fact = fact.noted("LOC forbids P2P between GPUs: unset it")
        elif source != PROCESS:
            fact = fact.noted("NCCL takes this from a file that no environment shows")
        yield fact
