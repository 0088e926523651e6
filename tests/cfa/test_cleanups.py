"""Where control leaves the scope of a variable with the attribute `cleanup`, there is a call, the last one declared first.

Nothing is proved of such a function: an edge says so that comes before all others.
"""

from __future__ import annotations

import pytest

from tests.support.lowered import edges_of

_PRELUDE = "void e(int *p); void d(void *p); int g(int); __attribute__((noreturn)) void ends(int *p);\n"
_E, _D = "__attribute__((cleanup(e)))", "__attribute__((__cleanup__(d)))"

CASES = {
    "the end of a block, in reverse": (
        f"{{ int x {_E} = 1; {_D} int y = 2; a = 3; }} return a;",
        "x = 1; y = 2; a = 3; d(&y); e(&x); return a",
    ),
    "with the type of a value": (f"__auto_type x {_E} = a; return b;", "x = a; $1 = b; e(&x); return $1"),
    "a result is computed before": (f"int x {_E} = a; return x + 1;", "x = a; $1 = x + 1; e(&x); return $1"),
    "the end of the function": (f"int x {_E} = a;", "x = a; e(&x); return"),
    "a loop that is left": (
        f"while (a) {{ int x {_E} = 1; if (b) break; if (g(b)) continue; a = 2; }} return a;",
        "[a]; [!a]; x = 1; [b]; [!b]; e(&x); $1 = g(b); [$1]; [!$1]; e(&x); a = 2; e(&x); return a",
    ),
    "what the head of a loop declares": (
        f"for (int x {_E} = 1; a; a--) {{ int y {_D} = 2; if (b) break; }} return a;",
        "x = 1; [a]; [!a]; y = 2; [b]; [!b]; d(&y); d(&y); a = a - 1; e(&x); return a",
    ),
    "a switch": (
        f"int x {_E} = 1; switch (a) {{ case 1: {{ int y {_D} = 2; break; }} default: b = 3; }} a = 4;",
        "x = 1; [a == 1]; [a != 1]; y = 2; d(&y); b = 3; a = 4; e(&x); return",
    ),
    "a jump out": (
        f"{{ int x {_E} = 1; if (a) goto out; b = 2; }} out: b = 3;",
        "x = 1; [a]; [!a]; e(&x); b = 2; e(&x); b = 3; return",
    ),
    "a jump inside": (
        f"{{ int x {_E} = 1; if (a) goto on; b = 2; on: b = 3; }}",
        "x = 1; [a]; [!a]; b = 2; b = 3; e(&x); return",
    ),
    "a jump back before the declaration": (
        f"again: b = 1; int x {_E} = 1; if (a) goto again; b = 3;",
        "b = 1; x = 1; [a]; [!a]; e(&x); b = 3; e(&x); return",
    ),
    "a statement expression": (f"b = ({{ int x {_E} = a; x + 1; }}); return b;", "x = a; $1 = x + 1; e(&x); b = $1; return b"),
    "a return from a statement expression": (
        f"int y {_D} = 1; b = ({{ int x {_E} = a; if (a) return 7; x; }});",
        "y = 1; x = a; [a]; [!a]; $1 = 7; e(&x); d(&y); return $1; $2 = x; e(&x); b = $2; d(&y); return",
    ),
    "one declarator of two": (f"int x {_E} = 1, y = 2;", "x = 1; y = 2; e(&x); return"),
    "the second declarator of two": (f"int x = 1, y {_E};", "x = 1; y is declared; e(&y); return"),
    "both declarators": (f"{_E} int x = 1, y = 2;", "x = 1; y = 2; e(&y); e(&x); return"),
    "an attribute inside the initialiser": (
        f"int x = ({{ int y {_E} = 1; y; }}); a = x;",
        "y = 1; $1 = y; e(&y); x = $1; a = x; return",
    ),
    "a function that ends the run": ("{ int x __attribute__((cleanup(ends))) = 1; } a = 2;", "x = 1; ends(&x)"),
    "a variable with static storage": (f"static int x {_E} = 1; a = x;", "a = x; return"),
    "a function that is not declared": ("int x __attribute__((cleanup(other))) = 1;", "x = 1; return"),
    "what cannot be lowered beside it": (
        f"{{ int x {_E} = 1; a = unknown; {{ }} }} b = 2;",
        "x = 1; unsupported: undeclared identifier unknown; e(&x); b = 2; return",
    ),
}


def _edges(statements: str) -> list[str]:
    lines = edges_of(f"{_PRELUDE}int f(int a, int b) {{ {statements} }}").splitlines()
    said = [line.split("  ", 1)[1] for line in lines]
    return [one for one in said if "unsupported: attribute" not in one]


@pytest.mark.parametrize("case", CASES)
def test_calls_where_a_scope_ends(case: str) -> None:
    text, expected = CASES[case]
    assert "; ".join(_edges(text)) == expected


@pytest.mark.parametrize("text", [f"int x {_E} = 1;", f"{{ {_D} int y = 2; }}"])
def test_nothing_is_proved_of_the_function(text: str) -> None:
    assert "unsupported: attribute cleanup" in edges_of(f"{_PRELUDE}int f(int a, int b) {{ {text} }}")
