"""Each kind of violation is observed where it happens, and nothing is where it does not."""

from __future__ import annotations

import pytest

from analysis.interpreter import Bounds, Observation, Script, Start, execute, replay
from analysis.interpreter.outcome import Exited, Kind, Replayed, Returned
from analysis.model import ir
from tests.support.runs import PROTOTYPES, linked_of, main_of, run_of
from tests.support.violations import HELPERS, VIOLATIONS


@pytest.mark.parametrize(("kind", "statements"), VIOLATIONS)
def test_violations(kind: str, statements: str) -> None:
    run = run_of(main_of(statements, HELPERS))
    assert isinstance(run.end, Observation), run.end
    assert run.end.kind == kind, run.end.text
    assert (run.end.step, len(run.path)) == (run.steps - 1, run.steps)


@pytest.mark.parametrize(
    "statements",
    [
        "int *p = 0; int **q = &p; return *q == 0;",
        "struct { int a, b; } *p = 0; return (long)&p->b;",  # an address, nothing is accessed
        "int a[3] = {1}, *end = &a[3]; return end - a;",
        "struct { int n; char d[1]; } *p = malloc(16); p->d[5] = 1; p->d[0] = 2; return p->d[5];",
        "char b[4], c[4]; b[0] = 1; memcpy(c, b, 4); return c[0];",
        "struct { char c; int i; } s, t; s.i = 1; t = s; return t.i;",
        "unsigned x = 2147483647; x = x * 3 << 31; return x == 0;",
        "int x = -2147483647 - 1; return x % 2;",
        "unsigned char c = 255; c += 3; short s = 32767; s++; return s;",
        "int *p = malloc(0); free(p); return 0;",
        "int x, *p = &x; memset(p, 0, sizeof x); return x;",
        "double z = 0; return 1 / z > 0 && -1 / z < 0;",
        "union { int i; char c[4]; } u; u.i = 1; return u.c[3];",
    ],
)
def test_what_is_defined_is_no_violation(statements: str) -> None:
    assert isinstance(run_of(main_of(statements, HELPERS)).end, Returned)


def test_a_function_called_reach_error_is_the_error_whatever_it_does() -> None:
    run = run_of("void reach_error(void) { } int main(void) { reach_error(); return 0; }")
    assert isinstance(run.end, Observation)
    assert run.end.kind == "assertion"


def test_abort_is_no_assertion() -> None:
    assert run_of(main_of("abort(); return 0;")).end == Exited(None)


def test_the_text_names_values_and_objects() -> None:
    def text(statements: str) -> str:
        end = run_of(main_of(statements, HELPERS)).end
        assert isinstance(end, Observation)
        return end.text

    assert text("int x = 2147483647; return x + 1;") == "2147483647 + 1 is not in the range of int"
    assert text("int a[3] = {0}; int i = 3; return a[i];") == "index 3 of a, which has 3 elements"
    assert text("char *p = malloc(12); p[13] = 0; return 0;") == "write of 1 byte at offset 13 of heap block 1 (12 bytes)"
    assert text("char a[3], *p = a; p[3] = 0; return 0;") == "write of 1 byte at offset 3 of a, which has 3 bytes"
    assert text("int *p = malloc(4); free(p); return *p;") == "read of 4 bytes of heap block 1 (4 bytes), which is freed"
    assert text("char *p = malloc(1); free(p); return *p;") == "read of 1 byte of heap block 1 (1 byte), which is freed"
    assert text("char *p = malloc(2); return *p;") == "read of 1 byte of heap block 1 (2 bytes) before it is written"
    assert text("int *p = local(); return *p;") == "read of 4 bytes of x, whose function has returned"
    assert text("int *p = malloc(4); return *p;") == "read of 4 bytes of heap block 1 (4 bytes) before they are written"
    assert text('if (1) __assert_fail("x == 0", "t.c", 1, "f"); return 0;') == "x == 0 does not hold"


def test_the_step_is_on_the_line() -> None:
    text = "\nint f(int x) {\n    int y = x - 3;\n    return 10 / y;\n}\nint main(void) {\n    f(4);\n    return f(3);\n}\n"
    linked = linked_of(text)
    run = execute(linked.program, Start("main"), Script(), Bounds(), record=True)
    last = run.path[-1]
    source = linked.sources[last.function]
    at = source.start + source.sites[last.edge].start
    assert isinstance(run.end, Observation)
    whole = " ".join(PROTOTYPES.split()) + text
    assert (last.function, whole[:at].count("\n")) == ("f", 3)


@pytest.mark.parametrize(
    ("kind", "before", "target"),
    [
        ("null-dereference", "struct s *p = 0;", "p->n"),
        ("array-bounds", "int a[2]; int *p = a + 2;", "*p"),
        ("use-after-free", "int *p = malloc(4); if (!p) return 0; free(p);", "*p"),
    ],
)
def test_a_result_is_stored_where_the_function_is_called(kind: Kind, before: str, target: str) -> None:
    text = f"struct s {{ int n; }}; int f(int x) {{ return x; }} int main(void) {{ {before} {target} = f(3); return 0; }}"
    program = linked_of(text).program
    run = execute(program, Start("main"), Script(), Bounds(), record=True)
    assert isinstance(run.end, Observation)
    assert run.end.kind == kind
    assert [step.function for step in run.path[-2:]] == ["f", "main"]
    assert isinstance(program.functions["main"].by_id[run.path[-1].edge].effect, ir.Call)
    replayed = replay(program, Start("main"), run.path, Script(), kind)
    assert isinstance(replayed, Replayed)
    assert len(replayed.steps) == len(run.path)
