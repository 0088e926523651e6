"""What a function relies on of the data of its program, in words: members and variables that are never null."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from analysis.certificate.nonzero.concerned import members_in, records_in, statics_in
from analysis.certificate.nonzero.data_invariants import Invariant, said_of
from analysis.certificate.nonzero.invariant_candidates import running
from analysis.certificate.nonzero.kept_invariants import Walks, are_kept, find
from analysis.certificate.nonzero.needed_values import Rule
from analysis.certificate.nonzero.requirement_checker import obstacle, open_place, relied_on
from analysis.certificate.nonzero.walk import Walked
from analysis.cfa.graph import Program
from analysis.model import ir
from analysis.model.spelling import display_name
from analysis.session.contracts import words
from analysis.session.contracts.function_contract import Clause

_RULES: tuple[Rule, ...] = ("null-dereference", "division-by-zero")


class RelyingFunctions:
    """The functions of one program that are safe because of what its data always holds, in runs from its entries."""

    def __init__(self, program: Program, entries: Sequence[str]) -> None:
        self._program = program
        self._counts: dict[Invariant, int] = {}
        self._found: dict[Rule, Mapping[str, Walked]] = {}
        checker = Walks()
        invariants = find(program, entries, Walks())
        if invariants and are_kept(program, entries, invariants, checker):
            for rule in _RULES:
                followed = checker.of(program, invariants, rule)
                self._found[rule] = {} if followed is None else followed.found

    def relies(self, name: str, open_: Iterable[str], required: Iterable[str]) -> tuple[tuple[Clause, ...], tuple[str, ...]]:
        """What a function relies on so that rules are not violated in it that may be, whatever callers keep (`open_` says which,
        each with its place), or where callers do not keep what it requires (`required` are the rules). And what is left open."""
        relied, below, left = set[Invariant](), set[Invariant](), list[str]()
        asked = [(text.partition(": ")[0], text) for text in open_] + [(rule, "") for rule in required]
        for rule, text in asked:
            found = next((self._found.get(one, {}) for one in _RULES if one == rule), {})
            if name in found and not open_place(self._program, name, found[name]) and not obstacle(self._program, (name,)):
                relied |= found[name].relies
                below |= relied_on(self._program, found, name)
            elif text:
                left.append(text)
        clauses = [Clause(self._said(one), "", "proved", "all that writes it") for one in sorted(relied)]
        if below - relied:
            more = words.counted(len(below - relied), "more fact")
            clauses.append(Clause(f"{more} of this kind, for what it calls", "", "proved", "all that writes it"))
        return tuple(clauses), tuple(left)

    def _said(self, one: Invariant) -> str:
        count = self._counts.get(one)
        if count is None:
            count = self._counts[one] = _writes(self._program, one)
        by = f"kept by {words.all_of(count, 'call' if one.kind == 'parameter' else 'write')}" if count else "nothing writes it"
        if one.kind == "parameter":
            return f"`{display_name(one.name)}` of {display_name(one.of)}() is never NULL ({by})"
        what = {
            "member": words.member(one.name, one.of),
            "variable": f"`{display_name(one.name)}`",
            "elements": f"what is in `{display_name(one.name)}`",
        }[one.kind]
        return f"{what} is never NULL ({by})"


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
