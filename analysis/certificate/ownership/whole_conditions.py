"""Whether conditions are met under which rules hold in functions: in runs from `main`, by what pointers lead to in all of the
program (`certificate.pointed`).

So a rule can hold at a place though nothing is known there of a pointer that comes out of memory: if the program never ends what
it may lead to; or of what is overwritten: if that never leads to anything that could be lost. The latter may be asked of all that
a function calls, as callers get from it what it loses.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from operator import is_
from typing import NamedTuple

from analysis.certificate.ownership.obligations import LEAKS, Condition, Obligations
from analysis.certificate.ownership.open_descriptors import opens_descriptors
from analysis.certificate.pointed.nodes import MADE
from analysis.certificate.pointed.whole_program import Pointed, pointed
from analysis.cfa.graph import Program
from analysis.model.kept_with import kept_with
from analysis.model.spelling import display_name

_OF_FUNCTIONS = frozenset(("below", "through"))
"""Conditions that are met, or not, by what is found of other functions."""
_LOST = {"memory-leak": MADE, "resource-leak": MADE - {"heap"}}


_NOTHING = Obligations()


class _Looked:
    """What closed sets show, with all of it that was looked at, by function; None: they show nothing."""

    def __init__(self, found: Mapping[str, Obligations]) -> None:
        self._found = found
        self.looked: dict[str, Obligations | None] = {}

    def get(self, name: str) -> Obligations | None:
        """What is shown of a function."""
        one = self.looked[name] = self._found.get(name)
        return one


class _Reason(NamedTuple):
    """Why a condition may not be met, and what it follows from beside what pointers lead to: what is shown of functions."""

    names: tuple[str, ...]
    found: tuple[Obligations | None, ...]
    why: str

    def holds(self, found: Mapping[str, Obligations]) -> bool:
        """Whether it follows from what is shown now."""
        return all(map(is_, map(found.get, self.names), self.found))


_Found = Mapping[str, Obligations] | _Looked


@kept_with
def _reasons(_pointed: Pointed) -> dict[tuple[str, str, bool, bool], _Reason]:
    """Why conditions may not be met: after an edit, it is computed again of those functions only for which something else is
    shown of a function that it follows from."""
    return {}


def unmet(program: Program, found: Mapping[str, Obligations], function: str, rule: str, *, is_kept: bool = False) -> str:
    """Why a condition may not be met under which a rule holds in a function, in runs from `main`; empty if all are. `found` is
    what closed sets show. `is_kept`: callers of the function keep what it requires of what its parameters lead to."""
    known, key = _reasons(pointed(program)), (function, rule, is_kept, opens_descriptors(program))
    before = known.get(key)
    if before is None or not before.holds(found):
        looked = _Looked(found)
        why = _unmet(program, looked, function, rule, is_kept=is_kept)
        before = known[key] = _Reason(tuple(looked.looked), tuple(looked.looked.values()), why)
    return before.why


def _unmet(program: Program, found: _Found, function: str, rule: str, *, is_kept: bool) -> str:
    for name, condition, why in _asked(program, found, function, rule, is_kept=is_kept):
        if condition.what == "below":
            if found.get(condition.callee) is None:
                return f"{display_name(condition.callee)}() is called, and is not followed"
        elif condition.what == "through":
            called = _called_through(program, name, condition)
            if called is None or not all(_gives_nothing(program, found, one, rule) for one in called):
                return why
        else:
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
    program: Program, found: _Found, function: str, rule: str, *, is_kept: bool = False
) -> Iterator[tuple[str, Condition, str]]:
    """The conditions of a function, and of those that it is asked about, each with its function and why it matters."""
    waiting, seen = [function], {function}
    while waiting:
        name = waiting.pop()
        one = found.get(name) or _NOTHING
        for condition, why in _left(program, name, one, rule, is_kept=is_kept and name == function):
            yield name, condition, why
            new = [one for one in _asked_about(program, name, condition) if one not in seen]
            seen.update(new)
            waiting += new


def _left(program: Program, function: str, one: Obligations, rule: str, *, is_kept: bool) -> tuple[tuple[Condition, str], ...]:
    """The conditions of a function without those that are met by what pointers lead to. As long as neither this differs nor the
    conditions, they are what they were before an edit."""
    known, key = _answers(pointed(program)), (function, rule, is_kept, opens_descriptors(program))
    found = known.get(key)
    if found is None or found[0] is not one:
        lost = {} if is_kept else one.lost.get(rule, {})
        asked = (*one.unless.get(rule, {}).items(), *lost.items())
        left = (each for each in asked if each[0].what in _OF_FUNCTIONS or not _is_met(program, function, rule, each[0]))
        found = known[key] = one, tuple(left)
    return found[1]


@kept_with
def _answers(_pointed: Pointed) -> dict[tuple[str, str, bool, bool], tuple[Obligations, tuple[tuple[Condition, str], ...]]]:
    return {}


def _asked_about(program: Program, function: str, condition: Condition) -> tuple[str, ...]:
    """The functions that a condition of a function is about, which the program defines."""
    if condition.what == "below":
        return (condition.callee,)
    called = _called_through(program, function, condition) if condition.what == "through" else None
    return tuple(one for one in called or () if one in program.functions)


def _called_through(program: Program, function: str, condition: Condition) -> tuple[str, ...] | None:
    """What is called through the pointer of a condition, in runs from `main`; None if that is not known."""
    return None if condition.expr is None else pointed(program).called(function, condition.expr)


def _gives_nothing(program: Program, found: _Found, name: str, rule: str) -> bool:
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
