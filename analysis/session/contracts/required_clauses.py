"""What functions need of their callers, so that they follow no null pointer and divide by no zero; what they return and write."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from analysis.certificate.nonzero.callee_contracts import Needs, passed
from analysis.certificate.nonzero.needed_values import Rule
from analysis.certificate.nonzero.requirement_checker import conditions, obstacle, open_place
from analysis.certificate.nonzero.requirement_search import RequirementSearch
from analysis.certificate.nonzero.walk import Walked
from analysis.certificate.nonzero.writes import Place
from analysis.certificate.ranges.bounded_values import Range
from analysis.certificate.ranges.range_search import RangeSearch
from analysis.certificate.relations.relation_search import RelationSearch
from analysis.cfa.callgraph import callers
from analysis.cfa.graph import Cfa, Places, Program
from analysis.cfa.marks import with_places
from analysis.model import ir
from analysis.model.c_types import Pointer, Record, Void
from analysis.session.contracts import words
from analysis.session.contracts.function_contract import Clause, Status
from analysis.session.contracts.null_results import may_return_null
from analysis.session.contracts.related_clauses import RelatedClauses
from analysis.session.contracts.result_bounds import bounded_clause, telling
from analysis.session.contracts.told_clauses import told_clauses

_RULES: tuple[Rule, ...] = ("null-dereference", "division-by-zero")
_EQUAL = "result == "
_BOUNDED = "returns "
_MOST_WRITES = 6

Found = Mapping[Rule, Walked]


class RequiredClauses:
    """Follows the functions of one program."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._searches = {rule: RequirementSearch(program, rule) for rule in _RULES}
        self._ranges = RangeSearch(program, defined=True)
        self._relations = RelationSearch(program)

    def take_over(self, other: RequiredClauses, names: Collection[str]) -> None:
        """Takes over what was found of functions to which nothing differs between the two programs."""
        for rule, search in self._searches.items():
            search.take_over(other._searches[rule], names)
        self._ranges.take_over(other._ranges, names)
        self._relations.take_over(other._relations, names)

    def while_(self, goes_on: Callable[[], bool]) -> None:
        """Goes on as long as `goes_on` from now."""
        for search in self._searches.values():
            search.while_(goes_on)
        self._ranges.goes_on = self._relations.goes_on = goes_on

    def follow(self, name: str) -> Found | None:
        """What is found of a function for each rule; None if the time is over."""
        found: dict[Rule, Walked] = {}
        for rule, search in self._searches.items():
            walked = search.follow(name)
            if walked is None:
                return None
            found[rule] = walked
        return found if self._ranges.follow(name) and self._relations.follow(name) else None

    def related(self, name: str, named: Cfa) -> RelatedClauses:
        """How what a function returns and writes relates to what was there before."""
        return RelatedClauses(self._program, self._program.functions[name], named, self._relations.contract(name))

    def result(self, name: str) -> Range | None:
        """The bounds of what a function returns, in runs in which no signed computation overflows, if they say more than its
        type."""
        return telling(self._ranges.contract(name).result, self._program.functions[name].type.result)

    def status(self, name: str) -> Status:
        """How what is found of a function is known: nothing is proved where other code may run beside it, for example."""
        return "assumed" if obstacle(self._program, (name,)) else "proved"

    def requires(self, found: Found, status: Status, cfa: Cfa, named: Cfa) -> Iterator[Clause]:
        """What callers of a function have to keep, with the parameters named as in another revision of it."""
        for rule, walked in found.items():
            for condition in conditions(renamed(walked.contract.needs, cfa, named)):
                yield Clause(f"`{condition}`", condition, status, rule)

    def is_closed(self, found: Found, name: str) -> bool:
        """Whether no rule is violated in a function, if callers keep what it requires."""
        return not obstacle(self._program, (name,)) and not any(
            open_place(self._program, name, walked) for walked in found.values()
        )

    def open(self, found: Found, name: str, places: Places) -> Iterator[str]:
        """Where rules may be violated, whatever callers keep."""
        reason = obstacle(self._program, (name,))
        for rule, walked in found.items():
            why = reason or open_place(self._program, name, walked)
            if why:
                yield f"{rule}: {with_places(why, self._program, places)}"

    def ensures(self, found: Found, status: Status, cfa: Cfa, named: Cfa) -> Iterator[Clause]:
        """What is known of the result, in runs that violate neither rule, and of what it writes."""
        related = tuple(self.related(cfa.name, named).clauses(status))
        returned = next((one.formula.removeprefix(_EQUAL) for one in related if one.formula.startswith(_EQUAL)), "")
        bounds = self._returned(found, status, cfa)
        yield from (one for one in bounds if not returned or not one.text.startswith(_BOUNDED))  # what it returns says more
        yield from related
        contract = found["null-dereference"].contract
        if contract.returns and not found["null-dereference"].broken:
            expected = {condition for one in found.values() for condition in conditions(one.contract.needs)}
            told = told_clauses(contract, cfa.type.result, status, expected)
            yield from (one for one in told if not returned or f"`{returned} " not in one.text)

    def _returned(self, found: Found, status: Status, cfa: Cfa) -> Iterator[Clause]:
        walked, result = found["null-dereference"], cfa.type.result
        if not walked.contract.returns:
            yield Clause(words.NEVER_RETURNS, "", status, "all ways through it")
        elif (found_range := self.result(cfa.name)) is not None:
            yield bounded_clause(found_range, result, status)
            if found_range[0] < 0 < found_range[1] and walked.contract.nonzero and not walked.broken:
                yield Clause(words.NEVER_ZERO, "result != 0", status, "all that it returns")
        elif walked.contract.nonzero and not walked.broken and not isinstance(result, Void):
            zero = "NULL" if isinstance(result, Pointer) else "0"
            yield Clause(f"never returns {zero}", f"result != {zero}", status, "all that it returns")
        else:
            yield from self.seen(cfa)

    def seen(self, cfa: Cfa) -> Iterator[Clause]:
        """What a statement of a function says of its result, without following anything."""
        if may_return_null(self._program, cfa):
            yield Clause(words.MAY_BE_NULL, "", "seen", "a return statement")

    def writes(self, found: Found, status: Status) -> tuple[Clause, ...]:
        """What callers may notice of what it writes."""
        walked = found["null-dereference"]
        said = sorted({_written(place, self._program) for place in walked.contract.writes})
        if walked.broken or len(said) > _MOST_WRITES or words.ANYTHING in said:
            return (Clause(words.ANYTHING, "", "assumed", "what it calls"),)
        return tuple(Clause(text, "", status, "all that it writes") for text in said or [words.NOTHING])

    def calling(self, name: str) -> list[str]:
        """The functions of the program that call a function."""
        return [one for one in callers(self._program).get(name, ()) if one in self._program.functions]

    def keeping(self, name: str, calling: Sequence[str]) -> int | None:
        """How many of the functions that call it keep all that it requires; None if the time is over."""
        kept = 0
        for one in calling:
            found = self.follow(one)
            if found is None:
                return None
            kept += all(_keeps(walked, name) for walked in found.values())
        return kept


def renamed(needs: Needs, cfa: Cfa, named: Cfa) -> Needs:
    """What a function needs, with the parameters named as in another revision, which has as many of them."""
    pairs = zip(cfa.parameters, named.parameters, strict=True)
    given = tuple(ir.Var(new.name, old.scope, old.type) for old, new in pairs)
    found = [passed(cfa, need, given) for need in needs]
    return tuple(need if one is None else one for need, one in zip(needs, found, strict=True))


def _keeps(walked: Walked, callee: str) -> bool:
    return not walked.broken and all(one.callee != callee for one in walked.missing)


_NAMES = {"char": "character", "pointer": "pointer"}


def _written(place: Place, program: Program) -> str:
    """A place in words. A member is named only where it is one of the variable itself, and of no structure or array in it."""
    variable = place.variable.rpartition(" ")[2].rpartition("::")[2]
    if place.variable:
        declared = program.globals.get(place.variable.removeprefix("global "))
        is_own = declared is not None and isinstance(declared.var.type, Record) and declared.var.type.key == place.record
        return f"`{variable}.{place.member}`" if place.member and is_own else f"`{variable}`"
    if place.member:
        return words.member(place.member, place.record)
    if place.kind == "any":
        return words.ANYTHING
    return f"any {_NAMES.get(place.kind) or _number(place.kind)} that a pointer leads to"


def _number(kind: str) -> str:
    """An object of one class of types, as `analysis.c.aliasing` names them: `int32`, `float64`."""
    noun = kind.rstrip("0123456789")
    return f"{kind.removeprefix(noun)}-bit {'floating-point number' if noun == 'float' else 'integer'}"
