"""The exact command line of each tool of a plan, for the version that is installed."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ladder_backends.sanitizer.installed import SanitizerTool
from ladder_backends.sanitizer.plan import HERE, Plan
from ladder_backends.sanitizer.presets import PATIENCE, SWITCHES, is_python

NO_DUMP = frozenset({"racecheck"})
"""Tools that write no GPU core dump."""

DUMP_SUFFIX = ".nvcudmp"

_FILTER = re.compile(r"(?:kernel_name|kne|kernel_substring|kns|regex)=")
_PYTHON_VALUED = frozenset({"-W", "-X", "--check-hash-based-pycs"})
_BEFORE_CUPY = Path(__file__).with_name("before_cupy.py")


@dataclass(frozen=True, slots=True)
class ToolCommand:
    """One tool's run.

    Attributes:
        argv: The whole command; the first word is the path of compute-sanitizer.
        environment: Variables set, or with None taken away, on top of the console's own.
        log: The report.
        dumps: Pattern for the file names of its dumps in the log's folder; empty where it writes none.
        logs: Pattern for the names of its logs there, where it is started for each process; else empty.
        left_out: A line for each thing that was asked for and that this version, or this program, does not take.
    """

    tool: str
    argv: tuple[str, ...]
    log: Path
    environment: dict[str, str | None] = field(default_factory=dict)
    dumps: str = ""
    left_out: tuple[str, ...] = ()
    logs: str = ""


def command_for(
    plan: Plan, tool: str, installed: SanitizerTool, folder: Path, without_dump: Collection[str] = ()
) -> ToolCommand:
    """The command of one tool.

    Args:
        plan: What is wanted.
        tool: One of its tools.
        installed: What there is.
        folder: Absolute, without a percent sign, which the tool reads as a macro; log and dumps go there.
        without_dump: Tools that are not asked for a dump, because they write none here.
    """
    log = folder / f"{tool}.log"
    logs = f"{tool}.*.log" if plan.launches_itself else ""
    name = folder / f"{tool}.{_rank_macro(plan.program)}.%p.log" if logs else log
    options: list[str] = ["--tool", tool, "--log-file", str(name)]
    left_out: list[str] = []
    dumps = _writes_dump(plan, tool, without_dump)
    for words in _options(plan, tool, folder, dump=dumps):
        if installed.knows(words[0]):
            options += words
        else:
            left_out.append(f"{words[0]} is not known to version {installed.version}: left out")
    options += plan.extra
    environment: dict[str, str | None] = {}
    for switch in SWITCHES.values():
        if plan.is_on(switch.id):
            environment.update(switch.environment)
    environment.update(plan.environment)
    arguments = plan.arguments
    if plan.is_on("cupy-pool"):
        prepared = _before_cupy(plan.program, arguments)
        if prepared is None:
            left_out.append("CuPy's pool stays: this is no script that Python is told to run")
        else:
            arguments = prepared
    if plan.launches_itself:
        # The launcher starts one sanitizer for each process.
        at = arguments.index(HERE)
        argv = (str(plan.program), *arguments[:at], str(installed.path), *options, *arguments[at + 1 :])
    else:
        argv = (str(installed.path), *options, str(plan.program), *arguments)
    pattern = f"{tool}.*{DUMP_SUFFIX}" if dumps and installed.knows("generate-coredump") else ""
    return ToolCommand(tool, argv, log, environment, pattern, tuple(left_out), logs)


def _rank_macro(launcher: Path) -> str:
    """The tool's macros for the rank that a launcher tells its processes; empty in those it tells nothing."""
    names = {"srun": ("SLURM_PROCID",), "torchrun": ("RANK",)}
    return "".join(f"%q{{{name}}}" for name in names.get(launcher.name, ("OMPI_COMM_WORLD_RANK", "PMI_RANK")))


def _writes_dump(plan: Plan, tool: str, without_dump: Collection[str]) -> bool:
    return plan.is_on("dump") and tool not in NO_DUMP and tool not in without_dump


def _options(plan: Plan, tool: str, folder: Path, *, dump: bool) -> Iterator[tuple[str, ...]]:
    """Options with their values, one group at a time; each group is taken or left out as a whole."""
    if plan.is_on("paths"):
        yield "--strip-paths", "no"
    if dump:
        # A flag: the word behind it would be taken for the program.
        yield ("--generate-coredump",)
        yield "--coredump-behavior", "exit"
        # %p is the process that erred: several children do not write over each other's dump.
        yield "--coredump-name", str(folder / f"{tool}.%p{DUMP_SUFFIX}")
    if tool == "memcheck":
        if plan.leaks:
            yield "--leak-check", "full"
        if plan.padding_bytes:
            yield "--padding", str(plan.padding_bytes)
    if tool == "racecheck" and plan.racecheck_report != "analysis":
        yield "--racecheck-report", plan.racecheck_report
    for kernel in plan.kernels:
        yield "--kernel-name", kernel_filter(kernel)
    if plan.launch_skip:
        yield "--launch-skip", str(plan.launch_skip)
    if plan.launch_count:
        yield "--launch-count", str(plan.launch_count)
    yield "--print-limit", str(plan.print_limit)
    if plan.error_exitcode is not None:
        yield "--error-exitcode", str(plan.error_exitcode)
    if plan.target_processes:
        yield "--target-processes", plan.target_processes
    if plan.process_filter:
        yield "--target-processes-filter", plan.process_filter
    patience = plan.launch_timeout if plan.launch_timeout is not None else PATIENCE
    if plan.launch_timeout is not None or plan.is_on("patience"):
        yield "--launch-timeout", str(patience)
    if plan.suppressions is not None:
        yield "--suppressions", str(plan.suppressions)
    if plan.is_on("launches"):
        yield ("--dump-kernel-launches",)
    if plan.is_on("quiet-lookups"):
        yield ("--ignore-getprocaddress-notfound",)


def kernel_filter(kernel: str) -> str:
    """A filter as the tool takes it; a bare name is a part of the mangled name, which holds it as it stands."""
    if _FILTER.match(kernel):
        return kernel
    # A comma would begin the next filter.
    return f"regex={re.escape(kernel)}" if "," in kernel else f"kns={kernel}"


def _before_cupy(program: Path, arguments: Sequence[str]) -> tuple[str, ...] | None:
    """Python's arguments with our lines before the script; None where there is no script among them."""
    if not is_python(program) or not program.name.startswith("python"):
        return None
    at = 0
    while at < len(arguments) and arguments[at].startswith("-"):
        if arguments[at] in ("-m", "-c", "-"):
            return None
        at += 2 if arguments[at] in _PYTHON_VALUED else 1
    if at >= len(arguments):
        return None
    return (*arguments[:at], str(_BEFORE_CUPY), *arguments[at:])
