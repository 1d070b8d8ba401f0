"""Values of a lane in a GPU dump, looked into through variable objects: this cuda-gdb has no Python."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ladder_backends.debugger.facets.values import Look, Wanted
from ladder_backends.errors import CommandFailed

from .conftest import Stand, dump_target

pytestmark = pytest.mark.cuda_gdb


async def test_pointers_and_lane_values(stand: Callable[[], Stand]) -> None:
    one = stand()
    await one.debugger.open(dump_target("vector-add"))
    values = one.debugger.values
    assert values is not None
    read = await values.read([Wanted("i"), Wanted("n", "hex"), Wanted("a"), Wanted("threadIdx.x")], 0)
    assert [each.value for each in read[:2]] == ["1000", "0x3e8"]
    assert (read[2].type, read[2].children) == ("const float *", True)
    assert read[3].value == "232"
    window = await values.children("a", 0, 0, 5)
    assert [(each.name, each.type) for each in window.children] == [("*a", "const float")]
    elements = await values.children("a", 0, 2, 3, look=Look.ELEMENTS)
    assert [(each.name, each.path) for each in elements.children] == [
        ("[2]", "a[2]"), ("[3]", "a[3]"), ("[4]", "a[4]"),
    ]  # fmt: skip
    with pytest.raises(CommandFailed):
        await values.assign("n", 0, "3")
    assert (await one.debugger.evaluate("i")).value == "1000"
