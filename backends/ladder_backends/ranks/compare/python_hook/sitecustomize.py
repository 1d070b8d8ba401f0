# mypy: ignore-errors
"""Hashes the tensors that a rank of torch gives to collectives; Python loads this at its start, by PYTHONPATH.

`LADDER_TENSORS` names the folder: `RANK.hits` and `RANK.values` are written there, of the form that
`inside/hits.py` describes, each call a hit. What is called below Python, as by the reducer of DDP, is not seen. A
tensor of a GPU is waited for and copied. A rank is never ended by it: what cannot be recorded is written as such.
"""

import contextlib
import hashlib
import importlib.machinery
import json
import os
import sys

MODULE = "torch.distributed.distributed_c10d"
CALLS = (
    "all_gather",
    "all_gather_into_tensor",
    "all_reduce",
    "all_to_all",
    "all_to_all_single",
    "barrier",
    "broadcast",
    "gather",
    "reduce",
    "reduce_scatter",
    "reduce_scatter_tensor",
    "scatter",
)
INPUTS = {
    "all_gather": (1, "tensor"),
    "all_gather_into_tensor": (1, "input_tensor"),
    "all_to_all": (1, "input_tensor_list"),
    "all_to_all_single": (1, "input"),
    "reduce_scatter": (1, "input_list"),
    "reduce_scatter_tensor": (1, "input"),
    "scatter": (1, "scatter_list"),
}
KEPT = 1 << 28
HERE = os.path.dirname(os.path.abspath(__file__))


class Record:
    """The files of this rank; opened at the first collective, so that a parent that starts ranks leaves none."""

    def __init__(self, folder):
        self.folder, self.lines, self.values, self.kept, self.told = folder, None, None, 0, None

    def write(self, **document):
        """One line."""
        if self.lines is None:
            rank = int(os.environ.get("RANK", "0"))
            self.lines = open(os.path.join(self.folder, f"{rank}.hits"), "w")  # noqa: SIM115 - open to the end
            self.values = open(os.path.join(self.folder, f"{rank}.values"), "wb")  # noqa: SIM115
            self.write(rank=rank, probe=0, place="collectives", expression="tensors")
        self.lines.write(json.dumps(document) + "\n")
        self.lines.flush()

    def call(self, op, torch, tensors):
        """Write what is given to one call."""
        raw, shapes, kinds = b"", [], set()
        for tensor in tensors:
            shapes.append(f"{str(tensor.dtype).rpartition('.')[2]}{list(tensor.shape)}")
            tensor = tensor.detach()
            if tensor.dtype in (torch.float16, torch.bfloat16):
                tensor = tensor.float()
            tensor = tensor.cpu().contiguous()
            code = "f" if tensor.dtype.is_floating_point else "s" if tensor.dtype.is_complex else "i"
            if tensor.dtype in (torch.uint8, torch.bool):
                code = "u"
            kinds.add((code, tensor.element_size()))
            raw += bytes(tensor.reshape(-1).view(torch.uint8).numpy()) if tensor.numel() else b""
        code, size = kinds.pop() if len(kinds) == 1 else ("s", 1)
        kind = {"code": code, "size": size, "count": len(raw) // size, "name": f"{op} {' '.join(shapes)}"[:80]}
        self.write(p=0, t=kind) if kind != self.told else None
        self.told = kind
        at = -1
        if self.kept + len(raw) <= KEPT:
            at, self.kept = self.kept, self.kept + len(raw)
            self.values.write(raw)
            self.values.flush()
        self.write(p=0, h=hashlib.blake2b(raw, digest_size=16).hexdigest(), o=at, n=len(raw))


def given(op, arguments, named, torch):
    """The tensors that a call reads."""
    at, name = INPUTS.get(op, (0, "tensor"))
    value = named.get(name, arguments[at] if len(arguments) > at else None)
    some = value if isinstance(value, list | tuple) else [value]
    return [each for each in some if isinstance(each, torch.Tensor)]


def watch(module, record):
    """Put a note before each collective of the module."""
    import functools

    torch = sys.modules["torch"]

    def noted(op, call):
        @functools.wraps(call)
        def wrapper(*arguments, **named):
            if not inside:
                try:
                    record.call(op, torch, given(op, arguments, named, torch))
                except Exception as error:
                    with contextlib.suppress(OSError):
                        record.write(p=0, x=f"{op}: {type(error).__name__}: {error}"[:300])
            # One may be made of others.
            inside.append(op)
            try:
                return call(*arguments, **named)
            finally:
                inside.pop()

        return wrapper

    inside = []
    for op in CALLS:
        if hasattr(module, op):
            setattr(module, op, noted(op, getattr(module, op)))


class Finder:
    """Waits for the module of collectives to be imported."""

    def __init__(self, record):
        self.record = record

    def find_spec(self, name, path=None, target=None):
        """See `importlib.abc.MetaPathFinder`."""
        if name != MODULE:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is not None:
            run = spec.loader.exec_module

            def exec_module(module):
                run(module)
                watch(module, self.record)

            spec.loader.exec_module = exec_module
        return spec


def ended(record):
    """Tell at the end of the rank that it came there by itself."""
    if record.lines is not None:
        status = 1 if getattr(sys, "last_value", None) is not None else 0
        record.write(end=status)


def next_one():
    """Load what would have been loaded instead."""
    others = [entry for entry in sys.path if os.path.abspath(entry or ".") != HERE]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", others)
    if spec is not None and spec.loader is not None:
        spec.loader.exec_module(importlib.util.module_from_spec(spec))


if os.environ.get("LADDER_TENSORS"):
    import atexit
    import importlib.util

    taken = Record(os.environ["LADDER_TENSORS"])
    sys.meta_path.insert(0, Finder(taken))
    atexit.register(ended, taken)
    next_one()
