"""Which external functions may call functions of the program that they are passed.

The class: pointers to functions that were held as something else before they are passed.
"""

from __future__ import annotations

import pytest

from analysis.cfa.graph import Program
from analysis.cpa.obstacles.passed_code import may_call_back
from analysis.engines.symbolic import Confirmed, Effort, ProgramTask, Refuted, decide_program
from analysis.model import ir
from tests.support.runs import program_of

_DECLARED = """
typedef int (*order)(const void *, const void *); void qsort(void *, size_t, size_t, order); int atexit(void (*)(void));
void unknown(); static int v[2], called; static int compare(const void *a, const void *b) { called = 1; return 0; }
static void last(void) { called = 1; } struct kept { void *how; }; static struct kept kept; int puts(const char *);
"""


def calls_back(program: Program, name: str) -> bool:
    calls = [e.effect for cfa in program.functions.values() for e in cfa.calls if isinstance(e.effect, ir.Call)]
    return any(may_call_back(program, name, call) for call in calls if ir.direct_callee(call) == name)


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("qsort", "qsort(v, 2, 4, compare);"),
        ("qsort", "void *how = (void *)compare; qsort(v, 2, 4, (order)how);"),
        ("qsort", "size_t how = (size_t)compare; qsort(v, 2, 4, (order)how);"),
        ("qsort", "kept.how = (void *)compare; qsort(v, 2, 4, (order)kept.how);"),
        ("qsort", "order how = compare; char *as = (char *)how; qsort(v, 2, 4, (order)as);"),
        ("atexit", "void *how = (void *)last; atexit((void (*)(void))how);"),
        ("unknown", "unknown(compare);"),
        ("unknown", "void *how = (void *)compare; unknown(how);"),
        ("unknown", "void *how = (void *)compare; unknown((order)how);"),
        ("unknown", "size_t how = (size_t)compare; unknown(how);"),
        ("unknown", "void *how = (void *)compare; size_t n = (size_t)how; unknown(n);"),
        ("unknown", "kept.how = (void *)compare; unknown(&kept);"),
    ],
)
def test_it_may_be_called(name: str, body: str) -> None:
    assert calls_back(program_of(f"{_DECLARED} int main(void) {{ {body} return 0; }}"), name)


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("unknown", "order how = compare; void *p = v; unknown(p); return how(p, p);"),
        ("unknown", 'order how = compare; unknown(5, "text", v); return how(v, v);'),
        ("puts", 'void *how = (void *)compare; return puts("text") + (how != 0);'),
        ("qsort", "order how = compare; qsort(v, 2, 4, 0); return how(v, v);"),
    ],
)
def test_it_is_not_called(name: str, body: str) -> None:
    assert not calls_back(program_of(f"{_DECLARED} int main(void) {{ {body} return 0; }}"), name)


@pytest.mark.parametrize("held", ["void *how = (void *)compare;", "size_t how = (size_t)compare;"])
def test_what_is_called_back_refutes_nothing(held: str) -> None:
    program = program_of(
        f"{_DECLARED} int main(void) {{ {held} qsort(v, 2, 4, (order)how); if (called) reach_error(); return 0; }}"
    )
    found = decide_program(ProgramTask(program, frozenset({"assertion"}), Effort(seconds=30, states=2_000)))
    assert not isinstance(found, Confirmed | Refuted), found
