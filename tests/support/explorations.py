"""Explorations of small programs, for the tests of the CPA framework."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from analysis.cfa.graph import Program
from analysis.cfa.linking.link import link
from analysis.cpa.domains.assumptions import NONE, assumptions_cpa
from analysis.cpa.domains.location import Bounds, LocationTransfer, location_cpa, reverse_postorder
from analysis.cpa.domains.value import ExplicitTransfer, value_cpa
from analysis.cpa.framework.algorithm import UNBOUNDED, Budget, Outcome, explore, start
from analysis.cpa.framework.composite import Composite, State
from analysis.cpa.framework.waitlist import PriorityWaitlist, Waitlist
from analysis.cpa.symbolic_values.symbolic_execution import SymbolicExecution, SymbolicOptions
from analysis.interpreter.inputs import Script
from analysis.interpreter.interpreter import execute
from analysis.interpreter.outcome import NoInput, Run, Start
from analysis.model import ir
from analysis.smt.solving.memo import Memo, MemoSolver
from analysis.smt.solving.z3_backend import Z3Solver
from tests.support.lowered import unit_of

DEFAULT = Bounds()
SOLVER = MemoSolver(Z3Solver(), Memo())  # one for all tests: a context of z3 takes longer to make than most checks


def program_of(text: str) -> Program:
    """The linked program of one C text."""
    return link([unit_of(text)]).program


def error_locations(program: Program, name: str = "reach_error") -> dict[str, frozenset[int]]:
    """Where the function is called, by function."""
    return {
        function: locations
        for function, cfa in program.functions.items()
        if (
            locations := frozenset(
                e.source for e in cfa.calls if isinstance(e.effect, ir.Call) and ir.direct_callee(e.effect) == name
            )
        )
    }


def value_analysis(
    program: Program,
    target: str = "reach_error",
    bounds: Bounds = DEFAULT,
    **options: Any,
) -> tuple[Composite, State]:
    """Location, assumptions and explicit values, with the state at the entry of main."""
    locations, values = LocationTransfer(program, bounds), ExplicitTransfer(program)
    components = [location_cpa(locations, error_locations(program, target)), assumptions_cpa(), value_cpa(values, **options)]
    merge = "agree" if options.get("merge") == "join" else "sep"
    composite = Composite(components, locations, merge=merge)  # type: ignore[arg-type]  # one of the two
    return composite, (locations.initial("main"), NONE, values.initial())


def symbolic_execution(
    program: Program, target: str = "reach_error", entry: str = "main", **options: Any
) -> tuple[SymbolicExecution, State]:
    """The symbolic execution CPA with its initial state; the rest are `SymbolicOptions`."""
    execution = SymbolicExecution(program, SOLVER, error_locations(program, target), SymbolicOptions(**options))
    return execution, execution.initial(entry)


def explored(
    composite: Composite,
    state: State,
    program: Program,
    budget: Budget = UNBOUNDED,
    waitlist: Waitlist | None = None,
    stop_at_target: bool = True,
) -> Outcome[Any, Any]:
    """The exploration from one state, in reverse postorder if no waitlist is given."""
    order = PriorityWaitlist(reverse_postorder(program)) if waitlist is None else waitlist
    reached, frontier = start(composite, state, composite.precision, order)
    return explore(composite, reached, frontier, budget=budget, stop_at_target=stop_at_target)


def runs(program: Program, most: int, choices: int = 4) -> Iterator[Run]:
    """The runs of main for all inputs from 0 to `choices`, at most so many of them."""
    return islice(_runs(program, choices), most)


def _runs(program: Program, choices: int) -> Iterator[Run]:
    waiting: list[tuple[int, ...]] = [()]
    while waiting:
        inputs = waiting.pop()
        run = execute(program, Start("main"), Script(inputs), record=True)
        if isinstance(run.end, NoInput):
            waiting.extend((*inputs, value) for value in reversed(range(choices)))
        else:
            yield run


def errs(program: Program, run: Run) -> bool:
    """Whether the run calls `reach_error`."""
    errors = error_locations(program)
    return any(program.functions[f].by_id[e].source in errors.get(f, ()) for f, e in run.path)


def followed(composite: Composite, state: State, run: Run) -> list[State]:
    """The abstract states at the end of the edges that a run took; none if no abstract path takes them."""
    states = [state]
    for function, edge in run.path:
        following: list[State] = []
        for current in states:
            for step, after in composite.moves(current, composite.precision):
                if step.kind != "leave" and (step.function, step.edge.id) == (function, edge):
                    following.extend(_left(composite, composite.adjust(after, composite.precision)[0]))
        states = following
    return states


def _left(composite: Composite, state: State) -> list[State]:
    """The state after it left the functions that have come to their end (a run has no step for that)."""
    moves = composite.moves(state, composite.precision)
    if not moves or moves[0][0].kind != "leave":
        return [state]
    return [last for _, after in moves for last in _left(composite, after)]
