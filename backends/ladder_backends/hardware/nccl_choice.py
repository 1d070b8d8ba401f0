"""What NCCL will carry a pair's data over, and what vLLM and llama.cpp do: rules, as their sources have them.

NCCL (`src/graph/paths.cc`) takes peer-to-peer where the path is no longer than a level: PXB by default, SYS with an
AMD x86 processor and at most two GPUs, or what NCCL_P2P_DISABLE and NCCL_P2P_LEVEL say; and where NVML's status of
read and write is OK. It never tries whether a transfer arrives.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ladder_backends.model.fact import Concern, Fact, Facts

SOURCE = "rules of NCCL's paths.cc"
LEVELS = ("LOC", "NVL", "NVB", "C2C", "PIX", "PXB", "P2C", "PXN", "PHB", "SYS")
_BY_NUMBER = ("LOC", "PIX", "PXB", "PHB", "SYS", "SYS")


class Choice(NamedTuple):
    """What is chosen.

    Attributes:
        way: `P2P over NVLink`, `P2P over PCIe`, `shared memory`, `error at init`, or None where it depends on
            something unknown.
        why: A clause.
    """

    way: str | None
    why: str


def path_type(distance: str) -> str:
    """NCCL's own word for a distance: it knows no NODE, and NV18 is NVL."""
    if distance.startswith("NV"):
        return "NVL"
    return {"NODE": "PHB", "X": "LOC"}.get(distance, distance)


def level(host: Facts, gpus: int, environment: Mapping[str, str]) -> tuple[str | None, str]:
    """The longest path over which NCCL would take peer-to-peer, and why; None where that is unknown."""
    if environment.get("NCCL_P2P_DISABLE", "").strip() == "1":
        return "LOC", "NCCL_P2P_DISABLE=1"
    said = environment.get("NCCL_P2P_LEVEL", "")
    if said in LEVELS:
        return said, f"NCCL_P2P_LEVEL={said}"
    if said[:1].isdecimal():
        number = min(int("".join(c for c in said if c.isdecimal())), len(_BY_NUMBER) - 1)
        return _BY_NUMBER[number], f"NCCL_P2P_LEVEL={said}"
    vendor = host["cpu.vendor"]
    if vendor.value == "AMD" and gpus <= 2:
        return "SYS", "AMD processor and at most 2 GPUs"
    if vendor.value is None and gpus <= 2:
        return (
            None,
            "with an AMD processor it goes as far as SYS, with another as far as PXB, and which it is is unknown",
        )
    return "PXB", "NCCL's default"


def nccl_choice(distance: str, claims: Facts, host: Facts, gpus: int, environment: Mapping[str, str]) -> Choice:
    """What NCCL takes between two GPUs of one job on one node, in one container."""
    if not distance:
        return Choice(None, "the distance is unknown")
    other = "shared memory"
    if environment.get("NCCL_SHM_DISABLE", "").strip() == "1":
        other = "network"
    kind = path_type(distance)
    reach, why = level(host, gpus, environment)
    if reach is None and kind in ("PHB", "SYS"):
        return Choice(None, why)
    reach = reach or "PXB"
    if kind not in LEVELS or LEVELS.index(kind) > LEVELS.index(reach):
        return Choice(other, f"{distance} is farther than {reach} ({why})")
    words = [claims.value(f"claim.{name}") for name in ("read", "write")]
    if environment.get("NCCL_IGNORE_DISABLED_P2P", "0").strip() == "2":
        words = ["OK"]
    if any(word is None for word in words):
        return Choice(None, f"{distance} is within {reach}, but NVML's status is unknown")
    if any(word != "OK" for word in words):
        if kind in ("NVL", "NVB") and environment.get("NCCL_IGNORE_DISABLED_P2P", "0").strip() in ("", "0"):
            return Choice("error at init", "NVLink is there, but NVML says that P2P is disabled")
        return Choice(other, f"NVML's status is not OK ({', '.join(sorted(set(map(str, words)) - {'OK'}))})")
    over = "NVLink" if kind in ("NVL", "NVB", "C2C") else "PCIe"
    return Choice(
        f"P2P over {over}", f"{distance} is within {reach} ({why})" if over == "PCIe" else f"{distance}, status OK"
    )


def choice_fact(distance: str, claims: Facts, host: Facts, gpus: int, environment: Mapping[str, str]) -> Fact:
    """The choice as a fact of a pair."""
    choice = nccl_choice(distance, claims, host, gpus, environment)
    if choice.way is None:
        return Fact("nccl", "NCCL takes", source=SOURCE, why=choice.why)
    fact = Fact("nccl", "NCCL takes", choice.way, f"{choice.way}: {choice.why}", SOURCE)
    return fact.wrong(choice.why) if choice.way == "error at init" else fact


def engine_facts(
    host: Facts, pairs: tuple[Facts, ...], gpus: int, environment: Mapping[str, str]
) -> tuple[Fact, ...]:
    """What vLLM's own all-reduce and llama.cpp do with this machine."""
    if gpus < 2:
        return ()
    links = [facts.value("claim.nvlink") for facts in pairs]
    vllm = Fact("vllm.all_reduce", "vLLM custom all-reduce", source="rules of vLLM's custom_all_reduce.py")
    if gpus == 2:
        vllm = _with(vllm, "tried", "2 GPUs: taken where its own check of P2P passes; it is skipped by default")
    elif all(word == "OK" for word in links):
        vllm = _with(vllm, "taken", "every pair is joined by NVLink")
    elif any(word not in ("OK", None) for word in links):
        vllm = _with(vllm, "not taken", "more than 2 GPUs and not all joined by NVLink")
    else:
        vllm = Fact(vllm.name, vllm.label, source=vllm.source, why="NVML's status of NVLink is unknown")
    llama = Fact("llama.p2p", "llama.cpp P2P", source="rules of llama.cpp's ggml-cuda")
    on = "GGML_CUDA_P2P" in environment
    llama = _with(llama, "on" if on else "off", "GGML_CUDA_P2P is set" if on else "GGML_CUDA_P2P is not set")
    return vllm, llama


def _with(fact: Fact, value: str, why: str) -> Fact:
    return Fact(fact.name, fact.label, value, f"{value}: {why}", fact.source, concern=Concern.NONE)
