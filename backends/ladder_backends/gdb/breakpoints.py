"""The engine's breakpoints, bound to what the user asked for."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from ladder_backends.gdb.breakpoint_rows import asked_location, binding_of, intent_of, kind_of
from ladder_backends.gdb.log_points import writes
from ladder_backends.gdb.translation import number_of, text_of
from ladder_backends.mi.records import Value, all_values
from ladder_backends.model.breakpoint import (
    BindingState,
    BoundLocation,
    BreakpointBinding,
    BreakpointIntent,
    BreakpointKind,
)

__all__ = ["BreakpointTable", "binding_of"]

_RBREAK = re.compile(r"\s*rb\w*\s+(?P<pattern>\S.*?)\s*$")
_CAUGHT = {
    "throw": "exception thrown",
    "rethrow": "exception thrown again",
    "catch": "exception caught",
    "exec": "exec",
    "fork": "fork",
    "vfork": "vfork",
}


class BreakpointTable:
    """Every breakpoint the engine has, by its number, in the order of creation, and those it has let go.

    Attributes:
        standing: Tells the function the target stands in, for watches that are typed in the command line.
        lost: Numbers of breakpoints that the engine switched off because another program was executed.
        stale: The engine may have changed some without a notice.
        notices: How many notices were taken.
        unsaid: Numbers of pending breakpoints whose conditions the engine may have kept to itself.
        reword: What a dialect reads in a row otherwise than it is written.
        gone: Told the number of each breakpoint that is gone, whoever has deleted it.
    """

    def __init__(self, standing: Callable[[], str] = lambda: "") -> None:
        self.standing = standing
        self._bindings: dict[str, BreakpointBinding] = {}
        self._members: dict[str, str] = {}
        self._kept: dict[int, BreakpointBinding] = {}
        self._highest_intent = 0
        self._own: str | None = None
        self._pattern: BreakpointIntent | None = None
        self._expected: BreakpointIntent | None = None
        self._hits: dict[str, int] = {}
        self._leaving: dict[str, str] = {}
        self._last_hit = ""
        self._ended = False
        self._hidden: dict[str, tuple[str, str]] = {}
        self._written: dict[str, int] = {}
        self.lost: set[str] = set()
        self.stale = False
        self.notices = 0
        self.unsaid: set[str] = set()
        self.reword: Callable[[Mapping[str, Value]], Mapping[str, Value]] = lambda row: row
        self.gone: Callable[[str], None] = lambda number: None

    @property
    def own(self) -> str:
        """The number of a breakpoint that is not listed, as for a start at main; empty where there is none."""
        return self._own or ""

    def expect_own(self, number: str = "") -> None:
        """A temporary breakpoint is no wish of the user and not listed: the next one where no number is given."""
        self._own = number

    @property
    def bindings(self) -> tuple[BreakpointBinding, ...]:
        """All bindings; the engine has those that have a number."""
        return (*self._bindings.values(), *self._kept.values())

    def find(self, number: str) -> BreakpointBinding | None:
        """The binding that a number of the engine belongs to."""
        return self._bindings.get(self._members.get(number, number))

    def numbers(self, binding: BreakpointBinding) -> list[str]:
        """The engine's numbers of a binding: more than one for a regular expression."""
        return [number for number, first in self._members.items() if first == binding.number] or [binding.number]

    def count(self, intent: BreakpointIntent) -> None:
        """Give the id of an intent to no other, though the engine does not have it."""
        self._highest_intent = max(self._highest_intent, intent.id)

    # -- what the engine answers and tells

    def bind(self, intent: BreakpointIntent, row: Mapping[str, Value], why: str = "") -> BreakpointBinding:
        """Keep the engine's answer to an intent.

        Args:
            intent: What was asked for.
            row: The `bkpt` tuple.
            why: The engine's explanation where the breakpoint is pending.
        """
        self._highest_intent = max(self._highest_intent, intent.id)
        self._kept.pop(intent.id, None)
        binding = binding_of(intent, self._with_written(self.reword(row)), why)
        self._bindings[binding.number] = binding
        return binding

    def update(self, row: Mapping[str, Value]) -> bool:
        """Take a `=breakpoint-created` or `=breakpoint-modified`; returns whether anything is different now."""
        self.notices += 1
        row = self._with_written(self.reword(row))
        number = text_of(row.get("number"))
        if not number or "." in number:
            return False
        if number in self._members:
            return self._update_member(number, row)
        known = self._bindings.get(number)
        if row.get("disp") == "dstp":
            # It is about to go by itself, and switched off until then: no wish of the user.
            return False
        if known is None and self._own == "" and row.get("disp") == "del":
            self._own = number
        if number == self._own:
            return False
        if known is None and self._pattern is not None and kind_of(row) is BreakpointKind.CODE:
            return self._add_member(self._pattern, number, row)
        if known is not None and _lost_in_exec(known, row):
            # Not there in the program that was executed, and switched off by the engine: no wish of the user.
            self.lost.add(number)
            row = {**row, "enabled": "y"}
        if known is None and self._expected is None and _may_hide_a_condition(row):
            self.unsaid.add(number)
        row = self._with_hidden(number, row)
        intent = known.intent if known is not None else self._typed_intent(row)
        binding = binding_of(intent_of(intent, row, known), row, known.why if known else "")
        if known is not None and binding.hits > known.hits:
            self._last_hit = number
        self._bindings[number] = binding
        return binding != known

    def review(self, row: Mapping[str, Value]) -> bool:
        """Take a row of a list that was asked for; returns whether anything is different now."""
        number = text_of(row.get("number"))
        return (number in self._bindings or number in self._members) and self.update(row)

    # -- hits that an engine does not count

    @property
    def logs(self) -> bool:
        """There are log points."""
        return any(each.intent.log for each in self._bindings.values())

    def wrote(self, intents: Sequence[int]) -> bool:
        """Count messages of log points, by intent; returns whether anything is different now."""
        different = False
        for number in self._written:
            known = self._bindings.get(number)
            if known is not None and (count := intents.count(known.intent.id)):
                self._written[number] += count
                self._bindings[number] = replace(known, hits=self._written[number])
                different = True
        return different

    def count_anew(self) -> None:
        """A run of the program begins."""
        self._written = dict.fromkeys(self._written, 0)

    def _with_written(self, row: Mapping[str, Value]) -> Mapping[str, Value]:
        """A row with the hits of a log point whose condition writes."""
        number = text_of(row.get("number"))
        if not writes(text_of(row.get("cond"))):
            self._written.pop(number, None)
            return row
        return {**row, "times": str(self._written.setdefault(number, 0))}

    # -- conditions that an engine does not tell

    def asked(self) -> dict[str, str]:
        """Where breakpoints in code were asked for, by number, in the order of creation."""
        code = (each for each in self._bindings.values() if each.intent.kind is BreakpointKind.CODE)
        return {each.number: each.intent.location for each in code}

    def say(self, options: Mapping[str, tuple[str, str]]) -> bool:
        """Note conditions and threads of pending breakpoints; returns whether there are any."""
        asked, self.unsaid = self.unsaid, set()
        said = {number: options[number] for number in asked if any(options.get(number, ()))}
        self._hidden.update(said)
        for number in said:
            known = self._bindings.get(number)
            if known is not None:
                condition, thread = said[number]
                intent = replace(known.intent, condition=condition, thread=number_of(thread))
                self._bindings[number] = replace(known, intent=intent)
        return bool(said)

    def _with_hidden(self, number: str, row: Mapping[str, Value]) -> Mapping[str, Value]:
        """A row with what the engine does not tell of a breakpoint as long as it is pending."""
        if number not in self._hidden:
            return row
        if row.get("addr") != "<PENDING>":
            del self._hidden[number]
            return row
        condition, thread = self._hidden[number]
        hidden = {name: value for name, value in (("cond", condition), ("thread", thread)) if value}
        return {**hidden, **row}

    # -- what is expected

    def expect(self, intent: BreakpointIntent | None) -> None:
        """The next breakpoint that appears is that of an intent; None: it was typed in the command line."""
        self._expected = intent

    def _typed_intent(self, row: Mapping[str, Value]) -> BreakpointIntent:
        if self._expected is not None:
            intent, self._expected = self._expected, None
            return intent
        self._highest_intent += 1
        kind = kind_of(row)
        scope = self.standing() if kind.watches else ""
        return BreakpointIntent(self._highest_intent, asked_location(row), kind=kind, scope=scope)

    def remove(self, number: str) -> bool:
        """Forget a breakpoint that is gone; returns whether it was known.

        A watch that the engine took away because its frame or its process has ended stays as a wish.
        """
        self.gone(number)
        if number == self._own:
            self._own = None
        self._last_hit = "" if number == self._last_hit else self._last_hit
        self.unsaid.discard(number)
        self._written.pop(number, None)
        self._hidden.pop(number, None)
        first = self._members.pop(number, number)
        known = self._bindings.pop(first, None)
        if known is None:
            return False
        if first in self._members.values() or first != number:
            rest = tuple(each for each in known.locations if each.number != number)
            self._regroup(known, rest)
        elif number in self._leaving:
            self._keep(known, self._leaving.pop(number))
        elif self._ended and known.intent.kind.watches:
            function = known.intent.scope
            self._keep(known, f"its frame {function}() has ended" if function else "its frame has ended")
        return True

    def switch(self, number: str, enabled: bool) -> None:
        """Note that a breakpoint, or one location of it, was switched on or off."""
        known = self._bindings.get(number)
        if known is not None:
            locations = known.locations
            if number in self._members:
                locations = tuple(replace(each, enabled=enabled) for each in locations)
            intent = replace(known.intent, enabled=enabled)
            self._bindings[number] = replace(known, intent=intent, locations=locations)

    def switch_location(self, number: str, enabled: bool) -> None:
        """Note that one location was switched on or off."""
        first = self._members.get(number, number.partition(".")[0])
        known = self._bindings.get(first)
        if known is not None:
            changed = tuple(
                replace(each, enabled=enabled) if each.number == number else each for each in known.locations
            )
            self._bindings[first] = replace(known, locations=changed)

    def renew(self, binding: BreakpointBinding) -> None:
        """Note that hits are counted from the beginning again."""
        self._bindings[binding.number] = replace(binding, hits=0, left=binding.intent.ignore)

    # -- intents without a number

    def keep(self, intent: BreakpointIntent, why: str) -> BreakpointBinding:
        """Remember a wish that the engine cannot have now, but may take later."""
        self._highest_intent = max(self._highest_intent, intent.id)
        return self._keep(BreakpointBinding(intent, BindingState.PENDING), why)

    def _keep(self, known: BreakpointBinding, why: str) -> BreakpointBinding:
        kept = BreakpointBinding(known.intent, BindingState.PENDING, hits=known.hits, why=why)
        self._kept[known.intent.id] = kept
        return kept

    def forget(self, intent: BreakpointIntent) -> bool:
        """Forget a wish without a number; returns whether there was one."""
        return self._kept.pop(intent.id, None) is not None

    def amend(self, binding: BreakpointBinding, intent: BreakpointIntent) -> BreakpointBinding:
        """Note what an engine does not tell of a breakpoint."""
        changed = replace(binding, intent=intent)
        if binding.number in self._bindings:
            self._bindings[binding.number] = changed
        elif intent.id in self._kept:
            self._kept[intent.id] = changed
        return changed

    def deleting(self) -> None:
        """What vanishes from now on was deleted by the user."""
        self._ended = False
        self._leaving.clear()

    # -- regular expressions

    def begin_pattern(self, intent: BreakpointIntent) -> None:
        """Breakpoints that are created until `end_pattern` are those of a regular expression."""
        self._highest_intent = max(self._highest_intent, intent.id)
        self._pattern = intent

    def end_pattern(self) -> BreakpointBinding | None:
        """The binding of the regular expression, or None where no function matched."""
        intent, self._pattern = self._pattern, None
        if intent is None:
            return None
        return next((each for each in self._bindings.values() if each.intent.id == intent.id), None)

    def typed(self, line: str) -> None:
        """Note what the user types in the command line: what vanishes from now on was deleted by the user."""
        self.deleting()
        self._pattern = None
        match = _RBREAK.match(line)
        if match is not None:
            self.begin_pattern(
                BreakpointIntent(self._highest_intent + 1, match["pattern"], kind=BreakpointKind.REGEX)
            )

    def _add_member(self, intent: BreakpointIntent, number: str, row: Mapping[str, Value]) -> bool:
        group = next((each for each in self._bindings.values() if each.intent.id == intent.id), None)
        first = group.number if group is not None else number
        self._members[number] = first
        single = binding_of(intent, row)
        location = _member(number, single, row)
        known = group or replace(single, locations=())
        self._regroup(known, (*known.locations, location))
        return True

    def _update_member(self, number: str, row: Mapping[str, Value]) -> bool:
        first = self._members[number]
        known = self._bindings[first]
        location = _member(number, binding_of(known.intent, row), row)
        changed = tuple(location if each.number == number else each for each in known.locations)
        hits = number_of(row.get("times")) or 0
        intent = intent_of(known.intent, row, known) if number == first else known.intent
        if hits > self._hits.get(number, 0):
            self._last_hit = number
        self._hits[number] = hits
        updated = replace(known, intent=intent, hits=sum(self._hits.get(each, 0) for each in self.numbers(known)))
        self._regroup(updated, changed)
        return updated != known or changed != known.locations

    def _regroup(self, known: BreakpointBinding, locations: tuple[BoundLocation, ...]) -> None:
        """Put a regular expression's binding together again; it goes with its last location."""
        self._bindings.pop(known.number, None)
        if not locations:
            return
        first = locations[0].number
        for each in locations:
            self._members[each.number] = first
        places = tuple(dict.fromkeys(each.place for each in locations if each.place is not None))
        functions = tuple(dict.fromkeys(each.function for each in locations if each.function))
        # An engine makes pending breakpoints of names that it does not find again, as of some languages.
        state = BindingState.SET if places or any(each.address for each in locations) else BindingState.PENDING
        why = "" if state is BindingState.SET else known.why or "no loaded module has it yet"
        self._bindings[first] = replace(
            known,
            number=first,
            places=places,
            functions=functions,
            locations=locations,
            state=state,
            why=why,
        )

    # -- stops

    def process_ended(self) -> None:
        """The process is gone: watches of its frames go with it."""
        self._ended = True

    def process_runs(self) -> None:
        """The target runs: what ends from now on has ended by itself."""
        self._ended = False
        self._last_hit = ""

    def stop_words(self, results: Mapping[str, Value], word: str, words: str) -> tuple[str, str]:
        """A stop's reason as the engine's word and in a person's, where a breakpoint of the table tells more."""
        reasons = [text_of(each) for each in all_values(results, "reason")]
        if "watchpoint-scope" in reasons:
            return "watchpoint-scope", self._left_scope([text_of(each) for each in all_values(results, "wpnum")])
        number = text_of(results.get("bkptno"))
        hit = self.find(number or ("" if reasons else self._last_hit))
        if hit is None:
            return word, words
        location = text_of(results.get("locno"))
        if word == "breakpoint-hit" and location and len(hit.locations) > 1:
            words = f"{words}.{location}"
        if hit.intent.kind is not BreakpointKind.CATCH:
            return word, words
        return word or "catchpoint", _caught_words(hit.intent.location, word, results)

    def _left_scope(self, numbers: list[str]) -> str:
        told: list[str] = []
        for number in numbers:
            known = self._bindings.get(number)
            function = known.intent.scope if known is not None else ""
            frame = f"frame {function}()" if function else "its frame"
            self._leaving[number] = f"went out of scope with {frame}"
            told.append(f"watchpoint {number} {self._leaving[number]}: kept as pending")
        return "; ".join(told) or "a watchpoint went out of scope"


def _lost_in_exec(known: BreakpointBinding, row: Mapping[str, Value]) -> bool:
    """Whether an engine switched off a breakpoint that it cannot place in another program's image."""
    gone = row.get("enabled") == "n" and row.get("addr") == "<PENDING>"
    return gone and known.intent.enabled and known.state is not BindingState.PENDING


def _may_hide_a_condition(row: Mapping[str, Value]) -> bool:
    """Whether some versions tell the condition of such a breakpoint only once it is bound."""
    return row.get("addr") == "<PENDING>" and "cond" not in row and kind_of(row) is BreakpointKind.CODE


def _member(number: str, single: BreakpointBinding, row: Mapping[str, Value]) -> BoundLocation:
    return BoundLocation(
        number=number,
        place=single.places[0] if single.places else None,
        function=single.functions[0] if single.functions else "",
        address="" if row.get("addr") == "<PENDING>" else text_of(row.get("addr")),
        enabled=row.get("enabled") != "n",
    )


def _caught_words(caught: str, reason: str, results: Mapping[str, Value]) -> str:
    kind, _, rest = caught.partition(" ")
    if kind in ("fork", "vfork"):
        return f"{kind}: process {text_of(results.get('newpid'))}"
    if kind == "exec":
        return f"exec {text_of(results.get('new-exec'))}".rstrip()
    if kind == "syscall":
        name = text_of(results.get("syscall-name")) or text_of(results.get("syscall-number")) or rest
        return f"system call {name}{' returned' if reason == 'syscall-return' else ''}".replace("  ", " ")
    if kind in ("load", "unload"):
        listed = results.get("added" if kind == "load" else "removed")
        names = [text_of(each) for each in listed] if isinstance(listed, list) else []
        shown = ", ".join(name.rsplit("/", 1)[-1] for name in names[:3]) + (" …" if len(names) > 3 else "")
        return f"library {kind}ed {shown}".rstrip()
    if kind == "signal":
        return f"signal {rest}".rstrip() + " caught"
    return _CAUGHT.get(kind, f"caught {caught}")
