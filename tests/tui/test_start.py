"""The start screen: rungs, what was opened last, demos."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ladder_backends.debugger.probe import Probe
from ladder_backends.debugger.target import GpuDumpTarget, LaunchTarget
from ladder_backends.errors import LadderError
from ladder_demos.catalogue import DEMOS
from ladder_tui.app import LadderApp
from ladder_tui.config import Settings
from ladder_tui.opening import Opening
from ladder_tui.recent import LIMIT, Recent, read_recent, recent_file, remember
from ladder_tui.screens import start
from ladder_tui.screens.start import StartScreen, read_opening
from ladder_tui.screens.start_rows import DemoTarget, RungTarget, start_rows

GDB = Probe("gdb", Path("/usr/bin/gdb"), "GNU gdb 13.1", available=True)
NO_CUDA_GDB = Probe(
    "cuda-gdb", None, missing="cuda-gdb is not on PATH", remedy="ladder-tui demo --install-cuda-gdb"
)

SANITIZER = Probe(
    "compute-sanitizer", Path("/usr/bin/compute-sanitizer"), "compute-sanitizer 2025.3.1.0", available=True
)


async def settle(pilot: Any) -> None:
    while _is_busy(pilot.app):
        await pilot.pause(0.02)
    await pilot.pause()


def _is_busy(app: Any) -> bool:
    screen = app.screen
    if isinstance(screen, StartScreen):
        # It begins to look for debuggers only when it has been painted.
        return screen.list.probes is None or bool(screen._tasks)
    return bool(app.tasks)


def _program(path: Path) -> Path:
    path.write_bytes(Path("/bin/true").read_bytes())
    path.chmod(0o755)
    return path


class LadderNote:
    """Notes what it is asked to open."""

    def __init__(self, double: Any) -> None:
        self.double = double
        self.opened: list[tuple[Any, ...]] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self.double, name)

    def notice(self, text: str, severity: str = "information") -> None: ...

    async def open_files(self, paths: tuple[Path, ...]) -> None:
        if any(not path.exists() for path in paths):
            raise LadderError("no such file", str(paths[0]), "")
        self.opened.append(("files", paths))

    async def open_target(self, target: Any, *, debugger: str | None = None) -> None:
        self.opened.append(("target", target, debugger))


@pytest.fixture
def ladder(empty_ladder: Any, monkeypatch: pytest.MonkeyPatch) -> LadderNote:
    found = {"gdb": GDB, "cuda-gdb": NO_CUDA_GDB, "compute-sanitizer": SANITIZER}
    monkeypatch.setattr(start, "probe_one", found.__getitem__)
    return LadderNote(empty_ladder)


@pytest.fixture
def app(ladder: LadderNote) -> LadderApp:
    return LadderApp(ladder, Settings(), clock=lambda: 103.0, start=True)  # type: ignore[arg-type]


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_what_there_is_to_open(app: LadderApp, shots: Any, size: tuple[int, int]) -> None:
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        await shots.both(pilot, f"start-{size[0]}x{size[1]}")


async def test_a_demo_opens_by_key_and_by_click(app: LadderApp, ladder: LadderNote) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await pilot.press("end", "up", "enter")
        await settle(pilot)
        assert app.screen is app.workspace
        last_but_one = [demo for demo in DEMOS if demo.shipped][-2]
        assert ladder.opened == [("files", (last_but_one.path,))]
        assert read_recent()[0].label == last_but_one.path.name


async def test_a_rung_that_is_missing_says_how_to_get_it(app: LadderApp) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        screen = app.screen
        assert isinstance(screen, StartScreen)
        rungs = [row.target for row in screen.list._rows if isinstance(row.target, RungTarget)]
        number = next(n for n, row in enumerate(screen.list._rows) if row.target == rungs[3])
        await pilot.click(offset=(6, number + 1))
        assert screen.notice_line.notice is not None
        assert "ladder-tui demo --install-cuda-gdb" in screen.notice_line.notice.text


async def test_a_typed_line_opens_and_a_wrong_one_says_why(
    app: LadderApp, ladder: LadderNote, tmp_path: Path
) -> None:
    program = _program(tmp_path / "prog ram")
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await pilot.press("o", *"/missing", "enter")
        await settle(pilot)
        screen = app.screen
        assert isinstance(screen, StartScreen)
        assert screen.notice_line.notice is not None
        assert "/missing" in screen.notice_line.notice.text
        await pilot.press("o", *f"'{program}' -x 3", "enter")
        await settle(pilot)
        assert ladder.opened == [("target", LaunchTarget(program, ("-x", "3")), None)]


async def test_leaving(app: LadderApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await pilot.press("q")
    assert app.return_code == 0


def test_words_that_cannot_be_read() -> None:
    for line in ("", "   ", "'unclosed"):
        with pytest.raises(LadderError):
            read_opening(line)


def test_files_that_belong_together(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.write_text("========= COMPUTE-SANITIZER\n")
    program = _program(tmp_path / "prog")
    assert read_opening(f"{log} {program}") == Opening(files=(log, program))
    assert read_opening(f"{program} {log}") == Opening(files=(program, log))
    assert read_opening(str(program)) == Opening(target=LaunchTarget(program))


def test_rows_follow_what_was_found() -> None:
    looking = [row.text() for row in start_rows({"gdb": None, "cuda-gdb": None}, (), DEMOS)]
    assert "  1  gdb        … looking" in looking
    none = [row.text() for row in start_rows({}, (), ())]
    assert "  1  gdb        ✗ no debugger is registered for it" in none
    noted = Probe("gdb", Path("/g"), "13", available=True, notes=("no SASS: cuobjdump not found",))
    rows = start_rows({"gdb": noted, "cuda-gdb": NO_CUDA_GDB}, (Recent(("/a/[b].ladder",)),), DEMOS)
    texts = [row.text() for row in rows]
    assert any("! no SASS" in text for text in texts)
    assert any("✗ cuda-gdb is not on PATH → ladder-tui demo" in text for text in texts)
    assert "  case     [b].ladder  /a" in texts
    assert [row.target.demo for row in rows if isinstance(row.target, DemoTarget)] == list(DEMOS)


def test_recent_is_newest_first_bounded_and_without_doubles(tmp_path: Path) -> None:
    for number in range(LIMIT + 5):
        remember(Opening(files=(tmp_path / f"{number}.ladder",)))
    remember(Opening(target=LaunchTarget(tmp_path / "prog", ("-v",))))
    remember(Opening(files=(tmp_path / "20.ladder",)))
    remember(Opening(target=GpuDumpTarget(tmp_path / "dump", tmp_path / "exe")))
    remember(Opening())
    recents = read_recent()
    assert len(recents) == LIMIT
    assert [recent.label for recent in recents[:3]] == ["dump exe", "20.ladder", "prog -v"]
    assert [recent.label for recent in recents].count("20.ladder") == 1
    assert recents[2].opening() == Opening(target=LaunchTarget(tmp_path / "prog", ("-v",)))
    assert sorted(os.listdir(recent_file().parent)) == ["recent.json"]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff\x00",
        b"[" * 100_000,
        b"[1]",
        json.dumps({"recent": [1, {"paths": []}, {"paths": ["relative"]}, {"paths": ["/a\0b"]}]}).encode(),
        json.dumps({"recent": {"paths": ["/x"]}}).encode(),
    ],
)
def test_a_broken_list_is_an_empty_one(content: bytes) -> None:
    recent_file().parent.mkdir(parents=True)
    recent_file().write_bytes(content)
    assert read_recent() == ()
    remember(Opening(files=(Path("/x"),)))
    assert len(read_recent()) == 1


def test_hostile_names_are_shown_clean(tmp_path: Path) -> None:
    recent = Recent((f"{tmp_path}/a\x1b[2J\n\u202eb.ladder",))
    assert recent.label == "a␛[2J␊\\u202eb.ladder"
    assert not recent.present


def test_the_list_may_be_read_only(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(blocked))
    remember(Opening(files=(Path("/x"),)))
    assert read_recent() == ()


def test_every_probe_is_an_answer(make_app: Callable[..., LadderApp]) -> None:
    assert start.probe_one("no-such-debugger").missing
    assert set(start.probe_all()) >= {"gdb", "cuda-gdb"}


async def test_digits_choose_rungs_and_ctrl_c_leaves_the_screen_standing(app: LadderApp) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        screen = app.screen
        assert isinstance(screen, StartScreen)
        told = {"1": "GNU gdb 13.1", "3": "not on PATH", "4": "rocgdb"}
        for key, words in told.items():
            await pilot.press(key)
            assert screen.notice_line.notice is not None
            assert words in screen.notice_line.notice.text
            row = screen.list._rows[screen.list.cursor]
            assert isinstance(row.target, RungTarget)
            assert f"  {key}  " in row.text()
        await pilot.press("ctrl+c", "ctrl+c")
        assert app.screen is screen
        assert "q quits" in screen.notice_line.notice.text


async def test_a_program_is_typed_for_the_sanitizer(
    app: LadderApp, ladder: LadderNote, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "train.py"
    script.write_text("import torch\n")
    opened: list[Any] = []

    async def open_plan(opening: Opening, ladder: Any) -> None:
        opened.append(opening.plan)

    monkeypatch.setattr(Opening, "open", open_plan)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await pilot.press("s", *"/missing", "enter")
        await settle(pilot)
        screen = app.screen
        assert isinstance(screen, StartScreen)
        assert screen.notice_line.notice is not None
        assert "cannot run /missing" in screen.notice_line.notice.text
        await pilot.press("s", *f"python3 {script}", "enter")
        await settle(pilot)
        (plan,) = opened
        assert (plan.program.name, plan.arguments, plan.preset) == ("python3", (str(script),), "torch")


def test_a_missing_sanitizer_is_said_where_reports_are_read() -> None:
    missing = Probe("compute-sanitizer", None, missing="compute-sanitizer is not on PATH", remedy="install it")
    rows = start_rows({"compute-sanitizer": missing}, (), ())
    row = next(row for row in rows if isinstance(row.target, RungTarget) and row.target.name == "sanitizer")
    assert row.target == RungTarget("sanitizer", "compute-sanitizer is not on PATH — install it")


async def test_a_missing_sanitizer_is_said_before_a_line_is_typed(
    app: LadderApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    missing = Probe("compute-sanitizer", None, missing="compute-sanitizer is not on PATH", remedy="install it")
    monkeypatch.setattr(start, "probe_one", lambda name: missing)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await pilot.press("s")
        screen = app.screen
        assert isinstance(screen, StartScreen)
        assert screen.notice_line.notice is not None
        assert "not on PATH — install it" in screen.notice_line.notice.text
        assert not screen.prompt.display


async def test_a_question_mark_tells_of_the_keys(app: LadderApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await pilot.press("?")
        screen = app.screen
        assert isinstance(screen, StartScreen)
        assert screen.notice_line.notice is not None
        assert "q quits" in screen.notice_line.notice.text
