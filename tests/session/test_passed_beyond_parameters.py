"""The class: what a call hands over without a parameter for it. `va_arg` gives a function any of its further arguments, and a
structure that is passed by value may hold pointers: what they lead to can be written. Each assertion fails, or may."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.checked import checked

START = """#include <assert.h>
    #include <stdarg.h>
    struct held { int *p; };
    void other(int, ...);
    """
PROGRAMS = {
    "a pointer": """void f(int n, ...) { va_list a; va_start(a, n); int *p = va_arg(a, int *); *p = 5; va_end(a); }
        int main(void) { int x = 1; f(0, &x); assert(x == 1); return 0; }""",
    "a structure": """void f(int n, ...) { va_list a; va_start(a, n); struct held h = va_arg(a, struct held);
            *h.p = 5; va_end(a); }
        int main(void) { int x = 1; struct held h = {&x}; f(0, h); assert(x == 1); return 0; }""",
    "a pointer to a pointer": """void f(int n, ...) { va_list a; va_start(a, n); struct held *h = va_arg(a, struct held *);
            *h->p = 5; va_end(a); }
        int main(void) { int x = 1; struct held h = {&x}; f(0, &h); assert(x == 1); return 0; }""",
    "a structure for others": "int main(void) { int x = 1; struct held h = {&x}; other(0, h); assert(x == 1); return 0; }",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_is_passed_without_a_parameter_may_be_written(tmp_path: Path, name: str) -> None:
    file = tmp_path / "a.c"
    file.write_text(START + PROGRAMS[name])
    report = checked(file, "assertion", 1.0, "symbolic")
    assert not [f for f in report.functions if f.name == "main" and f.verdicts["assertion"].verdict == "safe"]
