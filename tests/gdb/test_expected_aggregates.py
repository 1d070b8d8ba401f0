"""Aggregates that were in scope at the last stop are asked for before the next one's variables are known."""

from __future__ import annotations

import pytest

from ladder_backends.debugger import LaunchTarget, StepKind

PROGRAM = """struct pair { int a, b; };
static int other(struct pair *from) {
    struct pair own = {from->b, from->a};
    return own.a;
}
int main(void) {
    struct pair x = {1, 2};
    x.a++;
    x.b++;
    {
        struct pair y = {5, 6};
        y.a++;
        x.a++;
    }
    x.b += other(&x);
    return x.b;
}
"""


@pytest.fixture
async def stepped(watched, compiled, tmp_path):
    """A program that stands in line 8, with one structure in scope; what is sent and answered is noted."""
    source = tmp_path / "pairs.c"
    source.write_text(PROGRAM)
    compiled.build(source, tmp_path / "pairs")
    debugger = watched.debugger
    await debugger.open(LaunchTarget(tmp_path / "pairs"))
    await debugger.console("tbreak pairs.c:8")
    await watched.until(lambda: bool(watched.listed))
    await watched.go(StepKind.RUN)
    watched.sent = []
    ask = debugger.command

    async def noted(text: str, **options: object):
        watched.sent.append(text.split()[0] + ("" if "evaluate" not in text else f" {text.split()[-1]}"))
        answer = await ask(text, **options)
        watched.sent.append("answered " + text.split()[0])
        return answer

    debugger.command = noted
    return watched


async def _values(stepped) -> dict[str, str]:
    stepped.sent.clear()
    window = await stepped.debugger.variables(0, 60)
    return {variable.name: variable.value for variable in window.variables}


def _ahead(stepped) -> list[str]:
    """What was asked before it was known to be there."""
    sent = stepped.sent[: stepped.sent.index("answered -stack-list-variables")]
    return [one.split()[1] for one in sent if one.startswith("-data-evaluate-expression")]


async def test_the_next_stop_in_a_function_takes_one_round_trip(stepped) -> None:
    assert await _values(stepped) == {"x": "{a = 1, b = 2}"}
    assert _ahead(stepped) == []
    await stepped.go(StepKind.NEXT)
    assert await _values(stepped) == {"x": "{a = 2, b = 2}"}
    assert _ahead(stepped) == ['"x"']
    assert len([one for one in stepped.sent if one.startswith("-data-evaluate")]) == 1


async def test_what_has_come_into_scope_or_left_it_is_asked_for_by_its_name(stepped) -> None:
    await _values(stepped)
    seen = []
    for _ in range(8):
        stop = await stepped.go(StepKind.STEP)
        if stop.frame.function != "main" and seen[-1][0] != "other":
            # Nothing that is known of another function is asked for here.
            await _values(stepped)
            assert _ahead(stepped) == []
        seen.append((stop.frame.function, stop.frame.place.line, await _values(stepped)))
    told = {(function, line): values for function, line, values in seen}
    assert told["main", 13] == {"x": "{a = 2, b = 3}", "y": "{a = 6, b = 6}"}
    assert told["main", 15] == {"x": "{a = 3, b = 3}"}
    assert told["other", 4]["own"] == "{a = 3, b = 3}"
