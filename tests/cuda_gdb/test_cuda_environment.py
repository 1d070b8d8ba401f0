"""Which of the user's variables for the loader reach cuda-gdb, and what its ledger says of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from ladder_backends.cuda_gdb import CudaGdbDebugger
from ladder_backends.model.ledger import Kind


@pytest.mark.cuda_gdb
async def test_the_driver_is_found_by_the_path_that_was_given_and_nothing_is_preloaded(
    cuda_gdb: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LD_LIBRARY_PATH", "/opt/driver/lib")
    monkeypatch.setenv("LD_PRELOAD", "/opt/mine.so")
    debugger = CudaGdbDebugger()
    await debugger.start()
    try:
        # What a program would inherit is what the engine itself has.
        assert "/opt/driver/lib" in await debugger.cli_text("show environment LD_LIBRARY_PATH")
        assert "not defined" in await debugger.cli_text("show environment LD_PRELOAD")
        assert debugger.firewall is not None
        entries = {one.name: one for one in await debugger.firewall.entries() if one.kind is Kind.VARIABLE}
        assert entries["LD_PRELOAD"].now == "for the program only"
        libraries = entries["LD_LIBRARY_PATH"]
        assert (libraries.now, libraries.fixed) == (
            "let in",
            "cuda-gdb finds libcuda and the toolkit's libraries by it",
        )
    finally:
        await debugger.close()
