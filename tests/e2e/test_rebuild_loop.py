"""Edit, build, start again where one stood: in a real terminal, with a real gdb."""

from __future__ import annotations

import shutil
import subprocess
import time
from pathlib import Path

import pytest

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(180)]

SOURCE = Path(__file__).parents[1] / "programs/rebuilt.c"


def cpu_seconds(process: int) -> float:
    fields = (Path("/proc") / str(process) / "stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100


def test_edit_build_and_start_again_where_one_stood(terminal, gdb, tmp_path) -> None:
    source, program = tmp_path / "rebuilt.c", tmp_path / "rebuilt"
    shutil.copyfile(SOURCE, source)

    def make() -> None:
        subprocess.run(["gcc", "-g", "-O0", "-o", program, source], check=True, timeout=60)

    make()
    screen = terminal(120, 40)
    screen.start("run", "--stop-at-main", program)
    screen.wait("int total = 0;")
    screen.wait("■ breakpoint")
    screen.press("n")
    screen.wait(lambda lines: any("▶" in line and "for (int i" in line for line in lines))
    screen.press("n")
    screen.wait(lambda lines: any("▶" in line and "total += twice" in line for line in lines))
    time.sleep(2)
    application = screen.application()
    before = cpu_seconds(application)
    time.sleep(4)
    assert cpu_seconds(application) - before <= 0.05
    edited = source.read_text().replace("2 * x", "100 + x").replace("#include", "// one more\n#include")
    (tmp_path / "new").write_text(edited)
    (tmp_path / "new").replace(source)
    screen.wait("EDITED")
    make()
    screen.wait("rebuilt was rebuilt: r starts it again")
    screen.press("r")
    screen.wait("at rebuilt.c:9")
    screen.press("h")
    screen.wait(lambda lines: any("// one more" in line for line in lines))
    screen.wait(lambda lines: any("▶" in line and "9" in line and "total += twice" in line for line in lines))
    screen.gone("EDITED")
    screen.gone("REBUILT")
    screen.press("n")
    screen.wait(lambda lines: any("total" in line and "100" in line for line in lines))
