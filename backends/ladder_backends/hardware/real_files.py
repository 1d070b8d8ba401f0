"""The files of the machine that this runs on."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping

_MOST = 1 << 20
_LOG_SECONDS = 2.0
_LOG_BYTES = 8 << 20


class RealFiles:
    """Reads below a root, bounded; nothing is ever written.

    Args:
        root: Put before every path: `/` here, `/host` where a container has the host's tree there.
    """

    def __init__(self, root: str = "/") -> None:
        self._root = root.rstrip("/")

    def read(self, path: str) -> str:
        """The whole text of a small file."""
        return self.read_bytes(path, _MOST).decode("utf-8", "backslashreplace")

    def read_bytes(self, path: str, limit: int) -> bytes:
        """Up to `limit` bytes of a file."""
        descriptor = os.open(self._root + path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        try:
            parts, left = [], limit
            while left > 0 and (part := os.read(descriptor, left)):
                parts.append(part)
                left -= len(part)
            return b"".join(parts)
        finally:
            os.close(descriptor)

    def names(self, path: str) -> tuple[str, ...]:
        """What lies in a folder, sorted."""
        return tuple(sorted(os.listdir(self._root + path)))

    def real(self, path: str) -> str:
        """The path with all links followed; it has to exist."""
        found = os.path.realpath(self._root + path, strict=True)
        return found.removeprefix(self._root)

    def link(self, path: str) -> str:
        """What a link says, as it stands."""
        return os.readlink(self._root + path)

    def exists(self, path: str) -> bool:
        """Whether there is anything."""
        return os.path.lexists(self._root + path)

    def space(self, path: str) -> int:
        """Bytes of the file system that a folder lies on."""
        found = os.statvfs(self._root + path)
        return found.f_frsize * found.f_blocks

    def environment(self) -> Mapping[str, str]:
        """Environment variables of this process."""
        return os.environ

    def package(self, name: str) -> str | None:
        """Version of a Python package beside this one, which is not imported for it."""
        from importlib.metadata import PackageNotFoundError, version

        try:
            return version(name)
        except PackageNotFoundError:
            return None

    def kernel_log(self) -> str:
        """The records of `/dev/kmsg`, one a line, without their heads; it is not consumed by reading."""
        descriptor = os.open(self._root + "/dev/kmsg", os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        lines: list[str] = []
        size, until = 0, time.monotonic() + _LOG_SECONDS
        try:
            while size < _LOG_BYTES and time.monotonic() < until:
                try:
                    record = os.read(descriptor, 8192)
                except BlockingIOError:
                    break
                except BrokenPipeError:
                    # The buffer went round under us: the next read goes on behind the gap.
                    continue
                if not record:
                    break
                size += len(record)
                _, _, text = record.partition(b";")
                lines.append(text.partition(b"\n")[0].decode("utf-8", "backslashreplace"))
        finally:
            os.close(descriptor)
        return "\n".join(lines)
