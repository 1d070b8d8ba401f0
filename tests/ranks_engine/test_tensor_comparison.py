"""Two runs of torch, by the tensors that their ranks give to collectives."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ladder_tui.cli import main

pytestmark = [pytest.mark.torch, pytest.mark.timeout(240)]
PYTHON = os.environ.get("LADDER_TORCH_PYTHON", "")
SCRIPT = Path(__file__).parent / "programs" / "summing.py"
WISH = "a::tensors@collectives ~ b::tensors"


def test_the_first_tensor_that_differs_is_told(capsys, tmp_path: Path, free_port: int) -> None:
    if not PYTHON:
        pytest.skip("LADDER_TORCH_PYTHON names no Python with torch")
    start = f"{PYTHON} -m torch.distributed.run --master-port {free_port} --nproc-per-node 2 {SCRIPT}"

    def compare(*words: str) -> tuple[int, str]:
        capsys.readouterr()
        return main(["compare", *words]), capsys.readouterr().out

    runs = "--run", f"a={start} 30 -1 0 1", "--run", f"b={start} 30 1 20 1e-9"
    code, out = compare(WISH, *runs, "-o", str(tmp_path))
    assert code == 1, (tmp_path / "a" / "output").read_text()[-2000:]
    assert out.startswith("first difference: hit 20, rank 1, index 7: 27.0 beside 27.000000001"), out
    kept = "--run", f"a={tmp_path / 'a'}", "--run", f"b={tmp_path / 'b'}"
    assert compare(f"{WISH} rtol=1e-6", *kept) == (0, "no difference in 60 hits\n")
    code, out = compare(WISH, "--run", f"a={tmp_path / 'a'}", "--run", f"b={start} 30 -1 9 0")
    assert code == 1
    assert "hit 9, rank 0: all_reduce float64[16] beside broadcast float64[16]" in out
