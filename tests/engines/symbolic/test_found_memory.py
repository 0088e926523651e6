"""Findings about allocations, where these are assumed to succeed."""

from __future__ import annotations

import pytest

from analysis.engines.symbolic import Confirmed, Effort, Refuted, Target, Task, decide
from analysis.interpreter.outcome import Step
from analysis.model import ir
from tests.support.runs import program_of

HEAD = """
void *malloc(unsigned long); void *calloc(unsigned long, unsigned long); void *realloc(void *, unsigned long);
char *strdup(const char *); char *getenv(const char *); void *other(void); int __VERIFIER_nondet_int(void);
"""
BODIES = {  # with the violation at `*p`, and whether no run violates
    "malloc": ("int *p = malloc(n); *p = 1;", True),
    "calloc": ("int *p = calloc(n, 4); *p = 1;", True),
    "strdup": ('char *p = strdup("a"); *p = 1;', True),
    "in a loop": ("for (int i = 0; i < n; i++) { int *p = malloc(4); *p = i; }", True),
    "a copy": ("int *q = malloc(4), *p = q; if (n) p = q; *p = 1;", True),
    "realloc": ("int *p = realloc(malloc(4), 8); *p = 1;", True),
    "realloc of any size": ("int *p = realloc(malloc(4), n); *p = 1;", False),
    "a failure that is asked for": ("int *p = malloc(4); if (n > 7) p = 0; *p = 1;", False),
    "not an allocation": ('char *p = getenv("A"); *p = 1;', False),
    "not known": ("int *p = other(); *p = 1;", False),
}


def task_of(text: str, entries: tuple[str, ...], *, fails: bool) -> Task:
    program = program_of(text)
    [(name, edge)] = [
        (name, edge.id)
        for name, cfa in program.functions.items()
        for edge in cfa.edges
        if isinstance(edge.effect, ir.Assign) and isinstance(edge.effect.target, ir.Deref)
    ]
    return Task(program, Target(name, edge, "null-dereference"), entries, (), Effort(seconds=6, runs=8), allocation_fails=fails)


@pytest.mark.parametrize("name", BODIES)
def test_only_what_rests_on_a_failed_allocation_is_refuted(name: str) -> None:
    body, is_refuted = BODIES[name]
    text = f"{HEAD}int at(int n) {{ {body} return 0; }}"
    found = decide(task_of(text, ("at",), fails=False))
    assert isinstance(found, Refuted) == is_refuted
    assert not isinstance(decide(task_of(text, ("at",), fails=True)), Refuted)


def test_a_run_is_reported_in_the_edges_of_the_original_program() -> None:
    text = (
        f"{HEAD}int main(void) {{ int *p = malloc(4); int *q = malloc(4);"
        " if (__VERIFIER_nondet_int() == 7) p = 0; *p = 1; return 0; }"
    )
    task = task_of(text, ("main",), fails=False)
    found = decide(task)
    assert isinstance(found, Confirmed)
    steps = tuple(Step(step.function, step.edge) for step in found.steps)
    assert all(step.edge in task.program.functions[step.function].by_id for step in steps)
    assert steps[-1].edge == task.target.edge
    again = decide(task._replace(path=steps, effort=Effort(runs=0, states=0)))  # the path is one of the branched program, too
    assert isinstance(again, Confirmed)
    assert tuple(Step(step.function, step.edge) for step in again.steps) == steps
