"""Write down what a machine answers, as a file that stands for it elsewhere: the form of simulated machines.

Only what was asked is in it. Of the kernel's log the lines that facts are made of, of the environment the variables
of CUDA and NCCL, of processes and ports those of the fabric manager and of IMEX, of processors the first.
"""

from __future__ import annotations

import json
import posixpath
from collections.abc import Mapping
from typing import Any

from ladder_backends.hardware.fabric import FABRIC_PORT
from ladder_backends.hardware.kernel_log import telling_lines
from ladder_backends.hardware.ports import Field, Files, Nvml, NvmlRefused
from ladder_backends.hardware.settings import is_setting
from ladder_backends.model.topology import Machine

_DENIED = (1, 13)
_DAEMONS = ("nv-fabricmanager", "nv-fabricmanage", "nvidia-imex")
_PROCESSORS = "/proc/cpuinfo"
_SOCKETS = ("/proc/net/tcp", "/proc/net/tcp6")


class RecordingFiles:
    """Files that remember what they answered.

    Args:
        inner: The machine's own.
    """

    def __init__(self, inner: Files) -> None:
        self._inner = inner
        self.texts: dict[str, Any] = {}
        self.links: dict[str, str] = {}
        self.host: dict[str, Any] = {}
        self.variables: dict[str, str] = {}

    def read(self, path: str) -> str:
        """As the machine answers."""
        try:
            text = self._inner.read(path)
        except OSError as error:
            self._refused(path, error)
            raise
        if path == _PROCESSORS:
            # One processor tells what facts are made of; the others repeat it.
            self._put(path, text.partition("\n\n")[0] + "\n")
        elif path in _SOCKETS:
            self._put(path, _listening(text))
        elif not path.startswith("/proc/") or not path.endswith("/comm") or text.strip() in _DAEMONS:
            self._put(path, text)
        return text

    def read_bytes(self, path: str, limit: int) -> bytes:
        """As the machine answers."""
        try:
            raw = self._inner.read_bytes(path, limit)
        except OSError as error:
            self._refused(path, error)
            raise
        self._put(path, {"hex": raw.hex()})
        return raw

    def names(self, path: str) -> tuple[str, ...]:
        """As the machine answers."""
        found = self._inner.names(path)
        if path == "/proc":
            if any(name.isdecimal() for name in found):
                # That processes are seen at all.
                self._there("/proc/1/.")
        else:
            for folder in (path, self._place(path)):
                for name in found or (".",):
                    self._there(posixpath.join(folder, name))
        return found

    def real(self, path: str) -> str:
        """As the machine answers."""
        found = self._inner.real(path)
        if found != path:
            self.links[path] = found
            # Where a link lies in a folder that is reached by another link.
            beside = posixpath.join(self._place(posixpath.dirname(path)), posixpath.basename(path))
            if beside != found:
                self.links[beside] = found
        self._there(posixpath.join(found, "."))
        return found

    def link(self, path: str) -> str:
        """As the machine answers."""
        found = self.links[path] = self._inner.link(path)
        return found

    def exists(self, path: str) -> bool:
        """As the machine answers."""
        found = self._inner.exists(path)
        if found:
            self._there(path)
        return found

    def space(self, path: str) -> int:
        """As the machine answers."""
        found = self._inner.space(path)
        self.host["shm_GiB"] = found / (1 << 30)
        return found

    def environment(self) -> Mapping[str, str]:
        """As the machine answers."""
        found = self._inner.environment()
        self.variables = {name: value for name, value in found.items() if is_setting(name)}
        return found

    def package(self, name: str) -> str | None:
        """As the machine answers."""
        found = self._inner.package(name)
        if found is not None:
            self.host.setdefault("packages", {})[name] = found
        return found

    def kernel_log(self) -> str:
        """As the machine answers."""
        text = self._inner.kernel_log()
        # One line that says nothing: a log that was read and is clean is not an empty one.
        self.host["log"] = "\n".join(("read, and shortened", *telling_lines(text))) if text else ""
        return text

    def _put(self, path: str, text: Any) -> None:
        """Under its name and where it really is: which links are asked for later is not known yet."""
        self.texts[path] = self.texts[self._place(path)] = text

    def _place(self, path: str) -> str:
        if path.startswith("/proc/"):
            # `/proc/self` is another process each time.
            return path
        try:
            return self._inner.real(path)
        except OSError:
            return path

    def _there(self, path: str) -> None:
        self.texts.setdefault(path, None)

    def _refused(self, path: str, error: OSError) -> None:
        if error.errno in _DENIED:
            self._put(path, {"denied": True})


class RecordingNvml:
    """Calls that are remembered with their answers.

    Args:
        inner: The machine's own.
    """

    def __init__(self, inner: Nvml) -> None:
        self._inner = inner
        self.answers: dict[tuple[str, tuple[int, ...]], Any] = {}
        self.fails: int | None = None

    def open(self) -> None:
        """As the machine answers."""
        try:
            self._inner.open()
        except NvmlRefused as refused:
            self.fails = refused.code
            raise

    def close(self) -> None:
        """As the machine does."""
        self._inner.close()

    def xids(self) -> list[tuple[int, int]]:
        """As the machine answers."""
        return self._inner.xids()

    def ask(self, call: str, *arguments: int) -> Any:
        """As the machine answers."""
        try:
            found = self._inner.ask(call, *arguments)
        except NvmlRefused as refused:
            self.answers[call, arguments] = refused
            raise
        self.answers[call, arguments] = found
        return found

    def fields(self, gpu: int, numbers: tuple[Field, ...]) -> dict[Field, int | float | NvmlRefused]:
        """As the machine answers."""
        found = self._inner.fields(gpu, numbers)
        for number, value in found.items():
            place = (number,) if isinstance(number, int) else number
            self.answers["field", (gpu, *place)] = value
        return found


def _listening(text: str) -> str:
    """The head, and the line of the fabric manager's port; nobody is told with whom this machine talks."""
    head, *lines = text.splitlines() or [""]
    port = f":{FABRIC_PORT:04X} "
    return "\n".join([head, *(line for line in lines if port in line[:32] and " 0A " in line)]) + "\n"


def machine_text(machine: Machine, files: RecordingFiles, nvml: RecordingNvml) -> str:
    """The file of a machine that was read through the two."""
    title = f"{machine.title}, recorded"
    lines = [
        f"title = {_value(title)}",
        'about = "What a machine answered when it was read."',
        "recorded = true",
    ]
    driver = machine.host.value("driver.version")
    lines += [f"driver = {_value(driver)}"] if driver else []
    for gpu in machine.gpus:
        memory = gpu.facts.value("memory")
        lines += [
            "",
            "[[gpu]]",
            f"name = {_value(gpu.name)}",
            f"uuid = {_value(gpu.uuid)}",
            f"bus = {_value(gpu.bdf)}",
        ]
        lines += [f"memory_GiB = {memory / (1 << 30)!r}"] if memory else []
    lines += _table("host", files.host)
    lines += _table("environment", files.variables)
    lines += _table("files", {path: "" if text is None else text for path, text in files.texts.items()})
    lines += _table("symlinks", files.links)
    if nvml.fails is not None:
        lines += ["", "[nvml]", f"fails = {nvml.fails}"]
    for (call, arguments), answer in sorted(nvml.answers.items(), key=lambda one: one[0]):
        lines += ["", "[[answer]]", f"call = {_value(call)}", f"arguments = {_value(arguments)}"]
        told = f"error = {answer.code}" if isinstance(answer, NvmlRefused) else f"value = {_value(answer)}"
        lines.append(told)
    return "\n".join(lines) + "\n"


def _table(name: str, values: Mapping[str, Any]) -> list[str]:
    return (
        ["", f"[{name}]", *(f"{_value(key)} = {_value(values[key])}" for key in sorted(values))] if values else []
    )


def _value(value: Any) -> str:
    """A value as TOML writes it; what is None is left out of tables."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, Mapping):
        inside = ", ".join(f"{_value(str(key))} = {_value(one)}" for key, one in value.items() if one is not None)
        return f"{{{inside}}}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(_value(one) for one in value)}]"
    return repr(value)
