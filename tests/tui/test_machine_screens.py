"""How the panes of the machine look, and what they say where there is nothing to show."""

from __future__ import annotations

from typing import Any

import pytest

from ladder_backends.debugger.contract import Capability
from ladder_backends.model.breakpoint import BindingState, BreakpointBinding, BreakpointIntent
from ladder_backends.model.frame import Place
from ladder_backends.model.grid import Instruction
from ladder_backends.model.library import Library
from ladder_backends.model.memory import MemoryLayout
from ladder_backends.model.register import Register
from ladder_backends.model.signal_handling import SignalCause, SignalHandling
from ladder_backends.session.memory import WINDOW
from ladder_backends.session.state import Change, Run
from ladder_tui.panes.code_rows import Target, code_cells, target_of
from ladder_tui.panes.memory_kinds import MemoryKind, of_family

SIZES = {"80x24": (80, 24), "120x40": (120, 40)}
HOME = 0x7FFFFFFFE400


def machine_story(ladder: Any) -> Any:
    """Everything below the source of the demo that stopped by a bad address."""
    debug = ladder.active.state
    machine, place = debug.machine, debug.place
    machine.registers.groups = ("general", "float", "vector", "system")
    machine.registers.read = {
        "general": (
            Register("rip", "0x401141", note="<compute_total+17>", changed=True),
            Register("eflags", "0x10246", note="[ PF ZF IF RF ]", changed=True),
            Register("rax", "0x0"),
            Register("rbx", "", error="not saved"),
            Register("rdi", "0x402010", note='"total %ld\\n"'),
            Register("rsp", "0x7fffffffe400"),
        )
    }
    contents = bytes(range(64)) + b"first\0\0\0" + (0x401190).to_bytes(8, "little") + bytes(WINDOW - 80 - 64)
    now: tuple[int | None, ...] = (*contents, *(None,) * 64)
    base = HOME - HOME % WINDOW
    machine.memory.home, machine.memory.asked, machine.memory.layout = HOME, "$rsp", MemoryLayout()
    machine.memory.windows = {base: now, base + WINDOW: (None,) * WINDOW}
    machine.memory.before = {base: (*now[:9], 0xAA, *now[10:])}
    machine.memory.symbols = {HOME + 72: "<main+42>"}
    machine.signals.table = (
        SignalHandling("SIGINT", True, True, False, "Interrupt"),
        SignalHandling("SIGSEGV", True, True, True, "Segmentation fault"),
        SignalHandling("SIGUSR1", False, False, True, "User defined signal 1"),
    )
    machine.signals.cause = SignalCause(11, "address 0x0 is not mapped", 0)
    machine.libraries.libraries = (
        Library("/lib64/ld-linux-x86-64.so.2", "0x00007ffff7fcb060", "0x00007ffff7ff0111", True),
        Library("/lib/x86_64-linux-gnu/libm.so.6", "0x00007ffff7ee7230", "0x00007ffff7f5a3d8", True, True),
        Library(
            "/opt/long/path/of/a/vendor/that/likes/folders/lib/libvendor.so.1", "0x00007ffff7d1b380", "", False
        ),
    )
    machine.libraries.automatic = False
    code = [
        ("0x401130", "push %rbp", 0, "55", 3),
        ("0x401131", "mov %rsp,%rbp", 1, "48 89 e5", 3),
        ("0x401134", "jmp 0x40114a <compute_total+26>", 4, "eb 14", 4),
        ("0x401136", "mov -0x8(%rbp),%rax # 0x404010 <numbers>", 6, "48 8b 45 f8", 5),
        ("0x401141", "mov (%rax),%eax", 17, "8b 00", 5),
        ("0x401143", "call 0x401190 <main>", 19, "e8 48 00 00 00", 5),
        ("0x40114a", "cmpl $0x8,-0x4(%rbp)", 26, "83 7d fc 08", 4),
        ("0x40114e", "jl 0x401136 <compute_total+6>", 30, "7c e6", 4),
        ("0x401150", "ret", 32, "c3", 7),
    ]
    debug.disassembly = tuple(
        Instruction(address, text, "compute_total", offset, raw, Place(place.file, line, place.fullname))
        for address, text, offset, raw, line in code
    )
    intent = BreakpointIntent(3, "*0x401143")
    binding = BreakpointBinding(intent, BindingState.SET, "3", addresses=("0x0000000000401143",))
    debug.breakpoints = (*debug.breakpoints, binding)
    return ladder


@pytest.mark.parametrize("size", SIZES)
async def test_registers_and_code(segfault: Any, show: Any, shots: Any, size: str) -> None:
    async with show(machine_story(segfault), SIZES[size]) as view:
        await view.press("w", "r", "w", "d", "o")
        await shots.both(view.pilot, f"registers-code-{size}")


@pytest.mark.parametrize("size", SIZES)
async def test_memory_and_signals(segfault: Any, show: Any, shots: Any, size: str) -> None:
    async with show(machine_story(segfault), SIZES[size]) as view:
        await view.press("w", "n", "w", "m")
        await shots.both(view.pilot, f"memory-signals-{size}")


async def test_libraries(segfault: Any, show: Any, shots: Any) -> None:
    async with show(machine_story(segfault), (80, 24)) as view:
        await view.press("w", "l")
        shots.text(view.app, "libraries")


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("call 0x401190 <main>", Target(0x401190)),
        ("jne 0x401136", Target(0x401136)),
        ("notrack jmp *%rax", Target(register="rax")),
        ("call *0x2fca(%rip) # 0x403fe0 <free@got.plt>", Target(0x403FE0, stored=True)),
        ("call QWORD PTR [rip+0x2fca] # 0x403fe0", Target(0x403FE0, stored=True)),
        ("bl 0x4005d4 <helper>", Target(0x4005D4)),
        ("b.ne 0x4005d4 <helper+4> // b.any", None),
        ("cbz w0, 0x4005d4 <helper+4>", Target(0x4005D4)),
        ("blr x8", Target(register="x8")),
        ("mov 0x8(%rdi),%r8", None),
        ("lea 0xdd1(%rip),%rax # 0x555555556010", None),
        ("ret", None),
        ("", None),
    ],
)
def test_where_an_instruction_leads(text: str, target: Target | None) -> None:
    assert target_of(Instruction("0x1", text)) == target


@pytest.mark.parametrize("text", ["lock cmpxchg %ecx,(%rdx)", "ret", "", "mov $-0x8(%rbp),%rax # 0x1 <a<b>::c>"])
def test_colours_lose_nothing_of_an_instruction(text: str) -> None:
    assert "".join(cell.text for cell in code_cells(text)).split() == text.split()


@pytest.mark.parametrize(
    ("kind", "text", "raw"),
    [
        (MemoryKind("hex", 1), "de ad", b"\xde\xad"),
        (MemoryKind("hex", 1), '"a\\n"', b"a\n"),
        (MemoryKind("hex", 4), "ff", b"\xff\0\0\0"),
        (MemoryKind("signed", 2), "-2", b"\xfe\xff"),
        (MemoryKind("signed", 1), "'A'", b"A"),
        (MemoryKind("unsigned", 4), "0x10", b"\x10\0\0\0"),
        (MemoryKind("float", 4), "1.5", b"\0\0\xc0\x3f"),
        (MemoryKind("float", 2), "1", b"\0\x3c"),
        (MemoryKind("pointer", 8), "0x401000", b"\0\x10\x40\0\0\0\0\0"),
    ],
)
def test_values_become_exact_bytes(kind: MemoryKind, text: str, raw: bytes) -> None:
    assert kind.bytes_of(text, little=True) == raw
    if len(raw) == kind.size > 1:
        assert kind.bytes_of(text, little=False) == raw[::-1]


@pytest.mark.parametrize(
    ("kind", "text", "words"),
    [
        (MemoryKind("hex", 1), "xyz", "pairs of hex digits"),
        (MemoryKind("hex", 1), "", "pairs of hex digits"),
        (MemoryKind("unsigned", 1), "256", "does not fit into u8"),
        (MemoryKind("unsigned", 1), "-1", "does not fit into u8"),
        (MemoryKind("signed", 4), "1.5", "is no i32"),
        (MemoryKind("float", 2), "1e9", "is no f16"),
    ],
)
def test_what_is_no_value_is_said(kind: MemoryKind, text: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        kind.bytes_of(text, little=True)


@pytest.mark.parametrize("family", ["hex", "signed", "unsigned", "float", "pointer"])
def test_what_memory_shows_can_be_written_back(family: str) -> None:
    for size in (1, 2, 4, 8):
        kind = of_family(family, size, 8)
        raw = bytes(range(0x31, 0x31 + kind.size))
        text = kind.text(tuple(raw), little=True)
        assert len(text) <= kind.width
        if family != "float":
            assert kind.bytes_of(text, little=True) == raw
        assert set(kind.text([*raw[:-1], None], little=True)) == {"?"}


async def test_only_what_is_seen_is_asked_for(segfault: Any, show: Any) -> None:
    async with show(machine_story(segfault)) as view:
        session = segfault.active
        segfault.tell(Change.RUN | Change.FRAMES)
        await view.settle()
        assert not [asked for asked in session.asked if "." in asked[0]]
        await view.press("w", "r")
        assert session.asked[-1] == ("registers.look", ["general"])
        await view.press("w", "v")
        before = len(session.asked)
        segfault.tell(Change.RUN | Change.FRAMES)
        await view.settle()
        assert session.asked[before:] == []


@pytest.mark.parametrize(
    ("run", "words"),
    [(Run.RUNNING, "the target runs"), (Run.EXITED, "has ended"), (Run.DEAD, "the engine is gone")],
)
async def test_why_there_is_nothing(segfault: Any, show: Any, run: Run, words: str) -> None:
    async with show(machine_story(segfault)) as view:
        debug = segfault.active.state
        for letter in "rm":
            await view.press("w", letter)
        debug.run, debug.run_detail = run, "over"
        segfault.tell(Change.RUN | Change.FRAMES)
        await view.settle()
        asked = len(segfault.active.asked)
        for letter, pane in (("r", "registers"), ("m", "memory"), ("d", "disassembly")):
            await view.press("w", letter)
            widget = view.app.workspace.panes[pane]
            if pane != "disassembly":
                assert widget.row_count == 0
                assert words in widget.empty_text()
        assert [one for one in segfault.active.asked[asked:] if "look" in one[0]] == []


async def test_keys_without_anything_open_say_so(empty_ladder: Any, show: Any) -> None:
    async with show(empty_ladder) as view:
        for keys in ("M", "wrt", "wr=", "wmt", "wm=", "wlp", "wlo", "wdh"):
            await view.press(*(key if key != "=" else "equals_sign" for key in keys))
            await view.press("escape")
        assert view.app.failure is None


async def test_hostile_names_are_only_text(segfault: Any, show: Any) -> None:
    ladder = machine_story(segfault)
    machine = ladder.active.state.machine
    machine.registers.read = {"general": (Register("rax", "[bold]x[/]", note="<\x1b[2J>"),)}
    machine.libraries.libraries = (Library("/tmp/[red]\x1b]0;x\x07.so"),)
    async with show(ladder) as view:
        await view.press("w", "r", "w", "l")
        assert "[bold]x[/]" in view.text()
        assert "/tmp/[red]␛]0;x␇.so" in view.text()
        assert "\x1b" not in view.text()


async def test_a_debugger_without_instructions_has_none(segfault: Any, show: Any) -> None:
    segfault.active.state.capabilities &= ~Capability.DISASSEMBLE
    async with show(segfault) as view:
        await view.press("w", "d", "m", "o", "backspace")
        assert "no machine code" in view.text() or "nothing to go back to" in view.text()


async def test_why_memory_is_not_held_is_said_once(segfault: Any, show: Any) -> None:
    ladder = machine_story(segfault)
    memory = ladder.active.state.machine.memory
    base = HOME - HOME % WINDOW
    memory.windows = {base: (None,) * WINDOW, base + WINDOW: (None,) * WINDOW}
    memory.before = {}
    memory.why = {base: "the dump does not hold it", base + WINDOW: "the dump does not hold it"}
    async with show(ladder, (120, 40)) as view:
        await view.press("w", "m", "z")
        lines = [line for line in view.text().splitlines() if "0x0000" in line or "0x7ff" in line]
        assert len(lines) > 20
        assert view.text().count("the dump does not hold it") == 1
        await view.press("pagedown", "pagedown")
        assert view.text().count("the dump does not hold it") == 1
