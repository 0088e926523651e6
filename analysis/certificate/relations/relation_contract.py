"""What calls of a function may rely on, of how what it returns and writes relates to what was there at its entry."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from analysis.certificate.nonzero.writes import EVERYTHING, Place, seen_outside
from analysis.certificate.relations.differences import ZERO, Difference, Differences
from analysis.certificate.relations.relation_state import RETURNED, RelationState, is_in_frame, is_of_entry, now
from analysis.cfa.graph import Cfa
from analysis.model import ir
from analysis.model.c_types import Integer, Type

_MOST_WRITTEN = 24
_MOST_CELLS = 8
_FEW = 2  # such results say whether something was done, and are compared with nothing


class RelationContract(NamedTuple):
    """`result`: what is returned, as a term; None: it is not known. `cells`: what objects hold then. `bounds`: differences of the
    result and terms. `written`: what may be written of what callers see."""

    returns: bool = True
    result: ir.Expr | None = None
    cells: frozenset[tuple[ir.Expr, ir.Expr]] = frozenset()
    bounds: frozenset[Difference] = frozenset()
    written: frozenset[Place] = EVERYTHING


ANYTHING = RelationContract()
"""Of a function that is not followed."""
NEVER = RelationContract(returns=False, written=frozenset())
"""Of one that does not return."""


def returned(type_: Type) -> ir.Var:
    """Stands for what is returned."""
    return ir.Var(RETURNED, "local", type_)


def result_of(type_: Type) -> ir.Var:
    """Stands in bounds for what is returned."""
    return now(returned(type_))


def contract_of(cfa: Cfa, at_exit: RelationState | None, candidates: Iterable[ir.Expr]) -> RelationContract:
    """What follows from what holds where a function returns; None: it never does."""
    if at_exit is None:
        return NEVER
    written = frozenset(seen_outside(at_exit.written))
    written = written if len(written) <= _MOST_WRITTEN else EVERYTHING
    result, terms = at_exit.values.get(returned(cfa.type.result)), tuple(candidates)
    if result is None:
        result = next((one for one in terms if _is_returned(cfa.type.result, one, at_exit)), None)
    cells = sorted(_cells(at_exit), key=repr)[:_MOST_CELLS]
    bounds = () if result is not None else _bounds(result_of(cfa.type.result), at_exit, terms)
    return RelationContract(True, result, frozenset(cells), frozenset(bounds), written)


def _is_returned(type_: Type, term: ir.Expr, state: RelationState) -> bool:
    """Whether it follows from differences that a term is returned."""
    known, result = Differences(state.differences), result_of(type_)
    return term.type == type_ and known.most(result, term) == 0 == known.most(term, result)


def _cells(state: RelationState) -> Iterator[tuple[ir.Expr, ir.Expr]]:
    """The objects that callers see, named by what they passed, and what they hold."""
    for place, term in state.values.items():
        values = ir.place_values(place)
        is_named = not any(isinstance(part, ir.LVALUES) and not _is_parameter(part) for one in values for part in ir.walk(one))
        if not is_in_frame(place) and is_named and term != place and is_of_entry(term):
            yield place, term


def _is_parameter(part: ir.Expr) -> bool:
    return isinstance(part, ir.Var) and part.scope == "parameter"


def _bounds(result: ir.Var, state: RelationState, candidates: Iterable[ir.Expr]) -> Iterator[Difference]:
    """How the result compares with candidates, where the numbers that it can be do not say so."""
    known = Differences(state.differences)
    least, greatest = known.range(result)
    if least is None or greatest is None or greatest - least <= _FEW:
        return
    by_numbers = Differences((Difference(result, ZERO, greatest), Difference(ZERO, result, -least)))
    for term in candidates:
        for one in (Difference(result, term, -1), Difference(result, term, 0)):
            if known.implies(one) and not by_numbers.implies(one):
                yield one
                break
        for one in (Difference(term, result, -1), Difference(term, result, 0)):
            if known.implies(one) and not by_numbers.implies(one) and term != ZERO:
                yield one
                break


def weaker(one: RelationContract, other: RelationContract) -> RelationContract:
    """What both contracts say."""
    if not one.returns:
        return other
    if not other.returns:
        return one
    bounds = frozenset(each for each in one.bounds if Differences(_with_result(other)).implies(each))
    bounds |= frozenset(each for each in other.bounds if Differences(_with_result(one)).implies(each))
    result = one.result if one.result == other.result else None
    return RelationContract(True, result, one.cells & other.cells, bounds, one.written | other.written)


def _with_result(contract: RelationContract) -> Iterator[Difference]:
    """The bounds of a result, also of one that is a term."""
    yield from contract.bounds
    if contract.result is not None and isinstance(contract.result.type, Integer):
        result = result_of(contract.result.type)
        term, added = (ZERO, contract.result.value) if isinstance(contract.result, ir.IntConst) else (contract.result, 0)
        yield Difference(result, term, added)
        yield Difference(term, result, -added)
