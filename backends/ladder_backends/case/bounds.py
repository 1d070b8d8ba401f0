"""How much a case may hold. Cases come from strangers."""

from __future__ import annotations

MAX_MEMBERS = 256
"""Members of the archive."""

MAX_TABLE_BYTES = 1 << 20
"""Size of `case.json`."""

MAX_PART_BYTES = 4 << 30
"""Unpacked size of one part, in bytes."""

MAX_TOTAL_BYTES = 8 << 30
"""Unpacked size of all parts, in bytes."""

MAX_UNPACKED_DUMP_BYTES = 32 << 30
"""Size of a dump once its xz layer is off, in bytes."""

MAX_RATIO = 200
"""Unpacked over packed size of a member larger than `RATIO_FREE_BYTES`; text reaches about 30."""

RATIO_FREE_BYTES = 4 << 20
"""Members up to this size, in bytes, may have any ratio."""

MAX_NAME_CHARACTERS = 240
"""Length of a member's name."""
