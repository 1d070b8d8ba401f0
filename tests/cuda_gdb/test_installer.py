"""The script that unpacks Debian's cuda-gdb: which archive it takes, when it does nothing, what it leaves alone.

The download itself is what `demos/setup` does; here `apt-get` is a stand-in that shows what it was asked for.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from importlib.resources import files
from pathlib import Path

import pytest

SCRIPT = Path(str(files("ladder_demos").joinpath("install-cuda-gdb")))

pytestmark = pytest.mark.skipif(
    platform.machine() != "x86_64" or shutil.which("dpkg-deb") is None, reason="the script skips this machine"
)

ONE_LINE = """
# deb http://old.example/debian bookworm main
deb-src http://source.example/debian bookworm main
deb [ arch=amd64 signed-by=/no/such.gpg ] http://one.example/debian/ bookworm main contrib # the archive
deb http://security.debian.example/debian-security bookworm-security main
"""
PARAGRAPHS = """
Enabled: no
Types: deb
URIs: http://disabled.example/debian
Suites: trixie
Components: main

Types: deb deb-src
# frozen
URIs: mirror+file:///etc/apt/mirrors/debian.list
Suites: trixie
 trixie-updates
Components: main
Signed-By:
 -----BEGIN PGP PUBLIC KEY BLOCK-----
"""
CARRIAGE_RETURNS = PARAGRAPHS.replace("mirror+file:///etc/apt/mirrors/debian.list", "https://x.example/d").replace(
    "\n", "\r\n"
)
FROZEN_THEN_LIVE = """
deb http://snapshot.example/archive/debian/20250520T000000Z bookworm main
deb https://live.example/debian stable main
"""
UBUNTU = """
Types: deb
URIs: http://archive.ubuntu.example/ubuntu/
Suites: noble noble-updates noble-backports
Components: main universe
"""


def install(
    tmp_path: Path, destination: Path | None, *, sources: str = "", name: str = "sources.list"
) -> subprocess.CompletedProcess[str]:
    """Run the script with that configuration of apt, and an apt that fetches nothing."""
    etc, stand_ins = tmp_path / "etc", tmp_path / "bin"
    for folder in (etc / "sources.list.d", stand_ins):
        folder.mkdir(parents=True, exist_ok=True)
    (etc / name).write_text(sources)
    apt_get = stand_ins / "apt-get"
    apt_get.write_text(
        f'#!/bin/sh\ncp "$(dirname "$3")/sources.list" {tmp_path}/asked\necho "E: no network"\nexit 100\n'
    )
    apt_get.chmod(0o755)
    environment = {
        **os.environ,
        "PATH": f"{stand_ins}:{os.environ['PATH']}",
        "INSTALL_CUDA_GDB_APT_ETC": str(etc),
        "HOME": str(tmp_path / "home"),
        "XDG_DATA_HOME": "relative/is/ignored",
    }
    words = ["bash", str(SCRIPT), *([str(destination)] if destination else [])]
    return subprocess.run(words, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("sources", "name", "archive"),
    [
        (ONE_LINE, "sources.list", "http://one.example/debian/"),
        (ONE_LINE, "sources.list.d/debian.list", "http://one.example/debian/"),
        (PARAGRAPHS, "sources.list.d/debian.sources", "mirror+file:///etc/apt/mirrors/debian.list"),
        (CARRIAGE_RETURNS, "sources.list.d/debian.sources", "https://x.example/d"),
        (FROZEN_THEN_LIVE, "sources.list", "https://live.example/debian"),
        (
            FROZEN_THEN_LIVE.splitlines()[1],
            "sources.list",
            "http://snapshot.example/archive/debian/20250520T000000Z",
        ),
    ],
)
def test_it_takes_the_archive_that_apt_is_configured_with(
    tmp_path: Path, sources: str, name: str, archive: str
) -> None:
    destination = tmp_path / "to"
    done = install(tmp_path, destination, sources=sources, name=name)
    assert done.returncode == 1
    assert "apt could not read the package lists" in done.stderr
    assert "E: no network" in done.stderr
    assert (tmp_path / "asked").read_text().split("] ")[1] == f"{archive} trixie main non-free\n"
    assert not destination.exists()
    assert list(tmp_path.glob(".cuda-gdb.*")) == []


@pytest.mark.parametrize("sources", ["", UBUNTU])
def test_other_distributions_are_skipped_with_a_notice(tmp_path: Path, sources: str) -> None:
    done = install(tmp_path, tmp_path / "to", sources=sources, name="sources.list.d/ubuntu.sources")
    assert done.returncode == 0
    (line,) = done.stderr.splitlines()
    assert line.startswith("install-cuda-gdb: skipped: ")
    assert not (tmp_path / "to").exists()


def test_what_is_there_already_stays(tmp_path: Path) -> None:
    program = tmp_path / "home" / ".local" / "share" / "ladder-tui" / "cuda-gdb" / "bin" / "cuda-gdb"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\necho works\n")
    program.chmod(0o755)
    done = install(tmp_path, None, sources=ONE_LINE)
    assert (done.returncode, done.stderr) == (0, f"install-cuda-gdb: {program} is there\n")


def test_a_folder_of_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "to").mkdir()
    (tmp_path / "to" / "thesis.tex").write_text("mine")
    done = install(tmp_path, tmp_path / "to", sources=ONE_LINE)
    assert done.returncode == 1
    assert "holds something else" in done.stderr
    assert (tmp_path / "to" / "thesis.tex").read_text() == "mine"


def test_it_names_no_host() -> None:
    assert "://" not in SCRIPT.read_text()
