"""The job's model."""

from __future__ import annotations

from ladder_backends.model.ranks import Job, Launcher, Mesh, Rank


def test_the_last_axis_of_a_mesh_varies_fastest():
    mesh = Mesh((("dp", 2), ("pp", 3), ("tp", 4)))
    assert mesh.size == 24
    assert mesh.coordinates(0) == {"dp": 0, "pp": 0, "tp": 0}
    assert mesh.coordinates(1) == {"dp": 0, "pp": 0, "tp": 1}
    assert mesh.coordinates(23) == {"dp": 1, "pp": 2, "tp": 3}
    assert list(mesh.coordinates(5)) == ["dp", "pp", "tp"]
    assert all(mesh.rank(mesh.coordinates(rank)) == rank for rank in range(24))


def test_a_job_finds_ranks_and_hosts():
    ranks = tuple(Rank(number, 100 + number, host, 1, "/x") for number, host in ((0, "a"), (1, "b"), (3, "a")))
    job = Job("k", Launcher.PIDS, None, 4, ranks)
    assert job.rank(3) is ranks[2]
    assert job.rank(2) is None
    assert job.hosts == ("a", "b")
