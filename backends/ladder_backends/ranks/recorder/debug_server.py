"""Asks torch's debug server of each rank for its flight recorder, past the job's own web page.

`torch.distributed.debug.start_debug_server` lets each rank listen, and puts `http://HOST:PORT` into the job's store
as `debug_server/rankN` (torch/distributed/debug/__init__.py, torch 2.10 to 2.14). A POST to
`/handler/fr_trace_json` answers what gloo recorded, `/handler/dump_nccl_trace_json` what NCCL did. A thread of the
rank's own answers.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping

from ladder_backends.ranks.recorder.store import StoreUnreadable, read_keys
from ladder_backends.ranks.refusal import refusal
from ladder_backends.text import clean_line

_KEY = "debug_server/rank{}"
_ADDRESS = re.compile(rb"http://\[?([\w.:\-]{1,253}?)\]?:(\d{1,5})/?")
_HANDLERS = ("fr_trace_json", "dump_nccl_trace_json")
_LARGEST_ANSWER = 64 << 20
_AT_ONCE = 32


class ServerSilent(Exception):
    """A rank's server does not answer; the text is a clause."""


async def find_servers(host: str, port: int, ranks: list[int]) -> dict[int, tuple[str, int]]:
    """Where each rank's debug server listens, as the job's store tells; empty where the job has none.

    Raises:
        StoreUnreadable: The store cannot be asked.
    """
    # One is asked first: a job without the server costs one question.
    if not ranks:
        return {}
    first = _KEY.format(ranks[0])
    rest = [_KEY.format(rank) for rank in ranks[1:]]
    told: Mapping[str, bytes] = await read_keys(host, port, [first, *rest[:1]])
    if not told:
        return {}
    told = {**told, **await read_keys(host, port, rest[1:])} if rest[1:] else told
    found: dict[int, tuple[str, int]] = {}
    for rank in ranks:
        match = _ADDRESS.fullmatch(told.get(_KEY.format(rank), b"").strip())
        if match is not None and 0 < int(match[2]) < 1 << 16:
            found[rank] = (match[1].decode("ascii"), int(match[2]))
    return found


async def ask_servers(
    servers: Mapping[int, tuple[str, int]], deadline: float = 3.0
) -> tuple[dict[int, list[bytes]], dict[int, str]]:
    """The dumps that each rank's server gives, as JSON, and why others gave none."""
    slots = asyncio.Semaphore(_AT_ONCE)
    answers: dict[int, list[bytes]] = {}
    silent: dict[int, str] = {}

    async def one(rank: int, place: tuple[str, int]) -> None:
        async with slots:
            got = []
            why = ""
            for handler in _HANDLERS:
                try:
                    got.append(await post(*place, f"/handler/{handler}", deadline))
                except ServerSilent as error:
                    why = why or str(error)
            if got:
                answers[rank] = got
            else:
                silent[rank] = why

    await asyncio.gather(*(one(rank, place) for rank, place in servers.items()))
    return answers, silent


async def post(host: str, port: int, path: str, deadline: float) -> bytes:
    """The body of an answer with status 200.

    Raises:
        ServerSilent: There is none.
    """
    where = clean_line(f"{host}:{port}")
    try:
        async with asyncio.timeout(deadline):
            reader, writer = await asyncio.open_connection(host, port)
            try:
                request = f"POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
                writer.write(request.encode("ascii"))
                await writer.drain()
                return await _body(reader)
            finally:
                writer.close()
    except TimeoutError:
        raise ServerSilent(f"its debug server at {where} does not answer within {deadline:g} s") from None
    except (OSError, UnicodeError) as error:
        raise ServerSilent(f"its debug server at {where} cannot be asked: {refusal(error)}") from None
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, ValueError) as error:
        raise ServerSilent(f"its debug server at {where} gives no dump: {clean_line(str(error))[:80]}") from None


async def _body(reader: asyncio.StreamReader) -> bytes:
    head = await reader.readuntil(b"\r\n\r\n")
    status = head.split(None, 2)[1:2]
    pairs = (line.partition(b":") for line in head.split(b"\r\n")[1:])
    fields = {name.strip().lower(): value.strip() for name, _, value in pairs}
    if status != [b"200"]:
        raise ValueError(f"status {status[0].decode('ascii', 'replace') if status else 'none'}")
    if fields.get(b"transfer-encoding", b"").lower() == b"chunked":
        return await _chunks(reader)
    length = fields.get(b"content-length", b"")
    if not length.isdigit():
        body = await reader.read(_LARGEST_ANSWER)
        while more := await reader.read(1 << 16):
            body += more
            if len(body) > _LARGEST_ANSWER:
                raise ValueError("more than a dump")
        return body
    if int(length) > _LARGEST_ANSWER:
        raise ValueError("more than a dump")
    return await reader.readexactly(int(length))


async def _chunks(reader: asyncio.StreamReader) -> bytes:
    body = bytearray()
    while True:
        size = int((await reader.readline()).split(b";")[0].strip() or b"0", 16)
        if not 0 <= size <= _LARGEST_ANSWER - len(body):
            raise ValueError("more than a dump")
        if not size:
            return bytes(body)
        body += await reader.readexactly(size)
        await reader.readexactly(2)


__all__ = ["ServerSilent", "StoreUnreadable", "ask_servers", "find_servers", "post"]
