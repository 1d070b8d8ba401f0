"""Host stacks as a person reads them."""

from pathlib import Path

from ladder_backends.model.finding import CodeLocation
from ladder_backends.sanitizer import read_report
from ladder_backends.sanitizer.host_stack import frame_line, stack_rows

LOGS = Path(__file__).parent / "reports/logs"


def lines(frames: tuple[CodeLocation, ...]) -> list[str]:
    return [
        frame_line(row.frame) if row.frame is not None else f"{len(row.folded)} {row.why}"
        for row in stack_rows(frames)
    ]


def test_the_python_frame_is_first_and_the_interpreter_folded() -> None:
    first = read_report([LOGS / "triton-oob.log"]).findings[0]
    shown = lines(first.host_frames)
    assert shown[:2] == ["triton_oob.py:7 <module>", "driver.py:713 __call__"]
    assert "17 interpreter" in shown
    folded = sum(len(row.folded) or 1 for row in stack_rows(first.host_frames))
    assert folded == len(first.host_frames)


def test_nothing_is_folded_of_a_short_stack() -> None:
    first = read_report([LOGS / "memcheck-oob.log"]).findings[0]
    assert lines(first.host_frames) == ["vector_add_oob.cu:19 main"]


def test_cuda_is_folded_and_nameless_frames_go_with_it() -> None:
    leak = read_report([LOGS / "memcheck-leak.log"]).findings[1]
    assert lines(leak.host_frames) == ["uninit.cu:14 main", "5 CUDA"]


def test_a_stack_without_names_is_said_to_be_so() -> None:
    assert lines((CodeLocation(offset="0x1"), CodeLocation(offset="0x2"))) == ["2 without a name"]
    assert lines(()) == []
