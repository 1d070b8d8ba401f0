"""cuda-gdb's tables as the model's grid: kernels, blocks, warps, lanes.

A table is `NAME={nr_rows,nr_cols,hdr=[..],body=[ROW={column="..",..},..]}`. Columns are read by name: their order
and the tables' names differ between versions. Rows of warps and lanes do not repeat the filter they answer to.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from ladder_backends.errors import MalformedRecord
from ladder_backends.gdb.translation import arguments_of as _arguments
from ladder_backends.gdb.translation import number_of, rows_of, text_of
from ladder_backends.mi.parse import parse
from ladder_backends.mi.records import ResultRecord, Value
from ladder_backends.model.focus import Dim3, Focus, parse_dim3
from ladder_backends.model.frame import Place, file_name
from ladder_backends.model.grid import LANES, BlockRange, Kernel, Lane, LaneState, ThreadRun, Warp, delinear, linear
from ladder_backends.model.provenance import Provenance
from ladder_backends.text import clean_line

_LIVE_ARGUMENTS = "(,args=["
_NO_EXCEPTION = frozenset({"", "None", "No Exception"})


def table_rows(results: Mapping[str, Value]) -> Iterator[Mapping[str, Value]]:
    """Rows of the answer's table, whatever the table is called."""
    for value in results.values():
        if isinstance(value, dict) and "body" in value:
            yield from rows_of(value["body"])


def dim3_of(value: Value | None) -> Dim3 | None:
    """A cell as a coordinate, or None."""
    if not isinstance(value, str):
        return None
    try:
        return parse_dim3(value)
    except ValueError:
        return None


def kernels_of(results: Mapping[str, Value], provenance: Provenance) -> tuple[Kernel, ...]:
    """The answer to `-cuda-info-kernels`."""
    kernels = []
    for row in table_rows(results):
        number = number_of(row.get("kernel"))
        if number is None:
            continue
        told = row.get("invocation")
        invocation = told if isinstance(told, str) else ""
        kernels.append(
            Kernel(
                number=number,
                grid=number_of(row.get("grid")) or 0,
                device=number_of(row.get("device")) or 0,
                name=function_of(invocation),
                arguments=arguments_of(invocation),
                grid_dim=dim3_of(row.get("gridDim")) or (0, 0, 0),
                block_dim=dim3_of(row.get("blockDim")) or (0, 0, 0),
                status=text_of(row.get("status")),
                provenance=provenance,
            )
        )
    return tuple(kernels)


def function_of(invocation: str) -> str:
    """The function in an invocation such as `ns::add<float>(a=0x7f.., n=3)`, clean, without its arguments."""
    if _LIVE_ARGUMENTS in invocation:
        return clean_line(invocation.split(_LIVE_ARGUMENTS, 1)[0])
    start = _arguments_at(invocation)
    return clean_line(invocation[:start] if start is not None else invocation.split("(", 1)[0])


def arguments_of(invocation: str) -> tuple[tuple[str, str], ...]:
    """Names and values a kernel was launched with; none where the engine does not know them.

    A dump tells `add(a=0x7f.., n=3)`. Of a kernel on the device the argument list is a piece of a record that the
    engine has put in the place of its text: `add(,args=[{name="a",value="0x7f.."},...])`.
    """
    if _LIVE_ARGUMENTS in invocation:
        piece = invocation[invocation.index(_LIVE_ARGUMENTS) + 1 :].rpartition(")")[0]
        try:
            record = parse(f"^done{piece}".encode("utf-8", "surrogateescape"))
        except MalformedRecord:
            return ()
        return _arguments(record.results) if isinstance(record, ResultRecord) else ()
    start = _arguments_at(invocation)
    if start is None:
        return ()
    pairs = (part.partition("=") for part in _split_arguments(invocation[start + 1 : -1]))
    return tuple((clean_line(name.strip()), clean_line(value)) for name, equals, value in pairs if equals)


def _arguments_at(invocation: str) -> int | None:
    """Where the parenthesis opens that the last one closes."""
    depth = 0
    for index in range(len(invocation) - 1, -1, -1):
        if invocation[index] == ")":
            depth += 1
        elif invocation[index] == "(":
            depth -= 1
            if depth == 0:
                return index if invocation.endswith(")") else None
    return None


def _split_arguments(text: str) -> Iterator[str]:
    depth, quoted, begin = 0, False, 0
    for index, character in enumerate(text):
        if character == '"' and text[index - 1 : index] != "\\":
            quoted = not quoted
        elif quoted:
            continue
        elif character in "({[<":
            depth += 1
        elif character in ")}]>":
            depth -= 1
        elif character == "," and depth == 0:
            yield text[begin:index]
            begin = index + 1
    if text[begin:].strip():
        yield text[begin:]


def blocks_of(results: Mapping[str, Value], kernel: int) -> tuple[BlockRange, ...]:
    """The answer to `-cuda-info-blocks`, coalesced or not."""
    ranges = []
    for row in table_rows(results):
        first = dim3_of(row.get("from")) or dim3_of(row.get("blockIdx"))
        if first is None:
            continue
        told = number_of(row.get("kernel"))
        ranges.append(
            BlockRange(
                kernel=kernel if told is None else told,
                first=first,
                last=dim3_of(row.get("to")) or first,
                count=number_of(row.get("count")) or 1,
                state=text_of(row.get("state")),
            )
        )
    return tuple(ranges)


def lanes_of(results: Mapping[str, Value]) -> dict[int, Lane]:
    """The answer to `-cuda-info-lanes`, by lane number; lanes that are not held have no row."""
    lanes = {}
    for row in table_rows(results):
        number = number_of(row.get("lane"))
        if number is None or not 0 <= number < LANES:
            continue
        exception = text_of(row.get("exception"))
        exception = "" if exception in _NO_EXCEPTION else exception
        lanes[number] = Lane(
            number=number,
            state=LaneState.FAULTING if exception else _lane_state(text_of(row.get("state"))),
            thread=dim3_of(row.get("threadIdx")),
            pc=text_of(row.get("physical_pc")) or text_of(row.get("virtual_pc")),
            exception=exception,
        )
    return lanes


def _lane_state(word: str) -> LaneState:
    if word == "active":
        return LaneState.ACTIVE
    if word == "divergent":
        return LaneState.DIVERGENT
    return LaneState.EXITED if word in ("exited", "inactive") else LaneState.ABSENT


def warps_of(
    results: Mapping[str, Value], *, device: int, sm: int, kernel: int | None, block: Dim3, block_dim: Dim3 | None
) -> tuple[Warp, ...]:
    """The rows of `-cuda-info-warps device D sm S` that belong to one block, in the order of their threads.

    Args:
        results: The answer.
        device: The filter that was sent; the rows do not repeat it.
        sm: Likewise.
        kernel: Rows of other kernels are left out; None takes any.
        block: Rows of other blocks are left out.
        block_dim: Threads of a block in each direction; without it lanes have no thread index.
    """
    warps: list[Warp] = []
    for row in table_rows(results):
        number = number_of(row.get("warp"))
        first = dim3_of(row.get("threadIdx"))
        if number is None or first is None or dim3_of(row.get("blockIdx")) != block:
            continue
        if kernel is not None and number_of(row.get("kernel")) not in (kernel, None):
            continue
        index = linear(first, block_dim) // LANES if block_dim and all(block_dim) else len(warps)
        lanes, pc = lanes_in_masks(row, index, block_dim)
        warps.append(Warp(number, index, sm, device, block, lanes, pc, number_of(row.get("kernel"))))
    return tuple(sorted(warps, key=lambda warp: warp.index))


def lanes_in_masks(row: Mapping[str, Value], index: int, block_dim: Dim3 | None) -> tuple[tuple[Lane, ...], str]:
    """The lanes of a warp as its row's masks tell them, and the program counter of the active ones."""
    active, divergent = mask_of(row.get("active_lanes_mask")), mask_of(row.get("divergent_lanes_mask"))
    pc = text_of(row.get("active_physical_pc")) or text_of(row.get("active_virtual_pc"))
    return tuple(_lane(lane, active, divergent, index, block_dim, pc) for lane in range(LANES)), pc


def block_warps(
    here: Focus, kernels: Sequence[Kernel], warps: Mapping[str, Value], lanes: Mapping[str, Value]
) -> tuple[Warp, ...]:
    """Warps of the block that a focus stands in: the lanes of its own warp exactly, of the others from their masks.

    Args:
        here: The focus, with its block and hardware coordinates.
        kernels: All kernels; they tell the extent of a block.
        warps: The answer to `-cuda-info-warps` for the focus's SM.
        lanes: The answer to `-cuda-info-lanes` for its warp.
    """
    block, number = here.dim3("block"), here.index("kernel")
    if block is None:
        return ()
    kernel = next((each for each in kernels if each.number == number), None)
    found = warps_of(
        warps,
        device=here.index("device") or 0,
        sm=here.index("sm") or 0,
        kernel=number,
        block=block,
        block_dim=kernel.block_dim if kernel else None,
    )
    exact = lanes_of(lanes)
    if not exact:
        return found
    told = tuple(exact.get(lane, Lane(lane, LaneState.ABSENT)) for lane in range(LANES))
    return tuple(replace(warp, lanes=told) if warp.number == here.index("warp") else warp for warp in found)


def _lane(number: int, active: int, divergent: int, warp: int, block_dim: Dim3 | None, pc: str) -> Lane:
    bit = 1 << number
    if not (active | divergent) & bit:
        return Lane(number, LaneState.ABSENT)
    thread = delinear(warp * LANES + number, block_dim) if block_dim and all(block_dim) else None
    if active & bit:
        return Lane(number, LaneState.ACTIVE, thread, pc)
    return Lane(number, LaneState.DIVERGENT, thread)


def mask_of(value: Value | None) -> int:
    """A cell such as `0x00000000000000ff` as a number; 0 where it is none."""
    try:
        return int(value, 16) if isinstance(value, str) else 0
    except ValueError:
        return 0


def thread_runs(results: Mapping[str, Value]) -> tuple[ThreadRun, ...]:
    """The answer to `-cuda-info-threads block (x,y,z)`, coalesced or not."""
    runs = []
    for row in table_rows(results):
        block = dim3_of(row.get("from_blockIdx")) or dim3_of(row.get("blockIdx"))
        first = dim3_of(row.get("from_threadIdx")) or dim3_of(row.get("threadIdx"))
        if block is None or first is None:
            continue
        runs.append(
            ThreadRun(
                block=block,
                first=first,
                last_block=dim3_of(row.get("to_blockIdx")) or block,
                last=dim3_of(row.get("to_threadIdx")) or first,
                count=number_of(row.get("count")) or 1,
                pc=text_of(row.get("virtual_pc")) or text_of(row.get("physical_pc")),
                place=_place_of(row),
            )
        )
    return tuple(runs)


def _place_of(row: Mapping[str, Value]) -> Place | None:
    file, line = text_of(row.get("filename")), number_of(row.get("line"))
    if not line or not file or file == "n/a":
        return None
    return Place(file_name(file), line, file if file.startswith("/") else "")
