"""What the edges of one function do to what is known, by the contracts of what it calls, and what they need that is not known."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import msgspec

from analysis.c.functions import Function
from analysis.certificate.nonzero.called_contexts import InContext, given, never, text_of
from analysis.certificate.nonzero.callee_contracts import ANYTHING, Contract, Tell, followed_pointers, not_followed, passed
from analysis.certificate.nonzero.conditions import assumed
from analysis.certificate.nonzero.data_invariants import Always, Invariant, Invariants, said_of
from analysis.certificate.nonzero.fresh_blocks import fresh_blocks, is_fresh
from analysis.certificate.nonzero.function_edges import Edges
from analysis.certificate.nonzero.library_results import is_never_zero, linked, with_length, with_table
from analysis.certificate.nonzero.needed_values import Needed, begun
from analysis.certificate.nonzero.open_orders import OpenOrders, amid_operands
from analysis.certificate.nonzero.told_results import ToldResults, after_call
from analysis.certificate.nonzero.values import Known, is_nonzero, is_stable, is_zero
from analysis.certificate.nonzero.writes import Own, Place, seen_outside
from analysis.cfa.graph import Edge
from analysis.cfa.linking.obstacle_words import OPEN_ORDER
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
    found. `broken`: why the function is not followed, else empty. `written`: what it may write, as callers see it, and `cleared`
    what of that may be zero then. `is_nonzero`: whether it never returned zero so far; `unless`: the parameters that were zero
    wherever it may have. `failed`: the invariants that an edge may break, with the first one that may. `stopped`: the edges
    behind which nothing is followed."""

    def __init__(self, edges: Edges, contracts: Mapping[str, Contract], in_context: InContext = never) -> None:
        self._program, self._cfa, self._contracts = edges.program, edges.cfa, contracts
        self._edges, self._in_context = edges, in_context
        self._always = Always(edges.streams, edges.invariants)
        self._objects, self._needed, self._construction = edges.objects, edges.needed, edges.construction
        self._orders = OpenOrders(edges.program, edges.cfa, edges.objects, contracts)
        self._amid = amid_operands(edges.cfa)
        self._fixed = {one: at for at, one in enumerate(edges.cfa.parameters) if one.name in edges.fixed}
        self.missing: dict[Missing, None] = {}
        self.failed: dict[Invariant, int] = {}
        self.stopped: dict[int, None] = {}
        self.broken = ""
        self.written: frozenset[Place] = frozenset()
        self.cleared: frozenset[Place] = frozenset()
        self.is_nonzero = True
        self.unless = frozenset(self._fixed.values())
        self._told = ToldResults(edges.cfa, edges.fixed)

    @property
    def tells(self) -> frozenset[Tell] | None:
        """What results tell so far."""
        return self._told.tells

    @property
    def used(self) -> Invariants:
        """The invariants that were relied on."""
        return frozenset(self._always.used)

    def after(self, known: Known, edge: Edge) -> Known | None:
        """What is known after an edge; None if it cannot be taken."""
        if self._construction is None and self._orders.is_followed(edge):
            return self._orders.entered(known, edge)
        found = self._after(known, edge)
        return self._orders.inside(found, edge.target) if found is not None and found.unordered else found

    def _after(self, known: Known, edge: Edge) -> Known | None:
        match edge.effect:
            case ir.Unsupported(reason):
                self._stop(known, edge, not_supported(self._cfa.name, reason))
                return None
            case ir.Assume(condition, truth):
                return assumed(self._checked(known, edge), condition, self._always, truth=truth)
            case ir.Assign(target, value):
                return self._assigned(self._checked(known, edge), edge, target, value)
            case ir.Call() as call:
                return self._called(self._checked(known, edge), edge, self._with_format(known, edge, call))
            case ir.Return(value):
                known = self._checked(known, edge)
                self._told.returned(known, value, self._always)
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
        needed = self._needed[edge.id]
        if edge.id in self._edges.formats and isinstance(edge.effect, ir.Call):
            needed = self._edges.needed_by(self._with_format(known, edge, edge.effect))
        for one in needed:
            known = self._with_need(known, edge, one, tells=one.tells and not one.later)
        if self._construction is not None:
            known = self._construction.used(known, edge, lambda found: self._fail(edge, found))
        return known

    def _with_format(self, known: Known, edge: Edge, call: ir.Call) -> ir.Call:
        """The call with the string literal that its format is known to be."""
        at = self._edges.formats.get(edge.id)
        text = None if at is None else text_of(known, call.arguments[at])
        if at is None or text is None:
            return call
        arguments = (*call.arguments[:at], text, *call.arguments[at + 1 :])
        return msgspec.structs.replace(call, arguments=arguments)

    def _with_need(self, known: Known, edge: Edge, one: Needed, *, tells: bool) -> Known:
        if not one.why and (is_nonzero(known, one.expr, self._always) or one.unless in known.nonzero):
            return known
        self._miss(known, edge, one.expr, "", one.why)
        if one.why or not tells or edge.source in self._amid:
            return known
        return assumed(known, one.expr, self._always, truth=True) or known

    def _miss(self, known: Known, edge: Edge, expr: ir.Expr, callee: str, why: str) -> None:
        self.missing.setdefault(Missing(edge.id, expr, callee, tuple(known.values(ir.strip_casts(expr))), why))

    def _write(self, known: Known, written: frozenset[Place | Own], cleared: frozenset[Place | Own]) -> Known:
        self.written |= frozenset(seen_outside(written))
        self.cleared |= frozenset(seen_outside(cleared))
        return self._objects.without(known, written, cleared)

    def _assigned(self, known: Known, edge: Edge, target: ir.Expr, value: ir.Expr) -> Known:
        place = self._objects.place(target)
        nonzero = is_nonzero(known, value, self._always)
        is_set = nonzero and self._holds(target, value)
        after = self._write(known, frozenset((place,)), frozenset(() if is_set else (place,)))
        if self._construction is not None:
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
        why = not_followed(self._program, name, targets)
        if why:
            self._stop(known, edge, not_modelled(self._cfa.name, why))
            return None
        if self._construction is not None:
            self._check_parameters(known, edge, call, targets)
        promised = {target: self._promised(known, edge, call, target) for target in targets}
        is_kept = all(one is not None for one in promised.values())
        contract = self._contract(known, call, name, promised.get(name or "")) if is_kept else ANYTHING
        if not contract.returns:
            self._ended(known, edge)
            return None
        after = self._write(known, contract.writes, contract.clears)
        function = None if name is None or name in self._program.functions else self._program.known(name)
        after = self._stored(known, after, call, function)
        if call.result is None:
            return after
        is_value = name is not None and self._is_returned(name, call.result)
        nonzero = contract.nonzero or any(self._is_given(known, call, name or "", at) for at in contract.unless)
        after = self._with_result(after, edge, call.result, nonzero=nonzero and is_value)
        after = self._told_by(after, contract, call, call.result) if is_value else after
        if self._construction is not None:
            is_new = is_fresh(self._program, call, fresh_blocks(self._program))
            after = self._construction.returned(
                after, call.result, lambda found: self._fail(edge, found), nonzero=nonzero and is_value, is_new=is_new
            )
        return with_table(with_length(after, call.result, function), call.result, function)

    def _told_by(self, after: Known, contract: Contract, call: ir.Call, result: ir.Expr) -> Known:
        """What the result of a call by name tells."""
        callee = self._program.functions.get(ir.direct_callee(call) or "")
        if callee is None:
            return after
        return after._replace(told=after_call(after, contract, callee, call, self._objects, self._objects.place(result)))

    def _ended(self, known: Known, edge: Edge) -> None:
        """What follows a call that does not return: nothing, but other operands that may come first, and are not looked at."""
        if known.unordered:
            why = f"{display_name(self._cfa.name)}() contains {OPEN_ORDER}, with a call that does not return"
            self._stop(known, edge, why)

    def _stored(self, known: Known, after: Known, call: ir.Call, function: Function | None) -> Known:
        """What is known after a call of a library function of what it stored, or keeps for later calls: not for another operand,
        which may come first."""
        mark = None if function is None or not call.arguments else begun(function, 0)
        is_begun = mark is not None and not known.unordered and is_nonzero(known, call.arguments[0], self._always)
        return after._replace(nonzero=after.nonzero.union(linked(function, call), (mark,) if is_begun and mark else ()))

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

    def _promised(self, known: Known, edge: Edge, call: ir.Call, target: str) -> Contract | None:
        """The contract of a function that is called, if it gets what it needs, or needs nothing of this call. Else what it may
        not get is noted. Runs may go on without it, as the function may not come to where it needs that: then what is shown of it
        without that holds. None if nothing is."""
        contract, callee = self._contracts.get(target, ANYTHING), self._program.functions.get(target)
        lacking: list[tuple[ir.Expr, str]] = []
        for need in () if callee is None else contract.needs:
            expr = None if callee is None else passed(callee, need, call.arguments)
            if expr is None:
                lacking.append((need, "arguments do not fit the parameters"))
            elif not any(is_zero(known, pointer) for pointer in followed_pointers(expr)):
                lacking += [] if is_nonzero(known, expr, self._always) else [(expr, "")]
        if not lacking or callee is None:
            return contract
        # what operands in an open order write is known of calls that get what is needed (`open_orders`)
        passed_here = given(known, callee, call.arguments, self._always)
        alone = None if known.unordered else self._in_context(target, passed_here)
        if alone is not None:
            return alone
        for expr, why in lacking:
            self._miss(known, edge, expr, target, why)
        return None if known.unordered else contract.unkept

    def _contract(self, known: Known, call: ir.Call, name: str | None, promised: Contract | None) -> Contract:
        """What a call does. Where a pointer leads is not known. `promised`: by a function of the program."""
        if name is None:
            return ANYTHING
        if name in self._program.functions:
            return promised or ANYTHING
        function, external = self._program.known(name), self._program.externals.get(name)
        if external is not None and external.noreturn:
            return ANYTHING._replace(returns=False)
        if function is None or not function.is_complete:
            return ANYTHING
        writes = frozenset(place for place in self._objects.by_library(function, call) if isinstance(place, Place))
        nonzero = is_never_zero(known, call, function, self._always)
        return Contract((), not function.never_returns, nonzero, writes, clears=writes)

    def _with_result(self, known: Known, edge: Edge, target: ir.Expr, *, nonzero: bool) -> Known:
        """The result is assigned when the call is over, and so is where it goes to."""
        for one in self._needed[edge.id]:
            if one.later:
                known = self._with_need(known, edge, one, tells=one.tells)
        place = self._objects.place(target)
        after = self._write(known, frozenset((place,)), frozenset(() if nonzero else (place,)))
        is_same = not any(self._objects.meets(part, (place,)) for part in ir.place_values(target))
        if nonzero and is_same:
            after = after._replace(nonzero=after.nonzero | {target})
        return after
