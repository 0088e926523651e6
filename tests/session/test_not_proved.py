"""Programs with a defect that something hides: no engine may prove them, alone or in turn."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

from analysis.certificate.refusal import RefusedError
from analysis.certificate.unwinding import check_unwinding, unwind
from analysis.certificate.unwinding_tree import Unwinding
from analysis.cpa.predicates.violations import PROPERTIES
from analysis.model.c_types import LP64
from benchmarks.asked_programs import ENGINES
from tests.support.checked import checked
from tests.support.explorations import program_of

_SECONDS = 2.0
_DECLARED = """
typedef unsigned long size_t; void *malloc(size_t); void free(void *); void exit(int); void abort(void); void reach_error(void);
int printf(const char *, ...); int scanf(const char *, ...); long time(long *); void other(void); void *lookup(int);
int *__errno_location(void); void *fopen(const char *, const char *);
"""


class Case(NamedTuple):
    """A program, what it violates in `function`, and why."""

    name: str
    property: str
    text: str
    function: str = "main"


_CASES = (
    Case("time writes", "assertion", "int main(void) { long t = 0; time(&t); if (t) reach_error(); return 0; }"),
    Case("printf writes", "assertion", 'int main(void) { int n = 0; printf("a%n", &n); if (n) reach_error(); return 0; }'),
    Case(
        "an input is written to memory",
        "assertion",
        """void __VERIFIER_nondet_memory(void *, size_t);
        int main(void) { int n = 0; __VERIFIER_nondet_memory(&n, 4); if (n) reach_error(); return 0; }""",
    ),
    Case(
        "a constructor runs before main",
        "division-by-zero",
        "static int g = 1; __attribute__((constructor)) static void first(void) { g = 0; } int main(void) { return 10 / g; }",
    ),
    Case(
        "an object has two names",
        "division-by-zero",
        'int a = 1; extern int b __attribute__((alias("a"))); int main(void) { b = 0; return 10 / a; }',
    ),
    Case(
        "a store to a member changes padding",
        "assertion",
        """struct s { char c; int i; } x; static unsigned char *p = (unsigned char *)&x;
        int main(void) { p[1] = 5; x.c = 7; if (p[1] != 5) reach_error(); return 0; }""",
    ),
    Case(
        "a copy of a structure copies no padding",
        "assertion",
        """struct s { char c; int i; } x, y; int main(void) { unsigned char *p = (unsigned char *)&x, *q = (unsigned char *)&y;
        p[1] = 5; y = x; if (q[1] != 5) reach_error(); return 0; }""",
    ),
    Case(
        "cleanup runs at the end of a block",
        "division-by-zero",
        """static int g = 1; static void end(int *p) { g = *p; }
        int main(void) { { __attribute__((cleanup(end))) int x = 0; x = 0; } return 10 / g; }""",
    ),
    Case(
        "sizeof evaluates the length of an array",
        "division-by-zero",
        "int main(void) { int n = 1; size_t s = sizeof(int[n--]); return (int)s / n; }",
    ),
    Case(
        "a context is come back to",
        "division-by-zero",
        """struct context; int getcontext(struct context *); int setcontext(struct context *); struct context *c;
        static int g = 1; int main(void) { static int n; getcontext(c); if (n) return 10 / g; n = 1; g = 0; setcontext(c); }""",
    ),
    Case(
        "a pointer of another type leads to a function",
        "division-by-zero",
        """static int one(void *p) { return p != 0; } static int zero(int *p) { return *p; } typedef int (*fn)(void *);
        int main(void) { fn a = one, b = (fn)zero; int x = 0; if (a(&x)) return 10 / b(&x); return 0; }""",
    ),
    Case(
        "a pointer leads out of the program",
        "assertion",
        """static void f(void) { } typedef void (*fn)(void);
        int main(void) { fn p = f; p = (fn)lookup(1); if (p && p != f) { p(); reach_error(); } return 0; }""",
    ),
    Case(
        "an argument leads out of the program",
        "division-by-zero",
        "static int one(void) { return 1; } int (*known)(void) = one; int apply(int (*f)(void)) { return 10 / f(); }",
        "apply",
    ),
    Case(
        "a handler runs at any time",
        "division-by-zero",
        """void (*signal(int, void (*)(int)))(int); static int g; static void stop(int n) { g = 0 * n; }
        void start(void) { g = 1; signal(2, stop); } int get(void) { if (g != 0) return 10 / g; return 0; }""",
        "get",
    ),
    Case(
        "an array of characters is room for an int",
        "division-by-zero",
        """struct room { char data[16]; };
        int main(void) { struct room *b = malloc(16); if (!b) return 0; int *q = (int *)b->data; *q = 1; b->data[0] = 0;
        int x = *q; free(b); return 10 / x; }""",
    ),
    Case(
        "an int is read as characters",
        "assertion",
        """struct room { unsigned char data[4]; };
        int main(void) { struct room *b = malloc(4); if (!b) return 0; b->data[0] = 1; *(int *)b = 0;
        if (b->data[0] != 1) reach_error(); free(b); return 0; }""",
    ),
    Case(
        "a member is where no padding is",
        "division-by-zero",
        """struct __attribute__((packed)) s { char c; int i; };
        int main(void) { struct s v = {1, 1}; char *p = (char *)&v; p[1] = 0; return 10 / v.i; }""",
    ),
    Case(
        "a pragma packs",
        "division-by-zero",
        """
#pragma pack(push, 1)
        struct s { char c; int i; };
#pragma pack(pop)
        int main(void) { struct s v = {1, 1}; char *p = (char *)&v; p[1] = 0; return 10 / v.i; }""",
    ),
    Case(
        "one member is packed",
        "division-by-zero",
        """struct s { char c; int i __attribute__((packed)); };
        int main(void) { struct s v = {1, 1}; char *p = (char *)&v; p[1] = 0; return 10 / v.i; }""",
    ),
    Case(
        "a record is aligned",
        "assertion",
        """struct __attribute__((aligned(16))) s { int i; };
        int main(void) { if (sizeof(struct s) != 4) reach_error(); return 0; }""",
    ),
    Case(
        "a type is aligned by its name",
        "assertion",
        """typedef int wide __attribute__((aligned(16))); struct s { char c; wide i; };
        int main(void) { if (sizeof(struct s) != 8) reach_error(); return 0; }""",
    ),
    Case(
        "an alignment is not understood",
        "assertion",
        """struct s { int i __attribute__((aligned(2 * sizeof(long)))); };
        int main(void) { if (sizeof(struct s) != 4) reach_error(); return 0; }""",
    ),
    Case(
        "a type has a mode",
        "assertion",
        "typedef int word __attribute__((mode(DI))); int main(void) { if (sizeof(word) != 4) reach_error(); return 0; }",
    ),
    Case("null plus something", "null-dereference", "int main(void) { int *p = 0; int *q = &p[3]; return *q; }"),
    Case(
        "the address of a member of null",
        "null-dereference",
        "struct s { int a, b; }; int main(void) { struct s *p = 0; int *q = &p->b; *q = 1; return 0; }",
    ),
    Case(
        "a result lacks a part",
        "uninitialized-read",
        """struct s { int a, b; }; static struct s make(void) { struct s r; r.a = 1; return r; }
        int main(void) { struct s v = make(); return v.b; }""",
    ),
    Case(
        "an argument lacks a part",
        "uninitialized-read",
        """struct s { int a, b; }; static int last(struct s v) { return v.b; }
        int main(void) { struct s v; v.a = 1; return last(v); }""",
        "last",
    ),
    Case(
        "a declaration is jumped past",
        "uninitialized-read",
        "int main(void) { int s = 0; for (int i = 0; i < 2; i++) { if (i == 1) goto l; int x; x = 1; l: s += x; } return s; }",
    ),
    Case(
        "a declaration is before all cases",
        "uninitialized-read",
        """int main(void) { int s = 0; for (int i = 0; i < 2; i++) switch (i) { int y; case 0: y = 1; break; case 1: s += y; }
        return s; }""",
    ),
    Case(
        "an input may be missing",
        "uninitialized-read",
        'int main(void) { int x; if (scanf("%d", &x) == 7) return 0; return x; }',
    ),
    Case(
        "one of two functions outside comes back",
        "assertion",
        "int main(int argc, char **argv) { void (*f)(void) = argc ? other : abort; f(); reach_error(); return 0; }",
    ),
    Case(
        "one of two functions exits",
        "division-by-zero",
        """static void go(int n) { } int main(int argc, char **argv) { int z = 0; void (*f)(int) = argc ? go : exit; f(1);
        return 10 / z; }""",
    ),
    Case(
        "a function with the name of an error comes back",
        "division-by-zero",
        "void __VERIFIER_error(void) { } int main(void) { int z = 0; __VERIFIER_error(); return 10 / z; }",
    ),
    Case(
        "errno is kept",
        "assertion",
        "int main(void) { int *e = __errno_location(); *e = 0; fopen(0, 0); if (*e) reach_error(); return 0; }",
    ),
    Case(
        "errno is passed on",
        "division-by-zero",
        """static int f(int *e) { *e = 1; fopen(0, 0); return 10 / *e; }
        int main(void) { return f(&(*__errno_location())); }""",
        "f",
    ),
    Case(
        "errno is returned",
        "assertion",
        """static int *last(void) { return __errno_location(); }
        int main(void) { int *e = last(); *e = 0; fopen(0, 0); if (*e) reach_error(); return 0; }""",
    ),
    Case(
        "a pointer leads to an error",
        "assertion",
        """static void fine(void) { }
        int main(int argc, char **argv) { void (*f)(void) = argc ? reach_error : fine; f(); return 0; }""",
    ),
)


@pytest.mark.parametrize("case", _CASES, ids=lambda case: case.name)
def test_it_is_not_safe(case: Case, tmp_path: Path) -> None:
    assert case.property in PROPERTIES
    file = tmp_path / "a.c"
    file.write_text(_DECLARED + case.text)
    for engine in ENGINES:
        report = checked(file, case.property, _SECONDS, engine)
        verdicts = {function.name: function.verdicts[case.property].verdict for function in report.functions}
        assert verdicts[case.function] != "safe", engine


@pytest.mark.parametrize("case", [case for case in _CASES if case.function not in ("get", "apply")], ids=lambda case: case.name)
def test_no_tree_of_paths_proves_it(case: Case) -> None:
    """Whatever is assumed."""
    program, left = program_of(_DECLARED + case.text), iter(range(500))
    claim = Unwinding("main", (case.property,), (), 0, allocation_fails=False, outside_writes=False)
    with pytest.raises(RefusedError):
        check_unwinding(program, unwind(program, claim, LP64, 2_000, lambda: next(left, None) is not None))


@pytest.mark.parametrize("rule", ["memory-leak", "double-free"])
def test_blocks_are_not_followed_through_pointers(rule: str) -> None:
    text = """int main(void) { void *(*get)(size_t) = malloc; void (*end)(void *) = free; void *p = get(4), *q = malloc(4);
        if (p != q) { end(q); end(q); } return 0; }"""
    program, left = program_of(_DECLARED + text), iter(range(500))
    with pytest.raises(RefusedError):
        unwind(program, Unwinding("main", (rule,), (), 0), LP64, 2_000, lambda: next(left, None) is not None)


@pytest.mark.parametrize(
    ("property_", "text"),
    [
        (
            "assertion",
            'static int g = 3; int main(void) { time(0); printf("%d%s", g, "n"); if (g != 3) reach_error(); return 0; }',
        ),
        (
            "assertion",
            """static int g = 3; int main(void) { (*__errno_location()) = 0; (*__errno_location())++; fopen("a", "r");
            if (*__errno_location() && g != 3) reach_error(); return *__errno_location(); }""",
        ),
        (
            "division-by-zero",
            """static int one(void) { return 1; } static int two(void) { return 2; }
            int main(int argc, char **argv) { int (*f)(void) = argc > 1 ? one : two; return 10 / f(); }""",
        ),
        (
            "assertion",
            """
#pragma pack(1)
            struct s { char c; int i; };
#pragma pack()
            struct t { char c; int i __attribute__((aligned(8))); }; typedef int word __attribute__((__mode__(__word__)));
            int main(void) { struct s v = {1, 2}; struct t w = {1, 2}; v.c = 0;
            if (v.i != w.i || sizeof(struct s) != 5 || sizeof w != 16 || sizeof(word) != 8) reach_error(); return 0; }""",
        ),
        (
            "uninitialized-read",
            """struct s { int a, b; }; static struct s make(int k) { struct s v = {k}; return v; }
            static int last(struct s v) { return v.b; }
            int main(int argc, char **argv) { int x, s = 0; if (argc > 1) x = 1; else x = 2;
            for (int i = 0; i < 3; i++) { int y = i; s += y; } return x + s + last(make(3)); }""",
        ),
        (
            "null-dereference",
            "int main(void) { int t[4] = {1}, s = 0; for (int *p = t; p < t + 4; p++) s += *p; return s; }",
        ),
    ],
)
def test_what_is_like_them_is_still_proved(property_: str, text: str, tmp_path: Path) -> None:
    file = tmp_path / "a.c"
    file.write_text(_DECLARED + text)
    assert checked(file, property_, 40.0).verdict == "safe"
