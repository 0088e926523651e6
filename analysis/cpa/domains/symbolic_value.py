"""The symbolic value analysis CPA ([SYMCEGAR] section 3.2.5): explicit values, and symbolic ones for what is not known.

As the value analysis, but a cell that is read without being known gets a new symbolic identifier, what functions return is a new
identifier, and operations on identifiers are expressions. Allocated blocks are objects of their own; a symbolic pointer leads to
an object of its own, too, which may be any object whose address is taken (`stores.step_effects`).

Identifiers are named after where they are made and how often that happened on the path, so that the same path has the same
names in every run, and paths that meet agree on what they read alike. The order is one of section 4.2's: `subset` (identifiers
are what they are) or `aliased` (up to a bijection of the identifiers). The bijection must be the same for all components that
speak of the identifiers; the paper lets each component find its own, which is unsound (x -> s1, y -> s2 with s1 > 0 would be
covered by the same with s2 > 0). So `aliased` is only right under an order of the composition that asks once
(`symbolic_execution`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import msgspec
from immutables import Map

from analysis.c.blocks import ALLOCATORS
from analysis.cfa.graph import Program
from analysis.cpa.framework.defaults import MergeJoin, MergeSep, StopSep, TrivialAdjustment
from analysis.cpa.framework.interface import Cpa
from analysis.cpa.framework.steps import Step
from analysis.cpa.stores.evaluate import Work
from analysis.cpa.stores.precision import TrackedVariables, VariablePrecision
from analysis.cpa.stores.step_effects import Effect, Effects
from analysis.cpa.stores.store_memory import WIDTH_BITS, WIDTH_MASK, Contents, Store, covers, join, leaves_open
from analysis.cpa.symbolic_values.symbolic import Assumed, Deciding, Renaming, as_value, identifiers, substitute
from analysis.cpa.symbolic_values.symbolic_algebra import SymbolicAlgebra
from analysis.model import ir
from analysis.model.c_types import LP64, DataModel
from analysis.model.symbolic_operators import Merge

LessOrEqual = Literal["subset", "aliased"]
Counters = Map[str, int]


class SymbolicValues(msgspec.Struct, frozen=True, eq=False, gc=False):
    """An abstract symbolic value assignment, in an activation `depth` calls below the entry.

    `counters` say how many identifiers were made by origin, `assumed` what the last step reported; neither is
    part of what the state means, and states that differ in them alone are equal.
    """

    store: Store
    depth: int
    counters: Counters = Map()
    assumed: Assumed | None = None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SymbolicValues) and self.depth == other.depth and self.store == other.store

    def __hash__(self) -> int:
        return hash(self.store)

    def identifiers(self) -> frozenset[str]:
        """The names of the identifiers in the assignment, those of pointers to objects that it knows something of included."""
        found: set[str] = set()
        for root, value in self.store.map.items():
            if root[0] == "*":
                found.add(root[1:])
            for cell in value.map.values() if type(value) is Contents else (value,):
                if isinstance(cell, ir.Expr):
                    found.update(var.name for var in identifiers(cell))
        return frozenset(found)


class SymbolicDomain:
    """Assignments ordered by what they know."""

    def __init__(self, less_or_equal: LessOrEqual = "subset") -> None:
        self.aliased = less_or_equal == "aliased"

    def less_or_equal(self, state: SymbolicValues, other: SymbolicValues) -> bool:
        """Whether all that `other` knows holds in `state`, with `aliased` up to a bijection of identifiers."""
        if state.depth != other.depth:
            return False
        if covers(other.store, state.store):
            return True
        return self.aliased and renaming(state, other) is not None

    def join(self, state: SymbolicValues, other: SymbolicValues) -> SymbolicValues:
        """What both know in the same words. ValueError for states of different depths. (The paper makes the impossible value of
        what one of them does not know, and never uses it.)"""
        if state.depth != other.depth:
            raise ValueError("states of different depths have no join")
        counters = state.counters
        for origin, number in other.counters.items():
            counters = counters.set(origin, max(number, counters.get(origin, 0)))
        return SymbolicValues(join(state.store, other.store), state.depth, counters)


def renaming(state: SymbolicValues, other: SymbolicValues) -> Renaming | None:
    """A bijection of identifiers after which all that `other` knows holds in `state`; None if there is none."""
    if state.depth != other.depth:
        return None
    found = Renaming(fixed=[root[1:] for root in (*state.store.map, *other.store.map) if root[0] == "*"])
    mine = state.store.map
    for root, wanted in other.store.items():
        value = mine.get(root)
        if type(wanted) is Contents:
            if type(value) is not Contents or not _match_contents(wanted, value, found):
                return None
        elif not _match(wanted, value, found):
            return None
    return found


def _match(wanted: Any, value: Any, found: Renaming) -> bool:
    if isinstance(wanted, ir.Expr):
        return isinstance(value, ir.Expr) and found.match(wanted, value)
    return type(wanted) is type(value) and bool(wanted == value)


def _match_contents(wanted: Contents, value: Contents, found: Renaming) -> bool:
    if wanted.zero and not value.zero:
        return False
    for key, cell in sorted(wanted.map.items()):
        if cell is not None and not _match(cell, value.get(key >> WIDTH_BITS, key & WIDTH_MASK), found):
            return False
    if not wanted.zero:
        return True
    for key, cell in sorted(value.map.items()):
        if key not in wanted.map:
            expected = wanted.get(key >> WIDTH_BITS, key & WIDTH_MASK)
            if (type(cell) is not int or cell != expected) and not leaves_open(wanted, key):
                return False
    return True


class SymbolicTransfer:
    """Executes steps symbolically. `whole`: the entry is where the program starts. `allocation_fails`: `malloc` can return null.
    `constraints`: the index of the component of the composition that finds identifiers with one possible value only."""

    def __init__(
        self,
        program: Program,
        model: DataModel = LP64,
        *,
        whole: bool = True,
        allocation_fails: bool = True,
        constraints: int | None = None,
    ) -> None:
        algebra = SymbolicAlgebra(model)
        self.effects = Effects(program, algebra, model, whole)
        algebra.variables = self.effects.variables
        self._allocation_fails = allocation_fails
        self._constraints = constraints
        self._compiled: dict[int, dict[Step, Effect]] = {}
        self._origins: dict[Step, str] = {}

    def initial(self) -> SymbolicValues:
        """The state at the entry; parameters get their identifiers when they are read."""
        return SymbolicValues(self.effects.initial(), 0)

    def successors(self, state: SymbolicValues, step: Step, precision: TrackedVariables) -> Sequence[SymbolicValues]:
        """The states after the step: none if it is impossible, two if it allocates."""
        depth = state.depth
        compiled = self._compiled.setdefault(depth, {})
        effect = compiled.get(step)
        if effect is None:
            effect = compiled[step] = self.effects.compile(step, depth)
            self._origins[step] = f"{step.function}:{step.edge.id}"
        allocates = self._allocation_fails and step.kind == "external" and step.callee in ALLOCATORS
        found = []
        for fails in (False, True) if allocates else (False,):
            work = Work(state.store, state.counters, self._origins[step], fails)
            if effect(work):
                after = depth + (1 if step.kind == "enter" else -1 if step.kind == "leave" else 0)
                found.append(SymbolicValues(work.store, after, work.counters, work.assumed))
        return found

    def strengthen(
        self, state: SymbolicValues, others: Sequence[Any], step: Step, precision: TrackedVariables, before: Sequence[Any]
    ) -> Sequence[SymbolicValues]:
        """Replaces identifiers that can have one value only by this value (section 5.2)."""
        if self._constraints is None:
            return (state,)
        deciding: Deciding = others[self._constraints]
        if not deciding.decided:
            return (state,)
        values = {var: ir.IntConst(number, var.type) for var, number in deciding.decided.items()}
        store = replaced(state.store, values)
        return (state if store is state.store else SymbolicValues(store, state.depth, state.counters, state.assumed),)


def replaced(store: Store, values: Mapping[ir.Var, ir.Expr]) -> Store:
    """The store with identifiers replaced."""
    found = store
    for root, value in store.items():
        if type(value) is Contents:
            contents = value
            for key, cell in value.map.items():
                if isinstance(cell, ir.Expr) and identifiers(cell) & values.keys():
                    contents = contents.set(key >> WIDTH_BITS, key & WIDTH_MASK, as_value(substitute(cell, values)))
            found = found.set(root, contents)
        elif isinstance(value, ir.Expr) and identifiers(value) & values.keys():
            found = found.set(root, as_value(substitute(value, values)))
    return found


class SymbolicAdjustment:
    """Forgets the variables that are not tracked at the location (the first of the composition's states)."""

    def adjust(
        self, state: SymbolicValues, precision: TrackedVariables, others: Sequence[Any]
    ) -> tuple[SymbolicValues, TrackedVariables]:
        """The state restricted to what is tracked; the precision stays."""
        if precision is None:
            return state, precision
        store = precision.restrict(state.store, others[0].function, others[0].location)
        if store is state.store:
            return state, precision
        return SymbolicValues(store, state.depth, state.counters, state.assumed), precision


def symbolic_value_cpa(
    transfer: SymbolicTransfer,
    *,
    merge: Merge = "sep",
    less_or_equal: LessOrEqual = "subset",
    precision: Mapping[tuple[str, int], frozenset[str]] | None = None,
) -> Cpa[SymbolicValues, TrackedVariables]:
    """The component, with stop-sep. `precision`: the variables that are tracked, by function and location; None: all."""
    domain = SymbolicDomain(less_or_equal)
    tracked = None if precision is None else VariablePrecision(precision)
    return Cpa(
        name="symbolic value",
        domain=domain,
        transfer=transfer,
        merge=MergeSep() if merge == "sep" else MergeJoin(domain),
        stop=StopSep(domain),
        adjustment=TrivialAdjustment() if tracked is None else SymbolicAdjustment(),
        precision=tracked,
        rank=None if domain.aliased else lambda state: state.store.weight,
    )
