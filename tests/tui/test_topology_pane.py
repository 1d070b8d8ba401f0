"""The topology on the screen: tree, matrix, facts, live counters, what root pastes, baselines."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from textual import events

from ladder_backends.model.gpu_counters import Counters
from ladder_backends.session.ladder import Ladder
from ladder_backends.session.state import Change
from ladder_tui.panes.topology_pane import TopologyPane

Hardware = Callable[..., AbstractAsyncContextManager[Any]]


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return tmp_path


@pytest.fixture
def hardware(show: Any) -> Hardware:
    """The application on the hardware rung of a simulated machine."""

    @asynccontextmanager
    async def opened(name: str, size: tuple[int, int] = (80, 24)) -> AsyncIterator[Any]:
        ladder = Ladder()
        try:
            async with show(ladder, size) as view:
                await ladder.hardware.open(name)
                await view.settle()
                await view.settle()
                yield view
        finally:
            await ladder.close()

    return opened


def pane_of(view: Any) -> TopologyPane:
    pane = view.app.workspace.panes["topology"]
    assert isinstance(pane, TopologyPane)
    return pane


async def test_the_whole_machine_at_a_glance(hardware: Hardware) -> None:
    async with hardware("story") as view:
        text = view.text()
        assert "SIMULATED" in text
        assert "SNP host" in text
        assert "pci0000:40  0000:40:01.1 root port  Gen5 x16  ACS ?" in text
        assert "└─ GPU0 RTX PRO 6000" in text
        assert "NCCL  all pairs  shared memory" in text
        assert "needs root" in text
        assert "● 4× RTX PRO 6000" in text.splitlines()[-1]
        assert "simulated" in text


async def test_counters_stand_at_the_right_and_are_read_only_while_seen(
    hardware: Hardware, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with hardware("wedged") as view:
        assert "0%" in view.text()
        asked: list[int] = []

        async def sample() -> None:
            asked.append(1)

        monkeypatch.setattr(view.app.ladder.hardware, "sample", sample)
        pane = pane_of(view)
        pane._sample()
        await view.settle()
        assert asked == [1]
        await view.press("1")
        pane._sample()
        await view.settle()
        assert asked == [1]
        await view.press("0")
        await view.settle()
        assert len(asked) > 1


async def test_a_sample_that_changes_one_number_repaints_little(
    hardware: Hardware, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with hardware("one-gpu") as view:
        state = view.app.ladder.state.hardware
        state.counters = {
            0: Counters(busy=3, used=1 << 30, total=141 << 30, temperature=34, pcie_out=0.0, pcie_in=0.0)
        }
        view.app.ladder.tell(Change.HARDWARE)
        await view.settle()
        assert "  3%" in view.text()
        pane = pane_of(view)
        state.counters = {
            0: Counters(busy=93, used=1 << 30, total=141 << 30, temperature=34, pcie_out=0.0, pcie_in=0.0)
        }
        pane._built = ((), [])
        dirty: list[Any] = []
        monkeypatch.setattr(pane, "refresh", lambda *regions, **more: dirty.extend(regions))
        pane.update()
        assert len(dirty) == 1
        assert dirty[0].width <= 6


async def test_the_matrix_fits_eight_gpus_into_80x24_and_tells_the_way(hardware: Hardware) -> None:
    async with hardware("healthy-8x-h200") as view:
        await view.press("m")
        lines = view.text().splitlines()
        assert lines[2].split() == [f"GPU{number}" for number in range(8)]
        assert sum("NV18" in line for line in lines[3:11]) == 8
        assert "[NV18]" in lines[3]
        assert "GPU0 – GPU1  NV18" in view.text()
        await view.press("down", "right", "right")
        assert "GPU1 – GPU3" in view.text()
        assert "→ GPU3" in view.text()
        await view.press("end")
        assert pane_of(view).cursor == 7
        await view.press("home", "down")
        # On a GPU itself there is no way.
        await view.press("left", "left")
        assert "choose another GPU" in view.text()


async def test_the_way_names_every_port_and_what_redirects(hardware: Hardware) -> None:
    async with hardware("pcie-two-nodes", (120, 40)) as view:
        await view.press("m")
        assert "GPU0 → 16:00.0 ACS↑ → 15:00.0 → 1a:00.0 → 1a:10.0 → 1b:00.0 → GPU1" in view.text()
        await view.press("right")
        assert "pci0000:14 ⇢ pci0000:c7" in view.text()
        # Claims that differ by order are told by a glyph, not by a colour alone.
        assert "SYS✗" in view.text()


async def test_a_click_on_a_cell_chooses_it_and_a_second_one_tells_its_facts(hardware: Hardware) -> None:
    async with hardware("pcie-two-nodes") as view:
        await view.press("m")
        await view.click("#topology", 8 + 3 * 8 + 1, 4)
        assert "GPU2 – GPU3" in view.text()
        await view.click("#topology", 8 + 3 * 8 + 1, 4)
        assert "▸ GPU2 – GPU3" in view.text().splitlines()[1]
        assert "DR, disabled" in view.text()


async def test_facts_have_sources_and_unknown_is_told(hardware: Hardware) -> None:
    async with hardware("story") as view:
        await view.press("h")
        text = view.text()
        assert "▸ host" in text.splitlines()[1]
        assert "nvmlSystemGetDriverVersion" in text
        assert "? not supported here" in text
        await view.press("escape")
        assert "pci0000:40" in view.text()


async def test_enter_on_a_gpu_shows_its_facts_and_links(hardware: Hardware) -> None:
    async with hardware("worn", (120, 40)) as view:
        pane = pane_of(view)
        index = next(number for number in range(pane.row_count) if "GPU0 H200" in pane.row(number).text())
        pane.move_cursor(index)
        await view.press("enter", "z", "end")
        text = view.text()
        assert "16 of 18 NVLinks up" in text
        assert " 3 down" in text
        assert "CRC errors 12, malformed packets 4" in text
        await view.press("escape")
        assert pane.cursor == index


async def test_a_link_that_stays_slow_under_load_is_told_and_an_idle_one_is_not(hardware: Hardware) -> None:
    async with hardware("one-gpu", (120, 40)) as view:
        pane = pane_of(view)
        pane._shown = "gpu." + pane.machine.gpus[0].uuid
        state = view.app.ladder.state.hardware
        idle = Counters(generation=1, best_generation=1, pcie_in=0.01, pcie_out=0.0)
        for counters, word in ((idle, "Gen1 now, idle"), (replace(idle, pcie_in=3.0), "stays at Gen1 of Gen5")):
            state.counters = {0: counters}
            view.app.ladder.tell(Change.HARDWARE)
            await view.press("z", "end")
            assert word in view.text()
            assert ("stays at" in view.text()) is (counters is not idle)
            await view.press("z")


async def test_the_command_for_root_can_be_copied_whole(hardware: Hardware) -> None:
    async with hardware("story") as view:
        await view.press("t")
        assert "sudo setpci" in view.text()
        pane = pane_of(view)
        commands = {pane.copy_text(number) for number in range(pane.row_count)}
        assert any(line.startswith("for p in 0000:40:01.1") and line.endswith("done") for line in commands)


async def test_what_root_printed_is_taken_from_a_file(hardware: Hardware, tmp_path: Path) -> None:
    path = tmp_path / "acs.txt"
    path.write_text("0000:40:01.1 001d\n0000:80:01.1 0000\n")
    async with hardware("story") as view:
        await view.press("i")
        await view.burst(str(path))
        await view.press("enter")
        assert "taken: ACS of 2 ports" in view.text()
        assert "0000:40:01.1 root port  Gen5 x16  ACS SV RR CR UF" in view.text()
        assert "0000:80:01.1 root port  Gen5 x16  no redirect" in view.text()
        # What was read so far is not lost where a file says nothing.
        path.write_text("nothing")
        await view.press("i")
        await view.burst(str(path))
        await view.press("enter")
        assert "nothing of use" in view.text()
        assert "ACS SV RR CR UF" in view.text()


async def test_a_baseline_is_kept_and_compared(hardware: Hardware) -> None:
    async with hardware("story-before") as view:
        await view.press("ctrl+s")
        await view.burst("before")
        await view.press("enter")
        assert "before.json" in view.text()
    async with hardware("story") as view:
        await view.press("o")
        assert "one of before" in view.text()
        await view.burst("before")
        await view.press("enter")
        text = view.text()
        assert "since before" in text
        assert "−iommu=pt" in text
        await view.press("o", "enter")
        assert "since before" not in view.text()


async def test_a_baseline_that_is_not_there_is_one_line(hardware: Hardware) -> None:
    async with hardware("story") as view:
        await view.press("o")
        await view.burst("never")
        await view.press("enter")
        assert "there is no baseline never" in view.text()


async def test_no_gpu_is_a_state_with_instructions(hardware: Hardware) -> None:
    async with hardware("no-driver") as view:
        text = view.text()
        assert "✗ no GPU can be asked: the driver is not loaded" in text
        assert "→ load the driver: sudo modprobe nvidia" in text
        assert "GPU0" in text
        await view.press("m")
        assert "GPU0 – GPU1" in view.text()


async def test_this_machine_is_read_when_the_rung_is_first_seen(show: Any) -> None:
    ladder = Ladder()
    try:
        async with show(ladder, (80, 24)) as view:
            assert ladder.state.hardware.machine is None
            await view.press("0")
            await view.settle()
            assert ladder.state.hardware.machine is not None
            assert "host" in view.text()
            assert "SIMULATED" not in view.text()
    finally:
        await ladder.close()


async def test_reading_again_keeps_the_place(hardware: Hardware) -> None:
    async with hardware("healthy-8x-h200") as view:
        await view.press("down", "down", "v")
        await view.settle()
        assert pane_of(view).cursor == 2


@pytest.mark.parametrize("size", [(40, 10), (80, 24), (200, 60)])
@pytest.mark.parametrize("name", ["pcie-two-nodes", "vm-passthrough", "fabric-down"])
async def test_every_machine_at_every_size(hardware: Hardware, name: str, size: tuple[int, int]) -> None:
    async with hardware(name, size) as view:
        for key in ("m", "end", "right", "enter", "escape", "m", "h", "end", "escape", "t"):
            await view.press(key)
        assert "Topology" in view.text()


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
@pytest.mark.parametrize("keys", [(), ("m",)])
async def test_how_it_looks(hardware: Hardware, shots: Any, size: tuple[int, int], keys: tuple[str, ...]) -> None:
    async with hardware("pcie-two-nodes", size) as view:
        await view.press("z", *keys)
        await shots.both(view.pilot, f"{'matrix' if keys else 'tree'}-{size[0]}x{size[1]}")


async def test_output_of_root_is_pasted_into_the_view_itself(hardware: Hardware) -> None:
    async with hardware("story") as view:
        pane = pane_of(view)
        await view.press("t")
        assert "pasted right here" in view.text()
        pane.post_message(events.Paste("40:01.1 001d\n80:01.1 001d\na0:01.1 001d\nc0:01.1 001d\n"))
        await view.settle()
        assert "taken: ACS of 4 ports" in view.text()
        await view.press("escape")
        assert "ACS SV RR CR UF" in view.text()
        machine = view.app.ladder.state.hardware.machine
        assert "supplied by the user at" in machine.ports["0000:40:01.1"].facts["acs.control"].source


async def test_a_paste_without_anything_of_use_changes_nothing(hardware: Hardware) -> None:
    async with hardware("story") as view:
        pane_of(view).post_message(events.Paste("\x1b[2Jhello\nACSCtl: SrcValid+\n"))
        await view.settle()
        assert "nothing of use" in view.text()
        assert "\x1b" not in view.text()
