"""Under which number CUDA has each GPU of NVML: by the two variables that decide, or unknown.

NVML counts by bus address. CUDA's runtime puts the fastest first unless CUDA_DEVICE_ORDER is PCI_BUS_ID, and then
keeps what CUDA_VISIBLE_DEVICES names, in its order, up to the first name that is none (CUDA C++ Programming Guide,
"CUDA Environment Variables").
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ladder_backends.model.fact import Fact

NAME, LABEL = "cuda.index", "number in CUDA"
HIDDEN = "hidden"
_VISIBLE, _ORDER = "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER"


def order_facts(gpus: Sequence[tuple[str, str]], environment: Mapping[str, str]) -> list[Fact]:
    """One fact a GPU.

    Args:
        gpus: Name and UUID of each, as NVML counts them.
        environment: Variables of the process that would start CUDA.
    """
    by_bus = environment.get(_ORDER, "") == "PCI_BUS_ID"
    alike = len({name for name, _ in gpus}) <= 1
    named = environment.get(_VISIBLE)
    source = ", ".join(word for word in (_ORDER if by_bus else "", _VISIBLE if named is not None else "") if word)
    source = source or "CUDA's rules: neither CUDA_DEVICE_ORDER nor CUDA_VISIBLE_DEVICES is set"
    known = by_bus or alike
    places = {} if named is None else _places(named, gpus)
    if named is None:
        numbers: list[int | str | None] = [number if known else None for number in range(len(gpus))]
    else:
        by_number = any(isinstance(one, int) for one in places)
        order = list(places)
        numbers = []
        for number, (_, uuid) in enumerate(gpus):
            if uuid in places:
                numbers.append(order.index(uuid))
            elif not by_number:
                numbers.append(HIDDEN)
            elif not known:
                numbers.append(None)
            else:
                numbers.append(order.index(number) if number in places else HIDDEN)
    return [_fact(number, one, source, by_bus=by_bus) for number, one in enumerate(numbers)]


def _fact(nvml: int, number: int | str | None, source: str, *, by_bus: bool) -> Fact:
    if number is None:
        why = "CUDA puts the fastest of different models first; CUDA_DEVICE_ORDER=PCI_BUS_ID makes it NVML's order"
        return Fact(NAME, LABEL, source=source, why=why)
    if number == HIDDEN:
        return Fact(NAME, LABEL, HIDDEN, "hidden by CUDA_VISIBLE_DEVICES", source).noted("programs do not see it")
    shown = f"{number}" if by_bus else f"{number}, as CUDA numbers GPUs of one model"
    fact = Fact(NAME, LABEL, number, shown, source)
    return fact if number == nvml else fact.noted(f"CUDA's GPU {number} is GPU{nvml} of NVML and nvidia-smi")


def _places(named: str, gpus: Sequence[tuple[str, str]]) -> dict[int | str, None]:
    """What the variable names, in its order: numbers before it, or UUIDs; it ends at the first that is none."""
    found: dict[int | str, None] = {}
    for word in (part.strip() for part in named.split(",")):
        place: int | str
        if word.isdecimal() and int(word) < len(gpus):
            place = int(word)
        else:
            fits = [uuid for _, uuid in gpus if word.startswith("GPU-") and uuid.startswith(word)]
            if len(fits) != 1:
                break
            place = fits[0]
        if place in found:
            # CUDA gives no device at all where one is named twice.
            return {}
        found[place] = None
    return found
