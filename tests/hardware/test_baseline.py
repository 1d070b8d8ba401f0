"""Baselines: what changed on the host, what broke, and what is stale."""

import json
from pathlib import Path
from typing import Any

import pytest

from ladder_backends.hardware import baseline
from ladder_backends.hardware.baseline import BaselineInvalid


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return tmp_path / "ladder-tui"


def results(kind: str, rate: float) -> dict[str, Any]:
    return {"pairs": [{"from": 0, "to": 1, "class": kind, "bandwidth_GBps": rate}]}


def test_nothing_changes_between_two_readings(read: Any) -> None:
    baseline.save("one", read("healthy-8x-h200"))
    compared = baseline.compare(baseline.load("one"), read("healthy-8x-h200"))
    assert compared.changed == ()
    assert not compared.stale


def test_the_story_names_what_changed_on_the_host_and_what_broke(read: Any) -> None:
    baseline.save("before-split", read("story-before"), results("right", 53.0))
    compared = baseline.compare(baseline.load("before-split"), read("story"), results("dropped", 0.0))
    lines = [one.text for one in compared.changed]
    assert any("+kvm_amd.sev_snp=1" in line and "−iommu=pt" in line for line in lines[:2]), lines
    assert any(one.label.startswith("GPU0 IOMMU domain") and one.before == "identity" for one in compared.changed)
    assert compared.broke == ("GPU0 → GPU1: right → dropped",)
    told = [text for text, _ in compared.lines()]
    assert "4 GPUs: IOMMU domain: identity → DMA-FQ" in told
    assert "6 pairs: IOMMU translates: no → yes" in told
    assert len(told) < len(lines)
    assert compared.stale


def test_a_slower_pair_broke_and_a_mended_one_is_told(read: Any) -> None:
    baseline.save("a", read("one-gpu"), results("right", 50.0))
    kept = baseline.load("a")
    assert baseline.compare(kept, read("one-gpu"), results("right", 44.9)).broke == (
        "GPU0 → GPU1: 50.0 → 44.9 GB/s",
    )
    assert baseline.compare(kept, read("one-gpu"), results("right", 45.1)).broke == ()
    baseline.save("b", read("one-gpu"), results("hung", 0.0))
    assert baseline.compare(baseline.load("b"), read("one-gpu"), results("right", 45.1)).mended


def test_the_file_has_a_fact_a_line_sorted_and_is_the_same_twice(read: Any, state: Path) -> None:
    path = baseline.save("a", read("story"))
    assert path == state / "baselines/a.json"
    first, second = (baseline.json_text(read("story")).splitlines() for _ in range(2))
    assert [line for line in first if "saved_at" not in line] == [line for line in second if "saved_at" not in line]
    document = json.loads("\n".join(first))
    assert list(document["facts"]) == sorted(document["facts"])
    parameters = [line for line in first if line.startswith('  "host/driver.parameters":')]
    assert len(parameters) == 2
    assert json.loads("{" + parameters[0].rstrip(",") + "}") == {
        "host/driver.parameters": {"ResmanDebugLevel": "4294967295"}
    }
    # What changes by itself is no part of it.
    assert not any(
        key.endswith(("/os.uptime", "/link.speed", "/processes", "/log.xid")) for key in document["facts"]
    )


def test_unknown_is_not_off(read_text: Any) -> None:
    baseline.save("known", read_text('driver = "1"\n[host]\ncpu = "AMD"\nsnp_host = false\n[[gpu]]\n'))
    unread = read_text('driver = "1"\n[host]\ncpu = "AMD"\n[[gpu]]\n')
    compared = baseline.compare(baseline.load("known"), unread)
    one = next(one for one in compared.changed if one.where == "host/snp.host")
    assert one.kind == "unread now"
    assert "unknown now" in one.text


def test_reading_more_than_before_makes_nothing_stale(read_text: Any) -> None:
    baseline.save("unread", read_text('driver = "1"\n[host]\ncpu = "AMD"\n[[gpu]]\n'))
    known = read_text('driver = "1"\n[host]\ncpu = "AMD"\nsnp_host = false\n[[gpu]]\n')
    compared = baseline.compare(baseline.load("unread"), known)
    assert [one.kind for one in compared.changed if one.where == "host/snp.host"] == ["read now"]
    assert not compared.stale


def test_a_gpu_that_is_gone_is_one_line(read_text: Any) -> None:
    baseline.save("two", read_text('driver = "1"\n[[gpu]]\nuuid = "GPU-a"\n[[gpu]]\nuuid = "GPU-b"\n'))
    compared = baseline.compare(baseline.load("two"), read_text('driver = "1"\n[[gpu]]\nuuid = "GPU-a"\n'))
    gone = [one.text for one in compared.changed if "GPU-b" in one.text]
    assert gone == ["gpu.GPU-b is gone"]
    assert not any(one.where.startswith("gpu.GPU-b/") for one in compared.changed)


def test_a_reboot_is_told_and_makes_results_stale(read_text: Any) -> None:
    text = 'driver = "1"\n[host]\nboot_id = "{}"\n[[gpu]]\n'
    baseline.save("boot", read_text(text.format("one")), results("right", 1.0))
    compared = baseline.compare(baseline.load("boot"), read_text(text.format("two")))
    assert compared.rebooted
    assert compared.stale
    assert compared.changed == ()


def test_results_are_kept_where_the_machine_is_the_same_and_dropped_where_it_is_not(read: Any) -> None:
    baseline.save("a", read("story-before"), results("right", 53.0))
    baseline.save("a", read("story-before"))
    assert baseline.load("a").results == results("right", 53.0)
    baseline.save("a", read("story"))
    assert baseline.load("a").results is None


def test_a_file_of_ones_own(read: Any, tmp_path: Path) -> None:
    path = tmp_path / "here.json"
    assert baseline.save(str(path), read("one-gpu")) == path
    assert baseline.load(str(path)).title == "1× H200"


@pytest.mark.parametrize("name", ["", ".hidden", "a b", "a\x1b[31m", "x" * 100])
def test_names_that_are_none(name: str) -> None:
    with pytest.raises(BaselineInvalid):
        baseline.path_of(name)


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"ladder_baseline": 2}', '{"ladder_baseline": 1, "facts": []}', "[" * 100_000, "\x00"]
)
def test_files_that_are_none(text: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.json"
    path.write_text(text)
    with pytest.raises(BaselineInvalid):
        baseline.load(str(path))


def test_one_that_is_not_there_names_those_that_are(read: Any) -> None:
    baseline.save("kept", read("one-gpu"))
    with pytest.raises(BaselineInvalid, match="kept"):
        baseline.load("other")


def test_a_folder_that_cannot_be_written_loses_nothing(read: Any, state: Path) -> None:
    state.mkdir(parents=True)
    (state / "baselines").write_text("in the way")
    with pytest.raises(BaselineInvalid, match="cannot be written"):
        baseline.save("a", read("one-gpu"))
    assert (state / "baselines").read_text() == "in the way"


def of_gpus(*uuids: str, pairs: dict[tuple[int, int], str]) -> dict[str, Any]:
    return {
        "gpus": [{"index": number, "uuid": uuid} for number, uuid in enumerate(uuids)],
        "pairs": [{"from": one, "to": other, "class": kind} for (one, other), kind in pairs.items()],
    }


def test_pairs_are_joined_by_uuid_since_numbers_move(read: Any) -> None:
    before = of_gpus("GPU-a", "GPU-b", "GPU-c", pairs={(0, 1): "right", (1, 2): "right"})
    baseline.save("a", read("one-gpu"), before)
    # GPU-a is hidden now: GPU-b and GPU-c have moved down.
    after = of_gpus("GPU-b", "GPU-c", pairs={(0, 1): "dropped"})
    found = baseline.compare(baseline.load("a"), read("one-gpu"), after)
    assert found.broke == ("GPU0 → GPU1: right → dropped",)
    assert found.pairs == {(0, 1)}
    # Other GPUs under the same numbers are no ground for a comparison.
    assert (
        baseline.compare(baseline.load("a"), read("one-gpu"), of_gpus("x", "y", pairs={(0, 1): "hung"})).broke == ()
    )


def test_what_makes_results_stale_is_told_between_two_readings(read: Any) -> None:
    assert baseline.why_stale(read("story"), read("story")) == ""
    assert "sev_snp" in baseline.why_stale(read("story-before"), read("story"))
