"""Functions that only compute with numbers are run on constants. The class: a result that C does not define, or that something
else than the arguments decides, is taken for known; and an answer that an edit of the function leaves behind."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.api import Checker
from analysis.engines.automaton.functions.constant_runs import only_computes, result_for
from analysis.model.limits import Limits
from analysis.model.options import Options
from tests.support.lowered import cfa_of

SUM = "unsigned long f(unsigned long a, unsigned long b) { unsigned long s = a + b; return s >= a ? s : (unsigned long)-1; }"
LAST = (1 << 64) - 1
INT = (1 << 31) - 1


@pytest.mark.parametrize(
    ("text", "arguments", "result"),
    [
        (SUM, (0, 1), 1),
        (SUM, (2, LAST), LAST),
        ("int f(int n) { int s = 0; for (int i = 1; i <= n; i++) s += i; return s; }", (4,), 10),
        ("int f(int n) { int s = 0; for (int i = 1; i <= n; i++) s += i; return s; }", (1000,), None),  # many steps
        ("int f(int n) { return n + 1; }", (INT,), None),  # overflows
        ("int f(int n) { return 7 / n; }", (0,), None),
        ("int f(int n) { return 7 % n; }", (-2,), 1),
        ("int f(int n) { return 1 << n; }", (40,), None),
        ("int f(unsigned char n) { return n; }", (300,), 44),
        ("_Bool f(int n) { _Bool b = n; return b; }", (2,), 1),
        ("int f(int n) { int k; return n ? k : 1; }", (1,), None),  # never set
        ("int f(int n) { int k; return n ? k : 1; }", (0,), 1),
        ("int f(int n) { volatile int k = n; return k; }", (1,), None),
        ("int f(int n) { int k = 3; if (n) k = 7 / n; return k; }", (0,), 3),
        ("int f(int n) { return !n - ~n; }", (5,), 6),
        ("int f(int n) { switch (n) { case 1: return 4; case 2: return 5; default: return 6; } }", (2,), 5),
        ("int f(void) { return -3 < 2u; }", (), 0),
        ("int f(int n) { while (n) n = n; return 1; }", (1,), None),
    ],
)
def test_a_run_on_constants(text: str, arguments: tuple[int, ...], result: int | None) -> None:
    cfa = cfa_of(text)
    assert only_computes(cfa)
    assert result_for(cfa, arguments) == result


@pytest.mark.parametrize(
    "text",
    [
        "int g; int f(int n) { return n + g; }",
        "int f(int n) { static int k; k += n; return k; }",
        "int f(int n) { int k = n; int *p = &k; *p = 2; return k; }",
        "int f(int *n) { return *n; }",
        "int f(int n) { int k[2] = {1, 2}; return k[n]; }",
        "int g(int n); int f(int n) { return g(n); }",
        "double g; int f(double n) { return n > 1; }",
        "void f(int n) { n = 2; }",
        "int f(int n, ...) { __builtin_va_list l; __builtin_va_start(l, n); return __builtin_va_arg(l, int); }",
    ],
)
def test_what_depends_on_more_than_numbers_is_not_run(text: str) -> None:
    assert not only_computes(cfa_of(text))


@pytest.mark.parametrize("edges", [Limits().global_edges, 0], ids=["small", "large"])
def test_an_edit_of_the_function_is_seen_by_its_callers(tmp_path: Path, edges: int) -> None:
    bodies = (
        "return a + b;",
        "return a - a;",
        "unsigned long c = a + b; return c >= a ? c : -1;",
        "return gone(a);",
        "unsigned long c = a; while (c < 8) c += b; return c - 8;",
        "unsigned long c = a; while (c < 9) c += b; return c - 8;",
        "unsigned long c = a; while (c < 8) c += b; return c - 8;",
    )
    user = "int use(void) { int v = 0, *p = 0; unsigned long size = 0, n = want(size, 1); if (n > size) p = &v; return *p; }\n"
    options = Options(engine="automaton", limits=Limits(global_edges=edges))
    path = tmp_path / "a.c"
    path.write_text("")
    checker = Checker(options)
    checker.open([str(path)])
    seen = []
    for body in bodies:
        text = f"static unsigned long want(unsigned long a, unsigned long b) {{ {body} }}\n{user}"
        checker.change(str(path), text)
        fresh = Checker(options)
        fresh.open([str(path)])
        fresh.change(str(path), text)
        found = [(finding.rule, finding.place) for finding in checker.check().findings]
        assert found == [(finding.rule, finding.place) for finding in fresh.check().findings]
        seen.append(len(found))
    assert seen == [0, 1, 0, 1, 1, 0, 1]
