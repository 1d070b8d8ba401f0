"""The program's file, which may be built again while it is debugged."""

from __future__ import annotations

import abc


class Build(abc.ABC):
    """What the engine knows of the program's file."""

    @abc.abstractmethod
    async def read_again(self) -> None:
        """Read the program's symbols again; a process that was started from the file before is ended.

        Engines look for a newer file when they start a program, but some compare whole seconds only, and all of
        them set breakpoints before anybody can move these to where their lines are now.

        Raises:
            CommandFailed: The engine cannot read the file; it then knows what it knew.
        """
