"""Which pointers of a program could have been made of which others: two are of one kind then.

Pointers are followed through variables, members and types, whatever the order of the edges and in both directions (as
Steensgaard's points-to analysis does): kinds are joined by union-find. A kind is named by what holds or makes such pointers: a
variable, a member of structures, a function's result, all other memory; or by what they lead to (`is_object`).
"""

from __future__ import annotations

import weakref
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from analysis.c.aliasing import has_room_for_address
from analysis.c.blocks import STACK_ALLOCATIONS
from analysis.c.functions import known
from analysis.cfa.graph import Edge, Program
from analysis.cpa.obstacles.lifetimes import forgets
from analysis.cpa.obstacles.object_types import ObjectTypes
from analysis.model import ir
from analysis.model.c_types import Array, Integer, Pointer, Record, Type, Void
from analysis.model.comparisons import COMPARISONS
from analysis.model.kept_with import kept_with

Kind = tuple[str, str]
"""A function, or nothing for what has static storage and memory; and a name in it."""

MEMORY: Kind = ("", "memory")
OUTSIDE, BLOCK, LITERAL, VARIABLE = "?", "!", '"', "&"
"""What the names of objects begin with: those from outside of the program, blocks by the edge of their allocation, string
literals, and variables."""


class OutsideCall(NamedTuple):
    """A call of a function that the program does not define, with the kinds that it is given; no name if it is not known."""

    function: str
    edge: Edge
    callee: str
    given: tuple[Kind, ...]


def is_object(kind: Kind) -> bool:
    """Whether a kind stands for what pointers lead to."""
    return kind[1].startswith((OUTSIDE, BLOCK, LITERAL, VARIABLE))


@kept_with
def pointer_kinds(program: Program) -> PointerKinds:
    """The kinds of a program, kept with it."""
    return PointerKinds(program)


class PointerKinds:
    """The kinds of one program. `callers`: the calls of each function; `outside`: those of all others; `moved`: kinds that were
    added to or subtracted from, or subscripted by anything but 0, or that may lead to an object of no size. `literals`: how many
    string literals there are of a kind."""

    def __init__(self, program: Program) -> None:
        self._program: Program = weakref.proxy(program)
        self._parents: dict[Kind, Kind] = {}
        self._at = ("", -1)
        self.callers: dict[str, list[tuple[str, Edge]]] = {}
        self.outside: list[OutsideCall] = []
        self.moved: set[Kind] = set()
        self.literals: Counter[Kind] = Counter()
        self._types = ObjectTypes(program)
        for name, cfa in program.functions.items():
            for edge in cfa.edges:
                self._at = name, edge.id
                self._count_literals(ir.expressions(edge.effect))
                self._look_at(name, cfa.parts[edge.id])
                self._join(name, edge)
        self._at = "", -1
        for variable in program.globals.values():
            for target, value in ((variable.var, variable.initial), *((part.target, part.value) for part in variable.parts)):
                self._look_at("", ir.walk(value))
                self._count_literals((value,))
                if _may_hold(target):
                    self._unite((self._kind("", target), *self.sources("", value)))
        self._unite_overlapping()

    @property
    def kinds(self) -> Mapping[Kind, Kind]:
        """All kinds that something was said of."""
        return self._parents

    def root(self, kind: Kind) -> Kind:
        """The same for all kinds that are one."""
        self._parents.setdefault(kind, kind)
        while self._parents[kind] != kind:
            self._parents[kind] = self._parents[self._parents[kind]]
            kind = self._parents[kind]
        return kind

    def sources(self, name: str, value: ir.Expr) -> list[Kind]:
        """The kinds that a value in a function may be made of."""
        match value:
            case ir.Cast(operand) | ir.Unary(_, operand):
                return self.sources(name, operand)
            case ir.Binary(operator, left, right) if operator not in COMPARISONS:
                return self._computed(name, left, right)
            case ir.AddressOf(lvalue):
                return self._address(name, lvalue)
            case ir.Var() | ir.Field() | ir.Index() | ir.Deref():
                return [self._kind(name, value)] if _may_hold(value) else []
            case ir.StringConst():
                return [(name, f"{LITERAL}{self._at[1]}:{value.text}")]
            case ir.Unknown() if _may_hold(value):
                return [(name, f"{OUTSIDE}{self._at[1]}")]
            case _:
                return []

    def _count_literals(self, values: Iterable[ir.Expr]) -> None:
        texts = [part.text for value in values for part in ir.walk(value) if isinstance(part, ir.StringConst)]
        self.literals.update((self._at[0], f"{LITERAL}{self._at[1]}:{text}") for text in texts)

    def _computed(self, name: str, left: ir.Expr, right: ir.Expr) -> list[Kind]:
        """The kinds of a sum, a difference or the like; the distance by which a pointer is moved is of none (C11 6.5.6p8)."""
        are_pointers = [isinstance(side.type, Pointer) for side in (left, right)]
        if all(are_pointers):
            return []
        is_distance = are_pointers[0] and not isinstance(ir.strip_casts(left), ir.IntConst)
        found = self.sources(name, left) + ([] if is_distance else self.sources(name, right))
        self.moved.update(found)
        return found

    def _address(self, name: str, lvalue: ir.Expr) -> list[Kind]:
        root = ir.root(lvalue)
        if isinstance(root, ir.Deref):
            found = self.sources(name, root.pointer)
        elif isinstance(root, ir.Var) and root.scope != "function":
            found = [("" if root.scope == "global" else name, VARIABLE + root.name)]
            if _may_hold(root):
                self._types.access(found, root.type)
        else:
            return []
        if self._is_moved(lvalue):
            self.moved.update(found)
        return found

    def _is_moved(self, lvalue: ir.Expr) -> bool:
        """Whether the address of an lvalue may be behind what it is a part of, or that of another object: a part without size."""
        is_moved = self._may_be_empty(lvalue.type)
        while isinstance(lvalue, ir.Field | ir.Index):
            is_moved = is_moved or (isinstance(lvalue, ir.Index) and lvalue.index != ir.IntConst(0, lvalue.index.type))
            lvalue = lvalue.record if isinstance(lvalue, ir.Field) else lvalue.array
            is_moved = is_moved or self._may_be_empty(lvalue.type)
        return is_moved

    def _may_be_empty(self, type_: Type) -> bool:
        """Whether objects of a type may have no size: an extension of GNU C, and flexible array members (C11 6.7.2.1p18)."""
        if isinstance(type_, Array):
            return not type_.length or self._may_be_empty(type_.element)
        definition = self._program.records.get(type_.key) if isinstance(type_, Record) else None
        return definition is not None and all(self._may_be_empty(member.type) for member in definition.members)

    def _look_at(self, name: str, parts: Iterable[ir.Expr]) -> None:
        """What something holds whose address is taken may be read and written as memory. What is accessed through pointers may
        be something else that holds pointers elsewhere (`ObjectTypes`)."""
        for part in parts:
            if isinstance(part, ir.Deref) and _may_hold(part):
                self._types.access(self.sources(name, part.pointer), part.type)
            if isinstance(part, ir.AddressOf):
                for held in (ir.root(part.lvalue), part.lvalue):
                    if _may_hold(held):
                        self._unite((self._kind(name, held), MEMORY))

    def _unite_overlapping(self) -> None:
        """Makes members one with memory that is accessed otherwise; which are, follows from what is one."""
        known: set[Kind] = set()
        while not (found := self._types.overlapping(self.root)) <= known:
            known |= found
            self._unite((MEMORY, *sorted(found)))

    def _unite(self, kinds: Iterable[Kind]) -> None:
        first, *others = [self.root(kind) for kind in kinds] or [("", "")]
        for other in others:
            self._parents[self.root(other)] = self.root(first)

    def _join(self, name: str, edge: Edge) -> None:
        effect = edge.effect
        match effect:
            case ir.Assign(target, value):
                if isinstance(target, ir.Deref) and not _may_hold(target):  # it may be a byte of a pointer (C11 6.5p7)
                    self._types.access(self.sources(name, target.pointer), target.type)
                if _may_hold(target):
                    self._unite((self._kind(name, target), *self.sources(name, value)))
            case ir.Return(value):
                if value is not None and _may_hold(value):
                    self._unite(((name, "return"), *self.sources(name, value)))
            case ir.Call():
                self._join_call(name, edge, effect)

    def _join_call(self, name: str, edge: Edge, call: ir.Call) -> None:
        result = [] if call.result is None or not _may_hold(call.result) else [self._kind(name, call.result)]
        for callee in self._program.targets(call) or ("",):
            cfa = self._program.functions.get(callee)
            if cfa is None:
                self._join_outside(name, edge, call, callee, result)
                continue
            self.callers.setdefault(callee, []).append((name, edge))
            for parameter, argument in zip(cfa.parameters, call.arguments, strict=False):
                self._unite(((callee, parameter.name), *self.sources(name, argument)))
            for argument in call.arguments[len(cfa.parameters) :]:  # read by `va_arg`
                self._unite((MEMORY, *self.sources(name, argument)))
            if result:
                self._unite(((callee, "return"), *result))

    def _join_outside(self, name: str, edge: Edge, call: ir.Call, callee: str, result: list[Kind]) -> None:
        given = [kind for argument in call.arguments for kind in self.sources(name, argument)]
        self.outside.append(OutsideCall(name, edge, callee, tuple(given)))
        function = known(callee)
        if function is not None and function.positions("in", "copied") and function.written:
            self._types.copy(given)
        if function is None or not forgets(callee, call):  # it may keep what it is given
            self._unite((*result, *given, MEMORY))
            return
        if function.result == "into" and "out" in function.argument(function.of).uses:  # such as `mempcpy`
            self.moved.update(result)
        if "allocates" in function.besides:  # a block that it stores a pointer to
            self._unite((MEMORY, (name, f"{BLOCK}{edge.id}")))
        if result:
            is_block = function.result in ("block", "stack")
            made = (name, f"{BLOCK if is_block else OUTSIDE}{edge.id}")
            passed = self._passed_on(name, call)
            if callee in STACK_ALLOCATIONS:  # of no bytes it may be that of something else
                self.moved.add(made)
            self._unite((*result, *passed, *([] if passed and not is_block else [made])))

    def _passed_on(self, name: str, call: ir.Call) -> list[Kind]:
        """The kinds of arguments that a library function may return."""
        result = call.result
        like = [argument for argument in call.arguments if result is not None and _may_be_one(argument, result)]
        return [kind for argument in like for kind in self.sources(name, argument)]

    def _kind(self, name: str, lvalue: ir.Expr) -> Kind:
        while isinstance(lvalue, ir.Index):
            lvalue = lvalue.array
        match lvalue:
            case ir.Var(variable, "global"):
                return "", variable
            case ir.Var(variable):
                return name, variable
            case ir.Field(record, member) if isinstance(record.type, Record) and record.type.kind == "struct":
                return "", f"{record.type.key}.{member}"
            case _:
                return MEMORY


def _may_be_one(argument: ir.Expr, result: ir.Expr) -> bool:
    """Whether a library function can return what it was passed, by the types before any conversion."""
    one, other = ir.strip_casts(argument).type, result.type
    if not isinstance(one, Pointer) or not isinstance(other, Pointer):
        return not isinstance(one, Integer)
    return one.target == other.target or isinstance(one.target, Void) or isinstance(other.target, Void)


def _may_hold(expr: ir.Expr) -> bool:
    """Whether a value can hold a pointer: it is one, a large integer, a record or an array."""
    type_ = expr.type
    while isinstance(type_, Array):
        type_ = type_.element
    return isinstance(type_, Pointer | Record | Integer) and has_room_for_address(type_)
