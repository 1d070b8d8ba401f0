from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from ladder_backends.case import Opened


@pytest.fixture
def dump_copy(vector_add: Opened, tmp_path: Path) -> Iterator[Path]:
    """A copy of a real dump that a test may cut and spoil."""
    assert vector_add.dump is not None
    copy = tmp_path / "copy.nvcudmp"
    shutil.copyfile(vector_add.dump, copy)
    yield copy
    copy.unlink(missing_ok=True)
