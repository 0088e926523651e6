"""Whether conditions are met under which rules hold in functions: in runs from `main`, by what pointers lead to in all of the
program (`certificate.pointed`).

So a rule can hold at a place though nothing is known there of a pointer that comes out of memory: if the program never ends what
it may lead to; or of what is overwritten: if that never leads to anything that could be lost. The latter may be asked of all that
a function calls, as callers get from it what it loses.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from analysis.certificate.ownership.obligations import LEAKS, Condition, Obligations
from analysis.certificate.ownership.open_descriptors import opens_descriptors
from analysis.certificate.pointed.nodes import MADE
from analysis.certificate.pointed.whole_program import pointed
from analysis.cfa.graph import Program
from analysis.model.spelling import display_name

_LOST = {"memory-leak": MADE, "resource-leak": MADE - {"heap"}}


def unmet(program: Program, found: Mapping[str, Obligations], function: str, rule: str, *, is_kept: bool = False) -> str:
    """Why a condition may not be met under which a rule holds in a function, in runs from `main`; empty if all are. `found` is
    what closed sets show. `is_kept`: callers of the function keep what it requires of what its parameters lead to."""
    for name, condition, why in _asked(program, found, function, rule, is_kept=is_kept):
        if condition.what == "below":
            if condition.callee not in found:
                return f"{display_name(condition.callee)}() is called, and is not followed"
        elif condition.what == "through":
            called = _called_through(program, name, condition)
            if called is None or not all(_gives_nothing(program, found, one, rule) for one in called):
                return why
        elif not _is_met(program, name, rule, condition):
            return why
    return ""


def has_conditions(found: Obligations, rule: str) -> bool:
    """Whether a rule holds in a function only under conditions."""
    return bool(found.unless.get(rule) or found.lost.get(rule))


def asked_below(program: Program, found: Mapping[str, Obligations], function: str, rule: str) -> Iterator[str]:
    """The functions that conditions of a function are about, as far as it is known what these call."""
    for name, condition, _ in _asked(program, found, function, rule):
        yield from _asked_about(program, name, condition)


def never_ends(program: Program, function: str, parameter: str) -> bool:
    """Whether the program never ends what a parameter leads to, in runs from `main`."""
    variable = next(one for one in program.functions[function].parameters if one.name == parameter)
    return pointed(program).never_ends(function, variable)


def _asked(
    program: Program, found: Mapping[str, Obligations], function: str, rule: str, *, is_kept: bool = False
) -> Iterator[tuple[str, Condition, str]]:
    """The conditions of a function, and of those that it is asked about, each with its function and why it matters."""
    waiting, seen = [function], {function}
    while waiting:
        name = waiting.pop()
        one = found.get(name, Obligations())
        lost = {} if is_kept and name == function else one.lost.get(rule, {})
        for condition, why in (*one.unless.get(rule, {}).items(), *lost.items()):
            yield name, condition, why
            new = [one for one in _asked_about(program, name, condition) if one not in seen]
            seen.update(new)
            waiting += new


def _asked_about(program: Program, function: str, condition: Condition) -> tuple[str, ...]:
    """The functions that a condition of a function is about, which the program defines."""
    if condition.what == "below":
        return (condition.callee,)
    called = _called_through(program, function, condition) if condition.what == "through" else None
    return tuple(one for one in called or () if one in program.functions)


def _called_through(program: Program, function: str, condition: Condition) -> tuple[str, ...] | None:
    """What is called through the pointer of a condition, in runs from `main`; None if that is not known."""
    return None if condition.expr is None else pointed(program).called(function, condition.expr)


def _gives_nothing(program: Program, found: Mapping[str, Obligations], name: str, rule: str) -> bool:
    """Whether callers of a function, whatever it is passed, get no block from it unseen, and get control back, if its own
    conditions are met."""
    if name not in program.functions:
        function = program.known(name)
        return function is not None and function.leaves_memory and function.result in ("number", "argument", "into")
    one = found.get(name)
    return one is not None and not (one.broken or one.returns_new or one.leaves or rule in one.handed)


def _is_met(program: Program, function: str, rule: str, condition: Condition) -> bool:
    if condition.expr is None:
        return False
    if rule not in LEAKS:
        return condition.what == "never ends" and pointed(program).never_ends(function, condition.expr)
    if rule == "resource-leak" and opens_descriptors(program):
        return False  # a number may be that of an open file
    return condition.what == "holds none" and pointed(program).holds_none(function, condition.expr, _LOST[rule])
