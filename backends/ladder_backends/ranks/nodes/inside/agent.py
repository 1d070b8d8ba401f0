"""Looks at the processes of one node for a console elsewhere: asks come on stdin, answers go to stdout.

It runs by what a node has, Python 3.6 or later, and imports nothing of ours: its text is sent over the link that
started it. A line is `@SEQUENCE BYTES JSON`; anything else on the link is somebody's greeting. Both sides beat.
When the link closes, or no beat has come for a while, it closes the terminal of its engine, which lets go of what
it holds, and ends. It never signals a rank.
"""

# The oldest Python that it runs by has neither today's syntax nor its type annotations.
# ruff: noqa: UP031, RUF005, SIM105
# mypy: allow-untyped-defs, allow-untyped-calls, allow-any-generics
# mypy: disable-error-code="var-annotated"

import base64
import fcntl
import json
import os
import pty
import re
import select
import shutil
import stat
import subprocess
import sys
import tempfile
import termios
import threading
import time
import tty

BEAT, LOST, PATIENCE = 1.0, 15.0, 20.0
LONGEST_ASK, LARGEST = 1 << 22, 16 << 20

heard = [time.monotonic()]
sequence = [0]
writing = threading.Lock()
engine = {}

THREAD = re.compile(r"TID (\d{1,9}):")
FRAME = re.compile(r"#\d+\s+0x[0-9a-f]+(?: (?:\-|\+) (?=\w))?\s*(.*)")
OFFSET = re.compile(r"\s+\[[0-9a-f]*\]@0x[0-9a-f]+\+0x([0-9a-f]+)")
PLACE = re.compile(r"\s+(.+?):(\d{1,9})(?::\d+)?")
VERSION = re.compile(r"@@?[A-Z][\w.]*$")
USUAL = ["", 0, "", "native", -1, True]


def send(message):
    """One message; all threads may send. A link that takes nothing any more is the end."""
    body = json.dumps(message)
    with writing:
        sequence[0] += 1
        data = ("@%d %d %s\n" % (sequence[0], len(body), body)).encode("ascii")
        try:
            while data:
                data = data[os.write(1, data) :]
        except OSError:
            end()


def end():
    """The last act: the engine's terminal closes, its gdb detaches and goes."""
    close_engine()
    os._exit(0)


def beat():
    """Tell each second that this side lives."""
    while True:
        time.sleep(BEAT)
        send({"beat": time.time()})


def watch():
    """End when the other side beats no longer. Beats are another thread's: a dead link blocks that one."""
    while True:
        time.sleep(BEAT)
        if time.monotonic() - heard[0] > LOST:
            end()


def read(path, most=1 << 16):
    """The first bytes of a file; nothing where it cannot be read."""
    try:
        with open(path, "rb", 0) as file:
            found = file.read(most) or b""
            while 0 < len(found) < most:
                more = file.read(most - len(found))
                if not more:
                    break
                found += more
            return found
    except (OSError, ValueError):
        return b""


def words(data):
    """Bytes as the text that JSON can carry."""
    return data.decode("latin-1")


def fields_of(pid):
    """The fields of `stat` behind the name, proc(5)."""
    return read("/proc/%s/stat" % pid, 4096).rpartition(b")")[2].split()


def same(pid, started):
    """Whether a process still is the one that began at that tick."""
    fields = fields_of(pid)
    return len(fields) > 19 and int(fields[19]) == started and fields[0] not in (b"Z", b"X")


def link(pid, name):
    """Where a link of a process points to."""
    try:
        return os.readlink("/proc/%s/%s" % (pid, name))
    except OSError:
        return ""


def processes(ask):
    """Every process whose environment names a rank, those above it and those below."""
    marks = [name.encode("latin-1") for name in ask["ranks"]]
    keep = tuple(name.encode("latin-1") for name in ask["keep"])
    libraries = [name.encode("latin-1") for name in ask["libraries"]]
    parents, below, carriers, stats = {}, {}, {}, {}
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        pid = int(name)
        raw = read("/proc/%d/stat" % pid, 4096)
        fields = raw.rpartition(b")")[2].split()
        if len(fields) < 20:
            continue
        parents[pid], stats[pid] = int(fields[1]), raw
        below.setdefault(parents[pid], []).append(pid)
        environ = read("/proc/%d/environ" % pid, 2 << 20)
        if any(mark in environ for mark in marks):
            carriers[pid] = environ
    wanted = set(carriers)
    for pid in carriers:
        above = parents.get(pid, 0)
        while above > 0 and above not in wanted and above in parents:
            wanted.add(above)
            above = parents[above]
        layer = [pid]
        while layer:
            layer = [child for each in layer for child in below.get(each, []) if child not in wanted]
            wanted.update(layer)
    told = {}
    for pid in wanted:
        environ = carriers.get(pid) or read("/proc/%d/environ" % pid, 2 << 20)
        kept = [entry for entry in environ.split(b"\0") if entry.startswith(keep)]
        if b"PATH=" in environ:
            kept.append(b"PATH=")
        maps = read("/proc/%d/maps" % pid, LARGEST)
        told[pid] = {
            "stat": words(stats[pid]),
            "environ": words(b"\0".join(kept)),
            "cmdline": words(read("/proc/%d/cmdline" % pid, 4096)),
            "exe": link(pid, "exe").encode("utf-8", "replace").decode("utf-8"),
            "maps": words(b"\n".join(b"/" + each for each in libraries if b"/" + each in maps)),
        }
        told[pid].update(status_of(pid))
    return {"processes": told}


def status_of(pid):
    """What the kernel tells of a process at one glance."""
    wanted = (b"State", b"TracerPid", b"Threads", b"Uid")
    lines = [each for each in read("/proc/%d/status" % pid).split(b"\n") if each.startswith(wanted)]
    return {
        "status": words(b"\n".join(lines)),
        "wchan": words(read("/proc/%d/wchan" % pid, 200)),
        "syscall": words(read("/proc/%d/syscall" % pid, 200)),
    }


class Stacks:
    """Stacks merged here: each frame once, each different stack once, with the ranks that stand in it."""

    def __init__(self):
        self.frames, self.stacks, self.threads, self.silent = {}, {}, {}, []

    def add(self, rank, pid, thread, frames):
        """One thread; frames are rows, outermost first."""
        places = []
        for row in frames:
            while len(row) > 1 and row[-1] == USUAL[len(row) - 2]:
                row = row[:-1]
            places.append(self.frames.setdefault(tuple(row), len(self.frames)))
        number = self.stacks.setdefault(tuple(places), len(self.stacks))
        # Main threads go by themselves: their numbers are those of their processes, and need not be sent.
        self.threads.setdefault((number, thread == pid), []).append((rank, thread))

    def told(self):
        """All of it as it is sent."""
        rows = []
        for (number, _main), some in self.threads.items():
            often = {}
            for rank, thread in some:
                often.setdefault(rank, []).append(thread)
            times = {}
            for rank, threads in often.items():
                times.setdefault(len(threads), []).append(rank)
            for count, ranks in sorted(times.items()):
                rows.append([number, fold(ranks), count, min(ranks), often[min(ranks)][0]])
        return {
            "frames": [list(row) for row in self.frames],
            "stacks": [list(row) for row in self.stacks],
            "threads": rows,
            "unreachable": [[str(rank), why, remedy] for rank, why, remedy in self.silent],
        }


def fold(ranks):
    """`0-2,4`."""
    parts = []
    for rank in sorted(ranks):
        if parts and rank == parts[-1][1] + 1:
            parts[-1][1] = rank
        else:
            parts.append([rank, rank])
    return ",".join(str(first) if first == last else "%d-%d" % (first, last) for first, last in parts)


def run(command):
    """Exit status, output and complaint; what takes too long is left alone, and ends by itself."""
    # Into files: were it a pipe, this agent's death would end the program while a thread stands.
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as said:
        environment = dict(os.environ, DEBUGINFOD_URLS="", LC_ALL="C", RUST_BACKTRACE="0")
        try:
            process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=out, stderr=said, env=environment, start_new_session=True
            )
            status = process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            return 1, b"", b"it did not come to an end within %d s" % PATIENCE
        except OSError as error:
            return 1, b"", ("%s does not run: %s" % (command[0], error.strerror)).encode("utf-8", "replace")
        out.seek(0)
        said.seek(0)
        return status, out.read(LARGEST), said.read(2000)


def native_threads(text):
    """Thread and frames, outermost first, out of eu-stack's output (elfutils 0.170 to 0.192)."""
    found, thread, frames = [], 0, []
    for line in text.split("\n") + ["TID 0:"]:
        match = THREAD.match(line)
        if match:
            if thread and frames:
                found.append((thread, frames[::-1]))
            thread, frames = int(match.group(1)), []
            continue
        match = FRAME.match(line)
        if match:
            rest = match.group(1)
            name, dash, module = rest.rpartition(" - /")
            if not dash and rest.startswith("- /"):
                name, dash, module = "", "x", rest[3:]
            elif not dash:
                name, module = rest, ""
            name = VERSION.sub("", name.strip())[:1000]
            frames.append([name or "??", "", 0, "/" + module if module else "", "native", -1, True])
        elif frames:
            offset, place = OFFSET.fullmatch(line), PLACE.fullmatch(line)
            if offset:
                frames[-1][5] = int(offset.group(1), 16)
            elif place:
                frames[-1][1], frames[-1][2] = place.group(1), int(place.group(2))
    return found


def python_threads(text):
    """The same out of py-spy's JSON (0.3 and 0.4)."""
    found = []
    for thread in json.loads(text):
        frames = []
        for frame in reversed(thread.get("frames") or []):
            flags = [frame.get("is_entry"), frame.get("is_shim_entry")]
            entry = True in flags or flags == [None, None]
            line = frame.get("line") or 0
            frames.append([frame.get("name") or "??", frame.get("filename") or "", line, "", "python", -1, entry])
        found.append((thread.get("os_thread_id") or 0, frames))
    return found


def look(ask):
    """Two glances at each rank, and its stacks, from the moment that was asked for on."""
    at = ask.get("at")
    if at is not None:
        time.sleep(max(0.0, min(PATIENCE, at - time.time())))
    fired = time.time()
    ranks = [(int(rank), int(pid), int(started)) for rank, pid, started in ask["ranks"]]
    before = {rank: words(read("/proc/%d/stat" % pid, 4096)) for rank, pid, _ in ranks}
    python, native, lock, seen = Stacks(), Stacks(), threading.Lock(), {}
    turn = [rank for rank in ranks if same(rank[1], rank[2])]

    def one(rank, pid, started):
        maps = read("/proc/%d/maps" % pid, LARGEST)
        runs_python = b"python" in maps or b"python" in os.path.basename(link(pid, "exe")).encode()
        if ask["python"] and runs_python:
            command = [ask["py-spy"], "dump", "--json", "--full-filenames", "--nonblocking", "--pid"]
            take(rank, pid, started, python, python_threads, command)
        if ask["native"] == "all" or (ask["native"] == "auto" and not runs_python):
            state, tracer = fields_of(pid)[:1], status_of(pid)["status"]
            if state in ([b"D"], [b"T"], [b"t"]) or not re.search(r"TracerPid:\s*0\b", tracer):
                why = "it waits in the kernel" if state == [b"D"] else "it is stopped, or a debugger holds it"
                native.silent.append([rank, why, ""])
            else:
                command = [ask["eu-stack"], "-m", "-s", "-b", "-n", "256", "-p"]
                take(rank, pid, started, native, native_threads, command)

    def take(rank, pid, started, stacks, parse, command):
        if not command[0]:
            stacks.silent.append([rank, "this node has no program for these stacks", "install it there"])
            return
        _status, out, said = run(command + [str(pid)])
        try:
            threads = parse(out.decode("utf-8", "replace"))
        except (ValueError, TypeError, AttributeError):
            threads = []
        with lock:
            if not same(pid, started):
                stacks.silent.append([rank, "process %d has ended meanwhile" % pid, ""])
            elif not threads:
                why = said.decode("utf-8", "replace").split("\n")[0][:200]
                stacks.silent.append([rank, why or "no thread", ""])
            else:
                for thread, frames in threads:
                    stacks.add(rank, pid, thread, frames)

    def work():
        while True:
            with lock:
                if not turn:
                    return
                rank = turn.pop()
            try:
                one(*rank)
            except Exception as error:
                native.silent.append([rank[0], "the agent failed: %s" % error, ""])

    begun = time.time()
    workers = [
        threading.Thread(target=work, daemon=True) for _ in range(min(len(ranks), 2 * (os.cpu_count() or 1)))
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    time.sleep(max(0.0, ask["between"] - (time.time() - begun)))
    for rank, pid, _started in ranks:
        seen[rank] = dict(status_of(pid), before=before[rank], stat=words(read("/proc/%d/stat" % pid, 4096)))
    return {
        "fired": fired,
        "between": time.time() - fired,
        "seen": seen,
        "python": python.told(),
        "native": native.told(),
    }


def files(ask):
    """The newest of some paths for each rank: regular files only, each up to a bound."""
    found = {}
    for rank, paths, since in ask["files"]:
        best = None
        for path in paths:
            try:
                status = os.stat(path)
            except (OSError, ValueError):
                continue
            if stat.S_ISREG(status.st_mode) and status.st_mtime >= since and status.st_size:
                best = max(best or (0, ""), (status.st_mtime, path))
        if best is None:
            continue
        try:
            descriptor = os.open(best[1], os.O_RDONLY | os.O_NONBLOCK)
        except OSError:
            continue
        with os.fdopen(descriptor, "rb") as file:
            if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                data = file.read(LARGEST)
                found[rank] = [best[1], time.time() - best[0], base64.b64encode(data).decode("ascii")]
    return {"files": found}


def open_engine(ask):
    """A debugger on a terminal of its own: its death, or ours, hangs that terminal up, and it detaches."""
    if engine:
        return {"failed": "an engine runs already"}
    ours, theirs = pty.openpty()
    tty.setraw(theirs)
    try:
        engine["process"] = subprocess.Popen(
            ask["words"], stdin=theirs, stdout=theirs, stderr=theirs, preexec_fn=own_terminal
        )
    except OSError as error:
        os.close(ours)
        return {"failed": "%s does not run: %s" % (ask["words"][0], error.strerror)}
    finally:
        os.close(theirs)
    engine["terminal"] = ours
    threading.Thread(target=relay, args=(ours,), daemon=True).start()
    return {"pid": engine["process"].pid}


def own_terminal():
    """Make stdin the terminal of a session of its own."""
    os.setsid()
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def relay(terminal):
    """Pass on what the engine writes; the terminal is closed here, since a read that waits would keep it open."""
    while engine.get("terminal") == terminal:
        try:
            if not select.select([terminal], [], [], 0.1)[0]:
                continue
            data = os.read(terminal, 1 << 16)
        except OSError:
            data = b""
        send({"engine": words(data)})
        if not data:
            break
    os.close(terminal)


def tell_engine(ask):
    """Type for the engine."""
    data = ask["text"].encode("latin-1")
    while data:
        data = data[os.write(engine["terminal"], data) :]
    return {}


def close_engine(_ask=None):
    """Close its terminal; it is given the time to let go, and never signalled."""
    engine.pop("terminal", None)
    process = engine.pop("process", None)
    if process is not None:
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            pass
    return {}


def hello(ask):
    """Who this is, and what it has."""
    beside = os.environ.get("PATH", "/usr/bin") + os.pathsep + os.path.dirname(sys.executable)
    found = {name: shutil.which(os.environ.get(key) or name, path=beside) or "" for name, key in ask["programs"]}
    return {"host": os.uname()[1], "python": sys.version.split()[0], "pid": os.getpid(), "programs": found}


def clock(_ask):
    """Seconds since the epoch and since the boot, and the ticks of a second."""
    up = float(read("/proc/uptime", 100).split()[0])
    return {"clock": time.time(), "up": up, "tick": os.sysconf("SC_CLK_TCK")}


ACTS = {
    "hello": hello, "clock": clock, "processes": processes, "look": look, "files": files,
    "engine": open_engine, "engine-text": tell_engine, "engine-close": close_engine,
}  # fmt: skip


def answer(ask):
    """Do what is asked, and answer."""
    try:
        told = ACTS[ask["ask"]](ask)
    except Exception as error:
        told = {"failed": "%s: %s" % (type(error).__name__, error)}
    told["id"] = ask["id"]
    send(told)


def main():
    """Take asks until the link closes."""
    for work in (beat, watch):
        threading.Thread(target=work, daemon=True).start()
    stream = sys.stdin.buffer
    while True:
        line = stream.readline(LONGEST_ASK)
        if not line:
            end()
        heard[0] = time.monotonic()
        head, _, rest = line.rstrip(b"\n").partition(b" ")
        length, _, body = rest.partition(b" ")
        if not head.startswith(b"@") or not length.isdigit() or int(length) != len(body):
            # Torn: what follows cannot be trusted either.
            end()
        ask = json.loads(body.decode("ascii"))
        if "id" in ask:
            threading.Thread(target=answer, args=(ask,), daemon=True).start()


if __name__ == "__main__":
    main()
