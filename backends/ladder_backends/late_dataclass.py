"""`dataclass` whose methods are made with the first instance.

To make `__init__`, `__eq__` and the others of one class takes the standard library a third of a millisecond: text
is compiled for each. Before a screen can be painted some forty such classes are defined, and few of them used.

    @dataclass(frozen=True, slots=True)
    class Place: ...

is the standard library's from the first instance on, or the first look at its fields. Classes with a base that is
a dataclass, and those that ask for more than `frozen` and `slots`, go to the standard library at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:
    import dataclasses
    import threading

    _FIELDS = "__dataclass_fields__"
    _CALLED = ("__init__", "__repr__", "__eq__", "__hash__")
    _CALLED_IF_FROZEN = ("__getstate__", "__setstate__")
    _READ = (_FIELDS, "__dataclass_params__", "__match_args__")
    _finishing = threading.RLock()

    class _OnLook:
        """An attribute of a class that is there once somebody looks."""

        __slots__ = ("_finish", "_name")

        def __init__(self, name, finish):
            self._name, self._finish = name, finish

        def __get__(self, instance, owner):
            self._finish()
            return getattr(owner, self._name)

    def _on_call(name, finish):
        def stand_in(self, *arguments, **named):
            return getattr(finish(), name)(self, *arguments, **named)

        return stand_in

    def _deferred(plain, frozen):
        written = dict(plain.__dict__)
        fields = tuple(written["__annotations__"])
        late = None
        unfinished = True

        def finish():
            nonlocal unfinished
            with _finishing:
                if unfinished:
                    made = dataclasses.dataclass(frozen=frozen, slots=True)(plain)
                    for name, value in made.__dict__.items():
                        if written.get(name, made) is not value and name not in fields and name != "__slots__":
                            setattr(late, name, value)
                    unfinished = False
            return late

        own = {name: value for name, value in written.items() if name not in fields}
        own.pop("__dict__", None)
        own.pop("__weakref__", None)
        for name in _CALLED + _CALLED_IF_FROZEN if frozen else _CALLED:
            own.setdefault(name, _on_call(name, finish))
        for name in _READ:
            own[name] = _OnLook(name, finish)
        own["__slots__"] = fields
        late = type(plain)(plain.__name__, plain.__bases__, own)
        late.__qualname__ = plain.__qualname__
        return late

    def _is_simple(cls):
        annotations = cls.__dict__.get("__annotations__")  # noqa: RUF063 - of the class alone, and not evaluated
        words = ("ClassVar", "InitVar", "KW_ONLY")
        return (
            bool(annotations)
            and all(isinstance(one, str) and not any(word in one for word in words) for one in annotations.values())
            and not any(_FIELDS in base.__dict__ for base in cls.__mro__)
        )

    def dataclass(cls=None, /, *, frozen=False, slots=False, **more):
        """As of the standard library."""

        def wrap(cls):
            if slots and not more and _is_simple(cls):
                return _deferred(cls, frozen)
            return dataclasses.dataclass(frozen=frozen, slots=slots, **more)(cls)

        return wrap if cls is None else wrap(cls)
