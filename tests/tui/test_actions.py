from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from ladder_backends.debugger.contract import Capability
from ladder_backends.model.provenance import Provenance
from ladder_backends.session.state import NOT_STARTED, DebugState, LadderState, Run
from ladder_tui.actions import ACTIONS, Action, Need, bindings_for, key_label, key_of, key_table, parse_key, why_not
from ladder_tui.app import LadderApp
from ladder_tui.panes import PANES, load_pane
from ladder_tui.screens.workspace import Workspace
from ladder_tui.widgets.line_view import LineView

SCOPES = ["workspace", "list", *PANES]


def target_of(action: Action) -> type:
    if action.scope == "workspace":
        return Workspace
    return LineView if action.scope == "list" else load_pane(action.scope)


@pytest.mark.parametrize("action", ACTIONS, ids=lambda action: action.id)
def test_every_action_does_something(action: Action) -> None:
    assert action.scope in SCOPES
    name = action.call.partition("(")[0]
    target: type = target_of(action)
    if name.startswith("app."):
        name, target = name.removeprefix("app."), LadderApp
    assert callable(getattr(target, f"action_{name}", None)), f"{action.id} calls {name}"


def test_ids_are_unique() -> None:
    assert [name for name, count in Counter(action.id for action in ACTIONS).items() if count > 1] == []


@pytest.mark.parametrize("scope", SCOPES)
def test_no_key_means_two_things_in_one_place(scope: str) -> None:
    # The workspace's keys come first, so a pane cannot have them; a pane's come before those of every view.
    keys = Counter(key for action in ACTIONS if action.scope in (scope, "workspace") for key in action.keys)
    assert [key for key, count in keys.items() if count > 1] == []


@pytest.mark.parametrize("pane_id", PANES)
def test_what_enter_does_is_told(pane_id: str) -> None:
    pane = load_pane(pane_id)
    acts = pane.activate is not LineView.activate or pane.action_act is not LineView.action_act
    told = any("enter" in action.keys for action in ACTIONS if action.scope == pane_id)
    assert told or not acts


def test_letters_and_their_twins_are_those_of_the_contract() -> None:
    keys = {action.id: action.keys for action in ACTIONS}
    assert keys["run.next"] == ("n", "f10")
    assert keys["run.step"] == ("s", "f11")
    assert keys["run.finish"] == ("f", "shift+f11")
    assert keys["run.continue"] == ("c", "f5")
    assert keys["breakpoint.toggle"] == ("b", "f9")
    assert [keys[f"rung.{name}"] for name in ("hardware", "gdb", "sanitizer", "cuda-gdb", "rocgdb", "ranks")] == [
        (digit,) for digit in "012345"
    ]


def test_no_function_key_is_the_only_way() -> None:
    for action in ACTIONS:
        assert not action.keys or not action.keys[0].startswith("f1"), action.id


def test_pane_letters_are_unique() -> None:
    letters = Counter(entry.letter for entry in PANES.values())
    assert max(letters.values()) == 1


def test_bindings_carry_ids_for_users_keys() -> None:
    assert {binding.id for binding in bindings_for("workspace")} >= {"run.next", "help", "quit"}  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("label", "key"),
    [("n", "n"), ("F10", "f10"), ("Shift-F11", "shift+f11"), ("Ctrl-C", "ctrl+c"), ("/", "slash"), (":", "colon"),
     ("?", "question_mark"), ("Space", "space"), ("⏎", "enter"), ("PgUp", "pageup"), ("n, F10", "n,f10")],
)  # fmt: skip
def test_keys_are_read_as_they_are_written(label: str, key: str) -> None:
    assert parse_key(label) == key
    assert ", ".join(key_label(one) for one in key.split(",")) == label


def test_every_key_is_written_so_that_it_can_be_read_back() -> None:
    wrong = {key: key_label(key) for action in ACTIONS for key in action.keys if parse_key(key_label(key)) != key}
    assert wrong == {}
    assert parse_key("Ctrl-+") == "ctrl+plus"
    assert key_label("at") == "@"


def test_the_table_has_every_key() -> None:
    table = key_table()
    for action in ACTIONS:
        assert f"| {action.description} |" in table
        assert f"`{action.key_label or key_of('palette')}`" in table


def test_why_not_says_why() -> None:
    step = next(action for action in ACTIONS if action.id == "run.next")
    state = LadderState()
    dump = DebugState("cuda-gdb", run=Run.DUMP)
    running = DebugState("gdb", run=Run.RUNNING, capabilities=Capability.RUN_CONTROL)
    stopped = DebugState("gdb", run=Run.STOPPED, capabilities=Capability.RUN_CONTROL)
    assert why_not(step, state, None) == "nothing is open on this rung"
    assert why_not(step, state, dump) == "a dump cannot run"
    assert why_not(step, state, running) == "the target runs; Ctrl-C stops it"
    assert why_not(step, state, stopped) == ""
    ended = replace(stopped, run=Run.EXITED, run_detail="exited with 0")
    assert why_not(step, state, ended) == "the program has ended; c runs it again"
    # What was let go runs on.
    let_go = replace(ended, run_detail="detached from process 4711")
    assert why_not(step, state, let_go) == "detached from process 4711; c starts another run"
    assert why_not(step, state, replace(ended, run_detail=NOT_STARTED)) == "the program does not run yet; c runs it"
    assert why_not(step, state, replace(stopped, run=Run.DEAD)) == "the engine is gone; c starts it again"
    assert why_not(step, state, replace(stopped, run=Run.STARTING)) == "it is only just starting"
    assert why_not(step, state, replace(dump, provenance=Provenance.RECORDING)) == "a recording cannot run"
    jump = Action("x", (), "", "", "", "x", needs=Need.FINDINGS)
    assert why_not(jump, state, None) == "no report is open"
