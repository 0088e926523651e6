"""Which invariants functions may rely on, or break: those of what they name."""

from __future__ import annotations

from analysis.certificate.nonzero.data_invariants import Invariant, Invariants, said_of
from analysis.certificate.nonzero.record_parts import inside, mentioned
from analysis.cfa.callgraph import callees
from analysis.cfa.graph import Cfa, Program
from analysis.model import ir
from analysis.model.c_types import Type
from analysis.model.kept_with import kept_with


class Concerned:
    """Which invariants concern which functions of a program."""

    def __init__(self, program: Program, relied: Invariants) -> None:
        self.program = program
        self._parameters: dict[str, set[Invariant]] = {}
        self._members: dict[str, set[Invariant]] = {}
        self._others: dict[str, Invariant] = {}
        for one in relied:
            if one.kind == "parameter":
                self._parameters.setdefault(one.of, set()).add(one)
            elif one.kind == "member":
                self._members.setdefault(one.of, set()).add(one)
            else:
                self._others[one.name] = one

    def by(self, name: str) -> Invariants:
        """Those that a function may rely on, or break."""
        cfa = self.program.functions[name]
        found = set[Invariant]().union(
            *(self._parameters.get(one, ()) for one in (name, *callees(self.program)[name])),
        )
        parts = inside(self.program)
        for key in records_in(cfa):
            for inner in parts.get(key, ()):
                found |= self._members.get(inner, set())
        found.update(self._others[one] for one in statics_in(cfa) if one in self._others)
        return frozenset(found)


@kept_with
def members_in(cfa: Cfa) -> Invariants:
    """The invariants that would speak of the members that a function names."""
    found = {said_of(part) for parts in cfa.parts.values() for part in parts if isinstance(part, ir.Field)}
    return frozenset(one for one in found if one is not None)


@kept_with
def records_in(cfa: Cfa) -> frozenset[str]:
    """The records that the expressions of a function speak of."""
    types: set[Type] = {part.type for parts in cfa.parts.values() for part in parts}
    return frozenset(key for type_ in types for key in mentioned(type_))


@kept_with
def statics_in(cfa: Cfa) -> frozenset[str]:
    """The variables with static storage that a function names."""
    return frozenset(
        part.name for parts in cfa.parts.values() for part in parts if isinstance(part, ir.Var) and part.scope == "global"
    )
