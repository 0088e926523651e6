"""What the edges of a function do to the bounds of its variables, by the contracts of what it calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from analysis.certificate.nonzero.callee_contracts import not_followed
from analysis.certificate.ranges.bounded_branches import assumed
from analysis.certificate.ranges.bounded_values import Known, Range, Ranges, met, range_of
from analysis.certificate.ranges.function_ranges import ANYTHING, Contract
from analysis.cfa.addresses_taken import taken_by
from analysis.cfa.graph import Cfa, Edge, Program
from analysis.cfa.live_variables import live
from analysis.cpa.obstacles.completeness import not_modelled, not_supported
from analysis.model import ir
from analysis.model.c_types import BIT_FIELD, Integer, Void
from analysis.model.kept_with import kept_with
from analysis.model.ranges import bounds
from analysis.model.spelling import display_name

Contracts = Callable[[str], Contract]
"""The contracts of functions of the program, by name."""


class NotFollowedError(Exception):
    """The function is not followed; why."""


@kept_with
def bounded(cfa: Cfa) -> Mapping[str, Integer]:
    """The integer variables that only the function's own edges change, with their types."""
    named = (part for parts in cfa.parts.values() for part in parts if isinstance(part, ir.Var))
    own = (one for one in (*cfa.parameters, *named) if one.scope in ("parameter", "local", "temporary"))
    taken = taken_by(cfa).own
    return {one.name: one.type for one in own if isinstance(one.type, Integer) and one.name not in taken}


class RangeTransfer:
    """What the edges of one function do. `defined`: as in `bounded_values.Known`."""

    def __init__(self, program: Program, cfa: Cfa, contracts: Contracts, *, defined: bool = False) -> None:
        self._defined = defined
        self._program, self._cfa, self._contracts = program, cfa, contracts
        self._types, self._live = bounded(cfa), live(cfa)
        calls = (call for group in cfa.unordered for operand in group.operands for call in operand.calls)
        self._in_open_order = frozenset(name for call in calls for name in program.targets(call))

    def at_entry(self) -> Ranges:
        """The bounds where the function begins: those of the types."""
        return self.relevant({name: bounds(type_) for name, type_ in self._types.items()}, self._cfa.entry)

    def type_bounds(self, name: str) -> Range:
        """The bounds of the type of a variable."""
        return bounds(self._types[name])

    def relevant(self, known: Ranges, location: int) -> Ranges:
        """What may still matter at a location: of all variables that may be read, something is known."""
        names = self._live[location]
        return {name: known.get(name) or bounds(type_) for name, type_ in self._types.items() if name in names}

    def after(self, known: Ranges, edge: Edge) -> Ranges | None:
        """The bounds behind an edge; None if it cannot be taken. Raises NotFollowedError."""
        match edge.effect:
            case ir.Unsupported(reason):
                raise NotFollowedError(not_supported(self._cfa.name, reason))
            case ir.Assume(condition, truth):
                found = assumed(Known(known, self._defined), condition, truth=truth)
                return None if found is None else self.relevant(found.variables, edge.target)
            case ir.Assign(target, value):
                return self._assigned(known, edge, target, self._value(known, value))
            case ir.Call() as call:
                return self._called(known, edge, call)
        return self.relevant(known, edge.target)

    def result(self, known: Ranges, edge: Edge) -> Range | None:
        """The bounds of what is returned at an edge that leads to the function's end; None where the function returns no
        integer."""
        type_ = self._cfa.type.result
        if not isinstance(type_, Integer):
            return None
        value = edge.effect.value if isinstance(edge.effect, ir.Return) else None
        if value is None or value.type != type_:
            return bounds(type_)
        return range_of(Known(known, self._defined), value)

    def _assigned(self, known: Ranges, edge: Edge, target: ir.Expr, value: Range | None) -> Ranges:
        if isinstance(target, ir.Var) and target.name in self._types:
            type_ = self._types[target.name]
            low, high = bounds(type_)
            is_held = value is not None and target.type == type_ and low <= value[0] and value[1] <= high
            known = {**known, target.name: value if is_held and value is not None else (low, high)}
        return self.relevant(known, edge.target)

    def _called(self, known: Ranges, edge: Edge, call: ir.Call) -> Ranges | None:
        name, targets = ir.direct_callee(call), self._program.targets(call)
        why = not_followed(self._program, name, targets)
        if why:
            raise NotFollowedError(not_modelled(self._cfa.name, why))
        contract = ANYTHING if name is None else self._contract(name)
        if not contract.returns:
            if not self._in_open_order.isdisjoint(targets):  # another operand may come first
                raise NotFollowedError(f"{display_name(self._cfa.name)}() may end before other operands")
            return None
        if call.result is None:
            return self.relevant(known, edge.target)
        is_value = name is not None and self._is_returned(name, call.result)
        return self._assigned(known, edge, call.result, contract.result if is_value else None)

    def _contract(self, name: str) -> Contract:
        if name in self._program.functions:
            return self._contracts(name)
        function, external = self._program.known(name), self._program.externals.get(name)
        if external is not None and external.noreturn:
            return Contract(returns=False)
        if function is None or not function.is_complete:
            return ANYTHING
        if function.never_returns:
            return Contract(returns=False)
        type_ = self._program.function_type(name)
        if type_ is None or not isinstance(type_.result, Integer):
            return ANYTHING
        low, high = bounds(type_.result)
        given = low if function.least is None else function.least, high if function.greatest is None else function.greatest
        return Contract(result=met((low, high), given))

    def _is_returned(self, name: str, target: ir.Expr) -> bool:
        """Whether what a function returns is what its result gets: declarations may differ, and bit-fields cut off."""
        type_ = self._program.function_type(name)
        if type_ is None or isinstance(type_.result, Void) or not isinstance(target.type, Integer):
            return False
        return target.type == type_.result and BIT_FIELD not in target.type.name

    def _value(self, known: Ranges, value: ir.Expr) -> Range | None:
        return range_of(Known(known, self._defined), value) if isinstance(value.type, Integer) else None
