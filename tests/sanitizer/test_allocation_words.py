"""An allocation in words; a name only where the report or the allocating line of source gives it."""

import pytest

from ladder_backends.model.finding import Allocation, CodeLocation, Finding, FindingKind
from ladder_backends.sanitizer.allocation_words import allocation_words, name_at
from ladder_backends.sanitizer.describe import allocation_line


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("    cudaMalloc(&a, n * sizeof(float));", "a"),
        ("CHECK(cudaMalloc((void **)&d_out, bytes));", "d_out"),
        ("cudaMallocManaged(reinterpret_cast<void **>(&state->a), n);", "state->a"),
        ("cudaMallocAsync<float>(&bufs[i], n, stream);", "bufs[i]"),
        ("if (cuMemAlloc_v2(&ptr, n) != CUDA_SUCCESS)", "ptr"),
        ("hipMalloc(&x, 8);", "x"),
        ("a = torch.empty(1000, device='cuda')", "a"),
        ("    self.weight = cp.zeros((4, 4))", "self.weight"),
        ("y: torch.Tensor = torch.randn(4)", "y"),
        ("cudaMalloc(&a, n); cudaMalloc(&b, n);", ""),
        ("launch(a, b);", ""),
        ("cudaMalloc(pointers + i, n);", ""),
        ("auto v = thrust::device_vector<int>(n);", ""),
        ("x" * 100_000, ""),
    ],
)
def test_the_variable_that_a_line_allocates(line: str, name: str) -> None:
    assert name_at(line) == name


def finding(**about: object) -> Finding:
    allocation = Allocation("0x7f00", 4000, "after", 1, **about)  # type: ignore[arg-type]
    return Finding(0, FindingKind.OOB, access="read", size=4, allocation=allocation)


def test_a_name_of_the_source_is_said_to_be_one() -> None:
    where = CodeLocation("main", "/src/x.cu", 16)
    assert allocation_words(finding(where=where), "a") == (
        "1 B past a[1000], 4,000 B, allocated by main x.cu:16, “a” by that line of source"
    )


def test_a_name_of_the_report_is_the_reports() -> None:
    assert allocation_words(finding(name="My allocation")) == "1 B past My allocation, 4,000 B, at 0x7f00"
    assert "source" not in allocation_words(finding(name="My allocation"), "a")


def test_without_a_name_none_is_made_up() -> None:
    assert allocation_words(finding()) == allocation_line(finding().allocation)
    assert allocation_words(Finding(0, FindingKind.OOB)) == ""
