"""The constraints CPA ([SYMCEGAR] sections 3.2.6, 4 and 5.2-5.3): what branches imply about symbolic values, checked by a solver.

An abstract state is a set of conditions over symbolic identifiers, read as their conjunction. As in section 5.1, all the work
is done by strengthening: the component that has the symbolic values says what the branch's condition is (`symbolic.Assuming`), it
becomes a constraint, and if the constraints cannot hold together there is no successor. A constraint without identifiers is
trivial: it is decided when it is built and never stored.

- Definite assignments (Algorithm 9): an identifier that has one value in all models is replaced by it, in the formulas that are
  checked (section 5.3) and, by the component that has the symbolic values, in these (`symbolic.Deciding`).
- Obsolete constraints, which say nothing about any value that is left, directly or indirectly, are removed (section 5.2).
- The order: a state with more constraints is smaller. It is `subset`, `aliased` (up to a bijection of
  identifiers; see `domains.symbolic_value` for when it may be used) or `implication` (the solver decides).
- The merge operator: `sep`, or `join`, which removes p and its negation where the paths of a branch meet (section 4.1).
- Checks after every branch, or only where `Constraints.check` is asked for: at targets.
- The precision says which constraints are tracked at which location (`precision.ConstraintPrecision`).

A solver's `unknown` counts as satisfiable.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from analysis.cpa.framework.defaults import MergeSep, StopSep, TrivialAdjustment
from analysis.cpa.framework.interface import Cpa
from analysis.cpa.framework.steps import Step
from analysis.cpa.stores.precision import TrackedConstraints, variable_name
from analysis.cpa.symbolic_values.constraint_sets import Constraints, Decide, constraints_of
from analysis.cpa.symbolic_values.symbolic import Assuming, Renaming, condition_of, identifiers, negation, substitute
from analysis.model import ir
from analysis.model.symbolic_operators import CheckAt, Merge, Order


class ConstraintsDomain:
    """Sets of conditions. With `implication` the order is a preorder: different sets can say the same."""

    def __init__(self, less_or_equal: Order, decide: Decide) -> None:
        self.kind = less_or_equal
        self._decide = decide

    def less_or_equal(self, state: Constraints, other: Constraints) -> bool:
        """Whether `state` says all that `other` says."""
        if other.members <= state.members:
            return True
        match self.kind:
            case "subset":
                return False
            case "aliased":
                return is_covered(state, other, Renaming())
        return self._decide.implies(state, other)

    def join(self, state: Constraints, other: Constraints) -> Constraints:
        """The conditions of both. (The least upper bound of the subset order; the others have none in general.)"""
        common = [c for c in state.conditions if c in other.members]
        definite = tuple(pair for pair in state.definite if pair in other.definite)
        return constraints_of(common, definite, origins=state.origins) if len(common) < len(state.conditions) else state


def is_covered(state: Constraints, other: Constraints, renaming: Renaming) -> bool:
    """Whether the bijection can be extended so that it takes all conditions of `other` to conditions of `state`. A match that can
    be made is not taken back, so that the answer can be no although there is one."""
    for condition in other.conditions:
        for candidate in state.conditions:
            trial = renaming.copy()
            if trial.match(condition, candidate):
                renaming = trial
                break
        else:
            return False
    return True


class ConstraintsTransfer:
    """Learns from branches. `values`: the index of the component of the composition that has the symbolic values."""

    def __init__(
        self,
        decide: Decide,
        values: int,
        *,
        check_at: CheckAt = "assume",
        definite: bool = True,
        remove_obsolete: bool = True,
        check: Callable[[Any], bool] | None = None,
    ) -> None:
        self._decide = decide
        self._values = values
        self._check_at = check_at
        self._definite = definite
        self._remove_obsolete = remove_obsolete
        self._check = check

    def successors(self, state: Constraints, step: Step, precision: TrackedConstraints) -> Sequence[Constraints]:
        """The state as it is: constraints come by strengthening."""
        return (msgspec.structs.replace(state, decided={}) if state.decided else state,)

    def strengthen(
        self, state: Constraints, others: Sequence[Any], step: Step, precision: TrackedConstraints, before: Sequence[Any]
    ) -> Sequence[Constraints]:
        """The state with what the branch implied; none if that is impossible, or, with checks at targets, if a target is."""
        found = self._with_branch(state, others, step)
        if found and self._check_at == "target" and self._check is not None and self._check(others):
            return found if self._decide.is_possible(found[0].conditions) else ()
        return found

    def _with_branch(self, state: Constraints, others: Sequence[Any], step: Step) -> Sequence[Constraints]:
        values: Assuming = others[self._values]
        if values.assumed is None:
            return (state,)
        condition = condition_of(values.assumed)
        if isinstance(condition, ir.IntConst):
            return (state,) if condition.value != 0 else ()
        if negation(condition) in state.members:
            return ()
        if condition in state.members:
            return (state,)
        return tuple(_with_origin(one, condition, step) for one in self._added(state, condition, values))

    def _added(self, state: Constraints, condition: ir.Expr, values: Any) -> Sequence[Constraints]:
        conditions = (*state.conditions, condition)
        if self._check_at == "target":
            return (constraints_of(conditions, state.definite, origins=state.origins),)
        formulas = _touched(self._simplified(state, conditions), condition)
        if any(isinstance(f, ir.IntConst) and f.value == 0 for f in formulas):
            return ()
        definite, decided = state.definite, dict[ir.Var, int]()
        if not self._definite:
            if not self._decide.is_possible(formulas):
                return ()
        else:
            found = self._decide.definite(formulas)
            if found is None:
                return ()
            known = dict(definite)
            decided = {v: n for v, n in found.items() if v not in known}
            definite = tuple(sorted((known | decided).items(), key=lambda pair: pair[0].name))
            decided = {**state.decided, **decided}
        if self._remove_obsolete:
            conditions = without_obsolete(conditions, values.identifiers(), {v.name for v, _ in definite})
        return (constraints_of(conditions, definite, decided, state.origins),)

    def _simplified(self, state: Constraints, conditions: Sequence[ir.Expr]) -> list[ir.Expr]:
        """The conditions with definite assignments put in, those that hold by that left out (section 5.3)."""
        known = {v: ir.IntConst(n, v.type) for v, n in state.definite}
        found = [substitute(c, known) for c in conditions] if known else list(conditions)
        return [c for c in found if not (isinstance(c, ir.IntConst) and c.value != 0)]


def _with_origin(state: Constraints, condition: ir.Expr, step: Step) -> Constraints:
    """Adds to the state the variables of the branch that a condition of it came from."""
    effect = step.edge.effect
    if condition not in state.members or not isinstance(effect, ir.Assume):
        return state
    names = frozenset(variable_name(var, step.function) for var in ir.variables(effect.condition) if var.scope != "function")
    return msgspec.structs.replace(state, origins=state.origins.set(condition, names))


def _touched(formulas: Sequence[ir.Expr], condition: ir.Expr) -> list[ir.Expr]:
    """The formulas that share identifiers with the condition, directly or through others: the only ones in which it can decide
    anything."""
    reached = set(identifiers(condition))
    left = list(formulas)
    found: list[ir.Expr] = []
    while True:
        near = [f for f in left if identifiers(f) & reached]
        if not near:
            return found
        found.extend(near)
        left = [f for f in left if not identifiers(f) & reached]
        for formula in near:
            reached |= identifiers(formula)


def without_obsolete(conditions: Sequence[ir.Expr], alive: frozenset[str], definite: set[str]) -> tuple[ir.Expr, ...]:
    """The conditions that say something about an identifier that some value has (section 5.2): a condition is obsolete if no
    value has any of its identifiers, and none of these is in another condition that is kept, or one of them is in this
    condition alone and has no definite assignment."""
    names = {c: {v.name for v in identifiers(c)} for c in conditions}
    kept = [c for c in conditions if names[c] & alive]
    reached = set[str]().union(*(names[c] for c in kept))
    left = [c for c in conditions if not names[c] & alive]
    uses: dict[str, int] = {}
    for c in conditions:
        for name in names[c]:
            uses[name] = uses.get(name, 0) + 1
    changed = True
    while changed:
        changed = False
        for c in list(left):
            alone = any(uses[name] == 1 and name not in definite for name in names[c])
            if names[c] & reached and not alone:
                left.remove(c)
                kept.append(c)
                reached |= names[c]
                changed = True
    chosen = set(kept)
    return tuple(c for c in conditions if c in chosen)


class MergeOpposites:
    """merge(a, a') = a' without the conditions whose negations are in a (section 4.1). Right under merge-agree only, which takes
    it if the result covers a, too."""

    def merge(self, state: Constraints, reached: Constraints, precision: TrackedConstraints) -> Constraints:
        """`reached`, weakened."""
        left = [c for c in reached.conditions if negation(c) not in state.members]
        if len(left) == len(reached.conditions):
            return reached
        definite = tuple(pair for pair in reached.definite if pair in state.definite)
        return constraints_of(left, definite, origins=reached.origins)


class ConstraintsAdjustment:
    """Forgets the constraints that are not tracked at the location (the first of the composition's states)."""

    def adjust(
        self, state: Constraints, precision: TrackedConstraints, others: Sequence[Any]
    ) -> tuple[Constraints, TrackedConstraints]:
        """The state restricted to what is tracked; the precision stays."""
        if precision is None or not state.conditions:
            return state, precision
        function, location = others[0].function, others[0].location
        dropped = [c for c in state.conditions if not precision.tracks(state.origin(c), function, location)]
        return state.without(dropped), precision


def constraints_cpa(
    decide: Decide,
    values: int,
    *,
    less_or_equal: Order = "subset",
    merge: Merge = "sep",
    check_at: CheckAt = "assume",
    definite: bool = True,
    remove_obsolete: bool = True,
    is_target: Callable[[Any], bool] | None = None,
    precision: TrackedConstraints = None,
) -> Cpa[Constraints, TrackedConstraints]:
    """The component, with stop-sep. `values`: the index of the component with the symbolic values. `is_target` says of a
    composite state whether it has to be checked, with `check_at` "target". `precision`: the constraints that are tracked,
    None: all."""
    domain = ConstraintsDomain(less_or_equal, decide)
    transfer = ConstraintsTransfer(
        decide,
        values,
        check_at=check_at,
        definite=definite and check_at == "assume",
        remove_obsolete=remove_obsolete and check_at == "assume",
        check=is_target,
    )
    return Cpa(
        name="constraints",
        domain=domain,
        transfer=transfer,
        merge=MergeSep() if merge == "sep" else MergeOpposites(),
        stop=StopSep(domain),
        adjustment=TrivialAdjustment() if precision is None else ConstraintsAdjustment(),
        precision=precision,
        rank=(lambda state: len(state.conditions)) if less_or_equal == "subset" else None,
    )
