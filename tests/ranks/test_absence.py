"""Ranks that are not here: dead, or of another host."""

from __future__ import annotations

from ladder_backends.model.ranks import Evidence, Job, Launcher, Rank
from ladder_backends.ranks.absence import absence
from ladder_backends.ranks.claims import Claim
from ladder_backends.ranks.mpir import TableRow
from ladder_backends.ranks.process_table import Process
from ladder_backends.ranks.report_json import look_json
from ladder_backends.ranks.report_text import found_words
from ladder_backends.ranks.verdict import verdicts


def claims(ranks, local_size, first=0):
    return [Claim("k", Launcher.TORCHRUN, rank, 8, rank - first, "RANK", local_size) for rank in ranks]


def test_all_of_one_host_are_missing_where_they_are_not_found():
    away = absence(8, [0, 1, 2], claims([0, 1, 2], 8))
    assert list(away.missing) == [3, 4, 5, 6, 7]
    assert away.elsewhere == ()


def test_a_whole_host_of_two():
    away = absence(8, [4, 5, 6, 7], claims([4, 5, 6, 7], 4, 4))
    assert (dict(away.missing), away.elsewhere, away.note) == ({}, (0, 1, 2, 3), "")


def test_one_of_this_host_of_two_is_dead():
    away = absence(8, [4, 5, 7], claims([4, 5, 7], 4, 4))
    assert list(away.missing) == [6]
    assert away.elsewhere == (0, 1, 2, 3)


def test_slurm_tells_the_ranks_of_a_host():
    here = [Claim("k", Launcher.SLURM, rank, 6, None, "X", here=(0, 2, 4)) for rank in (0, 4)]
    away = absence(6, [0, 4], here)
    assert list(away.missing) == [2]
    assert away.elsewhere == (1, 3, 5)


def test_ranks_that_are_dealt_out_host_by_host():
    here = [Claim("k", Launcher.OPENMPI, rank, 8, rank // 2, "X", 4) for rank in (0, 2, 4)]
    away = absence(8, [0, 2, 4], here)
    assert list(away.missing) == [1, 3, 5, 6, 7]
    assert "1 of the 4 ranks of this host" in away.note


def test_the_table_knows_hosts():
    rows = [
        TableRow("here", "/x", 10),
        TableRow("there", "/x", 11),
        TableRow("here", "/x", 12),
        TableRow("here", "/x", 13),
    ]
    processes = {13: Process(13, 1, "x", "Z", 5)}
    away = absence(5, [0], [], rows, lambda host: host == "here", processes)
    assert away.elsewhere == (1,)
    assert list(away.missing) == [2, 3, 4]
    assert "process 12, which has ended" in away.missing[2]
    assert "zombie" in away.missing[3]


def test_ranks_elsewhere_are_no_divergence():
    ranks = tuple(Rank(number, 100 + number, "a", 1, "/x") for number in range(2))
    job = Job("k", Launcher.OPENMPI, None, 4, ranks, elsewhere=(2, 3))
    evidence = Evidence(job)
    told = verdicts([evidence, evidence])
    assert not told[0].diverges
    assert found_words(job) == "found 2 of 4 on 1 node; 2-3 run on other hosts, where nobody has looked"
    document = look_json([evidence], told)
    assert (document["asked"], document["answered"]) == (4, 2)
    assert [row["rank"] for row in document["unreachable"] if "another host" in row["reason"]] == [2, 3]
