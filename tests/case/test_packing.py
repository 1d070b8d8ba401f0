"""Cores and dumps in a layer of compression, as systemd-coredump and people leave them."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from ladder_backends.case import FileKind, classify, plain_file
from ladder_backends.case import packing as packing_module
from ladder_backends.errors import TargetInvalid
from ladder_backends.gdb.core_check import check_core

TOOLS = {"xz": "xz", "gzip": "gzip", "bzip2": "bzip2", "zstd": "zstd", "lz4": "lz4"}


def core_like(size: int = 3 << 20) -> bytes:
    """A core header and contents that do not compress away."""
    head = bytearray(64)
    head[:7] = b"\x7fELF\x02\x01\x01"
    head[16:20] = (4).to_bytes(2, "little") + (62).to_bytes(2, "little")
    return bytes(head) + os.urandom(1 << 16) * (size >> 16)


def packed(tmp_path: Path, packing: str, content: bytes) -> Path:
    """A file packed by the real program, under a name of systemd-coredump's."""
    if shutil.which(TOOLS[packing]) is None:
        pytest.skip(f"no {TOOLS[packing]} here")
    plain = tmp_path / "core.train.1000.4f5d3a2b.4711.1700000000000000"
    plain.write_bytes(content)
    target = Path(f"{plain}{packing_module.SUFFIXES[packing]}")
    with target.open("wb") as out:
        subprocess.run([TOOLS[packing], "-c", str(plain)], stdout=out, check=True, timeout=60)
    return target


@pytest.mark.parametrize("packing", TOOLS)
def test_a_packed_core_is_a_core(tmp_path: Path, packing: str) -> None:
    content = core_like()
    file = packed(tmp_path, packing, content)
    found = classify(file)
    assert (found.kind, found.packing, found.packed) == (FileKind.CORE, packing, True)
    plain = plain_file(found)
    assert plain.read_bytes() == content
    assert plain.name == "core.train.1000.4f5d3a2b.4711.1700000000000000"
    # The second time it is there already.
    assert plain_file(classify(file)) == plain


@pytest.mark.parametrize("packing", TOOLS)
def test_a_cut_layer_says_so(tmp_path: Path, packing: str) -> None:
    file = packed(tmp_path, packing, core_like())
    raw = file.read_bytes()
    cut = file.with_name(f"cut{packing_module.SUFFIXES[packing]}")
    cut.write_bytes(raw[: len(raw) * 2 // 3])
    found = classify(cut)
    # bzip2 gives nothing before its first block is whole.
    if found.kind is FileKind.CORE:
        with pytest.raises(TargetInvalid, match=r"cut\S* cannot be opened: it (is cut short|does not decompress)"):
            plain_file(found)
    cut.write_bytes(raw[:12])
    assert classify(cut).kind is FileKind.UNKNOWN


@pytest.mark.parametrize(("packing", "program"), [("zstd", "zstd"), ("lz4", "lz4")])
def test_a_missing_program_is_named(
    tmp_path: Path, packing: str, program: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = packed(tmp_path, packing, core_like(1 << 17))
    monkeypatch.setenv("PATH", "/nowhere")
    found = classify(file)
    assert found.kind is FileKind.UNKNOWN
    assert found.why == (
        f"is packed with {packing}, which takes the program {program}; install it, or unpack it first"
    )


@pytest.mark.parametrize("magic", [magic for magic, _ in packing_module.MAGICS])
def test_damage_is_one_clause(tmp_path: Path, magic: bytes) -> None:
    file = tmp_path / "core.damaged"
    file.write_bytes(magic + b"\xff" * 500)
    found = classify(file)
    assert found.kind is FileKind.UNKNOWN
    assert "\n" not in found.why
    with pytest.raises(TargetInvalid, match=r"it is compressed \(\w+\) — unpack it first"):
        check_core(file)


def test_what_unpacks_to_too_much_is_stopped(tmp_path: Path) -> None:
    file = packed(tmp_path, "gzip", bytes(8 << 20))
    with pytest.raises(packing_module.Broken, match="unpacks to more than"):
        for _ in packing_module.unpacked(file, "gzip", 2 << 20):
            pass
