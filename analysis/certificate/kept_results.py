"""What following functions showed, kept with what it followed from, so that nothing is followed twice from the same.

A function that is followed again shows the same if its CFA and the contracts of what it calls are the same. So after an edit, the
functions that call the edited one are looked up instead, as long as its contract is the old one. Functions that call each other
are followed in rounds, each from the contracts of the round before: an edit in one of them leaves most of these as they were.

What else of a program matters, its records for example, must be the same in all programs that results are kept of.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Generic, NamedTuple, TypeVar
from weakref import WeakKeyDictionary

from analysis.cfa.callgraph import callees, reached_by_pointers
from analysis.cfa.graph import Cfa, Program

_MOST = 100  # results of one CFA; the rounds of a group, and of one edit after the other, need some
_Contract = TypeVar("_Contract")
_Question = TypeVar("_Question")
_Result = TypeVar("_Result")


class _Kept(NamedTuple, Generic[_Contract, _Question, _Result]):
    """A result, and the `answers` to what was asked meanwhile, from which it follows, too."""

    answers: Mapping[_Question, _Contract]
    result: _Result


class KeptResults(Generic[_Contract, _Question, _Result]):
    """The newest results of functions."""

    def __init__(self) -> None:
        self._results: WeakKeyDictionary[Cfa, dict[Hashable, _Kept[_Contract, _Question, _Result]]] = WeakKeyDictionary()

    def find(
        self,
        program: Program,
        name: str,
        contracts: Mapping[str, _Contract],
        given: Hashable = (),
        answer: Callable[[_Question], _Contract] | None = None,
    ) -> _Result | None:
        """What is known to follow from this, and from what else is `given`; None if that is not known. `answer` says what is
        answered now, where results follow from that as well."""
        known = self._results.get(program.functions[name], {})
        key = _key(program, name, contracts, given)
        one = known.get(key)
        if one is None or not all(answer is not None and answer(asked) == said for asked, said in one.answers.items()):
            return None
        known[key] = known.pop(key)
        return one.result

    def keep(
        self,
        program: Program,
        name: str,
        contracts: Mapping[str, _Contract],
        result: _Result,
        given: Hashable = (),
        answers: Mapping[_Question, _Contract] | None = None,
    ) -> None:
        """Keeps a result."""
        known = self._results.setdefault(program.functions[name], {})
        known[_key(program, name, contracts, given)] = _Kept(answers or {}, result)
        while len(known) > _MOST:
            del known[next(iter(known))]


def _key(program: Program, name: str, contracts: Mapping[str, object], given: Hashable) -> Hashable:
    called = tuple(contracts.get(one) for one in callees(program)[name])
    return given, called, reached_by_pointers(program, program.functions[name])
