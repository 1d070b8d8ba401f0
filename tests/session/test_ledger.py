"""The ledger of a session over a real gdb: read on demand, in step with the command line."""

from collections.abc import Iterator

import pytest

from ladder_backends.debugger import LaunchTarget
from ladder_backends.let_in import configure_let_in, lets_in
from ladder_backends.model.ledger import LedgerEntry


@pytest.fixture(autouse=True)
def nothing_let_in() -> Iterator[None]:
    configure_let_in(())
    yield
    configure_let_in(())


def entry(told, name: str) -> LedgerEntry:
    return next(one for one in told.state.ledger.entries if one.name == name)


@pytest.fixture
async def opened(told, compiled):
    await told.session.open(LaunchTarget(compiled("steps")), run=False)
    assert not told.state.ledger.entries
    await told.session.ledger.load()
    return told


async def test_a_setting_typed_by_hand_is_noticed(opened) -> None:
    ledger = opened.state.ledger
    assert ledger.read
    await opened.session.console("set print elements 0")
    await opened.until(lambda: not ledger.read)
    await opened.session.ledger.load()
    assert entry(opened, "print elements").now == "unlimited"
    # Back to ours, whatever that is called.
    await opened.session.ledger.flip(entry(opened, "print elements"))
    assert entry(opened, "print elements").now == "200"
    assert not lets_in("print elements")
    await opened.session.ledger.flip(entry(opened, "print elements"))
    assert "with and without the console" in opened.notices()[-1]


async def test_flipping_there_and_back(opened) -> None:
    await opened.session.ledger.flip(entry(opened, "confirm"))
    assert entry(opened, "confirm").now == "on"
    assert lets_in("confirm")
    await opened.session.ledger.flip(entry(opened, "confirm"))
    assert entry(opened, "confirm").now == "off"
    assert not lets_in("confirm")


async def test_what_is_needed_stays(opened) -> None:
    await opened.session.ledger.flip(entry(opened, "mi-async"))
    assert entry(opened, "mi-async").now == "on"
    assert opened.notices()[-1].startswith("mi-async stays as it is")


@pytest.mark.parametrize("typed", ["width 5", "height 3", "pagination on"])
async def test_what_is_needed_and_typed_over_is_set_back(opened, typed) -> None:
    name = typed.split()[0]
    ours = entry(opened, name).now
    for _ in range(2):
        told = len(opened.notices())
        await opened.session.console(f"set {typed}")
        await opened.until(lambda told=told: len(opened.notices()) > told)
        assert opened.notices()[-1].startswith(f"{name} is ")
        await opened.session.ledger.load()
        assert entry(opened, name).now == ours
    told = len(opened.notices())
    await opened.session.console("echo 0123456789\\n")
    assert len(opened.notices()) == told


async def test_a_dead_engine_is_an_answer(opened) -> None:
    await opened.session.debugger.close()
    opened.state.ledger.read = False
    await opened.session.ledger.load()
    assert not opened.state.ledger.entries
    assert opened.state.ledger.note == "the engine is gone"
