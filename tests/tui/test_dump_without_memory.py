"""A value that a dump does not hold says so; it is not drawn as something that could be opened."""

from __future__ import annotations

from typing import Any

from ladder_backends.model.variable import Variable, VariableWindow
from ladder_backends.session.state import Change


async def test_what_a_dump_does_not_hold_is_no_structure(gpu_dump: Any, show: Any) -> None:
    held = (
        Variable("gone", "", "const float"),
        Variable("whole", "", "Row", children=True),
        Variable("n", "7", "int"),
    )
    gpu_dump.active.state.variables = VariableWindow(held)
    async with show(gpu_dump) as view:
        gpu_dump.tell(Change.VARIABLES)
        await view.settle()
        rows = {word: line for line in view.text().splitlines() for word in ("gone ", "whole ") if word in line}
        assert "<not in the dump>" in rows["gone "]
        assert "{…}" in rows["whole "]
