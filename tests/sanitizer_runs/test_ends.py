"""What became of a run is told from its report, its exit status and what came out beside the report."""

from __future__ import annotations

from pathlib import Path

import pytest

from ladder_backends.sanitizer import ending, exit_code
from ladder_backends.sanitizer.ending import End, RunEnd
from ladder_backends.sanitizer.run_report import RunReport

BANNER = "========= COMPUTE-SANITIZER\n"
CLEAN = f"{BANNER}========= ERROR SUMMARY: 0 errors\n"
NOT_RUN = Path(__file__).parents[1] / "sanitizer/reports/not-run"
NO_CALL = f"{BANNER}========= Error: Target application terminated before first instrumented API call\n"
NO_LIBRARY = (
    f"{BANNER}========= Error: process didn't terminate successfully\n"
    "=========     The application may have hit an error when dereferencing Unified Memory from the host. Please "
    "rerun the application under cuda-gdb or a host debugger to catch host side errors.\n"
    "========= Error: Target application terminated before first instrumented API call\n"
)
NO_PROCESS = (
    f"{BANNER}========= Error: No attachable process found. compute-sanitizer timed-out.\n"
    "========= Default timeout can be adjusted with --launch-timeout. Awaiting target completion.\n"
)
TRACKER = (
    f"{BANNER}========= Internal Sanitizer Error: The Sanitizer encountered an error while launching k and didn't "
    "track the launch. Errors might go undetected.\n========= ERROR SUMMARY: 0 errors\n"
)
OWN = f"{BANNER}========= Target application returned an error\n========= ERROR SUMMARY: 0 errors\n"


def ended(log: str | bytes, status: int | None = 0, said: bytes = b"", **how: bool) -> tuple[RunEnd, RunReport]:
    run = RunReport()
    run.begin("memcheck")
    run.feed(log.encode() if isinstance(log, str) else log)
    return run.finish(status, said, **how), run


@pytest.mark.parametrize(
    ("log", "status", "said", "words"),
    [
        (NO_CALL, 255, b"", "it made no CUDA call"),
        (NO_LIBRARY, 255, b"", "crashed, or found no CUDA driver"),
        (f"{BANNER}========= Target application doesn't exist or is not a valid executable\n", 1, b"", "the path"),
        ("", 255, b"Usage: ...\r\nunrecognised option '--x'\r\n", "unrecognised option '--x'"),
        ("", 255, b"--xml was enabled but no save location was specified\r\n", "no save location"),
        ("", 1, b'Filter ill-formed: invalid filter key "foo"\r\n', "invalid filter key"),
        (NO_PROCESS, 255, b"", "pass a longer --launch-timeout"),
        (f"{BANNER}========= Error: Device not supported. Please refer to the guide.\n", 255, b"", "for this GPU"),
        ("", 126, b"", "chmod +x"),
        ("", 127, b"", "was not found"),
        ("", 13, b"Unable to find injection library libsanitizer-collection.so\r\n", "--injection-path"),
        ("", -11, b"", "ended by signal 11"),
        (BANNER, -9, b"", "before the tool saw the program use CUDA"),
    ],
)
def test_what_did_not_run_says_why(log: str, status: int, said: bytes, words: str) -> None:
    end, run = ended(log, status, said)
    assert end.end is End.NOT_RUN, end
    assert words in end.reason
    assert end.status == status
    assert exit_code(run.report) == 2


def test_every_recorded_text_of_a_run_that_was_none() -> None:
    for file in sorted(NOT_RUN.glob("*.txt")):
        # With a prefix of its own, or quiet, it is the tool that is told so, never by us.
        if file.stem in ("own-prefix", "quiet", "no-cuda-call-allowed"):
            continue
        end, run = ended(b"", 255, file.read_bytes())
        assert end.end is End.NOT_RUN, file.stem
        assert exit_code(run.report) == 2, file.stem


def test_a_clean_run() -> None:
    end, run = ended(CLEAN)
    assert (end.end, end.reason, exit_code(run.report)) == (End.CLEAN, "", 0)


def test_a_clean_report_of_a_program_that_nobody_saw() -> None:
    end, run = ended(CLEAN, program_seen=False)
    assert end.end is End.INCOMPLETE
    assert "check that it ran" in end.reason
    assert exit_code(run.report) == 2


def test_a_launch_in_the_report_is_trace_enough() -> None:
    log = CLEAN.replace(
        "========= ERROR", "========= Launch #1\n=========   Kernel: vadd(int*)\n========= \n========= ERROR"
    )
    end, run = ended(log, program_seen=False)
    assert (end.end, run.launches) == (End.CLEAN, 1)


def test_a_launch_that_was_not_tracked_makes_it_incomplete() -> None:
    end, run = ended(TRACKER)
    assert end.end is End.INCOMPLETE
    assert exit_code(run.report) == 2


def test_the_programs_own_failure_is_not_the_tools() -> None:
    end, run = ended(OWN, 126)
    assert end.end is End.CLEAN
    assert end.reason == "the program itself ended with status 126"
    assert "chmod" not in (run.report.reason or "")


def test_what_is_cut_short_keeps_what_was_found(logs: Path) -> None:
    whole = (logs / "memcheck-oob.log").read_bytes()
    end, run = ended(whole[: len(whole) // 2], -9)
    assert end.end is End.INCOMPLETE
    assert end.found > 5
    assert exit_code(run.report) == 1


@pytest.mark.parametrize(("how", "end"), [({"stopped": True}, End.STOPPED), ({"timed_out": True}, End.TIMED_OUT)])
def test_what_was_ended_by_us_is_not_called_a_failure_of_the_tool(how: dict[str, bool], end: End) -> None:
    run_end, run = ended(NO_LIBRARY.split("=========     ")[0], -2, **how)
    assert run_end.end is end
    assert "signal" not in (run.report.reason or "")
    assert not run.report.complete


def test_one_tool_that_did_not_run_spoils_the_whole() -> None:
    run = RunReport()
    run.begin("memcheck")
    run.feed(CLEAN.encode())
    run.finish(0)
    run.begin("racecheck")
    run.feed(NO_CALL.encode())
    run.finish(255)
    assert (run.report.ran, run.report.complete) == (True, False)
    assert run.report.reason is not None
    assert run.report.reason.startswith("racecheck: ")
    assert exit_code(run.report) == 2


def test_what_the_machine_lacks_comes_before_what_follows_from_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ending, "_DEVICES", ())
    assert ended(NO_LIBRARY, 255)[0].reason.startswith("this machine shows no NVIDIA device")
