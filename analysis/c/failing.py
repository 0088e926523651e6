"""Which expressions can be undefined when they are evaluated, by their form (`undefined.CONDITIONS` says when).

What no rule is about is not asked here: a conversion that does not fit (C11 6.3.1.4p1), a sum of floating values.
"""

from __future__ import annotations

from analysis.c.layout import RecordLookup
from analysis.c.operators import possible_rules
from analysis.model import ir
from analysis.model.c_types import Array, Floating, Pointer, Record


def can_fail(expr: ir.Expr) -> bool:
    """Whether something in the expression is undefined for some values of its variables."""
    return any(map(_can_fail, ir.walk(expr)))


def place_can_fail(lvalue: ir.Expr) -> bool:
    """The same for finding out where an lvalue is."""
    while isinstance(lvalue, ir.Field | ir.Index):
        if isinstance(lvalue, ir.Index) and (can_fail(lvalue.index) or not _is_inside(lvalue)):
            return True
        lvalue = lvalue.record if isinstance(lvalue, ir.Field) else lvalue.array
    return can_fail(lvalue.pointer if isinstance(lvalue, ir.Deref) else lvalue)


def goes_on(element: ir.Index, lookup: RecordLookup) -> bool:
    """Whether an element may be behind the declared length of an array that `ends_object`."""
    length = element.array.type.length if isinstance(element.array.type, Array) else None
    return bool(length) and not _is_inside(element) and ends_object(element.array, lookup)


def ends_object(array: ir.Expr, lookup: RecordLookup) -> bool:
    """Whether an array ends the object that a pointer leads to. Programs allocate more for such an array than it is declared
    with; C has flexible array members for that (C11 6.7.2.1p18), and compilers let the others go on as well."""
    part = array
    while isinstance(part, ir.Field):
        record = part.record.type
        definition = lookup(record.key) if isinstance(record, Record) else None
        if definition is None or not definition.members:
            return False
        last = definition.members[-1]
        if (last.name, last.value_type) != (part.name, part.type):
            return False
        part = part.record
    return part is not array and isinstance(part, ir.Deref)


def _can_fail(part: ir.Expr) -> bool:
    match part:
        case ir.Deref():
            return True
        case ir.Index():
            return not _is_inside(part)
        case ir.Binary("+" | "-", left) if isinstance(left.type, Pointer):  # null moved, or out of its object (C11 6.5.6p8-9)
            return True
        case ir.Binary("/", left) if isinstance(left.type, Floating):  # by zero (C11 6.5.5p5)
            return True
        case _:
            return bool(possible_rules(part))


def _is_inside(element: ir.Index) -> bool:
    """Whether it is an element of its array by its number. Each array has a first one (C11 6.7.6.2p1, p5), but for one of gcc's
    that are declared with length 0."""
    array, index = element.array.type, element.index
    length = array.length if isinstance(array, Array) else None
    return isinstance(index, ir.IntConst) and 0 <= index.value < (1 if length is None else length)
