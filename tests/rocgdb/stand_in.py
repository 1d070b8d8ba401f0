"""A stand-in for ROCgdb: it answers as its manual and sources say; no real one has been asked.

Sources, by their paths in ROCm/ROCgdb: `gdb/amd-dbgapi-target.c` (names of waves, lanes, dispatches),
`gdb/doc/gdb.texinfo` ("GDB/MI Heterogeneous Debugging Commands", "... Dispatch Information", "... Lane
Information"), `gdb/testsuite/gdb.rocm/lane-info.exp` (states of lanes, `thread find`, refusals), `gdb/thread.c`.
"""

from __future__ import annotations

import asyncio
import re

from ladder_backends.mi.transport import Channel, Ended, EngineCommand, Receive

HOST_THREADS = 2


class StandIn:
    """A dispatch of `groups` work-groups of 100 work-items each; odd lanes are inactive.

    Attributes:
        sent: Commands of the machine interface, in order, without tokens.
    """

    def __init__(self, *, groups: int = 3, size: int = 64, lanes: bool = True, hidden: bool = False) -> None:
        self.groups, self.size, self.lanes, self.hidden = groups, size, lanes, hidden
        self.per_group = -(-100 // size)
        self.sent: list[str] = []
        self.thread, self.lane = 1, 0
        self._receive: Receive = lambda channel, chunk: None
        self._ended: Ended = lambda status: None

    def __call__(self, command: EngineCommand) -> StandIn:
        return self

    async def open(self, receive: Receive, ended: Ended) -> None:
        self._receive, self._ended = receive, ended
        receive(Channel.MI, b"(gdb) \n")
        receive(Channel.CLI, b"(gdb) ")

    def send(self, channel: Channel, chunk: bytes) -> None:
        if channel is Channel.MI:
            for line in chunk.decode().splitlines():
                match = re.match(r"(\d*)(.*)", line)
                assert match is not None
                self.sent.append(match[2])
                asyncio.get_running_loop().call_soon(self._reply, match[1], match[2])

    def say(self, *lines: str) -> None:
        for line in lines:
            self._receive(Channel.MI, line.encode() + b"\n")

    def interrupt(self) -> None: ...

    def resize(self, channel: Channel, columns: int, rows: int) -> None: ...

    def forget_input(self, channel: Channel) -> None: ...

    def keep_program(self) -> None: ...

    def abandon(self) -> None: ...

    async def close(self) -> None:
        self._ended(0)

    # -- names

    def wave_name(self, thread: int) -> str:
        """gdb/amd-dbgapi-target.c, target_id_string and dispatch_pos_string; what is not known is `?`."""
        wave = thread - HOST_THREADS
        group, place = divmod(wave - 1, self.per_group)
        if self.hidden:
            return f"AMDGPU Wave 1:2:?:{wave} (?,?,?)/?"
        return f"AMDGPU Wave 1:2:1:{wave} ({group},0,0)/{place}"

    def lane_name(self, thread: int, lane: int) -> str:
        """gdb/testsuite/gdb.rocm/lane-info.exp: `AMDGPU Lane 1:2:1:1/0 (0,0,0)[0,0,0]`."""
        wave = thread - HOST_THREADS
        group, place = divmod(wave - 1, self.per_group)
        return f"AMDGPU Lane 1:2:1:{wave}/{lane} ({group},0,0)[{place * self.size + lane},0,0]"

    def _state(self, thread: int, lane: int) -> str:
        place = (thread - HOST_THREADS - 1) % self.per_group
        if place * self.size + lane >= 100:
            return "U"
        return "I" if lane % 2 else "A"

    @property
    def threads(self) -> range:
        return range(HOST_THREADS + 1, HOST_THREADS + 1 + self.groups * self.per_group)

    # -- answers

    def _reply(self, token: str, command: str) -> None:
        lines = self._answer(command)
        self.say(*lines[:-1], token + lines[-1], "(gdb) ")

    def _answer(self, command: str) -> list[str]:
        if match := re.fullmatch(r"-info-gdb-mi-command (\S+)", command):
            # gdb.texinfo, "GDB/MI Support Commands".
            heterogeneous = ("agent-info", "queue-info", "dispatch-info", "lane-info")
            exists = match[1] not in heterogeneous or self.lanes
            return [f'^done,command={{exists="{"true" if exists else "false"}"}}']
        if command == "-dispatch-info" and self.lanes:
            # gdb.texinfo, "GDB/MI Heterogeneous Dispatch Information": the grid is told in work-items.
            return [
                '^done,dispatches=[{id="1.1",queue-id="1.2",target-id="AMDGPU Dispatch 1:2:1 (PKID 7)",'
                f'grid=["{self.groups * 100}"],workgroup=["100"],kernel-function="saxpy(float, float*)"}}]'
                ',current-dispatch-id="1.1"'
            ]
        if (match := re.fullmatch(r"-lane-info --thread (\d+)", command)) and self.lanes:
            # gdb.texinfo, "GDB/MI Heterogeneous Lane Information": id, state, target-id, frame where it is active.
            thread = int(match[1])
            rows = ",".join(self._lane_row(thread, lane) for lane in range(self.size))
            return [f'^done,lanes=[{rows}],current-lane-id="{self.lane}"']
        if match := re.fullmatch(r"-thread-info (\d+)", command):
            # gdb.texinfo, "GDB/MI Thread Information".
            thread = int(match[1])
            name = self.wave_name(thread) if thread in self.threads else f"Thread 0x7f00 (LWP {thread})"
            return [f'^done,threads=[{{id="{thread}",target-id="{name}",state="stopped"}}]']
        if match := re.fullmatch(r'-interpreter-exec console "thread find (.*)"', command):
            # gdb/thread.c, thread_find_command; in lane-info.exp the name stands in quotes.
            found = [each for each in self.threads if re.search(match[1], self.wave_name(each))]
            told = [f"~\"Thread {each} has target id '{self.wave_name(each)}'\\n\"" for each in found]
            return [*told, "^done"]
        if match := re.fullmatch(r"-thread-select (?:-l (\d+) )?(\d+)", command):
            return self._select(int(match[2]), int(match[1]) if match[1] else None)
        if command == "-data-evaluate-expression $_lane":
            # gdb.texinfo, "Convenience Vars"; a variable that an engine does not have is void.
            return [f'^done,value="{self.lane}"' if self.lanes else '^done,value="void"']
        if command == "-data-evaluate-expression $_lane_workgroup_pos":
            item = re.search(r"\[.*\]", self.lane_name(self.thread, self.lane))
            assert item is not None
            return [f'^done,value="\\"{item[0]}\\""']
        if command.startswith("-thread-info"):
            return ['^error,msg="the table of all threads was asked for"']
        if not self.lanes and re.match(r"-(lane|dispatch|agent|queue)-info", command):
            # gdb/mi/mi-parse.c.
            return [f'^error,msg="Undefined MI command: {command[1:]}",code="undefined-command"']
        return ["^done"]

    def _lane_row(self, thread: int, lane: int) -> str:
        state = self._state(thread, lane)
        frame = ',frame={level="0",addr="0x10",func="saxpy",file="s.cpp",fullname="/s.cpp",line="9"}'
        name = self.lane_name(thread, lane)
        return f'{{id="{lane}",state="{state}",target-id="{name}"{frame if state == "A" else ""}}}'

    def _select(self, thread: int, lane: int | None) -> list[str]:
        if thread not in self.threads and thread > HOST_THREADS:
            # gdb/mi/mi-main.c, mi_cmd_thread_select.
            return [f'^error,msg="Invalid thread id: {thread}"']
        if lane is not None and lane >= self.size:
            # lane-info.exp, prefix "bad".
            return [f'^error,msg="Lane {lane} does not exist on this thread."']
        self.thread, self.lane = thread, lane or 0
        return [f'^done,new-thread-id="{thread}"']
