"""The document of the machines' form: its example is a machine."""

import re
from pathlib import Path
from typing import Any

import ladder_backends.simulator
from ladder_backends.simulator.machine import names

DOCUMENT = Path(ladder_backends.simulator.__file__).parent / "MACHINES.md"


def test_the_example_reads(read_text: Any) -> None:
    example = re.search(r"```toml\n(.*?)```", DOCUMENT.read_text(), re.DOTALL)
    assert example is not None
    machine = read_text(example[1].replace("fails = 12", ""))
    assert machine.gpus[0].facts["recovery"].value == "drain P2P"
    assert machine.host["cmdline"].value == "..."


def test_every_key_of_the_shipped_machines_is_documented() -> None:
    import tomllib

    text = DOCUMENT.read_text()
    folder = Path(ladder_backends.simulator.__file__).parent / "scenarios"
    for name in names():
        raw = tomllib.loads((folder / f"{name}.toml").read_text())
        tables = [raw.get("host", {}), *raw.get("gpu", ()), *raw.get("port", ()), *raw.get("link", ())]
        for table in tables:
            for key in table:
                assert re.search(rf"\b{key}\b", text), (name, key)
