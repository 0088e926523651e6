"""The class: a promise of `pure` or `const` that a function breaks, so that compilers may do other things than its text says."""

from __future__ import annotations

import pytest

from tests.cfa.test_obstructed import obstructed

_CONST = "__attribute__((const)) static"
_MAIN = "int main(void) { return f(1); }"
BROKEN = {
    "const reads a global": f"static int g; {_CONST} int f(int n) {{ return g + n; }} void h(void) {{ g = 1; }}",
    "const reads another file's": f"extern int g; {_CONST} int f(int n) {{ return g; }}",
    "const reads a member": f"static struct {{ int m; }} g; {_CONST} int f(int n) {{ return g.m; }} void h(void) {{ g.m = 1; }}",
    "const reads by a pointer": f"{_CONST} int k(int *p) {{ return *p; }} int f(int n) {{ return k(&n); }}",
    "const reads an array": f"static int g[2]; {_CONST} int f(int n) {{ return g[n]; }} int *h(void) {{ return g; }}",
    "const reads a result": f"static int g; int k(void); {_CONST} int f(int n) {{ return g; }} void h(void) {{ g = k(); }}",
    "const reads what is pointed to": f"static int g, *p = &g; {_CONST} int f(int n) {{ return g; }} void h(void) {{ *p = 1; }}",
    "const and pure": f"static int g; {_CONST} __attribute__((pure)) int f(int n) {{ return g; }} void h(void) {{ g = 1; }}",
    "pure does not return": "__attribute__((pure)) static int f(int n) { while (n) n = n; return 1; }",
    "const does not return": f"{_CONST} int f(int n) {{ for (;;) n++; }}",
    "pure writes": "static int g; __attribute__((pure)) static int f(int n) { return ++g; }",
    "pure calls": "int k(void); __attribute__((pure)) static int f(int n) { return k(); }",
}
KEPT = {
    "const is not called so": f"{_CONST} int f(int n) {{ if (n > 3) __builtin_unreachable(); return n; }}",
    "const computes": f"{_CONST} int f(int n) {{ int m = n; if (n) m = n + 1; return m; }}",
    "const reads a table": f"static const int g[] = {{1, 2}}; {_CONST} int f(int n) {{ return g[n & 1]; }}",
    "const reads a static local": f"{_CONST} int f(int n) {{ static const int g[] = {{1, 2}}; return g[n & 1]; }}",
    "pure reads a global": "static int g; __attribute__((pure)) static int f(int n) { return g + n; } void h(void) { g = 1; }",
    "pure reads by a pointer": "__attribute__((pure)) static int k(int *p) { return *p; } int f(int n) { return k(&n); }",
}


@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN)
def test_nothing_is_known_of_a_function_that_may_break_it(text: str) -> None:
    assert "main" in obstructed(f"{text} {_MAIN}") or "f" in obstructed(f"{text} {_MAIN}")


@pytest.mark.parametrize("text", KEPT.values(), ids=KEPT)
def test_one_that_keeps_it_is_what_its_text_says(text: str) -> None:
    assert obstructed(f"{text} {_MAIN}") == {}
