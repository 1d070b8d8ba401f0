"""Expressions under the cursor: names, members and elements, and nothing that runs or changes anything."""

from __future__ import annotations

import pytest

from ladder_tui.panes.source_expressions import expression_at, expressions_on


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("    total += data[i];", ["total", "data[i]", "i"]),
        ("  first.next->value = a->b.c;", ["first.next->value", "a->b.c"]),
        ("  x = f(y, g(z).w);", ["x", "y", "z"]),
        ("  names.size() + list->items[k + 1].count", ["names", "list->items[k + 1].count", "k"]),
        ("  i++; a[i++] = b[f(2)];", ["i", "a", "b"]),
        ('  printf("%d total", n); // and more', ["n"]),
        ("  c = 'x'; d = '\\''; e = 10'000 + 0x1fUL;", ["c", "d", "e"]),
        ("  for (int k = 0; k < 5; k++) {", ["k"]),
        ("  std::vector<int> numbers(1000, seven);", ["seven"]),
        ("  const Node *node = root.next;", ["node", "root.next"]),
        ("  Node first{10, other};", ["other"]),
        ("  auto v = static_cast<Shape *>(drawn)->id;", ["v", "drawn"]),
        ("  return ns::counter + Node::made;", ["ns::counter", "Node::made"]),
        ('    println!("{}", self.items[index].0);', ["self.items[index].0", "index"]),
        ("    let mut total: u64 = point.x as u64;", ["total", "point.x"]),
        ("#define MAX(a, b) a", []),
        ("  // comment only", []),
        ("  /* open", []),
        ("  label:", []),
        ("", []),
        ("  grid[row][2] = grid[a[b]][c];", ["grid[row][2]", "row", "grid[a[b]][c]", "a[b]", "b", "c"]),
        ('  s = "unclosed a', ["s"]),
        ("  kernel<<<blocks, threads>>>(out);", ["blocks", "threads", "out"]),
    ],
)  # fmt: skip
def test_what_a_line_names(line: str, expected: list[str]) -> None:
    found = [text for _, text in expressions_on(line)]
    assert [each for each in expected if each not in found] == []
    assert not any("(" in each or "++" in each or "=" in each for each in found)
    for start, text in expressions_on(line):
        assert line[start:].startswith(text)


def test_what_an_expression_begins_with_comes_after_all_whole_ones() -> None:
    line = '    stock["apple"] += list->items[k].count;'
    assert [text for _, text in expressions_on(line)] == [
        'stock["apple"]',
        "list->items[k].count",
        "k",
        "stock",
        "list->items[k]",
        "list->items",
        "list",
    ]


def test_the_part_of_a_chain_under_the_mouse() -> None:
    line = "  sum = list->items[k].count + other(x);"
    under = {word: expression_at(line, line.index(word)) for word in ("list", "items", "k]", "].", "count", "x)")}
    assert {word: found[1] if found else None for word, found in under.items()} == {
        "list": "list",
        "items": "list->items",
        "k]": "k",
        "].": "list->items[k]",
        "count": "list->items[k].count",
        "x)": "x",
    }
    assert expression_at(line, line.index("other")) is None
    assert expression_at(line, 0) is None
    assert expression_at(line, 400) is None


def test_bad_lines_end_in_bounded_time() -> None:
    for line in ("a[" * 5_000, "(" * 10_000, "a::" * 3_000, "x" * 100_000, "'" * 999, "a<" * 450, "[" * 999):
        expressions_on(line)
        expression_at(line, 5)
