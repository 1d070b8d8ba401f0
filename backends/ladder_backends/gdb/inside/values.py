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

from ladder_one_value import (
    BUDGET,
    MOST_INTERRUPTIONS,
    RECORDS,
    REFERENCES,
    TIMED_OUT,
    VALUE_LIMIT,
    Child,
    Patience,
    active_variant,
    actual,
    as_text,
    dereferenced,
    encodable,
    has_children,
    hint_of,
    in_rust,
    printer_of,
    referent,
    row,
    why,
    wrapped,
)

import gdb


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


def as_class(name, path):
    """An expression for an object as one of its base classes, or of those derived from it.

    Through pointers: of a cast to a reference, gdb adds the place of the base class twice where a member is taken.
    """
    return f"*static_cast<{name}*>(&{wrapped(path)})"


def bases(value, path, field):
    """A base class part of an object."""
    part = value[field]
    name = str(field.type)
    tried = as_class(name, path)
    found = tried if names(tried, part) else located(part) or f"({name}){wrapped(path)}"
    return Child(name, found, part, kind="base")


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
            if inner.type.strip_typedefs().code in RECORDS:
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
    value = referent(value) if how == "declared" else dereferenced(value)
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
        if printer_of(target, form) is None and target.type.strip_typedefs().code in RECORDS:
            if not gdb.parameter("print object"):
                path = "&" + wrapped(as_declared(value.dereference(), target, "*" + wrapped(path)))
            return itertools.islice(members(target, path, True, form), start, None), None
        whole = Child("*", "*" + wrapped(path), value.dereference())
        return itertools.islice(iter((whole,)), start, None), 1
    if plain.code == gdb.TYPE_CODE_ARRAY:
        low, high = plain.range()
        return elements(value, path, start + low, high), high - low + 1
    if plain.code in RECORDS:
        path = as_declared(declared, value, path)
        return itertools.islice(members(value, path, False, form), start, None), None
    return iter(()), 0


def as_declared(declared, value, path):
    """An expression whose type is that of the object, where the declared one is a base class of it."""
    kind = declared.type.strip_typedefs()
    kind = (kind.target().strip_typedefs() if kind.code in REFERENCES else kind).unqualified()
    real = value.type.strip_typedefs().unqualified()
    if str(kind) == str(real):
        return path
    tried = as_class(real, path)
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
        try:
            if self.quiet:
                gdb.execute("set may-call-functions off", to_string=True)
        except KeyboardInterrupt:
            self.__exit__()
            raise

    def __exit__(self, *_):
        # An interruption must not leave the user's own calls forbidden.
        while self.quiet:
            try:
                gdb.execute("set may-call-functions on", to_string=True)
                self.quiet = False
            except KeyboardInterrupt:
                continue


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
