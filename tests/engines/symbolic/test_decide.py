"""The task as a value, what a claimed path is worth, what is assumed of callers, and what ends a decision."""

from __future__ import annotations

import pickle
from random import Random

import msgspec
import pytest

from analysis.cfa.graph import Program
from analysis.cpa.framework.algorithm import Cancellation
from analysis.engines.symbolic import Confirmed, Decision, Effort, Refuted, Target, Task, Undecided, decide
from analysis.engines.symbolic.task import only_if
from analysis.interpreter.outcome import Step
from analysis.model import ir
from tests.support.runs import program_of

GUARDED = (
    "int check(int x) { if (x == 4321) reach_error(); return x; }"
    "int main(void) { int x = __VERIFIER_nondet_int(); if (x > 10) check(x); return 0; }"
)
SAFE = GUARDED.replace("x > 10", "x > 10 && x < 4000")


def task_of(text: str, rule: str = "assertion", entries: tuple[str, ...] = ("main",), seconds: float = 6) -> Task:
    """A task about the edge that calls `reach_error`, or else about the one before the return of `at`."""
    program = program_of(text)
    return Task(program, _target(program, rule), entries, (), Effort(seconds=seconds, runs=1))


def _target(program: Program, rule: str) -> Target:
    for name, cfa in program.functions.items():
        for edge in cfa.edges:
            called = ir.direct_callee(edge.effect) if isinstance(edge.effect, ir.Call) else None
            if called == "reach_error" or (rule != "assertion" and name == "at" and isinstance(edge.effect, ir.Assign)):
                return Target(name, edge.id, rule)
    raise AssertionError("the program has no target")


def outcome(decision: Decision) -> object:
    """What a decision says, without the work that it took."""
    return type(decision), *(getattr(decision, name) for name in decision.__struct_fields__ if name != "spent")


@pytest.mark.parametrize("text", [GUARDED, SAFE])
def test_a_task_is_a_value(text: str) -> None:
    task = task_of(text)
    sent: Task = pickle.loads(pickle.dumps(task))
    first, second = decide(task), decide(sent)
    assert outcome(first) == outcome(second)
    assert pickle.loads(pickle.dumps(first)) == first
    assert isinstance(first, Confirmed if text is GUARDED else Refuted)


def test_the_claimed_path_is_enough() -> None:
    task = task_of(GUARDED)
    found = decide(task)
    assert isinstance(found, Confirmed)
    path = tuple(Step(step.function, step.edge) for step in found.steps)
    again = decide(task._replace(path=path, effort=Effort(runs=0, states=0)))
    assert isinstance(again, Confirmed)
    assert again.spent.states == 0
    assert [step.edge for step in again.steps] == [step.edge for step in found.steps]


def test_values_are_in_the_trace() -> None:
    found = decide(task_of(GUARDED))
    assert isinstance(found, Confirmed)
    assert [value for question, value in found.inputs if question.kind == "result"] == [4321]
    assert "4321" in {value for step in found.steps for value in step.values.values()}


def test_a_corrupted_path_confirms_nothing() -> None:
    task, random = task_of(SAFE), Random(1)
    steps = [Step(name, edge.id) for name, cfa in task.program.functions.items() for edge in cfa.edges]
    for _ in range(30):
        path = tuple(random.choices(steps, k=random.randrange(1, 8)))
        found = decide(task._replace(path=path, effort=Effort(runs=0, states=0)))
        assert not isinstance(found, Confirmed)


def test_a_path_that_starts_elsewhere_confirms_nothing() -> None:
    task = task_of(SAFE)
    path = tuple(Step("check", edge.id) for edge in task.program.functions["check"].edges[:1])
    assert isinstance(decide(task._replace(path=path)), Refuted)


def test_a_null_argument_that_nobody_passes_stays_possible() -> None:
    text = "int at(int *p) { int x = *p; return x; }"
    found = decide(task_of(text, "null-dereference", ("at",)))
    assert isinstance(found, Undecided)
    assert found.reason == only_if("at is entered with p == NULL")


def test_any_argument_will_do() -> None:
    text = "int at(int n) { int *p = 0, v = 1; if (n != 12) p = &v; int x = *p; return x; }"
    program = program_of(text)
    edge = next(e for e in program.functions["at"].edges if isinstance(e.effect, ir.Assign) and "Deref" in repr(e.effect))
    found = decide(Task(program, Target("at", edge.id, "null-dereference"), ("at",)))
    assert isinstance(found, Confirmed)
    assert found.assumptions == ("at is called with n == 12",)


@pytest.mark.parametrize(
    ("type_", "value"),
    [
        ("int", -5),
        ("unsigned", 4294967291),
        ("signed char", -3),
        ("unsigned char", 253),
        ("short", -2),
        ("long long", -1),
        ("unsigned long", (1 << 64) - 1),
        ("_Bool", 1),
        ("enum { A = -1, B }", -1),
        ("__int128", -7),
    ],
)
def test_an_argument_is_a_value_of_its_type(type_: str, value: int) -> None:
    written = f"({type_}){value}" + "u" * (value > 0)
    text = f"int at({type_} n) {{ int *p = 0, v = 1; if (n != {written}) p = &v; int x = *p; return x; }}"
    program = program_of(text)
    edge = next(e for e in program.functions["at"].edges if isinstance(e.effect, ir.Assign) and "Deref" in repr(e.effect))
    found = decide(Task(program, Target("at", edge.id, "null-dereference"), ("at",)))
    assert isinstance(found, Confirmed)
    assert found.assumptions == (f"at is called with n == {value}",)


def test_an_unknown_function_computes_nothing_in_particular() -> None:
    text = "int parity(int); int main(void) { if (parity(4) == 77) reach_error(); return 0; }"
    found = decide(task_of(text))
    assert isinstance(found, Undecided)
    assert "parity()" in found.reason
    assert isinstance(decide(task_of(text.replace("(int)", "(void)").replace("(4)", "()"))), Confirmed)


def test_no_budget_is_a_reason() -> None:
    found = decide(task_of(SAFE)._replace(effort=Effort(runs=0, states=1)))
    assert isinstance(found, Undecided)
    assert "budget" in found.reason


def test_cancelled_is_a_reason() -> None:
    wish = Cancellation()
    wish.cancel()
    found = decide(task_of(SAFE), wish)
    assert isinstance(found, Undecided)
    assert found.reason == "it was cancelled"


def test_an_edge_that_is_not_there_is_an_error() -> None:
    task = task_of(SAFE)
    with pytest.raises(KeyError):
        decide(task._replace(target=msgspec.structs.replace(task.target, edge=999)))


def test_an_address_as_a_number_is_an_initial_value() -> None:
    text = "int other; unsigned long at = (unsigned long)&other + 1; int main(void) { if (at == 0) reach_error(); return 0; }"
    assert isinstance(decide(task_of(text)), Refuted)
