"""A ladder to look at without an engine, and the two stories that most tests tell with it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from ladder_backends.debugger.contract import Capability
from ladder_backends.model.breakpoint import BindingState, BreakpointBinding, BreakpointIntent
from ladder_backends.model.events import TargetStopped
from ladder_backends.model.focus import Focus
from ladder_backends.model.frame import Frame, FrameKind, FrameWindow, Place
from ladder_backends.model.grid import BlockRange, Kernel, Lane, LaneState, Warp
from ladder_backends.model.variable import Variable, VariableWindow
from ladder_backends.sanitizer import read_report
from ladder_backends.session.jump_history import JumpHistory
from ladder_backends.session.lane_values import SessionLaneValues
from ladder_backends.session.sources import SourceFile, SourceState
from ladder_backends.session.state import Change, DebugState, Grid, LadderState, Notice, Run
from ladder_backends.session.values import SessionValues

ROOT = Path(__file__).parents[2]
VECTOR_ADD = Path(__file__).parent / "sources/vector_add_oob.cu"
SEGFAULT = ROOT / "demos/ladder_demos/programs/segfault.c"


class StackDouble:
    """Stands where a session's stack stands, and notes what it is asked."""

    def __init__(self, asked: list[tuple[Any, ...]]) -> None:
        self.asked = asked

    def cancel(self) -> bool:
        self.asked.append(("cancel",))
        return True

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name not in ("further", "nearer", "innermost", "outermost", "find"):
            raise AttributeError(name)

        async def ask(*arguments: Any) -> None:
            self.asked.append((name, *arguments[:1]))

        return ask


class ThreadsDouble:
    """Stands where a session's threads stand, and notes what it is asked."""

    available = True

    def __init__(self, asked: list[tuple[Any, ...]]) -> None:
        self.asked = asked
        self.looked = 0

    def wanted(self) -> None:
        self.looked += 1

    def any_runs(self) -> bool:
        return False

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name not in ("focus", "freeze", "run_alone", "set_non_stop", "all_go_on", "all_hold"):
            raise AttributeError(name)

        async def ask(*arguments: Any) -> None:
            self.asked.append((name, *arguments))

        return ask


class MachineDouble:
    """Stands where one part of a session's machine stands, and notes what it is asked."""

    def __init__(self, asked: list[tuple[Any, ...]], name: str = "") -> None:
        self._asked = asked
        self._name = name
        self.stop = 1
        self.refusal = ""

    def read_only(self) -> str:
        return self.refusal

    def forget(self) -> None:
        self._asked.append((f"{self._name}.forget",))

    def __getattr__(self, name: str) -> Any:
        if name in ("registers", "memory", "code", "signals", "libraries", "device", "kernel"):
            part = MachineDouble(self._asked, name)
            setattr(self, name, part)
            return part
        if name.startswith("_"):
            raise AttributeError(name)

        async def ask(*arguments: Any, **named: Any) -> None:
            self._asked.append((f"{self._name}.{name}", *arguments, *named.values()))

        return ask


class LedgerDouble:
    """Stands where a session's ledger stands, and notes what it is asked."""

    def __init__(self, asked: list[tuple[Any, ...]]) -> None:
        self._asked = asked

    async def load(self) -> None:
        self._asked.append(("load_ledger",))

    async def flip(self, entry: Any) -> None:
        self._asked.append(("flip", entry.name))


class SessionDouble:
    """Stands where a `DebugSession` stands: holds a state that the test wrote, and notes what it is asked."""

    def __init__(self, state: DebugState) -> None:
        self.state = state
        self.target: Any = None
        self.asked: list[tuple[Any, ...]] = []
        self.waiting: list[tuple[str, float]] = []
        self.subscribers: list[Callable[[Change], None]] = []
        self.answers: dict[str, Any] = {}
        self.threads = ThreadsDouble(self.asked)
        self.machine: Any = MachineDouble(self.asked)
        self.stack = StackDouble(self.asked)
        self.ledger = LedgerDouble(self.asked)
        self.debugger = SimpleNamespace(values=None, lanes=None)
        self.values = SessionValues(self)  # type: ignore[arg-type]
        self.lane_values = SessionLaneValues(self)  # type: ignore[arg-type]

    @property
    def deeds(self) -> list[tuple[Any, ...]]:
        """What it was asked to do, without looks at what is on the screen."""
        return [one for one in self.asked if not one[0].startswith("device.look_")]

    async def stop(self) -> None:
        """The target stops again: what the test has written into the state by now is so."""
        self.values.take(TargetStopped("", "", None, None, 0.0))
        await self.values.look_again()
        self.tell(Change.RUN | Change.VARIABLES)

    def notice(self, text: str, severity: str = "information") -> None:
        self.state.notice = Notice(text, severity)
        self.tell(Change.NOTICE)

    def look_again(self) -> None:
        self.asked.append(("look_again",))

    def look_for(self, variables: int) -> None:
        self.asked.append(("look_for", variables))

    def subscribe(self, subscriber: Callable[[Change], None]) -> Callable[[], None]:
        self.subscribers.append(subscriber)
        return lambda: self.subscribers.remove(subscriber)

    def tell(self, change: Change) -> None:
        for subscriber in tuple(self.subscribers):
            subscriber(change)

    def show_rows(self, **rows: int) -> None:
        self.rows = rows

    def pending(self) -> Sequence[tuple[str, float]]:
        return self.waiting

    async def complete(self, text: str) -> Sequence[str]:
        return self.answers.get("complete", ())

    async def evaluate(self, expression: str) -> Variable:
        self.asked.append(("evaluate", expression))
        return self.answers.get("evaluate", Variable(expression, "42", "int"))

    def type_to_program(self, raw: bytes) -> None:
        self.asked.append(("type_to_program", raw))

    def resize_program(self, columns: int, rows: int) -> None:
        self.asked.append(("resize_program", columns, rows))

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("_") or name not in (
            "resume interrupt toggle_breakpoint set_breakpoint place_breakpoint change_breakpoint "
            "remove_breakpoint enable_breakpoint enable_location select_frame "
            "switch load_disassembly console close restart"
        ):
            raise AttributeError(name)

        async def ask(*arguments: Any, **named: Any) -> Any:
            self.asked.append((name, *arguments, *named.values()))
            answer = self.answers.get(name)
            if isinstance(answer, BaseException):
                raise answer
            return answer

        return ask


class LadderDouble:
    """Stands where a `Ladder` stands, with sessions that the test made."""

    def __init__(self, state: LadderState | None = None) -> None:
        self.state = state or LadderState()
        self.sessions: dict[str, SessionDouble] = {}
        self.aside: dict[str, SessionDouble] = {}
        self.carried: Any = None
        self.subscribers: list[Callable[[Change], None]] = []
        self.sources: dict[str, SourceFile] = {}
        self.asked: list[tuple[Any, ...]] = []
        self.jumps = SimpleNamespace(dump=None, history=JumpHistory(self))  # type: ignore[arg-type]

    def add(self, debug: DebugState) -> SessionDouble:
        session = SessionDouble(debug)
        session.subscribe(self.tell)
        self.sessions[debug.rung] = session
        self.state.debug[debug.rung] = debug
        return session

    def subscribe(self, subscriber: Callable[[Change], None]) -> Callable[[], None]:
        self.subscribers.append(subscriber)
        return lambda: self.subscribers.remove(subscriber)

    def tell(self, change: Change) -> None:
        for subscriber in tuple(self.subscribers):
            subscriber(change)

    @property
    def active(self) -> SessionDouble | None:
        rung = "cuda-gdb" if self.state.rung == "sanitizer" else self.state.rung
        return self.sessions.get(rung)

    def switch_rung(self, rung: str) -> None:
        self.asked.append(("switch_rung", rung))
        self.state.rung = rung
        self.tell(Change.RUNG)

    def every_session(self) -> list[SessionDouble]:
        return [*self.sessions.values(), *self.aside.values()]

    def add_aside(self, debug: DebugState) -> SessionDouble:
        """A session that is not on screen, beside the one of its rung."""
        session = self.aside[debug.rung] = SessionDouble(debug)
        session.subscribe(self.tell)
        self.state.aside[debug.rung] = debug
        return session

    def next_seat(self) -> bool:
        rung = self.active.state.rung if self.active is not None else ""
        if rung not in self.aside:
            return False
        self.sessions[rung], self.aside[rung] = self.aside[rung], self.sessions[rung]
        self.state.debug[rung], self.state.aside[rung] = self.state.aside[rung], self.state.debug[rung]
        self.tell(~Change.NONE)
        return True

    async def carry_to(self, rung: str) -> Any:
        self.asked.append(("carry_to", rung))
        return self.carried

    async def close_seat(self, rung: str, seat: Any) -> None:
        self.asked.append(("close_seat", rung, seat))

    def source(self, file: str, fullname: str = "", line: int | None = None) -> SourceFile:
        name = file.rsplit("/", 1)[-1]
        return self.sources.get(name) or SourceFile(
            file, SourceState.MISSING, note=f"{name} is not on this machine — name its folder in source_roots"
        )

    def choose_source(self, file: str, path: Path) -> None:
        self.asked.append(("choose_source", file, path))
        self.sources[file.rsplit("/", 1)[-1]] = read_source(path)

    async def jump(self, finding: Any, side: int = 0) -> Any:
        self.asked.append(("jump", finding, side))

    async def jump_to(self, asked: Focus) -> Any:
        self.asked.append(("jump_to", asked))

    async def close(self) -> None:
        self.asked.append(("close",))


def read_source(path: Path) -> SourceFile:
    return SourceFile(str(path), SourceState.FOUND, path, tuple(path.read_text().splitlines()))


def segfault_story() -> LadderDouble:
    """The C demo, stopped by SIGSEGV."""
    ladder = LadderDouble(LadderState(rung="gdb"))
    ladder.sources["segfault.c"] = read_source(SEGFAULT)
    place, caller = Place("segfault.c", 5, "/src/segfault.c"), Place("segfault.c", 10, "/src/segfault.c")
    ladder.add(
        DebugState(
            rung="gdb",
            title="segfault",
            run=Run.STOPPED,
            run_detail="SIGSEGV, Segmentation fault",
            fault=True,
            since=100.0,
            capabilities=~Capability.DEVICE_FOCUS,
            focus=Focus.of(thread=1),
            place=place,
            frames=FrameWindow(
                (
                    Frame(0, "compute_total", place, "0x401141", arguments=(("data", "0x0"), ("n", "8"))),
                    Frame(1, "main", caller, "0x401190"),
                )
            ),
            variables=VariableWindow(
                (
                    Variable("data", "0x0", "const int *", is_argument=True),
                    Variable("n", "8", "int", is_argument=True),
                    Variable("total", "0", "long"),
                    Variable("i", "0", "int", changed=True),
                )
            ),
            breakpoints=(
                BreakpointBinding(
                    BreakpointIntent(1, "segfault.c:10"),
                    BindingState.SET,
                    "1",
                    (caller,),
                    hits=1,
                    functions=("main",),
                ),
                BreakpointBinding(
                    BreakpointIntent(2, "later.c:3"), BindingState.PENDING, "2", why="its module is not loaded yet"
                ),
            ),
            stop_to_paint=0.0061,
        )
    )
    return ladder


def gpu_dump_story() -> LadderDouble:
    """The sanitizer's report of vector_add_oob, and cuda-gdb standing in one of its 24 lanes."""
    ladder = LadderDouble(LadderState(rung="sanitizer", case_title="vector_add_oob · memcheck · H200"))
    ladder.sources["vector_add_oob.cu"] = read_source(VECTOR_ADD)
    ladder.state.report = read_report([Path(__file__).parent / "reports/memcheck-oob.log"])
    ladder.state.selected_finding = 8
    place = Place("vector_add_oob.cu", 10, "/home/user/ladder/vector_add_oob.cu")
    held = [Lane(number, LaneState.ACTIVE, (224 + number, 0, 0), "0x7f18637d2470") for number in range(8, 32)]
    lanes = (*(Lane(number, LaneState.ABSENT) for number in range(8)), *held)
    focus = Focus.of(kernel=0, grid=1, block=(3, 0, 0), thread=(240, 0, 0), device=0, sm=5, warp=7, lane=16)
    session = ladder.add(
        DebugState(
            rung="cuda-gdb",
            title="vector_add_oob · dump",
            run=Run.DUMP,
            since=100.0,
            capabilities=Capability.CONSOLE
            | Capability.EVALUATE
            | Capability.DEVICE_FOCUS
            | Capability.DISASSEMBLE,
            asked=Focus.of(block=(3, 0, 0), thread=(240, 0, 0)),
            focus=focus,
            place=place,
            frames=FrameWindow((Frame(0, "vadd", place, "0x7f18637d2470", kind=FrameKind.DEVICE),)),
            variables=VariableWindow(
                (Variable("i", "1008", "int"), Variable("n", "1000", "int", is_argument=True))
            ),
            grid=Grid(
                (Kernel(0, 1, 0, "vadd", (4, 1, 1), (256, 1, 1), "Active"),),
                (BlockRange(0, (3, 0, 0), (3, 0, 0), 1, "running"),),
                (Warp(7, 7, 5, 0, (3, 0, 0), lanes, "0x7f18637d2470"),),
            ),
            jump_seconds=0.104,
        )
    )
    session.state.console.extend(["(cuda-gdb) print i", "$1 = 1008", "(cuda-gdb) "])
    return ladder
