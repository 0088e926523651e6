"""What programs tell verifiers, bits that are counted, what runs at the end, and locks, as runs see them."""

from __future__ import annotations

import pytest

from analysis.interpreter import Bounds, Observation, Replayed, Script, Start, replay
from analysis.interpreter.interpreter import execute_to_end
from analysis.interpreter.outcome import Exited, Kind, Losses, Returned, Stuck
from tests.support.runs import main_of, program_of, run_of

KINDS: tuple[Kind, ...] = ("memory-leak", "resource-leak", "memory-cleanup", "lock-at-exit")


@pytest.mark.parametrize("name", ["__VERIFIER_assume", "__ESBMC_assume", "__CPROVER_assume", "assume", "klee_assume"])
def test_assumptions(name: str) -> None:
    assert run_of(main_of(f"{name}(0); return 1;")).end == Stuck(f"{name}(0)")
    assert run_of(main_of(f"{name}(3); return 1;")).end == Returned(1)


@pytest.mark.parametrize("name", ["__VERIFIER_assert", "__ESBMC_assert"])
def test_checks(name: str) -> None:
    end = run_of(main_of(f"{name}(0); return 1;")).end
    assert isinstance(end, Observation)
    assert end.kind == "assertion"
    assert run_of(main_of(f"{name}(3); return 1;")).end == Returned(1)


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("__builtin_clz(1)", 31),
        ("__builtin_clzll(1)", 63),
        ("__builtin_ctz(8)", 3),
        ("__builtin_ctzl(1L << 40)", 40),
        ("__builtin_ffs(0)", 0),
        ("ffs(12)", 3),
        ("ffsll(1LL << 50)", 51),
        ("__builtin_popcount(-1)", 32),
        ("__builtin_popcountll(-1LL)", 64),
        ("__builtin_parity(7)", 1),
    ],
)
def test_bits_are_counted(expression: str, value: int) -> None:
    assert run_of(main_of(f"return {expression};")).end == Returned(value)


def test_a_count_that_is_undefined_is_an_input() -> None:
    assert run_of(main_of("return __builtin_clz(0);"), (5,)).end == Returned(5)


def test_functions_run_at_the_end_last_given_first() -> None:
    text = (
        "int atexit(void (*)(void)); int n; void one(void) { n = n * 10 + 1; } void two(void) { n = n * 10 + 2; }"
        ' void show(void) { printf("%d", n); } int main(void) { atexit(show); atexit(two); atexit(one);'
        " if (n) return 1; exit(3); }"
    )
    run = run_of(text)
    assert run.end == Exited(3)
    assert run.output == "12"


def test_an_error_at_the_end_is_one() -> None:
    text = "int atexit(void (*)(void)); void last(void) { reach_error(); } int main(void) { atexit(last); return 0; }"
    end = run_of(text).end
    assert isinstance(end, Observation)
    assert end.kind == "assertion"


@pytest.mark.parametrize(
    ("statements", "globals_", "kind"),
    [
        ("int *p = malloc(4); p = 0; return 0;", "", "memory-leak"),
        ("g = malloc(4); return 0;", "int *g;", "memory-cleanup"),
        ("g = malloc(4); exit(0);", "int *g;", "memory-cleanup"),
        ("g = malloc(4); free(g); return 0;", "int *g;", None),
        ("g = malloc(4); abort();", "int *g;", None),
        ("pthread_mutex_lock(&m); return 0;", "int m; int pthread_mutex_lock(int *);", "lock-at-exit"),
        ("spin_lock(&m); spin_unlock(&m); return 0;", "int m; void spin_lock(int *); void spin_unlock(int *);", None),
    ],
)
def test_what_a_program_leaves_behind(statements: str, globals_: str, kind: Kind | None) -> None:
    program = program_of(main_of(statements, globals_))
    run, found = execute_to_end(program, Start("main"), Script(), Bounds(), KINDS)
    assert found == kind
    if kind is not None:
        again = replay(program, Start("main"), run.path, Script(), kind, losses=Losses(earlier=True))
        assert isinstance(again, Replayed)
        assert again.observation is not None
        assert again.observation.kind == kind


LOCK = "int m; int pthread_mutex_lock(int *); int pthread_mutex_unlock(int *); int pthread_mutex_trylock(int *);"


@pytest.mark.parametrize(
    ("statements", "violates"),
    [
        ("pthread_mutex_lock(&m); pthread_mutex_lock(&m); return 0;", True),
        ("pthread_mutex_unlock(&m); return 0;", True),
        ("pthread_mutex_lock(&m); pthread_mutex_unlock(&m); pthread_mutex_unlock(&m); return 0;", True),
        ("pthread_mutex_lock(&m); pthread_mutex_unlock(&m); pthread_mutex_lock(&m); return 0;", False),
        ("if (pthread_mutex_trylock(&m) == 0) pthread_mutex_unlock(&m); return 0;", False),
        ("pthread_mutex_trylock(&m); pthread_mutex_lock(&m); return 0;", True),
        ("pthread_mutex_lock(&m); if (pthread_mutex_trylock(&m) == 0) return 1; pthread_mutex_unlock(&m); return 0;", False),
        ("use(&m); pthread_mutex_unlock(&m); return 0;", False),
    ],
)
def test_locks(statements: str, violates: bool) -> None:
    end = run_of(main_of(statements, LOCK), (0, 0)).end
    assert (isinstance(end, Observation) and end.kind == "lock-discipline") == violates, end


def test_in_the_middle_of_a_programs_life_a_lock_may_be_held() -> None:
    text = f"{LOCK} void f(void) {{ pthread_mutex_unlock(&m); }}"
    assert run_of(text, entry="f", any_globals=True).end == Returned(None)
    twice = f"{LOCK} void f(void) {{ pthread_mutex_unlock(&m); pthread_mutex_unlock(&m); }}"
    end = run_of(twice, entry="f", any_globals=True).end
    assert isinstance(end, Observation)
    assert end.kind == "lock-discipline"
