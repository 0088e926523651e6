"""What a function relies on of the data of its program, in words: members and variables that are never null."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from analysis.certificate.nonzero.concerned import members_in, records_in, statics_in
from analysis.certificate.nonzero.data_invariants import Invariant, said_of
from analysis.certificate.nonzero.invariant_candidates import running
from analysis.certificate.nonzero.kept_invariants import Walks, are_kept, find
from analysis.certificate.nonzero.needed_values import Rule
from analysis.certificate.nonzero.requirement_checker import conditions, obstacle, open_place, relied_on
from analysis.certificate.nonzero.requirement_search import RequirementSearch
from analysis.cfa.graph import Program
from analysis.cfa.linking.obstructed import MAIN
from analysis.model import ir
from analysis.model.spelling import display_name
from analysis.session.contracts import words
from analysis.session.contracts.function_contract import Clause

_RULES: tuple[Rule, ...] = ("null-dereference", "division-by-zero")


class Relying(NamedTuple):
    """What a function relies on. `left`: what is open all the same. `required`: what callers have to keep of these rules, and no
    other condition, where it relies on that; `kept`: how many callers then keep it."""

    relies: tuple[Clause, ...]
    left: tuple[str, ...]
    required: Mapping[str, tuple[str, ...]]
    kept: int


class RelyingFunctions:
    """The functions of one program that are safe because of what its data always holds, in runs from `main`: wherever they are
    called from there, or where callers keep what they require then."""

    def __init__(self, program: Program, entries: Iterable[str]) -> None:
        """`entries`: where code outside of the program may begin, too; it is said then that this is about runs from `main`."""
        self._program = program
        self._where = "" if set(entries) == {MAIN} else ", in runs from main"
        self._counts: dict[Invariant, int] = {}
        self._searches: dict[str, RequirementSearch] = {}
        invariants = find(program, (MAIN,), Walks())
        if invariants and are_kept(program, (MAIN,), invariants, Walks()):
            self._searches = {rule: RequirementSearch(program, rule, relied=invariants) for rule in _RULES}

    def relies(self, name: str, open_: Iterable[str], required: Iterable[str], calling: Sequence[str]) -> Relying:
        """What a function relies on so that rules are not violated in it that may be, whatever callers keep (`open_` says which,
        each with its place), or where some of those `calling` it do not keep what it requires (`required` are the rules)."""
        relied, below, left = set[Invariant](), set[Invariant](), list[str]()
        needed, keeping = dict[str, tuple[str, ...]](), set(calling)
        asked = [(text.partition(": ")[0], text) for text in open_] + [(rule, "") for rule in required]
        for rule, text in asked:
            search = self._searches.get(rule) if name in running(self._program) else None
            found = None if search is None else search.follow(name)
            if search is None or found is None or open_place(self._program, name, found) or obstacle(self._program, (name,)):
                left += [text] if text else []
                continue
            keep = {one for one in calling if self._keeps(search, one, name)}
            if not text and found.contract.needs and keep != set(calling):
                continue  # it has to be required all the same
            keeping &= keep
            relied |= found.relies
            below |= relied_on(self._program, search.found, name)
            needed[rule] = conditions(found.contract.needs)
        clauses = [Clause(self._said(one), "", "proved", "all that writes it") for one in sorted(relied)]
        if below - relied:
            more = words.counted(len(below - relied), "more fact")
            clauses.append(Clause(f"{more} of this kind, for what it calls", "", "proved", "all that writes it"))
        return Relying(tuple(clauses), tuple(left), needed, len(keeping))

    def _keeps(self, search: RequirementSearch, caller: str, name: str) -> bool:
        """Whether a function passes what another needs. Of one that does not run this is not known."""
        if caller not in running(self._program):
            return False
        found = search.follow(caller)
        return found is not None and not found.broken and all(one.callee != name for one in found.missing)

    def _said(self, one: Invariant) -> str:
        count = self._counts.get(one)
        if count is None:
            count = self._counts[one] = _writes(self._program, one)
        by = f"kept by {words.all_of(count, 'call' if one.kind == 'parameter' else 'write')}" if count else "nothing writes it"
        if one.kind == "parameter":
            return f"`{display_name(one.name)}` of {display_name(one.of)}() is never NULL{self._where} ({by})"
        what = {
            "member": words.member(one.name, one.of),
            "variable": f"`{display_name(one.name)}`",
            "elements": f"what is in `{display_name(one.name)}`",
        }[one.kind]
        return f"{what} is never NULL{self._where} ({by})"


def may_rely(program: Program, entries: Iterable[str]) -> bool:
    """Whether there are runs from `main` to speak of, and no other program's beside them, which has a `main` of its own."""
    return MAIN in entries and not any(name != MAIN and display_name(name) == MAIN for name in program.functions)


def _writes(program: Program, one: Invariant) -> int:
    """How many edges write a value, or how many calls pass it."""
    return sum(1 for name in running(program) for _ in _in_function(program, name, one))


def _in_function(program: Program, name: str, one: Invariant) -> Iterator[int]:
    cfa = program.functions[name]
    named = one in members_in(cfa) or one.name in statics_in(cfa) or one.of in records_in(cfa) or one.kind == "parameter"
    for edge in cfa.edges if named else ():
        if one.kind == "parameter":
            if isinstance(edge.effect, ir.Call) and one.of in program.targets(edge.effect):
                yield edge.id
        elif (target := ir.target_of(edge.effect)) is not None and said_of(target) == one:
            yield edge.id
