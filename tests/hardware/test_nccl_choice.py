"""What NCCL takes: the rules of its source, each with a near miss."""

import pytest

from ladder_backends.hardware.nccl_choice import level, nccl_choice, path_type
from ladder_backends.model.fact import Fact, Facts


def host(vendor: str | None) -> Facts:
    return Facts([Fact("cpu.vendor", "CPU", vendor, why="" if vendor else "unread")])


def claims(read: str | None = "OK", write: str | None = "OK") -> Facts:
    return Facts([Fact("claim.read", "", read), Fact("claim.write", "", write)])


@pytest.mark.parametrize(
    ("distance", "vendor", "gpus", "environment", "way"),
    [
        ("NV18", "Intel", 8, {}, "P2P over NVLink"),
        ("PIX", "Intel", 8, {}, "P2P over PCIe"),
        ("PXB", "Intel", 8, {}, "P2P over PCIe"),
        ("PHB", "Intel", 2, {}, "shared memory"),
        ("PHB", "AMD", 2, {}, "P2P over PCIe"),
        ("SYS", "AMD", 2, {}, "P2P over PCIe"),
        ("NODE", "AMD", 2, {}, "P2P over PCIe"),
        ("PHB", "AMD", 3, {}, "shared memory"),
        ("PHB", "AMD", 4, {"NCCL_P2P_LEVEL": "SYS"}, "P2P over PCIe"),
        ("PHB", "AMD", 4, {"NCCL_P2P_LEVEL": "PHB"}, "P2P over PCIe"),
        ("PXB", "Intel", 4, {"NCCL_P2P_LEVEL": "NVL"}, "shared memory"),
        ("NV4", "Intel", 2, {"NCCL_P2P_LEVEL": "NVL"}, "P2P over NVLink"),
        ("NV4", "Intel", 2, {"NCCL_P2P_LEVEL": "LOC"}, "shared memory"),
        ("NV4", "Intel", 2, {"NCCL_P2P_DISABLE": "1"}, "shared memory"),
        ("NV4", "Intel", 2, {"NCCL_P2P_DISABLE": "0"}, "P2P over NVLink"),
        ("PHB", "Intel", 2, {"NCCL_P2P_LEVEL": "3"}, "P2P over PCIe"),
        ("SYS", "Intel", 2, {"NCCL_P2P_LEVEL": "3"}, "shared memory"),
        ("SYS", "Intel", 2, {"NCCL_P2P_LEVEL": "9"}, "P2P over PCIe"),
        # A word that NCCL does not know is as if there were none.
        ("PHB", "Intel", 2, {"NCCL_P2P_LEVEL": "NODE"}, "shared memory"),
        ("PHB", "Intel", 2, {"NCCL_SHM_DISABLE": "1"}, "network"),
        ("PIX", None, 2, {}, "P2P over PCIe"),
        ("PHB", None, 2, {}, None),
        ("", "AMD", 2, {}, None),
    ],
)
def test_the_way(
    distance: str, vendor: str | None, gpus: int, environment: dict[str, str], way: str | None
) -> None:
    choice = nccl_choice(distance, claims(), host(vendor), gpus, environment)
    assert choice.way == way
    assert choice.why


def test_both_reads_and_writes_have_to_be_offered() -> None:
    assert nccl_choice("PIX", claims("OK", "CNS"), host("Intel"), 2, {}).way == "shared memory"
    assert nccl_choice("PIX", claims("CNS", "OK"), host("Intel"), 2, {}).way == "shared memory"
    assert nccl_choice("PIX", claims(None), host("Intel"), 2, {}).way is None


def test_nvlink_that_is_not_offered_is_an_error_unless_it_is_ignored() -> None:
    assert nccl_choice("NV18", claims("DR"), host("Intel"), 2, {}).way == "error at init"
    ignored = {"NCCL_IGNORE_DISABLED_P2P": "1"}
    assert nccl_choice("NV18", claims("DR"), host("Intel"), 2, ignored).way == "shared memory"


def test_nccl_knows_no_node() -> None:
    assert path_type("NODE") == "PHB"
    assert path_type("NV4") == "NVL"


def test_the_level_says_why() -> None:
    assert level(host("AMD"), 2, {}) == ("SYS", "AMD processor and at most 2 GPUs")
    assert level(host("AMD"), 2, {"NCCL_P2P_LEVEL": "PIX"})[0] == "PIX"
