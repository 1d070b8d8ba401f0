"""Which files of a name lie below the source roots; one bounded walk, remembered."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

MOST_ENTRIES = 40_000
"""Directory entries that one walk looks at before it gives up."""

_DEEPEST = 12
_SKIPPED = frozenset(
    {".git", ".hg", ".svn", ".jj", "node_modules", "__pycache__", ".venv", "venv", ".tox", ".nox", "site-packages"}
    | {".mypy_cache", ".ruff_cache", ".pytest_cache", ".cache", ".local", ".cargo", ".rustup", ".conda", ".npm"}
)
_KERNEL_FOLDERS = frozenset({"/proc", "/sys", "/dev", "/run"})


class SourceIndex:
    """Files below the roots by their basename.

    Attributes:
        cut: The walk ended at its limit, so that there may be files it does not know.
    """

    def __init__(self, roots: Iterable[Path]) -> None:
        self._roots = tuple(roots)
        self._files: dict[str, list[Path]] | None = None
        self.cut = False

    def build(self) -> None:
        """Walk the roots, nearest folders first; may take some tenths of a second, so not on an event loop."""
        files: dict[str, list[Path]] = {}
        left = MOST_ENTRIES
        seen: set[tuple[int, int]] = set()
        waiting: deque[tuple[str, int]] = deque((str(root), 0) for root in self._roots)
        while waiting:
            folder, depth = waiting.popleft()
            try:
                status = os.stat(folder)
                if (status.st_dev, status.st_ino) in seen:
                    continue
                seen.add((status.st_dev, status.st_ino))
                with os.scandir(folder) as entries:
                    for entry in entries:
                        left -= 1
                        if left < 0:
                            self.cut = True
                            break
                        if entry.is_dir(follow_symlinks=False):
                            if (
                                depth < _DEEPEST
                                and entry.name not in _SKIPPED
                                and entry.path not in _KERNEL_FOLDERS
                            ):
                                waiting.append((entry.path, depth + 1))
                        elif entry.is_file():
                            files.setdefault(entry.name, []).append(Path(entry.path))
            except (OSError, ValueError):
                # A folder that is missing or locked holds nothing for us.
                continue
            if self.cut:
                break
        self._files = files

    def files(self) -> tuple[Path, ...]:
        """Every file, nearest folders first; call `build` on a thread before."""
        if self._files is None:
            self.build()
        return tuple(path for paths in (self._files or {}).values() for path in paths)

    def named(self, name: str) -> tuple[Path, ...]:
        """Files with that basename, each file once however many ways lead to it."""
        if self._files is None:
            self.build()
        assert self._files is not None
        distinct: dict[Path, Path] = {}
        for path in self._files.get(name, ()):
            try:
                distinct.setdefault(path.resolve(), path)
            except (OSError, RuntimeError):
                continue
        return tuple(distinct.values())


def shared_tail(path: PurePosixPath, wanted: PurePosixPath) -> int:
    """How many components two paths share at their ends."""
    count = 0
    for one, other in zip(reversed(path.parts), reversed(wanted.parts), strict=False):
        if one != other or one == "/":
            break
        count += 1
    return count
