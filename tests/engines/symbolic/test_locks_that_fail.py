"""A run in which a lock fails for no reason that the run shows confirms nothing (POSIX, pthread_mutex_lock; C11 7.26.4).

The class: results of functions on locks. A call that waits for a lock takes it. A call that does not wait fails only where
another thread holds the lock: a program without `main` may be called by one. A lock that the run did not make is perhaps
recursive: a function that the run does not go through may have made it so, and taken it before.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.engines.symbolic import Confirmed, Effort, ProgramTask, decide_program
from analysis.engines.symbolic.task import Decision
from tests.support.checked import checked
from tests.support.runs import program_of

FUNCTIONS = """
typedef struct { int held, kind; } mutex; typedef mutex mtx_t; void reach_error(void);
int pthread_mutex_init(mutex *, const void *); int pthread_mutex_lock(mutex *); int pthread_mutex_unlock(mutex *);
int pthread_mutex_trylock(mutex *); int mtx_init(mtx_t *, int); int mtx_lock(mtx_t *); int mtx_trylock(mtx_t *);
static mutex m;
"""


def decided(statements: str) -> Decision:
    program = program_of(f"{FUNCTIONS} int main(void) {{ {statements} return 0; }}")
    return decide_program(ProgramTask(program, frozenset({"assertion"}), Effort(seconds=30, states=1_000)))


@pytest.mark.parametrize(
    "statements",
    [
        "if (pthread_mutex_lock(&m)) reach_error();",
        "if (pthread_mutex_trylock(&m)) reach_error();",
        "if (pthread_mutex_init(&m, 0) < 0) reach_error();",
        "if (mtx_init(&m, 0)) return 1; if (mtx_lock(&m)) reach_error();",
        "if (mtx_init(&m, 0)) return 1; if (mtx_trylock(&m)) reach_error();",
        "if (mtx_init(&m, 1)) return 1; mtx_lock(&m); if (mtx_trylock(&m)) reach_error();",
    ],
)
def test_failing_for_no_reason_confirms_nothing(statements: str) -> None:
    assert not isinstance(decided(statements), Confirmed)


@pytest.mark.parametrize(
    "statements",
    [
        "if (pthread_mutex_lock(&m) == 0) reach_error();",
        "pthread_mutex_lock(&m); if (pthread_mutex_trylock(&m)) reach_error();",
        "if (pthread_mutex_init(&m, 0)) reach_error();",
    ],
)
def test_what_can_happen_is_confirmed(statements: str) -> None:
    assert isinstance(decided(statements), Confirmed)


TWICE = [
    "void f(void) { pthread_mutex_lock(&m); pthread_mutex_lock(&m); }",
    "void f(void) { pthread_mutex_unlock(&m); pthread_mutex_unlock(&m); }",
    "void f(mutex *other) { pthread_mutex_lock(other); pthread_mutex_lock(other); }",
    "void f(void) { mtx_lock(&m); mtx_lock(&m); }",
]


@pytest.mark.parametrize("twice", TWICE)
@pytest.mark.parametrize(
    "rest",
    [
        "void make(void *attributes) { pthread_mutex_init(&m, attributes); }",
        "void make(void) { mutex r = {0, 1}; m = r; }",
        "void make(void) { m.kind = 1; }",
        "void make(void); void unseen(mutex *); void g(void) { unseen(&m); }",
    ],
)
def test_what_makes_a_lock_recursive_may_lie_outside_of_the_run(rest: str, twice: str, tmp_path: Path) -> None:
    file = tmp_path / "file.c"
    file.write_text(f"{FUNCTIONS}{rest}\n{twice}\n")
    findings = [finding for finding in checked(file, "lock-discipline", 2).findings if finding.status == "confirmed"]
    assert not findings


@pytest.mark.parametrize(
    "functions",
    [
        "void f(void) { if (pthread_mutex_init(&m, 0)) return; pthread_mutex_lock(&m); pthread_mutex_lock(&m); }",
        "int spin; void pthread_spin_unlock(int *); void f(void) { pthread_spin_unlock(&spin); pthread_spin_unlock(&spin); }",
    ],
)
def test_what_a_part_of_a_program_does_by_itself_is_confirmed(functions: str, tmp_path: Path) -> None:
    file = tmp_path / "file.c"
    file.write_text(f"{FUNCTIONS}{functions}\n")
    assert [finding.status for finding in checked(file, "lock-discipline", 2).findings] == ["confirmed"]
