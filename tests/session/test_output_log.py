"""What is kept of a program's output, however small the pieces are in which it comes."""

from ladder_backends.session.output import PROGRAM_BYTES, OutputLog
from ladder_backends.session.state import DebugState


def test_a_program_that_writes_byte_by_byte_loses_nothing() -> None:
    state = DebugState(rung="gdb")
    log = OutputLog(state)
    for number in range(100_000):
        log.program(b"%d" % (number % 10))
    assert state.program_dropped == 0
    assert b"".join(state.program) == b"0123456789" * 10_000


def test_a_flood_is_bounded_and_counted_to_the_byte() -> None:
    state = DebugState(rung="gdb")
    log = OutputLog(state)
    for size in (1, 4_095, 4_096, 4_097, 60_000) * 300:
        log.program(b"x" * size)
    kept = sum(map(len, state.program))
    assert kept <= PROGRAM_BYTES + 4_096
    assert kept + state.program_dropped == 300 * (1 + 4_095 + 4_096 + 4_097 + 60_000)
