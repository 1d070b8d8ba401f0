"""`ladder-tui hardware`: exit codes, forms, baselines and what root pastes."""

import io
import json
from pathlib import Path

import pytest

from ladder_backends.hardware.ports import LIBRARY_NOT_FOUND, NvmlRefused
from ladder_backends.hardware.pynvml_calls import PynvmlCalls
from ladder_backends.simulator.machine import names
from ladder_tui.cli import main


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = main(["hardware", *words])
    told = capsys.readouterr()
    return code, told.out, told.err


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("healthy-8x-h200", 0),
        ("one-gpu", 0),
        ("vm-passthrough", 0),
        ("worn", 1),
        ("fabric-down", 1),
        ("pcie-two-nodes", 1),
        ("no-driver", 2),
    ],
)
def test_exit_codes(capsys: pytest.CaptureFixture[str], name: str, code: int) -> None:
    assert run(capsys, "--simulate", name)[0] == code


def test_names_of_machines(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "--simulate", "list")
    assert code == 0
    assert tuple(out.split()) == names()


def test_a_machine_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, error = run(capsys, "--simulate", "nothing-of-the-kind")
    assert (code, out) == (2, "")
    assert "--simulate list" in error


@pytest.mark.parametrize(
    "text",
    [
        "x = ",
        "gpu = 3",
        "[[gpu]]\nunder = 'nowhere'\n",
        "[[gpu]]\nmemory_GiB = 'much'\n",
        "[[gpu]]\ngeneration = 9\n",
        "[[port]]\nacs = 3\n",
        "[[port]]\nbus = 3\n[[gpu]]\n",
        "host = 3\n[[gpu]]\n",
        "[host]\ncpu = 3\n[[gpu]]\nacs = 'x'\n",
        "[[gpu]]\nlinks_down = 3\nnvlinks = 2\n",
        "[[gpu]]\nnvml = 3\n",
        "[[gpu]]\nbus = 'somewhere'\n",
        "driver = 1\n[[gpu]]\n[gpu.nvml]\nnvmlDeviceGetMemoryInfo = 3\n",
    ],
)
def test_a_file_that_describes_no_machine_is_one_line(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, text: str
) -> None:
    path = tmp_path / "m.toml"
    path.write_text(text)
    code, _, error = run(capsys, "--simulate", str(path))
    assert code in (0, 2)
    assert error.count("\n") <= 1
    assert "unexpected" not in error


def test_json_is_one_fact_a_line_with_its_source(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "--simulate", "story", "--json")
    assert code == 0
    document = json.loads(out)
    assert next(iter(document)) == "format"
    assert document["format"] == 1
    assert document["simulated"]
    lines = [line for line in out.splitlines() if '"name": "iommu.type"' in line and '"group"' in line]
    assert len(lines) == 4
    fact = json.loads(lines[0].rstrip(","))
    assert fact["value"] == "DMA-FQ"
    assert fact["source"].endswith("/type")
    unread = [fact for fact in document["facts"] if fact["name"] == "acs.control"]
    assert all(fact["value"] is None and fact["why"] and "setpci" in fact["remedy"] for fact in unread)


def test_what_changes_by_itself_stands_apart(capsys: pytest.CaptureFixture[str]) -> None:
    documents = [json.loads(run(capsys, "--simulate", "worn", "--json")[1]) for _ in range(2)]
    assert documents[0]["facts"] == documents[1]["facts"]
    assert {fact["name"] for fact in documents[0]["live"]} >= {"pcie.generation", "processes", "log.xid"}


def test_here_without_a_gpu_it_is_a_state_with_instructions(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(calls: PynvmlCalls) -> None:
        raise NvmlRefused(LIBRARY_NOT_FOUND)

    monkeypatch.setattr(PynvmlCalls, "open", refuse)
    code, out, error = run(capsys)
    assert code == 2
    assert "libnvidia-ml.so.1 was not found" in out
    assert "docker run --gpus all" in out
    assert error == ""
    code, out, _ = run(capsys, "--json")
    assert code == 2
    assert json.loads(out)["unread"]
    assert json.loads(out)["gpus"] == []


def test_people_see_the_broken_first_and_every_line_fits(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "--simulate", "worn")
    lines = out.splitlines()
    assert lines[0].startswith("SIMULATED")
    assert lines[2].startswith("✗ Xid")
    assert "74 (NVLink error) on 0000:01:00" in lines[2]
    assert "  → sudo nvidia-smi --gpu-reset -i 0, once nothing uses it" in lines
    assert any("GPU1 PCIe lanes now: only 8 of 16 lanes" in line for line in lines[:12])
    assert any(line.startswith("GPU0 ·    NV16") for line in lines)


def test_every_fact_with_its_source(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "--simulate", "worn", "--facts")
    assert "[nvmlDeviceGetRemappedRows]" in out
    assert "GPU0 NVLink 5" in out


def test_a_baseline_says_what_changed(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, error = run(capsys, "--simulate", "story-before", "--baseline", "save", "before")
    assert code == 0
    assert "before.json" in error
    code, out, _ = run(capsys, "--simulate", "story", "--baseline", "compare", "before")
    assert code == 0
    assert "−iommu=pt" in out
    assert "+kvm_amd.sev_snp=1" in out
    _, out, _ = run(capsys, "--simulate", "story", "--baseline", "compare", "before", "--json")
    document = json.loads(out)
    assert document["baseline"]["name"] == "before"
    assert document["changed"][0]["where"] == "host/cmdline.iommu"


def test_a_baseline_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, error = run(capsys, "--simulate", "story", "--baseline", "compare", "never")
    assert code == 2
    assert "there is no baseline never" in error


def test_a_verb_that_is_none(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, error = run(capsys, "--baseline", "keep", "x")
    assert code == 2
    assert "save or compare" in error


def test_what_root_pastes(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "acs.txt"
    path.write_text("0000:40:01.1 001d\n0000:80:01.1 001d\n0000:a0:01.1 001d\n0000:c0:01.1 001d\n")
    _, out, _ = run(capsys, "--simulate", "story", "--paste", str(path), "--json")
    pairs = [fact for fact in json.loads(out)["facts"] if fact["name"] == "acs.redirect"]
    assert all(fact["value"] is True and fact["source"].startswith("supplied by the user") for fact in pairs)
    monkeypatch.setattr("sys.stdin", io.StringIO("[  1.0] NVRM: Xid (PCI:0000:41:00): 79, fallen off\n"))
    code, out, _ = run(capsys, "--simulate", "story", "--paste", "-")
    assert code == 1
    assert "79 (fallen off the bus)" in out


def test_a_paste_that_says_nothing(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_text("hello\n")
    code, _, error = run(capsys, "--simulate", "story", "--paste", str(path))
    assert code == 2
    assert "nothing of use" in error


def test_nothing_heavy_is_imported_for_help() -> None:
    import subprocess
    import sys

    program = (
        "import sys\nfrom ladder_tui.cli import main\ntry:\n main(['--help'])\nexcept SystemExit: pass\n"
        "assert not {'pynvml', 'cupy', 'ladder_backends.hardware'} & set(sys.modules), sys.modules.keys()\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)


def test_reading_a_simulated_machine_imports_no_library_of_gpus(tmp_path: Path) -> None:
    import subprocess
    import sys

    program = (
        "import sys\nfrom ladder_tui.cli import main\nmain(['hardware', '--simulate', 'story'])\n"
        "assert not {'pynvml', 'cupy', 'torch'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)
