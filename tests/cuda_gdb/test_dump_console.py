"""What is typed to a cuda-gdb that holds a dump: nothing of it may end the engine."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ladder_backends.cuda_gdb.dump_console import why_deadly
from ladder_backends.errors import CommandFailed

from .conftest import Stand, dump_target

Make = Callable[[], Stand]

DEADLY = (
    *("run", "  r", "run 1 2", "ru", "start", "starti", "attach 1", "at 1"),
    *("target cudacore /x", "tar cudac y", "target native", "target remote :1", "target exec /bin/true"),
    *("file", "file /bin/ls", "exec-file /bin/ls", "symbol-file", "core-file x.nvcudmp", "core x"),
    *("detach", "detach inferiors 1", "add-inferior", "clone-inferior", "nosharedlibrary"),
    *("python gdb.execute('run')", 'interpreter-exec console "target cudacore z"'),
)
HARMLESS = (
    *("continue", "next", "kill", "info files", "record", "return", "refresh", "rwatch x", "reverse-step"),
    *("help run", "help target cudacore", "print run", "print file", "print start + 1", "info line", "filter x"),
    *("set startup-with-shell on", "stepi", "step", "show r", "info symbol main", "printf 'file %d', n"),
)


@pytest.mark.parametrize("typed", DEADLY)
def test_what_ends_the_engine_is_known(typed: str) -> None:
    assert why_deadly(typed)


@pytest.mark.parametrize("typed", HARMLESS)
def test_what_does_not_is_typed(typed: str) -> None:
    assert not why_deadly(typed)


@pytest.mark.cuda_gdb
async def test_none_of_it_reaches_the_engine(stand: Make) -> None:
    one = stand()
    await one.debugger.open(dump_target("vector-add"))
    for typed in DEADLY:
        with pytest.raises(CommandFailed):
            await one.debugger.console(typed)
    for typed in ("continue", "next", "kill", "jump 10", "info threads", "thread 1", "remove-inferiors 1", "until"):
        await one.debugger.console(typed)
    assert (await one.debugger.evaluate("n")).value == "1000"
