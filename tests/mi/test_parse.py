from __future__ import annotations

import time

import pytest

from ladder_backends.errors import MalformedRecord
from ladder_backends.mi import parse as parse_module
from ladder_backends.mi.parse import UnfinishedString, parse, parse_in_slices
from ladder_backends.mi.records import (
    AsyncRecord,
    PromptRecord,
    Record,
    Repeated,
    ResultRecord,
    StreamRecord,
    UnknownRecord,
    all_values,
)


def results_of(line: bytes) -> dict[str, object]:
    record = parse(line)
    assert isinstance(record, ResultRecord | AsyncRecord)
    return dict(record.results)


def sliced(line: bytes) -> tuple[Record, int]:
    steps = list(parse_in_slices(line))
    assert steps[:-1] == [None] * (len(steps) - 1)
    assert steps[-1] is not None
    return steps[-1], len(steps)


@pytest.mark.parametrize(
    ("line", "record"),
    [
        (b"7^done", ResultRecord(7, "done")),
        (b"^done\r", ResultRecord(None, "done")),
        (b"123456789012345678901^running", ResultRecord(123456789012345678901, "running")),
        (
            b'3^error,msg="No.",code="undefined-command"',
            ResultRecord(3, "error", {"msg": "No.", "code": "undefined-command"}),
        ),
        (b'*running,thread-id="all"', AsyncRecord("*", "running", {"thread-id": "all"})),
        (b'=thread-group-added,id="i1"', AsyncRecord("=", "thread-group-added", {"id": "i1"})),
        (
            b'5+download,{section=".text",size="1"}',
            AsyncRecord("+", "download", {"": {"section": ".text", "size": "1"}}, 5),
        ),
        (b'~"a\\tb\\n"', StreamRecord("~", "a\tb\n")),
        (b'@"target"', StreamRecord("@", "target")),
        (b'&"Quit\\n"\r', StreamRecord("&", "Quit\n")),
        (b"(gdb) ", PromptRecord()),
        (b"(gdb)\r", PromptRecord()),
    ],
)
def test_kinds_of_records(line: bytes, record: Record) -> None:
    assert parse(line) == record


@pytest.mark.parametrize(
    ("line", "results"),
    [
        (b'^done,a=[],b={},c=""', {"a": [], "b": {}, "c": ""}),
        (b'^done,a=[{},{}],b=["x","y"]', {"a": [{}, {}], "b": ["x", "y"]}),
        (b'^done,a=[[],["x"],[["y"]]]', {"a": [[], ["x"], [["y"]]]}),
        (b'^done,s=[frame={level="0"},frame={level="1"}]', {"s": [{"level": "0"}, {"level": "1"}]}),
        (b'^done,a={b={c=[d="1",d="2"]},e="f"},g="h"', {"a": {"b": {"c": ["1", "2"]}, "e": "f"}, "g": "h"}),
        (
            b'^done,"Focus is not set on any active CUDA kernel.\\n"',
            {"": "Focus is not set on any active CUDA kernel.\n"},
        ),
        (b'^done,"kernel 0, lane 8\n"', {"": "kernel 0, lane 8\n"}),
        (b'^done,script={"silent","print i"}', {"script": ["silent", "print i"]}),
        (b'^done,script={"silent"}', {"script": ["silent"]}),
        (b'*stopped,frame={func="k<<<(128,1,1),(128,1,1)>>>"}', {"frame": {"func": "k<<<(128,1,1),(128,1,1)>>>"}}),
        (b'^done,v="{a = [1, 2], b = \\"x=y\\"}"', {"v": '{a = [1, 2], b = "x=y"}'}),
    ],
)
def test_values(line: bytes, results: dict[str, object]) -> None:
    assert results_of(line) == results


def test_repeated_names_keep_every_value() -> None:
    ids = results_of(b'^done,thread-ids={thread-id="1",thread-id="2",thread-id="3"},number-of-threads="3"')[
        "thread-ids"
    ]
    assert isinstance(ids, dict)
    assert isinstance(ids["thread-id"], Repeated)
    assert all_values(ids, "thread-id") == ["1", "2", "3"]
    assert all_values(ids, "absent") == []


def test_a_list_is_one_value_and_a_repeated_name_many() -> None:
    once = results_of(b'^done,a=["x","y"]')
    twice = results_of(b'^done,a=["x","y"],a=["z"]')
    assert all_values(once, "a") == [["x", "y"]]  # type: ignore[arg-type]
    assert all_values(twice, "a") == [["x", "y"], ["z"]]  # type: ignore[arg-type]


def test_several_locations_of_the_second_dialect_are_all_there() -> None:
    line = b'^done,bkpt={number="1",addr="<MULTIPLE>"},{number="1.1",addr="0x1"},{number="1.2",addr="0x2"}'
    results = parse(line).results  # type: ignore[union-attr]
    assert results["bkpt"] == {"number": "1", "addr": "<MULTIPLE>"}
    assert [place["number"] for place in all_values(results, "")] == ["1.1", "1.2"]  # type: ignore[index,call-overload]


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (rb"\303\251", "é"),
        (b"\xc3\xa9", "é"),
        (b"\xe2\x80\\234q\xe2\x80\\235", "“q”"),
        (rb"\377\376 \220", "\\xff\\xfe \\x90"),
        (b"\xff", "\\xff"),
        (rb"\033[2J\e[0m", "\x1b[2J\x1b[0m"),
        (rb"a\\n", "a\\n"),
        (rb"a\\\\", "a\\\\"),
        (rb"\\303", "\\303"),
        (rb"\"q\" \'s\' \a\b\f\v\r", "\"q\" 's' \a\b\f\v\r"),
        (rb"bad \q", "bad \\q"),
        (rb"\0", "\0"),
        (rb"[bold]{x=1},y", "[bold]{x=1},y"),
    ],
)
def test_strings(raw: bytes, text: str) -> None:
    assert results_of(b'^done,value="' + raw + b'",next="n"') == {"value": text, "next": "n"}
    assert parse(b'~"' + raw + b'"') == StreamRecord("~", text)


@pytest.mark.parametrize(
    "line",
    [
        b'^done,a=["x","y"',
        b"^done,a=",
        b"^done,",
        b'^done,a={b="1"',
        b'^done,a={b="1"]',
        b'^done,a="1"]',
        b"^done,}",
        b'^done,a="1",',
        b'^done,a={b="1",}',
        b'^done,,a="1"',
        b'^done,a="1"b="2"',
        b'^done,a="1" junk',
        b"^done,a=b",
        b'^done"x"',
        b'=thread-exited,id="3",groupdone',
        b'~"text"more',
        b"^done,a=" + b"[" * 100_000,
        b"^done" + b',a={a="x"' * 5000,
    ],
)
def test_malformed_records_are_a_typed_error(line: bytes) -> None:
    with pytest.raises(MalformedRecord) as caught:
        parse(line)
    assert not isinstance(caught.value, UnfinishedString)
    assert caught.value.raw == line
    assert "\n" not in caught.value.line()


@pytest.mark.parametrize(
    "line", [b'^done,a="x', b'^done,a="x\\"', b'~"abc', b'~"abc\\"', b'^done,"', b'*stopped,a={b="']
)
def test_a_string_that_does_not_end_is_told_apart(line: bytes) -> None:
    with pytest.raises(UnfinishedString):
        parse(line)


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"\r",
        b"  ",
        b"hello",
        b'text*stopped,reason="x"',
        b"1234",
        b"^",
        b"7^",
        b"~",
        b"\x00\xff",
        b"9" * 5000 + b"^done",
    ],
)
def test_other_lines_are_kept(line: bytes) -> None:
    record = parse(line)
    assert isinstance(record, UnknownRecord)
    assert record.raw == line
    assert record.why


def big_record(megabytes: int) -> bytes:
    row = (
        b'Row={current=" ",kernel="0",from="(%d,0,0)",count="%d",filename="/home/user/grid \\"%d\\".cu",line="10"}'
    )
    rows = [row % (i, i, i) for i in range(megabytes * 11_000)]
    return b'4^done,table={nr_rows="%d",body=[' % len(rows) + b",".join(rows) + b"]}"


def test_a_record_of_twelve_megabytes() -> None:
    line = big_record(12)
    assert len(line) > 12e6
    record, steps = sliced(line)
    assert steps > 50
    assert isinstance(record, ResultRecord)
    table = record.results["table"]
    assert isinstance(table, dict)
    assert len(table["body"]) == int(str(table["nr_rows"])) == 132_000
    assert table["body"][77_777] == {  # type: ignore[index]
        "current": " ",
        "kernel": "0",
        "from": "(77777,0,0)",
        "count": "77777",
        "filename": '/home/user/grid "77777".cu',
        "line": "10",
    }


def test_slices_may_end_anywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    line = (
        b'4^done,table={h=[{c="\\\\"},{}],body=[R={a="x\\"y",b="\\303\\251"},R={a="",b="\\\\\\\\"}]},'
        b'l=["a\\n","[]{},="],"u",e={},t={"p","q"},d={k="1",k="\xc3\xa9"}'
    )
    whole = parse(line)
    for size in range(1, len(line)):
        monkeypatch.setattr(parse_module, "SLICE", size)
        assert sliced(line)[0] == whole


def test_a_single_huge_string_is_linear() -> None:
    text = b"x\\n" * 2_000_000
    begun = time.process_time()
    record, _ = sliced(b'^done,value="' + text + b'"')
    assert isinstance(record, ResultRecord)
    assert len(str(record.results["value"])) == 4_000_000
    # The square of the number of slices would take minutes.
    assert time.process_time() - begun < 20


def test_what_is_learnt_of_one_record_does_not_leak_into_the_next() -> None:
    assert results_of(b'^done,a={b="1"},b="2"') == {"a": {"b": "1"}, "b": "2"}
    assert results_of(b'^done,a=[b="1",b="2"]') == {"a": ["1", "2"]}
    assert results_of(b'^done,a={b="1",b="2"}') == {"a": {"b": ["1", "2"]}}
