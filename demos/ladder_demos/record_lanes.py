"""Record, with a real cuda-gdb, every lane that a case's dump holds, and put the recording into the case.

`python -m ladder_demos.record_lanes CASE.ladder...`; where cuda-gdb is not installed, demos answer from it.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
import zipfile
from pathlib import Path

from ladder_backends.case import Case, NewPart, Origin, Role, open_files, read_case, write_case
from ladder_backends.cuda_gdb import CudaGdbDebugger
from ladder_backends.debugger.facets import DeviceMap
from ladder_backends.debugger.target import GpuDumpTarget
from ladder_backends.mi.pty_transport import PtyTransport
from ladder_backends.mi.transport import EngineCommand, Transport
from ladder_backends.model.focus import Focus
from ladder_backends.model.grid import delinear, linear
from ladder_backends.recording import Recorder, read_recording
from ladder_backends.recording.file import entry_line, header_line
from ladder_backends.session.debug_session import DebugSession
from ladder_backends.session.jump import FRAMES, VARIABLES, jump

_INSTRUCTIONS = 200
_MOST_LANES = 512


def record_case(file: Path) -> int:
    """Record a case's lanes and write the case anew with the recording in it; returns the number of lanes."""
    case = read_case(file)
    opened = open_files([file])
    if opened.dump is None:
        return 0
    target = GpuDumpTarget(opened.dump, opened.executable)
    version = CudaGdbDebugger.probe().version
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        recording = folder / f"{file.stem}.jsonl"
        lanes = asyncio.run(_record(target, recording, version))
        _forget_folders(recording)
        parts = [_copied(case, part.name, folder) for part in case.parts if part.role != Role.RECORDING]
        origin = Origin(tool="cuda-gdb", version=version)
        write_case(file, case.title, [*parts, NewPart(recording, Role.RECORDING, origin=origin)], case.note)
    return lanes


async def _record(target: GpuDumpTarget, recording: Path, version: str) -> int:
    def transport(command: EngineCommand) -> Transport:
        # The header names the engine, not where it lies on the machine that recorded it.
        return Recorder(PtyTransport(command), recording, argv=("cuda-gdb", target.dump.name), version=version)

    debugger = CudaGdbDebugger(transport)
    session = DebugSession(debugger)
    session.show_rows(frames=FRAMES, variables=VARIABLES)
    try:
        await session.open(target)
        await session.at_rest()
        lanes = await _lanes(debugger)
        if debugger.device_map is not None:
            await _ask_hardware(debugger.device_map)
        for asked in lanes:
            outcome = await jump(debugger, asked)
            assert outcome.reached is not None, outcome.reason
            session.show_jump(outcome)
            # The screen asks anew where a lane is chosen on the map.
            await session.switch(asked)
            await session.load_disassembly(_INSTRUCTIONS)
            await session.at_rest()
        await session.complete("info cuda ")
    finally:
        await session.close()
    return len(lanes)


def _forget_folders(file: Path) -> None:
    """Take out where the files lay on the machine that recorded: a replay asks for no folder."""
    recording = read_recording(file)
    kept = (entry for entry in recording.entries if not (entry.sent and b"-environment-cd" in entry.raw))
    header = header_line(recording.engine, recording.version, recording.argv)
    file.write_bytes(b"".join([header, *map(entry_line, kept)]))


async def _lanes(debugger: CudaGdbDebugger) -> list[Focus]:
    """Every lane that the dump holds, at most `_MOST_LANES`."""
    lanes: list[Focus] = []
    for kernel in await debugger.kernels():
        for held in await debugger.blocks(kernel.number):
            begin = linear(held.first, kernel.grid_dim)
            for number in range(begin, begin + held.count):
                block = delinear(number, kernel.grid_dim)
                for run in await debugger.threads_held(block):
                    first = linear(run.first, kernel.block_dim)
                    lanes += [
                        Focus.of(kernel=kernel.number, block=block, thread=delinear(thread, kernel.block_dim))
                        for thread in range(first, first + run.count)
                    ]
                if len(lanes) > _MOST_LANES:
                    return lanes[:_MOST_LANES]
    return lanes


async def _ask_hardware(hardware: DeviceMap) -> None:
    """Ask whose warps each SM holds."""
    for device in await hardware.devices():
        for sm in await hardware.sms(device.number):
            await hardware.warps_on(device.number, sm.number)


def _copied(case: Case, name: str, folder: Path) -> NewPart:
    """A part as it lies in the archive, an xz layer and all."""
    part = next(part for part in case.parts if part.name == name)
    file = folder / part.role / part.file_name
    file.parent.mkdir(exist_ok=True)
    with zipfile.ZipFile(case.file) as archive:
        file.write_bytes(archive.read(name))
    return NewPart(file, Role(part.role), part.path, part.origin)


def main() -> None:
    """Record the cases that the command line names, from folders that say nothing of this machine."""
    cases = [Path(argument).absolute() for argument in sys.argv[1:]]
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = folder
        os.chdir(folder)
        for case in cases:
            sys.stdout.write(f"{case.name}: {record_case(case)} lanes\n")
        os.chdir("/")


if __name__ == "__main__":
    main()
