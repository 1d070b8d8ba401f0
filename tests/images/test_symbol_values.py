"""Values of symbols out of an ELF file."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

from ladder_backends.images.elf import ElfImage


def test_values_are_those_of_nm(compiled: Any) -> None:
    program: Path = compiled("steps")
    listed = subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout
    rows = [line.split() for line in listed.splitlines()]
    told = {row[2]: int(row[0], 16) for row in rows if len(row) == 3 and row[1] in "TDB"}
    assert "main" in told
    with ElfImage.open(program) as image:
        assert image.symbol_values(["main", "no such symbol"]) == {"main": told["main"]}
        # Those that other files define have no value here; a name inside a longer one is none.
        assert image.symbol_values(["printf", "puts", "ain"]) == {}
