"""What is left open says what it would take at the entry of its function."""

from __future__ import annotations

import pytest

from analysis.engines.symbolic import Effort, Target, Task, Undecided, decide
from analysis.engines.symbolic.inside import activation
from analysis.interpreter.outcome import Step
from analysis.model import ir
from tests.support.runs import program_of

_JUMPING = (
    "long buffer[32]; int main(void) {{ {before} int n = __VERIFIER_nondet_int(); if (setjmp(buffer)) return 0;"
    " if (n == 12345) longjmp(buffer, 1); {call} return 0; }}"
)
CASES = {
    "a null member": (
        "struct s { int a, *q; }; int at(struct s *s) { return *s->q; }"
        + _JUMPING.format(before="int x; struct s v; v.q = &x;", call="at(&v);"),
        "null-dereference",
        "from the entry of at it happens with s->q == NULL",
    ),
    "a null argument": (
        "int at(int n, int *p) { if (n > 3) return *p; return 0; }"
        + _JUMPING.format(before="int x = 0, *p = &x;", call="at(5, p);"),
        "null-dereference",
        "from the entry of at it happens with p == NULL",
    ),
    "a global": (
        "int ready; int at(void) { if (ready == 41) reach_error(); return 0; }" + _JUMPING.format(before="", call="at();"),
        "assertion",
        "from the entry of at it happens with ready == 41",
    ),
    "an element of a member": (
        "struct i { int kind, deep[3]; }; struct o { int n; struct i in; };"
        "int at(struct o *o) { if (o->in.deep[2] == 77) reach_error(); return 0; }"
        + _JUMPING.format(before="struct o o = {0};", call="at(&o);"),
        "assertion",
        "from the entry of at it happens with o->in.deep[2] == 77",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_the_reason_says_what_it_takes(name: str) -> None:
    text, rule, said = CASES[name]
    of = program_of(text)
    cfa = of.functions["at"]
    is_error = [isinstance(e.effect, ir.Call) and ir.direct_callee(e.effect) == "reach_error" for e in cfa.edges]
    returns = [e for e in cfa.edges if isinstance(e.effect, ir.Return)]
    edge = cfa.edges[is_error.index(True)] if any(is_error) else returns[0]
    path = (Step("main", of.functions["main"].edges[0].id),)
    found = decide(Task(of, Target("at", edge.id, rule), ("main",), path, Effort(seconds=6, states=3_000)))
    assert isinstance(found, Undecided), found
    assert found.reason.startswith(said), found.reason


def test_the_last_activation_of_a_path() -> None:
    of = program_of("int at(int n) { if (n) at(n - 1); return n; } int main(void) { return at(1); }")
    at = of.functions["at"]
    first, call = (next(e for e in at.edges if isinstance(e.effect, kind)) for kind in (ir.Assume, ir.Call))
    end = next(e for e in at.edges if isinstance(e.effect, ir.Return))
    path = [Step("main", 0), Step("at", first.id), Step("at", call.id), Step("at", first.id), Step("at", end.id)]
    assert activation(of, Target("at", end.id, "assertion"), path) == [Step("at", first.id)]
    assert activation(of, Target("at", end.id, "assertion"), path[:1]) is None
