"""What of a GPU's work stops the target by itself: launches of kernels, and calls of the driver that fail."""

from __future__ import annotations

import abc
import enum


class LaunchStops(enum.StrEnum):
    """Launches at which the target stops, on the first instruction of the kernel."""

    NONE = "none"
    APPLICATION = "application"
    SYSTEM = "system"
    ALL = "all"


class ApiFailures(enum.StrEnum):
    """What happens when a call of the driver fails: fatal errors alone, or any with `_all`."""

    IGNORE = "ignore"
    STOP = "stop"
    HIDE = "hide"
    IGNORE_ALL = "ignore_all"
    STOP_ALL = "stop_all"


class DeviceStops(abc.ABC):
    """Settings of an engine on a GPU; they hold from the next launch or call on.

    Attributes:
        launches: What was chosen last.
        failures: What was chosen last.
    """

    launches: LaunchStops = LaunchStops.NONE
    failures: ApiFailures = ApiFailures.IGNORE

    @abc.abstractmethod
    async def at_launch(self, which: LaunchStops) -> None:
        """Stop at these launches from now on."""

    @abc.abstractmethod
    async def at_failure(self, what: ApiFailures) -> None:
        """Do this at failing calls from now on."""

    @abc.abstractmethod
    def concerns(self, setting: str) -> bool:
        """Whether a setting of the engine, by its name there, is one of these."""
