"""What is known where two ways through a function meet, and whether one state says what another does."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from analysis.certificate.relations.differences import ZERO, Difference
from analysis.certificate.relations.evaluation import Evaluation, Linear
from analysis.certificate.relations.relation_contract import returned
from analysis.certificate.relations.relation_state import RelationState, is_in_frame, named_now, now
from analysis.certificate.relations.relation_transfer import RelationTransfer, candidates
from analysis.cfa.graph import Cfa
from analysis.model import ir
from analysis.model.c_types import Integer
from analysis.model.kept_with import kept_with

_MOST_CONSTANTS = 3
_STEPS = (-2, -1, 0)  # how much less a variable is than a term: one less than where it is compared, and less or equal there


def joined(transfer: RelationTransfer, one: RelationState, other: RelationState) -> RelationState:
    """What both states say. What is known of a variable only in differences never becomes more, so that this ends."""
    first, second = transfer.evaluation(one), transfer.evaluation(other)
    values = dict(_same_values(one, other, first, second))
    found = set(_kept(one, first, second)) | set(_kept(other, second, first))
    others = candidates(transfer.cfa)
    for variable in _numbers(transfer, one, other):
        if variable in values:
            continue
        pair = _held(one, first, variable), _held(other, second, variable)
        if pair[0] is not None and pair[1] is not None:
            found |= set(_compared(variable, (first, pair[0]), (second, pair[1]), others, _constants(transfer.cfa)))
    return RelationState(values, one.written | other.written, frozenset(found))


def implies(transfer: RelationTransfer, one: RelationState, other: RelationState) -> bool:
    """Whether one state says all that another does."""
    if one == other:
        return True
    known = transfer.evaluation(one)
    if not one.written <= other.written or any(_value(one, known, place) != term for place, term in other.values.items()):
        return False
    variables = {now(variable): variable for variable in _numbers(transfer, one, one)}
    return all(_follows(one, known, difference, variables) for difference in other.differences)


def _follows(state: RelationState, known: Evaluation, one: Difference, variables: dict[ir.Var, ir.Var]) -> bool:
    """Whether a difference follows, also where a variable has a term now."""
    left, right = (_in_terms(state, known, side, variables) for side in (one.left, one.right))
    if left is None or right is None:
        return False
    return known.differences.implies(Difference(left[0], right[0], one.most + right[1] - left[1]))


def _in_terms(state: RelationState, known: Evaluation, side: ir.Expr, variables: dict[ir.Var, ir.Var]) -> Linear | None:
    if isinstance(side, ir.Var) and side in variables:
        return _held(state, known, variables[side])
    is_current = any(named_now(part) and part in variables and variables[part] in state.values for part in ir.variables(side))
    return None if is_current else (side, 0)


def _value(state: RelationState, known: Evaluation, place: ir.Expr) -> ir.Expr | None:
    return state.values.get(place) if is_in_frame(place) else known.held(place)


def _same_values(
    one: RelationState, other: RelationState, first: Evaluation, second: Evaluation
) -> Iterator[tuple[ir.Expr, ir.Expr]]:
    for place in dict.fromkeys((*one.values, *other.values)):
        term = _value(one, first, place)
        if term is not None and term == _value(other, second, place):
            yield place, term


def _kept(one: RelationState, known: Evaluation, other: Evaluation) -> Iterator[Difference]:
    """The differences of terms that hold on both ways."""
    yield from (each for each in one.differences if not _speaks_of_now(each) and other.differences.implies(each))


def _speaks_of_now(one: Difference) -> bool:
    return any(named_now(part) for side in (one.left, one.right) for part in ir.variables(side))


def _numbers(transfer: RelationTransfer, one: RelationState, other: RelationState) -> tuple[ir.Var, ...]:
    """The integer variables of which something is known on both ways."""
    result = returned(transfer.cfa.type.result)
    own = (*transfer.variables.values(), result)
    spoken = {name for state in (one, other) for name in _spoken_of(state)}
    return tuple(variable for variable in own if isinstance(variable.type, Integer) and variable.name in spoken)


def _spoken_of(state: RelationState) -> Iterator[str]:
    yield from (place.name for place in state.values if isinstance(place, ir.Var))
    sides = (side for one in state.differences for side in (one.left, one.right))
    yield from (name for side in sides for part in ir.variables(side) if (name := named_now(part)))


def _held(state: RelationState, known: Evaluation, variable: ir.Var) -> Linear | None:
    term = state.values.get(variable)
    return (now(variable), 0) if term is None else known.linear(term)


def _compared(
    variable: ir.Var,
    one: tuple[Evaluation, Linear],
    other: tuple[Evaluation, Linear],
    terms: Iterable[ir.Expr],
    constants: tuple[int, ...],
) -> Iterator[Difference]:
    """How a variable compares with terms on both ways: that it is less, or at most as large, and the other way round; and with
    constants of the function."""
    for term in terms:
        above = _most(_plus(known.differences.most(value, term), added) for known, (value, added) in (one, other))
        below = _most(_plus(known.differences.most(term, value), -added) for known, (value, added) in (one, other))
        steps = constants if term == ZERO else _STEPS
        yield from (Difference(now(variable), term, most) for most in _next(above, steps))
        yield from (Difference(term, now(variable), most) for most in _next(below, steps))


def _plus(most: int | None, added: int) -> int | None:
    return None if most is None else most + added


def _most(found: Iterable[int | None]) -> int | None:
    known = list(found)
    return None if None in known else max(one for one in known if one is not None)


def _next(least: int | None, steps: tuple[int, ...]) -> tuple[int, ...]:
    """The first of some numbers that is not less; none if there is none. So bounds that grow in loops take few steps."""
    return () if least is None else tuple(one for one in steps if one >= least)[:1]


@kept_with
def _constants(cfa: Cfa) -> tuple[int, ...]:
    """The constants of a function that are nearest to 0, those beside them, and the same with the other sign."""
    named = {part.value for parts in cfa.parts.values() for part in parts if isinstance(part, ir.IntConst)}
    few = sorted({0, *named}, key=lambda one: (abs(one), one))[:_MOST_CONSTANTS]
    return tuple(sorted({sign * (one + beside) for one in few for beside in (-1, 0, 1) for sign in (1, -1)}))
