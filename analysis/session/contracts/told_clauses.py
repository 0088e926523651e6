"""What is said of what a result tells: "returns 0 if and only if `p == NULL`"."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from analysis.certificate.nonzero.callee_contracts import Contract, Tell
from analysis.model import ir
from analysis.model.c_types import Pointer, Type
from analysis.model.spelling import spell_expr
from analysis.session.contracts.function_contract import Clause, Status

_FROM = "all that it returns"
_MOST = 2


def told_clauses(contract: Contract, type_: Type, status: Status, expected: Collection[str]) -> Iterator[Clause]:
    """The clauses, those in both directions first. What holds whatever is returned tells nothing, and neither does what is
    `expected` of callers: it is known because they keep it, and of no other call."""
    tells = contract.tells or frozenset()
    zero = "NULL" if isinstance(type_, Pointer) else "0"
    news = (one for one in tells if one._replace(when=not one.when) not in tells and _condition(one) not in expected)
    telling = sorted(news, key=_order)
    both = [one for one in telling if not one.when and Tell(True, one.expr, not one.nonzero) in tells]
    said = [_both(one, zero, status) for one in both]
    known = {one.expr for one in both}
    said += [_one(one, zero, status) for one in telling if one.expr not in known]
    yield from said[:_MOST]


def _order(one: Tell) -> tuple[int, str, bool, bool]:
    return len(ir.walk(one.expr)), spell_expr(one.expr), one.when, one.nonzero


def _both(one: Tell, zero: str, status: Status) -> Clause:
    condition = _condition(one)
    text = f"returns {zero} if and only if `{condition}`"
    return Clause(text, f"(result == {zero}) == ({condition})", status, _FROM)


def _one(one: Tell, zero: str, status: Status) -> Clause:
    condition, operator = _condition(one), "!=" if one.when else "=="
    text = f"if it returns {'another value than ' if one.when else ''}{zero}, `{condition}`"
    return Clause(text, f"!(result {operator} {zero}) || {condition}", status, _FROM)


def _condition(one: Tell) -> str:
    zero = "NULL" if isinstance(one.expr.type, Pointer) else "0"
    return f"{spell_expr(one.expr)} {'!=' if one.nonzero else '=='} {zero}"
