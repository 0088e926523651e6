"""What the result of a function tells of what it was passed: "returns 0 if and only if `p` is null".

Where a function returns, it is looked at what is known if the result is zero, and if it is not. What all ways out agree on is
told of each: of parameters that are never assigned, and of what they lead to when the function has ended.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from analysis.certificate.nonzero.callee_contracts import Contract, Tell, passed
from analysis.certificate.nonzero.conditions import assumed
from analysis.certificate.nonzero.data_invariants import Always
from analysis.certificate.nonzero.values import Known, Told, is_stable
from analysis.certificate.nonzero.writes import Objects, Own, Place
from analysis.cfa.graph import Cfa
from analysis.model import ir
from analysis.model.c_types import Integer, Pointer

_MOST = 12  # of one function


class ToldResults:
    """What the results of one function tell, of all ways out that were seen so far. `fixed`: its parameters that are never
    assigned."""

    def __init__(self, cfa: Cfa, fixed: Collection[str]) -> None:
        self._parameters = frozenset(one for one in cfa.parameters if one.name in fixed)
        self._found: dict[bool, frozenset[Tell] | None] = {True: None, False: None}

    def returned(self, known: Known, value: ir.Expr | None, always: Always) -> None:
        """Takes in one way out."""
        for when in (True, False):
            is_scalar = value is not None and isinstance(value.type, Integer | Pointer)
            then = assumed(known, value, always, truth=when) if is_scalar and value is not None else Known()
            before = self._found[when]
            if then is not None and before != frozenset():
                said = frozenset(self._of(then, when))
                self._found[when] = said if before is None else before & said

    @property
    def tells(self) -> frozenset[Tell] | None:
        """What all ways out agree on; None if there is none."""
        found = [one for one in self._found.values() if one is not None]
        return frozenset(sorted(frozenset().union(*found), key=repr)[:_MOST]) if found else None

    def _of(self, known: Known, when: bool) -> Iterator[Tell]:
        for exprs, nonzero in ((known.nonzero, True), (known.zero, False)):
            yield from (Tell(when, one, nonzero) for one in exprs if self._is_said(one))

    def _is_said(self, expr: ir.Expr) -> bool:
        bare = expr.pointer if isinstance(expr, ir.Deref) else expr
        return isinstance(bare, ir.Var) and bare in self._parameters


def after_call(
    known: Known, contract: Contract, callee: Cfa, call: ir.Call, objects: Objects, place: Place | Own
) -> frozenset[Told]:
    """What is told of what a call passed, where its result goes to a variable of the caller's own. `place`: of that variable."""
    if not isinstance(call.result, ir.Var) or not isinstance(place, Own):
        return known.told
    found = set(known.told)
    # what the function may have written is not what was passed any more
    still = tuple(ir.Unknown(one.type) if objects.meets(one, contract.writes) else one for one in call.arguments)
    for one in contract.tells or ():
        expr = passed(callee, one.expr, still)
        if expr is not None and is_stable(expr) and not objects.meets(expr, (place,)):
            found.add(Told(call.result, one.when, expr, one.nonzero))
    return frozenset(found)
