"""Initialisers: which subobject each expression of a braced list initialises (C11 6.7.9p17-21)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from analysis.frontend.declarations.literal_values import is_wide, string_length
from analysis.frontend.declarations.side_effects import has_effects
from analysis.frontend.lowering import operators
from analysis.frontend.lowering.context import Context, children, field_of
from analysis.frontend.lowering.refused import RefusedError
from analysis.frontend.lowering.unsequenced import Mark
from analysis.frontend.syntax.parser import Node
from analysis.model import ir
from analysis.model.c_types import INT, Array, Integer, Record, Type

_LARGEST_ARRAY = 256  # elements that are initialised one by one; arrays beyond it start with unknown content
_LARGEST_RANGE = 4096  # elements that one designator can name
_STRINGS = frozenset(("string_literal", "concatenated_string"))


class Slot(msgspec.Struct, frozen=True):
    """A subobject and the expression that initialises it."""

    target: ir.Expr
    node: Node


class Plan:
    """What a braced list initialises. `length` is how many elements it gives an array of unknown length."""

    def __init__(self) -> None:
        self.length = 0
        self._slots: dict[int, Slot] = {}
        self._inside: dict[ir.Expr, list[int]] = {}  # the slots of the parts of an object, by their numbers
        self._members: dict[ir.Expr, ir.Field] = {}  # which one of a union was initialised last
        self._number = 0
        self.overrides = False  # whether a part may be initialised more than once

    @property
    def slots(self) -> list[Slot]:
        """The slots that count, in order."""
        return list(self._slots.values())

    def add(self, slot: Slot) -> None:
        """Adds a slot, instead of all that there are for parts of its target (C11 6.7.9p19)."""
        if self.overrides:
            self.begin(slot.target)
            part: ir.Expr = slot.target
            while isinstance(part, ir.Field | ir.Index):
                if part != slot.target and isinstance(part.type, Record) and self._is_given(part):
                    raise RefusedError(
                        "an initialiser for a part of a structure that has a value already: compilers differ in its rest"
                    )
                self._inside.setdefault(part, []).append(self._number)
                part = part.record if isinstance(part, ir.Field) else part.array
        self._slots[self._number] = slot
        self._number += 1

    def _is_given(self, part: ir.Expr) -> bool:
        """Whether a value, and no list, initialises the part."""
        slots = (self._slots.get(number) for number in self._inside.get(part, ()))
        return any(slot is not None and slot.target == part for slot in slots)

    def begin(self, target: ir.Expr) -> None:
        """A list in braces, or a value, initialises the target: what was given to parts of it before is overridden, and what was
        given to other members of the unions that it is in."""
        if not self.overrides:
            return
        self._drop(target)
        for member in _path(target):
            if getattr(member.record.type, "kind", "") == "union":
                before = self._members.get(member.record)
                if before is not None and before != member:
                    self._drop(before)
                self._members[member.record] = member

    def _drop(self, part: ir.Expr) -> None:
        for number in self._inside.pop(part, ()):
            slot = self._slots.pop(number, None)
            if slot is not None and has_effects(slot.node):  # it need not be evaluated (C11 6.7.9p19, note 151)
                raise RefusedError("an initialiser with side effects that another one overrides")


class _Outer(msgspec.Struct):
    """An object whose parts a list initialises, and the number of the part that comes next."""

    target: ir.Expr
    position: int


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
            marks, values = [self.mark()], list[ir.Expr]()
            self._evaluate(node, marks, values)
            self.unordered(marks, *values)
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
        marks = [self.mark()]
        for slot in plan.slots:
            self._store_one(slot.target, slot.node, slot.node)
            marks.append(self.mark())
        self.order.operands(self.flow, marks, [()] * len(plan.slots))

    def _store_one(self, target: ir.Expr, node: Node, site: Node) -> None:
        if isinstance(target.type, Array):
            is_plain = node.type not in _STRINGS or not is_wide(self.source(node))
            value = self.expression(node) if is_plain else ir.Unknown(target.type)
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
                literal = self.scalar_literal(slot.target.type, slot.node)
                yield slot.target, literal or operators.convert(self.value(slot.node), slot.target.type)

    def elements_given(self, node: Node) -> int:
        """How many values an initialiser lists, at most."""
        return sum(map(self.elements_given, children(node))) if node.type == "initializer_list" else 1

    def _evaluate(self, node: Node, marks: list[Mark], values: list[ir.Expr]) -> None:
        """Evaluates a list whose values are not kept, for its side effects. Adds each value, and a mark after
        it."""
        for child in children(node):
            value = field_of(child, "value") if child.type == "initializer_pair" else child
            if value.type == "initializer_list":
                self._evaluate(value, marks, values)
            elif value.type not in ("number_literal", "char_literal", "string_literal"):
                values.append(self.value(value))
                marks.append(self.mark())

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
        plan.overrides = _designates(node)
        self._braced(plan, target, node, top=True)
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
                covered = (self._covered(ir.Field(target, m.name, m.value_type), given) for m in named)
                return any(covered) if kind == "union" and named else all(covered)
            case _:
                return False

    def _braced(self, plan: Plan, target: ir.Expr, node: Node, top: bool = False) -> None:
        items = children(node)
        plan.begin(target)
        if not isinstance(target.type, Array | Record):
            if items:
                plan.add(Slot(target, items[0]))
            return
        if (
            len(items) == 1
            and isinstance(target.type, Array)
            and items[0].type in _STRINGS
            and isinstance(target.type.element, Integer)
        ):
            plan.add(Slot(target, items[0]))
            return
        at, outers = 0, [_Outer(target, 0)]  # what comes next is a part of the last of these, each in the one before
        while at < len(items):
            if items[at].type == "initializer_pair":
                outers, at = self._designated(plan, target, items, at)
            else:
                depth = len(outers)
                part = self._next(outers)
                if part is None:
                    break  # excess elements are ignored, as compilers do
                if len(outers) < depth and items[at].type in _STRINGS:
                    raise RefusedError("a string after the last part of an object: compilers differ in what it initialises")
                at = self._element(plan, part, items, at)
                outers[-1].position += 1
            if top:
                plan.length = max(plan.length, outers[0].position + (len(outers) > 1))

    def _next(self, outers: list[_Outer]) -> ir.Expr | None:
        """The part that comes next (C11 6.7.9p17, p20): where the last object has no more, one of the objects around it."""
        while (part := self._part(outers[-1].target, outers[-1].position)) is None and len(outers) > 1:
            outers.pop()
            outers[-1].position += 1
        return part

    def _designated(self, plan: Plan, target: ir.Expr, items: Sequence[Node], at: int) -> tuple[list[_Outer], int]:
        """One `[i].m = value`, the values after it included that are for parts of the same object. Returns where it goes on: in
        which objects, and at which item."""
        pair = items[at]
        designators = [
            child for position, child in enumerate(pair.children) if pair.field_name_for_child(position) == "designator"
        ]
        value = field_of(pair, "value")
        outers: list[_Outer] = []
        targets = [target]
        for designator in designators:
            reached: list[ir.Expr] = []
            for outer in targets:
                parts, inside = self._designate(outer, designator)
                reached.extend(parts)
            outers += inside
            targets = reached
        if len(targets) > 1:
            next_one = self._range(plan, targets, value, items, at)
        else:
            next_one = at + self._element(plan, targets[0], [value, *items[at + 1 :]], 0)
        outers[-1].position += 1
        return outers, next_one

    def _range(self, plan: Plan, targets: list[ir.Expr], value: Node, items: Sequence[Node], at: int) -> int:
        """Several elements with one value, which is an extension of gcc: it goes on with what is designated."""
        if has_effects(value):  # they happen once
            raise RefusedError("an initialiser with side effects for several elements")
        if at + 1 < len(items) and items[at + 1].type != "initializer_pair":
            raise RefusedError("an initialiser without designator after one for several elements")
        for part in targets:
            self._element(plan, part, [value], 0)
        return at + 1

    def _designate(self, target: ir.Expr, designator: Node) -> tuple[list[ir.Expr], list[_Outer]]:
        """The parts that a designator names, and the objects that the last of them is in, from the target on."""
        type_ = target.type
        if designator.type == "field_designator":
            name = self.source(children(designator)[0])
            found = operators.member(target, name, self.names.record)
            if found is None or not isinstance(type_, Record):
                raise RefusedError(f"unknown member {name}")
            outers: list[_Outer] = []
            part = found
            while isinstance(part, ir.Field) and part != target:  # through anonymous members
                outers.insert(0, _Outer(part.record, self._position(part)))
                part = part.record
            return [found], outers
        bounds = [self.constant(child) for child in children(designator)]
        if not isinstance(type_, Array) or not bounds or any(bound is None for bound in bounds):
            raise RefusedError("designator")
        first, last = bounds[0] or 0, bounds[-1] or 0
        if not 0 <= last - first <= _LARGEST_RANGE:
            raise RefusedError("a range of no elements, or a long one")
        parts: list[ir.Expr] = [
            ir.Index(target, ir.IntConst(i, self.model.intptr), type_.element) for i in range(first, last + 1)
        ]
        return parts, [_Outer(target, last)]

    def _position(self, member: ir.Field) -> int:
        """The number of a member among those that can be initialised."""
        position = 0
        while (part := self._part(member.record, position, any_of_union=True)) != member:
            if part is None:
                raise RefusedError(f"unknown member {member.name}")
            position += 1
        return position

    def _part(self, target: ir.Expr, position: int, *, any_of_union: bool = False) -> ir.Expr | None:
        """The subobject at a position, None after the last. Of a union it is the first member, unless any is wanted."""
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
                if position >= (min(1, len(named)) if kind == "union" and not any_of_union else len(named)):
                    return None
                found = named[position]
                return ir.Field(target, found.name, found.value_type)
            case _:
                return target if position == 0 else None

    def _element(self, plan: Plan, part: ir.Expr, items: Sequence[Node], at: int) -> int:
        """Initialises one subobject from the items at `at` on; returns where the next one starts (braces can be left out)."""
        item, type_ = items[at], part.type
        if item.type == "initializer_list":
            self._braced(plan, part, item)
            return at + 1
        if not isinstance(type_, Array | Record):
            plan.add(Slot(part, item))
            return at + 1
        if isinstance(type_, Array) and isinstance(type_.element, Integer) and item.type in _STRINGS:
            plan.add(Slot(part, item))
            return at + 1
        if item.type not in ("number_literal", "string_literal") and self.probe_type(item) == type_:
            plan.add(Slot(part, item))
            return at + 1
        position = 0
        while at < len(items) and items[at].type != "initializer_pair" and (inner := self._part(part, position)) is not None:
            at = self._element(plan, inner, items, at)
            position += 1
        return at if position else at + 1


def _designates(node: Node) -> bool:
    """Whether there is a designator anywhere in a braced list."""
    return any(
        child.type == "initializer_pair" or (child.type == "initializer_list" and _designates(child)) for child in children(node)
    )


def _path(target: ir.Expr) -> Iterator[ir.Field]:
    """Yields the members that lead from an object to a part of it, innermost first."""
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
