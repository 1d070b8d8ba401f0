"""Why an action makes no sense now."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ladder_backends.debugger.contract import Capability
from ladder_backends.model.provenance import Provenance
from ladder_backends.session.state import NOT_STARTED, NOT_STARTED_HERE, LadderState, Run
from ladder_tui.actions.action import Action, Need
from ladder_tui.actions.registry import key_of

if TYPE_CHECKING:
    from ladder_backends.session.debug_state import DebugState


def why_not(action: Action, state: LadderState, debug: DebugState | None) -> str:
    """Why an action makes no sense now, in a few words; empty where it does."""
    needs = action.needs & ~Need.ROW
    if needs & Need.FINDINGS and state.report is None:
        return "no report is open"
    if not needs & ~Need.FINDINGS:
        return ""
    if debug is None or debug.run is Run.NOTHING:
        return "nothing is open on this rung"
    if debug.run is Run.DEAD:
        return "" if needs & Need.RESTING else f"the engine is gone; {key_of('run.continue')} starts it again"
    able = debug.capabilities
    if debug.run is Run.STARTING and needs & (Need.RUN_CONTROL | Need.STOPPED | Need.BREAKPOINTS | Need.CONSOLE):
        listens = able & Capability.CONSOLE or debug.provenance is Provenance.ENGINE
        # Lines that are typed before the engine listens wait for that.
        return "" if needs is Need.CONSOLE and listens else "it is only just starting"
    if needs & Need.RUN_CONTROL and not able & Capability.RUN_CONTROL:
        if debug.provenance is Provenance.RECORDING:
            return "a recording cannot run"
        return "a dump cannot run" if debug.run is Run.DUMP else "this target cannot run"
    if needs & Need.STOPPED and debug.run is Run.RUNNING:
        return f"the target runs; {key_of('run.interrupt')} stops it"
    if needs & Need.STOPPED and debug.run is Run.EXITED:
        return runs_no_more(debug)
    if needs & Need.RESTING and not debug.control.startable:
        if debug.run is Run.EXITED:
            return runs_no_more(debug)
        if action.id == "run.start":
            return NOT_STARTED_HERE
    if needs & Need.RESTING and debug.run is Run.RUNNING:
        return f"the target runs already; {key_of('run.interrupt')} stops it"
    if needs & Need.PROCESS and not able & Capability.PROCESS:
        if debug.provenance is Provenance.RECORDING:
            return "a recording has no process"
        return "a dump has no process" if debug.run is Run.DUMP else "this target has no process that is held"
    if needs & Need.ALIVE and debug.run not in (Run.RUNNING, Run.STOPPED):
        return "no program runs"
    if needs & Need.RUNNING and debug.run is not Run.RUNNING:
        return "the target does not run"
    if needs & Need.DEVICE and not (able & Capability.DEVICE_FOCUS and able & Capability.RUN_CONTROL):
        return "a dump is of one moment" if debug.run is Run.DUMP else "no program runs on a GPU here"
    if needs & Need.DISASSEMBLE and not able & Capability.DISASSEMBLE:
        return "this target has no machine code to show"
    if needs & Need.BREAKPOINTS and not able & Capability.BREAKPOINTS:
        return "a dump takes no breakpoints" if debug.run is Run.DUMP else "this target takes no breakpoints"
    if needs & Need.CONSOLE and not able & Capability.CONSOLE:
        return "this engine has no command line"
    return ""


def runs_no_more(debug: DebugState) -> str:
    """Why a program stands nowhere that does not run, or is no longer held, and what can be done."""
    if not debug.control.startable:
        why = debug.run_detail or "the process has ended"
        live = debug.provenance is Provenance.ENGINE
        return f"{why}; {key_of('attach')} attaches to a process" if live else why
    key = key_of("run.continue")
    if debug.run_detail == NOT_STARTED:
        return f"the program does not run yet; {key} runs it"
    if debug.run_detail.startswith("detached"):
        return f"{debug.run_detail}; {key} starts another run"
    return f"the program has ended; {key} runs it again"
