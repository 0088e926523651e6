"""What the edges of one function do to what is known, by the contracts of what it calls, and what they need that is not known."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from analysis.c.control import UNMODELLED
from analysis.c.functions import Function
from analysis.certificate.nonzero.callee_contracts import ANYTHING, Contract, followed_pointers, passed
from analysis.certificate.nonzero.conditions import assumed
from analysis.certificate.nonzero.data_invariants import Always, Invariant, Invariants, said_of
from analysis.certificate.nonzero.fresh_blocks import fresh_blocks, is_fresh
from analysis.certificate.nonzero.function_edges import Edges
from analysis.certificate.nonzero.needed_values import Needed
from analysis.certificate.nonzero.values import Known, is_nonzero, is_stable, is_zero
from analysis.certificate.nonzero.writes import Own, Place, seen_outside
from analysis.cfa.graph import Edge
from analysis.cpa.obstacles.completeness import not_modelled, not_supported
from analysis.model import ir
from analysis.model.c_types import BIT_FIELD, Integer, Pointer
from analysis.model.spelling import display_name


class Missing(NamedTuple):
    """A value that an edge needs and that may be zero. `callee`: the function that needs it, if it is not the edge itself.
    `values`: what it equals, as far as that is known. `why`: why the rule is not excluded whatever the value is."""

    edge: int
    expr: ir.Expr
    callee: str = ""
    values: tuple[ir.Expr, ...] = ()
    why: str = ""


class Transfer:
    """What the edges of one function do. `missing`: what they need that was not known in some state, in the order in which it was
    found. `broken`: why the function is not followed, else empty. `written`: what it may write, as callers see it. `is_nonzero`:
    whether it never returned zero so far; `unless`: the parameters that were zero wherever it may have. `failed`: the invariants
    that an edge may break, with the first one that may. `stopped`: the edges behind which nothing is followed."""

    def __init__(self, edges: Edges, contracts: Mapping[str, Contract]) -> None:
        self._program, self._cfa, self._contracts = edges.program, edges.cfa, contracts
        self._always = Always(edges.streams, edges.invariants)
        self._objects, self._needed, self._construction = edges.objects, edges.needed, edges.construction
        self._fixed = {one: at for at, one in enumerate(edges.cfa.parameters) if one.name in edges.fixed}
        self.missing: dict[Missing, None] = {}
        self.failed: dict[Invariant, int] = {}
        self.stopped: dict[int, None] = {}
        self.broken = ""
        self.written: frozenset[Place] = frozenset()
        self.is_nonzero = True
        self.unless = frozenset(self._fixed.values())

    @property
    def used(self) -> Invariants:
        """The invariants that were relied on."""
        return frozenset(self._always.used)

    def after(self, known: Known, edge: Edge) -> Known | None:
        """What is known after an edge; None if it cannot be taken."""
        match edge.effect:
            case ir.Unsupported(reason):
                self._stop(known, edge, not_supported(self._cfa.name, reason))
                return None
            case ir.Assume(condition, truth):
                return assumed(self._checked(known, edge), condition, self._always, truth=truth)
            case ir.Assign(target, value):
                return self._assigned(self._checked(known, edge), edge, target, value)
            case ir.Call() as call:
                return self._called(self._checked(known, edge), edge, call)
            case ir.Return(value):
                known = self._checked(known, edge)
                if value is None or not is_nonzero(known, value, self._always):
                    self.is_nonzero = False
                    self.unless &= frozenset(at for one, at in self._fixed.items() if is_zero(known, one))
                return known

    def _stop(self, known: Known, edge: Edge, reason: str) -> None:
        """The function is not followed further. Objects that are being made are not private behind the edge."""
        self.broken = self.broken or reason
        self.stopped[edge.id] = None
        for leaf in known.unset:
            self._fail(edge, said_of(leaf))
        result = edge.effect.result if isinstance(edge.effect, ir.Call) else None
        if self._construction is not None and result is not None:
            self._construction.assigned(
                Known(), result, ir.Unknown(result.type), lambda found: self._fail(edge, found), nonzero=False
            )

    def _fail(self, edge: Edge, found: Invariant | None) -> None:
        """Notes that an edge may break an invariant."""
        if found is not None:
            self.failed.setdefault(found, edge.id)

    def _checked(self, known: Known, edge: Edge) -> Known:
        """Notes what the edge needs and may not have; what is known in runs that go on. Where the result of a call goes tells
        nothing of the call: it may be looked for afterwards."""
        for one in self._needed[edge.id]:
            known = self._with_need(known, edge, one, tells=one.tells and not one.later)
        if self._construction is not None:
            known = self._construction.used(known, edge, lambda found: self._fail(edge, found))
        return known

    def _with_need(self, known: Known, edge: Edge, one: Needed, *, tells: bool) -> Known:
        if not one.why and is_nonzero(known, one.expr, self._always):
            return known
        self._miss(known, edge, one.expr, "", one.why)
        if one.why or not tells:
            return known
        return assumed(known, one.expr, self._always, truth=True) or known

    def _miss(self, known: Known, edge: Edge, expr: ir.Expr, callee: str, why: str) -> None:
        self.missing.setdefault(Missing(edge.id, expr, callee, tuple(known.values(ir.strip_casts(expr))), why))

    def _write(self, known: Known, written: frozenset[Place | Own]) -> Known:
        self.written |= frozenset(seen_outside(written))
        return self._objects.without(known, written)

    def _assigned(self, known: Known, edge: Edge, target: ir.Expr, value: ir.Expr) -> Known:
        place = self._objects.place(target)
        after = self._write(known, frozenset((place,)))
        nonzero = is_nonzero(known, value, self._always)
        if self._construction is not None:
            is_set = nonzero and self._holds(target, value)
            after = self._construction.assigned(after, target, value, lambda found: self._fail(edge, found), nonzero=is_set)
        if not self._holds(target, value) or any(self._objects.meets(part, (place,)) for part in ir.place_values(target)):
            return after
        if nonzero:
            after = after._replace(nonzero=after.nonzero | {target})
        elif is_zero(known, value):
            after = after._replace(zero=after.zero | {target})
        if (
            isinstance(target, ir.Var)
            and isinstance(place, Own)
            and is_stable(value)
            and not self._objects.meets(value, (place,))
        ):
            after = after._replace(equal=after.equal | {(target, value)})
        return after

    def _holds(self, target: ir.Expr, value: ir.Expr) -> bool:
        """Whether reading the target gives the value that is assigned."""
        if not is_stable(target):
            return False
        if isinstance(target.type, Integer):
            return target.type == value.type and BIT_FIELD not in target.type.name
        return isinstance(target.type, Pointer) and isinstance(value.type, Pointer)

    def _called(self, known: Known, edge: Edge, call: ir.Call) -> Known | None:
        name = ir.direct_callee(call)
        targets = self._program.targets(call)
        if name in UNMODELLED or not UNMODELLED.isdisjoint(targets):
            self._stop(known, edge, not_modelled(self._cfa.name, display_name(name or "a function through a pointer")))
            return None
        if self._construction is not None:
            self._check_parameters(known, edge, call, targets)
        kept = [self._keeps_needs(known, edge, call, target) for target in targets]
        contract = self._contract(known, call, name) if all(kept) else ANYTHING
        if not contract.returns:
            return None
        after = self._write(known, contract.writes)
        if name is not None and name not in self._program.functions:
            after = after._replace(nonzero=after.nonzero.union(_linked(self._program.known(name), call)))
        if call.result is None:
            return after
        is_value = name is not None and self._is_returned(name, call.result)
        nonzero = contract.nonzero or any(self._is_given(known, call, name or "", at) for at in contract.unless)
        after = self._with_result(after, edge, call.result, nonzero=nonzero and is_value)
        if self._construction is not None:
            is_new = is_fresh(self._program, call, fresh_blocks(self._program))
            after = self._construction.returned(
                after, call.result, lambda found: self._fail(edge, found), nonzero=nonzero and is_value, is_new=is_new
            )
        return self._with_length(self._with_table(after, call.result, name or ""), call.result, name or "")

    def _is_given(self, known: Known, call: ir.Call, name: str, at: int) -> bool:
        """Whether a parameter of a function gets what is not zero."""
        callee = self._program.functions.get(name)
        if callee is None or at >= len(call.arguments):
            return False
        argument, parameter = call.arguments[at], callee.parameters[at]
        are_pointers = isinstance(argument.type, Pointer) and isinstance(parameter.type, Pointer)
        return (are_pointers or argument.type == parameter.type) and is_nonzero(known, argument, self._always)

    def _check_parameters(self, known: Known, edge: Edge, call: ir.Call, targets: tuple[str, ...]) -> None:
        """Notes the parameters of functions that are called of which invariants speak, and that may get zero."""
        for target in targets:
            callee = self._program.functions.get(target)
            for at, parameter in enumerate(() if callee is None else callee.parameters):
                found = Invariant("parameter", parameter.name, target)
                if found in self._always.invariants and not self._is_given(known, call, target, at):
                    self._fail(edge, found)

    def _is_returned(self, name: str, target: ir.Expr) -> bool:
        """Whether the value that a function returns is what its result gets: declarations may differ, and bit-fields cut off."""
        type_ = self._program.function_type(name)
        if type_ is None or not is_stable(target):
            return False
        if isinstance(target.type, Integer):
            return target.type == type_.result and BIT_FIELD not in target.type.name
        return isinstance(target.type, Pointer) and isinstance(type_.result, Pointer)

    def _keeps_needs(self, known: Known, edge: Edge, call: ir.Call, target: str) -> bool:
        """Whether a function that is called gets what it needs; notes what it may not get. Runs may go on without it, as the
        function may not come to where it needs that; but what is shown of the function is shown with it only."""
        callee, is_kept = self._program.functions.get(target), True
        for need in () if callee is None else self._contracts.get(target, ANYTHING).needs:
            expr = None if callee is None else passed(callee, need, call.arguments)
            why = "" if expr is not None else "arguments do not fit the parameters"
            if expr is not None and any(is_zero(known, pointer) for pointer in followed_pointers(expr)):
                continue
            if why or not is_nonzero(known, expr or need, self._always):
                self._miss(known, edge, expr or need, target, why)
                is_kept = False
        return is_kept

    def _contract(self, known: Known, call: ir.Call, name: str | None) -> Contract:
        """What a call does. Where a pointer leads is not known."""
        if name is None:
            return ANYTHING
        if name in self._program.functions:
            return self._contracts.get(name, ANYTHING)
        function, external = self._program.known(name), self._program.externals.get(name)
        if external is not None and external.noreturn:
            return ANYTHING._replace(returns=False)
        if function is None or not function.is_complete:
            return ANYTHING
        writes = frozenset(place for place in self._objects.by_library(function, call) if isinstance(place, Place))
        return Contract((), not function.never_returns, self._library_result(known, call, function), writes)

    def _library_result(self, known: Known, call: ir.Call, function: Function) -> bool:
        """Whether an external function never returns zero, or null, with these arguments."""
        if function.null or call.result is None:
            return False
        if function.result == "number":
            least, greatest = function.least, function.greatest
            return (least is not None and least > 0) or (greatest is not None and greatest < 0)
        if not isinstance(call.result.type, Pointer):
            return False
        if function.result in ("argument", "into"):
            return function.of < len(call.arguments) and is_nonzero(known, call.arguments[function.of], self._always)
        return True

    def _with_table(self, known: Known, target: ir.Expr, name: str) -> Known:
        """What is known behind the result of a function of the library whose result leads to a pointer."""
        function, type_ = self._program.known(name), target.type
        if function is None or "table" not in function.besides or name in self._program.functions:
            return known
        if not isinstance(target, ir.Var) or not isinstance(type_, Pointer) or not isinstance(type_.target, Pointer):
            return known
        return known._replace(nonzero=known.nonzero | {ir.Deref(target, type_.target)})

    def _with_length(self, known: Known, target: ir.Expr, name: str) -> Known:
        """A length is not the greatest number of its type: the text, and what ends it, are in memory."""
        function = None if name in self._program.functions else self._program.known(name)
        is_length = function is not None and "size_t" in function.besides and bool(function.positions("text"))
        if not is_length or not isinstance(target, ir.Var) or not isinstance(target.type, Integer):
            return known
        return known._replace(nonzero=known.nonzero | {ir.Unary("~", target, target.type)})

    def _with_result(self, known: Known, edge: Edge, target: ir.Expr, *, nonzero: bool) -> Known:
        """The result is assigned when the call is over, and so is where it goes to."""
        for one in self._needed[edge.id]:
            if one.later:
                known = self._with_need(known, edge, one, tells=one.tells)
        place = self._objects.place(target)
        after = self._write(known, frozenset((place,)))
        is_same = not any(self._objects.meets(part, (place,)) for part in ir.place_values(target))
        if nonzero and is_same:
            after = after._replace(nonzero=after.nonzero | {target})
        return after


def _linked(function: Function | None, call: ir.Call) -> Iterator[ir.Expr]:
    """The variables where a library function stores a pointer into the text that it is passed: `end` of `strtol(s, &end, 10)`
    (C11 7.22.1.4p5)."""
    if function is None or not function.is_complete or not function.positions("text") or function.result != "number":
        return
    for at in function.positions("link"):
        bare = ir.strip_casts(call.arguments[at]) if at < len(call.arguments) else None
        if isinstance(bare, ir.AddressOf) and isinstance(bare.lvalue.type, Pointer) and is_stable(bare.lvalue):
            yield bare.lvalue
