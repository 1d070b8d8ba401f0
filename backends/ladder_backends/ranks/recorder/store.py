"""Asks a torch job's TCPStore for a key, as any of its clients does: nothing is set, nothing waits.

Protocol: torch/csrc/distributed/c10d/TCPStoreBackend.hpp, unchanged since torch 2.1: a byte for the query, sizes as
64-bit and strings with their size before them, all little endian. A key that is not there is asked for with CHECK,
since GET would wait for it.
"""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Sequence

from ladder_backends.ranks.refusal import refusal

_VALIDATE, _GET, _CHECK = 0, 3, 5
_MAGIC = 0x3C85F7CE
_READY = 0
_LARGEST_VALUE = 1 << 20
_OWN_PREFIX = "/"
"""What TCPStore itself puts before every key."""


class StoreUnreadable(Exception):
    """The store does not answer, or not as one; the text is a clause."""


async def read_keys(host: str, port: int, keys: Sequence[str], deadline: float = 2.0) -> dict[str, bytes]:
    """The values of those keys that are set.

    Raises:
        StoreUnreadable: Nobody listens there, it is no such store, or it does not answer in time.
    """
    try:
        async with asyncio.timeout(deadline):
            reader, writer = await asyncio.open_connection(host, port)
            try:
                return await _ask(reader, writer, keys)
            finally:
                writer.close()
    except TimeoutError:
        raise StoreUnreadable(f"the job's store at {host}:{port} does not answer within {deadline:g} s") from None
    except (OSError, UnicodeError) as error:
        raise StoreUnreadable(f"the job's store at {host}:{port} cannot be asked: {refusal(error)}") from None
    except (asyncio.IncompleteReadError, ValueError):
        raise StoreUnreadable(f"what listens at {host}:{port} is no store of torch") from None


async def _ask(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, keys: Sequence[str]) -> dict[str, bytes]:
    writer.write(struct.pack("<BI", _VALIDATE, _MAGIC))
    found: dict[str, bytes] = {}
    for key in keys:
        name = (_OWN_PREFIX + key).encode()
        writer.write(struct.pack("<BQQ", _CHECK, 1, len(name)) + name)
        await writer.drain()
        (answer,) = await reader.readexactly(1)
        if answer > 1:
            raise ValueError("no answer to CHECK")
        if answer != _READY:
            continue
        writer.write(struct.pack("<BQ", _GET, len(name)) + name)
        await writer.drain()
        (size,) = struct.unpack("<Q", await reader.readexactly(8))
        if size > _LARGEST_VALUE:
            raise ValueError("a value beyond bounds")
        found[key] = await reader.readexactly(size)
    return found
