"""Speaks with the RAS thread of NCCL (2.24 and later): one line a command, one connection a question.

Protocol: NCCL's documentation, "RAS", and src/ras/client.cc: `TIMEOUT n` and `SET FORMAT json` (2.28.7 and later)
are answered `OK`, `VERBOSE STATUS` by the report, after which the server closes. What it does not know it answers
with `ERROR`. Any rank's thread answers; it collects from all others, for which it waits as long as it was told.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from ladder_backends.ranks.refusal import refusal
from ladder_backends.text import clean_line

DEFAULT_ADDRESS = "localhost:28028"
_LARGEST = 64 << 20
_OK = b"OK"


class RasSilent(Exception):
    """RAS does not answer; the text is a clause."""


@dataclass(frozen=True, slots=True)
class RasReport:
    """One answer.

    Attributes:
        text: The report, not clean.
        is_json: Its form.
    """

    text: str
    is_json: bool


def read_address(text: str) -> tuple[str, int]:
    """Host and port of `NCCL_RAS_ADDR`: `host:port`, `[address]:port`; this host where it names none.

    Raises:
        RasSilent: It is no address.
    """
    host, colon, port = text.strip().rpartition(":")
    if not colon or not (port.isascii() and port.isdecimal()) or not 0 < int(port[:6]) < 1 << 16:
        raise RasSilent(f"NCCL_RAS_ADDR is no address: {clean_line(text)[:80]}")
    return host.strip("[]") or "localhost", int(port)


async def ask(host: str, port: int, *, collect: int = 3) -> RasReport:
    """The verbose status, as JSON where the server can, else as text.

    Args:
        host: Where it listens.
        port: There.
        collect: Seconds that RAS may wait for ranks that do not answer it.

    Raises:
        RasSilent: Nobody listens, or there is no answer.
    """
    try:
        async with asyncio.timeout(2 * collect + 2):
            answer = await _converse(host, port, collect, as_json=True)
            if answer is None:
                answer = await _converse(host, port, collect, as_json=False)
    except TimeoutError:
        raise RasSilent(f"RAS at {host}:{port} does not answer within {2 * collect + 2} s") from None
    except (OSError, UnicodeError) as error:
        raise RasSilent(f"nobody answers at {clean_line(host)}:{port}: {refusal(error)}") from None
    except asyncio.IncompleteReadError:
        raise RasSilent(f"what listens at {clean_line(host)}:{port} closed the connection") from None
    except ValueError as error:
        raise RasSilent(f"what listens at {clean_line(host)}:{port} is no RAS: {error}") from None
    if answer is None:
        raise RasSilent(f"what listens at {clean_line(host)}:{port} answers no status")
    return answer


async def _converse(host: str, port: int, collect: int, *, as_json: bool) -> RasReport | None:
    reader, writer = await asyncio.open_connection(host, port)
    try:
        for command in (f"TIMEOUT {collect}", *(["SET FORMAT json"] if as_json else [])):
            writer.write(f"{command}\n".encode())
            await writer.drain()
            line = await _line(reader)
            if not line.startswith(_OK) and as_json and command.startswith("SET"):
                return None
        writer.write(b"VERBOSE STATUS\n")
        await writer.drain()
        raw = bytearray()
        while chunk := await reader.read(1 << 16):
            raw += chunk
            if len(raw) > _LARGEST:
                raise ValueError("it does not stop")
        if not raw.strip():
            return None
        return RasReport(raw.decode("utf-8", "backslashreplace"), raw.lstrip().startswith((b"{", b"[")))
    finally:
        writer.close()


async def _line(reader: asyncio.StreamReader) -> bytes:
    line = await reader.readline()
    if not line:
        raise asyncio.IncompleteReadError(line, 1)
    return line
