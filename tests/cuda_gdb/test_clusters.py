"""Blocks of a kernel that was launched in clusters: the engine wants to hear a block's cluster if it is another."""

from __future__ import annotations

import pytest

from ladder_backends.cuda_gdb.standing import Standing
from ladder_backends.debugger.contract import FocusRefused
from ladder_backends.errors import CommandFailed
from ladder_backends.mi.parse import parse
from ladder_backends.mi.records import AsyncRecord, ResultRecord
from ladder_backends.model.focus import Focus

STOP = (
    '*stopped,CudaFocus={device="0",sm="0",warp="0",lane="0",kernel="0",grid="1",clusterIdx="(0,0,0)",'
    'clusterDim="(4,1,1)",blockIdx="(0,0,0)",threadIdx="(0,0,0)"},reason="breakpoint-hit"'
)
REACHED = (
    '1^done,CudaFocus={device="0",sm="9",warp="1",lane="1",kernel="0",grid="1",clusterIdx="(1,0,0)",'
    'clusterDim="(4,1,1)",blockIdx="(7,0,0)",threadIdx="(1,0,0)"}'
)


class Engine:
    """Takes no block of another cluster than the focused one unless that is named."""

    def __init__(self) -> None:
        self.sent: list[str] = []

    async def command(self, text: str, deadline: float | None = None) -> ResultRecord:
        self.sent.append(text)
        if "cluster (1,0,0)" not in text:
            raise CommandFailed(text, "Invalid coordinates requested. CUDA focus unchanged.")
        record = parse(REACHED.encode())
        assert isinstance(record, ResultRecord)
        return record


class Host:
    thread: int | None = 1


@pytest.fixture
def standing() -> Standing:
    made = Standing(Engine(), Host())  # type: ignore[arg-type]
    made.live = True
    stop = parse(STOP.encode())
    assert isinstance(stop, AsyncRecord)
    made.told(stop.results)
    return made


async def test_a_block_of_another_cluster_is_asked_for_with_its_cluster(standing: Standing) -> None:
    reached = await standing.switch(Focus.of(block=(7, 0, 0), thread=(1, 0, 0)))
    assert reached["block"] == (7, 0, 0)
    assert reached["cluster"] == (1, 0, 0)


async def test_where_clusters_are_not_known_the_refusal_stands(standing: Standing) -> None:
    standing.clusters.clear()
    with pytest.raises(FocusRefused, match="not on the device"):
        await standing.switch(Focus.of(block=(7, 0, 0), thread=(1, 0, 0)))
