"""The value analysis CPA ([SYMCEGAR] section 3.2.4): explicit values of variables, members and elements.

An abstract state is an abstract variable assignment: a partial function from cells to integers and addresses, here a
`stores.store_memory.Store`. What is not in it can have any value; contradicting assignments are not represented (the transfer
relation has no
successor). The transfer relation evaluates over the known cells (`evaluate`), a branch on an unknown cell that leaves one value
assigns it (`stores.branch_refinement`), and variables that are not live any more are forgotten (`variables`).

The order is "knows at least as much"; the join keeps what both know. With merge-sep this is the value analysis, with merge-join
constant propagation. The precision says which variables are tracked at which location (`VariablePrecision`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from analysis.cfa.graph import Program
from analysis.cpa.framework.defaults import MergeJoin, MergeSep, NoStrengthening, StopSep, TrivialAdjustment
from analysis.cpa.framework.interface import Cpa
from analysis.cpa.framework.steps import Step
from analysis.cpa.stores.evaluate import Place, Work
from analysis.cpa.stores.precision import TrackedVariables, VariablePrecision
from analysis.cpa.stores.scalar_values import Value
from analysis.cpa.stores.step_effects import Effect, Effects
from analysis.cpa.stores.store_memory import Store, covers, join
from analysis.model import ir
from analysis.model.c_types import LP64, DataModel, Type
from analysis.model.symbolic_operators import Merge


class ExplicitValues(msgspec.Struct, frozen=True, cache_hash=True, gc=False):
    """An abstract variable assignment, in an activation `depth` calls below the entry."""

    store: Store
    depth: int


class ExplicitDomain:
    """Assignments ordered by what they know."""

    def less_or_equal(self, state: ExplicitValues, other: ExplicitValues) -> bool:
        """Whether all that `other` knows holds in `state`."""
        return state.depth == other.depth and covers(other.store, state.store)

    def join(self, state: ExplicitValues, other: ExplicitValues) -> ExplicitValues:
        """What both know. ValueError for states of different depths."""
        if state.depth != other.depth:
            raise ValueError("states of different depths have no join")
        return ExplicitValues(join(state.store, other.store), state.depth)


class NothingKnown:
    """The algebra of the value analysis: what is not known exactly is any value."""

    def read(self, work: Work, place: Place, type_: Type) -> Value:
        """Any value."""
        return None

    def unknown(self, work: Work, type_: Type) -> Value:
        """Any value."""
        return None

    def unary(self, work: Work, expr: ir.Unary, operand: Value) -> Value:
        """Any value."""
        return None

    def binary(self, work: Work, expr: ir.Binary, left: Value, right: Value) -> Value:
        """Any value, unless one operand decides."""
        if expr.operator in ("*", "&") and ((left == 0 and type(left) is int) or (right == 0 and type(right) is int)):
            return 0
        return None

    def convert(self, work: Work, expr: ir.Cast, operand: Value) -> Value:
        """Any value."""
        return None

    def pointee(self, pointer: Value, size: int | None) -> Place:
        """Any object."""
        return None

    def allocate(self, work: Work, name: str, type_: Type) -> Value:
        """Any value: blocks are not followed, so that a loop that allocates has finitely many states."""
        return None

    symbolic_objects = False


class ExplicitTransfer(NoStrengthening[ExplicitValues, TrackedVariables]):
    """Executes steps over what is known. `whole`: the entry is where the program starts."""

    def __init__(self, program: Program, model: DataModel = LP64, *, whole: bool = True) -> None:
        self.effects = Effects(program, NothingKnown(), model, whole)
        self._compiled: dict[int, dict[Step, Effect]] = {}

    def initial(self) -> ExplicitValues:
        """The state at the entry: globals as the program starts with them, or, if it does not start there, unknown."""
        return ExplicitValues(self.effects.initial(), 0)

    def successors(self, state: ExplicitValues, step: Step, precision: TrackedVariables) -> Sequence[ExplicitValues]:
        """The state after the step, none if it is impossible."""
        depth = state.depth
        compiled = self._compiled.get(depth)
        if compiled is None:
            compiled = self._compiled[depth] = {}
        effect = compiled.get(step)
        if effect is None:
            effect = compiled[step] = self.effects.compile(step, depth)
        work = Work(state.store, None, "")
        if not effect(work):
            return ()
        kind = step.kind
        if kind == "enter":
            depth += 1
        elif kind == "leave":
            depth -= 1
        elif work.store is state.store:
            return (state,)
        return (ExplicitValues(work.store, depth),)


class ExplicitAdjustment:
    """Forgets the variables that are not tracked at the location (the first of the composition's states)."""

    def adjust(
        self, state: ExplicitValues, precision: TrackedVariables, others: Sequence[Any]
    ) -> tuple[ExplicitValues, TrackedVariables]:
        """The state restricted to what is tracked; the precision stays."""
        if precision is None:
            return state, precision
        store = precision.restrict(state.store, others[0].function, others[0].location)
        return (state if store is state.store else ExplicitValues(store, state.depth)), precision


def value_cpa(
    transfer: ExplicitTransfer,
    *,
    merge: Merge = "sep",
    precision: Mapping[tuple[str, int], frozenset[str]] | None = None,
) -> Cpa[ExplicitValues, TrackedVariables]:
    """The component, with stop-sep. `precision`: the variables that are tracked, by function and location; None: all."""
    domain = ExplicitDomain()
    tracked = None if precision is None else VariablePrecision(precision)
    return Cpa(
        name="value",
        domain=domain,
        transfer=transfer,
        merge=MergeSep() if merge == "sep" else MergeJoin(domain),
        stop=StopSep(domain),
        adjustment=TrivialAdjustment() if tracked is None else ExplicitAdjustment(),
        precision=tracked,
        rank=lambda state: state.store.weight,
    )
