"""Operations that C leaves undefined, while machines go on: nothing is removed or proved behind them unsaid.

The class: an assumption that ends a path in front of a defect, so that the defect is excluded. Shifts by the width or more or by
a negative distance, signed overflow, the least value divided by -1, subscripts outside of arrays, differences of pointers that
are no whole number of elements apart, numbers as pointers. Each program fails on a machine; each twin cannot fail.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from analysis.certificate.checked_outcome import Proved
from analysis.certificate.refusal import RefusedError
from analysis.certificate.unwinding import unwind
from analysis.certificate.unwinding_tree import Unwinding
from analysis.cfa.graph import Program
from analysis.cpa.predicates.violations import Property, violations
from analysis.engines.predicate.predicate_options import PredicateOptions
from analysis.engines.predicate.predicate_proof import prove as by_predicates
from analysis.engines.symbolic import Confirmed, Effort, ProgramTask, Refuted, Target, Task, Undecided, decide, decide_program
from analysis.engines.symbolic.cegar import CegarOptions
from analysis.engines.symbolic.cegar import prove as by_constraints
from analysis.engines.value.value_proof import prove as by_values
from analysis.model.c_types import LP64
from tests.support.explorations import program_of

HEAD = """
void reach_error(void); int __VERIFIER_nondet_int(void); void *malloc(unsigned long); void free(void *);
"""
IN = "int n = __VERIFIER_nondet_int(), m = __VERIFIER_nondet_int();"

# what stands before, the condition of the failure, and what makes it impossible in the twin
PROGRAMS: dict[str, tuple[str, str, str]] = {
    "a shift to the left too far": ("int x = 1 << n;", "n >= 32", "if (n < 0 || n > 31) return 0;"),
    "a shift to the right too far": ("int x = 64 >> n;", "n == 40", "if (n < 0 || n > 31) return 0;"),
    "a negative distance": ("int x = 1 << n;", "n < 0", "if (n < 0 || n > 31) return 0;"),
    "a wide distance": ("int x = 1 << ((long)n + 64);", "n == 0", "if (n > -34) return 0;"),
    "a constant distance": ("int k = 35; int x = 1 << k;", "n == 7", "if (n == 7) return 0;"),
    "an unsigned shift": ("unsigned x = 1u << n;", "n == 32", "if (n < 0 || n > 31) return 0;"),
    "a long shift": ("long x = 1L << n;", "n == 64", "if (n < 0 || n > 63) return 0;"),
    "a shift that is assigned": ("int x = 1; x <<= n;", "n == 33", "if (n < 0 || n > 31) return 0;"),
    "a sum that overflows": ("int x = n + 1;", "n > 10 && x < 0", "if (n > 1000) return 0;"),
    "a difference that overflows": ("int x = n - 1;", "n < -10 && x > 0", "if (n < -1000) return 0;"),
    "a product that overflows": ("int x = n * 2;", "n > 0 && x < 0", "if (n > 1000) return 0;"),
    "a negation that overflows": ("int x = -n;", "n < 0 && x < 0", "if (n < -1000) return 0;"),
    "a shift that overflows": ("int x = n << 1;", "n > 0 && n < 2147483647 && x < 0", "if (n > 1000) return 0;"),
    "an uneven difference": (
        "int a[4]; int *p = (int *)((char *)a + 5); int x = p - a;",
        "x != 1 && n == 3",
        "if (n == 3) return 0;",
    ),
}
"""Behind the least value divided by -1 nothing runs on x86, which traps: what is said of it is in its own test."""


def texts(name: str) -> tuple[str, str]:
    """The program that fails, and its twin."""
    before, failure, guard = PROGRAMS[name]
    return tuple(
        f"{HEAD}int main(void) {{ {IN} (void)m; {more} {before} if ({failure}) reach_error(); return 0; }}"
        for more in ("", guard)
    )  # type: ignore[return-value]


def excluded(of: Program, seconds: float = 30.0, rule: Property = "assertion") -> list[str]:
    """The prover that says that no run fails."""
    wanted = violations(of, rule)
    found = ["value"] if isinstance(by_values(of, wanted, seconds=seconds), Proved) else []
    for mode in ("int", "bv"):
        if isinstance(by_predicates(of, wanted, options=PredicateOptions(mode=mode, seconds=seconds)), Proved):
            found.append(f"predicate {mode}")
        if isinstance(by_constraints(of, wanted, options=CegarOptions(mode=mode, seconds=seconds)), Proved):
            found.append(f"constraints {mode}")
    effort = Effort(seconds=seconds)
    if isinstance(decide_program(ProgramTask(of, frozenset({rule}), effort)), Refuted):
        found.append("program")
    targets = [Target(place.function, place.edge, rule) for place in wanted]
    if all(isinstance(decide(Task(of, target, ("main",), (), effort)), Refuted) for target in targets):
        found.append("finding")
    try:
        unwind(of, Unwinding("main", (rule,), (), 0), LP64, 10_000, lambda: True)
        found.append("tree")
    except RefusedError:
        pass
    return found


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_runs_on_machines_is_never_excluded(name: str) -> None:
    assert excluded(program_of(texts(name)[0]), 10.0) == []


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_twin_is_excluded_by_someone(name: str) -> None:
    assert excluded(program_of(texts(name)[1]))


def test_the_least_value_divided_by_minus_one_gives_anything() -> None:
    """C11 6.5.5p6. x86 traps, other machines go on."""
    for operator in ("/", "%"):
        body = f"{IN} if (m == 0) return 0; int x = n {operator} m; if (m == -1 && n == -2147483647 - 1) reach_error();"
        assert excluded(program_of(f"{HEAD}int main(void) {{ {body} (void)x; return 0; }}"), 10.0) == []


OUTSIDE = {
    "a write": "int a[3], f = 0; a[n] = 1; if (f) reach_error();",
    "a read": "int a[3] = {0}, x = a[n]; if (x) reach_error();",
    "a loop that goes one too far": "int a[3], f = 0; for (int i = 0; i <= 3; i++) a[i] = 7; if (f) reach_error();",
    "a global array": "g[n] = 1; if (h) reach_error();",
    "an inner array": "int a[2][2] = {{0}}, f = 0; a[1][n] = 1; if (f) reach_error();",
    "an array of structures": "struct s { int v; } a[2]; int f = 0; a[n].v = 1; if (f) reach_error();",
    "the result of a call": "int a[2], f = 0; a[n] = __VERIFIER_nondet_int(); if (f) reach_error();",
    "an index that a call changes": "int a[2], f = 0; h = 0; a[h] = later(); if (f) reach_error();",
    "a constant": "int a[2], f = 0; int k = 2; a[k] = 1; if (f) reach_error();",
}
INSIDE = {
    "a write": "if (n < 0 || n > 2) return 0; ",
    "a global array": "if (n < 0 || n > 1) return 0; ",
    "an inner array": "if (n < 0 || n > 1) return 0; ",
    "an array of structures": "if (n < 0 || n > 1) return 0; ",
}
GLOBALS = "int g[2], h; static int later(void) { h = 7; return 1; }\n"


@pytest.mark.parametrize("name", OUTSIDE)
def test_behind_an_access_outside_of_its_array_nothing_is_proved(name: str) -> None:
    of = program_of(f"{HEAD}{GLOBALS}int main(void) {{ {IN} (void)m; {OUTSIDE[name]} return 0; }}")
    assert not {"value", "predicate int", "predicate bv", "constraints int", "constraints bv", "tree"}.intersection(
        excluded(of, 10.0)
    )


@pytest.mark.parametrize("name", INSIDE)
def test_behind_one_inside_it_is(name: str) -> None:
    of = program_of(f"{HEAD}{GLOBALS}int main(void) {{ {IN} (void)m; {INSIDE[name]}{OUTSIDE[name]} return 0; }}")
    assert {"predicate int", "predicate bv"}.intersection(excluded(of))


NUMBERS = {
    "(char *)-1 == (char *)0xffffffffffffffffUL": True,
    "(char *)-1 != (char *)0xffffffffffffffffUL": False,
    "(char *)(long)-1 == (char *)-1": True,
    "(unsigned char)300 == 44": True,
    "(signed char)200 == -56": True,
    "(_Bool)2 == 1": True,
    "(int)0xffffffffu == -1": True,
    "(unsigned long)(char *)-1 == 0xffffffffffffffffUL": True,
    "BIG == 0x7fffffff && SMALL == -1": True,
}


@pytest.mark.parametrize("text", NUMBERS)
def test_constants_are_in_the_range_of_their_types(text: str) -> None:
    """In each engine the same, and as gcc has it."""
    for is_other in (True, False):
        fails = NUMBERS[text] == is_other
        of = program_of(
            f"{HEAD}enum {{ BIG = 0x7fffffff, SMALL = -1 }};\n"
            f"int main(void) {{ int holds = ({text}); if (holds != {int(not is_other)}) reach_error(); return 0; }}"
        )
        prover = excluded(of, 10.0)
        assert not prover if fails else prover
        decision = decide_program(ProgramTask(of, frozenset({"assertion"}), Effort(seconds=10.0)))
        assert isinstance(decision, Confirmed) == fails


# -- results of calls -------------------------------------------------------------------------------------------------------

LATE = {
    "null-dereference": ("int *p; static int f(void) { p = 0; return 1; }", "int x; p = &x; *p = f();"),
    "array-bounds": ("int h, a[2]; static int f(void) { h = 7; return 1; }", "a[h] = f();"),
    "division-by-zero": ("int h = 1, a[2]; static int f(void) { h = 0; return 1; }", "a[1 / h - 1] = f();"),
}


@pytest.mark.parametrize("rule", LATE)
def test_where_a_result_goes_may_be_looked_up_before_or_after_the_call(rule: str) -> None:
    """C11 6.5.16p3 leaves it open. The function changes what the place depends on: nothing is said."""
    before, body = LATE[rule]
    of = program_of(f"{HEAD}{before}\nint main(void) {{ {body} return 0; }}")
    assert excluded(of, 10.0, rule) == []
    assert isinstance(decide_program(ProgramTask(of, frozenset({rule}), Effort(seconds=10.0))), Undecided)
    twin = program_of(f"{HEAD}{before}\nint main(void) {{ {body.replace('f()', '2')} return 0; }}")
    assert excluded(twin, 30.0, rule)


# -- the command ------------------------------------------------------------------------------------------------------------

COMMANDS = {
    "a double free": ("char *p = malloc(4);", "free(p); free(p); return x;", "double-free"),
    "a null dereference": ("int *p = 0;", "return *p;", "null-dereference"),
    "an assertion": ("", "assert(0);", "assertion"),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_check_reports_what_follows_a_shift_that_is_too_far(name: str, tmp_path: Path) -> None:
    before, defect, rule = COMMANDS[name]
    program = tmp_path / "p.c"
    for guard, code in (("", 1), ("if (n < 0 || n > 31) return 0;", 0)):
        free = "free(p);" if rule == "double-free" else ""
        program.write_text(
            f"#include <assert.h>\n#include <stdlib.h>\nint __VERIFIER_nondet_int(void);\nint main(void) {{"
            f" int n = __VERIFIER_nondet_int(); {guard} {before} int x = 1 << n;"
            f" if (n >= 32) {{ {defect} }} {free} return x; }}\n"
        )
        command = [sys.executable, "-m", "analysis.cli", "check", "--store", "none", "--rule", rule, str(program)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (done.returncode, f"[{rule}]" in done.stdout) == (code, bool(code)), done.stdout + done.stderr
