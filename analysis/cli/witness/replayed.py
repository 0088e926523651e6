"""A violation witness, run: its results are what the functions outside of the program return, in their order.

It is accepted if a run from `main` with these results shows the violation to the interpreter, which is what confirms a finding as
well (invariant I9). The waypoints themselves are only hints: a run that violates the specification is a violation, whatever way
it took.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from analysis.cfa.graph import Program
from analysis.cli.witness.witness_format import RULES, Waypoint, Witness
from analysis.interpreter.inputs import InputValue, Question
from analysis.interpreter.interpreter import execute_to_end
from analysis.interpreter.outcome import Bounds, Kind, Observation, Start
from analysis.model.c_types import DataModel

_VALUE = re.compile(r"\s*+\(?\s*+(?:\\result|[A-Za-z_]\w*+)\s*+==\s*+\(?\s*+(-?\d{1,20})[uUlL]*+\s*+\)?\s*+\)?\s*+;?\s*+\Z")
_SOME = re.compile(r"\s*+\\result\s*+!=\s*+0\s*+;?\s*+\Z")
_BOUNDS = Bounds(steps=5_000_000)


class _Results:
    """Gives the results in their order, then 0."""

    def __init__(self, values: Iterator[int]) -> None:
        self._values = values

    def answer(self, question: Question) -> InputValue | None:
        """The next result; 0 of what else is asked, and nothing where that means that all is well."""
        if question.kind in ("allocation", "written"):
            return None
        return next(self._values, 0) if question.kind == "result" else 0


def values(waypoints: Sequence[Waypoint]) -> Iterator[int]:
    """The results that waypoints name: `\\result == 3` where a function returns, `x == 3` where a variable is said to be so. For
    `\\result != 0` it is 1: of a pointer it says that there is an object."""
    for one in waypoints:
        is_value = one.type in ("function_return", "assumption") and one.action == "follow" and one.constraint is not None
        said = str(one.constraint.value) if is_value and one.constraint is not None else ""
        found = _VALUE.match(said)
        if found is not None:
            yield int(found[1])
        elif _SOME.match(said):
            yield 1


def replayed(program: Program, witness: Witness, model: DataModel) -> tuple[bool, str]:
    """Whether the run violates the specification, and what was seen at its end, as a sentence. Raises WitnessError for another
    specification, KeyError without a `main`."""
    wanted = RULES[witness.rule]
    kinds: tuple[Kind, ...] = ("memory-leak",) if witness.rule == "memory-leak" else ()
    start = Start("main", data_model=model)
    run, left = execute_to_end(program, start, _Results(values(witness.waypoints)), _BOUNDS, kinds)
    end = run.end
    if isinstance(end, Observation):
        return RULES.get(end.kind) == wanted, end.text
    if left is not None:
        return True, "memory is leaked at the end"
    return False, f"the run ended without that violation ({type(end).__name__})"
