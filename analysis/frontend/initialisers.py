"""Initialisers: which subobject each expression of a braced list initialises (C11 6.7.9p17-21)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from analysis.frontend import operators
from analysis.frontend.constants import string_length
from analysis.frontend.context import Context, RefusedError, children, field_of
from analysis.frontend.syntax import Node
from analysis.frontend.types import bit_field_type
from analysis.model import ir
from analysis.model.c_types import INT, Array, Integer, Record, Type

_LARGEST_ARRAY = 256  # elements that are initialised one by one; arrays beyond it start with unknown content
_STRINGS = frozenset(("string_literal", "concatenated_string"))


class Slot(msgspec.Struct, frozen=True):
    """A subobject and the expression that initialises it."""

    target: ir.Expr
    node: Node


class Plan:
    """What a braced list initialises. `length` is how many elements it gives an array of unknown length."""

    def __init__(self) -> None:
        self.slots: list[Slot] = []
        self.length = 0


class Initialisers(Context):
    """Initialisation of objects."""

    def initialise(self, target: ir.Expr, node: Node, site: Node) -> None:
        """`target = initialiser` of a declaration at `site`, or of a compound literal."""
        type_ = target.type
        while node.type == "parenthesized_expression" and children(node)[0].type in _STRINGS and isinstance(type_, Array):
            node = children(node)[0]
        if node.type != "initializer_list":
            self._store_one(target, node, site)
            return
        if _elements(type_) > _LARGEST_ARRAY:
            self._evaluate(node)
            self.emit(ir.Assign(target, ir.Unknown(type_)), site)
            return
        plan = self.plan(target, node)
        if not isinstance(type_, Array | Record):
            if plan.slots:
                self.store(target, plan.slots[0].node, site)
            else:
                self.emit(ir.Assign(target, operators.convert(ir.IntConst(0, INT), type_)), site)
            return
        if not self._covered(target, {slot.target for slot in plan.slots}):
            self.emit(ir.Assign(target, ir.Zero(type_)), site)
        for slot in plan.slots:
            self._store_one(slot.target, slot.node, slot.node)

    def _store_one(self, target: ir.Expr, node: Node, site: Node) -> None:
        if isinstance(target.type, Array):
            value = self.expression(node)
            if isinstance(value, ir.StringConst) or value.type == target.type:
                self.emit(ir.Assign(target, value), site)
            else:
                self.emit(ir.Assign(target, ir.Unknown(target.type)), site)
            return
        self.store(target, node, site)

    def initial_values(self, target: ir.Expr, node: Node) -> Iterator[tuple[ir.Expr, ir.Expr]]:
        """What an initialiser gives an object with static storage: the whole a zero, then its parts their values."""
        if isinstance(target.type, Array | Record):
            node = field_of(node, "value") if node.type == "compound_literal_expression" else node
            yield target, ir.Zero(target.type)
        slots = self.plan(target, node).slots if node.type == "initializer_list" else [Slot(target, node)]
        for slot in slots:
            if slot.node.type == "compound_literal_expression" and isinstance(slot.target.type, Array | Record):
                yield from self.initial_values(slot.target, slot.node)
            elif isinstance(slot.target.type, Array):
                yield slot.target, self.expression(slot.node)
            else:
                yield slot.target, operators.convert(self.value(slot.node), slot.target.type)

    def elements_given(self, node: Node) -> int:
        """How many values an initialiser lists, at most."""
        return sum(map(self.elements_given, children(node))) if node.type == "initializer_list" else 1

    def _evaluate(self, node: Node) -> None:
        """The side effects of a list whose values are not kept."""
        for child in children(node):
            value = field_of(child, "value") if child.type == "initializer_pair" else child
            if value.type == "initializer_list":
                self._evaluate(value)
            elif value.type not in ("number_literal", "char_literal", "string_literal"):
                self.value(value)

    def initialised_length(self, element: Type, node: Node) -> int | None:
        """The length that an initialiser gives an array of unknown length."""
        while node.type == "parenthesized_expression":
            node = children(node)[0]
        if node.type in _STRINGS:
            return string_length(self.source(node))
        if node.type != "initializer_list":
            return None
        items = children(node)
        if len(items) == 1 and items[0].type in _STRINGS and isinstance(element, Integer):
            return string_length(self.source(items[0]))
        if isinstance(element, Array | Record) or any(item.type == "initializer_pair" for item in items):
            fake = ir.Var("", "temporary", Array(element, None))
            return self.plan(fake, node).length
        return len(items)

    def plan(self, target: ir.Expr, node: Node) -> Plan:
        """The slots of a braced list for an object."""
        plan = Plan()
        self._braced(plan, target, node, top=True)
        plan.slots = _of_last_members(plan.slots)
        return plan

    def _covered(self, target: ir.Expr, given: set[ir.Expr]) -> bool:
        """Whether the parts that are given values leave nothing of the target to zero; of a union one member is enough."""
        if target in given:
            return True
        match target.type:
            case Array(element, length):
                parts = (ir.Index(target, ir.IntConst(i, self.model.intptr), element) for i in range(length or 0))
                return all(self._covered(part, given) for part in parts)
            case Record(kind, key):
                definition = self.names.record(key)
                named = [m for m in definition.members if m.name or isinstance(m.type, Record)] if definition else []
                covered = (self._covered(ir.Field(target, m.name, bit_field_type(m.type, m.bits)), given) for m in named)
                return any(covered) if kind == "union" and named else all(covered)
            case _:
                return False

    def _braced(self, plan: Plan, target: ir.Expr, node: Node, top: bool = False) -> None:
        items = children(node)
        if not isinstance(target.type, Array | Record):
            if items:
                inner = items[0]
                plan.slots.append(Slot(target, inner))
            return
        if (
            len(items) == 1
            and isinstance(target.type, Array)
            and items[0].type in _STRINGS
            and isinstance(target.type.element, Integer)
        ):
            plan.slots.append(Slot(target, items[0]))
            return
        position, at = 0, 0
        while at < len(items):
            if items[at].type == "initializer_pair":
                position = self._designated(plan, target, items[at]) + 1
                at += 1
            else:
                part = self._part(target, position)
                if part is None:
                    break  # excess elements are ignored, as compilers do
                at = self._element(plan, part, items, at)
                position += 1
            if top:
                plan.length = max(plan.length, position)

    def _designated(self, plan: Plan, target: ir.Expr, pair: Node) -> int:
        """One `[i].m = value`; returns the position at the outermost level."""
        designators = [
            child for position, child in enumerate(pair.children) if pair.field_name_for_child(position) == "designator"
        ]
        value = field_of(pair, "value")
        position = -1
        targets = [target]
        for depth, designator in enumerate(designators):
            reached: list[ir.Expr] = []
            for outer in targets:
                parts, last = self._designate(outer, designator)
                reached.extend(parts)
                position = last if depth == 0 else position
            targets = reached
        for part in targets:
            self._element(plan, part, [value], 0)
        return position

    def _designate(self, target: ir.Expr, designator: Node) -> tuple[list[ir.Expr], int]:
        type_ = target.type
        if designator.type == "field_designator":
            name = self.source(children(designator)[0])
            found = operators.member(target, name, self.names.record)
            if found is None or not isinstance(type_, Record):
                raise RefusedError(f"unknown member {name}")
            outermost = found
            while isinstance(outermost, ir.Field) and outermost.record != target:
                outermost = outermost.record
            definition = self.names.record(type_.key)
            names = [m.name for m in definition.members if m.name or isinstance(m.type, Record)] if definition else []
            wanted = outermost.name if isinstance(outermost, ir.Field) else name
            return [found], names.index(wanted) if wanted in names else len(names)
        bounds = [self.constant(child) for child in children(designator)]
        if not isinstance(type_, Array) or not bounds or any(bound is None for bound in bounds):
            raise RefusedError("designator")
        first, last = bounds[0] or 0, bounds[-1] or 0
        stop = min(last, first + _LARGEST_ARRAY)
        return [ir.Index(target, ir.IntConst(i, self.model.intptr), type_.element) for i in range(first, stop + 1)], last

    def _part(self, target: ir.Expr, position: int) -> ir.Expr | None:
        """The subobject at a position, None after the last."""
        match target.type:
            case Array(element, length):
                if length is not None and position >= length:
                    return None
                return ir.Index(target, ir.IntConst(position, self.model.intptr), element)
            case Record(kind, key):
                definition = self.names.record(key)
                if definition is None:
                    raise RefusedError(f"incomplete type {key}")
                named = [m for m in definition.members if m.name or isinstance(m.type, Record)]
                if position >= (min(1, len(named)) if kind == "union" else len(named)):
                    return None
                found = named[position]
                return ir.Field(target, found.name, bit_field_type(found.type, found.bits))
            case _:
                return target if position == 0 else None

    def _element(self, plan: Plan, part: ir.Expr, items: Sequence[Node], at: int) -> int:
        """Initialises one subobject from the items at `at` on; returns where the next one starts (braces can be left out)."""
        item, type_ = items[at], part.type
        if item.type == "initializer_list":
            self._braced(plan, part, item)
            return at + 1
        if not isinstance(type_, Array | Record):
            plan.slots.append(Slot(part, item))
            return at + 1
        if isinstance(type_, Array) and isinstance(type_.element, Integer) and item.type in _STRINGS:
            plan.slots.append(Slot(part, item))
            return at + 1
        if item.type not in ("number_literal", "string_literal") and self.probe_type(item) == type_:
            plan.slots.append(Slot(part, item))
            return at + 1
        position = 0
        while at < len(items) and items[at].type != "initializer_pair" and (inner := self._part(part, position)) is not None:
            at = self._element(plan, inner, items, at)
            position += 1
        return at if position else at + 1


def _of_last_members(slots: list[Slot]) -> list[Slot]:
    """The slots without those for a member of a union of which another member is initialised later (C11 6.7.9p19)."""
    last: dict[ir.Expr, ir.Expr] = {}
    kept: list[Slot] = []
    for slot in reversed(slots):
        members = [part for part in _path(slot.target) if getattr(part.record.type, "kind", "") == "union"]
        if all(last.setdefault(member.record, member) == member for member in members):
            kept.append(slot)
    return kept[::-1]


def _path(target: ir.Expr) -> Iterator[ir.Field]:
    """The members on the way from an object to a part of it, innermost first."""
    while isinstance(target, ir.Field | ir.Index):
        if isinstance(target, ir.Field):
            yield target
        target = target.record if isinstance(target, ir.Field) else target.array


def _elements(type_: Type) -> int:
    """The number of elements of an array, of all dimensions."""
    count = 1
    while isinstance(type_, Array):
        count *= type_.length or 1
        type_ = type_.element
    return count
