"""The symbolic execution CPA ([SYMCEGAR] section 3.2.7): location, assumptions, constraints and symbolic values, composed.

The constraints come before the values, so that a branch is first checked and what it decides is then put into the values. Under
`aliased`, one bijection of identifiers must do for values and constraints together: `Composite` asks `_covers` instead of the
components' stop operators.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec

from analysis.cfa.graph import Program
from analysis.cpa.domains.assumptions import NONE, assumptions_cpa
from analysis.cpa.domains.constraints import constraints_cpa, is_covered
from analysis.cpa.domains.location import Bounds, LocationTransfer, location_cpa
from analysis.cpa.domains.symbolic_value import SymbolicTransfer, renaming, symbolic_value_cpa
from analysis.cpa.framework.composite import AnyCpa, Composite, State
from analysis.cpa.stores.precision import TrackedConstraints
from analysis.cpa.symbolic_values.condition_formulas import ConditionFormulas, Mode
from analysis.cpa.symbolic_values.constraint_sets import TRUE, Constraints, Decide
from analysis.model.c_types import LP64, DataModel
from analysis.model.symbolic_operators import CheckAt, Merge, Order
from analysis.smt.encoding.numbers.integers import SignedOverflow
from analysis.smt.solving.solver import Solver

LOCATION, ASSUMPTIONS, CONSTRAINTS, VALUES = range(4)


class SymbolicOptions(msgspec.Struct, frozen=True):
    """The operators that SYMCEGAR compares, and the bounds. `mode` is the encoding of integers, `overflow` what signed sums do in
    it; `whole`: the entry is where the program starts."""

    less_or_equal: Order = "subset"
    merge: Merge = "sep"
    check_at: CheckAt = "assume"
    definite: bool = True
    remove_obsolete: bool = True
    allocation_fails: bool = True
    mode: Mode = "int"
    overflow: SignedOverflow = "assume"
    whole: bool = True
    model: DataModel = LP64
    bounds: Bounds = Bounds()


class SymbolicExecution:
    """A composition for one program. `targets` are the locations, by function, that violate the property. `tracked_values` and
    `tracked_constraints` are the initial precision."""

    def __init__(
        self,
        program: Program,
        solver: Solver,
        targets: Mapping[str, frozenset[int]],
        options: SymbolicOptions = SymbolicOptions(),  # noqa: B008 - an immutable value
        *,
        tracked_values: Mapping[tuple[str, int], frozenset[str]] | None = None,
        tracked_constraints: TrackedConstraints = None,
    ) -> None:
        self.options = options
        self.locations = LocationTransfer(program, options.bounds)
        self.values = SymbolicTransfer(
            program,
            options.model,
            whole=options.whole,
            allocation_fails=options.allocation_fails,
            constraints=CONSTRAINTS,
        )
        self.formulas = ConditionFormulas(program, options.mode, options.model, options.overflow)
        self.decide = Decide(solver, self.formulas)
        location = location_cpa(self.locations, targets)
        components: list[AnyCpa] = [
            location,
            assumptions_cpa(),
            constraints_cpa(
                self.decide,
                VALUES,
                less_or_equal=options.less_or_equal,
                merge=options.merge,
                check_at=options.check_at,
                definite=options.definite,
                remove_obsolete=options.remove_obsolete,
                is_target=_is_target(location),
                precision=tracked_constraints,
            ),
            symbolic_value_cpa(
                self.values,
                less_or_equal="aliased" if options.less_or_equal == "aliased" else "subset",
                precision=tracked_values,
            ),
        ]
        self._others = [(i, c) for i, c in enumerate(components) if i not in (CONSTRAINTS, VALUES) and not c.flat]
        self.composite = Composite(
            components,
            self.locations,
            merge="sep" if options.merge == "sep" else "agree",
            covers=self._covers if options.less_or_equal == "aliased" else None,
        )

    def initial(self, function: str) -> State:
        """The state at the entry of a function. KeyError if the program does not define it."""
        return (self.locations.initial(function), NONE, TRUE, self.values.initial())

    def _covers(self, state: State, other: State) -> bool:
        """Section 4.2's aliased order, with one bijection for values and constraints."""
        if not all(c.domain.less_or_equal(state[i], other[i]) for i, c in self._others):
            return False
        found = renaming(state[VALUES], other[VALUES])
        if found is None:
            return False
        mine: Constraints = state[CONSTRAINTS]
        return is_covered(mine, other[CONSTRAINTS], found)


def _is_target(location: AnyCpa) -> Callable[[State], bool]:
    asked = location.is_target
    return lambda state: asked is not None and asked(state[LOCATION])
