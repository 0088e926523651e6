"""Which blocks of memory and streams a function ends, makes or keeps, from what closed sets of memory states show."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence

from analysis.certificate.ownership.closed_search import ClosedSearch, Followed
from analysis.certificate.ownership.contracts import NEW, Contract
from analysis.certificate.ownership.memory_state import NULL
from analysis.certificate.ownership.obligations import INSIDE_HEAP
from analysis.cfa.graph import Program
from analysis.session.contracts import words
from analysis.session.contracts.function_contract import Clause, Status

_ENDS = {"heap": "frees", INSIDE_HEAP: "frees", "stream": "closes", "directory": "closes"}
_MADE = {"heap": words.new("block"), "stream": words.new("stream"), "directory": words.new("directory")}
_SOURCE = "the states in which it returns"


class OwnedClauses:
    """Follows the functions of one program."""

    def __init__(self, program: Program) -> None:
        self._search = ClosedSearch(program)

    def take_over(self, other: OwnedClauses, names: Collection[str]) -> None:
        """Takes over what was found of functions to which nothing differs between the two programs."""
        self._search.take_over(other._search, names)

    def while_(self, goes_on: Callable[[], bool]) -> None:
        """Goes on as long as `goes_on` from now."""
        self._search.goes_on = goes_on

    def follow(self, name: str) -> Followed | None:
        """What is found of a function; None if the time is over."""
        return self._search.follow(name)


def owned(contract: Contract | None, parameters: Sequence[str], status: Status) -> tuple[Clause, ...]:
    """What a function does with blocks and streams; nothing where callers cannot rely on anything."""
    if contract is None or not contract.outcomes:
        return ()
    said = [*_ended(contract, parameters), *_kept(contract, parameters), *_made(contract)]
    return tuple(Clause(text, "", status, _SOURCE) for text in said)


def _ended(contract: Contract, names: Sequence[str]) -> Iterator[str]:
    for number in sorted(contract.followed):
        kinds = {kind for outcome in contract.outcomes for of, kind in outcome.ended if of == number}
        if len(kinds) != 1:
            continue
        (kind,) = kinds
        always = all((number, kind) in outcome.ended or number in outcome.absent for outcome in contract.outcomes)
        what = f"the block that `{names[number]}` is inside of" if kind == INSIDE_HEAP else f"`{names[number]}`"
        yield f"{_ENDS[kind] if always else 'may ' + _ENDS[kind].removesuffix('s')} {what}"


def _kept(contract: Contract, names: Sequence[str]) -> Iterator[str]:
    for number in sorted(contract.followed):
        if any(number in outcome.given for outcome in contract.outcomes):
            yield words.kept(f"`{names[number]}`")


def _made(contract: Contract) -> Iterator[str]:
    results = {outcome.result for outcome in contract.outcomes}
    made = {result.removeprefix(NEW) for result in results if result.startswith(NEW)}
    if len(made) == 1 and all(result == NULL or result.startswith(NEW) for result in results):
        yield words.result(_MADE[made.pop()], or_null=NULL in results)
