"""Which locks may be taken twice: runs say nothing of recursive ones, whoever made them so (POSIX, pthread_mutexattr_settype).

The class: a lock that says of which kind it is without a call of a function that the run sees.
"""

from __future__ import annotations

import pytest

from analysis.interpreter.outcome import Observation, Returned
from tests.support.runs import main_of, run_of

FUNCTIONS = "int pthread_mutex_lock(mutex *); int pthread_mutex_unlock(mutex *); int pthread_mutex_trylock(mutex *);"
TYPE = f"typedef struct {{ int held, kind; }} mutex; {FUNCTIONS}"
TWICE = "pthread_mutex_lock(&m); pthread_mutex_lock(&m); return 0;"


@pytest.mark.parametrize(
    ("made", "statements", "violates"),
    [
        ("mutex m = {0, 1};", TWICE, False),
        ("mutex m = {0, 0};", TWICE, True),
        ("mutex m;", TWICE, True),
        ("mutex m = {0, 1};", "pthread_mutex_lock(&m); if (pthread_mutex_trylock(&m) != 0) reach_error(); return 0;", False),
        ("mutex m = {0, 0};", "pthread_mutex_lock(&m); if (pthread_mutex_trylock(&m) != 0) reach_error(); return 0;", True),
        ("mutex m;", f"m.kind = 1; {TWICE}", False),
        ("mutex other = {0, 1};", f"mutex m = other; {TWICE}", False),
        ("", f"static mutex m = {{.kind = 1}}; {TWICE}", False),
    ],
)
def test_an_initialiser_can_make_a_lock_recursive(made: str, statements: str, violates: bool) -> None:
    end = run_of(main_of(statements, f"{TYPE} {made}"), (0, 0)).end
    assert isinstance(end, Observation) if violates else end == Returned(0)


def middle_of(made: str) -> tuple[bool, bool]:
    """Whether a run that begins in a function violates something, and whether it says that the lock is not recursive."""
    run = run_of(f"{TYPE} {made} int f(void) {{ {TWICE} }}", entry="f", any_globals=True)
    return isinstance(run.end, Observation), any("is not recursive" in assumption for assumption in run.assumptions)


def test_a_run_that_begins_in_the_middle_knows_initialisers() -> None:
    assert middle_of("static mutex m = {0, 1};") == (False, False)


@pytest.mark.parametrize("made", ["static mutex m;", "static mutex m = {0, 0};", "extern mutex m;"])
def test_such_a_run_says_that_another_function_made_no_recursive_lock(made: str) -> None:
    assert middle_of(made) == (True, True)
