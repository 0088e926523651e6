"""Checks claims about bounds of integers: where a function begins they hold, and each edge leads from what is claimed before it
to what is claimed behind it. The bounds of results follow from that, and that operators violate no rule."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Literal, get_args

from analysis.c.operators import rules_of
from analysis.certificate.nonzero.requirement_checker import obstacle
from analysis.certificate.ranges.bounded_values import Known, Range, Ranges, may_fail
from analysis.certificate.ranges.function_ranges import Contract, FunctionRanges
from analysis.certificate.ranges.range_transfer import Contracts, NotFollowedError, RangeTransfer, bounded
from analysis.certificate.refusal import RefusedError
from analysis.cfa.graph import Cfa, Edge, Program
from analysis.cfa.marks import marked
from analysis.cpa.predicates.violations import divides_floats, violations_in
from analysis.model import ir
from analysis.model.spelling import display_name, spell_expr

RangeRule = Literal["division-by-zero", "shift-range", "signed-overflow"]
RULES: frozenset[str] = frozenset(get_args(RangeRule))
"""The rules of which bounds can prove that operators keep them."""


def check_ranges(program: Program, claims: Iterable[FunctionRanges], below: Contracts, *, defined: bool = False) -> None:
    """Accepts claims about functions that call each other, or raises RefusedError. `below` are the contracts of what else they
    call, which were accepted before; `defined`: as in `bounded_values.Known`."""
    given = tuple(claims)
    own = {one.function: Contract(one.returns, one.result) for one in given}
    if len(own) < len(given) or not own.keys() <= program.functions.keys():
        raise RefusedError("its functions are not those that it should be about")
    for one in given:
        _check(program, one, lambda name: own[name] if name in own else below(name), defined=defined)


def _check(program: Program, claim: FunctionRanges, contracts: Contracts, *, defined: bool) -> None:
    """Refuses a claim that does not follow from itself."""
    cfa = program.functions[claim.function]
    transfer = RangeTransfer(program, cfa, contracts, defined=defined)
    known = _states(cfa, claim)
    _implies(transfer.at_entry(), known.get(cfa.entry), cfa, None)
    try:
        for location, ranges in known.items():
            for edge in cfa.outgoing.get(location, ()):
                after = transfer.after(ranges, edge)
                if after is not None:
                    _implies(after, known.get(edge.target), cfa, edge)
                    if edge.target == cfa.exit:
                        _returns(claim, transfer.result(ranges, edge))
    except NotFollowedError as error:
        raise RefusedError(str(error)) from error


def _states(cfa: Cfa, claim: FunctionRanges) -> dict[int, Ranges]:
    """What is claimed, by location. RefusedError if it speaks of what the function does not have."""
    names, found = bounded(cfa), dict[int, Ranges]()
    for location, rows in claim.bounds:
        known: dict[str, Range] = {name: (low, high) for name, low, high in rows}
        is_odd = len(known) < len(rows) or not known.keys() <= names.keys() or any(low > high for low, high in known.values())
        if is_odd or location in found or location not in cfa.locations:
            raise RefusedError(f"its bounds in {display_name(cfa.name)}() are not said clearly")
        found[location] = known
    return found


def _implies(after: Ranges, claimed: Ranges | None, cfa: Cfa, edge: Edge | None) -> None:
    where = f"behind edge {edge.id}" if edge is not None else "at its entry"
    if claimed is None:
        raise RefusedError(f"{display_name(cfa.name)}() is claimed not to come {where}")
    for name, (low, high) in claimed.items():
        if name not in after or after[name][0] < low or after[name][1] > high:
            raise RefusedError(f"the bounds of {display_name(name)} in {display_name(cfa.name)}() need not hold {where}")


def _returns(claim: FunctionRanges, result: Range | None) -> None:
    if not claim.returns:
        raise RefusedError(f"{display_name(claim.function)}() may return")
    if claim.result is not None and (result is None or result[0] < claim.result[0] or result[1] > claim.result[1]):
        raise RefusedError(f"{display_name(claim.function)}() may return something else")


def open_reason(program: Program, accepted: Mapping[str, FunctionRanges], name: str, rule: RangeRule) -> str:
    """Why claims that were accepted do not prove a rule in a function, whoever calls it; empty if they do. They must not be about
    runs in which nothing overflows."""
    reason = obstacle(program, (name,))
    if reason:
        return reason
    if name not in accepted:
        return f"{display_name(name)}() is not followed"
    cfa, known = program.functions[name], _states(program.functions[name], accepted[name])
    for violation in violations_in(program, name, rule):
        edge = cfa.by_id[violation.edge]
        part = next(_open_parts(edge, known, rule), None)
        if part is not None:
            return f"`{spell_expr(part)}` may violate it at {marked(program, name, edge.id)}"
    return ""


def _open_parts(edge: Edge, known: Mapping[int, Ranges], rule: RangeRule) -> Iterator[ir.Expr]:
    """The operators at an edge that may violate a rule. Where a result goes is looked for after the call, when other bounds
    may hold: nothing is known there."""
    ranges = known.get(edge.source)
    if ranges is None:
        return  # no run comes there
    target = ir.target_of(edge.effect) if isinstance(edge.effect, ir.Call) else None
    for expr in ir.expressions(edge.effect):
        for part in ir.walk(expr):
            is_of_floats = rule == "division-by-zero" and divides_floats(part)
            if is_of_floats or (rule in rules_of(part) and (expr is target or may_fail(rule, part, Known(ranges)))):
                yield part
