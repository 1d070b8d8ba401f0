"""Baselines: a machine and what was proven on it, kept in a file, and what is different now.

One file is one baseline: `$XDG_STATE_HOME/ladder-tui/baselines/NAME.json`, or any other path. Keys are sorted and
each fact has a line of its own, so that two of them can be compared by eye. What changes by itself is not in it.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ladder_backends.errors import LadderError
from ladder_backends.model.baseline import Baseline, Changed, Comparison
from ladder_backends.model.fact import shown_value
from ladder_backends.model.topology import Machine
from ladder_backends.paths import state_dir, typed_path
from ladder_backends.text import clean_line

FORMAT = 1
MOST_BYTES = 16_000_000
SLOWER = 0.9
"""Of the baseline's bandwidth: below this a pair is told to be slower."""

_NAME = re.compile(r"^[\w.+-]{1,80}$")
_FIRST = (
    "cmdline.iommu", "cmdline", "snp.host", "snp.guest", "iommu.units", "iommu.type", "acs.redirect", "acs.control",
    "dmi.bios_version", "dmi.bios_date", "driver.version", "driver.kernel", "driver.flavour", "driver.parameters",
    "vm.hypervisor", "cc.state", "cc.multi_gpu", "mig.mode", "fabric.state", "display", "bar1", "bar1.window",
    "distance", "claim.read", "claim.write", "nccl", "pcie.width", "os.kernel",
)  # fmt: skip
"""Facts that were different in public reports of broken transfers; they are told first."""

_ALWAYS_NEW = ("os.boot_id",)


class BaselineInvalid(LadderError):
    """A baseline that is not there, cannot be read, or is of another form."""


# Files ---------------------------------------------------------------------------------------------------------


def folder() -> Path:
    """Where named baselines lie."""
    return state_dir() / "baselines"


def path_of(name: str) -> Path:
    """The file of a baseline: a name, or a path where it has a slash or ends in `.json`.

    Raises:
        BaselineInvalid: It is neither.
    """
    if "/" in name or name.endswith(".json"):
        return typed_path(name)
    if not _NAME.match(name) or name.startswith("."):
        raise BaselineInvalid(
            f"{clean_line(name)} is no name of a baseline",
            "letters, digits, . _ + - are",
            "or give a path of a file",
        )
    return folder() / f"{name}.json"


def names() -> tuple[str, ...]:
    """Names of the baselines in the state folder."""
    try:
        return tuple(sorted(path.stem for path in folder().glob("*.json")))
    except OSError:
        return ()


def save(name: str, machine: Machine, results: Mapping[str, Any] | None = None) -> Path:
    """Write a baseline; an older one of that name stays where writing fails.

    Results of an older one are kept where none are given and nothing has changed that would make them stale.

    Raises:
        BaselineInvalid: It cannot be written.
    """
    path = path_of(name)
    text = json_text(machine, _results_kept(name, machine) if results is None else results)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            fresh.write_text(text, encoding="utf-8")
            fresh.replace(path)
        finally:
            with contextlib.suppress(OSError):
                fresh.unlink()
    except OSError as error:
        raise BaselineInvalid(
            f"the baseline cannot be written to {clean_line(str(path))}", error.strerror or "", "name another file"
        ) from None
    return path


def _results_kept(name: str, machine: Machine) -> Mapping[str, Any] | None:
    try:
        older = load(name)
    except BaselineInvalid:
        return None
    return None if compare(older, machine).stale else older.results


def load(name: str) -> Baseline:
    """Read a baseline.

    Raises:
        BaselineInvalid: It is not there, or it is none.
    """
    path = path_of(name)
    said = clean_line(str(path))
    try:
        if path.stat().st_size > MOST_BYTES:
            raise BaselineInvalid(f"{said} is no baseline", f"it is longer than {MOST_BYTES:,} bytes")
        document = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        known = ", ".join(names())
        raise BaselineInvalid(
            f"there is no baseline {clean_line(name)}",
            error.strerror or "",
            f"there are {known}" if known else "ladder-tui hardware --baseline save NAME writes one",
        ) from None
    except (ValueError, RecursionError):
        raise BaselineInvalid(f"{said} is no baseline", "it is no JSON") from None
    if not isinstance(document, dict) or document.get("ladder_baseline") != FORMAT:
        raise BaselineInvalid(f"{said} is no baseline", "it does not say so, or it is of another version")
    facts, labels = document.get("facts"), document.get("labels")
    results = document.get("results")
    if not isinstance(facts, dict) or not isinstance(labels, dict) or not isinstance(results, (dict, type(None))):
        raise BaselineInvalid(f"{said} is no baseline", "facts or results are missing")
    title, at = document.get("title", ""), document.get("saved_at", 0)
    return Baseline(
        clean_line(path.stem),
        clean_line(str(title)),
        facts,
        {str(key): clean_line(str(value)) for key, value in labels.items()},
        results,
        float(at) if isinstance(at, (int, float)) else 0.0,
    )


def json_text(machine: Machine, results: Mapping[str, Any] | None = None) -> str:
    """The file's text: a fact a line, sorted."""
    facts = dict(fingerprint(machine))
    labels = {key: label for key, label, _ in _named(machine)}
    document: dict[str, Any] = {
        "facts": facts,
        "format": FORMAT,
        "labels": {key: labels[key] for key in facts},
        "ladder_baseline": FORMAT,
        "results": results,
        "saved_at": int(time.time()),
        "title": machine.title,
    }
    return "{\n" + ",\n".join(f" {_encode(key)}: {_section(document[key])}" for key in sorted(document)) + "\n}\n"


def _section(value: Any) -> str:
    """A table with an entry a line; lists of tables inside it, as of pairs, with a table a line."""
    if not isinstance(value, Mapping):
        return _encode(value)
    lines = []
    for key in sorted(value):
        inner = value[key]
        if isinstance(inner, (list, tuple)) and inner and all(isinstance(one, Mapping) for one in inner):
            rows = ",\n".join(f"   {_encode(one)}" for one in inner)
            lines.append(f"  {_encode(key)}: [\n{rows}\n  ]")
        else:
            lines.append(f"  {_encode(key)}: {_encode(inner)}")
    return "{\n" + ",\n".join(lines) + "\n }" if lines else "{}"


def _encode(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False, allow_nan=False)


# Comparing -----------------------------------------------------------------------------------------------------


def fingerprint(machine: Machine) -> Iterator[tuple[str, Any]]:
    """Every fact that does not change by itself, by `group/name`, as JSON would give it back."""
    for key, _, fact in _named(machine):
        value = json.loads(json.dumps(fact.value)) if fact.known else {"unknown": fact.why}
        yield key, value


def _named(machine: Machine) -> Iterator[tuple[str, str, Any]]:
    for group, title, facts in machine.groups():
        for name, fact in facts.items():
            if not fact.live:
                yield f"{group}/{name}", f"{title} {fact.label}" if group != "host" else fact.label, fact


def compare(baseline: Baseline, machine: Machine, results: Mapping[str, Any] | None = None) -> Comparison:
    """What is different now, field by field, and what broke."""
    changed, rebooted, why = _machines(baseline, machine)
    found = _results(baseline.results, results)
    return Comparison(
        baseline,
        tuple(changed),
        tuple(found.broke),
        frozenset(found.pairs),
        tuple(found.mended),
        rebooted,
        bool(why),
        why,
    )


def why_stale(before: Machine, after: Machine) -> str:
    """Why what was proven on a machine says nothing of it now: what has changed; empty where nothing has."""
    facts = dict(fingerprint(before))
    labels = {key: label for key, label, _ in _named(before)}
    return _machines(Baseline("", before.title, facts, labels, None, before.read_at), after)[2]


def _machines(baseline: Baseline, machine: Machine) -> tuple[list[Changed], bool, str]:
    """What is different, whether it was started anew, and what makes older results worthless."""
    now = dict(fingerprint(machine))
    labels = {**baseline.labels, **{key: label for key, label, _ in _named(machine)}}
    changed = list(_groups_that_came_or_went(baseline, now, machine))
    moved = {one.where for one in changed}
    for key in sorted(baseline.facts.keys() | now.keys()):
        if key.rsplit("/", 1)[0] in moved or key.rsplit("/", 1)[-1] in _ALWAYS_NEW:
            continue
        one = _difference(key, labels.get(key, key), baseline.facts.get(key), now.get(key))
        if one is not None:
            changed.append(one)
    changed.sort(key=_rank)
    boot = "host/os.boot_id"
    before, after = baseline.facts.get(boot), now.get(boot)
    rebooted = isinstance(before, str) and isinstance(after, str) and before != after
    telling = [one for one in changed if one.kind != "read now" and not one.where.startswith("host/env.")]
    why = telling[0].text if telling else "the machine was started anew" if rebooted else ""
    return changed, rebooted, why


def _groups_that_came_or_went(baseline: Baseline, now: Mapping[str, Any], machine: Machine) -> Iterator[Changed]:
    """A GPU or a port that is gone is one line, not fifty."""
    titles = {group: title for group, title, _ in machine.groups()}
    before_groups = {key.rsplit("/", 1)[0] for key in baseline.facts}
    now_groups = {key.rsplit("/", 1)[0] for key in now}
    for group in sorted(before_groups - now_groups):
        yield Changed(group, clean_line(group), "", "", "gone")
    for group in sorted(now_groups - before_groups):
        yield Changed(group, f"{titles.get(group, '')} ({group})".strip(), "", "", "new")


def _difference(key: str, label: str, before: Any, after: Any) -> Changed | None:
    if before == after:
        return None
    first, second = _shown(before), _shown(after)
    if before is None:
        return None if _unknown(after) else Changed(key, label, "", second, "new")
    if after is None:
        return None if _unknown(before) else Changed(key, label, first, "", "gone")
    if _unknown(before) and _unknown(after):
        return None
    if _unknown(after):
        return Changed(key, label, first, str(after["unknown"]), "unread now")
    if _unknown(before):
        return Changed(key, label, str(before["unknown"]), second, "read now")
    return Changed(key, label, first, second, "changed")


def _unknown(value: Any) -> bool:
    return isinstance(value, dict) and set(value) == {"unknown"}


def _shown(value: Any) -> str:
    return "" if value is None else clean_line(shown_value(value))


def _rank(one: Changed) -> tuple[int, int, str]:
    name = one.where.rsplit("/", 1)[-1]
    kinds = ("changed", "gone", "new", "unread now", "read now")
    return _FIRST.index(name) if name in _FIRST else len(_FIRST), kinds.index(one.kind), one.where


class _Found(NamedTuple):
    broke: list[str]
    pairs: list[tuple[int, int]]
    mended: list[str]


def _results(before: Mapping[str, Any] | None, after: Mapping[str, Any] | None) -> _Found:
    """Pairs that were right and are not any more, or slower; and the other way round."""
    found = _Found([], [], [])
    if not before or not after:
        return found
    names, others = _names(before), _names(after)
    # CUDA's numbers move when a GPU is added or hidden; a GPU is the same where its UUID is.
    joined = bool(names) and bool(others)
    old = _pairs(before, names if joined else {})
    for key, other in sorted(_pairs(after, others if joined else {}).items(), key=lambda one: _numbers(one[1])):
        if (one := old.get(key)) is None:
            continue
        source, target = _numbers(other)
        label = f"GPU{source} → GPU{target}"
        was, now = str(one.get("class")), str(other.get("class"))
        first, second = one.get("bandwidth_GBps"), other.get("bandwidth_GBps")
        if was != now and "not_tested" not in (was, now):
            if now == "right":
                found.mended.append(f"{label}: {was} → {now}")
                continue
            found.broke.append(f"{label}: {was} → {now}")
        elif isinstance(first, (int, float)) and isinstance(second, (int, float)) and second < SLOWER * first:
            found.broke.append(f"{label}: {first:.1f} → {second:.1f} GB/s")
        else:
            continue
        found.pairs.append((source, target))
    return found


def _names(results: Mapping[str, Any]) -> dict[int, str]:
    """UUIDs by number; nothing where one is missing, or where two are the same."""
    gpus = results.get("gpus", ())
    if not isinstance(gpus, list) or not all(isinstance(gpu, dict) for gpu in gpus):
        return {}
    found = {gpu.get("index"): gpu.get("uuid") for gpu in gpus}
    whole = all(isinstance(uuid, str) and uuid for uuid in found.values())
    return found if whole and len(set(found.values())) == len(gpus) else {}


def _numbers(pair: Mapping[str, Any]) -> tuple[int, int]:
    return int(pair["from"]), int(pair["to"])


def _pairs(results: Mapping[str, Any], names: Mapping[int, str]) -> dict[tuple[object, object], Mapping[str, Any]]:
    pairs = results.get("pairs", ())
    if not isinstance(pairs, list):
        return {}
    return {
        (names.get(pair["from"], pair["from"]), names.get(pair["to"], pair["to"])): pair
        for pair in pairs
        if isinstance(pair, dict) and isinstance(pair.get("from"), int) and isinstance(pair.get("to"), int)
    }
