"""What writes take away from what is known: which objects an expression reads, and which ones an effect may write.

Variables of the function whose address is never taken change only by their names. All other objects are *places*, by the class of
their type (C11 6.5p7), the member of a structure that they are, and the variable, if it is known. Two places are taken for
different objects if their classes differ (as an assumption that proofs list), if they are different members of one structure type
that is part of no union, or if they are in different variables.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from analysis.c.aliasing import of_characters, scalar_class
from analysis.c.calls import only_frees, written_by
from analysis.c.functions import Function
from analysis.certificate.nonzero.values import Known
from analysis.cfa.addresses_taken import taken_by
from analysis.cfa.graph import Cfa, Program
from analysis.model import ir
from analysis.model.c_types import BIT_FIELD, Array, Integer, Pointer, Record, Type
from analysis.model.kept_with import kept_with

_ANY = ("any", "char")
_WIDTHS = (8, 16, 32, 64)


class Place(NamedTuple):
    """An object, as far as it is known which. Empty: it can be anything in that respect."""

    kind: str
    record: str = ""
    member: str = ""
    variable: str = ""

    def meets(self, other: Place) -> bool:
        """Whether two places may be one object, or overlap."""
        if self.variable and other.variable and self.variable != other.variable:
            return False
        if self.record and self.record == other.record and self.member != other.member:
            return False
        if self.variable and self.variable == other.variable and not (self.record or other.record):
            return True  # another file may declare it with another type
        return self.kind == other.kind or self.kind in _ANY or other.kind in _ANY


class Own(NamedTuple):
    """A variable of the function whose address is never taken, or one member of it."""

    name: str
    member: str = ""

    def meets(self, other: Own) -> bool:
        """Whether writing to one may change the other."""
        return self.name == other.name and (not self.member or not other.member or self.member == other.member)


EVERYTHING = frozenset((Place("any"),))
"""All that is not a variable of the function whose address is never taken."""
_ERRNO = frozenset((Place("int32", variable="global errno"),))


@kept_with
def overlaid(program: Program) -> frozenset[str]:
    """The keys of all records that are unions, or parts of one."""
    waiting: list[Type] = [Record("union", key) for key, one in program.records.items() if one.kind == "union"]
    found = set[str]()
    while waiting:
        match waiting.pop():
            case Array(element):
                waiting.append(element)
            case Record(_, key) if key not in found:
                found.add(key)
                if key in program.records:
                    waiting.extend(member.type for member in program.records[key].members)
    return frozenset(found)


@kept_with
def _bytes_of_any(program: Program) -> frozenset[str]:
    """The keys of all records whose members may be the bytes of any object."""
    return of_characters(program.records)


class Objects:
    """Which objects the expressions of one function read and write. `shared`: variables of its own that count as if it took their
    address. `arguments`: the parameter that leads to an array that is part of no variable (`main_arguments`), or empty."""

    def __init__(self, program: Program, cfa: Cfa, shared: frozenset[str] = frozenset(), arguments: str = "") -> None:
        self._arguments = arguments
        self._overlaid, self._of_characters, self._packed = overlaid(program), _bytes_of_any(program), packed(program)
        self._taken = taken_by(cfa).own | shared
        self._read = lru_cache(maxsize=None)(self._reads)

    def reads(self, expr: ir.Expr) -> frozenset[Place | Own]:
        """The objects that an expression reads."""
        return self._read(expr)

    def place(self, lvalue: ir.Expr) -> Place | Own:
        """The object that an lvalue is."""
        root, steps = ir.root(lvalue), ir.steps(lvalue)
        if isinstance(root, ir.Var) and root.scope not in ("global", "function") and root.name not in self._taken:
            return Own(root.name, self._first_member(steps))
        variable = f"{root.scope} {root.name}" if isinstance(root, ir.Var) else self._array(root)
        record, member = self._last_member(steps)
        return Place(self._kind(lvalue, steps, record), record, member, variable)

    def _array(self, root: ir.Expr) -> str:
        """A name for the array of arguments, if that is where an lvalue is; else empty."""
        pointer = root.pointer if self._arguments and isinstance(root, ir.Deref) else None
        while isinstance(pointer, ir.Binary) and isinstance(pointer.left.type, Pointer):
            pointer = pointer.left
        return f"array {pointer.name}" if isinstance(pointer, ir.Var) and pointer.name == self._arguments else ""

    def _first_member(self, steps: list[ir.Field | ir.Index]) -> str:
        first = steps[0] if steps else None
        return first.name if isinstance(first, ir.Field) and self._is_plain(first) else ""

    def _last_member(self, steps: list[ir.Field | ir.Index]) -> tuple[str, str]:
        last = steps[-1] if steps else None
        if not isinstance(last, ir.Field) or not self._is_plain(last) or not isinstance(last.record.type, Record):
            return "", ""
        return last.record.type.key, last.name

    def _is_plain(self, field: ir.Field) -> bool:
        """Whether members of the record lie apart from each other, wherever it is."""
        return isinstance(field.record.type, Record) and field.record.type.key not in self._overlaid

    def _kind(self, lvalue: ir.Expr, steps: list[ir.Field | ir.Index], record: str) -> str:
        unions = (part for part in steps if isinstance(part, ir.Field) and not self._is_plain(part))
        type_ = lvalue.type
        if any(True for _ in unions) or self._is_packed(steps):
            return "any"
        if isinstance(type_, Integer) and (type_.bits not in _WIDTHS or BIT_FIELD in type_.name):
            return "any"
        kind = scalar_class(type_)
        is_member = record and record not in self._of_characters  # accesses to such members are to no other objects
        return "int8" if kind == "char" and is_member else kind

    def _is_packed(self, steps: list[ir.Field | ir.Index]) -> bool:
        """Whether an object need not be where others of its type can be, so that it can overlap with them in part."""
        types = (part.record.type for part in steps if isinstance(part, ir.Field))
        return any(not isinstance(type_, Record) or type_.key in self._packed for type_ in types)

    def _reads(self, expr: ir.Expr) -> frozenset[Place | Own]:
        found, waiting = set[Place | Own](), [expr]
        while waiting:
            part = waiting.pop()
            if isinstance(part, ir.AddressOf):
                waiting += ir.place_values(part.lvalue)
            elif isinstance(part, ir.LVALUES):
                found.add(self.place(part))
                waiting += ir.place_values(part)
            else:
                waiting += ir.operands(part)
        return frozenset(found)

    def meets(self, expr: ir.Expr, written: Iterable[Place | Own]) -> bool:
        """Whether an expression reads one of these objects."""
        reads = self.reads(expr)
        return any(_meet(one, other) for one in written for other in reads)

    def without(self, known: Known, written: frozenset[Place | Own], cleared: frozenset[Place | Own]) -> Known:
        """What is known after these objects were written to. `cleared`: those of them that may be zero then, or changed in part;
        all others got a whole value that is not zero."""
        lost = {expr for expr in set(known.expressions()) if self.meets(expr, written)} if written else set[ir.Expr]()
        if not lost:
            return known
        equal = frozenset(pair for pair in known.equal if lost.isdisjoint(pair))
        gone = {expr for expr in known.nonzero & lost if not self._stays_nonzero(expr, written, cleared)}
        told = frozenset(one for one in known.told if one.variable not in lost and one.expr not in lost)
        return known._replace(nonzero=known.nonzero - gone, zero=known.zero - lost, equal=equal, told=told)

    def _stays_nonzero(self, expr: ir.Expr, written: frozenset[Place | Own], cleared: frozenset[Place | Own]) -> bool:
        """Whether an lvalue that is not zero is the same object afterwards, and got nothing but values of its own class that are
        not zero."""
        if not isinstance(expr, ir.LVALUES) or any(self.meets(part, written) for part in ir.place_values(expr)):
            return False
        place = self.place(expr)
        if not isinstance(place, Place) or place.kind in _ANY:
            return False
        return all(
            one not in cleared and isinstance(one, Place) and one.kind == place.kind for one in written if _meet(one, place)
        )

    def by_library(self, function: Function | None, call: ir.Call) -> frozenset[Place | Own]:
        """What a call of an external function may write, of which this is known."""
        written = written_by(function, call)
        if function is None or written is None or not function.only_writes_or_frees:
            return EVERYTHING
        errno = frozenset() if "keeps-errno" in function.besides else _ERRNO
        if only_frees(function, call):
            return errno
        places = [_whole(call.arguments[at]) for at in written]
        return errno.union(place for place in places if place is not None) if None not in places else EVERYTHING


@kept_with
def packed(program: Program) -> frozenset[str]:
    """The records whose members need not be aligned."""
    records = program.records.values()
    return frozenset(one.key for one in records if one.packed or one.packing or any(member.packed for member in one.members))


def _whole(pointer: ir.Expr) -> Place | None:
    """All of the variable that a pointer leads into; None if it is not known."""
    bare = ir.strip_casts(pointer)
    root = ir.root(bare.lvalue) if isinstance(bare, ir.AddressOf) else None
    return Place("any", variable=f"{root.scope} {root.name}") if isinstance(root, ir.Var) else None


def _meet(one: Place | Own, other: Place | Own) -> bool:
    if isinstance(one, Place):
        return isinstance(other, Place) and one.meets(other)
    return isinstance(other, Own) and one.meets(other)


def seen_outside(written: Iterable[Place | Own]) -> Iterator[Place]:
    """What callers may notice of what a function writes: nothing of its own variables by name, which others cannot read."""
    for place in written:
        if isinstance(place, Place) and (not place.variable or place.variable.startswith("global ")):
            yield place
