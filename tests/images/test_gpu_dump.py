from __future__ import annotations

import os
import random
import struct
from pathlib import Path

import pytest

from ladder_backends.case import open_files
from ladder_backends.errors import TargetInvalid
from ladder_backends.images import DebugInformation, read_gpu_dump
from ladder_demos.catalogue import find_demo


@pytest.mark.parametrize(
    ("demo", "symbol", "name", "grid_dim", "block_dim", "debug"),
    [
        ("vector-add", "_Z4vaddPKfS0_Pfi", "vadd", (4, 1, 1), (256, 1, 1), DebugInformation.FULL),
        ("vector-add-lineinfo", "_Z4vaddPKfS0_Pfi", "vadd", (4, 1, 1), (256, 1, 1), DebugInformation.LINES),
        ("uninit", "_Z5scalePKfPfi", "scale", (1, 1, 1), (64, 1, 1), DebugInformation.FULL),
        ("misaligned", "_Z10misalignedPc", "misaligned", (1, 1, 1), (32, 1, 1), DebugInformation.FULL),
        ("hang", "_Z4spinPVi", "spin", (2, 1, 1), (64, 1, 1), DebugInformation.FULL),
        ("triton-oob", "add", "add", (4, 1, 1), (128, 1, 1), DebugInformation.LINES),
    ],
)
def test_a_dump_names_the_kernel_it_stopped_in(
    demo: str,
    symbol: str,
    name: str,
    grid_dim: tuple[int, int, int],
    block_dim: tuple[int, int, int],
    debug: DebugInformation,
) -> None:
    path = open_files([find_demo(demo).path]).dump
    assert path is not None
    (kernel,) = read_gpu_dump(path).kernels
    assert (kernel.symbol, kernel.name) == (symbol, name)
    assert (kernel.grid_dim, kernel.block_dim, kernel.debug) == (grid_dim, block_dim, debug)


def test_every_module_function_is_known(dump_copy: Path) -> None:
    assert read_gpu_dump(dump_copy).symbols == {"_Z4vaddPKfS0_Pfi"}


def test_a_dump_cut_anywhere_is_refused_in_one_line(dump_copy: Path) -> None:
    size = dump_copy.stat().st_size
    points = [size - 1, size - 63, size - 64, size - 17_280, size - 17_281, size * 3 // 4, size // 2, size // 4]
    points += [4096, 1000, 65, 64, 63, 40, 17, 5, 4]
    for point in points:
        os.truncate(dump_copy, point)
        with pytest.raises(TargetInvalid) as refused:
            read_gpu_dump(dump_copy)
        line = refused.value.line()
        assert "copy.nvcudmp is cut or damaged" in line, point
        assert "\n" not in line
        assert refused.value.remedy


@pytest.mark.parametrize(
    ("content", "what", "why"),
    [
        (b"", "is empty", "never written"),
        (b"\x7fEL", "no GPU core dump", "not an ELF file"),
        (b"========= COMPUTE-SANITIZER\n", "no GPU core dump", "not an ELF file"),
        (b"\x7fELF\x01\x01\x01" + bytes(80), "cut or damaged", "64-bit"),
    ],
)
def test_what_is_no_dump_says_what_it_is(tmp_path: Path, content: bytes, what: str, why: str) -> None:
    file = tmp_path / "thing"
    file.write_bytes(content)
    with pytest.raises(TargetInvalid) as refused:
        read_gpu_dump(file)
    assert what in refused.value.what
    assert why in refused.value.line()


def _elf_head(kind: int, machine: int) -> bytes:
    return (
        b"\x7fELF\x02\x01\x01"
        + bytes(9)
        + struct.pack("<HHIQQQIHHHHHH", kind, machine, 1, 0, 0, 0, 0, 64, 0, 0, 64, 0, 0)
    )


@pytest.mark.parametrize(
    ("kind", "machine", "why"),
    [(4, 62, "core file of the host program"), (3, 62, "host program"), (2, 190, "compiled kernel")],
)
def test_other_elf_files_are_told_apart(tmp_path: Path, kind: int, machine: int, why: str) -> None:
    file = tmp_path / "other"
    file.write_bytes(_elf_head(kind, machine))
    with pytest.raises(TargetInvalid, match=why):
        read_gpu_dump(file)


def test_a_section_table_that_was_never_written(tmp_path: Path) -> None:
    file = tmp_path / "young.nvcudmp"
    file.write_bytes(_elf_head(4, 190))
    with pytest.raises(TargetInvalid, match="section table was never written"):
        read_gpu_dump(file)


def test_missing_folder_and_special_files(tmp_path: Path) -> None:
    with pytest.raises(TargetInvalid, match="there is no dump"):
        read_gpu_dump(tmp_path / "missing\x1b[31m.nvcudmp")
    with pytest.raises(TargetInvalid, match="is a folder"):
        read_gpu_dump(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(TargetInvalid, match="no regular file"):
        read_gpu_dump(tmp_path / "pipe")


def test_an_unreadable_dump(dump_copy: Path) -> None:
    dump_copy.chmod(0)
    if os.access(dump_copy, os.R_OK):
        pytest.skip("this user may read everything")
    with pytest.raises(TargetInvalid, match="cannot be read"):
        read_gpu_dump(dump_copy)


def test_spoiled_tables_never_raise_anything_else(dump_copy: Path) -> None:
    size = dump_copy.stat().st_size
    chance = random.Random(7)
    spans = [(0, 64)] * 2 + [(0xA00040, 0xA76000)] * 2 + [(size - 26_000, size)] * 4
    refused = 0
    with dump_copy.open("r+b") as file:
        for _ in range(400):
            low, high = chance.choice(spans)
            at = chance.randrange(low, high - 8)
            file.seek(at)
            before = file.read(8)
            file.seek(at)
            file.write(chance.choice([b"\xff" * 8, bytes(8), chance.randbytes(8)]))
            file.flush()
            try:
                read_gpu_dump(dump_copy)
            except TargetInvalid:
                refused += 1
            file.seek(at)
            file.write(before)
            file.flush()
    assert refused > 20
    assert read_gpu_dump(dump_copy).kernels[0].name == "vadd"
