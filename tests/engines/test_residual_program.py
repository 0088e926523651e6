"""Residual programs: every run with a regression bug is in them, they do nothing else than the new version, and compile."""

from __future__ import annotations

import subprocess
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.cfa.graph import Program
from analysis.engines.difference.extraction import Method, difference_condition
from analysis.engines.difference.function_pairs import ProgramPair
from analysis.engines.difference.residual_program import residual_program
from analysis.interpreter.inputs import Script
from analysis.interpreter.interpreter import execute
from analysis.interpreter.outcome import Start
from tests.support.explorations import errs
from tests.support.program_pairs import answers, new_runs, pair_of, revision_of
from tests.support.random_pairs import versions


def residual(programs: ProgramPair, method: Method = "diffDP") -> str:
    condition = difference_condition(programs, "main", method)
    return residual_program(programs.new.program, programs.new.places, [condition]).decode()


def errs_for(program: Program, inputs: tuple[object, ...]) -> bool:
    run = execute(program, Start("main"), Script(inputs, rest=0), record=True)  # type: ignore[arg-type]  # they are numbers
    return errs(program, run)


@pytest.mark.parametrize("method", ["diffCond", "diffDP"])
@given(seed=st.integers(0, 2**32))
@settings(max_examples=60, deadline=None)
def test_runs_with_a_regression_bug_are_left_and_none_are_new(method: Method, seed: int) -> None:
    programs = pair_of(*versions(Random(seed)))
    program = revision_of(residual(programs, method)).program
    regressions, others = new_runs(programs, 100)
    assert all(errs_for(program, answers(run)) for run in regressions)
    for run in others:
        assert not errs_for(program, answers(run)) or errs(programs.new.program, run)


def test_many_residual_programs_compile(tmp_path: Path) -> None:
    stops = 0
    for seed in range(40):
        text = residual(pair_of(*versions(Random(seed))))
        stops += text.count("{ abort(); }")
        (tmp_path / f"r{seed}.c").write_text(text)
    subprocess.run(["gcc", "-c", "-w", *sorted(str(path) for path in tmp_path.glob("*.c"))], check=True, cwd=tmp_path)
    assert stops > 40


OLD = """void reach_error(void);
int nondet(void);
static int sum(int n)
{
    int s = 0;
    for (int i = 0; i < n; i++)
        s += i;
    return s;
}
int main(void)
{
    int kind = nondet(), n = nondet() & 7, x = 0;
    if (kind == 1) {
        for (x = 0; x < n; x++)
            if (x > 7)
                reach_error();
        return 0;
    } else if (kind == 2)
        x = sum(n);
    else
        switch (n) {
        case 1:
            x = 2;
            break;
        default:
            x = 3;
        }
    if (x > 30)
        reach_error();
    return 0;
}
"""


def test_loops_stay_loops_and_what_is_covered_is_gone() -> None:
    new = OLD.replace("s += i", "s += i * 2")
    left = residual(pair_of(OLD, new)).split("\n", 1)[1]
    assert left.count("\n") == new.count("\n")
    head, _, main = left.partition("int main")
    assert head == new.partition("int main")[0]
    assert "if (kind == 1) { abort(); }" in main
    assert "x = sum(n);" in main
    assert "if (x > 30)\n        reach_error();" in main
    assert "x > 7" not in main


UNUSED = """
typedef unsigned long number;
typedef struct { number first; } pair;
struct unseen { int x; };
enum { FIRST = 3, SECOND };
enum other { THIRD };
extern int printf(const char *, ...);
extern int puts(const char *);
int kept = FIRST, dropped = 4;
static pair given = {3};
static int unused_function(struct unseen *p) { return p->x + dropped; }
static int used_function(void);
static int twice(int x) { return x + x; }
__attribute__((noreturn)) void unused_end(void);
__extension__ typedef long long unused_number;
_Noreturn extern void other_end(void);
int old_style(a) int a; { return a; }
static int covered_only(void) { return 1; }
static int used_function(void) { return twice((int) given.first); }
int nondet(void);
void reach_error(void);
int main(void)
{
    int x = 0;
    if (nondet() == 1)
        return covered_only();
    x = used_function() + 1;
    if (x == nondet())
        reach_error();
    return kept;
}
"""


def test_declarations_that_nothing_left_uses_are_gone(tmp_path: Path) -> None:
    new = UNUSED.replace("+ 1;", "+ 2;")
    text = residual(pair_of(UNUSED, new))
    gone = ("unseen", "THIRD", "printf", "unused", "old_style", "covered_only", "noreturn", "__extension__", "other_end", "puts")
    assert [name for name in gone if name in text] == []
    kept = ("unsigned long number", "} pair", "FIRST", "kept", "dropped = 4", "twice", "used_function(void);")
    assert [name for name in kept if name not in text] == []
    assert text.count("\n") == new.count("\n") + 1
    (tmp_path / "r.c").write_text(text)
    subprocess.run(["gcc", "-c", "-w", "r.c"], check=True, cwd=tmp_path)


@pytest.mark.parametrize("attribute", ["constructor", "destructor"])
def test_code_that_runs_before_or_after_main_is_left(attribute: str) -> None:
    """`main` does not call it: the edges that are left say nothing of it."""
    text = f"""int nondet(void); void reach_error(void); int x;
__attribute__(({attribute})) static void beside(void) {{ if (x > 5) reach_error(); }}
int main(void) {{ x = 3; return nondet(); }}
"""
    left = residual(pair_of(text, text.replace("x = 3", "x = 9")))
    assert "static void beside(void) { if (x > 5) reach_error(); }" in left


@pytest.mark.parametrize(
    "declarations",
    [
        "int g(void); int f(void) { return g(); } int g(void) { return 1; }",
        "struct s; int f(void) { struct s *p = 0; extern int h(struct s *); return h(p); } struct s { int x; };",
        'extern int f(void) __attribute__((alias("own"))); int own(void) { return 2; }',
        "typedef int (*to)(void); static int own(void) { return 3; } to table[] = {own}; int f(void) { return table[0](); }",
        "enum e { A, B = A + 2, C }; int f(void) { return C; }",
        "int sizes[] = { sizeof(enum { D = 4 }) }; int f(void) { return D; }",
        "int sizes[] = { sizeof(struct inner { int y; }) }; int f(void) { struct inner p = {1}; return p.y; }",
        "struct { int x; } nameless; int f(void) { return nameless.x; }",
        "union u { struct inner { int y; } x; }; int f(void) { struct inner p = {1}; return p.y; }",
        "int f(void) { return sizeof(struct late *) == 4; } struct late { int x; };",
        "#pragma pack(1)\nstruct s { char c; int x; };\n#pragma pack()\nint f(void) { return sizeof(struct s); }",
        "static void end(int *p) { *p = 0; } int f(void) { int x __attribute__((cleanup(end))) = 1; return x; }",
        '_Static_assert(sizeof(int) == 4, ""); int a[3]; int f(void) { typeof(a) b = {1}; return b[0]; }',
        "int f(void) { extern int later; return later; } int later = 3;",
        "int f(void) { return 1; } __attribute__((constructor)) static void begins(void) { nondet(); }",
        "int f(void) { return 1; } void begins(void) __attribute__((constructor));\nvoid begins(void) { nondet(); }",
        'int f(void) { return 1; } __asm__(".globl begins"); static void begins(void) { nondet(); }',
        "__attribute__((noreturn)) void never(void); int f(void) { return 1; }",
        "int f(void) { return 1; } __extension__ typedef long long never;",
    ],
)
def test_what_is_used_is_kept(declarations: str, tmp_path: Path) -> None:
    text = (
        f"extern int nondet(void); extern void reach_error(void);\n\n{declarations}\n"
        "int main(void) { int x = 1; if (f() + x == nondet()) reach_error(); return 0; }\n"
    )
    left = residual(pair_of(text, text.replace("x = 1", "x = 2")))
    assert "never" not in left
    assert ("begins" in left) == ("begins" in text)
    (tmp_path / "r.c").write_text(left)
    subprocess.run(["gcc", "-c", "-Werror=implicit", "r.c"], check=True, cwd=tmp_path)
    subprocess.run(["gcc", "-c", "-w", "-x", "c", "-", "-o", "whole.o"], input=text, text=True, check=True, cwd=tmp_path)
    undefined = [
        set(subprocess.run(["nm", "-u", name], capture_output=True, text=True, check=True, cwd=tmp_path).stdout.split())
        for name in ("r.o", "whole.o")
    ]
    assert undefined[0] - {"abort"} == undefined[1]
