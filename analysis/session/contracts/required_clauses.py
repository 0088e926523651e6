"""What functions need of their callers, so that they follow no null pointer and divide by no zero; what they return and write."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from analysis.certificate.nonzero.needed_values import Rule
from analysis.certificate.nonzero.requirement_checker import conditions, obstacle, open_place
from analysis.certificate.nonzero.requirement_search import RequirementSearch
from analysis.certificate.nonzero.walk import Walked
from analysis.certificate.nonzero.writes import Place
from analysis.cfa.callgraph import callers
from analysis.cfa.graph import Places, Program
from analysis.cfa.marks import with_places
from analysis.model.c_types import Pointer, Void
from analysis.session.contracts.function_contract import Clause

_RULES: tuple[Rule, ...] = ("null-dereference", "division-by-zero")
_MOST_WRITES = 6


class RequiredClauses:
    """Follows the functions of one program."""

    def __init__(self, program: Program, places: Places) -> None:
        self._program, self._places = program, places
        self._searches = {rule: RequirementSearch(program, rule) for rule in _RULES}

    def requires(self, name: str) -> Iterator[Clause]:
        """What callers have to keep."""
        for rule, found in self._found(name):
            for condition in conditions(found.contract.needs):
                yield Clause(f"`{condition}`", condition, "proved", rule)

    def open(self, name: str) -> Iterator[str]:
        """Where rules may be violated, whatever callers keep."""
        reason = obstacle(self._program, (name,))
        for rule, found in self._found(name):
            why = reason or open_place(self._program, name, found)
            if why:
                yield f"{rule}: {with_places(why, self._program, self._places)}"

    def ensures(self, name: str) -> Iterator[Clause]:
        """What is known of the result, in runs that violate neither rule."""
        found = self._walked(name)
        result = self._program.functions[name].type.result
        if found.contract.returns and found.contract.nonzero and not found.broken and not isinstance(result, Void):
            zero = "NULL" if isinstance(result, Pointer) else "0"
            yield Clause(f"never returns {zero}", f"result != {zero}", "proved", "all that it returns")

    def returns(self, name: str) -> bool:
        """Whether a call may come back."""
        return self._walked(name).contract.returns

    def writes(self, name: str) -> tuple[Clause, ...]:
        """What callers may notice of what it writes."""
        found = self._walked(name)
        said = sorted(set(map(_written, found.contract.writes)))
        if found.broken or len(said) > _MOST_WRITES or _ANYTHING in said:
            return (Clause(_ANYTHING, "", "assumed", "what it calls"),)
        return tuple(Clause(text, "", "proved", "all that it writes") for text in said or [_NOTHING])

    def discharging(self, name: str) -> tuple[int, int]:
        """How many of the functions that call it keep all that it requires, and how many there are."""
        calling = [one for one in callers(self._program).get(name, ()) if one in self._program.functions]
        keeping = [one for one in calling if all(self._keeps(found, name) for _, found in self._found(one))]
        return len(keeping), len(calling)

    def _keeps(self, found: Walked, callee: str) -> bool:
        return not found.broken and all(one.callee != callee for one in found.missing)

    def _found(self, name: str) -> Iterable[tuple[Rule, Walked]]:
        for rule, search in self._searches.items():
            found = search.follow(name)
            if found is not None:
                yield rule, found

    def _walked(self, name: str) -> Walked:
        found: Mapping[Rule, Walked] = dict(self._found(name))
        return found["null-dereference"]


_ANYTHING = "anything that it can reach"
_NOTHING = "nothing that callers see"


def _written(place: Place) -> str:
    """A place in words."""
    variable = place.variable.rpartition(" ")[2].rpartition("::")[2]
    if place.variable:
        return f"`{variable}.{place.member}`" if place.member else f"`{variable}`"
    if place.member:
        return f"members `{place.member}` of `{place.record}`"
    if place.kind == "any":
        return _ANYTHING
    return {"pointer": "pointers", "char": "characters"}.get(place.kind, f"numbers ({place.kind})")
