"""Which objects may hold other values in the new version than in the old one: the change-affected variables of [DIFFDP] section
3.

The paper's variables are here the places of `certificate.nonzero.writes`: variables of the function whose address is never taken,
by their names; all other objects by the class of their type, the member, and the variable, if it is known. Two more stand for
what is no object: `OUTSIDE`, on which depends what external functions return and input is read from; and `RESULT`, what the
function returns.

A write takes a variable off the affected ones only if it is whole and known which one it is. What has no known value
(`ir.Unknown`) is affected. An object that was never written holds the same in both versions, as it does for parameters: it is an
input.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from analysis.c.failing import can_fail, place_can_fail
from analysis.c.functions import Function
from analysis.certificate.nonzero.writes import EVERYTHING, Objects, Own, Place
from analysis.cfa.graph import Cfa, Program
from analysis.model import ir
from analysis.model.c_types import Pointer
from analysis.model.verifiers import CHECKS, is_assumption, is_input

Affected = frozenset[Place | Own]
NOTHING: Affected = frozenset()
OUTSIDE = Own("the outside")
RESULT = Own("the result")
_ANYTHING: Affected = EVERYTHING | {OUTSIDE}


class Outside(NamedTuple):
    """What a call of an external function that both versions make does to the affected objects. `comes_back`: whether it returns
    in the old version if it does so in the new one. `is_same`: whether the function cannot tell the versions apart."""

    affected: Affected
    comes_back: bool
    is_same: bool


class Dependencies:
    """What the edges of one version of a function read and write. `shared` are the variables of the function whose address is
    taken in either version."""

    def __init__(self, program: Program, cfa: Cfa, shared: frozenset[str]) -> None:
        self._objects = Objects(program, cfa, shared)

    def place(self, lvalue: ir.Expr) -> Place | Own:
        """The object that an lvalue is."""
        return self._objects.place(lvalue)

    def depends(self, exprs: Iterable[ir.Expr], affected: Affected) -> bool:
        """Whether the values of expressions may differ."""
        values = [expr for expr in exprs if not (isinstance(expr, ir.Var) and expr.scope == "function")]
        return any(map(_is_open, values)) or (bool(affected) and any(self._objects.meets(expr, affected) for expr in values))

    def effect_depends(self, effect: ir.Effect, affected: Affected) -> bool:
        """Whether values that an effect reads may differ, those that say where it writes included."""
        target = ir.target_of(effect)
        places = () if target is None else ir.place_values(target)
        return self.depends((*ir.values_of(effect), *places), affected)

    def after_write(self, target: ir.Expr, differs: bool, affected: Affected) -> Affected:
        """The affected objects after both versions wrote to an lvalue; `differs`: the value may."""
        place = self._objects.place(target)
        if differs or self.depends(ir.place_values(target), affected):
            return affected | {place}
        if not isinstance(target, ir.Var):
            return affected
        if isinstance(place, Own):
            return frozenset(one for one in affected if not isinstance(one, Own) or one.name != place.name)
        return frozenset(one for one in affected if not isinstance(one, Place) or one.variable != place.variable)

    def written_alone(self, effect: ir.Effect) -> Affected:
        """What only one of the versions writes by an assignment, or by taking an input."""
        target = ir.target_of(effect)
        written = NOTHING if target is None else frozenset((self._objects.place(target),))
        return written | {OUTSIDE} if isinstance(effect, ir.Call) else written

    def outside(self, name: str, known: Function | None, call: ir.Call, affected: Affected) -> Outside:
        """What an external function, of which this is known, does with what both versions pass it."""
        written: Affected = self._objects.by_library(known, call)
        values_differ = self.depends((call.callee, *call.arguments), affected)
        memory_differs = self._reads_affected(known, name, call, affected)
        differs = values_differ or memory_differs
        if not differs and OUTSIDE not in affected:
            return Outside(self._after(call, False, affected), True, True)
        is_known = known is not None and known.is_complete and not known.calls_code
        returns = is_known and not (known is not None and known.never_returns) and name not in CHECKS and not is_assumption(name)
        now = affected | written if is_known or is_input(name) else affected | _ANYTHING
        if differs:
            now |= {OUTSIDE}
        led = any(isinstance(one.type, Pointer) and self.depends((one,), affected) for one in call.arguments)
        return Outside(self._after(call, True, now), (returns or is_input(name)) and not led, not differs)

    def _after(self, call: ir.Call, differs: bool, affected: Affected) -> Affected:
        return affected if call.result is None else self.after_write(call.result, differs, affected)

    def _reads_affected(self, known: Function | None, name: str, call: ir.Call, affected: Affected) -> bool:
        """Whether an external function may read objects that are affected."""
        memory = [one for one in affected if isinstance(one, Place)]
        if not memory or is_input(name) or (known is not None and known.is_complete and not (known.reads or known.keeps)):
            return bool(memory) and known is not None and "elsewhere" in known.besides
        if known is None or not known.is_complete or known.keeps or "elsewhere" in known.besides:
            return True
        return any(_leads(argument) for argument in call.arguments)


def _leads(argument: ir.Expr) -> bool:
    """Whether an argument may lead to an object of the program that can be written."""
    return isinstance(argument.type, Pointer) and not isinstance(ir.strip_casts(argument), ir.StringConst | ir.IntConst)


def _is_open(expr: ir.Expr) -> bool:
    return any(isinstance(part, ir.Unknown) for part in ir.walk(expr))


def may_fail(effect: ir.Effect) -> bool:
    """Whether an effect by itself can do something undefined, for some values."""
    target = ir.target_of(effect)
    return any(map(can_fail, ir.values_of(effect))) or (target is not None and place_can_fail(target))
