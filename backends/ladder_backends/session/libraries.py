"""Shared libraries, while they are looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ladder_backends.errors import LadderError
from ladder_backends.session.state import Change
from ladder_backends.session.why_none import why_none

if TYPE_CHECKING:
    from ladder_backends.debugger.facets import Libraries
    from ladder_backends.session.debug_session import DebugSession


class LibraryList:
    """Keeps the list while it is looked at."""

    def __init__(self, session: DebugSession) -> None:
        self._session = session

    async def look(self) -> None:
        """Read the list."""
        session = self._session
        state, facet = session.state.machine.libraries, session.debugger.libraries
        if facet is None:
            state.note = "this engine lists no libraries"
        else:
            try:
                state.libraries = tuple(await facet.list())
                state.automatic = await facet.reads_new()
                state.note = ""
            except LadderError as error:
                state.note = why_none(error)
        session.tell(Change.MACHINE)

    async def read_symbols(self, path: str) -> None:
        """Read the symbols of one library; stack and source are looked at again with them.

        Raises:
            LadderError: The engine refused, or took too long.
        """
        facet = self._session.debugger.libraries
        if facet is not None:
            await facet.read_symbols(path)
            await self._read(facet)

    async def read_matching(self, pattern: str) -> None:
        """Read the symbols of all libraries whose path matches.

        Raises:
            LadderError: The engine refused, or took too long.
        """
        facet = self._session.debugger.libraries
        if facet is not None:
            before = {one.path for one in self._session.state.machine.libraries.libraries if one.symbols}
            await facet.read_matching(pattern)
            await self._read(facet)
            now = {one.path for one in self._session.state.machine.libraries.libraries if one.symbols}
            fresh = len(now - before)
            self._session.notice(f"symbols of {fresh} more {'library' if fresh == 1 else 'libraries'} are read")

    async def read_new(self, on: bool) -> None:
        """Read symbols as soon as a library is loaded, or only when asked to.

        Raises:
            LadderError: The engine refused.
        """
        facet = self._session.debugger.libraries
        if facet is not None:
            await facet.read_new(on)
            await self.look()

    async def _read(self, facet: Libraries) -> None:
        await self.look()
        self._session.look_again()
