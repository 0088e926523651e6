"""From an infeasible path to a finer precision for symbolic values and constraints ([SYMCEGAR] section 4.4):
by interpolation over the strongest postconditions of symbolic execution (Algorithms 6 and 7), or from the
predicates that a refinement of the predicate analysis gives (Algorithm 8).

Of an allocation that can fail, a path is followed as if it found memory.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from analysis.cfa.graph import Program
from analysis.cpa.domains.constraints import ConstraintsTransfer
from analysis.cpa.domains.location import Location
from analysis.cpa.domains.symbolic_value import SymbolicTransfer, SymbolicValues
from analysis.cpa.framework.path_interpolation import Part, PathInterpolation
from analysis.cpa.framework.steps import Step
from analysis.cpa.obstacles.exposed_variables import exposed
from analysis.cpa.predicates.path_formulas import path_formulas, plain
from analysis.cpa.predicates.step_formulas import Contexts, moved
from analysis.cpa.stores.precision import tracked_name
from analysis.cpa.symbolic_values.condition_formulas import ConditionFormulas
from analysis.cpa.symbolic_values.constraint_sets import TRUE, Constraints, Decide
from analysis.cpa.symbolic_values.symbolic_execution import SymbolicOptions
from analysis.model import ir
from analysis.model.symbolic_operators import Tracked
from analysis.smt.logic.term_building import FALSE
from analysis.smt.logic.terms import symbols
from analysis.smt.solving.interpolation import interpolants
from analysis.smt.solving.solver import Budget, Solver
from analysis.smt.solving.z3_backend import Z3Solver
from analysis.smt.transitions.system import System
from analysis.smt.transitions.transition_state import START, State

Place = tuple[str, int]
_CONSTRAINTS, _VALUES = 0, 1  # in the pairs of states that strengthening gets


class Known(NamedTuple):
    """A state of symbolic execution: values, and constraints on their identifiers."""

    values: SymbolicValues
    constraints: Constraints


class SymbolicPost:
    """Strongest postconditions of symbolic execution: SP-op of section 4.4.1. A part is the root of an object, or a constraint.

    Constraints are asked about where a branch added one; or, as symbolic execution does it with checks at targets, at the end."""

    def __init__(self, program: Program, solver: Solver, options: SymbolicOptions, order: Tracked) -> None:
        self._values = SymbolicTransfer(program, options.model, whole=options.whole, allocation_fails=False)
        formulas = ConditionFormulas(program, options.mode, options.model, options.overflow)
        self._decide = Decide(solver, formulas)
        self._constraints = ConstraintsTransfer(self._decide, _VALUES, check_at="target", definite=False, remove_obsolete=False)
        self._order, self._check_at = order, options.check_at
        self._possible: dict[frozenset[ir.Expr], bool] = {}

    @property
    def checks(self) -> int:
        """How many questions were asked."""
        return self._decide.checks

    def initial(self) -> Known:
        """The state at the entry."""
        return Known(self._values.initial(), TRUE)

    def after(self, state: Known, step: Step) -> Known | None:
        """See StrongestPost."""
        following = self._values.successors(state.values, step, None)
        if not following:
            return None
        values = following[0]
        strengthened = self._constraints.strengthen(state.constraints, (state.constraints, values), step, None, state)
        return Known(values, strengthened[0]) if strengthened else None

    def is_contradicting(self, state: Known) -> bool:
        """Whether the constraints cannot hold together."""
        conditions = state.constraints
        possible = self._possible.get(conditions.members)
        if possible is None:
            possible = self._possible[conditions.members] = self._decide.is_possible(conditions.conditions)
        return not possible

    def learned(self, before: Known, state: Known) -> bool:
        """Whether there is a new constraint to be asked about."""
        return self._check_at == "assume" and state.constraints != before.constraints

    def parts(self, state: Known) -> Sequence[Part]:
        """Constraints and objects, those first that are to be done without."""
        constraints: list[Part] = [*state.constraints.conditions]
        values: list[Part] = [*sorted(state.values.store.map)]
        match self._order:
            case "values-first":
                return values + constraints
            case "values-only":
                return values
        return constraints + values

    def without(self, state: Known, parts: Sequence[Part]) -> Known:
        """The state without what these parts say."""
        values, roots = state.values, [part for part in parts if isinstance(part, str)]
        if roots:
            values = SymbolicValues(values.store.without(roots), values.depth, values.counters, values.assumed)
        return Known(values, state.constraints.without([part for part in parts if isinstance(part, ir.Expr)]))


class Needed(NamedTuple):
    """What must be tracked, by place: variables, and constraints with the variables of their branches."""

    values: Mapping[Place, frozenset[str]]
    constraints: Mapping[Place, tuple[Any, ...]]

    @property
    def names(self) -> frozenset[str]:
        """All variables."""
        return frozenset[str]().union(*self.values.values())


def needed(
    interpolation: PathInterpolation[Known], steps: Sequence[Step], at: Sequence[Location], prefix: Sequence[int]
) -> Needed:
    """Algorithm 7 for a sliced prefix of a path: what has to be tracked for it to be seen as impossible. `at` has the location
    after each step."""
    found = dict(zip(prefix, interpolation.interpolants([steps[number] for number in prefix]), strict=False))
    values: dict[Place, frozenset[str]] = {}
    constraints: dict[Place, tuple[Any, ...]] = {}
    names: frozenset[str] = frozenset()
    origins: tuple[Any, ...] = ()
    for position in range(prefix[-1]):
        if position in found:  # else a branch that was left out: what is known stays
            known = found[position]
            names = frozenset(name for root in known.values.store.map if (name := tracked_name(root)) is not None)
            origins = tuple(known.constraints.origin(condition) for condition in known.constraints.conditions)
        place = at[position].function, at[position].location
        values[place] = values.get(place, frozenset()) | names
        constraints[place] = (*constraints.get(place, ()), *origins)
    return Needed(values, constraints)


class ByPredicates:
    """Algorithm 8: the variables in interpolants of the path's formulas, at every location, for values and constraints alike."""

    def __init__(self, program: Program, options: SymbolicOptions, entry: str, milliseconds: int) -> None:
        self._program, self._entry = program, entry
        self._system = System(program, options.mode, options.model, whole=options.whole, exposed=exposed(program))
        self._contexts = Contexts()
        self._solver, self._budget = Z3Solver(), Budget(milliseconds)

    def names(self, steps: Sequence[Step], at: Sequence[Location]) -> frozenset[str] | None:
        """The variables; None if there are no interpolants, or they speak of what is not tracked by name."""
        states: list[State] = []
        before = Location(self._entry, self._program.functions[self._entry].entry)
        for position, (step, after) in enumerate(zip(steps, at, strict=True)):
            first = self._system.start(self._entry) if position == 0 else START
            state = moved(self._system, self._contexts, first, step, before, after)
            states.append(State((FALSE,), {}) if state is None else state)
            before = after
        made = interpolants(self._solver, path_formulas(self._system, states), self._budget) if len(states) > 1 else None
        if made is None:
            return None
        found = [self._name(str(term.data)) for term in symbols(plain(one) for one in made[0])]
        return frozenset(name for name in found if name is not None) or None

    def _name(self, symbol: str) -> str | None:
        """The name in a precision of what a state variable is part of."""
        context, separator, rest = symbol.partition(":")
        if symbol[0] == "@":
            return symbol.partition(".")[0]
        if not separator or not context.isdigit():
            return None
        stack = dict(self._contexts.rows())[int(context)]
        function = self._entry if stack is None else stack.call.callee
        return f"{function}:{rest.partition('.')[0]}"

    def everywhere(self, names: frozenset[str]) -> dict[Place, frozenset[str]]:
        """The names, at every location of the program."""
        return {(name, location): names for name, cfa in self._program.functions.items() for location in cfa.locations}
