"""Further runs that a finding, or a report that says little, calls for."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ladder_backends.model.finding import Finding, FindingKind, Report
from ladder_backends.sanitizer.describe import short_function
from ladder_backends.sanitizer.plan import Plan
from ladder_backends.sanitizer.presets import is_python

FEW = 10
"""Launches that are looked at where a run is to be short."""


@dataclass(frozen=True, slots=True)
class Way:
    """One further run.

    Attributes:
        key: The letter that chooses it.
        label: What is different, in a few words.
        note: What it brings, or costs.
    """

    key: str
    label: str
    note: str
    plan: Plan


def ways_again(plan: Plan, finding: Finding | None, report: Report | None) -> tuple[Way, ...]:
    """What is worth running again, the likeliest first; the plan as it was is always among them."""
    ways: list[Way] = []
    kernel = kernel_word(finding) if finding is not None else ""
    if finding is not None and finding.kind is FindingKind.RACE_ANALYSIS:
        ways.append(
            Way(
                "h",
                "with the hazard report",
                "both lanes of each hazard" + (f", of {kernel} alone" if kernel else ""),
                replace(
                    plan,
                    tools=("racecheck",),
                    racecheck_report="hazard",
                    kernels=(kernel,) if kernel else plan.kernels,
                ),
            )
        )
    if finding is not None and kernel and plan.kernels != (kernel,):
        tool = (finding.tool,) if finding.tool in plan.tools else plan.tools
        ways.append(Way("k", f"with {kernel} alone", "faster", replace(plan, tools=tool, kernels=(kernel,))))
    if "memcheck" in plan.tools and not plan.padding_bytes:
        ways.append(
            Way(
                "p",
                "with guard bytes",
                "finds what runs over into the neighbour; more memory",
                replace(plan, switches=plan.switches | {"padding"}),
            )
        )
    if is_python(plan.program):
        for key, switch, label in (
            ("c", "torch-cache", "without torch's cache"),
            ("y", "cupy-pool", "without CuPy's pool"),
        ):
            if not plan.is_on(switch):
                ways.append(
                    Way(key, label, "pools hide overruns; slower", replace(plan, switches=plan.switches | {switch}))
                )
    if plan.is_on("dump"):
        ways.append(
            Way(
                "d",
                "past its first error, without a dump",
                "finds later errors too; no values to look at",
                replace(plan, switches=plan.switches - {"dump"}),
            )
        )
    else:
        ways.append(
            Way("d", "with a dump", "Enter stands in its lane", replace(plan, switches=plan.switches | {"dump"}))
        )
    if report is not None and report.summary.get("not_printed") and plan.print_limit:
        ways.append(Way("o", "printing all", "a large log", replace(plan, print_limit=0)))
    if not plan.launch_count:
        ways.append(
            Way(
                "n",
                f"with the first {FEW} launches alone",
                "faster",
                replace(plan, launch_skip=0, launch_count=FEW),
            )
        )
    if plan.kernels or plan.launch_skip or plan.launch_count:
        ways.append(
            Way("a", "with all kernels", "slower", replace(plan, kernels=(), launch_skip=0, launch_count=0))
        )
    if "memcheck" in plan.tools and not plan.leaks:
        ways.append(Way("l", "with leaks", "needs a clean end", replace(plan, leaks=True)))
    ways.append(Way("s", "the same", "", plan))
    return tuple(ways)


def kernel_word(finding: Finding) -> str:
    """The part of a kernel's mangled name that its readable name tells: `vadd` of `ns::vadd<int>(int*)`."""
    name = short_function(finding.kernel, width=10_000).replace("<…>", "")
    word = name.rpartition("::")[2].strip()
    return word if word.replace("_", "").isalnum() else ""
