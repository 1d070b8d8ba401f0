"""Record the demo `segfault` under a real gdb, for the screens that are drawn from a recording.

`python tests/tui/record_segfault.py` writes `recordings/segfault.jsonl` beside it.
"""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from dataclasses import replace
from pathlib import Path

from ladder_backends.debugger.target import LaunchTarget
from ladder_backends.recording import read_recording
from ladder_backends.recording.file import entry_line, header_line
from ladder_backends.session.debug_session import DebugSession
from ladder_backends.session.engines import Engines
from ladder_demos.catalogue import find_demo
from ladder_demos.compile import compile_demo

RECORDING = Path(__file__).parent / "recordings" / "segfault.jsonl"
HOME = b"/home/user/segfault"
"""Where the program seems to have been built, whatever the folder."""

MOST_ROWS = 60


async def record(program: Path, file: Path) -> None:
    session = DebugSession(Engines(file).make("gdb"))
    try:
        await session.open(LaunchTarget(program))
        await session.at_rest()
        # How many frames a screen asks for depends on its size.
        for rows in range(1, MOST_ROWS + 1):
            await session.debugger.frames(0, rows)
        for level in (1, 0):
            await session.select_frame(level)
        await session.load_disassembly(64)
    finally:
        await session.close()


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder, raw = Path(name), Path(name) / "raw.jsonl"
        built = compile_demo(find_demo("segfault"))
        program = shutil.copy(built, folder / "segfault")
        asyncio.run(record(Path(program), raw))
        recording = read_recording(raw)
        named = {str(folder).encode(): HOME, str(built.parent).encode(): HOME}
        lines = [header_line("gdb", recording.version, ["gdb", "-nx", "-q"])]
        for entry in recording.entries:
            chunk = entry.raw
            for found, instead in named.items():
                chunk = chunk.replace(found, instead)
            if not (entry.sent and b"set environment" in chunk):
                lines.append(entry_line(replace(entry, raw=chunk)))
        RECORDING.write_bytes(b"".join(lines))


if __name__ == "__main__":
    main()
