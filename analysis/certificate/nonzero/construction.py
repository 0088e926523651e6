"""Objects that a function makes and nobody else can reach yet: members of these may be zero though invariants say otherwise.

Such an object is *private*: a variable of the function whose address went nowhere, or a block that an allocation has just
returned, to which one variable leads. At first all of its members may be unset; they are set by assignments. Where the object
may be reached by others from then on (its address is stored, passed to a function, or returned, or it is copied), all members
have to be set. So do all others, in all assignments to them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from analysis.certificate.nonzero.data_invariants import Invariant, Invariants, said_of
from analysis.certificate.nonzero.library_uses import use_of
from analysis.certificate.nonzero.overwritten import Overwritten
from analysis.certificate.nonzero.record_parts import Members
from analysis.certificate.nonzero.values import Known, is_zero
from analysis.cfa.graph import Cfa, Edge, Program
from analysis.model import ir
from analysis.model.c_types import Pointer, Record
from analysis.model.comparisons import COMPARISONS

Fail = Callable[[Invariant], None]
_OWN = ("local", "temporary", "parameter")


class Uses(NamedTuple):
    """What an edge does with variables of the function, whatever is known before it: those that it lets others reach, the objects
    that a library function overwrites, and the records that it copies as arguments or results."""

    escaping: frozenset[ir.Var]
    overwritten: tuple[ir.Expr, ...]
    copied: tuple[ir.Expr, ...]


class Construction:
    """The private objects of one function, as far as some invariants speak of their members."""

    def __init__(self, program: Program, cfa: Cfa, invariants: Invariants) -> None:
        self._program = program
        self.invariants = invariants
        self._members = Members(program, invariants)
        self._overwriting = Overwritten(program)
        self._uses: dict[int, Uses] = {}
        parts = (part for found in cfa.parts.values() for part in found)
        own = {part for part in parts if isinstance(part, ir.Var) and part.scope in ("local", "temporary")}
        self._objects = frozenset(one for one in own if isinstance(one.type, Record) and self._members.are_in(one.type))

    def at_entry(self, known: Known) -> Known:
        """What is known of private objects where the function begins: its own variables are not set yet."""
        unset = frozenset(leaf for one in self._objects for leaf, _ in self._members.of(one))
        return known._replace(private=self._objects, unset=unset)

    def used(self, known: Known, edge: Edge, fail: Fail) -> Known:
        """What an edge does to private objects before it assigns anything. A member that was tested since is set."""
        if not known.unset.isdisjoint(known.nonzero):
            known = known._replace(unset=known.unset - known.nonzero)
        uses = self._uses.get(edge.id)
        if uses is None:
            uses = self._uses[edge.id] = _Uses(self._program, self._members, self._overwriting).of(edge.effect)
        for copied in uses.copied:
            for leaf, found in self._members.of(copied):
                if leaf in known.unset:
                    fail(found)
        for one in uses.escaping:  # also what is not private any more: in one of the states that were merged it may be, and unset
            if not is_zero(known, one):
                for leaf, found in self._members.of(_object(one)):
                    if leaf in known.unset:
                        fail(found)
            known = self._forgotten(known, one)
        for lvalue in uses.overwritten:
            known = self._stored(known, lvalue, None, is_set=False, fail=fail)
        return known

    def unfollowed(self) -> Known:
        """What is known before an edge to which nothing is followed: nothing is private, and variables may be unset."""
        return Known(unset=self.at_entry(Known()).unset)

    def assigned(self, known: Known, target: ir.Expr, value: ir.Expr, fail: Fail, *, nonzero: bool) -> Known:
        """What an assignment does to them, or to what invariants speak of elsewhere."""
        if isinstance(target, ir.Var) and isinstance(target.type, Pointer):
            known = self._forgotten(known, target)
        source = value if isinstance(value, ir.LVALUES) else None
        return self._stored(known, target, source, is_set=nonzero, fail=fail)

    def returned(self, known: Known, target: ir.Expr, fail: Fail, *, nonzero: bool, is_new: bool) -> Known:
        """What the result of a call does where it is assigned. `is_new`: it is a block to which nothing else leads."""
        if isinstance(target, ir.Var) and isinstance(target.type, Pointer):
            known = self._forgotten(known, target)
            if is_new and self._members.are_in(target.type.target):
                leaves = frozenset(leaf for leaf, _ in self._members.of(_object(target)))
                known = known._replace(private=known.private | {target}, unset=known.unset | leaves)
        return self._stored(known, target, target if isinstance(target.type, Record) else None, is_set=nonzero, fail=fail)

    def _stored(self, known: Known, target: ir.Expr, source: ir.Expr | None, fail: Fail, *, is_set: bool) -> Known:
        """`source`: the object that is copied, where the target is a record."""
        if not isinstance(target.type, Record):
            found = said_of(target)
            return (
                known if found is None or found not in self.invariants else self._one(known, target, found, fail, is_set=is_set)
            )
        before = known
        leaves = list(self._members.of(target))
        given = [leaf for leaf, _ in self._members.of(source)] if source is not None and source.type == target.type else []
        for number, (leaf, found) in enumerate(leaves):
            # the result of a function of the program is set, as what that returns is; so is what others can reach
            comes = bool(given) and (source is target or given[number] not in before.unset)
            known = self._one(known, leaf, found, fail, is_set=comes)
        return known

    def _one(self, known: Known, leaf: ir.Expr, found: Invariant, fail: Fail, *, is_set: bool) -> Known:
        if _owner(leaf) in known.private:
            unset = known.unset - {leaf} if is_set else known.unset | {leaf}
            return known._replace(unset=unset)
        if not is_set:
            fail(found)
        return known

    def _forgotten(self, known: Known, variable: ir.Var) -> Known:
        """Nothing is said any more of the object that a variable is, or leads to."""
        if variable not in known.private and not isinstance(variable.type, Pointer):
            return known
        unset = frozenset(leaf for leaf in known.unset if _owner(leaf) != variable)
        return known._replace(private=known.private - {variable}, unset=unset)

    def kept(self, known: Known, live: frozenset[str]) -> Known:
        """Without the blocks that no variable leads to any more."""
        gone = [one for one in known.private if isinstance(one.type, Pointer) and one.name not in live]
        for one in gone:
            known = self._forgotten(known, one)
        return known


def _object(variable: ir.Var) -> ir.Expr:
    """The object that a variable is, or leads to."""
    return ir.Deref(variable, variable.type.target) if isinstance(variable.type, Pointer) else variable


def _owner(leaf: ir.Expr) -> ir.Var | None:
    """The variable that an lvalue is a member of, or that leads to what it is a member of; None if it is found otherwise."""
    if any(isinstance(step, ir.Index) for step in ir.steps(leaf)):
        return None
    root = ir.root(leaf)
    if isinstance(root, ir.Deref):
        root = root.pointer
        return root if isinstance(root, ir.Var) and isinstance(root.type, Pointer) else None
    return root if isinstance(root, ir.Var) and isinstance(root.type, Record) else None


class _Uses:
    def __init__(self, program: Program, members: Members, overwriting: Overwritten) -> None:
        self._program, self._members, self._overwriting = program, members, overwriting
        self._escaping = set[ir.Var]()
        self._overwritten: list[ir.Expr] = []
        self._copied: list[ir.Expr] = []

    def of(self, effect: ir.Effect) -> Uses:
        """What an effect does with variables."""
        match effect:
            case ir.Assume(condition):
                self._visit(condition, kept=False)
            case ir.Assign(target, value):
                if not isinstance(value.type, Record):  # copies are looked at where they go
                    self._visit(value, kept=True)
                else:
                    self._places(value)
                self._places(target)
            case ir.Return(value) if value is not None:
                self._value(value)
            case ir.Call():
                self._call(effect)
        return Uses(frozenset(self._escaping), tuple(self._overwritten), tuple(self._copied))

    def _call(self, call: ir.Call) -> None:
        self._visit(call.callee, kept=True)
        for position, argument in enumerate(call.arguments):
            use = use_of(self._program, call, position)
            if use == "kept":
                self._value(argument)
                continue
            self._visit(argument, kept=False)
            bare = ir.strip_casts(argument)
            if use == "written" and isinstance(bare, ir.AddressOf):
                self._overwrite(call, position, bare.lvalue)
            elif use == "written" and isinstance(bare, ir.Var) and isinstance(bare.type, Pointer):
                self._overwrite(call, position, ir.Deref(bare, bare.type.target))
        if call.result is not None:
            self._places(call.result)

    def _overwrite(self, call: ir.Call, position: int, lvalue: ir.Expr) -> None:
        self._overwritten.append(self._overwriting.whole(call, position, lvalue))

    def _value(self, value: ir.Expr) -> None:
        if isinstance(value.type, Record):
            self._copied.append(value)
            self._places(value)
        else:
            self._visit(value, kept=True)

    def _places(self, lvalue: ir.Expr) -> None:
        """Looks at what says where an lvalue is. To follow a variable lets nobody reach what it leads to."""
        for part in ir.place_values(lvalue) if isinstance(lvalue, ir.LVALUES) else ():
            if not isinstance(part, ir.Var):
                self._visit(part, kept=True)

    def _visit(self, expr: ir.Expr, *, kept: bool) -> None:
        """`kept`: the value goes somewhere; else it is compared, or a library function forgets it."""
        match expr:
            case ir.Var(_, scope) if scope in _OWN:
                if kept:
                    self._escaping.add(expr)
            case ir.AddressOf(lvalue):
                root = ir.root(lvalue)
                owner = root.pointer if isinstance(root, ir.Deref) else root
                if kept and isinstance(owner, ir.Var) and self._members.are_in(lvalue.type):
                    self._escaping.add(owner)
                self._places(lvalue)
            case ir.Deref() | ir.Field() | ir.Index():
                self._places(expr)
            case ir.Cast(operand):
                self._visit(operand, kept=kept)
            case ir.Unary("!", operand):
                self._visit(operand, kept=False)
            case ir.Binary(operator, left, right) if operator in COMPARISONS:
                self._visit(left, kept=False)
                self._visit(right, kept=False)
            case _:
                for operand in ir.operands(expr):
                    self._visit(operand, kept=True)
