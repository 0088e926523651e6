"""Properties of whole programs: what any run can violate is found, wherever; what is said to be safe is."""

from __future__ import annotations

import pickle

import pytest

from analysis.engines.symbolic import Confirmed, Decision, Effort, ProgramTask, Refuted, Undecided, decide_program
from analysis.interpreter.outcome import Kind
from analysis.path_following.checks import EdgeChecks
from tests.support.runs import main_of, program_of
from tests.support.violations import HELPERS, VIOLATIONS

MEMORY = frozenset({"null-dereference", "array-bounds", "use-after-free", "double-free", "invalid-free"})
NOT_AT_RANDOM = Effort(seconds=100, query_milliseconds=30_000, runs=1)  # an input that matters is not found by chance
READ = "int x = __VERIFIER_nondet_int();"


def decided(text: str, rules: frozenset[str], *, fails: bool = False, outside: bool = True) -> Decision:
    return decide_program(ProgramTask(program_of(text), rules, NOT_AT_RANDOM, allocation_fails=fails, outside_writes=outside))


@pytest.mark.parametrize(("kind", "statements"), VIOLATIONS)
def test_violations_are_found_wherever_they_are(kind: Kind, statements: str) -> None:
    found = decided(main_of(statements, HELPERS), frozenset({kind}))
    assert isinstance(found, Confirmed), found
    assert found.observation.kind == kind
    assert found.observation.step == len(found.steps) - 1


@pytest.mark.parametrize(
    ("kind", "statements"),
    [
        ("assertion", f"{READ} if (x * 3 == 3 * 31337 && x > 0) reach_error(); return 0;"),
        ("assertion", f"{READ} int n = 0; for (int i = 0; i < x; i++) n += 2; if (n == 14) reach_error(); return 0;"),
        ("null-dereference", f"{READ} int *p = x == 31337 ? 0 : &x; return *p;"),
        ("division-by-zero", f"{READ} return 10 / (x - 31337);"),
        ("array-bounds", f"{READ} int a[4] = {{0}}; if (x >= 0 && x < 5) a[x] = 1; return 0;"),
        ("array-bounds", f"{READ} char *p = malloc(8); if (x > 0 && x < 10) memset(p, 0, x); free(p); return 0;"),
        ("use-after-free", f"{READ} int *p = malloc(4); if (x == 31337) free(p); *p = 1; return 0;"),
        ("double-free", f"{READ} int *p = malloc(4); if (x > 31337) free(p); if (x < 31339) free(p); return 0;"),
        ("invalid-free", f"{READ} char *p = malloc(4); free(p + (x == 31337)); return 0;"),
        ("signed-overflow", f"{READ} return x + 31337 > 0;"),
        ("shift-range", f"{READ} return 1 << (x & 63);"),
        ("uninitialized-read", f"{READ} int y; if (x != 31337) y = 1; return y;"),
        ("memory-leak", f"{READ} int *p = malloc(4); if (x != 31337) free(p); p = 0; return 0;"),
        ("memory-cleanup", f"{READ} static int *p; p = malloc(4); if (x != 31337) free(p); return 0;"),
        ("assertion", f"{READ} if (x > 99 && __builtin_clz(x) + __builtin_popcount(x & 3) == 24) reach_error(); return 0;"),
    ],
)
def test_defects_that_depend_on_inputs(kind: Kind, statements: str) -> None:
    found = decided(main_of(statements), frozenset({kind}))
    assert isinstance(found, Confirmed), found
    assert found.observation.kind == kind


@pytest.mark.parametrize(
    ("kind", "statements"),
    [
        ("assertion", f"{READ} if (x * 2 == 31337) reach_error(); return 0;"),
        ("assertion", f"{READ} unsigned n = 0; for (int i = 0; i < (x & 7); i++) n += 2; if (n % 2) reach_error(); return 0;"),
        ("null-dereference", f"{READ} int *p = x == 31337 ? 0 : &x; return p ? *p : 0;"),
        ("division-by-zero", f"{READ} return x == 31337 ? 0 : 10 / (x - 31337);"),
        ("array-bounds", f"{READ} int a[4] = {{0}}; if (x >= 0 && x < 4) a[x] = 1; return 0;"),
        ("array-bounds", f"{READ} char *p = malloc(8); if (x > 0 && x < 9) memset(p, 0, x); free(p); return 0;"),
        ("use-after-free", f"{READ} int *p = malloc(4); if (x == 31337) {{ free(p); return 1; }} *p = 1; free(p); return 0;"),
        ("double-free", f"{READ} int *p = malloc(4); if (x > 31337) free(p); if (x <= 31337) free(p); return 0;"),
        ("invalid-free", f"{READ} char *p = malloc(4); free(p + 0 * x); return 0;"),
        ("shift-range", f"{READ} return 1 << (x & 15);"),
        ("uninitialized-read", f"{READ} int y; if (x != 31337) y = 1; else y = 2; return y;"),
        ("memory-leak", f"{READ} int *p = malloc(4); if (x != 31337) free(p); else free(p); return 0;"),
        ("memory-cleanup", f"{READ} int *p = malloc(4); if (x == 31337) {{ free(p); exit(1); }} free(p); return 0;"),
        ("assertion", f"{READ} if (x > 0 && __builtin_ctz(x) > 30) reach_error(); return 0;"),
        ("array-bounds", f'{READ} const char *s = "abc"; if (x) s = "de"; return strlen(s);'),
    ],
)
def test_what_no_input_violates_is_refuted(kind: Kind, statements: str) -> None:
    found = decided(main_of(statements), frozenset({kind}))
    assert isinstance(found, Refuted), found


KERNEL = "void *kmalloc(unsigned long); void kfree(void *);"


@pytest.mark.parametrize(
    ("kind", "statements", "globals_"),
    [
        ("use-after-scope", "int *p = x > 31337 ? local() : &x; return *p;", HELPERS),
        ("uninitialized-read", "double d; if (x != 31337) d = 1; return d > 0;", ""),
        ("uninitialized-read", "struct { int a, b; } s, u; s.a = 1; u = s; return x == 31337 ? u.b : 0;", ""),
        ("double-free", "char *p = kmalloc(4); kfree(p); if (x == 31337) kfree(p); return 0;", KERNEL),
        ("use-after-free", "char *p = malloc(4); kfree(p); if (x == 31337) *p = 3; return 0;", KERNEL),
        ("memory-cleanup", 'char *p = strdup("abc"); if (x == 31337) return 1; free(p); return 0;', ""),
        ("memory-leak", 'char *p = strdup("abc"); if (x == 31337) p = 0; free(p); return 0;', ""),
        ("memory-leak", "char *p = kmalloc(4); if (x == 31337) p = 0; kfree(p); return 0;", KERNEL),
        (
            "memory-leak",
            "int **q = malloc(8), *p = malloc(4); *q = p; p = 0; if (x != 31337) free(*q); free(q); return 0;",
            "",
        ),
        ("array-bounds", "int n = x & 3, a[n + 1]; a[n + (x == 31338)] = 1; return 0;", ""),
        ("array-bounds", "int *p = (int *)(long)x; if (x == 31337) return *p; return 0;", ""),
        ("array-bounds", 'char b[8]; sprintf(b, "%d", x); return 0;', ""),
        ("array-bounds", "int *p = malloc(8); if (x == 31337) p = realloc(p, 4); p[1] = 1; return 0;", ""),
        ("null-dereference", "int (*f)(void) = x == 31337 ? 0 : one; return f();", "int one(void) { return 1; }"),
        ("division-by-zero", "float f = x; return x == 31337 ? (int)(1.0f / (f - 31337)) : 0;", ""),
    ],
)
def test_what_some_input_violates_is_never_refuted(kind: Kind, statements: str, globals_: str) -> None:
    assert not isinstance(decided(main_of(READ + statements, globals_), frozenset({kind})), Refuted)


def test_an_object_that_is_first_touched_by_an_index() -> None:
    text = "int t[3] = {1, 2, 3}; int main(void) { int x = __VERIFIER_nondet_int(); return x >= 0 && x < 3 ? t[x] : 0; }"
    assert isinstance(decided(text, MEMORY), Refuted)


def test_allocations_fail_if_they_may() -> None:
    text = main_of(f"{READ} int *p = malloc(4); if (x == 31337) *p = 1; free(p); return 0;")
    assert isinstance(decided(text, MEMORY, fails=True), Confirmed)
    assert isinstance(decided(text, MEMORY, fails=False), Refuted)


@pytest.mark.parametrize(
    "statements", ["*(int *)&c = 1; return 0;", 'char *s = "abc"; s[x] = 1; return 0;', "memset((void *)&c, 0, 1); return 0;"]
)
def test_writes_to_constants_prove_nothing(statements: str) -> None:
    found = decided(main_of(f"{READ} {statements}", "const int c = 3;"), MEMORY)
    assert not isinstance(found, Refuted)
    assert isinstance(decided(main_of(f"{READ} return x ? c : 0;", "const int c = 3;"), MEMORY), Refuted)


def test_external_functions_may_write_to_globals() -> None:
    text = "int g; void other(void); int main(void) { g = 0; other(); if (g) reach_error(); return 0; }"
    assert not isinstance(decided(text, frozenset({"assertion"})), Refuted)
    assert isinstance(decided(text, frozenset({"assertion"}), outside=False), Refuted)


def test_where_nothing_is_recognised_nothing_is_proved() -> None:
    text = "void my_check(int); int main(void) { my_check(__VERIFIER_nondet_int()); return 0; }"
    assert isinstance(decided(text, frozenset({"assertion"}), outside=False), Undecided)


@pytest.mark.parametrize(
    "statements",
    [
        "int a, b; if (&a < &b) reach_error(); return 0;",
        "int *p = malloc(4), *q = malloc(4); if (p > q) reach_error(); return 0;",
        f"{READ} int a; if (((long)&a ^ x) == 31337) reach_error(); return 0;",
    ],
)
def test_where_objects_lie_is_not_known(statements: str) -> None:
    assert isinstance(decided(main_of(statements), frozenset({"assertion"})), Undecided)


LOCKS = "typedef struct { int held; } mutex; int pthread_mutex_lock(mutex *); int pthread_mutex_unlock(mutex *); mutex m;"


@pytest.mark.parametrize(
    ("statements", "rule", "text"),
    [
        ("pthread_mutex_lock(&m); pthread_mutex_lock(&m); return 0;", "lock-discipline", "locked again"),
        ("pthread_mutex_unlock(&m); return 0;", "lock-discipline", "not held"),
        ("pthread_mutex_lock(&m); return 0;", "lock-at-exit", "is held when the program ends"),
    ],
)
def test_locks(statements: str, rule: str, text: str) -> None:
    found = decided(main_of(statements, LOCKS), frozenset({rule}))
    assert isinstance(found, Confirmed), found
    assert text in found.observation.text
    well = decided(main_of("pthread_mutex_lock(&m); pthread_mutex_unlock(&m); return 0;", LOCKS), frozenset({rule}))
    assert isinstance(well, Refuted), well


def test_a_task_is_a_value_and_the_answer_the_same_each_time() -> None:
    task = ProgramTask(program_of(main_of(f"{READ} return 10 / (x - 31337);")), frozenset({"division-by-zero"}), NOT_AT_RANDOM)
    first, second = decide_program(task), decide_program(pickle.loads(pickle.dumps(task)))
    assert isinstance(first, Confirmed)
    assert isinstance(second, Confirmed)
    assert (first.steps, first.inputs, first.observation) == (second.steps, second.inputs, second.observation)


def test_a_rule_that_is_not_observed_is_undecided() -> None:
    found = decided(main_of("return 0;"), frozenset({"a-rule-of-the-user"}))
    assert isinstance(found, Undecided)
    assert found.final


def test_a_rule_that_path_following_does_not_know_is_not_followed() -> None:
    """The class: a rule is added to those that only runs show, and every small program is proved."""
    program = program_of("int main(void) { return 0; }")
    assert EdgeChecks(program, frozenset({"a-new-rule", "use-after-close", "array-bounds"})).unfollowed == [
        "a-new-rule",
        "use-after-close",
    ]
