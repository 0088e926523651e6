"""External functions that are passed code: which may call it. The class: a library function is taken to call what it is
passed although it calls nothing, and the other way round."""

from __future__ import annotations

import pytest

from analysis.c.functions import known
from analysis.cpa.obstacles.completeness import hidden_flow
from tests.support.explorations import program_of

OPS = """typedef unsigned long size_t; struct ops { void (*go)(int); }; void hello(int n) {} void unknown(struct ops *);
void *memset(void *, int, size_t); void *memcpy(void *, const void *, size_t); void free(void *); int printf(const char *, ...);
void qsort(void *, size_t, size_t, int (*)(const void *, const void *)); int order(const void *, const void *) { return 0; }
int atexit(void (*)(void)); void last(void) {} struct ops *kept;
"""


@pytest.mark.parametrize(
    "statements",
    [
        "struct ops o = {hello}; memset(&o, 0, sizeof o);",
        "struct ops o = {hello}, p; memcpy(&p, &o, sizeof o);",
        'printf("%p", hello);',
        "free(kept);",
    ],
)
def test_what_calls_nothing(statements: str) -> None:
    assert hidden_flow(program_of(f"{OPS} int main(void) {{ {statements} return 0; }}"), ("main",)) == ()


@pytest.mark.parametrize(
    "statements",
    [
        "struct ops o = {hello}; unknown(&o);",
        "int a[2]; qsort(a, 2, 4, order);",
        "atexit(last);",
    ],
)
def test_what_may_call(statements: str) -> None:
    assert hidden_flow(program_of(f"{OPS} int main(void) {{ {statements} return 0; }}"), ("main",)) != ()


def test_nothing_that_takes_functions_is_said_to_call_none() -> None:
    takes = """qsort qsort_r bsearch lfind lsearch atexit on_exit at_quick_exit signal sigaction twalk tsearch tfind ftw nftw
    scandir glob pthread_create pthread_once thrd_create call_once pthread_atfork pthread_key_create tss_create
    fopencookie clone"""
    assert not any(function.calls_nothing for name in takes.split() if (function := known(name)) is not None)
