"""What py-spy writes, as captured from 0.4.3 on Python 3.8 and 3.12, and what a hostile program may put into it."""

from __future__ import annotations

import json

import pytest

from ladder_backends.python_frames.reading import VALUE_LIMIT, threads_of

DUMP_38 = """[
  {"pid": 28385, "thread_id": 140737344857792, "thread_name": "idler", "os_thread_id": null, "active": true,
   "owns_gil": false, "frames": [
    {"name": "idle", "filename": "script.py", "module": null, "short_filename": "script.py", "line": 7,
     "locals": null, "is_entry": true, "is_shim_entry": false}], "process_info": null},
  {"pid": 28385, "thread_id": 140737353833344, "thread_name": "MainThread", "os_thread_id": null, "active": true,
   "owns_gil": true, "frames": [
    {"name": "forward", "filename": "script.py", "module": null, "short_filename": "script.py", "line": 15,
     "locals": [{"name": "x", "addr": 1, "arg": true, "repr": "0"}], "is_entry": true, "is_shim_entry": false},
    {"name": "<module>", "filename": "script.py", "module": null, "short_filename": "script.py", "line": 34,
     "locals": [], "is_entry": true, "is_shim_entry": true}], "process_info": null}]"""

FRAME_312 = (
    '{"name": "%s", "filename": "/s.py", "line": %d, "locals": null, "is_entry": false, "is_shim_entry": %s}'
)


def frames(*rows: object) -> list[dict[str, object]]:
    return [{"thread_id": 1, "frames": list(rows)}]


def test_threads_and_frames() -> None:
    idler, main = threads_of(DUMP_38)
    assert (idler.name, idler.os_thread, idler.pthread, idler.owns_gil) == ("idler", None, 140737344857792, False)
    assert main.owns_gil
    assert [(frame.function, frame.line, frame.entry) for frame in main.frames] == [
        ("forward", 15, True),
        ("<module>", 34, True),
    ]
    assert idler.frames[0].variables is None
    (x,) = main.frames[0].variables or ()
    assert (x.name, x.value, x.is_argument) == ("x", "0", True)


def test_the_outermost_frame_of_each_loop_is_an_entry_in_later_pythons() -> None:
    rows = (("forward", 15, "false"), ("__call__", 12, "true"), ("numbers", 21, "true"))
    (thread,) = threads_of('[{"frames": [' + ",".join(FRAME_312 % row for row in rows) + "]}]")
    assert [frame.entry for frame in thread.frames] == [False, True, True]


def test_an_old_release_tells_of_no_entries() -> None:
    (thread,) = threads_of(json.dumps(frames({"name": "a", "filename": "a.py", "line": 1})))
    assert thread.frames[0].entry


def test_names_and_values_are_cleaned_and_cut() -> None:
    value = "\x1b[2J" + "x" * 100_000
    variables = [{"name": "a\x1b\u202e", "repr": value, "arg": False}, {"name": "b", "repr": None}]
    row = {"name": "f\x9b" + "n" * 9_000, "filename": "/a\nb.py", "line": 3, "locals": variables}
    (thread,) = threads_of(json.dumps(frames(row)))
    (frame,) = thread.frames
    a, b = frame.variables or ()
    assert (a.name, a.value[-1], len(a.value)) == ("a␛\\u202e", "…", VALUE_LIMIT)
    assert a.value.startswith("␛[2Jxxx")
    assert b.error
    assert frame.file == "/a␊b.py"
    assert "\x9b" not in frame.function
    assert len(frame.function) < 600


@pytest.mark.parametrize("document", ["", "{}", "[", "nonsense", '"text"', "7"])
def test_what_is_no_dump(document: str) -> None:
    with pytest.raises(ValueError):
        threads_of(document)


def test_rows_of_the_wrong_kind_are_passed_over() -> None:
    assert threads_of('[1, null, "x"]') == ()
    told = '[{"frames": [null, {"line": -4, "name": 7, "locals": [3, {}]}], "os_thread_id": true, "owns_gil": 1}]'
    (thread,) = threads_of(told)
    (frame,) = thread.frames
    assert (frame.function, frame.line, thread.os_thread, thread.owns_gil) == ("??", 0, None, False)
