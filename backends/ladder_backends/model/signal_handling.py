"""What the engine does about a signal, and what is known of one that came."""

from __future__ import annotations

from ladder_backends.late_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class SignalHandling:
    """One row of the engine's table.

    Attributes:
        stops: The target stops when it arrives.
        prints: It is told of.
        passes: The program sees it.
        description: `Segmentation fault`.
    """

    name: str
    stops: bool
    prints: bool
    passes: bool
    description: str = ""


@dataclass(frozen=True, slots=True)
class SignalCause:
    """Why a signal came, as the system told the process (`siginfo_t`).

    Attributes:
        number: Of the signal.
        words: The cause in a person's words: `address 0x0 is not mapped`, `sent by process 812`; may be empty.
        address: What was touched, or None where the signal is not about an address.
    """

    number: int
    words: str = ""
    address: int | None = None
