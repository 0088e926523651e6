"""What programs compute, by the words of the standard; the comparison with a compiler is in test_against_compiler."""

from __future__ import annotations

import sys

import pytest

from analysis.interpreter import Bounds, Script, Start, execute
from analysis.interpreter.outcome import Exited, NotModelled, RanOut, Returned, Stuck
from analysis.model.c_types import ILP32
from tests.support.runs import main_of, program_of, run_of


def returned(statements: str, globals_: str = "") -> object:
    run = run_of(main_of(statements, globals_))
    assert isinstance(run.end, Returned), run.end
    assert run.assumptions == ()
    return run.end.value


@pytest.mark.parametrize(
    ("statements", "value"),
    [
        ("unsigned char c = 255; c++; return c;", 0),
        ("signed char c = 200; return c;", -56),
        ("unsigned u = 0; return u - 1 > 5;", 1),
        ("int i = -1; unsigned u = 1; return i < u;", 0),
        ("long l = -1; unsigned u = 1; return l < u;", 1),
        ("short s = 300; char c = s; return c;", 44),
        ("_Bool b = 256; return b + 0.5 > 1;", 1),
        ("int i = -7; return i / 2 * 100 + i % 2;", -301),
        ("int i = -8; return i >> 1;", -4),
        ("unsigned u = 0x80000000u; return (u << 1) + (u >> 31);", 1),
        ("return ~0u == 4294967295u;", 1),
        ("char c = '\\xff'; return c;", -1),
        ("return (unsigned char)'\\xff';", 255),
        ("double d = 7.9; return (int)d + (int)-d;", 0),
        ("float f = 16777217; return f == 16777216;", 1),
        ("double d = 0; return 1 / d > 1e300;", 1),
        ("long long m = 9223372036854775807LL; float f = m; return f == 9223372036854775808.0f;", 1),
        ("int a[3] = {1, 2, 3}, *p = a + 2, last = *p--; return last * 10 + *p + (p - a);", 33),
        ("struct { unsigned a : 3, b : 5; int c : 4; } s = {9, 37, 9}; return s.a * 10000 + s.b * 100 + s.c;", 10493),
        ("struct { unsigned a : 3; } s = {0}; return s.a - 1 < 0;", 1),
        ("union { int i; unsigned char c[4]; float f; } u; u.f = 1.0f; return u.c[3] * 1000 + u.c[2];", 63128),
        ("struct s { char c; int i; } a = {1, 2}, b; b = a; a.i = 9; return b.i;", 2),
        ("int a[2][3] = {{1, 2, 3}, {4, 5, 6}}; int (*p)[3] = a + 1; return (*p)[2] + p[-1][0] + sizeof a;", 31),
        ('char s[] = "abc"; char *p = s; while (*p) ++*p++; return s[0] * 1000 + s[2] + sizeof s;', 98104),
        (
            "int x = 3, y = 0; switch (x) { case 1: y += 1; default: y += 10; case 2: y += 100; break; case 4: ; } return y;",
            110,
        ),
        ("int n = 0; again: if (++n < 5) goto again; return n;", 5),
        ("int s = 0; for (int i = 0; i < 10; i++) { if (i == 3) continue; if (i == 6) break; s += i; } return s;", 12),
        ("int a = 1, b = 2; int *p = &a, **q = &p; *q = &b; *p = 9; return b * 10 + a;", 91),
        ("int n = 3; int v[n]; for (int i = 0; i < n; i++) v[i] = i; return v[2];", 2),
        ("int x = ({ int t = 4; t * 2; }); return x;", 8),
        ("int *p = (int[]){1, 2, 3}; p[1] = 7; return p[1] + p[2];", 10),
        ("return sizeof(long) * 10 + sizeof(char[3]);", 83),
        ("int x; int *p = &x; uintptr_t u = (uintptr_t)p; *(int *)u = 6; return x;", 6),
        ("int a = 6; char *c = (char *)&a; c[1] = 1; return a;", 262),
        ("double d = 2; long bits; memcpy(&bits, &d, sizeof d); return bits >> 52;", 1024),
    ],
)
def test_values(statements: str, value: int) -> None:
    assert returned(statements) == value


@pytest.mark.parametrize(
    ("globals_", "statements", "value"),
    [
        ("int f(void) { static int n = 4; return ++n; }", "f(); return f();", 6),
        ("int add(int a, int b) { return a + b; } int (*op[])(int, int) = {add, 0};", "return op[0](2, 3) + (op[1] == 0);", 6),
        ("int g; int *p = &g; int *const *q = (int *const *)&p;", "**q = 5; return g;", 5),
        ("struct p { int x, y; } t[] = {[1] = {.y = 4}, {5, 6}};", "return t[1].y * 100 + t[2].x * 10 + t[0].x + sizeof t;", 474),
        ("struct s { int v; struct s *n; } b = {2, 0}, a = {1, &b};", "return a.n->v;", 2),
        ("char *names[] = {\"ab\", \"cde\"};", "return names[1][2] + strlen(names[0]);", 103),
        ("int fact(int n) { return n < 2 ? 1 : n * fact(n - 1); }", "return fact(10);", 3628800),
        ("struct v { int a[3]; }; struct v twice(struct v v) { v.a[1] *= 2; return v; }",
         "struct v x = {{1, 2, 3}}; return twice(x).a[1] * 10 + x.a[1];", 42),
        ("char narrow(int x) { return x; }", "return narrow(300);", 44),
        ("int old(c, d) char c; float d; { return c + d; }", "return old(300, 1.5);", 45),
        ("int i; int next(void) { return i++; }",
         "int a[3]; for (int k = 0; k < 3; k++) a[k] = next(); int both = next() && next(); return a[2] * 10 + both + i;", 26),
    ],
)  # fmt: skip
def test_functions_and_static_data(globals_: str, statements: str, value: int) -> None:
    assert returned(statements, globals_) == value


@pytest.mark.parametrize(
    ("statements", "value"),
    [
        ("char b[8]; strcpy(b, \"ab\"); strcat(b, \"cd\"); return strcmp(b, \"abcd\") == 0 && strlen(b) == 4;", 1),
        ("char b[4] = \"xyz\"; strncpy(b, \"a\", 4); return b[0] == 'a' && !b[1] && !b[3];", 1),
        ("const char *s = \"hello\"; return (strchr(s, 'l') - s) * 10 + (strrchr(s, 'l') - s);", 23),
        ("return strstr(\"hello\", \"lo\") != 0 && strstr(\"hello\", \"x\") == 0;", 1),
        ("return strncmp(\"abc\", \"abd\", 2) == 0 && strcmp(\"a\", \"b\") < 0;", 1),
        ("return strspn(\"aab\", \"a\");", 2),
        ("char *end; long v = strtol(\" -0x1fz\", &end, 0); return v * 10 + (*end == 'z');", -309),
        ("return atoi(\"12ab\") + abs(-3) + (int)sqrt(16.0);", 19),
        ("char b[20]; int n = snprintf(b, 4, \"%d:%s\", 12, \"xyz\"); return n * 10 + strlen(b);", 63),
        ("char b[30]; sprintf(b, \"%5.1f|%-3d|%04x|%c%%\", 2.25, 7, 255, 'q'); return strcmp(b, \"  2.2|7  |00ff|q%\") == 0;", 1),
        ("int *p = malloc(8); p[0] = 4; p[1] = 5; p = realloc(p, 12); int r = p[1]; free(p); return r;", 5),
        ("int *p = calloc(2, 4); int r = p[1]; free(p); return r;", 0),
        ("char *d = strdup(\"xy\"); int r = d[1] + memcmp(d, \"xy\", 3); free(d); return r;", 121),
        ("char a[4] = {1, 2, 3, 4}; memmove(a + 1, a, 3); return a[3] * 10 + a[1] + (memchr(a, 3, 4) == a + 3);", 32),
        ("free(0); return malloc(-1) == 0;", 1),
        ("fprintf(stderr, \"%d\", 1); return 1;", 1),
    ],
)  # fmt: skip
def test_library(statements: str, value: int) -> None:
    assert returned(statements) == value


def test_printed_text_is_kept_to_its_bound() -> None:
    text = main_of('for (int i = 0; i < 3; i++) printf("%d,%s|", i, "ab"); return 0;')
    assert run_of(text).output == "0,ab|1,ab|2,ab|"


def test_longjmp_goes_back_through_calls() -> None:
    text = """
    long env[8]; int depth;
    void down(int n) { depth = n; if (n == 3) longjmp(env, 7); down(n + 1); }
    int main(void) { int r = setjmp(env); if (r == 0) { down(0); return -1; } return r * 10 + depth; }
    """
    assert run_of(text).end == Returned(73)


def test_longjmp_to_a_function_that_has_returned_is_refused() -> None:
    text = "long env[8]; int set(void) { return setjmp(env); } int main(void) { set(); longjmp(env, 1); return 0; }"
    assert isinstance(run_of(text).end, NotModelled)


def test_exit_and_abort_end_the_run() -> None:
    assert run_of("void f(void) { exit(300); } int main(void) { f(); return 1; }").end == Exited(44)
    assert run_of(main_of("abort();")).end == Exited(None)


def test_nothing_follows() -> None:
    assert isinstance(run_of(main_of("while (1);")).end, Stuck)
    assert run_of(main_of("int x = 0; __VERIFIER_assume(x); return 1;")).end == Stuck("__VERIFIER_assume(0)")


def test_data_models() -> None:
    text = main_of("struct { char c; double d; } s; return sizeof(long) * 1000 + sizeof(void *) * 100 + sizeof s;")
    assert run_of(text, model=ILP32).end == Returned(4412)
    text = main_of(
        "long x = 2147483647; unsigned u = x; int a[70000], *p = a + 69999; *p = 3; return *p + (u == x) + (long)(p - a);"
    )
    assert run_of(text, model=ILP32).end == Returned(70003)


def test_pointers_of_ilp32_determine_their_objects() -> None:
    text = main_of("int a[2], b[2]; a[1] = 1; b[0] = 2; int *p = a; return p[2];")
    assert getattr(run_of(text, model=ILP32).end, "kind", None) == "array-bounds"


def test_every_bound_is_a_value() -> None:
    loop = main_of("unsigned i = 0; while (1) i++; return 0;")
    run = run_of(loop, bounds=Bounds(steps=1000))
    assert (run.end, run.steps, len(run.path)) == (RanOut("steps"), 1000, 1000)
    recursion = "int f(int n) { return f(n ^ 1); } int main(void) { return f(0); }"
    assert run_of(recursion, bounds=Bounds(depth=50)).end == RanOut("depth")
    heap = main_of("while (1) malloc(1000); return 0;")
    assert run_of(heap, bounds=Bounds(memory=100_000)).end == RanOut("memory")
    assert run_of(main_of("char *p = malloc(1 << 30); return !p;"), bounds=Bounds(memory=1_000_000)).end == RanOut("memory")


def test_deep_recursion_of_c_takes_no_python_frames() -> None:
    text = "int sum(int n) { return n == 0 ? 0 : 1 + sum(n - 1); } int main(void) { return sum(30000); }"
    assert run_of(text, bounds=Bounds(depth=40_000)).end == Returned(30_000)


def test_what_is_not_modelled_says_so() -> None:
    assert run_of(main_of("long double x = 1; x = x / 3; return 0;")).end == NotModelled("arithmetic of long double")
    assert run_of(main_of('char *s = "abc"; s[0] = 1; return 0;')).end == NotModelled(
        "a write to string literal (4 bytes), which is constant"
    )
    assert isinstance(run_of(main_of("double d = 1e30; return (int)d;")).end, NotModelled)
    assert run_of(main_of('asm("nop"); return 0;')).end == NotModelled("inline assembler")


def test_tables_of_characters_and_errno_of_glibc() -> None:
    text = """
    const unsigned short **__ctype_b_loc(void); const int **__ctype_toupper_loc(void); int *__errno_location(void);
    int main(void) {
        int found = 0;
        for (const char *s = "a Z_9"; *s; s++)
            found = found * 100 + ((*__ctype_b_loc())[(int)*s] >> 8 & 15) + ((*__ctype_b_loc())[*s] >> 13 & 1) * 20;
        *__errno_location() = 3;
        return found + *__errno_location() + (*__ctype_toupper_loc())['x'] - 'X' + (*__ctype_b_loc())[-1];
    }
    """
    assert run_of(text).end == Returned(620050008 + 3)  # lower and alpha, space, upper and alpha, none, digit


def test_expressions_nested_beyond_pythons_stack_are_a_value() -> None:
    program = program_of("int main(void) { unsigned x = 1; return " + "(x + " * 200 + "x" + ")" * 200 + "; }")
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(300)
    try:
        end = execute(program, Start("main"), Script()).end
    finally:
        sys.setrecursionlimit(limit)
    assert end == NotModelled("an expression that is nested too deeply")
    assert execute(program_of(main_of("return 1;")), Start("main"), Script()).end == Returned(1)
