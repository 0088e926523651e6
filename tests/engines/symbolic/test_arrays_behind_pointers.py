"""Class: arrays in what a pointer leads to. Two bounds hold there: that of the array, and that of the object, which can be
smaller than its type. Only an array that ends its object goes on to the end of it; the answer says so."""

from __future__ import annotations

import pytest

from analysis.engines.symbolic import Confirmed, Decision, Effort, ProgramTask, Refuted, decide_program
from analysis.model.assumptions import LAST_ARRAYS
from tests.support.runs import main_of, program_of

TYPES = """struct inner { int n; int tail[2]; }; struct around { int b; struct inner in; };
struct whole { int a[4]; struct inner in; int b; };"""
READ = "int x = __VERIFIER_nondet_int();"


def decided(statements: str) -> Decision:
    effort = Effort(seconds=100, query_milliseconds=30_000, runs=1)
    return decide_program(ProgramTask(program_of(main_of(statements, TYPES)), frozenset({"array-bounds"}), effort))


@pytest.mark.parametrize(
    "statements",
    [
        f"{READ} struct whole *p = malloc(4); if (p && x >= 0 && x < 4) p->a[x] = 1; free(p); return 0;",
        f"{READ} struct whole *p = malloc(64); if (p && x == 31337) p->in.tail[2] = 1; free(p); return 0;",
        f"{READ} struct inner *p = malloc(64); if (p && x == 31337) p->tail[x - 31338] = 1; free(p); return 0;",
        f"{READ} struct inner *p = malloc(64); if (p && x == 31337) p->tail[x - 31322] = 1; free(p); return 0;",
    ],
)
def test_both_bounds_are_asked(statements: str) -> None:
    found = decided(statements)
    assert isinstance(found, Confirmed), found
    assert found.observation.kind == "array-bounds"


@pytest.mark.parametrize(
    ("statements", "goes_on"),
    [
        (f"{READ} struct whole *p = malloc(32); if (p && x >= 0 && x < 4) p->a[x] = 1; free(p); return 0;", False),
        ("struct inner *p = malloc(64); if (p) p->tail[1] = 1; free(p); return 0;", False),
        ("struct inner *p = malloc(64); if (p) p->tail[2] = 1; free(p); return 0;", True),
        (f"{READ} struct around *p = malloc(64); if (p && x >= 0 && x < 9) p->in.tail[x] = 1; free(p); return 0;", True),
        ("static char c[64]; struct inner *p = (struct inner *)c; p->tail[2] = 1; return 0;", True),
    ],
)
def test_what_goes_on_to_the_end_of_its_object_is_said(statements: str, goes_on: bool) -> None:
    found = decided(statements)
    assert isinstance(found, Refuted), found
    assert (LAST_ARRAYS.sentence in found.assumptions) is goes_on
