"""A program that is built again, and sources that are edited, while they are debugged: real files, a real gdb."""

import asyncio
import os
import shutil
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from ladder_backends.debugger import LaunchTarget, StepKind
from ladder_backends.images.build_id import is_whole, read_build_id
from ladder_backends.session.file_watch import FileWatch, _kinds
from ladder_backends.session.ladder import Ladder
from ladder_backends.session.moved_lines import line_now
from ladder_backends.session.sources import SourceState
from ladder_backends.session.state import Run


class Project:
    """A source and what is built from it."""

    def __init__(self, folder: Path, build: Callable[..., None], source: Path) -> None:
        self.source = folder / "rebuilt.c"
        self.program = folder / "rebuilt"
        self._build = build
        shutil.copyfile(source, self.source)
        self.make()

    def make(self) -> None:
        self._build(self.source, self.program)

    def edit(self, old: str, new: str, *, replace: bool = False) -> None:
        text = self.source.read_text().replace(old, new)
        target = self.source.with_suffix(".new") if replace else self.source
        target.write_text(text)
        if replace:
            target.replace(self.source)


@pytest.fixture
def project(tmp_path: Path, compiled) -> Project:
    return Project(tmp_path, compiled.build, compiled.source("rebuilt"))


class Watching:
    """A ladder with a program on it that is watched."""

    def __init__(self, ladder: Ladder, project: Project) -> None:
        self.ladder, self.project = ladder, project

    @property
    def session(self):
        assert self.ladder.active is not None
        return self.ladder.active

    @property
    def state(self):
        return self.session.state

    async def until(self, true: Callable[[], bool]) -> None:
        moved = asyncio.Event()
        leave = self.ladder.subscribe(lambda change: moved.set())
        while not true():
            await moved.wait()
            moved.clear()
        leave()

    def shown(self):
        place = self.state.place
        assert place is not None
        return self.ladder.source(place.file, place.fullname, place.line)


@pytest.fixture
async def watching(project: Project, gdb) -> AsyncIterator[Watching]:
    ladder = Ladder()
    session = await ladder.open_target(LaunchTarget(project.program), run=False)
    await session.set_breakpoint(f"{project.source}:9")
    await session.resume(StepKind.RUN)
    await session.at_rest()
    session.rebuild.begin()
    one = Watching(ladder, project)
    assert one.state.place is not None
    assert one.state.place.line == 9
    yield one
    await ladder.close()


@pytest.mark.parametrize("replace", [False, True])
async def test_an_edit_is_flagged_and_a_build_takes_the_flag_away(watching: Watching, replace: bool) -> None:
    project = watching.project
    before = watching.shown()
    assert before.state is SourceState.FOUND
    versions = watching.state.build.versions
    project.edit("#include", "// a line more\n#include", replace=replace)
    await watching.until(lambda: watching.state.build.versions > versions)
    edited = watching.shown()
    assert (edited.state, edited.lines) == (SourceState.EDITED, before.lines)
    assert not watching.state.build.rebuilt
    project.make()
    await watching.until(lambda: watching.state.build.rebuilt)
    # What is debugged is the old build until it is started again.
    assert watching.shown().lines == before.lines
    await watching.session.resume(StepKind.RUN)
    await watching.session.at_rest()
    assert not watching.state.build.rebuilt
    assert watching.shown().state is SourceState.FOUND
    assert watching.shown().lines[0] == "// a line more"


async def test_start_again_where_one_stood(watching: Watching) -> None:
    project, session = watching.project, watching.session
    for binding in watching.state.breakpoints:
        await session.remove_breakpoint(binding)
    project.edit("#include", "// a line more\n// and one\n#include")
    project.edit("2 * x", "5 * x")
    project.make()
    await watching.until(lambda: watching.state.build.rebuilt)
    assert watching.state.run is Run.STOPPED
    now = watching.ladder.place_now(watching.state.place)
    assert now is not None
    assert now.line == 11
    await session.resume(StepKind.RUN, f"{now.fullname}:{now.line}")
    await session.at_rest()
    assert watching.state.place is not None
    assert watching.state.place.line == 11
    assert (await session.evaluate("total")).value == "15"
    assert not [one for one in watching.state.breakpoints if not one.intent.temporary]


async def test_a_build_in_the_same_second_is_read_too(watching: Watching) -> None:
    project, session = watching.project, watching.session
    before = os.stat(project.program)
    project.edit("2 * x", "7 * x")
    project.make()
    os.utime(project.program, ns=(before.st_atime_ns, before.st_mtime_ns))
    await session.resume(StepKind.RUN)
    await session.at_rest()
    assert (await session.evaluate("total")).value == "21"


async def test_half_a_program_is_not_offered_and_ends_nothing(watching: Watching, monkeypatch) -> None:
    project, session = watching.project, watching.session
    monkeypatch.setattr("ladder_backends.session.rebuild._PATIENCE", 0.5)
    whole = project.program.read_bytes()
    project.program.unlink()
    project.program.write_bytes(whole[: len(whole) // 2])
    project.program.chmod(0o755)
    await asyncio.sleep(1.5)
    assert not watching.state.build.rebuilt
    await session.resume(StepKind.RUN)
    await session.at_rest()
    assert watching.state.run is Run.STOPPED
    assert watching.state.place is not None
    assert "not whole" in watching.state.notices[-1].text
    project.edit("2 * x", "3 * x")
    project.make()
    await watching.until(lambda: watching.state.build.rebuilt)


async def test_a_build_that_failed_ends_nothing(watching: Watching) -> None:
    project, session = watching.project, watching.session
    project.program.unlink()
    await session.resume(StepKind.RUN)
    await session.at_rest()
    assert (watching.state.run, watching.shown().state) == (Run.STOPPED, SourceState.FOUND)
    assert watching.state.notices[-1].text == "rebuilt cannot be started: its file is gone — build it again"
    project.make()
    await session.resume(StepKind.RUN)
    await session.at_rest()
    assert watching.state.run is Run.STOPPED


async def test_the_same_build_again_is_no_news(watching: Watching) -> None:
    project = watching.project
    loaded = watching.state.build.loaded
    copy = project.program.with_suffix(".copy")
    shutil.copyfile(project.program, copy)
    copy.chmod(0o755)
    copy.replace(project.program)
    await watching.until(lambda: watching.state.build.loaded != loaded)
    assert not watching.state.build.rebuilt


async def test_breakpoints_are_where_their_lines_are(watching: Watching) -> None:
    project, session = watching.project, watching.session
    project.edit("#include", "// a line more\n// and one\n#include")
    project.make()
    await watching.until(lambda: watching.state.build.rebuilt)
    await session.resume(StepKind.RUN)
    await session.at_rest()
    assert watching.state.place is not None
    assert watching.state.place.line == 11
    assert any("moved" in notice.text for notice in watching.state.notices)


async def test_the_engines_own_run_counts_as_well(watching: Watching) -> None:
    project, session = watching.project, watching.session
    project.edit("#include", "// a line more\n// and one\n#include")
    project.edit("2 * x", "4 * x")
    project.make()
    await watching.until(lambda: watching.state.build.rebuilt)
    await session.console("run")
    await watching.until(lambda: not watching.state.build.rebuilt)

    def lines() -> set[int]:
        return {place.line for binding in watching.state.breakpoints for place in binding.places}

    await watching.until(lambda: lines() == {11})


async def test_a_start_tells_of_sources_newer_than_the_program(project: Project, gdb) -> None:
    later = os.stat(project.program).st_mtime + 60
    project.edit("2 * x", "3 * x")
    os.utime(project.source, (later, later))
    ladder = Ladder()
    session = await ladder.open_target(LaunchTarget(project.program), run=False)
    notice = session.state.notices[-1].text
    assert notice.startswith("rebuilt.c was edited after rebuilt was built")
    await ladder.close()


async def test_where_nothing_is_told_files_are_looked_at(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr("ladder_backends.session.file_watch.POLL_SECONDS", 0.05)
    monkeypatch.setattr("ladder_backends.session.file_watch._any_remote", lambda folders: True)
    changed = asyncio.Event()
    watch = FileWatch(changed.set)
    watch.follow([tmp_path / "file"])
    await changed.wait()
    assert watch.how == "polling"
    await watch.stop()
    assert watch.how == ""


async def test_without_watches_left_files_are_looked_at(tmp_path: Path, monkeypatch) -> None:
    def none_left(*folders, **options):
        raise OSError("OS file watch limit reached")

    monkeypatch.setattr("watchfiles.awatch", none_left)
    monkeypatch.setattr("ladder_backends.session.file_watch.POLL_SECONDS", 0.05)
    looks = 0
    enough = asyncio.Event()

    def changed() -> None:
        nonlocal looks
        looks += 1
        if looks > 3:
            enough.set()

    watch = FileWatch(changed)
    watch.follow([tmp_path / "file"])
    await enough.wait()
    assert watch.how == "polling"
    await watch.stop()


async def test_a_folder_that_is_made_anew_is_watched_again(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr("ladder_backends.session.file_watch._SAFETY", 200)
    folder = tmp_path / "build"
    folder.mkdir()
    changed = asyncio.Event()
    watch = FileWatch(changed.set)
    watch.follow([folder / "prog"])
    await asyncio.sleep(0.3)
    folder.rename(tmp_path / "old")
    folder.mkdir()
    await asyncio.sleep(0.6)
    changed.clear()
    monkeypatch.setattr("ladder_backends.session.file_watch._SAFETY", 60_000)
    (folder / "prog").write_text("x")
    await changed.wait()
    await watch.stop()


def test_kinds_of_file_systems() -> None:
    table = (
        "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
        "30 22 0:5 / /home rw shared:1 - nfs4 server:/home rw\n"
        "31 22 0:6 / /mnt/a\\040b rw - fuse.sshfs x rw\n"
    )
    assert _kinds(table, ["/home/user", "/homes", "/mnt/a b/c"]) == ["nfs4", "ext4", "fuse.sshfs"]


def test_lines_are_found_by_text_and_neighbours() -> None:
    before = ["a", "x", "b", "", "c", "x", "d"]
    assert line_now(before, ["new", *before], 2) == 3
    assert line_now(before, ["new", *before], 6) == 7
    assert line_now(before, ["a", "  x", "b"], 2) == 2
    assert line_now(before, ["q"], 2) is None
    assert line_now(before, before, 4) is None
    assert line_now(before, before, 99) is None


def test_whole_programs_and_their_ids(project: Project, tmp_path: Path) -> None:
    assert is_whole(project.program)
    identity = read_build_id(project.program)
    assert len(identity) >= 16
    cut = tmp_path / "cut"
    for length in (0, 10, 40, 100, 5_000):
        cut.write_bytes(project.program.read_bytes()[:length])
        cut.chmod(0o755)
        assert not is_whole(cut)
        assert read_build_id(cut) in ("", identity)
    assert not is_whole(tmp_path / "missing")
    assert read_build_id(tmp_path / "missing") == ""
