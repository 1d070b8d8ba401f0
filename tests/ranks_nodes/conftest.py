"""Agents on this host, and two hosts made of namespaces; what a test starts it ends by its own process ids."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

PROGRAMS = Path(__file__).parent.parent / "ranks" / "programs"
_PATIENCE = 60.0


def wait_for(what: Callable[[], bool], why: str) -> None:
    end = time.monotonic() + _PATIENCE
    while not what():
        assert time.monotonic() < end, why
        time.sleep(0.05)


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "XZTt"
    except OSError:
        return False


def children(pid: int) -> list[int]:
    found = []
    for task in Path("/proc").iterdir():
        if task.name.isdecimal():
            with contextlib.suppress(OSError):
                if int((task / "stat").read_text().rpartition(")")[2].split()[1]) == pid:
                    found += [int(task.name), *children(int(task.name))]
    return found


@pytest.fixture
def ranks() -> Iterator[Callable[..., list[subprocess.Popen[bytes]]]]:
    """Starts sleeping processes that say they are ranks of one job."""
    running: list[subprocess.Popen[bytes]] = []

    def start(
        count: int, first: int = 0, size: int | None = None, port: int = 29555
    ) -> list[subprocess.Popen[bytes]]:
        for number in range(first, first + count):
            env = {**os.environ, "RANK": str(number), "WORLD_SIZE": str(size or count), "MASTER_ADDR": "n1",
                   "MASTER_PORT": str(port),
                   "LOCAL_RANK": str(number - first), "LOCAL_WORLD_SIZE": str(count)}  # fmt: skip
            program = [sys.executable, "-c", "import time\ndef wait_here():\n time.sleep(600)\nwait_here()"]
            running.append(subprocess.Popen(program, env=env, stdin=subprocess.DEVNULL))
        return running

    yield start
    for process in running:
        assert process.poll() is None, "a rank has died"
        process.kill()
        process.wait()


class Host:
    """One made host: a shell that holds its namespaces, and an sshd in them."""

    def __init__(self, name: str, address: str, holder: subprocess.Popen[bytes]) -> None:
        self.name, self.address, self.holder = name, address, holder
        self.init = 0

    def inside(self, *command: str | Path) -> list[str]:
        """The words that run a command there."""
        return ["nsenter", "-t", str(self.init), "-m", "-u", "-n", "-p", "--", *map(str, command)]

    def run(self, *command: str | Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.inside(*command), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60
        )


class Cluster:
    """Two hosts on one wire, with keys to each other.

    Attributes:
        ssh: The command that reaches a host from the first.
    """

    def __init__(self, hosts: list[Host], folder: Path) -> None:
        self.hosts, self.folder = hosts, folder
        self.config = folder / "ssh_config"
        self.programs = PROGRAMS

    alive = staticmethod(alive)
    children = staticmethod(children)
    wait_for = staticmethod(wait_for)

    @property
    def ssh(self) -> list[str]:
        return ["ssh", "-F", str(self.config), "-T"]


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    """Two hosts: network, uts, pid and mount namespaces of their own, with sshd."""
    needed = {name: shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin:/sbin") for name in
              ("unshare", "nsenter", "ip", "sshd", "ssh", "ssh-keygen")}  # fmt: skip
    missing = [name for name, path in needed.items() if path is None]
    if missing:
        pytest.skip(f"no {', '.join(missing)}: apt-get install openssh-server openssh-client iproute2 util-linux")
    if os.geteuid() != 0:
        pytest.skip("namespaces with a network are made by root only")
    folder = tmp_path / "cluster"
    folder.mkdir(mode=0o755)
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / "key"], check=True)
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / "host"], check=True)
    shutil.copy(folder / "key.pub", folder / "allowed")
    (folder / "hosts").write_text("127.0.0.1 localhost\n10.87.3.1 n1\n10.87.3.2 n2\n")
    (folder / "sshd_config").write_text(
        f"HostKey {folder}/host\nAuthorizedKeysFile {folder}/allowed\nPermitRootLogin yes\nStrictModes no\n"
        "UsePAM no\nPidFile none\nPasswordAuthentication no\nAcceptEnv *\n"
    )
    (folder / "ssh_config").write_text(
        f"Host *\n IdentityFile {folder}/key\n IdentitiesOnly yes\n StrictHostKeyChecking no\n"
        " UserKnownHostsFile /dev/null\n LogLevel ERROR\n BatchMode yes\n ConnectTimeout 10\n"
    )
    hosts: list[Host] = []
    try:
        for number, name in enumerate(("n1", "n2"), 1):
            # Everything is made private first: no mount of these namespaces is seen outside them.
            script = (
                "set -e; mount --make-rprivate /; mount -t proc proc /proc; mkdir -p /run/sshd;"
                f" mount --bind {folder}/hosts /etc/hosts; hostname {name};"
                " ip link set lo up; echo ready; exec sleep 3600"
            )
            holder = subprocess.Popen(
                ["unshare", "--mount", "--uts", "--net", "--pid", "--fork", "--kill-child", "sh", "-c", script],
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            )  # fmt: skip
            host = Host(name, f"10.87.3.{number}", holder)
            hosts.append(host)
            assert holder.stdout is not None
            line = holder.stdout.readline()
            if line != b"ready\n":
                pytest.skip(f"namespaces cannot be made here: {line.decode(errors='replace').strip()}")
            host.init = children(holder.pid)[0]
        one, two = hosts
        made = subprocess.run(
            ["nsenter", "-t", str(one.init), "-n", "ip", "link", "add",
             "wire", "type", "veth", "peer", "name", "wire",
             "netns", str(two.init)], capture_output=True, text=True,
        )  # fmt: skip
        if made.returncode:
            pytest.skip(f"no link between namespaces can be made here: {made.stderr.strip()}")
        for host in hosts:
            assert not host.run("ip", "addr", "add", f"{host.address}/24", "dev", "wire").returncode
            assert not host.run("ip", "link", "set", "wire", "up").returncode
            done = host.run(str(needed["sshd"]), "-f", folder / "sshd_config", "-E", folder / f"{host.name}.log")
            if done.returncode:
                pytest.skip(f"sshd does not run here: {done.stderr.strip()}")
        made_of = Cluster(hosts, folder)
        wait_for(lambda: one.run(*made_of.ssh, "n2", "true").returncode == 0, "the hosts reach each other")
        yield made_of
    finally:
        for host in hosts:
            # The first process of a pid namespace takes all others of it along.
            if host.init:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(host.init, signal.SIGKILL)
            host.holder.kill()
            host.holder.wait()
            if host.holder.stdout is not None:
                host.holder.stdout.close()
