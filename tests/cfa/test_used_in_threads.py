"""A program without `main` that uses locks may be called in several threads: each proof lists that it is not.

The class: what runs beside a function, and is not started by the program.
"""

from __future__ import annotations

import pytest

from analysis.cfa.linking.evaluation_order import assumptions_of
from analysis.model.assumptions import ONE_THREAD
from tests.support.runs import program_of

_DECLARED = (
    "int pthread_mutex_lock(long *); int pthread_mutex_unlock(long *); void mtx_unlock(long *); static long m; static int n;"
)


@pytest.mark.parametrize(
    "text",
    [
        "void set(void) { pthread_mutex_lock(&m); n = 1; pthread_mutex_unlock(&m); } int get(void) { return n; }",
        "int get(void) { mtx_unlock(&m); return n; }",
        "void set(void) { int (*lock)(long *) = pthread_mutex_lock; lock(&m); }",
    ],
)
def test_it_is_listed(text: str) -> None:
    assert ONE_THREAD.sentence in assumptions_of(program_of(_DECLARED + text))
    assert ONE_THREAD.sentence not in assumptions_of(program_of(_DECLARED + text + "int main(void) { return 0; }"))


def test_without_locks_nothing_is_listed() -> None:
    assert ONE_THREAD.sentence not in assumptions_of(program_of(_DECLARED + "int get(void) { return n; }"))
