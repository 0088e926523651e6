"""The symbolic execution CPA ([SYMCEGAR] section 3.2.7): location, assumptions, constraints and symbolic values, composed.

The constraints come before the values, so that a branch is first checked and what it decides is then put into the values. Under
`aliased`, one bijection of identifiers must do for values and constraints together: `Composite` asks `_covers` instead of the
components' stop operators.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

import msgspec

from analysis.cfa.graph import Program
from analysis.cpa.domains.assumptions import NONE, assumptions_cpa
from analysis.cpa.domains.constraints import CheckAt, constraints_cpa, is_covered
from analysis.cpa.domains.location import Bounds, LocationTransfer, location_cpa
from analysis.cpa.domains.rule_automaton import RuleTransfer, rule_automaton_cpa
from analysis.cpa.domains.symbolic_value import SymbolicTransfer, renaming, symbolic_value_cpa
from analysis.cpa.framework.composite import AnyCpa, Composite, State
from analysis.cpa.stores.precision import TrackedConstraints
from analysis.cpa.symbolic_values.condition_formulas import ConditionFormulas, Mode
from analysis.cpa.symbolic_values.constraint_sets import TRUE, Constraints, Decide
from analysis.model.c_types import LP64, DataModel
from analysis.rules.automaton import Rule
from analysis.smt.encoding.numbers.integers import SignedOverflow
from analysis.smt.solving.solver import Solver

LOCATION, ASSUMPTIONS, CONSTRAINTS, VALUES, RULES = range(5)


class SymbolicOptions(msgspec.Struct, frozen=True):
    """The operators that SYMCEGAR compares, and the bounds. `aliases`: rules see that different symbolic pointers may
    lead to one object. `mode` is the encoding of integers, `overflow` what signed sums do in it; `whole`: the entry is where the
    program starts."""

    less_or_equal: Literal["subset", "aliased", "implication"] = "subset"
    merge: Literal["sep", "join"] = "sep"
    check_at: CheckAt = "assume"
    definite: bool = True
    remove_obsolete: bool = True
    allocation_fails: bool = True
    aliases: bool = True
    mode: Mode = "int"
    overflow: SignedOverflow = "assume"
    whole: bool = True
    model: DataModel = LP64
    bounds: Bounds = Bounds()


class SymbolicExecution:
    """A composition for one program. `targets` are the locations, by function, that violate the property; `rules` are rules whose
    automata run along, as a component whose state follows the others'. `tracked_values` and `tracked_constraints` are the initial
    precision. ValueError for rules under the order `aliased`."""

    def __init__(
        self,
        program: Program,
        solver: Solver,
        targets: Mapping[str, frozenset[int]],
        options: SymbolicOptions = SymbolicOptions(),  # noqa: B008 - an immutable value
        rules: Sequence[Rule] = (),
        *,
        tracked_values: Mapping[tuple[str, int], frozenset[str]] | None = None,
        tracked_constraints: TrackedConstraints = None,
    ) -> None:
        if rules and options.less_or_equal == "aliased":
            raise ValueError("the automata of rules remember identifiers, which `aliased` would rename")
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
        self.rules = RuleTransfer(rules, program, self.values, VALUES, CONSTRAINTS, aliases=options.aliases)
        more: tuple[AnyCpa, ...] = (rule_automaton_cpa(self.rules),) if rules else ()
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
                is_target=_any_target((location, None, None, None, *more)),
                tellers=[RULES] if rules else [],
                precision=tracked_constraints,
            ),
            symbolic_value_cpa(
                self.values,
                less_or_equal="aliased" if options.less_or_equal == "aliased" else "subset",
                precision=tracked_values,
            ),
            *more,
        ]
        self._others = [(i, c) for i, c in enumerate(components) if i not in (CONSTRAINTS, VALUES) and not c.flat]
        self.composite = Composite(
            components,
            self.locations,
            merge="sep" if options.merge == "sep" else "agree",
            covers=self._covers if options.less_or_equal == "aliased" else None,
            order=[RULES, CONSTRAINTS, VALUES] if rules else None,
        )
        self._more = bool(rules)

    def initial(self, function: str) -> State:
        """The state at the entry of a function. KeyError if the program does not define it."""
        values = self.values.initial()
        more = (self.rules.initial(values),) if self._more else ()
        return (self.locations.initial(function), NONE, TRUE, values, *more)

    def _covers(self, state: State, other: State) -> bool:
        """Section 4.2's aliased order, with one bijection for values and constraints."""
        if not all(c.domain.less_or_equal(state[i], other[i]) for i, c in self._others):
            return False
        found = renaming(state[VALUES], other[VALUES])
        if found is None:
            return False
        mine: Constraints = state[CONSTRAINTS]
        return is_covered(mine, other[CONSTRAINTS], found)


def _any_target(components: tuple[AnyCpa | None, ...]) -> Callable[[State], bool]:
    asked = [(i, c.is_target) for i, c in enumerate(components) if c is not None and c.is_target is not None]
    return lambda state: any(is_target(state[i]) for i, is_target in asked)
