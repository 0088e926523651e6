"""Locations, call stacks, bounds, and what makes a result incomplete."""

from __future__ import annotations

from typing import Any

import pytest

from analysis.cpa.domains.location import CUT, Bounds, LocationTransfer
from analysis.cpa.framework.algorithm import Outcome
from tests.support.explorations import explored, program_of, symbolic_execution, value_analysis


def outcome_of(text: str, bounds: Bounds = Bounds()) -> Outcome[Any, Any]:  # noqa: B008 - immutable
    of = program_of(text)
    composite, state = value_analysis(of, bounds=bounds)
    return explored(composite, state, of, stop_at_target=False)


def reasons(outcome: Outcome[Any, Any]) -> set[str]:
    return set().union(*(node.state[1] for node in outcome.reached))


def returned(outcome: Outcome[Any, Any]) -> set[Any]:
    found = (node.state[2].store.map.get("main#0:<result>") for node in outcome.reached)
    return {value for value in found if value is not None}


def test_calls_return_to_where_they_came_from() -> None:
    outcome = outcome_of("int f(int x) { return x + 1; } int main(void) { int a = f(1); int b = f(a); return 10 * a + b; }")
    assert returned(outcome) == {23}
    assert reasons(outcome) == set()


def test_recursion_is_followed_up_to_the_bound_and_the_cut_is_said() -> None:
    text = "int down(int n) { if (n <= 0) return 0; return 1 + down(n - 1); } int main(void) { return down(3); }"
    assert returned(outcome_of(text, Bounds(recursion=4))) == {3}
    cut = outcome_of(text, Bounds(recursion=3))
    assert returned(cut) == set()
    assert reasons(cut) == {"the recursion of down() is only followed 3 deep"}
    assert [n.state[0].location for n in cut.reached if n.state[1]] == [CUT]


def test_depth_is_bounded_too() -> None:
    text = "int h(void) { return 1; } int g(void) { return h(); } int main(void) { return g(); }"
    assert reasons(outcome_of(text, Bounds(depth=1))) == {"calls are only followed 1 deep"}
    assert returned(outcome_of(text, Bounds(depth=2))) == {1}


def test_recursive_activations_have_variables_of_their_own() -> None:
    text = """int f(int n) { int mine = n; int *p = &mine; if (n > 0) f(n - 1); return *p; }
              int main(void) { return f(2); }"""
    assert returned(outcome_of(text)) == {2}


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        ("static void *to = &&here; goto *to; here: ;", "main() contains "),
        ("hidden(1);", "main() calls through a pointer that leads to no known function"),
        ("pthread_create();", "main() calls pthread_create(), whose effects are not known"),
    ],
)
def test_what_is_left_out_is_said(statement: str, reason: str) -> None:
    found = reasons(outcome_of(f"int (*hidden)(int); int pthread_create(); int main(void) {{ {statement} return 0; }}"))
    assert [r for r in found if r.startswith(reason)]


def test_an_unsupported_path_stays_incomplete_after_it_meets_another() -> None:
    text = "int nondet(void); int (*hidden)(int); int main(void) { int x = nondet(); if (x) hidden(1); x = 0; return x; }"
    outcome = outcome_of(text)
    ends = [n.state[1] for n in outcome.reached if n.state[0].location == 1]
    assert sorted(map(len, ends)) == [0, 1]


def test_functions_that_never_return_end_the_path() -> None:
    text = """_Noreturn void stop(void); void reach_error(void);
              int main(void) { void (*f)(void) = stop; f(); reach_error(); return 0; }"""
    assert outcome_of(text).reached.targets() == []


def test_assumptions_in_calls_are_branches() -> None:
    text = """int nondet(void); void __VERIFIER_assume(int); void reach_error(void);
              int main(void) { int x = nondet(); __VERIFIER_assume(x > 3);
                               if (x < 2) reach_error(); if (x == 4) return 1; return 0; }"""
    of = program_of(text)
    execution, state = symbolic_execution(of)
    assert explored(execution.composite, state, of).ending == "finished"


def test_a_call_through_a_pointer_goes_to_the_function_that_it_points_to() -> None:
    text = """int one(int x) { return 1; } int two(int x) { return 2; } int (*at)(int) = two;
              int main(void) { int (*f)(int) = one; int tens = f(0) * 10; return tens + at(0); }"""
    assert returned(outcome_of(text)) == {12}


def test_a_call_through_an_unknown_pointer_goes_everywhere() -> None:
    text = """int nondet(void); int one(int x) { return 1; } int two(int x) { return 2; }
              int main(void) { int (*f)(int); if (nondet()) f = one; else f = two; int (*g)(int) = f; if (nondet()) g = 0;
              if (nondet()) return f(0); return 3; }"""
    assert returned(outcome_of(text)) == {1, 2, 3}


def test_the_entry_must_be_defined() -> None:
    of = program_of("int main(void) { return 0; }")
    with pytest.raises(KeyError):
        LocationTransfer(of).initial("nobody")
