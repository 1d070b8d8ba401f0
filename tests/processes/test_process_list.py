"""The list of running processes, from the real kernel and from captured trees."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import pytest

from ladder_backends.model.process import GpuUse
from ladder_backends.processes import ProcessList, ProcFiles
from ladder_backends.processes.gpu_use import GpuUses
from ladder_backends.processes.loaded_objects import loaded_objects

from .conftest import ProcTree


class NoGpus(GpuUses):
    """A machine without a GPU driver."""

    def __init__(self) -> None:
        super().__init__(Path("/nowhere"))


class SomeGpus(GpuUses):
    """A machine with a driver that tells of one process."""

    def __init__(self, told: dict[int, GpuUse]) -> None:
        super().__init__(Path("/nowhere"))
        self.present = True
        self._told = told

    def told_by_driver(self) -> dict[int, GpuUse]:
        return self._told


def test_a_real_process(started: Any, compiled: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    before = time.time()
    pid = started(compiled("spin"), "a b", "--fast").pid
    listed = {process.pid: process for process in ProcessList().read()}
    one = listed[pid]
    assert one.command == f"{compiled('spin')} a b --fast"
    assert one.directory == str(tmp_path)
    assert (one.uid, one.threads, one.parent, one.container, one.obstacle) == (os.geteuid(), 1, os.getpid(), "", "")
    assert abs(one.started - before) < 5
    assert os.getpid() not in listed
    again = ProcessList().one(pid)
    assert again is not None
    assert again.command == one.command


def test_what_cannot_be_debugged_is_left_out(tree: ProcTree) -> None:
    tree.add("self")
    tree.add(5)
    tree.add(6, state="Z (zombie)")
    tree.add(7)
    kernel = tree.root / "7/status"
    kernel.write_text("".join(row for row in kernel.read_text().splitlines(True) if "VmSize" not in row))
    (tree.root / "8").mkdir()
    (tree.root / "uptime").write_text("1 1\n")
    assert [process.pid for process in ProcessList(tree.files, NoGpus()).read()] == [5]


def test_a_wait_in_the_kernel_does_not_bar_a_process_from_the_list(tree: ProcTree) -> None:
    tree.add("self")
    tree.add(5, state="D (disk sleep)")
    (one,) = ProcessList(tree.files, NoGpus()).read()
    assert (one.state, one.obstacle) == ("D", "")


def test_a_list_asks_yama_for_nothing_that_it_would_log(tree: ProcTree, monkeypatch: pytest.MonkeyPatch) -> None:
    tree.add("self")
    tree.add(5)
    tree.setting("kernel/yama/ptrace_scope", "1")
    asked: list[int] = []
    monkeypatch.setattr(ProcFiles, "may_trace", lambda self, pid: asked.append(pid))
    (one,) = ProcessList(tree.files, NoGpus()).read()
    assert "ptrace_scope is 1" in one.obstacle
    assert asked == []


def test_names_and_command_lines_are_clean_and_short(tree: ProcTree) -> None:
    tree.add("self")
    tree.add(5, name="comm\x1b]0;x\x07", cmdline=b"")
    tree.add(6, cmdline=b"\x1b[2J\xff\0[bold]\0new\nline\0" + b"x" * 100_000)
    tree.add(7, cmdline=b"nginx: worker process\0\0\0\0")
    first, second, third = ProcessList(tree.files, NoGpus()).read()
    assert first.command == "[comm␛]0;x␇]"
    assert second.command.startswith("␛[2J\\xff [bold] new␊line xxx")
    assert len(second.command) == 400
    assert third.command == "nginx: worker process"


def test_a_start_time_with_parentheses_in_the_name(tree: ProcTree) -> None:
    tree.add("self")
    fields = " ".join(["0"] * 18)
    tree.add(5, stat=f"5 (a) b) c) S {fields} 4200 0 0\n")
    (tree.root / "stat").write_text("cpu 1 2 3\nbtime 1700000000\n")
    (one,) = ProcessList(tree.files, NoGpus()).read()
    assert one.started == 1_700_000_000 + 4200 / os.sysconf("SC_CLK_TCK")


def test_containers(tree: ProcTree) -> None:
    tree.add("self")
    tree.link("self", "ns/pid", "pid:[1]")
    tree.link("self", "ns/mnt", "mnt:[1]")
    digest = "4f5d3a2b1c0d" + "ab" * 26
    for pid, ns, cgroup in (
        (5, ("pid:[1]", "mnt:[1]"), "0::/user.slice"),
        (6, ("pid:[2]", "mnt:[2]"), f"0::/system.slice/docker-{digest}.scope"),
        (7, ("pid:[2]", "mnt:[2]"), "0::/x"),
        (8, ("pid:[1]", "mnt:[2]"), "0::/x"),
    ):
        tree.add(pid, cgroup=cgroup)
        tree.link(pid, "ns/pid", ns[0])
        tree.link(pid, "ns/mnt", ns[1])
    listed = ProcessList(tree.files, NoGpus()).read()
    assert [process.container for process in listed] == ["", "4f5d3a2b1c0d", "another container", "other files"]


def test_gpu_use_by_open_files_and_by_the_driver(tree: ProcTree) -> None:
    tree.add("self")
    for pid, links in (
        (5, ("/dev/nvidiactl", "/dev/nvidia0", "/dev/nvidia3", "/dev/nvidia0")),
        (6, ("/dev/null", "/home/me/dev/nvidia0.txt")),
        (7, ("/dev/nvidia-uvm",)),
        (8, ("/dev/nvidia1",)),
        (9, ("/dev/kfd", "/dev/dri/renderD129")),
    ):
        tree.add(pid)
        (tree.root / f"{pid}/fd").mkdir()
        for number, link in enumerate(links):
            tree.link(pid, f"fd/{number}", link)
    tree.add(10)
    # What the driver says of 6 is of another process namespace: its files show that it has no device open.
    told = {6: GpuUse((0,), 5), 8: GpuUse((1,), 7 << 30), 10: GpuUse((2,), 1)}
    listed = ProcessList(tree.files, SomeGpus(told)).read()
    assert [process.gpu for process in listed] == [
        GpuUse((0, 3)),
        None,
        GpuUse(()),
        GpuUse((1,), 7 << 30),
        GpuUse((1,)),
        GpuUse((2,), 1),
    ]
    assert [process.gpu for process in ProcessList(tree.files, NoGpus()).read()] == [None] * 6


def test_a_driver_library_that_fails_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    gpus = NoGpus()
    gpus.present = True
    assert gpus.told_by_driver() == {} or gpus._nvml is not None
    gpus.close()


def test_a_tree_that_is_not_there() -> None:
    assert ProcessList(ProcFiles(Path("/nowhere")), NoGpus()).read() == ()


def test_the_loader_s_names_are_those_of_its_links(started: Any, compiled: Any, tmp_path: Path) -> None:
    # Libraries lie behind a link and are named through it.
    real, link = tmp_path / "real", tmp_path / "link"
    real.mkdir()
    link.symlink_to(real)
    import subprocess

    source = tmp_path / "part.c"
    source.write_text("int part(void) { return 1; }\n")
    subprocess.run(["gcc", "-shared", "-fPIC", "-g", "-o", real / "libpart.so", source], check=True, timeout=60)
    main = tmp_path / "main.c"
    main.write_text(
        "#include <stdio.h>\n#include <unistd.h>\nint part(void);\n"
        'int main(void) { part(); puts("ready"); fflush(stdout); for (;;) usleep(1000); }\n'
    )
    program = tmp_path / "main"
    command = ["gcc", "-g", "-o", program, main, f"-L{link}", "-lpart", f"-Wl,-rpath,{link}"]
    subprocess.run(command, check=True, timeout=60)
    pid = started(program).pid
    found = loaded_objects(pid)
    assert found.executable == str(program)
    assert f"{link}/libpart.so" in found.libraries
    assert f"{real}/libpart.so" not in found.libraries
    assert any("libc" in name for name in found.libraries)
    assert (found.gone, found.executable_gone, found.root) == ((), False, "")
    # A library that is replaced, and a program that is deleted, are not what runs any more.
    (real / "libpart.so").unlink()
    (real / "libpart.so").write_bytes(b"other")
    program.unlink()
    found = loaded_objects(pid)
    assert found.gone == (f"{link}/libpart.so",)
    assert f"{link}/libpart.so" not in found.files
    assert (found.executable, found.executable_gone) == (str(program), True)


def test_static_programs_and_ends_have_no_list(started: Any, tmp_path: Path) -> None:
    import subprocess

    source = tmp_path / "s.c"
    source.write_text(
        "#include <stdio.h>\n#include <unistd.h>\n"
        'int main(void) { puts("x"); fflush(stdout); for (;;) usleep(999); }\n'
    )
    program = tmp_path / "s"
    subprocess.run(["gcc", "-static", "-o", program, source], check=True, timeout=60)
    found = loaded_objects(started(program).pid)
    assert found.files == (str(program),)
    assert loaded_objects(2**22 + 1).files == ()


@pytest.mark.parametrize(
    "auxv",
    [
        b"",
        b"\3",
        b"\3" + bytes(7) + b"\xff" * 8,
        b"".join(n.to_bytes(8, "little") for n in (3, 64, 4, 56, 5, 1 << 60)),
    ],
)
def test_a_hostile_memory_image_is_bounded(tree: ProcTree, auxv: bytes) -> None:
    tree.add("self")
    tree.add(
        5, auxv=auxv, mem=b"\xff" * 8192, maps="garbage\n0-1 r--p 0 0:0 1 /a/lib\\012x.so\n0-1 r 0 0 1 [heap]\n"
    )
    assert loaded_objects(5, tree.files).libraries == ("/a/lib\nx.so",)


def test_a_library_may_be_called_like_an_escape(tree: ProcTree) -> None:
    tree.add("self")
    tree.add(5, maps="0-1 r--p 0 0:0 1 /a/lib\\899.so\n0-1 r--p 0 0:0 1 /a/lib\\101.so\n")
    assert loaded_objects(5, tree.files).libraries == ("/a/lib\\899.so", "/a/lib\\101.so")


def test_a_file_that_the_kernel_gives_in_pieces_is_read_whole() -> None:
    proc = ProcFiles()
    # The own memory map has more than the page that one read gives.
    maps = proc.raw("self", "maps", 16 << 20)
    assert len(maps) > 8192
    assert maps.endswith(b"\n")
    assert b"[stack]" in maps
    assert len(proc.raw("self", "maps", 5000)) == 5000
