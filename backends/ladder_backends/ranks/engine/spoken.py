"""Acts on sets of ranks as a person types them: `bt $a{0..7}`, `print $a{tp=0} x`, `break $a f.c:42 if i > 3`."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterator
from dataclasses import replace
from typing import Any

from ladder_backends.errors import LadderError
from ladder_backends.model.ranks import RankFrame, Unreachable
from ladder_backends.ranks.engine.printing import evaluate, place_words
from ladder_backends.ranks.engine.rank_engine import RankEngine
from ladder_backends.ranks.engine.replies import Reply
from ladder_backends.ranks.engine.set_breakpoints import RankBreakpoints
from ladder_backends.ranks.engine.stack_reading import read_stacks
from ladder_backends.ranks.engine.stepping import RankStep, step
from ladder_backends.ranks.engine.values import numbers_of
from ladder_backends.ranks.rank_list import fold
from ladder_backends.ranks.sets import JobFacts, Selection, SetBook

_STEPS = {"next": RankStep.NEXT, "step": RankStep.STEP, "finish": RankStep.FINISH, "up": RankStep.OWN_CODE}
_KNOWN = "bt, print, break, delete, next, step, finish, up, continue, interrupt, release, defset, viewset"


class SpokenActs:
    """Reads lines and does what they say.

    Ranks of a set that are not held yet are attached to first, and run on afterwards. After `bt` and `print` the
    classes of the answer can be asked for: `$a{class:1}`.

    Attributes:
        book: The sets that are known.
        reply: What the ranks answered to the last line, or None where it asked them nothing.
    """

    def __init__(self, engine: RankEngine, name: str = "a") -> None:
        self._engine = engine
        self._breakpoints = RankBreakpoints(engine)
        self._name = name
        self._classes: tuple[frozenset[int], ...] = ()
        self.book = SetBook()
        self.reply: Reply[Any] | None = None
        self._learn()

    async def say(self, line: str) -> list[str]:
        """Do what a line says; returns what there is to tell.

        Raises:
            LadderError: It cannot be understood, or not be done; of a set the fault is pointed at.
        """
        word, _, _ = line.strip().partition(" ")
        acts: dict[str, Callable[[str, int], Coroutine[Any, Any, list[str]]]] = {
            "bt": self._stacks,
            "print": self._print,
            "break": self._break,
            "delete": self._delete,
            "continue": self._go_on,
            "interrupt": self._interrupt,
            "release": self._release,
            "defset": self._define,
            "viewset": self._view,
            **dict.fromkeys(_STEPS, self._step),
        }
        act = acts.get(word)
        if act is None:
            raise LadderError(f"{word!r} is no act on ranks", "", f"there are {_KNOWN}")
        self._learn()
        self.reply = None
        return await act(line, line.index(word) + len(word))

    def _learn(self) -> None:
        facts = JobFacts.of(self._engine.job, self._name).with_states(self._engine.states)
        self.book.learn(replace(facts, classes=self._classes))

    async def _held(self, line: str, at: int) -> tuple[Selection, str]:
        """The set behind the word, all of it held as far as that can be, and the rest of the line."""
        found, rest = self.book.find_leading(line, at)
        missing = [rank for rank in found if self._engine.held(rank) is None]
        if missing:
            await self._engine.attach(missing)
            await self._engine.go_on(missing)
        return found, rest

    async def _stacks(self, line: str, at: int) -> list[str]:
        found, rest = await self._held(line, at)
        _nothing_more(rest)
        reply = (await read_stacks(self._engine, found)).main
        return self._tell(reply, _stack_lines)

    async def _print(self, line: str, at: int) -> list[str]:
        found, rest = await self._held(line, at)
        if not rest:
            raise LadderError("nothing is to be printed", "", f"write print {found.text} EXPRESSION")
        reply = await evaluate(self._engine, found, rest)
        lines = self._tell(reply, lambda said: [said])
        numbers = numbers_of(reply.by_rank(), reply.asked)
        if len(numbers.numbers) > 1:
            nan = f", NaN on {fold(numbers.nan)}" if numbers.nan else ""
            if numbers.smallest is not None:
                ends = f"{numbers.smallest:g} on {numbers.smallest_at}, {numbers.largest:g} on {numbers.largest_at}"
                lines.append(f"{numbers.sparkline()}  {ends}{nan}")
        return lines

    async def _break(self, line: str, at: int) -> list[str]:
        found, rest = await self._held(line, at)
        place, _, condition = rest.partition(" if ")
        if not place.strip():
            raise LadderError("no place to stop at", "", f"write break {found.text} FILE:LINE")
        made = await self._breakpoints.set(found, place.strip(), condition.strip())
        assert made.places is not None
        return [f"breakpoint {made.number}", *self._tell(made.places, lambda said: [said], classes=False)]

    async def _delete(self, line: str, at: int) -> list[str]:
        number = line[at:].strip()
        if not number.isdecimal() or int(number) not in self._breakpoints.all:
            known = ", ".join(map(str, self._breakpoints.all)) or "none"
            raise LadderError(f"there is no breakpoint {number or 'without a number'}", "", f"there are {known}")
        await self._breakpoints.remove(int(number))
        return []

    async def _step(self, line: str, at: int) -> list[str]:
        found, rest = self.book.find_leading(line, at)
        _nothing_more(rest)
        reply = await step(self._engine, found, _STEPS[line[:at].strip()])
        return self._tell(reply, lambda said: [said])

    async def _go_on(self, line: str, at: int) -> list[str]:
        found, rest = self.book.find_leading(line, at)
        _nothing_more(rest)
        return list(_away(await self._engine.go_on(found)))

    async def _interrupt(self, line: str, at: int) -> list[str]:
        found, rest = await self._held(line, at)
        _nothing_more(rest)
        away = await self._engine.interrupt(found)
        left = self._engine.budget.left
        limit = [f"they go on by themselves in {left:.0f} s"] if left is not None else []
        return [*_away(away), *limit]

    async def _release(self, line: str, at: int) -> list[str]:
        found, rest = self.book.find_leading(line, at)
        _nothing_more(rest)
        await self._engine.release(found)
        return []

    async def _define(self, line: str, at: int) -> list[str]:
        name, _, text = line[at:].strip().partition(" ")
        found = self.book.define(name, text)
        return [f"${name.removeprefix('$')} = {found.name}"]

    async def _view(self, line: str, at: int) -> list[str]:
        if line[at:].strip():
            found, rest = self.book.find_leading(line, at)
            _nothing_more(rest)
            return [found.name]
        return [f"${name} = {found.name}" for name, found in self.book.named.items()]

    def _tell(self, reply: Reply[Any], lines_of: Callable[[Any], list[str]], *, classes: bool = True) -> list[str]:
        self.reply = reply
        if classes:
            self._classes = tuple(frozenset(each.ranks) for each in reply.classes)
        lines = []
        for each in reply.classes:
            first, *more = lines_of(each.said) or [""]
            lines.append(f"{each.name(self._engine.job.mesh)}: {first}")
            lines.extend(more)
        if reply.unreachable:
            lines.append(reply.headline)
        return lines


def reply_json(reply: Reply[Any]) -> dict[str, object]:
    """A reply for a machine: ranks as lists, stacks as lines, innermost first."""
    return {
        "asked": len(reply.asked),
        "answered": reply.answered,
        "unreachable": [{"rank": each.rank, "reason": each.reason} for each in reply.unreachable],
        "classes": [
            {
                "ranks": fold(each.ranks),
                "said": each.said
                if isinstance(each.said, str)
                else [place_words(frame) for frame in each.said[::-1]],
            }
            for each in reply.classes
        ],
        "pause": round(reply.pause, 4),
    }


def _stack_lines(frames: tuple[RankFrame, ...]) -> list[str]:
    """Innermost first, as people read a backtrace."""
    return [f"#{level} {place_words(frame)}" for level, frame in enumerate(reversed(frames))]


def _away(unreachable: tuple[Unreachable, ...]) -> Iterator[str]:
    yield from (f"rank {each.rank}: {each.reason}" for each in unreachable)


def _nothing_more(rest: str) -> None:
    if rest:
        raise LadderError(f"{rest!r} is not understood", "nothing more is expected behind the set")
