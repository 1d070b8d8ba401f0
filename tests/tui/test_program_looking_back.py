"""Searching, selecting, copying and saving what a program wrote."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from textual import events

from ladder_backends.errors import LadderError
from ladder_backends.session.state import Change, Run
from ladder_tui.panes import program_pane
from ladder_tui.panes.program_mouse import MouseAct, mouse_bytes
from ladder_tui.panes.program_pane import INTERVAL, ProgramPane
from ladder_tui.panes.program_saving import plain_text, save

COUNT = 300


def pane_of(view: Any) -> ProgramPane:
    pane = view.app.workspace.panes["program"]
    assert isinstance(pane, ProgramPane)
    return pane


async def write(ladder: Any, raw: bytes) -> None:
    ladder.active.state.program.append(raw)
    ladder.active.tell(Change.PROGRAM)
    await asyncio.sleep(INTERVAL * 2)


def typed(ladder: Any) -> bytes:
    return b"".join(asked[1] for asked in ladder.active.asked if asked[0] == "type_to_program")


@pytest.fixture
async def looking(segfault: Any, show: Any) -> Any:
    """A pane whose program wrote `line 0` to `line 299`."""
    async with show(segfault) as view:
        await view.press("w", "p")
        await write(segfault, b"".join(b"line %d\r\n" % number for number in range(COUNT)))
        view.ladder = segfault
        view.copied = []
        view.app.copy_to_clipboard = view.copied.append
        yield view


async def search(view: Any, needle: str) -> None:
    await view.press("ctrl+s")
    await view.burst(needle)
    await view.press("enter")


async def test_search_goes_up_from_the_end_and_on_in_both_directions(looking: Any) -> None:
    pane = pane_of(looking)
    await search(looking, "LINE 12")
    assert pane.row(pane._found).text() == "line 129"
    assert "line 129" in looking.text()
    await looking.press("less_than_sign", "less_than_sign")
    assert pane.row(pane._found).text() == "line 127"
    await looking.press("greater_than_sign")
    assert pane.row(pane._found).text() == "line 128"
    await search(looking, "")
    assert pane.row(pane._found).text() == "line 127"


async def test_search_goes_round_and_says_what_it_does_not_find(looking: Any) -> None:
    pane = pane_of(looking)
    await search(looking, "line 0")
    await looking.press("less_than_sign")
    assert pane.row(pane._found).text() == "line 0"
    await search(looking, "nowhere")
    assert "not found: nowhere" in looking.text()


async def test_the_match_stays_where_it_is_while_the_program_writes_on(looking: Any) -> None:
    pane = pane_of(looking)
    await search(looking, "line 120")
    shown = pane.row(pane.top).text()
    await write(looking.ladder, b"".join(b"more %d\r\n" % number for number in range(8_000)))
    for _ in range(200):
        if pane.title().state and "dropped" in "".join(cell.text for cell in pane.title().state):
            break
        await asyncio.sleep(INTERVAL)
    assert not pane._at_end
    assert shown.startswith("line")
    await looking.press("escape")
    assert pane._at_end
    assert pane._found == -1


async def test_lines_are_selected_by_keys_and_copied(looking: Any) -> None:
    await search(looking, "line 150")
    await looking.press("space", "up", "up", "y")
    assert looking.copied == ["line 148\nline 149\nline 150"]
    assert "3 lines copied" in looking.text()
    await looking.press("y")
    assert looking.copied[-1] == "line 150"
    await looking.press("escape", "y")
    assert looking.copied[-1].startswith("line 29")
    assert looking.copied[-1].endswith("line 299")


async def test_a_line_of_several_rows_is_copied_as_one(looking: Any) -> None:
    width = pane_of(looking).body_width
    long = f"{'a' * (width - 1)} {'b' * (width - 3)}   c"
    await write(looking.ladder, f"{long}\r\nnext\r\n".encode())
    await looking.press("y")
    assert looking.copied[-1].endswith(f"\n{long}\nnext")


async def test_dragging_copies_from_cell_to_cell(looking: Any) -> None:
    pane = pane_of(looking)
    x, y = 4 + len(pane._edge_at(1)), 1
    first = pane.row(pane.top).text()
    second = pane.row(pane.top + 1).text()
    pilot = looking.pilot
    await pilot.mouse_down(pane, offset=(x, y))
    await pilot.hover(pane, offset=(x + 1, y + 1))
    await pilot.mouse_up(pane, offset=(x + 1, y + 1))
    assert looking.copied == [f"{first[4:]}\n{second[:6]}"]
    await pilot.click(pane, offset=(x, y))
    assert len(looking.copied) == 1


async def test_a_program_that_asks_for_the_mouse_gets_it_while_it_is_typed_to(looking: Any) -> None:
    ladder, pane, pilot = looking.ladder, pane_of(looking), looking.pilot
    await write(ladder, b"\x1b[?1000h\x1b[?1006h")
    edge = len(pane._edge_at(1))
    await pilot.click(pane, offset=(edge + 2, 3))
    assert typed(ladder) == b""
    await looking.press("i")
    await pilot.click(pane, offset=(edge + 2, 3))
    await looking.settle()
    assert typed(ladder) == b"\x1b[<0;3;3M\x1b[<0;3;3m"
    pane.post_message(events.MouseScrollUp(pane, edge + 2, 3, 0, 0, 0, shift=False, meta=False, ctrl=False))
    await looking.settle()
    assert typed(ladder).endswith(b"\x1b[<64;3;3M")
    await write(ladder, b"\x1b[?1000l\x1b[?1049h")
    pane.post_message(events.MouseScrollDown(pane, edge + 2, 3, 0, 0, 0, shift=False, meta=False, ctrl=False))
    await looking.settle()
    assert typed(ladder).endswith(b"M\x1b[B\x1b[B\x1b[B")


def test_mouse_reports_as_a_terminal_sends_them() -> None:
    assert mouse_bytes(MouseAct.PRESS, 0, 0, 0, mode=0, sgr=True) is None
    assert mouse_bytes(MouseAct.MOVE, 0, 1, 1, mode=1000, sgr=True) is None
    assert mouse_bytes(MouseAct.MOVE, 3, 1, 1, mode=1002, sgr=True) is None
    assert mouse_bytes(MouseAct.MOVE, 3, 1, 1, mode=1003, sgr=True) == b"\x1b[<35;2;2M"
    assert mouse_bytes(MouseAct.RELEASE, 2, 4, 9, mode=1000, sgr=False) == b"\x1b[M#%*"
    assert mouse_bytes(MouseAct.PRESS, 0, 300, 9, mode=1000, sgr=False) is None
    assert mouse_bytes(MouseAct.PRESS, 0, 1, 1, mode=1000, sgr=True, ctrl=True, alt=True) == b"\x1b[<24;2;2M"


async def test_questions_to_the_terminal_are_answered_once(looking: Any) -> None:
    ladder = looking.ladder
    await write(ladder, b"ab\x1b[6n\x1b[c\x1b[5n")
    row = pane_of(looking)._terminal.screen.cursor[0] + 1  # type: ignore[union-attr]
    assert typed(ladder) == b"\x1b[%d;3R\x1b[?62;22c\x1b[0n" % row
    await looking.press("w", "c", "w", "p")
    assert typed(ladder).count(b"R") == 1


async def test_questions_that_were_asked_unseen_are_answered_only_where_the_program_still_waits(
    segfault: Any, show: Any
) -> None:
    async with show(segfault) as view:
        segfault.active.state.program.append(b"\x1b[6n long ago\r\n\x1b[6n")
        await view.press("w", "p")
        await asyncio.sleep(INTERVAL * 2)
        assert typed(segfault) == b"\x1b[2;1R"
    async with show(segfault) as view:
        segfault.active.asked.clear()
        segfault.active.state.program.append(b"went on")
        await view.press("w", "p")
        await asyncio.sleep(INTERVAL * 2)
        assert typed(segfault) == b""


async def test_ctrl_c_is_a_key_of_a_running_program_that_is_typed_to(looking: Any) -> None:
    ladder = looking.ladder
    await looking.press("i")
    ladder.active.state.run = Run.RUNNING
    ladder.active.tell(Change.RUN)
    assert "Ctrl-C" not in looking.text().splitlines()[-1]
    await looking.press("ctrl+c", "ctrl+z", "ctrl+d", "tab")
    assert typed(ladder) == b"\x03\x1a\x04\t"
    assert not [asked for asked in ladder.active.asked if asked[0] == "interrupt"]
    ladder.active.state.run, ladder.active.state.run_detail = Run.STOPPED, "interrupted"
    ladder.active.tell(Change.RUN)
    await looking.settle()
    assert "signal SIGINT" in looking.text()
    ladder.active.state.run = Run.RUNNING
    ladder.active.tell(Change.RUN)
    await looking.press("ctrl+right_square_bracket", "ctrl+c")
    assert [asked for asked in ladder.active.asked if asked[0] == "interrupt"]


async def test_ctrl_c_that_a_program_reads_as_any_other_key_tells_how_to_interrupt(
    looking: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(program_pane, "INTERRUPT_HEARD", 0.01)
    ladder = looking.ladder
    await looking.press("i")
    ladder.active.state.run = Run.RUNNING
    ladder.active.tell(Change.RUN)
    await looking.press("ctrl+c")
    await asyncio.sleep(0.05)
    await looking.settle()
    assert "Ctrl-C went to the program, which runs on; Esc Esc Ctrl-C interrupts it" in looking.text()
    await looking.press("escape", "escape")
    assert "Ctrl-C interrupt" in looking.text().splitlines()[-1]


async def test_output_is_saved_as_text_and_as_bytes(looking: Any, tmp_path: Path) -> None:
    await write(looking.ladder, b"\x1b[31mred\x1b[0m\r\n")
    for name in ("out.txt", "out.raw"):
        await looking.press("o")
        await looking.burst(str(tmp_path / name))
        await looking.press("enter")
    assert (tmp_path / "out.txt").read_text().endswith("line 299\nred\n")
    assert (tmp_path / "out.raw").read_bytes().endswith(b"line 299\r\n\x1b[31mred\x1b[0m\r\n")
    assert "bytes written to" in looking.text()


async def test_a_file_that_is_there_is_replaced_only_when_told_to(looking: Any, tmp_path: Path) -> None:
    file = tmp_path / "out.txt"
    file.write_text("mine")
    for answer in ("n", "y"):
        await looking.press("o")
        await looking.burst(str(file))
        await looking.press("enter")
        assert "is there already" in looking.text()
        assert file.read_text() == "mine"
        await looking.press(answer, "enter")
    assert file.read_text().startswith("line 0\n")
    await looking.press("o")
    await looking.burst(str(tmp_path))
    await looking.press("enter")
    assert "no ordinary file" in looking.text()
    await looking.press("o")
    await looking.burst(str(tmp_path / "none" / "x"))
    await looking.press("enter")
    # A long path may break the sentence over two lines anywhere.
    said = " ".join(looking.text().split())
    assert "cannot write" in said
    assert "No such file or directory" in said


def test_text_is_what_a_person_would_have_read() -> None:
    raw = b"$ \x1b[1mls\x1b[0m\r\na\x08b\r\n10%\r20%\r100%\r\n\x1b]0;title\x07x\x1b[?1049hvi\x1b[2J\x1b[?1049ly\r\n"
    assert plain_text(raw) == "$ ls\nb\n100%\nxy\n"
    assert plain_text(b"_\x08bold\xff\x1b[?1049hstill in it") == "bold\\xff"
    assert "\x1b" not in plain_text(b"\x1b\x1b[\x1b]8;;")


def test_what_was_not_kept_is_told_in_the_file(tmp_path: Path) -> None:
    save(tmp_path / "a", [b"end\n"], 1_000)
    assert (tmp_path / "a").read_text() == "[1,000 bytes before this were not kept]\nend\n"
    with pytest.raises(LadderError, match="is there already"):
        save(tmp_path / "a", [b"x"], 0)
