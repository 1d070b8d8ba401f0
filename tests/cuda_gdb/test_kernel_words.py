"""Exceptions in words, and who compiled a kernel."""

from __future__ import annotations

import pytest

from ladder_backends.cuda_gdb.exceptions import described, exception_in
from ladder_backends.cuda_gdb.failures import failure_in
from ladder_backends.cuda_gdb.registers import written
from ladder_backends.cuda_gdb.tool_chain import build_words, tool_chain_of
from ladder_backends.images import DebugInformation
from ladder_backends.model.focus import Focus
from ladder_backends.model.grid import Kernel
from ladder_backends.session.lane_words import global_number, lane_of, lane_words

LANE = Focus.of(kernel=0, block=(3, 0, 0), thread=(240, 0, 0), device=0, sm=126, warp=7, lane=16)
VADD = Kernel(0, 1, 0, "vadd", (4, 1, 1), (256, 1, 1), "Active")


def test_every_exception_of_the_manual_has_a_meaning_and_a_remedy() -> None:
    for number in range(1, 19):
        told = described(number)
        assert told.meaning
        assert told.remedy
        assert exception_in(f"CUDA_EXCEPTION_{number}") == told
        assert exception_in(told.name) == told
    unknown = exception_in("CUDA_EXCEPTION_77")
    assert unknown is not None
    assert (unknown.number, unknown.meaning) == (77, "")
    assert exception_in("None") is None
    assert exception_in("") is None
    new = exception_in("Warp Stack Canary")
    assert new is not None
    assert (new.number, new.name) == (None, "Warp Stack Canary")


@pytest.mark.parametrize(
    ("symbol", "source", "program", "name", "flag"),
    [
        ("_Z4vaddPKfS0_Pfi", "vector_add.cu", "/x/vector_add", "", "-G"),
        ("add", "/home/user/triton_oob.py", "/usr/bin/python3.12", "Triton", "usually writes none"),
        ("triton_poi_fused_add_0", "/tmp/torchinductor_u/x.py", "/usr/bin/python3", "torch.compile", "usually"),
        ("_ZN6cudapy8__main__6kernelB2v1B", "k.py", "/usr/bin/python3", "Numba", "debug=True, opt=False"),
        ("_ZN2at6native13reduce_kernel", "", "/usr/bin/python3", "PyTorch itself", "usually writes none"),
        ("my_kernel", "", "/opt/venv/bin/python", "CuPy, NVRTC or Triton", '"-G"'),
        ("scale", "129f7b636405fcdbcebc6c9792c5c40bc128bd49.cubin.cu", "", "NVRTC", '"-G"'),
        ("add", "default_program", "/usr/bin/python3", "NVRTC", '"-G"'),
        ("_Z3addPf", "/r/.cache/torch_extensions/py312/x/x.cu", "/usr/bin/python3", "nvcc for a PyTorch extension",
         'extra_cuda_cflags=["-G"]'),
        ("_Z3addPf", "mine.cu", "/usr/bin/python3", "", "-G"),
    ],
)  # fmt: skip
def test_who_compiled_it_and_which_flag_helps(symbol: str, source: str, program: str, name: str, flag: str) -> None:
    chain = tool_chain_of(symbol, source, program)
    assert chain.name == name
    lines = build_words(chain, DebugInformation.LINES)
    assert "no locals" in lines
    assert flag in lines
    assert "no source, no locals" in build_words(chain, DebugInformation.NONE, lines=False)
    assert chain.lines in build_words(chain, None, lines=False)
    assert build_words(chain, DebugInformation.FULL) == ""


def test_memory_that_cannot_be_read_is_not_the_end_of_the_engine() -> None:
    line = "Error: read_param_memory(0, 126, 7): failed to read param memory at address 0x0 size 4, error="
    assert failure_in(line + "CUDBG_ERROR_INVALID_MEMORY_ACCESS, error message=") is None
    assert failure_in("fatal: failed to read the device, error=CUDBG_ERROR_INTERNAL(0xa)") is not None


def test_formats_of_a_register() -> None:
    assert written(0x3F800000, "float") == "1"
    assert written(0xFFFFFFFF, "decimal") == "-1"
    assert written(0xFFFFFFFF, "unsigned") == "4294967295"
    assert written(0x7FC00000, "float") == "nan"


def test_a_lane_in_words_of_any_length() -> None:
    whole = "thread (240,0,0) of (256,1,1) block (3,0,0) of (4,1,1) · SM 126 warp 7 lane 16"
    assert lane_words(LANE, VADD, 200) == whole + " · number 1,008 of the grid, computed"
    assert lane_words(LANE, VADD, len(whole)) == whole
    assert lane_words(LANE, None, 200) == "thread (240,0,0) block (3,0,0) · SM 126 warp 7 lane 16"
    assert lane_words(LANE, VADD, 35) == "t (240,0,0) b (3,0,0) SM 126 w7 l16"
    assert lane_words(LANE, VADD, 34) == "thread (240,0,0) block (3,0,0)"
    assert lane_words(LANE, VADD, 22) == "t (240,0,0) b (3,0,0)"
    assert lane_words(LANE, VADD, 5) == ""
    assert lane_words(Focus.of(thread=1), None, 80) == ""
    assert global_number(LANE, VADD) == 1_008
    assert lane_of(LANE) == (0, (3, 0, 0), (240, 0, 0))
    assert lane_of(Focus.of(thread=1)) == ()
