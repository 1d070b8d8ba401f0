"""Cases: what is written is read back, and hostile archives are refused with one line."""

from __future__ import annotations

import hashlib
import json
import lzma
import stat
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from ladder_backends.case import NewPart, Origin, Role, read_case, unpack_part, write_case
from ladder_backends.case import reader as case_reader
from ladder_backends.case.unpack import unpack_xz
from ladder_backends.errors import CaseInvalid, LadderError, TargetInvalid
from ladder_demos.catalogue import DEMOS, DemoKind

CASES = [demo for demo in DEMOS if demo.kind is DemoKind.CASE and demo.shipped]
REPORT = b"========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\n"


def part(name: str, body: bytes, role: str = "findings", **more: object) -> dict[str, object]:
    return {"name": name, "role": role, "sha256": hashlib.sha256(body).hexdigest(), "size": len(body), **more}


def archive(
    file: Path,
    members: dict[str, bytes],
    parts: list[dict[str, object]] | None = None,
    change: Callable[[zipfile.ZipInfo], None] | None = None,
) -> Path:
    """Write a zip the way a stranger could: any names, any flags."""
    table = {
        "format": 1,
        "title": "t",
        "parts": [part(n, b) for n, b in members.items()] if parts is None else parts,
    }
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as zipped:
        zipped.writestr("case.json", json.dumps(table))
        for name, body in members.items():
            member = zipfile.ZipInfo(name)
            member.compress_type = zipfile.ZIP_DEFLATED
            if change is not None:
                change(member)
            zipped.writestr(member, body)
    return file


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    log = tmp_path / "memcheck.log"
    log.write_bytes(REPORT)
    source = tmp_path / "a.cu"
    source.write_text("__global__ void k() {}\n")
    origin = Origin("compute-sanitizer", "2025.3.1", "NVIDIA H200", "2026-11-30")
    file = tmp_path / "x.ladder"
    write_case(
        file,
        "a title",
        [NewPart(log, Role.FINDINGS, origin=origin), NewPart(source, Role.SOURCE, path="/home/user/a.cu")],
        note="see",
    )

    case = read_case(file)

    assert (case.title, case.note) == ("a title", "see")
    assert [(one.name, one.role, one.size) for one in case.parts] == [
        ("findings/memcheck.log", "findings", len(REPORT)),
        ("source/a.cu", "source", 23),
    ]
    assert case.of(Role.FINDINGS)[0].origin == origin
    assert case.of(Role.SOURCE)[0].path == "/home/user/a.cu"
    assert unpack_part(case, case.parts[0]).read_bytes() == REPORT


def test_equal_parts_give_an_equal_file(tmp_path: Path) -> None:
    log = tmp_path / "memcheck.log"
    log.write_bytes(REPORT)
    for name in ("one.ladder", "two.ladder"):
        write_case(tmp_path / name, "t", [NewPart(log, Role.FINDINGS)])
    assert (tmp_path / "one.ladder").read_bytes() == (tmp_path / "two.ladder").read_bytes()


def test_two_parts_of_one_name_are_not_written(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "x.log").write_bytes(REPORT)
    parts = [NewPart(tmp_path / folder / "x.log", Role.FINDINGS) for folder in ("a", "b")]
    with pytest.raises(CaseInvalid, match="two parts are called findings/x"):
        write_case(tmp_path / "x.ladder", "t", parts)
    assert not (tmp_path / "x.ladder").exists()


def test_an_unreadable_part_leaves_the_old_case_alone(tmp_path: Path) -> None:
    file = tmp_path / "x.ladder"
    file.write_bytes(b"old")
    with pytest.raises(CaseInvalid, match="No such file"):
        write_case(file, "t", [NewPart(tmp_path / "gone.log", Role.FINDINGS)])
    assert file.read_bytes() == b"old"
    assert list(tmp_path.glob(".writing-*")) == []


@pytest.mark.parametrize("demo", CASES, ids=lambda demo: demo.name)
def test_shipped_cases_unpack(demo) -> None:
    case = read_case(demo.path)
    for one in case.parts:
        assert unpack_part(case, one).stat().st_size > 0
        assert one.role in set(Role)
    assert case.of(Role.SOURCE)[0].path.startswith(("/home/user/ladder/", "/src/ladder-demos/"))


def test_a_dump_loses_its_xz_layer_and_is_unpacked_once(tmp_path: Path) -> None:
    dump = tmp_path / "d.nvcudmp.xz"
    dump.write_bytes(lzma.compress(b"dump" * 1000))
    file = tmp_path / "x.ladder"
    write_case(file, "t", [NewPart(dump, Role.DUMP)])
    case = read_case(file)

    unpacked = unpack_part(case, case.parts[0])

    assert unpacked.name == "d.nvcudmp"
    assert unpacked.read_bytes() == b"dump" * 1000
    file.unlink()
    assert unpack_part(case, case.parts[0]) == unpacked


@pytest.mark.parametrize(
    "name",
    ["/etc/passwd", "../x", "a/../../x", "a//b", "C:/x", "a\\b", "folder/", ".", "bell\a", "a" * 300],
)
def test_names_that_lead_elsewhere_are_refused(tmp_path: Path, name: str) -> None:
    file = archive(tmp_path / "x.ladder", {name: REPORT})
    with pytest.raises(CaseInvalid) as caught:
        read_case(file)
    assert "x.ladder is refused" in caught.value.line()
    assert "\n" not in caught.value.line()


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFIFO, stat.S_IFCHR, stat.S_IFDIR])
def test_only_regular_files_are_taken(tmp_path: Path, kind: int) -> None:
    def change(member: zipfile.ZipInfo) -> None:
        member.external_attr = (kind | 0o777) << 16

    file = archive(tmp_path / "x.ladder", {"findings/l": b"/etc/passwd"}, change=change)
    with pytest.raises(CaseInvalid, match="is no regular file"):
        read_case(file)


def test_a_name_that_comes_twice_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "x.ladder"
    with zipfile.ZipFile(file, "w") as zipped:
        zipped.writestr("case.json", json.dumps({"format": 1, "parts": [part("a", REPORT)]}))
        zipped.writestr("a", REPORT)
        with pytest.warns(UserWarning, match="Duplicate"):
            zipped.writestr("a", b"other")
    with pytest.raises(CaseInvalid, match="twice"):
        read_case(file)


def test_too_many_members_are_refused_before_they_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = archive(tmp_path / "x.ladder", {f"m{i}": b"" for i in range(300)})

    def never(*_: object) -> None:
        raise AssertionError("the archive was parsed")

    monkeypatch.setattr(case_reader.zipfile, "ZipFile", never)
    with pytest.raises(CaseInvalid, match="more than 256 members"):
        read_case(file)


def test_a_bomb_is_refused_by_its_ratio(tmp_path: Path) -> None:
    file = archive(tmp_path / "x.ladder", {"findings/zeros.log": bytes(64 << 20)})
    assert file.stat().st_size < 100_000
    with pytest.raises(CaseInvalid, match="times its size"):
        read_case(file)


def test_a_size_that_lies_does_not_unpack(tmp_path: Path) -> None:
    """The directory says 10 bytes, the stream holds a million: nothing larger than promised is written."""
    file = archive(tmp_path / "x.ladder", {"findings/a.log": bytes(1_000_000)})
    raw = file.read_bytes()
    for marker, offset in ((b"PK\x01\x02", 24), (b"PK\x03\x04", 22)):
        at = raw.rfind(marker)
        raw = raw[: at + offset] + struct.pack("<I", 10) + raw[at + offset + 4 :]
    file.write_bytes(raw)
    case = read_case(file)
    with pytest.raises(CaseInvalid, match="is damaged"):
        unpack_part(case, case.parts[0])


def test_a_changed_part_does_not_unpack(tmp_path: Path, cache_home: Path) -> None:
    file = archive(tmp_path / "x.ladder", {"findings/a.log": REPORT}, [part("findings/a.log", b"something else")])
    case = read_case(file)
    with pytest.raises(CaseInvalid, match="does not have the digest"):
        unpack_part(case, case.parts[0])
    assert list(cache_home.rglob(f"{case.parts[0].sha256}/*")) == []


def test_xz_cut_short_or_damaged_is_one_line(tmp_path: Path) -> None:
    whole = lzma.compress(bytes(range(256)) * 4000)
    for name, raw, why in (
        ("cut", whole[:-20], "cut short"),
        ("bad", whole[:30] + b"\0" * 40 + whole[70:], "does not"),
    ):
        file = tmp_path / f"{name}.nvcudmp.xz"
        file.write_bytes(raw)
        with pytest.raises(TargetInvalid, match=why):
            unpack_xz(file)


@pytest.mark.parametrize(
    ("table", "why"),
    [
        ("[1]", "not an object"),
        ("{", "not JSON"),
        ('{"format": 2, "parts": []}', "its format is 2"),
        ('{"format": 1}', "no list of parts"),
        ('{"format": 1, "parts": [3]}', "no list of parts"),
        ('{"format": 1, "parts": [{"name": "gone", "sha256": "%s"}]}' % ("0" * 64), "'gone' is missing"),
        ("[" * 100_000, "not JSON"),
    ],
)
def test_tables_that_are_no_tables(tmp_path: Path, table: str, why: str) -> None:
    file = tmp_path / "x.ladder"
    with zipfile.ZipFile(file, "w") as zipped:
        zipped.writestr("case.json", table)
    with pytest.raises(CaseInvalid, match=why):
        read_case(file)


def test_unknown_keys_and_roles_are_passed_over(tmp_path: Path) -> None:
    parts = [part("findings/a.log", REPORT, colour="red"), part("x/y", b"later", role="hologram")]
    file = archive(tmp_path / "x.ladder", {"findings/a.log": REPORT, "x/y": b"later", "stray": b"?"}, parts)
    assert [one.role for one in read_case(file).parts] == ["findings", "hologram"]


@pytest.mark.parametrize("raw", [b"", b"PK\x03\x04", b"hello", b"PK\x05\x06" + bytes(18)])
def test_files_that_are_no_cases(tmp_path: Path, raw: bytes) -> None:
    file = tmp_path / "x.ladder"
    file.write_bytes(raw)
    with pytest.raises(CaseInvalid, match="is not a case"):
        read_case(file)


def test_a_case_cut_in_half(tmp_path: Path) -> None:
    whole = DEMOS[0].path.read_bytes()
    file = tmp_path / "x.ladder"
    file.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(CaseInvalid, match="cut short"):
        read_case(file)


def test_a_cache_that_cannot_be_written_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(blocked / "cache"))
    case = read_case(DEMOS[0].path)
    with pytest.raises(LadderError, match="XDG_CACHE_HOME"):
        unpack_part(case, case.parts[0])
