"""A stand-in for cuda-gdb on a machine with several GPUs: the recorded run of one, and tables for as many as asked.

The forms of the answers are those that a real one gave on an H200; each device has one kernel, of one number.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from .stand_in import StandIn

_WORDS = re.compile(r"(kernel|device|sm|warp|lane|block|thread) (\(\d+,\d+,\d+\)|\d+)")
_INVALID = '^error,msg="Invalid coordinates requested. CUDA focus unchanged."'
_BLOCK = "(3,0,0)"


class SeveralDevices(StandIn):
    """Answers what is asked about devices by itself, and all else as it was recorded.

    Args:
        count: Devices.
        idle: Those on which nothing runs.
        name: What else is answered from.

    Attributes:
        focus: Device that it stands on, and the thread of block (3,0,0).
    """

    def __init__(self, count: int, idle: Iterable[int] = (), name: str = "live-oob") -> None:
        super().__init__(name)
        self.count, self.idle = count, frozenset(idle)
        self.focus = (0, 232)

    def _reply(self, token: str, command: str) -> None:
        asked = dict(_WORDS.findall(command))
        answer = {
            "-cuda-info-devices": self._devices,
            "-cuda-info-kernels": self._kernels,
            "-cuda-info-sms": self._sms,
            "-cuda-info-warps": self._warps,
            "-cuda-info-lanes": self._lanes,
            "-cuda-info-blocks": self._blocks,
            "-cuda-focus-query": lambda asked: "^done," + self._told(),
            "-cuda-focus-switch": self._switch,
        }.get(command.split(" ")[0])
        if answer is None or (command.startswith("-cuda-focus-query") and self._host):
            super()._reply(token, command)
            return
        self._play([("<", answer(asked))], token)

    def _told(self) -> str:
        device, thread = self.focus
        return (
            f'CudaFocus={{device="{device}",sm="{2 * device}",warp="{thread // 32}",lane="{thread % 32}",'
            f'kernel="{device}",grid="1",blockIdx="{_BLOCK}",threadIdx="({thread},0,0)"}}'
        )

    def _switch(self, asked: dict[str, str]) -> str:
        device, thread = self.focus
        device = int(asked.get("device", asked.get("kernel", device)))
        if "thread" in asked:
            thread = int(asked["thread"][1:].split(",")[0]) if asked["thread"][0] == "(" else int(asked["thread"])
        if "warp" in asked or "lane" in asked:
            thread = 32 * int(asked.get("warp", thread // 32)) + int(asked.get("lane", 0))
        known = device < self.count and device not in self.idle
        if not known or asked.get("block", _BLOCK) != _BLOCK or int(asked.get("sm", 2 * device)) != 2 * device:
            return _INVALID
        self.focus = (device, thread)
        return f'^done,{self._told()},frame={{addr="0x00007ffddb7a1770",func="vadd",args=[],line="10"}}'

    def _rows(self, name: str, rows: list[str]) -> str:
        body = ",".join(f"{name}Row={{{row}}}" for row in rows)
        return f'^done,{name}Table={{nr_rows="{len(rows)}",nr_cols="1",hdr=[],body=[{body}]}}'

    def _devices(self, asked: dict[str, str]) -> str:
        return self._rows(
            "InfoCudaDevices",
            [
                f'current="{"*" if at == self.focus[0] else " "}",device="{at}",pci_bus="{at + 6:02x}:00.0",'
                'name="NVIDIA H200",description="GH100GL-A",sm_type="sm_90",num_sms="132",num_warps="64",'
                f'num_lanes="32",num_regs="255",active_sms_mask="{0 if at in self.idle else 1 << 2 * at:#036x}"'
                for at in range(self.count)
            ],
        )

    def _kernels(self, asked: dict[str, str]) -> str:
        return self._rows(
            "InfoCudaKernels",
            [
                f'current="{"*" if at == self.focus[0] else " "}",kernel="{at}",parent="-",device="{at}",grid="1",'
                f'status="Active",sms_mask="{1 << 2 * at:#036x}",gridDim="(4,1,1)",blockDim="(256,1,1)",'
                r'invocation="vadd(,args=[{name=\"n\",value=\"1000\"}])"'
                for at in range(self.count)
                if at not in self.idle
            ],
        )

    def _sms(self, asked: dict[str, str]) -> str:
        device = int(asked.get("device", self.focus[0]))
        rows = (
            [] if device in self.idle else [f'current="*",sm="{2 * device}",active_warps_mask="0x00000000000000ff"']
        )
        return self._rows("InfoCudaSms", rows)

    def _warps(self, asked: dict[str, str]) -> str:
        device = int(asked.get("device", self.focus[0]))
        rows = [
            f'current=" ",warp="{at}",active_lanes_mask="0xffffffff",divergent_lanes_mask="0x00000000",'
            f'active_physical_pc="0x00007ffddb7a1770",kernel="{device}",blockIdx="{_BLOCK}",'
            f'threadIdx="({32 * at},0,0)"'
            for at in range(8)
        ]
        return self._rows("InfoCudaWarps", [] if device in self.idle else rows)

    def _lanes(self, asked: dict[str, str]) -> str:
        warp = int(asked.get("warp", self.focus[1] // 32))
        return self._rows(
            "InfoCudaLanes",
            [
                f'current=" ",lane="{at}",state="active",physical_pc="0x00007ffddb7a1770",'
                f'threadIdx="({32 * warp + at},0,0)",exception="None"'
                for at in range(32)
            ],
        )

    def _blocks(self, asked: dict[str, str]) -> str:
        kernel = asked.get("kernel", self.focus[0])
        row = f'current=" ",kernel="{kernel}",from="{_BLOCK}",to="{_BLOCK}",count="1",state="running"'
        return self._rows("CoalescedInfoCudaBlocks", [row])
