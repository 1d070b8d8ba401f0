"""Kernel names without a demangler: just enough of the Itanium C++ ABI to find the function's own name."""

from __future__ import annotations

import re

_LENGTH = re.compile(r"\d+")
_STUB = "__device_stub_"


def kernel_name(symbol: str) -> str:
    """The plain name in a mangled symbol: `_Z4vaddPKfS0_Pfi` gives `vadd`, `_ZN2at6native3addEv` gives `add`.

    A symbol that is not mangled, or not in a form known here, is returned as it is.
    """
    if not symbol.startswith("_Z"):
        return symbol
    rest = symbol[2:].removeprefix("L")
    nested = rest.startswith("N")
    position = len(re.match(r"N?[VKr]*", rest).group()) if nested else 0  # type: ignore[union-attr]
    name = ""
    while match := _LENGTH.match(rest, position):
        end = match.end() + int(match.group())
        if end > len(rest):
            break
        name, position = rest[match.end() : end], end
        if not nested:
            break
    return name or symbol


def base_name(signature: str) -> str:
    """The function's own name in a signature: `void ns::add<float>(float *, int)` gives `add`.

    Text in brackets of any kind is left out, as are return type, namespaces and clone suffixes. A mangled symbol
    gives what `kernel_name` finds in it.
    """
    if signature.startswith("_Z"):
        return kernel_name(signature)
    depth = 0
    kept: list[str] = []
    for index, character in enumerate(signature):
        if character in "<([{":
            # `operator()`, `operator<`: leave such names whole rather than cut them wrong.
            if signature[:index].endswith("operator"):
                return signature
            if character == "(" and depth == 0 and kept and not signature.startswith("(anonymous", index):
                break
            depth += 1
        elif character in ">)]}":
            depth = max(0, depth - 1)
        elif depth == 0:
            kept.append(character)
    words = "".join(kept).split()
    return words[-1].rsplit("::", 1)[-1] if words else signature


def same_kernel(one: str, other: str) -> bool:
    """Whether two tools may mean one function; each spells templates, namespaces and lambdas in its own way."""
    names = base_name(one), base_name(other)
    if any("operator" in name or "lambda" in name for name in names):
        # No two tools write these alike: what cannot be compared is not called different.
        return True
    return names[0] == names[1]


def stub_kernel(symbol: str) -> str:
    """The kernel that a host stub launches, mangled, or an empty string where the symbol is no stub.

    The compiler names the stub of `_Z4vaddPKfS0_Pfi` `__device_stub__Z4vaddPKfS0_Pfi`, mangled once more.
    """
    at = symbol.find(_STUB)
    if at < 0:
        return ""
    length = re.search(r"(\d+)$", symbol[:at])
    name = symbol[at : at + int(length.group())] if length else symbol[at:]
    kernel = name.removeprefix(_STUB)
    return kernel if kernel.startswith("_Z") else kernel.removeprefix("_")
