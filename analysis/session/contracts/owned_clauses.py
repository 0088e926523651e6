"""Which blocks of memory and streams a function ends, makes or keeps, from what closed sets of memory states show."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.certificate.ownership.closed_search import ClosedSearch
from analysis.certificate.ownership.contracts import NEW, Contract
from analysis.certificate.ownership.memory_state import NULL
from analysis.cfa.graph import Program
from analysis.model.spelling import display_name
from analysis.session.contracts.function_contract import Clause

_ENDS = {"heap": "frees", "stream": "closes", "directory": "closes"}
_MADE = {"heap": "a new block of memory", "stream": "a new stream", "directory": "a new directory stream"}
_SOURCE = "the states in which it returns"


class OwnedClauses:
    """Follows the functions of one program."""

    def __init__(self, program: Program) -> None:
        self._program, self._search = program, ClosedSearch(program)

    def of(self, name: str) -> tuple[Clause, ...]:
        """The clauses of one function; none where it is not followed."""
        followed = self._search.follow(name)
        contract = None if followed is None else followed.contract
        if contract is None or not contract.outcomes:
            return ()
        names = [display_name(one.name) for one in self._program.functions[name].parameters]
        said = [*_ended(contract, names), *_kept(contract, names), *_made(contract)]
        return tuple(Clause(text, "", "proved", _SOURCE) for text in said)


def _ended(contract: Contract, names: list[str]) -> Iterator[str]:
    for number in sorted(contract.followed):
        kinds = {kind for outcome in contract.outcomes for of, kind in outcome.ended if of == number}
        if len(kinds) != 1:
            continue
        (kind,) = kinds
        always = all((number, kind) in outcome.ended or number in outcome.absent for outcome in contract.outcomes)
        yield f"{'' if always else 'may '}{_ENDS[kind] if always else _ENDS[kind].removesuffix('s')} `{names[number]}`"


def _kept(contract: Contract, names: list[str]) -> Iterator[str]:
    for number in sorted(contract.followed):
        if any(number in outcome.given for outcome in contract.outcomes):
            yield f"may keep `{names[number]}`, or pass it on"


def _made(contract: Contract) -> Iterator[str]:
    results = {outcome.result for outcome in contract.outcomes}
    made = {result.removeprefix(NEW) for result in results if result.startswith(NEW)}
    if len(made) == 1 and all(result == NULL or result.startswith(NEW) for result in results):
        yield f"returns {_MADE[made.pop()]}{', or NULL' if NULL in results else ''}, which only its caller has then"
