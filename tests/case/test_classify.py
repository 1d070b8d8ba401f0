"""Files are told apart by what is in them."""

from __future__ import annotations

import gzip
import lzma
import os
import subprocess
from pathlib import Path

import pytest

from ladder_backends.case import FileKind, Opened, classify, open_files
from ladder_backends.errors import TargetInvalid
from ladder_demos.catalogue import find_demo
from ladder_demos.compile import compile_demo

REPORT = b"========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\n"
RECORDING = b'{"ladder_recording": 1, "engine": "gdb", "version": "13.1", "argv": ["gdb"]}\n'


def put(tmp_path: Path, raw: bytes, name: str = "file") -> Path:
    file = tmp_path / name
    file.write_bytes(raw)
    return file


@pytest.mark.parametrize(
    ("raw", "name", "kind"),
    [
        (REPORT, "x.log", FileKind.REPORT),
        (b"[1,0]<stderr>:========= Invalid read\n", "x.txt", FileKind.REPORT),
        (b"out\n" * 200_000 + REPORT, "x.log", FileKind.REPORT),
        (b'<?xml version="1.0"?>\n<ComputeSanitizerOutput>\n', "x.xml", FileKind.REPORT),
        (RECORDING, "x.jsonl", FileKind.RECORDING),
        (b'{"t": 0.1, "d": ">", "s": "1-gdb-exit"}\n', "x.jsonl", FileKind.RECORDING),
        (gzip.compress(RECORDING, mtime=0), "x.jsonl.gz", FileKind.RECORDING),
        (b"int main(void) { return 0; }\n", "x.c", FileKind.SOURCE),
        (b"#!/bin/sh\nexit 0\n", "x", FileKind.SCRIPT),
        (b"Title\n=========\n", "x.rst", FileKind.UNKNOWN),
        (b"", "x.log", FileKind.UNKNOWN),
        (b"\x00\x01\x02", "x.bin", FileKind.UNKNOWN),
        (b"\x7fELF", "x", FileKind.UNKNOWN),
        (lzma.compress(REPORT), "x.log.xz", FileKind.REPORT),
        (gzip.compress(REPORT, mtime=0), "x.log.gz", FileKind.REPORT),
        (REPORT.decode().encode("utf-16"), "x.log", FileKind.REPORT),
        (lzma.compress(b"text"), "x.xz", FileKind.UNKNOWN),
        (b"\xfd7zXZ\x00broken", "x.xz", FileKind.UNKNOWN),
    ],
)
def test_kinds(tmp_path: Path, raw: bytes, name: str, kind: FileKind) -> None:
    found = classify(put(tmp_path, raw, name))
    assert found.kind is kind
    assert bool(found.why) == (kind is FileKind.UNKNOWN)


def test_parts_of_a_case_are_known_without_their_names(vector_add: Opened, tmp_path: Path) -> None:
    for part, kind in (
        (vector_add.dump, FileKind.GPU_DUMP),
        (vector_add.executable, FileKind.EXECUTABLE),
        (vector_add.reports[0], FileKind.REPORT),
    ):
        assert part is not None
        link = tmp_path / f"{kind.name}.anything"
        link.symlink_to(part)
        assert classify(link).kind is kind


def test_a_packed_dump_is_a_dump(vector_add: Opened, tmp_path: Path) -> None:
    assert vector_add.dump is not None
    packed = put(tmp_path, lzma.compress(vector_add.dump.read_bytes(), preset=0), "d.xz")
    found = classify(packed)
    assert (found.kind, found.packed) == (FileKind.GPU_DUMP, True)
    assert open_files([packed]).dump is not None


def test_a_host_core_and_an_object_file(tmp_path: Path, gdb: Path) -> None:
    program = compile_demo(find_demo("segfault"))
    core = tmp_path / "core.host"
    subprocess.run(
        [gdb, "-nx", "-batch", "-ex", "run", "-ex", f"gcore {core}", str(program)],
        capture_output=True,
        check=True,
        timeout=50,
    )
    assert classify(core).kind is FileKind.CORE
    object_file = tmp_path / "x.o"
    subprocess.run(["cc", "-c", "-o", str(object_file), str(find_demo("segfault").path)], check=True)
    assert "object file" in classify(object_file).why


@pytest.mark.parametrize("flags", [[], ["-no-pie"], ["-static"], ["-static-pie"], ["-pie", "-s"]], ids=" ".join)
def test_programs_of_every_kind_are_programs(tmp_path: Path, flags: list[str]) -> None:
    program = tmp_path / "program"
    source = find_demo("segfault").path
    subprocess.run(["cc", *flags, "-o", str(program), str(source)], check=True, timeout=50)
    assert classify(program).kind is FileKind.EXECUTABLE


def test_a_library_is_none(tmp_path: Path) -> None:
    library = tmp_path / "library.so"
    source = find_demo("segfault").path
    subprocess.run(["cc", "-shared", "-fPIC", "-o", str(library), str(source)], check=True, timeout=50)
    assert classify(library).why == "is a shared library, not a program"


def test_what_is_no_file_is_not_opened(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert classify(pipe).why == "is no regular file"
    assert classify(tmp_path).why == "is a folder"
    assert classify(tmp_path / "gone").why == "does not exist"
    assert classify(Path("a\0b")).kind is FileKind.UNKNOWN


def test_a_case_opens_as_plain_files(vector_add: Opened) -> None:
    assert vector_add.title == "vector_add_oob · memcheck · H200"
    assert vector_add.dump is not None
    assert vector_add.dump.name == "memcheck-oob.nvcudmp"
    assert vector_add.executable is not None
    assert [part.path for part in vector_add.sources] == ["/home/user/ladder/vector_add_oob.cu"]


def test_files_named_beside_a_case_stand_in_for_its_parts(vector_add: Opened, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.symlink_to(compile_demo(find_demo("segfault")))
    opened = open_files([find_demo("vector-add").path, other])
    assert opened.executable == other
    assert opened.dump == vector_add.dump


def test_two_dumps_are_not_opened_together(vector_add: Opened, tmp_path: Path) -> None:
    assert vector_add.dump is not None
    second = tmp_path / "second"
    second.symlink_to(vector_add.dump)
    with pytest.raises(TargetInvalid, match="together"):
        open_files([vector_add.dump, second])


def test_a_file_of_no_use_is_one_line(tmp_path: Path) -> None:
    file = put(tmp_path, b"hello", "\x1b[2J[bold]\n.txt")
    with pytest.raises(TargetInvalid) as caught:
        open_files([file])
    assert "\x1b" not in caught.value.line()
    assert "\n" not in caught.value.line()


def test_a_program_out_of_a_case_can_be_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    opened = open_files([find_demo("vector-add").path])
    assert opened.executable is not None
    assert os.access(opened.executable, os.X_OK)
    assert opened.dump is not None
    assert not os.access(opened.dump, os.X_OK) or os.geteuid() == 0
