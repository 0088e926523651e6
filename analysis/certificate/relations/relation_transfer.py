"""What the edges of a function do to what is known of it, by the contracts of what it calls."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from analysis.certificate.nonzero.callee_contracts import not_followed
from analysis.certificate.nonzero.writes import Objects, Own, Place
from analysis.certificate.relations.differences import ZERO, Difference
from analysis.certificate.relations.evaluation import Evaluation
from analysis.certificate.relations.relation_contract import ANYTHING, NEVER, RelationContract, result_of, returned
from analysis.certificate.relations.relation_state import (
    RelationState,
    is_followed,
    is_in_frame,
    is_of_entry,
    named_now,
    now,
)
from analysis.cfa.addresses_taken import taken_by
from analysis.cfa.graph import Cfa, Edge, Program
from analysis.cfa.live_variables import live
from analysis.cpa.obstacles.completeness import not_modelled, not_supported
from analysis.model import ir
from analysis.model.c_types import BIT_FIELD, Integer
from analysis.model.comparisons import COMPARISONS
from analysis.model.kept_with import kept_with
from analysis.model.spelling import display_name

Contracts = Callable[[str], RelationContract]
"""The contracts of functions of the program, by name."""
_MOST_CANDIDATES = 4
_MOST_DIFFERENCES = 16  # before conditions add no more


class NotFollowedError(Exception):
    """The function is not followed; why."""


@kept_with
def candidates(cfa: Cfa) -> tuple[ir.Expr, ...]:
    """What variables, and the result, are compared with: 0, integers that are passed, and variables of the program that the
    function compares. As terms, these stand for what was there at the entry."""
    own = [one for one in cfa.parameters if isinstance(one.type, Integer)]
    compared = (part for parts in cfa.parts.values() for part in parts if isinstance(part, ir.Binary))
    sides = (ir.strip_casts(side) for one in compared if one.operator in COMPARISONS for side in (one.left, one.right))
    others = [one for one in sides if _is_at_entry(one)]
    return ZERO, *tuple(dict.fromkeys((*own, *others)))[:_MOST_CANDIDATES]


def _is_at_entry(expr: ir.Expr) -> bool:
    return isinstance(expr, ir.Var) and isinstance(expr.type, Integer) and expr.scope == "global"


class RelationTransfer:
    """What the edges of one function do."""

    def __init__(self, program: Program, cfa: Cfa, contracts: Contracts) -> None:
        self.program, self.cfa, self._contracts = program, cfa, contracts
        self.objects = Objects(program, cfa)
        named = (part for parts in cfa.parts.values() for part in parts if isinstance(part, ir.Var))
        own = {one for one in (*cfa.parameters, *named) if one.scope not in ("global", "function") and is_followed(one.type)}
        taken = taken_by(cfa).own
        self.variables = {one.name: one for one in own if one.name not in taken}
        self.own = frozenset(self.variables)
        self._live = live(cfa)
        calls = (call for group in cfa.unordered for operand in group.operands for call in operand.calls)
        self._in_open_order = frozenset(name for call in calls for name in program.targets(call))

    def at_entry(self) -> RelationState:
        """What is known where the function begins: parameters hold what was passed."""
        return RelationState({one: one for one in self.cfa.parameters if is_followed(one.type)})

    def evaluation(self, state: RelationState) -> Evaluation:
        """The terms that expressions have in a state."""
        return Evaluation(self.objects, self.own, state)

    def may_matter(self, name: str, location: int) -> bool:
        """Whether a variable that only the function's own edges change may be read behind a location."""
        return name in self._live[location]

    def after(self, state: RelationState, edge: Edge) -> RelationState | None:
        """What is known behind an edge; None if it cannot be taken. Raises NotFollowedError."""
        found = self._after(state, edge)
        return None if found is None else self._relevant(found, edge.target)

    def _after(self, state: RelationState, edge: Edge) -> RelationState | None:
        match edge.effect:
            case ir.Assume(condition, truth):
                return self._assumed(state, condition, truth=truth)
            case ir.Assign(target, value):
                return self._assigned(state, target, value)
            case ir.Call() as call:
                return self._called(state, call)
            case ir.Return(value):
                variable = returned(self.cfa.type.result)
                is_known = value is not None and value.type == variable.type
                return self._own_assigned(state, self.evaluation(state), variable, value if is_known else None)
            case ir.Unsupported(reason):
                raise NotFollowedError(not_supported(self.cfa.name, reason))

    def _relevant(self, state: RelationState, location: int) -> RelationState:
        """Without what variables hold that are not read any more."""
        if location == self.cfa.exit:
            kept = frozenset((returned(self.cfa.type.result).name,))
            values = {one: term for one, term in state.values.items() if not is_in_frame(one) or _name(one) in kept}
            return RelationState(values, state.written, frozenset(one for one in state.differences if _nows(one) <= kept))
        values = {
            one: term
            for one, term in state.values.items()
            if not (isinstance(one, ir.Var) and one.name in self.own) or self.may_matter(one.name, location)
        }
        gone = {name for one in state.differences for name in _nows(one) if not self.may_matter(name, location)}
        differences = state.differences
        if gone:
            differences = frozenset(one for one in differences if gone.isdisjoint(_nows(one)))
        return RelationState(values, state.written, differences)

    def _assumed(self, state: RelationState, condition: ir.Expr, *, truth: bool) -> RelationState | None:
        if len(state.differences) >= _MOST_DIFFERENCES:
            return state
        new = frozenset(self.evaluation(state).assumed(condition, truth=truth))
        if new <= state.differences:
            return state
        found = state._replace(differences=state.differences | new)
        return None if self.evaluation(found).differences.is_contradiction else found

    def _assigned(self, state: RelationState, target: ir.Expr, value: ir.Expr) -> RelationState:
        before = self.evaluation(state)
        if isinstance(target, ir.Var) and target.name in self.own and target.scope not in ("global", "function"):
            return self._own_assigned(state, before, target, value if value.type == target.type else None)
        term = before.term(value) if value.type == target.type else None
        return self._stored(state, target, before.place(target), term)

    def _stored(self, state: RelationState, target: ir.Expr, place: ir.Expr | None, term: ir.Expr | None) -> RelationState:
        """After an object got a value. `place`: its name by what was there at the entry."""
        where = self.objects.place(target)
        if isinstance(where, Own):
            return state  # of parts of records nothing is said
        values = self._without(state, frozenset((where,)))
        is_whole = BIT_FIELD not in getattr(target.type, "name", "")
        if place is not None and term is not None and is_of_entry(term) and is_whole:
            values[place] = term
        return RelationState(values, state.written | {where}, state.differences)

    def _without(self, state: RelationState, written: frozenset[Place]) -> dict[ir.Expr, ir.Expr]:
        """The values without those of objects that may have been written to."""
        return {place: term for place, term in state.values.items() if not self._is_met(place, written)}

    def _is_met(self, place: ir.Expr, written: Iterable[Place]) -> bool:
        where = self.objects.place(place)
        return isinstance(where, Place) and any(where.meets(one) for one in written)

    def _own_assigned(self, state: RelationState, before: Evaluation, variable: ir.Var, value: ir.Expr | None) -> RelationState:
        """After a variable got a value that only the function's own edges change. What it holds now is another thing."""
        term = None if value is None else before.term(value)
        name, values = variable.name, dict(state.values)
        values.pop(variable, None)
        kept = frozenset(one for one in state.differences if name not in _nows(one))
        if term is not None and is_of_entry(term):
            values[variable] = term
            return RelationState(values, state.written, kept)
        linear = before.linear(term)
        if linear is None:
            return RelationState(values, state.written, kept)
        others = {*candidates(self.cfa), *(side for one in state.differences for side in (one.left, one.right)), linear[0]}
        others = {one for one in others if named_now(one) != name and not _mentions_now(one, name)}
        new = frozenset(before.equal(now(variable), linear, others))
        return RelationState(values, state.written, kept | new)

    def _called(self, state: RelationState, call: ir.Call) -> RelationState | None:
        name, targets = ir.direct_callee(call), self.program.targets(call)
        why = not_followed(self.program, name, targets)
        if why:
            raise NotFollowedError(not_modelled(self.cfa.name, why))
        contract = ANYTHING if name is None else self._contract(name, call)
        if not contract.returns:
            if not self._in_open_order.isdisjoint(targets):  # another operand may come first
                raise NotFollowedError(f"{display_name(self.cfa.name)}() may end before other operands")
            return None
        callee = None if name is None else self.program.functions.get(name)
        before = self.evaluation(state)
        inside = Evaluation(self.objects, self.own, state, {} if callee is None else _passed(before, callee, call))
        found = RelationState(self._without(state, contract.written), state.written | contract.written, state.differences)
        found = self._with_cells(found, inside, contract)
        return found if call.result is None else self._with_result(found, inside, contract, call.result, callee)

    def _with_cells(self, state: RelationState, inside: Evaluation, contract: RelationContract) -> RelationState:
        values = dict(state.values)
        for target, held in contract.cells:
            place, term = inside.place(target), inside.term(held)
            if place is not None and term is not None and is_of_entry(term):
                values[place] = term
        return state._replace(values=values)

    def _with_result(
        self, state: RelationState, inside: Evaluation, contract: RelationContract, target: ir.Expr, callee: Cfa | None
    ) -> RelationState:
        is_value = callee is not None and callee.type.result == target.type
        term = inside.term(contract.result) if is_value and contract.result is not None else None
        if not (isinstance(target, ir.Var) and target.name in self.own and target.scope not in ("global", "function")):
            return self._stored(state, target, self.evaluation(state).place(target), term)
        name, values = target.name, dict(state.values)
        values.pop(target, None)
        kept = frozenset(one for one in state.differences if name not in _nows(one))
        if term is not None and is_of_entry(term):
            values[target] = term
        new = frozenset(self._result_differences(inside, contract, target, term)) if is_value else frozenset[Difference]()
        return RelationState(values, state.written, kept | frozenset(one for one in new if not _is_about_old(one, name)))

    def _result_differences(
        self, inside: Evaluation, contract: RelationContract, target: ir.Var, term: ir.Expr | None
    ) -> Iterator[Difference]:
        """What is known of a result, by what was passed."""
        if term is not None:
            linear = None if is_of_entry(term) else inside.linear(term)
            yield from () if linear is None else inside.equal(now(target), linear, (linear[0], *candidates(self.cfa)))
        for one in contract.bounds:
            is_left = one.left == result_of(target.type)
            linear = inside.linear(inside.term(one.right if is_left else one.left))
            if linear is not None and is_left:
                yield Difference(now(target), linear[0], one.most + linear[1])
            elif linear is not None:
                yield Difference(linear[0], now(target), one.most - linear[1])

    def _contract(self, name: str, call: ir.Call) -> RelationContract:
        if name in self.program.functions:
            return self._contracts(name)
        function, external = self.program.known(name), self.program.externals.get(name)
        if (external is not None and external.noreturn) or (function is not None and function.never_returns):
            return NEVER
        if function is None or not function.is_complete or not function.only_writes:
            return ANYTHING
        written = self.objects.by_library(function, call)
        return RelationContract(written=frozenset(one for one in written if isinstance(one, Place)))


def _passed(before: Evaluation, callee: Cfa, call: ir.Call) -> dict[str, ir.Expr]:
    """The terms of what is passed, by parameter. Without a prototype, nothing converts it."""
    found = dict[str, ir.Expr]()
    for parameter, argument in zip(callee.parameters, call.arguments, strict=False):
        term = before.term(argument) if argument.type == parameter.type else None
        if term is not None:
            found[parameter.name] = term
    return found


def _name(place: ir.Expr) -> str:
    return place.name if isinstance(place, ir.Var) else ""


def _nows(one: Difference) -> frozenset[str]:
    """The variables whose values now a difference speaks of."""
    return frozenset(name for side in (one.left, one.right) for part in ir.walk(side) if (name := named_now(part)))


def _mentions_now(term: ir.Expr, name: str) -> bool:
    return any(named_now(part) == name for part in ir.walk(term))


def _is_about_old(one: Difference, name: str) -> bool:
    """Whether a difference speaks of what a variable held before, beside what it holds now."""
    return all(_mentions_now(side, name) for side in (one.left, one.right)) or any(
        _mentions_now(side, name) and not named_now(side) for side in (one.left, one.right)
    )
