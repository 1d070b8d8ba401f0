"""Large reports do not make every later collection of garbage long."""

import gc

from ladder_backends.sanitizer import TextReportReader
from ladder_backends.sanitizer.settled import EVERY

RECORD = """\
========= Invalid __global__ read of size 4 bytes
=========     at k(int *)+0x10 in /src/a.cu:3
=========     by thread ({},0,0) in block (0,0,0)
=========     Access to 0x{:x} is out of bounds
=========
"""


def test_what_was_read_is_no_longer_looked_through() -> None:
    reader = TextReportReader()
    was = gc.get_freeze_count()
    try:
        reader.feed("".join(RECORD.format(number, number) for number in range(2 * EVERY + 2)).encode())
        assert len(reader.report.findings) > 2 * EVERY
        tracked = {id(one) for one in gc.get_objects()}
        assert id(reader.report.findings[0]) not in tracked
        assert gc.get_freeze_count() > was
    finally:
        gc.unfreeze()


def test_a_start_without_collecting_stays_one() -> None:
    gc.disable()
    try:
        was = gc.get_freeze_count()
        reader = TextReportReader()
        reader.feed("".join(RECORD.format(number, number) for number in range(EVERY + 2)).encode())
        assert gc.get_freeze_count() == was
    finally:
        gc.enable()
