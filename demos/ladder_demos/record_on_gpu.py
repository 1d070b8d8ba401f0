"""Record the cases of the demos on a machine with a GPU and its tools: `python -m ladder_demos.record_on_gpu OUT`.

Sources are copied to `/src/ladder-demos` (or to a temporary folder of that name), so that nothing of the machine
stands in what is recorded; programs are compiled there, run under the sanitizer as the console runs it, and
debugged live under cuda-gdb. Each demo becomes one case in OUT, with what its run was made with. A demo that fails
is told of in a table at the end, and keeps the others from nothing. More words choose demos by name.
"""

from __future__ import annotations

import asyncio
import contextlib
import datetime
import json
import lzma
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from ladder_backends.case import NewPart, Origin, Role, write_case
from ladder_backends.case.run_folder import read_run
from ladder_backends.cuda_gdb import CudaGdbDebugger
from ladder_backends.errors import LadderError
from ladder_backends.recording import read_recording
from ladder_backends.recording.file import entry_line, header_line
from ladder_backends.sanitizer.ending import End
from ladder_backends.sanitizer.installed import installed_sanitizer
from ladder_backends.session.ladder import Ladder
from ladder_backends.text import clean_line, decode
from ladder_demos.catalogue import DEMOS, Demo
from ladder_demos.compile import find_nvcc
from ladder_demos.live import plan_of, python_with
from ladder_demos.live_stories import STORIES, LiveStory, StoryEnded, Telling

NEUTRAL = Path("/src/ladder-demos")
EVERYTHING_WITHIN = 235.0
PROGRAM_WITHIN, SCRIPT_WITHIN = 40.0, 100.0
"""Seconds."""

AT_ONCE = 4
"""Runs of the sanitizer side by side; live sessions have the GPU to themselves."""

_PRIVATE = re.compile(rb"/(?:root|work|tmp)(?=[/\s\"'\\)])")
_QUERY = ("nvidia-smi", "--query-gpu=name,driver_version,memory.total,compute_cap", "--format=csv,noheader")


@dataclass
class Machine:
    """What everything here is made with."""

    device: str = ""
    nvcc: str = ""
    sanitizer: str = ""
    cuda_gdb: str = ""
    facts: dict[str, str] = field(default_factory=dict)
    day: str = field(default_factory=lambda: datetime.date.today().isoformat())

    def origin(self, tool: str) -> Origin:
        """Where a part comes from."""
        versions = {
            "compute-sanitizer": self.sanitizer,
            "cuda-gdb": self.cuda_gdb,
            "nvcc": self.nvcc,
            "CUDA driver": self.facts.get("driver", ""),
        }
        return Origin(tool, versions.get(tool, ""), "" if tool == "nvcc" else self.device, self.day)


class GpuRecorder:
    """Makes the cases.

    Args:
        out: Where they go.
        folder: Where sources lie and programs are made.
    """

    def __init__(self, out: Path, folder: Path) -> None:
        self.out = out
        self.folder = folder
        self.machine = Machine()
        self.table: list[str] = []
        self._slots = asyncio.Semaphore(AT_ONCE)

    async def record(self, demos: Sequence[Demo]) -> None:
        """Make the cases of these demos, as far as time and machine allow."""
        _place_sources(self.folder)
        await asyncio.to_thread(self._look_at_machine)
        architecture = self.machine.facts["gpu"].rpartition(", ")[2]
        if architecture:
            # As told at every run: else it would be compiled anew.
            os.environ["TORCH_CUDA_ARCH_LIST"] = architecture
        built = asyncio.create_task(self._prepare_extension(demos))
        programs = await self._compile(demos)
        checked = [demo for demo in demos if demo.live is not None and demo.live.rung == "sanitizer"]
        # What takes long comes last: whoever ends it has most of it.
        for scripts in (False, True):
            runs = [
                self._told(demo.name, self._check(demo, programs, built))
                for demo in checked
                if demo.live is not None and demo.live.is_script is scripts
            ]
            await asyncio.gather(*runs)
            for demo in demos:
                if demo.name in STORIES and not scripts:
                    await self._told(demo.name, self._tell(demo, STORIES[demo.name], programs))
        await built

    def _look_at_machine(self) -> None:
        machine = self.machine
        told = _said(_QUERY)
        machine.device = told.partition(",")[0].strip()
        nvcc = re.search(r"release ([\d.]+)", _said((find_nvcc() or "nvcc", "--version")))
        machine.nvcc = nvcc[1] if nvcc is not None else ""
        with contextlib.suppress(LadderError):
            machine.sanitizer = installed_sanitizer().version
        machine.cuda_gdb = CudaGdbDebugger.probe().version
        machine.facts = {
            "gpu": told.splitlines()[0] if told else "",
            "driver": told.split(", ")[1] if told.count(", ") > 1 else "",
            "nvcc": machine.nvcc,
            "compute-sanitizer": machine.sanitizer,
            "cuda-gdb": machine.cuda_gdb,
            "kernel": os.uname().release,
            "time": machine.day,
        }
        (self.folder / "machine.json").write_text(json.dumps(machine.facts, indent=1) + "\n")

    async def _told(self, name: str, work: Awaitable[str]) -> None:
        began = time.monotonic()
        try:
            line = await work
        except (LadderError, OSError, StoryEnded) as error:
            line = f"FAILED {error.line() if isinstance(error, LadderError) else error}"
        except TimeoutError:
            line = "FAILED out of time"
        except Exception as error:
            line = f"FAILED {type(error).__name__}: {error}"
        case = self.out / f"{name}.ladder"
        size = f"{case.stat().st_size:>8}" if case.exists() else "    none"
        self.table.append(f"{name:<20} {time.monotonic() - began:5.1f} s {size}  {clean_line(line)}")
        sys.stdout.write(self.table[-1] + "\n")
        sys.stdout.flush()

    # -- programs

    async def _compile(self, demos: Sequence[Demo]) -> dict[tuple[str, tuple[str, ...]], Path]:
        """Compile each program once, side by side; what fails is missing from the answer."""
        wanted = {
            (Path(demo.live.source).stem, demo.live.flags)
            for demo in demos
            if demo.live is not None and not demo.live.is_script
        }
        nvcc = find_nvcc() or "nvcc"

        async def one(stem: str, flags: tuple[str, ...]) -> Path | None:
            program = self.folder / (stem if "-G" in flags else f"{stem}_lineinfo")
            command = (nvcc, *flags, "-arch=native", "-o", str(program), str(self.folder / f"{stem}.cu"))
            said = await _finished(command, self.folder, 120)
            if not program.exists():
                self.table.append(f"{stem} {' '.join(flags)}: {said[-300:]}")
            return program if program.exists() else None

        made = await asyncio.gather(*(one(*each) for each in wanted))
        return {each: program for each, program in zip(wanted, made, strict=True) if program is not None}

    async def _prepare_extension(self, demos: Sequence[Demo]) -> None:
        """Have torch compile the extension before anybody looks at it: that takes most of a minute."""
        if all(demo.name != "torch-extension" for demo in demos):
            return
        python = await asyncio.to_thread(python_with, ("torch",))
        if python is not None:
            # Compiled by being imported, without a look at the GPU, which is being debugged meanwhile.
            folder = self.folder / "torch_extension"
            await _finished((str(python), "-c", "import train"), folder, EVERYTHING_WITHIN)

    # -- the sanitizer

    async def _check(
        self, demo: Demo, programs: dict[tuple[str, tuple[str, ...]], Path], built: asyncio.Task[None]
    ) -> str:
        """Run a demo as the console runs it, and pack what it left."""
        assert demo.live is not None
        arguments: tuple[str, ...] = ()
        if demo.live.is_script:
            program = await asyncio.to_thread(python_with, demo.live.modules)
            if program is None:
                return f"FAILED no Python has {' and '.join(demo.live.modules)}"
            arguments = (str(self.folder / demo.live.source.removeprefix("programs/")),)
            if demo.name == "torch-extension":
                await built
        else:
            program = programs[Path(demo.live.source).stem, demo.live.flags]
        scratch = self.folder / "scratch"
        scratch.mkdir(exist_ok=True)
        plan = plan_of(demo.live, program, arguments)
        plan = replace(plan, directory=self.folder, environment={"TMPDIR": str(scratch)})
        runs = self.folder / "runs" / demo.name
        shutil.rmtree(runs, ignore_errors=True)
        ladder = Ladder()
        async with self._slots:
            try:
                async with asyncio.timeout(SCRIPT_WITHIN if demo.live.is_script else PROGRAM_WITHIN):
                    await ladder.sanitizer.start(plan, runs)
                    await ladder.sanitizer.ended()
            finally:
                with contextlib.suppress(LadderError):
                    await ladder.close()
            dump = await self._driver_dump(runs, program, arguments) if demo.live.driver_dump else None
        (end,) = ladder.state.sanitizer.ends
        if end.end in (End.FOUND, End.CLEAN):
            await asyncio.to_thread(self._pack_run, demo, runs, dump)
        return end.line if end.end is End.FOUND else f"FAILED {end.line}"

    async def _driver_dump(self, folder: Path, program: Path, arguments: Sequence[str]) -> Path | None:
        """A second run, which the driver dumps at its exception; None where it did not."""
        dump = folder / "driver.nvcudmp"
        told = {"CUDA_ENABLE_COREDUMP_ON_EXCEPTION": "1", "CUDA_COREDUMP_FILE": str(dump)}
        await _finished((str(program), *arguments), folder, PROGRAM_WITHIN, told)
        return dump if dump.exists() else None

    def _pack_run(self, demo: Demo, folder: Path, driver_dump: Path | None) -> None:
        run = read_run(folder)
        parts = []
        for tool in run.tools:
            report = folder / f"{tool.tool}-{demo.name}.log"
            report.write_bytes(without_folders(tool.report.read_bytes()))
            parts.append(NewPart(report, Role.FINDINGS, origin=self.machine.origin("compute-sanitizer")))
        dumps = [(dump, "compute-sanitizer") for _, dump in run.dumps]
        if driver_dump is not None:
            dumps = [(driver_dump, "CUDA driver")]
        for dump, tool_name in dumps[:1]:
            packed = folder / f"{demo.name}.nvcudmp.xz"
            with dump.open("rb") as source, lzma.open(packed, "wb", preset=6) as out:
                shutil.copyfileobj(source, out, 1 << 20)
            parts.append(NewPart(packed, Role.DUMP, origin=self.machine.origin(tool_name)))
        if run.program is not None and not run.is_interpreted:
            parts.append(NewPart(run.program, Role.EXECUTABLE, origin=self.machine.origin("nvcc")))
        self._write(demo, parts, f"{demo.name} · {run.tools[0].tool}")

    # -- live

    async def _tell(self, demo: Demo, telling: Telling, programs: dict[tuple[str, tuple[str, ...]], Path]) -> str:
        """Record a live session, as far as its story came."""
        program = programs[telling.program, ("-g", "-G")]
        recording = self.folder / f"{demo.name}.jsonl"
        story = LiveStory(program, recording, self.machine.cuda_gdb)
        why = ""
        try:
            async with asyncio.timeout(PROGRAM_WITHIN):
                await telling.tell(story)
        except TimeoutError:
            why = "FAILED out of time"
        except StoryEnded as ended:
            why = f"FAILED {ended}"
        finally:
            with contextlib.suppress(LadderError):
                await story.session.close()
            if story.stood and recording.exists():
                neutral_recording(recording)
                origin = self.machine.origin("cuda-gdb")
                parts = [NewPart(recording, Role.RECORDING, origin=origin)]
                parts.append(NewPart(program, Role.EXECUTABLE, origin=self.machine.origin("nvcc")))
                self._write(demo, parts, f"{program.name} · live")
        notices = [one.text for one in story.state.notices if one.severity == "error"][-1:]
        refused = f"{len(story.refused)} lanes refused, first {story.refused[0]}" if story.refused else ""
        return "; ".join(filter(None, (why, *story.told, refused, *notices)))

    def _write(self, demo: Demo, parts: list[NewPart], title: str) -> None:
        assert demo.live is not None
        source = self.folder / demo.live.source.removeprefix("programs/").removeprefix("cuda/")
        sources = [source, *sorted(source.parent.glob("*.cu"))] if source.parent != self.folder else [source]
        parts += [NewPart(one, Role.SOURCE, path=decode(without_folders(bytes(one)))) for one in sources]
        parts.append(NewPart(self.folder / "machine.json", Role.HARDWARE))
        device = self.machine.device.removeprefix("NVIDIA ")
        note = f"{demo.title}: {demo.shows}"
        write_case(self.out / f"{demo.name}.ladder", f"{title} · {device}", parts, note)


def without_folders(raw: bytes) -> bytes:
    """Text of a tool, without folders that say whose machine it was."""
    return _PRIVATE.sub(b"/src", raw)


def neutral_recording(file: Path) -> None:
    """Take out of a recording where things lie on the machine that recorded it."""
    recording = read_recording(file)
    header = header_line(recording.engine, recording.version, recording.argv)
    kept = (replace(entry, raw=without_folders(entry.raw)) for entry in recording.entries)
    file.write_bytes(b"".join([header, *map(entry_line, kept)]))


def neutral_folder() -> Path:
    """A folder whose name says nothing of this machine."""
    try:
        NEUTRAL.mkdir(parents=True, exist_ok=True)
        (NEUTRAL / "writable").touch()
    except OSError:
        folder = Path(tempfile.mkdtemp()) / NEUTRAL.name
        folder.mkdir()
        return folder
    return NEUTRAL


def _place_sources(folder: Path) -> None:
    programs = Path(__file__).parent / "programs"
    for source in (*programs.glob("cuda/*.cu"), *programs.glob("*.py")):
        shutil.copyfile(source, folder / source.name)
    (folder / "torch_extension").mkdir(exist_ok=True)
    for source in programs.glob("torch_extension/*.*"):
        shutil.copyfile(source, folder / "torch_extension" / source.name)


def _said(command: Iterable[str]) -> str:
    try:
        done = subprocess.run([*command], stdin=subprocess.DEVNULL, capture_output=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return decode(done.stdout)


async def _finished(
    command: Sequence[str], folder: Path, seconds: float, environment: Mapping[str, str] | None = None
) -> str:
    """What a command wrote; it is ended after so many seconds."""
    process = await asyncio.create_subprocess_exec(
        *command,
        cwd=folder,
        env={**os.environ, **(environment or {})},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        out, _ = await asyncio.wait_for(process.communicate(), seconds)
    except TimeoutError:
        process.kill()
        await process.wait()
        return "out of time"
    return decode(out)


async def _record(out: Path, demos: Sequence[Demo]) -> list[str]:
    folder = neutral_folder()
    for name, place in (
        ("XDG_CACHE_HOME", "cache"),
        ("XDG_STATE_HOME", "state"),
        ("TORCH_EXTENSIONS_DIR", "cache/torch"),
        ("TRITON_CACHE_DIR", "cache/triton"),
        ("CUPY_CACHE_DIR", "cache/cupy"),
    ):
        (folder / place).mkdir(parents=True, exist_ok=True)
        os.environ[name] = str(folder / place)
    os.chdir(folder)
    # Programs are to find their own packages, not the console's.
    os.environ.pop("PYTHONPATH", None)
    # A program that is dumped is aborted: its host core is not wanted.
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    recorder = GpuRecorder(out, folder)
    recording = asyncio.ensure_future(recorder.record(demos))
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, recording.cancel)
    try:
        async with asyncio.timeout(EVERYTHING_WITHIN):
            await recording
    except (TimeoutError, asyncio.CancelledError):
        recorder.table.append("the rest was left out: the time was over")
    return recorder.table


def main() -> None:
    """Record what the command line names."""
    if len(sys.argv) < 2:
        sys.exit("python -m ladder_demos.record_on_gpu OUT_DIR [NAME...]")
    out, names = Path(sys.argv[1]).absolute(), sys.argv[2:]
    out.mkdir(parents=True, exist_ok=True)
    demos = [demo for demo in DEMOS if demo.live is not None and (not names or demo.name in names)]
    table = asyncio.run(_record(out, demos))
    (out / "table.txt").write_text("\n".join(table) + "\n")
    sys.exit(any("FAILED" in line for line in table))


if __name__ == "__main__":
    main()
