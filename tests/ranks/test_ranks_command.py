"""`ladder-tui ranks`, the way a shell calls it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from html.parser import HTMLParser
from pathlib import Path

import pytest

COMMAND = Path(sys.executable).parent / "ladder-tui"


def strict(text):
    def refuse(constant):
        raise AssertionError(f"{constant} is not JSON")

    return json.loads(text, parse_constant=refuse)


def test_one_look_at_a_job_as_text_json_and_html(waiting_job, ladder_tui, tmp_path):
    running = waiting_job("openmpi", 3)
    pid = running.find().ranks[1].pid
    text = ladder_tui("ranks", "--pid", running.pid, "--between", "0.1")
    assert text.returncode == 0, text.stderr
    assert "found 3 of 3 on 1 node" in text.stdout
    assert "mpi_waiting.c" in text.stdout
    told = ladder_tui("ranks", "--pid", pid, "--json", "--between", "0.1", "--mesh", "dp=3,tp=1")
    assert told.returncode == 0, told.stderr
    document = strict(told.stdout)
    assert (document["format"], document["asked"], document["answered"]) == (1, 3, 3)
    assert document["unreachable"] == []
    assert document["samples"] == 2
    assert document["job"]["launcher"] == "openmpi"
    assert document["job"]["mesh"]["axes"] == {"dp": 3, "tp": 1}
    assert [row["place"]["dp"] for row in document["job"]["ranks"]] == [0, 1, 2]
    assert {row["ranks"] for row in document["classes"]} == {"0-2"}
    assert document["tree"]["children"]
    assert document["verdict"]["diverges"] is False
    native = next(row for row in document["evidence"] if row["source"] == "eu-stack")
    assert native["pause_predicted"] > 0
    page = ladder_tui("ranks", "--pid", pid, "--html", "-o", tmp_path / "look.html", "--between", "0.1")
    assert page.returncode == 0, page.stderr
    html = (tmp_path / "look.html").read_text()
    HTMLParser().feed(html)
    inside = html.split('id="look">')[1].split("</script>")[0]
    assert strict(inside)["asked"] == 3


def test_several_jobs_are_listed_and_one_has_to_be_named(waiting_job, ladder_tui):
    one, two = waiting_job("openmpi", 2), waiting_job("mpich", 2)
    listed = strict(ladder_tui("ranks", "--list", "--json").stdout)
    by_launcher = {job["launcher_pid"]: job for job in listed["jobs"]}
    assert by_launcher[one.pid]["found"] == by_launcher[two.pid]["found"] == 2
    assert f"started by process {one.pid}" in ladder_tui("ranks", "--list").stdout
    choice = ladder_tui("ranks")
    assert choice.returncode == 2
    assert by_launcher[one.pid]["key"] in choice.stderr
    assert len(choice.stderr.splitlines()) == 1
    named = ladder_tui("ranks", "--job", by_launcher[two.pid]["key"], "--json", "--samples", "1")
    assert named.returncode == 0, named.stderr
    assert strict(named.stdout)["job"]["launcher_pid"] == two.pid


def test_a_dead_rank_is_an_exit_code(waiting_job, ladder_tui):
    running = waiting_job("mpich", 3, "-disable-auto-cleanup")
    running.may_die = True
    running.tell("exit-1")
    running.wait_until(lambda: len(running.find().ranks) == 2, "rank 1 ends")
    told = ladder_tui("ranks", "--pid", running.pid, "--json", "--between", "0.1")
    assert told.returncode == 1, told.stderr
    document = strict(told.stdout)
    assert (document["asked"], document["answered"]) == (3, 2)
    assert [row["rank"] for row in document["unreachable"]] == [1]
    assert "found 2 of 3 on 1 node; rank 1: no live process" in ladder_tui("ranks", "--pid", running.pid).stdout


def test_nothing_known_is_no_news_of_health(waiting_job, ladder_tui):
    running = waiting_job("openmpi", 2)
    told = ladder_tui("ranks", "--pid", running.pid, "--stacks", "none", "--samples", "1")
    assert told.returncode == 2
    assert "Nothing is known" in told.stderr


def test_looks_are_kept_until_the_job_is_over(waiting_job, tmp_path):
    running = waiting_job("openmpi", 2)
    running.may_die = True
    folder = tmp_path / "looks"
    console = subprocess.Popen(
        [COMMAND, "ranks", "--pid", str(running.pid), "--every", "0.3", "-o", str(folder), "--stacks", "none"],
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        end = time.monotonic() + 30
        while len(list(folder.glob("ranks-*.json"))) < 3:
            assert time.monotonic() < end
            assert console.poll() is None
            time.sleep(0.05)
        running.tell("end")
        _, said = console.communicate(timeout=30)
    finally:
        if console.poll() is None:
            console.kill()
            console.wait()
    assert "no rank of the job is alive any more" in said
    for file in folder.glob("ranks-*.json"):
        assert strict(file.read_text())["asked"] == 2
    assert not list(folder.glob(".ranks-*"))


def test_ctrl_c_ends_the_looking_and_not_the_job(waiting_job, tmp_path):
    running = waiting_job("openmpi", 2)
    folder = tmp_path / "looks"
    console = subprocess.Popen(
        [COMMAND, "ranks", "--pid", str(running.pid), "--every", "60", "-o", str(folder), "--html"],
        stdin=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        end = time.monotonic() + 30
        while not list(folder.glob("ranks-*.html")):
            assert time.monotonic() < end
            time.sleep(0.05)
        console.send_signal(signal.SIGINT)
        assert console.wait(20) == 0
    finally:
        if console.poll() is None:
            console.kill()
            console.wait()


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--pid", "x"], "no process id"),
        (["--pid", "4194399"], "there is no process"),
        (["--pid", str(os.getppid()), "--job", "x"], "exclude each other"),
        (["--job", "no such key"], "no job is called"),
        (["--samples", "0"], "--samples takes a number"),
        (["--between", "soon"], "--between takes seconds"),
        (["--every", "3"], "--every needs a folder"),
        (["--stacks", "all"], "invalid choice"),
        (["--pids", "4194399"], "there is no process"),
        (["--list", "--", "true"], "either a job is started"),
        (["--", "/no/such/mpirun"], "cannot be started"),
        (["--pids", str(os.getpid()), "--mesh", "tp=2"], "the mesh tp=2 has 2 places"),
        (["--pids", str(os.getpid()), "--mesh", "tp"], "column 1"),
    ],
)
def test_what_cannot_be_done_is_one_line(ladder_tui, words, why):
    refused = ladder_tui("ranks", *words)
    assert refused.returncode == 2
    assert why in refused.stderr.splitlines()[-1]
    assert "Traceback" not in refused.stderr
