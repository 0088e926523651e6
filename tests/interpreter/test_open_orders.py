"""Operands that C may evaluate in either order: runs go on where the order cannot matter, and end where it could."""

from __future__ import annotations

import pytest

from analysis.cfa.linking.obstacle_words import is_open_order
from analysis.interpreter.outcome import Exited, NotModelled, Observation, Returned
from analysis.model import ir
from tests.support.runs import main_of, program_of, run_of

GLOBALS = (
    "static int x = 1, y = 5; static int *p, *q = &x; static struct { int a, b; } s; static long buffer[9];"
    " static int add(int a, int b) { return a + b; }"
    " static int set(int to) { if (to) x = to; return 1; }"
    " static int other(void) { x = 2; x = 1; return 1; }"
    " static int quit(int c) { if (c) exit(3); x = 1; return 0; }"
    " static int drop(void) { free(p); return 0; } static int grow(void) { p = realloc(p, 80); return 0; }"
    " static int part(int to) { if (to) s.b = to; return 1; }"
    " static int down(int n) { return n ? add(x, down(n - 1)) : set(0); }"
    " static int jump(void) { x = 1; longjmp(buffer, 1); }"
    " static int get(void) { return y; }"
    " static int crash(int c) { x = 1; int *n = 0; return c ? *n : 0; }"
)


def open_orders(statements: str) -> int:
    """How many expressions there are whose order could matter, by what is known of all runs."""
    edges = [edge for cfa in program_of(main_of(statements, GLOBALS)).functions.values() for edge in cfa.unsupported]
    return sum(isinstance(edge.effect, ir.Unsupported) and is_open_order(edge.effect.reason) for edge in edges)


@pytest.mark.parametrize(
    ("statements", "value"),
    [
        ("return add(x, set(0));", 2),
        ("return add(x, other());", 2),
        ("q = &y; return add(*q, set(7));", 6),
        ("return add(y ? x : 9, set(1));", 2),
        ("return down(3);", 4),
        ("int a[3] = {4, 5, 6}; a[x] = set(0); return a[1];", 1),
        ("s.a = 4; struct { int a, b; } t; t.a = s.a + part(0); return t.a;", 5),
        ("int n = 0; for (int i = 0; i < 3; i++) n = add(n, add(x, set(i == 3))); return n;", 6),
    ],
)
def test_a_run_goes_on_where_the_order_cannot_matter(statements: str, value: int) -> None:
    assert open_orders(statements) > 0
    run = run_of(main_of(statements, GLOBALS))
    assert run.end == Returned(value)
    assert run.assumptions == ()


@pytest.mark.parametrize(
    "statements",
    [
        "return add(x, set(2));",
        "return add(*q, set(2));",
        "return add(x, (set(2), set(1)));",  # between the two calls it is another one
        "return add(x, add(set(2), set(1)));",
        "return add((y = 6, 0), get());",
        "x = 0; return add(y / x ? 1 : 2, quit(1));",  # the program may end before it divides
        "return add(set(2), set(3));",
        "return add(x++, set(0));",
        "int a[3] = {4, 5, 6}; a[x] = set(2); return a[1];",
        "p = malloc(40); *p = 1; return add(*p, drop());",
        "p = malloc(40); *p = 1; return add(p[0], grow());",
        "p = malloc(40); return add(*p, grow());",
        "int *n = 0; x = 0; return add(x + *n, quit(1));",  # the program may end before it follows the pointer
        'return printf("%d %d", x, set(2));',
        "s.b = 3; return add(s.b, part(4));",
    ],
)
def test_a_run_ends_where_the_order_could_matter(statements: str) -> None:
    assert open_orders(statements) > 0
    end = run_of(main_of(statements, GLOBALS)).end
    assert isinstance(end, NotModelled), end
    assert is_open_order(end.reason)


def test_what_the_call_itself_does_happens_in_every_order() -> None:
    end = run_of(main_of("return add(x, crash(1));", GLOBALS)).end
    assert isinstance(end, Observation)
    assert end.kind == "null-dereference"
    assert run_of(main_of("return add(x, quit(1));", GLOBALS)).end == Exited(3)


def test_who_jumps_out_of_the_operands_is_not_between_them_any_more() -> None:
    """The null pointer is followed behind the expression, in the same activation."""
    end = run_of(main_of("if (setjmp(buffer)) { int *n = 0; y = 0; return *n; } return add(x, jump());", GLOBALS)).end
    assert isinstance(end, Observation)
    run = run_of(main_of("if (setjmp(buffer)) { return 4; } return add(x, jump());", GLOBALS))
    assert run.end == Returned(4)


def test_what_a_volatile_object_holds_is_what_was_stored_there_unless_the_inputs_say_else() -> None:
    text = main_of("struct { volatile long n; } s; s.n = 4; return s.n + 1;")
    assert (run_of(text).end, run_of(text).assumptions) == (Returned(5), ())
    changed = run_of(text, [7])
    assert changed.end == Returned(8)
    assert len(changed.assumptions) == 1
