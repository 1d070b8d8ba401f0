"""Where two runs part: values of real jobs at a source line, and dumps of flight recorders."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from ladder_backends.model.ranks import Collective
from ladder_backends.ranks.compare.collective_comparison import compare_dumps
from ladder_backends.ranks.compare.hit_comparison import compare_hits
from ladder_backends.ranks.compare.recorded_hits import RunUnreadable, ValueType, read_run
from ladder_backends.ranks.compare.recording_run import ProgramUnknown, program_at
from ladder_backends.ranks.compare.wish import WishInvalid, read_wish
from ladder_backends.ranks.recorder.dump import RecorderDump
from ladder_tui.cli import main

LINE = "parting_ranks.c:27"
X = f"x[0]@1024@{LINE}"


def compare(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    capsys.readouterr()
    code = main(["compare", *words])
    told = capsys.readouterr()
    return code, told.out, told.err


@pytest.fixture(scope="module")
def command(mpi_program) -> str:
    return f"mpirun.openmpi --allow-run-as-root --oversubscribe -n 4 {mpi_program('parting_ranks')}"


def test_a_billionth_is_found_at_its_hit_rank_and_index(capsys, command: str, tmp_path: Path) -> None:
    runs = "--run", f"a={command}", "--run", f"b={command} 2 300 1e-9 600"
    runs = "--run", f"a={command} -1 0 0 600", *runs[2:]
    code, out, _ = compare(capsys, f"a::{X} ~ b::{X}", *runs, "-o", str(tmp_path))
    assert code == 1
    assert out.splitlines()[0] == (
        "first difference: hit 300, rank 2, index 7: 159.0 beside 159.000000001 (they differ by 1e-09)"
    )
    kept = "--run", f"a={tmp_path / 'a'}", "--run", f"b={tmp_path / 'b'}"
    code, out, _ = compare(capsys, f"a::{X} ~ b::{X} rtol=1e-6", *kept)
    assert (code, out) == (0, "no difference in 2400 hits\n")
    code, out, _ = compare(capsys, f"a::{X} == b::{X}", *kept, "--json")
    told = json.loads(out)
    assert (code, told["format"], told["kind"]) == (1, 1, "values")
    assert {key: told["first"][key] for key in ("hit", "rank", "index")} == {"hit": 300, "rank": 2, "index": 7}
    assert len(told["divergences"]) == 1
    # Sets of one run, beside each other: rank 1 has all numbers one larger.
    code, out, _ = compare(capsys, f"a{{0}}::{X} ~ a{{1}}::{X} atol=1", *kept[:2])
    assert code == 0
    code, out, _ = compare(capsys, f"a{{0..1}}::{X} ~ a{{1..2}}::{X} atol=0.5", *kept[:2])
    assert out.startswith("first difference: hit 1, ranks 0 and 1, index 0: 0.5 beside 1.5 (they differ by 1)")
    # What the ranks wrote is theirs.
    assert sorted((tmp_path / "a" / "output").read_text().split("\n")) == [
        "",
        *(f"rank {n} done" for n in range(4)),
    ]


def test_a_rank_that_crashes_is_told_of(capsys, command: str, tmp_path: Path) -> None:
    wish = f"a::iteration@{LINE} == 3"
    code, out, _ = compare(capsys, wish, "--run", f"a={command} 1 0 0 40 20", "-o", str(tmp_path))
    assert code == 1
    assert "first difference: hit 1, rank 0, index 0: 1 beside 3.0" in out
    assert "ended badly: a rank 1: SIGSEGV in " in out
    assert len(read_run(tmp_path / "a")[1].of(LINE, "iteration")) == 19


def test_what_was_not_recorded_or_cannot_be_read_is_no_difference(capsys, command: str, tmp_path: Path) -> None:
    code, out, _ = compare(capsys, f"a::nosuch@{LINE} == 0", "--run", f"a={command} -1 0 0 2", "-o", str(tmp_path))
    assert code == 1
    assert 'No symbol "nosuch" in current context.' in out
    code, out, _ = compare(capsys, f"a::x[0]@{LINE} == 0", "--run", f"a={tmp_path / 'a'}")
    assert code == 2
    assert f"not compared: a has not recorded x[0] at {LINE}" in out


def test_lines_that_cannot_be_understood(capsys, tmp_path: Path) -> None:
    code, _, error = compare(capsys, "a::x@f.c:1 ~ b::x", "--run", "a=true")
    assert code == 2
    assert "no run is called b" in error
    code, _, error = compare(capsys, "a::x@f.c:1 ~~ b::x")
    assert code == 2
    assert "^" in error
    code, _, error = compare(capsys, "only-one")
    assert code == 2
    code, _, error = compare(capsys, str(tmp_path), str(tmp_path))
    assert code == 2
    assert "no flight recorder has left a dump" in error
    code, _, error = compare(capsys, "a::x@f.c:1 == 1", "--run", "a=mpirun -n 4 nothing-there")
    assert code == 2
    assert "no program for the ranks" in error


@pytest.mark.parametrize(
    ("text", "column"),
    [
        ("", 0),
        ("a::x@f.c:1", 10),
        ("a::x ~ b::x", 4),
        ("::x@f.c:1 == 1", 0),
        ("a::x@f.c:1 == y", 14),
        ("a::x@f.c:1 ~ b::x rtol=z", 23),
        ("a::x@f.c:1 == b::x rtol=1", 11),
        ("a{0,}::x@f.c:1 == 1", 2),
        ("a::@f.c:1 == 1", 3),
        ("a::x@f.c:1 ~ b::x nan=other", 22),
    ],
)
def test_a_fault_of_a_wish_is_pointed_at(text: str, column: int) -> None:
    with pytest.raises(WishInvalid) as invalid:
        read_wish(text)
    assert invalid.value.column == column
    assert invalid.value.line().startswith(f"{text!r} is no comparison")


def test_wishes_are_read() -> None:
    wish = read_wish("a{0..2}::p->x[0]@8@src/f.c:12 ~ b{3-5}::p->y rtol=1e-6 atol=1 nan=same")
    assert (wish.left.run, wish.left.ranks, wish.left.expression, wish.left.place) == (
        "a",
        (0, 1, 2),
        "p->x[0]@8",
        "src/f.c:12",
    )
    assert wish.right is not None
    assert (wish.right.ranks, wish.right.expression, wish.right.place) == ((3, 4, 5), "p->y", "src/f.c:12")
    assert (wish.rtol, wish.atol, wish.nan_same, wish.exact) == (1e-6, 1.0, True, False)
    assert read_wish("a::n@f.c:1 == -1.5").number == -1.5


def test_a_program_is_found_behind_its_launcher() -> None:
    assert program_at(["mpirun", "-n", "4", "--map-by", "slot", "/bin/ls", "-l"]) == 5
    with pytest.raises(ProgramUnknown):
        program_at(["mpirun", "-n", "4", __file__])


def recorded(folder: Path, rank: int, *values: float, cut: bool = False) -> None:
    import hashlib
    import struct

    lines = [{"rank": rank, "probe": 0, "place": "f.c:1", "expression": "x"}]
    lines.append({"p": 0, "t": {"code": "f", "size": 8, "count": 1, "name": "double"}})  # type: ignore[dict-item]
    raw = b""
    for value in values:
        one = struct.pack("<d", value)
        lines.append({"p": 0, "h": hashlib.blake2b(one).hexdigest(), "o": len(raw), "n": 8})
        raw += one
    text = "".join(json.dumps(line) + "\n" for line in [*lines, *([] if cut else [{"end": 0}])])
    folder.mkdir(exist_ok=True)
    (folder / f"{rank}.hits").write_text(text + ('{"p":0,"h"' if cut else ""))
    (folder / f"{rank}.values").write_bytes(raw)


def test_nan_counts_as_another_unless_it_is_the_same(tmp_path: Path) -> None:
    for name in "ab":
        recorded(tmp_path / name, 0, 1.0, math.nan)
    runs = {name: read_run(tmp_path / name) for name in "ab"}
    found = compare_hits((read_wish("a::x@f.c:1 ~ b::x"),), runs)
    assert found.first is not None
    assert (found.first.hit, found.first.why) == (2, "a NaN")
    assert compare_hits((read_wish("a::x@f.c:1 ~ b::x nan=same"),), runs).first is None


def test_a_cut_record_and_other_counts_are_told(tmp_path: Path) -> None:
    recorded(tmp_path / "a", 0, 1.0, 2.0)
    recorded(tmp_path / "b", 0, 1.0, cut=True)
    runs = {name: read_run(tmp_path / name) for name in "ab"}
    found = compare_hits((read_wish("a::x@f.c:1 ~ b::x"),), runs)
    assert found.first is not None
    assert (found.first.hit, found.first.why) == (2, "a came there 2 times, b 1")
    assert found.endings == ("b rank 0: its record ends without a word",)
    with pytest.raises(RunUnreadable):
        read_run(tmp_path / "none")


def test_numbers_of_all_kinds() -> None:
    assert list(ValueType("u", 1, 2).numbers(b"\xff\x01") or ()) == [255, 1]
    assert list(ValueType("i", 2, 1).numbers(b"\xff\xff") or ()) == [-1]
    one = bytes.fromhex("0000000000000080ff3f") + b"\0" * 6
    assert list(ValueType("f", 16, 1).numbers(one) or ()) == [1.0]
    assert ValueType("s", 12, 1).numbers(b"x" * 12) is None


def dump(*rows: Collective) -> RecorderDump:
    return RecorderDump("2.10", rows)


def entry(seq: int, op: str = "all_reduce", size: int = 8, state: str = "completed", group: str = "") -> Collective:
    return Collective(seq, op, ((size,),), "float", state, group, output_sizes=((size,),))


def test_runs_part_at_the_first_collective_that_differs() -> None:
    same = [entry(seq) for seq in range(1, 6)]
    left = {0: dump(*same), 1: dump(*same), 2: dump(*same)}
    right = {
        0: dump(*same[:4], entry(5, "all_gather")),
        1: dump(*same[:2], entry(3, size=16), *same[3:]),
        2: dump(*same[:4]),
    }
    found = compare_dumps(left, right)
    assert [(each.seq, each.rank, each.why) for each in found.divergences] == [
        (3, 1, "all_reduce of 8 beside 16"),
        (5, 0, "all_reduce beside all_gather"),
        (5, 2, "the second run never came to it"),
    ]
    assert compare_dumps(left, left).first is None
    assert compare_dumps(left, left).compared == 15


def test_overwritten_entries_and_unlike_ranks_are_not_compared() -> None:
    left = {0: dump(*[entry(seq) for seq in range(1, 6)]), 1: dump(entry(1))}
    right = {0: dump(*[entry(seq) for seq in range(4, 6)])}
    found = compare_dumps(left, right)
    assert (found.first, found.compared) == (None, 2)
    assert found.unseen == ("rank 1 has a dump of the first run only",)
    hung = compare_dumps({0: dump(entry(1))}, {0: dump(entry(1, state="started"))})
    assert hung.first is not None
    assert hung.first.why == "all_reduce is completed beside started"
