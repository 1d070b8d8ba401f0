# mypy: ignore-errors
"""One value as gdb's Python sees it: what it really is, its text, whether it can be looked into."""

from __future__ import annotations

import re
import time

import gdb

LETTERS = {"hex": "x", "decimal": "d", "unsigned": "u", "binary": "t", "octal": "o", "char": "c", "float": "f"}
VALUE_LIMIT = 1100
TYPE_LIMIT = 1000
NAME_LIMIT = 200
BUDGET = 0.7
"""Seconds for the children of one value."""

TIMED_OUT = "timed out"
MOST_INTERRUPTIONS = 3
INTERRUPTED_AFTER = 0.2
"""Seconds of one value after which it may have been interrupted."""

_SIMPLE = re.compile(r"[A-Za-z_$][\w$]*((\.|->|::)[A-Za-z_]\w*|\[\d+\])*\Z")
RECORDS = (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION)
REFERENCES = tuple(getattr(gdb, name) for name in ("TYPE_CODE_REF", "TYPE_CODE_RVALUE_REF") if hasattr(gdb, name))
_OPTIONS = {
    "max_elements": 100,
    "repeat_threshold": 10,
    "pretty_structs": False,
    "pretty_arrays": False,
    "array_indexes": False,
    "symbols": True,
    "unions": True,
    "static_members": False,
    "max_depth": 8,
}
_LATER_OPTIONS = {"address": True, "nibbles": False, "styling": False}


class Child:
    """One child before it is formatted; its value is read then, so that what cannot be read costs one row."""

    __slots__ = ("_read", "_value", "kind", "name", "path")

    def __init__(self, name, path, value=None, read=None, kind=""):
        self.name, self.path, self.kind = name, path, kind
        self._value, self._read = value, read

    def value(self):
        """What it is."""
        return self._value if self._read is None else self._read()


def wrapped(path):
    """A path as the left side of another operator."""
    return path if _SIMPLE.match(path) else "(" + path + ")"


def in_rust():
    """Whether expressions are read as Rust."""
    return "rust" in gdb.execute("show language", to_string=True)


def as_text(value, form, most=None, declared=False):
    """A value as one piece of text."""
    options = dict(_OPTIONS, actual_objects=not declared)
    if most is not None:
        options["max_elements"] = most
        options["repeat_threshold"] = 0
    if form == "raw":
        options["raw"] = True
    elif form in LETTERS:
        options["format"] = LETTERS[form]
    while True:
        try:
            return value.format_string(**options, **_LATER_OPTIONS)
        except TypeError as error:
            # A later gdb's option.
            unknown = [name for name in _LATER_OPTIONS if name in str(error)]
            if not unknown:
                raise
            for name in unknown:
                del _LATER_OPTIONS[name]


def encodable(text):
    """Text that the machine interface can carry."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def why(error):
    """An error in its own words."""
    if isinstance(error, KeyboardInterrupt):
        return TIMED_OUT
    return encodable(str(error)) or type(error).__name__


def referent(value):
    """What a reference refers to; other values as they are."""
    if value.type.strip_typedefs().code not in REFERENCES:
        return value
    # By its place: what gdb follows of a cast to a base class lies too far by the place of that part.
    place = value.address
    return value.referenced_value() if place is None else place.dereference()


def dereferenced(value):
    """What a reference refers to, as what it really is; other values as they are."""
    return actual(referent(value))


def actual(value):
    """A polymorphic object as an object of its own class."""
    plain = value.type.strip_typedefs().unqualified()
    if plain.code != gdb.TYPE_CODE_STRUCT or value.address is None:
        return value
    try:
        real = value.dynamic_type
        if str(real.strip_typedefs().unqualified()) != str(plain):
            return value.address.cast(value.address.dynamic_type).dereference()
    except (gdb.error, RuntimeError):
        pass
    return value


def real_pointer(value):
    """The class of what a pointer really points to, as the engine writes it before the address; mostly nothing."""
    plain = value.type.strip_typedefs()
    if plain.code != gdb.TYPE_CODE_PTR or plain.target().strip_typedefs().code != gdb.TYPE_CODE_STRUCT:
        return ""
    try:
        real = value.dynamic_type
        return "" if str(real) == str(value.type) else f"({real}) "
    except (gdb.error, RuntimeError):
        return ""


def printer_of(value, form):
    """The pretty-printer that makes the value's children, or None."""
    if form == "raw":
        return None
    return gdb.default_visualizer(value)


def hint_of(printer):
    """A printer's display hint, whatever it is."""
    hint = getattr(printer, "display_hint", None)
    try:
        return hint() if hint is not None else None
    except (gdb.error, RuntimeError):
        return None


def is_character(kind):
    """Whether a type is that of a character of text."""
    plain = kind.strip_typedefs().unqualified()
    if plain.code == gdb.TYPE_CODE_CHAR:
        return True
    return plain.code == gdb.TYPE_CODE_INT and str(plain) in ("char", "signed char", "unsigned char")


def is_string(value, printer):
    """Whether a value is text to a person."""
    if printer is not None:
        return hint_of(printer) == "string"
    plain = value.type.strip_typedefs()
    if plain.code in (gdb.TYPE_CODE_PTR, gdb.TYPE_CODE_ARRAY):
        return is_character(plain.target())
    return plain.code == getattr(gdb, "TYPE_CODE_STRING", None)


def active_variant(value):
    """The field that holds what a Rust enum is now, or None for anything else."""
    fields = [field for field in value.type.strip_typedefs().fields() if field.name]
    if len(fields) == 1 and fields[0].type.name == f"{value.type.name}::{fields[0].name}":
        return fields[0]
    return None


def has_children(value, printer):
    """Whether a value can be looked into, without looking."""
    if printer is not None:
        return hasattr(printer, "children") and hint_of(printer) != "string"
    plain = value.type.strip_typedefs()
    if plain.code == gdb.TYPE_CODE_PTR:
        target = plain.target().strip_typedefs().code
        return target not in (gdb.TYPE_CODE_FUNC, gdb.TYPE_CODE_VOID) and int(value) != 0
    if plain.code == gdb.TYPE_CODE_ARRAY:
        return True
    if plain.code not in RECORDS:
        return False
    variant = active_variant(value) if value.type.name and "::" in value.type.name else None
    return bool(plain.fields() if variant is None else variant.type.fields())


class Patience:
    """How often the reading of values was interrupted, for each command."""

    left = MOST_INTERRUPTIONS


def row(child, form):
    """What is told of one value."""
    told = {"n": encodable(child.name)[:NAME_LIMIT], "p": child.path}
    if child.kind:
        told["k"] = child.kind
    if Patience.left < 1:
        told["e"] = TIMED_OUT
        return told
    try:
        value = child.value()
        if isinstance(value, (bool, int, float)):
            value = gdb.Value(value)
        if not isinstance(value, gdb.Value):
            # A printer may give plain Python things.
            told["v"], told["t"] = encodable(str(value))[:VALUE_LIMIT], ""
            return told
        told["t"] = encodable(str(value.type))[:TYPE_LIMIT]
        declared = child.kind == "base"
        if not declared:
            value = dereferenced(value)
        printer = printer_of(value, form)
        if is_string(value, printer):
            told["k"] = "string"
        if has_children(value, printer):
            told["c"] = "1"
        began = time.monotonic()
        told["v"] = encodable(real_pointer(value) + as_text(value, form, declared=declared))[:VALUE_LIMIT]
    except (KeyboardInterrupt, Exception) as error:
        told["e"] = why(error)[:VALUE_LIMIT]
        if isinstance(error, KeyboardInterrupt):
            Patience.left -= 1
        return told
    if time.monotonic() - began > INTERRUPTED_AFTER:
        # The engine swallows an interruption of a printer, and prints nothing in its place.
        Patience.left -= 1
        if not told["v"]:
            told["e"] = TIMED_OUT
    return told
