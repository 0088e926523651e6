"""The class: proofs that rest on where objects lie in memory. A pointer behind an object can be equal to one to the next object,
and objects without size can share an address. Each assertion fails when the program is compiled without optimisation, or may."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.model.options import Engine
from analysis.model.report import Report
from tests.support.checked import checked

START = """#include <assert.h>
    #include <stddef.h>
    #include <string.h>
    int a[1], b[1];
    struct pointer { int *p; };
    struct number { size_t n; };
    struct nothing {};
    """
PROGRAMS = {
    "cast": "int main(void) { assert((size_t)(a + 1) != (size_t)b); return 0; }",
    "memcpy": """int main(void) { int *p = a + 1, *q = b; size_t x, y; memcpy(&x, &p, sizeof x); memcpy(&y, &q, sizeof y);
        assert(x != y); return 0; }""",
    "memcpy of structures": """int main(void) { struct pointer x = {a + 1}, y = {b}; struct number u, v; memcpy(&u, &x, sizeof u);
        memcpy(&v, &y, sizeof v); assert(u.n != v.n); return 0; }""",
    "memcpy as characters": """int main(void) { int *p = a + 1, *q = b; char s[8], t[8]; memcpy(s, &p, 8); memcpy(t, &q, 8);
        assert(s[0] != t[0] || s[1] != t[1] || s[2] != t[2] || s[3] != t[3] || s[4] != t[4]); return 0; }""",
    "memcmp": "int main(void) { int *p = a + 1, *q = b; assert(memcmp(&p, &q, sizeof p) != 0); return 0; }",
    "union": """union both { int *p; size_t n; };
        int main(void) { union both x, y; x.p = a + 1; y.p = b; assert(x.n != y.n); return 0; }""",
    "other type": "int main(void) { int *p = a + 1, *q = b; assert(*(size_t *)&p != *(size_t *)&q); return 0; }",
    "characters": """int main(void) { int *p = a + 1, *q = b; unsigned char *x = (unsigned char *)&p, *y = (unsigned char *)&q;
        int same = 1; for (int i = 0; i < 8; i++) if (x[i] != y[i]) same = 0; assert(!same); return 0; }""",
    "overwritten in part": """int main(void) { int *p = a + 1, *q = b; *(char *)&p = 0; *(char *)&q = 0;
        assert(*(size_t *)&p != *(size_t *)&q); return 0; }""",
    "arrays of no length": "int main(void) { int c[0], d[0], *p = c, *q = d; assert(p != q); return 0; }",
    "structures without members": "struct nothing c, d; int main(void) { assert(&c != &d); return 0; }",
    "a flexible member": """static struct { int n; int tail[]; } c; static int d;
        int main(void) { int *p = c.tail; assert(p != &d); return 0; }""",
    "blocks of the stack": """int main(int n, char **v) { char *p = __builtin_alloca(n - 1), *q = __builtin_alloca(n - 1);
        assert(p != q); return 0; }""",
}
SAME = {
    "a pointer that is copied": """int main(void) { int *p = a, *q; char s[8]; memcpy(&q, &p, sizeof q); memcpy(s, &p, 8);
        memcpy(&p, s, 8); assert(q == a && p == a); return 0; }""",
    "a null pointer": """int main(void) { struct pointer x; memset(&x, 0, sizeof x); struct number u; memcpy(&u, &x, sizeof u);
        assert(u.n == 0 && !x.p); return 0; }""",
}


def report_of(text: str, engine: Engine, folder: Path) -> Report:
    """What is said of a program, after provers were asked."""
    file = folder / "p.c"
    file.write_text(START + text)
    return checked(file, "assertion", 1.0, engine)


def verdict(text: str, engine: Engine, folder: Path) -> str:
    """What is said of assertions in a program."""
    functions = report_of(text, engine, folder).functions
    return next(one for one in functions if one.name == "main").verdicts["assertion"].verdict


@pytest.mark.parametrize("engine", ["symbolic", "predicate", "value"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_nothing_is_proved_that_rests_on_the_number_of_an_address(name: str, engine: Engine, tmp_path: Path) -> None:
    assert verdict(PROGRAMS[name], engine, tmp_path) != "safe"


@pytest.mark.parametrize("condition", ["a + 1 == b", "b == a + 1", "a + 1 < b"])
def test_no_run_is_confirmed_that_rests_on_where_objects_lie(condition: str, tmp_path: Path) -> None:
    report = report_of(f"int main(void) {{ assert({condition}); return 0; }}", "symbolic", tmp_path)
    assert [finding.status for finding in report.findings if finding.status == "confirmed"] == []


def test_a_run_that_compares_different_objects_is_confirmed(tmp_path: Path) -> None:
    (finding,) = report_of("int main(void) { int *p = a, *q = b; assert(p == q); return 0; }", "symbolic", tmp_path).findings
    assert finding.status == "confirmed"


@pytest.mark.parametrize("name", SAME)
def test_copied_pointers_stay_what_they_are(name: str, tmp_path: Path) -> None:
    assert verdict(SAME[name], "symbolic", tmp_path) == "safe"
