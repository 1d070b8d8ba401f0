# mypy: ignore-errors
"""Values as trees, from within gdb (12 or later): its pretty-printers, its types, its own formatting.

Adds these commands to the machine interface; each one honours `--thread` and `--frame`:

```
-ladder-values CALLS (FORM EXPRESSION)...         values=[ROW...]
-ladder-children EXPRESSION START COUNT FORM HOW  children=[ROW...],more="0|1",total="N",note=""
-ladder-text EXPRESSION FORM MOST                 text="...",cut="0|1"
```

CALLS is `calls` or `quiet`: whether expressions may run functions of the target. FORM is a name of `LETTERS`, or
`natural` or `raw`. HOW is `members`, `declared` (members of the declared class, not of the object's own) or
`elements` (a pointer points into an array). A ROW has `n`ame, `v`alue, `t`ype, `p`ath, `e`rror, `c` (it can be
looked into), `k` (`string`, `static`, `base` or empty).

A value whose reading is interrupted costs its own row: the others are still told, until `MOST_INTERRUPTIONS`.
"""

from __future__ import annotations

import itertools
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
_RECORDS = (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION)
_REFERENCES = tuple(getattr(gdb, name) for name in ("TYPE_CODE_REF", "TYPE_CODE_RVALUE_REF") if hasattr(gdb, name))
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


def dereferenced(value):
    """What a reference refers to, as what it really is; other values as they are."""
    if value.type.strip_typedefs().code in _REFERENCES:
        value = value.referenced_value()
    return actual(value)


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
    if plain.code not in _RECORDS:
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


# -- children


def names(path, value):
    """Whether an expression names this very object."""
    if value.address is None:
        return False
    try:
        found = gdb.parse_and_eval(path)
        return found.address is not None and int(found.address) == int(value.address)
    except (gdb.error, RuntimeError, ValueError):
        return False


def located(value):
    """An expression for an object by its place, or None."""
    if value.address is None:
        return None
    path = f"*({value.type.unqualified()} *) {int(value.address):#x}"
    return path if names(path, value) else None


def elements(value, path, start, end):
    """Elements of an array, or of what a pointer points into."""
    left = wrapped(path)
    for index in itertools.count(start):
        if end is not None and index > end:
            return
        yield Child(f"[{index}]", f"{left}[{index}]", read=lambda index=index: value[index])


def bases(value, path, field):
    """A base class part of an object."""
    part = value[field]
    name = str(field.type)
    tried = f"static_cast<{name}&>({path})"
    found = tried if names(tried, part) else located(part) or tried
    return Child(name, found, part, kind="base")


def active_variant(value):
    """The field that holds what a Rust enum is now, or None for anything else."""
    fields = [field for field in value.type.strip_typedefs().fields() if field.name]
    if len(fields) == 1 and fields[0].type.name == f"{value.type.name}::{fields[0].name}":
        return fields[0]
    return None


def members(value, path, arrow, form):
    """Base classes, members, then static members; anonymous structures and unions are taken apart."""
    left = wrapped(path) + ("->" if arrow else ".")
    rust = in_rust()
    if rust:
        left = f"(*{wrapped(path)})." if arrow else left
        variant = active_variant(value)
        # Its members are named as if they were the enum's own.
        value = value if variant is None else value[variant]
    later = []
    for field in value.type.strip_typedefs().fields():
        if field.is_base_class:
            yield bases(value, "*" + wrapped(path) if arrow else path, field)
            continue
        if (field.artificial or (field.name or "").startswith("_vptr")) and form != "raw":
            continue
        static = not hasattr(field, "bitpos") and not hasattr(field, "enumval")
        if not field.name:
            inner = value[field]
            if inner.type.strip_typedefs().code in _RECORDS:
                yield from members(inner, path, arrow, form)
            continue
        name = field.name
        if rust and name.startswith("__") and name[2:].isdigit():
            name = name[2:]
        child = Child(name, left + name, read=lambda field=field: value[field], kind="static" if static else "")
        if static:
            later.append(child)
        else:
            yield child
    yield from later


def key_text(key):
    """The key of a map's row."""
    if isinstance(key, gdb.Value):
        return as_text(key, "natural", 60)
    return str(key)


def printed(value, printer, path, start):
    """What a pretty-printer makes of a value."""
    told = iter(printer.children())
    hint = hint_of(printer)
    templates = {}
    if hint == "map":
        pairs = zip(told, told)  # noqa: B905
        for index, ((_, key), (_, item)) in enumerate(itertools.islice(pairs, start, None), start):
            name = f"[{key_text(key)}]"
            yield Child(name, child_path(templates, path, item, 2 * index + 1), item)
        return
    for index, (name, item) in enumerate(itertools.islice(told, start, None), start):
        if hint == "array":
            name = f"[{index}]"
        yield Child(str(name), child_path(templates, path, item, index), item)


def child_path(templates, path, item, index):
    """An expression for what a printer gave: by its place where it has one, else by its number."""
    if isinstance(item, gdb.Value) and item.address is not None:
        kind = str(item.type)
        if kind not in templates:
            templates[kind] = located(item) is not None
        if templates[kind]:
            return f"*({item.type.unqualified()} *) {int(item.address):#x}"
    return f"$child({path}, {index})"


def vector_start(value):
    """Where the elements of a `std::vector` begin and how many there are, or None for anything else."""
    plain = value.type.strip_typedefs()
    if not re.match(r"std::(__\w+::)?vector<(?!bool\b)", str(plain.unqualified())):
        return None
    try:
        parts = value["_M_impl"]
        first, last = parts["_M_start"], parts["_M_finish"]
        if first.type.strip_typedefs().code != gdb.TYPE_CODE_PTR:
            return None
        return first, max(0, int(last - first))
    except (gdb.error, RuntimeError):
        return None


def children_of(value, path, form, start, how):
    """The children from `start` on, and how many there are where that is known without counting."""
    declared = value
    if how != "declared":
        value = dereferenced(value)
    elif value.type.strip_typedefs().code in _REFERENCES:
        value = value.referenced_value()
    printer = printer_of(value, form)
    plain = value.type.strip_typedefs()
    if not has_children(value, printer) and how != "elements":
        return iter(()), 0
    if printer is not None:
        vector = vector_start(value)
        if vector is not None:
            first, count = vector
            return elements(first, wrapped(path) + "._M_impl._M_start", start, count - 1), count
        if hasattr(printer, "children"):
            return printed(value, printer, path, start), None
    if plain.code == gdb.TYPE_CODE_PTR:
        if how == "elements":
            return elements(value, path, start, None), None
        target = actual(value.dereference())
        if printer_of(target, form) is None and target.type.strip_typedefs().code in _RECORDS:
            if not gdb.parameter("print object"):
                path = "&" + wrapped(as_declared(value.dereference(), target, "*" + wrapped(path)))
            return itertools.islice(members(target, path, True, form), start, None), None
        whole = Child("*", "*" + wrapped(path), value.dereference())
        return itertools.islice(iter((whole,)), start, None), 1
    if plain.code == gdb.TYPE_CODE_ARRAY:
        low, high = plain.range()
        return elements(value, path, start + low, high), high - low + 1
    if plain.code in _RECORDS:
        path = as_declared(declared, value, path)
        return itertools.islice(members(value, path, False, form), start, None), None
    return iter(()), 0


def as_declared(declared, value, path):
    """An expression whose type is that of the object, where the declared one is a base class of it."""
    kind = declared.type.strip_typedefs()
    kind = (kind.target().strip_typedefs() if kind.code in _REFERENCES else kind).unqualified()
    real = value.type.strip_typedefs().unqualified()
    if str(kind) == str(real):
        return path
    tried = f"static_cast<{real}&>({path})"
    return tried if names(tried, value) else located(value) or path


def children(expression, start, count, form, how):
    """A window of a value's children."""
    rows, note, more, total = [], "", False, None
    until = time.monotonic() + BUDGET
    try:
        found, total = children_of(gdb.parse_and_eval(expression), expression, form, start, how)
        for child in found:
            if len(rows) >= count:
                more = True
                break
            if time.monotonic() > until:
                more, note = True, TIMED_OUT
                break
            rows.append(row(child, form))
    except (KeyboardInterrupt, Exception) as error:
        note = why(error)
    if how == "elements" and total is None:
        more = False
    return {
        "children": rows,
        "more": "1" if more else "0",
        "total": "" if total is None else str(total),
        "note": note[:VALUE_LIMIT],
    }


class Quiet:
    """No expression runs a function of the target meanwhile."""

    def __init__(self, quiet):
        self.quiet = quiet and bool(gdb.parameter("may-call-functions"))

    def __enter__(self):
        if self.quiet:
            gdb.execute("set may-call-functions off", to_string=True)

    def __exit__(self, *_):
        if self.quiet:
            gdb.execute("set may-call-functions on", to_string=True)


class ValuesCommand(gdb.MICommand):
    """`-ladder-values`."""

    def invoke(self, argv):
        """Each expression's row."""
        Patience.left = MOST_INTERRUPTIONS
        calls, rest = argv[0], argv[1:]
        told = []
        with Quiet(calls != "calls"):
            for form, expression in zip(rest[::2], rest[1::2]):  # noqa: B905
                asked = Child(expression, expression, read=lambda text=expression: gdb.parse_and_eval(text))
                told.append(row(asked, form))
        return {"values": told}


class ChildrenCommand(gdb.MICommand):
    """`-ladder-children`."""

    def invoke(self, argv):
        """A window of children."""
        Patience.left = MOST_INTERRUPTIONS
        expression, start, count, form, how = argv
        with Quiet(True):
            return children(expression, int(start), int(count), form, how)


class TextCommand(gdb.MICommand):
    """`-ladder-text`."""

    def invoke(self, argv):
        """A whole value, up to a number of elements."""
        Patience.left = MOST_INTERRUPTIONS
        expression, form, most = argv
        with Quiet(True):
            try:
                value = dereferenced(gdb.parse_and_eval(expression))
                text = encodable(as_text(value, form, int(most)))
            except KeyboardInterrupt as interrupt:
                raise gdb.GdbError(TIMED_OUT) from interrupt
        limit = 2 * int(most)
        return {"text": text[:limit], "cut": "1" if len(text) > limit else "0"}


class ChildFunction(gdb.Function):
    """`$child(value, number)`: what the value's pretty-printer gives as its child of that number."""

    def __init__(self):
        super().__init__("child")

    def invoke(self, value, number):
        """The child."""
        value = dereferenced(value)
        printer = gdb.default_visualizer(value)
        if printer is None or not hasattr(printer, "children"):
            raise gdb.GdbError("it has no pretty-printer with children")
        for _, item in itertools.islice(printer.children(), int(number), int(number) + 1):
            return item
        raise gdb.GdbError("it has no such child")


ValuesCommand("-ladder-values")
ChildrenCommand("-ladder-children")
TextCommand("-ladder-text")
ChildFunction()
