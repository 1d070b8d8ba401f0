"""The second process of tests between processes, as the first one holds it: questions over pipes and a socket."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

from ladder_backends.gpu_calls.gpus import DeviceFault


class SecondProcess:
    """A process of its own, in the group of this one, so that it ends with it.

    Args:
        job: What it is told at the start.
        devices: CUDA_VISIBLE_DEVICES of it, or None for those of this process.

    Raises:
        DeviceFault: It did not start.
    """

    def __init__(self, job: Mapping[str, Any], devices: str | None = None) -> None:
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        environment = {**os.environ, **({} if devices is None else {"CUDA_VISIBLE_DEVICES": devices})}
        with theirs:
            self._child = subprocess.Popen(
                [sys.executable, "-m", "ladder_backends.p2p.worker", json.dumps(job["layer"])],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                encoding="utf-8",
                env=environment,
                pass_fds=(theirs.fileno(),),
            )
            self._send({**job, "role": "partner", "socket": theirs.fileno()})
        try:
            self._answer()
        except DeviceFault:
            self.close()
            raise

    def ask(self, descriptor: int | None = None, **asked: object) -> Mapping[str, Any]:
        """Ask, with a file descriptor if there is one, and wait for the answer.

        Raises:
            DeviceFault: It failed, or it ended.
        """
        self._send(asked)
        if descriptor is not None:
            socket.send_fds(self._socket, [b"fd"], [descriptor])
        return self._answer()

    def close(self) -> None:
        """It ends when its pipe does."""
        self._socket.close()
        if self._child.stdin is not None:
            self._child.stdin.close()
        try:
            self._child.wait(5)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait()
        if self._child.stdout is not None:
            self._child.stdout.close()

    def _send(self, words: Mapping[str, object]) -> None:
        assert self._child.stdin is not None
        try:
            self._child.stdin.write(json.dumps(words) + "\n")
            self._child.stdin.flush()
        except BrokenPipeError:
            raise DeviceFault("the second process ended") from None

    def _answer(self) -> Mapping[str, Any]:
        assert self._child.stdout is not None
        while line := self._child.stdout.readline():
            found: Mapping[str, Any] = json.loads(line)
            if found["event"] == "failed":
                raise DeviceFault(str(found["text"]), int(found["code"]))
            if found["event"] in ("there", "stored"):
                return found
        raise DeviceFault("the second process ended")
