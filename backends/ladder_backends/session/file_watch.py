"""Tells when something happened to a few files.

Folders are watched, not the files: editors and linkers put new files in the place of old ones. Only the folders
that hold the files are, never what lies below them. Where the system has no more watches to give, or the files lie
on another machine, whose changes this one is not told of, they are looked at every few seconds instead.
"""

from __future__ import annotations

import asyncio
import importlib
import os
import re
from collections.abc import Callable, Iterable
from pathlib import Path

from ladder_backends.paths import current_folder

POLL_SECONDS = 2.0
"""Seconds between two looks where changes are not told."""

_STEP, _DEBOUNCE = 100, 400
"""Milliseconds between two looks of the watching thread, and up to which changes are put together."""
_SAFETY = 10_000
"""Milliseconds after which is looked although nothing was told: a folder may have been replaced."""

_REMOTE = frozenset(
    (
        *("9p", "afs", "autofs", "beegfs", "ceph", "cifs", "coda", "fuse", "glusterfs", "gpfs", "lustre", "ncpfs"),
        *("nfs", "nfs4", "pvfs2", "smb3", "smbfs", "virtiofs"),
    )
)


class FileWatch:
    """Calls `changed` after something happened in the folders of the files it follows; not each time it matters.

    Attributes:
        how: `events`, `polling`, or an empty string where nothing is watched.
    """

    def __init__(self, changed: Callable[[], None]) -> None:
        self.how = ""
        self._changed = changed
        self._names: frozenset[str] = frozenset()
        self._folders: frozenset[str] = frozenset()
        self._moved = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def follow(self, files: Iterable[Path]) -> None:
        """Watch these files, and no others any more."""
        spelled = [text for file in files for text in _spellings(file)]
        self._names = frozenset(spelled)
        folders = frozenset(os.path.dirname(text) for text in spelled)
        if folders == self._folders:
            return
        self._folders = folders
        self._moved.set()
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._watch())

    async def stop(self) -> None:
        """Watch nothing any more."""
        self._folders, self._names, self.how = frozenset(), frozenset(), ""
        self._moved.set()
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.wait({task})

    async def _watch(self) -> None:
        told = True
        while self._folders:
            self._moved.clear()
            folders, remote = await asyncio.to_thread(_look_at, self._folders)
            told = told and bool(folders) and not remote
            self.how = "events" if told else "polling"
            if told:
                told = await self._by_events(folders)
            else:
                await self._by_polling()
            self._changed()

    async def _by_events(self, folders: list[str]) -> bool:
        """Until other folders are to be watched; False where this cannot be done."""
        # Imported only where something is watched: it costs as much as a fifth of the start.
        awatch = (await asyncio.to_thread(importlib.import_module, "watchfiles")).awatch
        inodes = _inodes(folders)
        # At the first wait the watches are there: what changed until then is told by nobody.
        asyncio.get_running_loop().call_soon(self._changed)
        try:
            async for _ in awatch(
                *folders,
                watch_filter=lambda change, path: path in self._names,
                step=_STEP,
                debounce=_DEBOUNCE,
                rust_timeout=_SAFETY,
                yield_on_timeout=True,
                recursive=False,
                stop_event=self._moved,
            ):
                self._changed()
                if _inodes(folders) != inodes:
                    return True
        except FileNotFoundError:
            # A folder went away between two looks: begin again without it.
            await asyncio.sleep(POLL_SECONDS)
        except (OSError, RuntimeError):
            # `fs.inotify.max_user_watches` or `max_user_instances` is used up.
            return False
        return True

    async def _by_polling(self) -> None:
        while not self._moved.is_set():
            try:
                await asyncio.wait_for(self._moved.wait(), POLL_SECONDS)
            except TimeoutError:
                self._changed()


def _spellings(file: Path) -> tuple[str, ...]:
    """A file as it is called, and where that is a link, what it stands for."""
    name = os.path.normpath(current_folder() / file)
    return tuple(dict.fromkeys((name, os.path.realpath(name))))


def _inodes(folders: Iterable[str]) -> list[int]:
    def inode(folder: str) -> int:
        try:
            return os.stat(folder).st_ino
        except OSError:
            return 0

    return [inode(folder) for folder in folders]


def _look_at(folders: Iterable[str]) -> tuple[list[str], bool]:
    """Those of the folders that are there, and whether one of them is remote."""
    there = [folder for folder in folders if os.path.isdir(folder)]
    return there, _any_remote(there)


def _any_remote(folders: Iterable[str]) -> bool:
    """Whether a folder lies on a file system whose changes may be made by other machines."""
    try:
        table = Path("/proc/self/mountinfo").read_text("utf-8", "surrogateescape")
    except OSError:
        return False
    return any(kind.split(".")[0] in _REMOTE for kind in _kinds(table, folders))


def _kinds(mounts: str, folders: Iterable[str]) -> list[str]:
    """The kinds of file systems that folders lie on, by the text of `mountinfo` (proc(5))."""
    kinds: dict[str, str] = {}
    for line in mounts.splitlines():
        before, _, after = line.partition(" - ")
        fields = before.split()
        if len(fields) > 4 and after:
            # A blank in a path is written as an octal number.
            mount = re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), fields[4])
            kinds[mount] = after.split()[0]
    return [kinds.get(_mount_of(os.path.realpath(folder), kinds), "") for folder in folders]


def _mount_of(folder: str, mounts: Iterable[str]) -> str:
    above = [one for one in mounts if folder == one or folder.startswith(one.rstrip("/") + "/")]
    return max(above, key=len, default="")
