"""Which records are inside of which types, and the members in them that invariants speak of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from analysis.certificate.nonzero.data_invariants import Invariant, Invariants, said_of
from analysis.cfa.graph import Program
from analysis.model import ir
from analysis.model.c_types import Array, Function, Pointer, Record, Type
from analysis.model.kept_with import kept_with


@kept_with
def inside(program: Program) -> Mapping[str, frozenset[str]]:
    """The keys of the records that are parts of each record, itself included."""
    found: dict[str, frozenset[str]] = {}

    def of(key: str, above: frozenset[str]) -> frozenset[str]:
        known = found.get(key)
        if known is not None or key in above:
            return known or frozenset()
        keys = {key}
        definition = program.records.get(key)
        for member in () if definition is None else definition.members:
            type_ = element(member.type)
            if isinstance(type_, Record):
                keys |= of(type_.key, above | {key})
        found[key] = frozenset(keys)
        return found[key]

    for key in program.records:
        of(key, frozenset())
    return found


def element(type_: Type) -> Type:
    """The type without the arrays around it."""
    while isinstance(type_, Array):
        type_ = type_.element
    return type_


def held(program: Program, type_: Type) -> frozenset[str]:
    """The records that objects of a type are, or have as parts."""
    bare = element(type_)
    return inside(program).get(bare.key, frozenset((bare.key,))) if isinstance(bare, Record) else frozenset()


def mentioned(type_: Type) -> frozenset[str]:
    """The records that a type speaks of: that it is, points to, or that functions to which it points take and return."""
    found, waiting = set[str](), [type_]
    while waiting:
        match waiting.pop():
            case Pointer(inner) | Array(inner):
                waiting.append(inner)
            case Record(_, key):
                found.add(key)
            case Function(result, parameters):
                waiting += [result, *parameters]
    return frozenset(found)


def reached(program: Program, keys: frozenset[str]) -> frozenset[str]:
    """The records that members of these speak of, and members of those, and so on; these included."""
    found, waiting = set(keys), list(keys)
    while waiting:
        definition = program.records.get(waiting.pop())
        for member in () if definition is None else definition.members:
            new = mentioned(member.type) - found
            found |= new
            waiting += new
    return frozenset(found)


class Members:
    """The members that some invariants speak of, by the records that they are in."""

    def __init__(self, program: Program, invariants: Invariants) -> None:
        self._program = program
        self.invariants = invariants
        own = {one.of for one in invariants if one.kind == "member"}
        self.keys = frozenset(key for key, keys in inside(program).items() if not own.isdisjoint(keys))

    def are_in(self, type_: Type) -> bool:
        """Whether objects of a type have such members, in whatever part."""
        bare = element(type_)
        return isinstance(bare, Record) and bare.key in self.keys

    def of(self, lvalue: ir.Expr) -> Iterator[tuple[ir.Expr, Invariant]]:
        """The members in an object, as lvalues. Those in arrays are left out: nothing is said of records in arrays in records."""
        found = said_of(lvalue)
        if found is not None and found in self.invariants:
            yield lvalue, found
        type_ = lvalue.type
        definition = self._program.records.get(type_.key) if isinstance(type_, Record) and type_.key in self.keys else None
        for member in () if definition is None else definition.members:
            yield from self.of(ir.Field(lvalue, member.name, member.value_type))
