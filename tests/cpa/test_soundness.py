"""Explorations against runs: whatever a program does, the abstract states stand for it.

The programs are random ones (`support.random_c`), run by the concrete interpreter on all their inputs.
"""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

from analysis.cfa.graph import Program
from analysis.cpa.domains.location import Bounds
from analysis.cpa.framework.algorithm import Budget
from analysis.cpa.framework.composite import Composite, State
from analysis.interpreter.outcome import Observation, Returned, Run
from tests.support.explorations import (
    error_locations,
    errs,
    explored,
    followed,
    program_of,
    runs,
    symbolic_execution,
    value_analysis,
)
from tests.support.random_c import program

program_of(program(Random(0)))  # before any test: it raises Python's recursion limit
BOUNDS = Bounds(recursion=8)
RESULT = "main#0:<result>"


def _analyses(of: Program) -> list[tuple[Composite, State, int]]:
    """Compositions with their initial states, and the index of the component with the values."""
    value, initial = value_analysis(of, bounds=BOUNDS)
    joined, at_first = value_analysis(of, bounds=BOUNDS, merge="join")
    found = [(value, initial, 2), (joined, at_first, 2)]
    for options in ({"mode": "int"}, {"mode": "bv", "less_or_equal": "aliased"}, {"definite": False, "remove_obsolete": False}):
        execution, entry = symbolic_execution(of, bounds=BOUNDS, **options)
        found.append((execution.composite, entry, 3))
    return found


def _path_is_possible(composite: Composite, state: State, values: int, run: Run) -> None:
    if isinstance(run.end, Observation):
        run = Run(run.end, run.steps - 1, run.path[:-1], run.asked, run.assumptions, run.output)
    states = followed(composite, state, run)
    assert states, "no abstract path follows the run"
    if isinstance(run.end, Returned):
        results = [last[values].store.map.get(RESULT) for last in states]
        assert any(not isinstance(r, int) or r == run.end.value for r in results)


@settings(max_examples=12, deadline=None)
@given(st.randoms(use_true_random=False))
def test_every_run_has_an_abstract_path_with_its_result(random: Random) -> None:
    of = program_of(program(random))
    for run in runs(of, 3):
        for composite, state, values in _analyses(of):
            _path_is_possible(composite, state, values, run)


def _errors_of(of: Program, most: int) -> tuple[set[tuple[str, int]], bool]:
    """Where runs err, and whether these were all the runs."""
    errors = error_locations(of)
    everything = list(runs(of, most))
    found = set()
    for run in everything:
        if errs(of, run):
            steps = ((f, of.functions[f].by_id[e].source) for f, e in run.path)
            found.add(next((f, location) for f, location in steps if location in errors.get(f, ())))
    return found, len(everything) < most


def _errors_found(composite: Composite, state: State, of: Program) -> set[tuple[str, int]] | None:
    outcome = explored(composite, state, of, Budget(states=20_000), stop_at_target=False)
    if outcome.ending != "finished":
        return None
    return {(node.state[0].function, node.state[0].location) for node in outcome.reached.targets()}


@settings(max_examples=25, deadline=None)
@given(st.randoms(use_true_random=False))
def test_every_error_of_a_run_is_reached(random: Random) -> None:
    of = program_of(program(random))
    real, _ = _errors_of(of, 100)
    for composite, state, _ in _analyses(of):
        found = _errors_found(composite, state, of)
        assert found is None or real <= found


@settings(max_examples=25, deadline=None)
@given(st.randoms(use_true_random=False))
def test_symbolic_execution_reaches_the_errors_of_runs_and_no_others(random: Random) -> None:
    text = program(random, indices=False)
    note(text)
    of = program_of(text)
    real, all_of_them = _errors_of(of, 400)
    execution, state = symbolic_execution(of, mode="bv", bounds=BOUNDS)
    found = _errors_found(execution.composite, state, of)
    is_exact = all_of_them and execution.decide.unsettled == 0
    assert found is None or (found == real if is_exact else real <= found)


OPTIONS: list[dict[str, Any]] = [
    {"less_or_equal": order, "merge": merge, "check_at": check}
    for order in ("subset", "aliased", "implication")
    for merge in ("sep", "join")
    for check in ("assume", "target")
]


@pytest.mark.parametrize("options", OPTIONS, ids=lambda o: "-".join(o.values()))
def test_the_operators_change_the_work_and_not_the_answer(options: dict[str, Any]) -> None:
    for seed in range(3):
        of = program_of(program(Random(seed), indices=False))
        execution, state = symbolic_execution(of, bounds=BOUNDS, mode="bv", **options)
        usual, entry = symbolic_execution(of, bounds=BOUNDS, mode="bv")
        found, wanted = _errors_found(execution.composite, state, of), _errors_found(usual.composite, entry, of)
        assert execution.decide.unsettled + usual.decide.unsettled > 0 or found == wanted
