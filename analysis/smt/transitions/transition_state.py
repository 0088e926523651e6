"""State variables, and symbolic states: what holds of a state in terms of the state at the start of a stretch of the program.

A state variable's name says which object it is: `@g` is a global, `3:x` the variable `x` of context 3 (one activation of a
function, by the calls that led to it), `@g.64` the scalar of an object at bit 64, `heap:int32` the memory that holds scalars of a
class, by address, and `#next` where the next allocated block will be.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from analysis.model.c_types import Type
from analysis.smt.logic.term_building import FALSE, TRUE, and_, ite, not_, or_
from analysis.smt.logic.terms import BOOL, Term


class StateVariable(msgspec.Struct, frozen=True, cache_hash=True):
    """A part of the state: a scalar of a type, or (`is_array`) an array of scalars of that type."""

    name: str
    type: Type
    is_array: bool = False

    @property
    def is_shared(self) -> bool:
        """Whether all functions see it: a global, memory, or where the next block will be."""
        return self.name[0] in "@#" or self.name.startswith("heap:")


class State(msgspec.Struct, frozen=True):
    """The states that satisfy `guard`, where the variables in `values` have changed to these terms. The terms are over the
    symbols of the state variables, which stand for the state at the start, and over inputs."""

    guard: tuple[Term, ...]
    values: Mapping[StateVariable, Term]

    def constrained(self, *more: Term) -> State | None:
        """With more that holds; None if that is plainly impossible."""
        kept = dict.fromkeys(self.guard)
        for term in more:
            for part in term.args if term.op == "and" else (term,):
                if part is FALSE or (part.op != "value" and not_(part) in kept):
                    return None
                if part is not TRUE:
                    kept[part] = None
        return State(tuple(kept), self.values)


START = State((), {})


class Inputs:
    """The supply of symbols that stand for what the program does not determine; none is given out twice. `types` has the C type
    of those that have one."""

    def __init__(self) -> None:
        self.types: dict[str, Type] = {}
        self._given = 0

    def name(self, kind: str) -> str:
        """A name that was not given out, nor will be."""
        self._given += 1
        return f"{kind}!{self._given}"

    def choice(self) -> Term:
        """A Boolean that nothing determines."""
        return Term("symbol", (), BOOL, self.name("choice"))


def merged(one: State, other: State, symbol_of: Mapping[StateVariable, Term], choice: Term | None) -> State:
    """The states of either. `symbol_of` gives the symbols of the variables that only one of them changed. `choice`: a Boolean
    that says which one is meant; None if no run reaches both with the same inputs (see `System.merged`)."""
    common = set(other.guard)
    shared = [part for part in one.guard if part in common]
    known = set(shared)
    left = [part for part in one.guard if part not in known]
    right = [part for part in other.guard if part not in known]
    condition = next((part for part in left if not_(part) in right), None)
    if condition is None and choice is not None:
        left, right, condition = [choice, *left], [not_(choice), *right], choice
    elif condition is None:
        condition = and_(*left) if left else not_(and_(*right))
    values: dict[StateVariable, Term] = {}
    for variable in _all_keys(one.values, other.values):
        then, otherwise = one.values.get(variable), other.values.get(variable)
        start = symbol_of[variable]
        values[variable] = ite(condition, start if then is None else then, start if otherwise is None else otherwise)
    guard = (*shared, or_(and_(*left), and_(*right)))
    return State(tuple(part for part in guard if part is not TRUE), values)


def _all_keys(*mappings: Mapping[StateVariable, Term]) -> Iterator[StateVariable]:
    yield from dict.fromkeys(key for mapping in mappings for key in mapping)
