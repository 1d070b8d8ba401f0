# mypy: ignore-errors
"""Records what expressions hold at source lines, from within gdb (9 or later).

The console sets `ladder` beforehand: `folder`, and `probes`, a list of `[number, place, expression]`. Without more
the program of this gdb, one rank, is run to its end. With `ranks`, the rank of each inferior by its number, and
`most`, the ranks run already, and conditions of the console's breakpoints call `$_ladder_record(PLACE)`, PLACE
being that of a place among all, in the order of `probes`. Of each rank `RANK.hits` is written, a JSON document a
line, and `RANK.values` with the bytes of each hit.

    {"rank":2,"probe":0,"place":"solver.c:42","expression":"x[0]@8"}
    {"p":0,"t":{"code":"f","size":8,"count":8,"name":"double [8]"}}     before the first hit, and where that changes
    {"p":0,"h":"<hash>","o":0,"n":64}                                    a hit: hash, place and length of its bytes
    {"p":0,"x":"No symbol ..."}                                          a hit at which it could not be read
    {"end":0} {"signal":"SIGSEGV","at":"act at solver.c:12"}             how the rank ended
    {"live":100}                                                         it ran on after so many hits, or fewer
"""

import contextlib
import hashlib
import json
import os

import gdb

VARIABLES = ("OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "RANK", "SLURM_PROCID")
KEPT = 1 << 28
LONGEST = 1 << 24
PASSED_ON = (
    "SIGTERM",
    "SIGINT",
    "SIGHUP",
    "SIGUSR1",
    "SIGUSR2",
    "SIGCONT",
    "SIGPIPE",
    "SIGCHLD",
    "SIGALRM",
    "SIGTSTP",
)


class Record:
    """The files of this rank."""

    def __init__(self, folder, rank):
        self.rank = rank
        self.lines = open(os.path.join(folder, f"{self.rank}.hits"), "w")  # noqa: SIM115 - open to the end
        self.values = open(os.path.join(folder, f"{self.rank}.values"), "wb")  # noqa: SIM115
        self.kept = 0

    def write(self, **document):
        """One line; it is there though gdb should be ended right now."""
        self.lines.write(json.dumps(document) + "\n")
        self.lines.flush()

    def keep(self, raw):
        """Keep bytes; returns where they lie, or -1 beyond the bound."""
        if self.kept + len(raw) > KEPT:
            return -1
        at = self.kept
        self.values.write(raw)
        self.values.flush()
        self.kept += len(raw)
        return at


class Probe(gdb.Breakpoint):
    """A breakpoint that never stops."""

    def __init__(self, record, number, place, expression):
        super().__init__(place, internal=True)
        self.silent = True
        self.record, self.probe, self.asked = record, number, expression
        self.told = None

    def stop(self):
        """Write what the expression holds."""
        self.told = note(self.record, self.probe, self.asked, self.told)
        return False


class Record_running(gdb.Function):
    """Records what ranks hold that run already; always false, so that nothing ever stops for it."""

    def __init__(self, folder, probes, ranks, most):
        super().__init__("_ladder_record")
        self.most = most
        self.places = list(dict.fromkeys(place for _, place, _ in probes))
        self.probes = [[probe for probe in probes if probe[1] == place] for place in self.places]
        self.records, self.hits, self.told = {}, {}, {}
        for inferior, rank in ranks.items():
            record = self.records[int(inferior)] = Record(folder, rank)
            for number, place, expression in probes:
                record.write(rank=rank, probe=number, place=place, expression=expression)

    def invoke(self, place):
        """Write what all expressions of a place hold in the inferior that came to it."""
        place, inferior = int(place), gdb.selected_inferior().num
        record = self.records.get(inferior)
        hits = self.hits.get((inferior, place), 0)
        if record is None or hits >= self.most:
            return 0
        for number, _, expression in self.probes[place]:
            key = inferior, number
            self.told[key] = note(record, number, expression, self.told.get(key))
        self.hits[inferior, place] = hits + 1
        if all(self.hits.get((inferior, each)) == self.most for each in range(len(self.places))):
            record.write(live=self.most)
        return 0


def note(record, probe, expression, told):
    """Write what an expression holds now; returns what was told of its type last."""
    try:
        raw, kind = read(expression)
    except (gdb.error, RuntimeError, ValueError, OverflowError) as error:
        record.write(p=probe, x=str(error)[:300])
        return told
    if kind != told:
        record.write(p=probe, t=kind)
    at = record.keep(raw)
    digest = hashlib.blake2b(raw, digest_size=16).hexdigest()
    record.write(p=probe, h=digest, o=at, n=len(raw))
    return kind


def read(expression):
    """Bytes of an expression's value, and what they are."""
    value = gdb.parse_and_eval(expression)
    kind = value.type.strip_typedefs()
    if kind.code in (gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF):
        value = value.referenced_value()
        kind = value.type.strip_typedefs()
    size = kind.sizeof
    if size > LONGEST:
        raise ValueError(f"it has {size} bytes, more than {LONGEST}")
    told = describe(kind)
    told["name"] = str(value.type)[:80]
    if value.address is not None:
        return gdb.selected_inferior().read_memory(int(value.address), size).tobytes(), told
    return loose(value, kind, told), told


def loose(value, kind, told):
    """Bytes of a value that lies in no memory: in a register, or computed."""
    import struct

    if told["code"] == "f" and told["size"] in (4, 8):
        return struct.pack("<f" if told["size"] == 4 else "<d", float(value))
    if told["code"] in ("i", "u") and told["count"] == 1:
        return (int(value) & ((1 << 8 * kind.sizeof) - 1)).to_bytes(kind.sizeof, "little")
    raise ValueError("it lies in no memory")


def describe(kind):
    """Code (`f`, `i`, `u`, or `s` for what is no number), size of an element, and how many there are."""
    count, element = 1, kind
    while element.code == gdb.TYPE_CODE_ARRAY:
        low, high = element.range()
        count *= high - low + 1
        element = element.target().strip_typedefs()
    if element.code == gdb.TYPE_CODE_FLT:
        code = "f"
    elif element.code in (gdb.TYPE_CODE_INT, gdb.TYPE_CODE_BOOL, gdb.TYPE_CODE_CHAR, gdb.TYPE_CODE_ENUM):
        code = "u" if "unsigned" in str(element) or element.code != gdb.TYPE_CODE_INT else "i"
    else:
        code = "s"
    return {"code": code, "size": element.sizeof, "count": count}


def main(folder, probes):
    """Set the probes, run the program to its end, tell how that was."""
    for text in ("confirm off", "pagination off", "breakpoint pending on", "debuginfod enabled off", "width 0"):
        # Older ones do not know of some.
        with contextlib.suppress(gdb.error):
            gdb.execute("set " + text)
    for name in PASSED_ON:
        gdb.execute(f"handle {name} nostop noprint pass", False, True)
    record = Record(folder, next((int(os.environ[n]) for n in VARIABLES if os.environ.get(n, "").isdigit()), 0))
    for number, place, expression in probes:
        record.write(rank=record.rank, probe=number, place=place, expression=expression)
    for number, place, expression in probes:
        Probe(record, number, place, expression)
    ended = []

    def exited(event):
        ended.append(getattr(event, "exit_code", None))

    gdb.events.exited.connect(exited)
    # The program gets the output that this gdb was started with, not the one that gdb's own words go to.
    gdb.execute("set exec-wrapper sh -c 'exec \"$@\" >&3 2>&4 3>&- 4>&-' sh")
    try:
        gdb.execute("run", False, True)
    except gdb.error as error:
        record.write(failed=str(error)[:300])
        os._exit(125)
    if ended:
        code = ended[0]
        if code is None:
            signal = gdb.parse_and_eval("$_exitsignal")
            record.write(signal=str(signal), at="")
            code = 1
        record.write(end=int(code))
        gdb.execute(f"quit {int(code)}")
    frame = gdb.selected_frame()
    place = frame.find_sal()
    where = frame.name() or "??"
    if place.symtab is not None:
        where += f" at {os.path.basename(place.symtab.filename)}:{place.line}"
    told = gdb.execute("info program", False, True)
    signal = next((word.rstrip(".,") for word in told.split() if word.startswith("SIG")), "")
    record.write(signal=signal, at=where)
    gdb.execute("kill")
    gdb.execute("quit 139")


if "ranks" in ladder:  # noqa: F821 - the console has set it
    Record_running(ladder["folder"], ladder["probes"], ladder["ranks"], ladder["most"])  # noqa: F821
else:
    main(ladder["folder"], ladder["probes"])  # noqa: F821
