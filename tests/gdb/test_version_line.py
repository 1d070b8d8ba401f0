"""Which line of a version text names the engine."""

from __future__ import annotations

import pytest

from ladder_backends.gdb.probing import version_line


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("GNU gdb (Debian 13.1-3) 13.1\nCopyright (C) 2023\n", "GNU gdb (Debian 13.1-3) 13.1"),
        (
            "exec: /usr/local/cuda/bin/cuda-gdb-python3.12-tui -nx --version\nNVIDIA (R) cuda-gdb 13.0\n",
            "NVIDIA (R) cuda-gdb 13.0",
        ),
        ("NVIDIA (R) cuda-gdb 12.4\nPortions Copyright\n", "NVIDIA (R) cuda-gdb 12.4"),
        ("something of ours\n", "something of ours"),
        ("", ""),
    ],
)
def test_version_line(text: str, line: str) -> None:
    assert version_line(text) == line
