"""What expressions give, as far as pointers are followed, what they access, and where pointers go otherwise."""

from __future__ import annotations

from collections.abc import Iterable

from analysis.certificate.ownership.block_changes import give_away, holds_none
from analysis.certificate.ownership.memory_state import (
    FIXED,
    GONE,
    KEPT,
    NULL,
    OTHER,
    OWN_VARIABLE,
    block_of,
    front_of,
    into,
    is_in_front,
    is_own,
    is_start,
)
from analysis.certificate.ownership.obligations import FREES, LEAKS, LIVE, RULES, USES, Condition
from analysis.certificate.ownership.open_descriptors import opens_descriptors
from analysis.certificate.ownership.standard_streams import never_closed
from analysis.certificate.ownership.step import Step
from analysis.model import ir
from analysis.model.c_types import Function, Integer, Pointer, Record, Type, Void
from analysis.model.comparisons import COMPARISONS
from analysis.model.spelling import spell_expr

_CHAR_BITS = 8
AFTER_FREE = frozenset(("use-after-free",))


def value(step: Step, expr: ir.Expr) -> str:
    """The value of an expression. What reads its parts must not have ended."""
    match expr:
        case ir.Var(name):
            return step.memory.value(name) if name in step.names else KEPT if name in never_closed(step.program) else OTHER
        case ir.IntConst(0, Pointer()):
            return NULL
        case ir.StringConst():
            return FIXED
        case ir.AddressOf(lvalue):
            return _address(step, lvalue)
        case ir.Deref() | ir.Field() | ir.Index():
            is_table = isinstance(expr, ir.Deref) and isinstance(expr.type, Pointer)  # of `isalpha`, as the library made it
            return KEPT if place(step, expr) == KEPT and is_table else OTHER
        case ir.Cast():
            return _converted(step, expr)
        case ir.Binary():
            return _binary(step, expr)
        case _:
            for operand in ir.operands(expr):
                compared(step, operand) if isinstance(expr, ir.Unary) and expr.operator == "!" else _used(step, operand)
            return OTHER


def _converted(step: Step, cast: ir.Cast) -> str:
    operand = cast.operand
    found = value(step, operand)
    if not isinstance(cast.type, Pointer):
        if not isinstance(cast.type, Void):
            give_away(step, found, "is converted to a number")
        return OTHER
    if not isinstance(operand.type, Pointer):
        step.take_ended()  # whatever has ended may be where a number says
        step.refuse(
            LEAKS, f"`{spell_expr(operand)}` is converted to a pointer, by which the last pointer to a block may be overwritten,"
        )
        return OTHER
    if not is_local(operand):
        retyped(step, found, operand, cast, operand.type.target, cast.type.target)
    return found


def is_local(pointer: ir.Expr) -> bool:
    """Whether it is the address of a variable of the function: blocks that that leads to are not followed as own ones."""
    bare = ir.strip_casts(pointer)
    root = ir.root(bare.lvalue) if isinstance(bare, ir.AddressOf) else None
    return isinstance(root, ir.Var) and root.scope not in ("global", "function")


def retyped(step: Step, found: str, pointer: ir.Expr, cast: ir.Expr, before: Type, after: Type) -> None:
    """A pointer is taken as one to another type. Where what may hold pointers is taken as numbers, or as another record, what is
    written there may overwrite one."""
    if before == after or not step.may_hold_pointer(before) or isinstance(after, Void | Pointer | Function):
        return
    if isinstance(before, Void) and found == OTHER and step.may_hold_pointer(after):
        return  # it leads to that
    why = f"what is written by `{spell_expr(cast)}` may overwrite the last pointer to a block,"
    lose_contents(step, found, LEAKS, why, holds_none(pointer))


def lose_contents(step: Step, found: str, rules: Iterable[str], why: str, condition: Condition) -> None:
    """What a pointer leads to may be overwritten, which loses nothing if a condition is met. An own block leads to no block that
    nothing else leads to, nor does a variable of the function."""
    block = block_of(found)
    if block is None:
        step.refuse_unless(() if found in (NULL, KEPT, OWN_VARIABLE) else rules, why, condition)
    elif not is_own(block):
        step.change_contents(block, rules, why, condition)


def _used(step: Step, expr: ir.Expr) -> None:
    give_away(step, value(step, expr), "is used in an expression that is not followed")


def compared(step: Step, expr: ir.Expr) -> None:
    """A value is compared, or dropped: nothing is left of it, nor of what it is computed from."""
    bare = ir.strip_casts(expr)
    if isinstance(bare, ir.Binary) and isinstance(bare.type, Integer):
        compared(step, bare.left)
        compared(step, bare.right)
    else:
        value(step, bare)


def _binary(step: Step, expr: ir.Binary) -> str:
    are_pointers = isinstance(expr.left.type, Pointer), isinstance(expr.right.type, Pointer)
    if expr.operator in COMPARISONS or (expr.operator == "-" and all(are_pointers)):
        compared(step, expr.left)
        compared(step, expr.right)
        return OTHER
    if expr.operator in ("+", "-") and are_pointers == (True, False):
        found = value(step, expr.left)
        _used(step, expr.right)
        is_same = isinstance(expr.right, ir.IntConst) and expr.right.value == 0
        block = block_of(found) if expr.operator == "-" and (is_start(found) or is_in_front(found)) else None
        return found if is_same else moved(found) if block is None or is_own(block) else front_of(block)
    _used(step, expr.left)
    _used(step, expr.right)
    return OTHER


def moved(found: str) -> str:
    """A pointer to somewhere in the object that another one leads to."""
    block = block_of(found)
    if block is not None:
        return into(block)
    return found if found in (FIXED, OWN_VARIABLE, GONE, KEPT) else OTHER


def _address(step: Step, lvalue: ir.Expr) -> str:
    root = ir.root(lvalue)
    _indices(step, lvalue)
    found = FIXED if isinstance(root, ir.Var | ir.StringConst) else OTHER
    if isinstance(root, ir.Var) and root.scope == "local":  # a parameter may hold what nothing but the caller's argument held
        found = OWN_VARIABLE
    if isinstance(root, ir.Deref):
        found = value(step, root.pointer)
    is_variable = isinstance(root, ir.Var) and root.scope != "global"
    if not is_variable and not step.may_hold_pointer(lvalue.type) and step.may_hold_pointer(_overlaid(lvalue)):
        why = f"`{spell_expr(lvalue)}` shares its bytes with pointers in a union, and may overwrite the last one to a block,"
        lose_contents(step, found, LEAKS, why, Condition("holds none", lvalue))
    is_start = root is lvalue or (block_of(found) is not None and _is_at_start(step, lvalue))
    return found if is_start else moved(found)


def _is_at_start(step: Step, lvalue: ir.Expr) -> bool:
    """Whether a part of an object begins where the object does: the first member of a structure does, and all of a union do
    (C11 6.7.2.1p15 and p16)."""
    for part in ir.steps(lvalue):
        if not isinstance(part, ir.Field) or not isinstance(part.record.type, Record):
            return False
        definition = step.program.records.get(part.record.type.key)
        if definition is None or not definition.members:
            return False
        first = definition.members[0]
        is_first = (part.name, part.type) == (first.name, first.type)  # anonymous members have one name, and types of their own
        if part.record.type.kind == "struct" and (not is_first or first.bits is not None):
            return False
    return True


def _overlaid(lvalue: ir.Expr) -> Type:
    """The type of all that is overwritten with an object: that of the outermost union that it is a part of, or its own."""
    unions = (part.record.type for part in ir.steps(lvalue) if isinstance(part, ir.Field))
    return next((type_ for type_ in unions if isinstance(type_, Record) and type_.kind == "union"), lvalue.type)


def _indices(step: Step, lvalue: ir.Expr) -> None:
    for part in ir.steps(lvalue):
        if isinstance(part, ir.Index):
            _used(step, part.index)


def place(step: Step, lvalue: ir.Expr) -> str:
    """An object is read or written: a pointer to where it is."""
    root = ir.root(lvalue)
    _indices(step, lvalue)
    if isinstance(root, ir.Var):
        return FIXED
    if not isinstance(root, ir.Deref):
        return FIXED if isinstance(root, ir.StringConst) else OTHER
    found = value(step, root.pointer)
    if not isinstance(root.type, Function):
        access(step, found, root.pointer)
    return found


def access(step: Step, found: str, pointer: ir.Expr, rules: frozenset[str] = AFTER_FREE) -> None:
    """What a pointer leads to is used: it must not have ended."""
    found = step.memory.current(found)
    block, name = block_of(found), f"`{spell_expr(ir.strip_casts(pointer))}`"
    if found in (NULL, FIXED, OWN_VARIABLE, KEPT):
        return  # nothing can have ended there, so that nothing is proved either
    if block is not None and is_own(block):
        step.meet(rules & AFTER_FREE if step.memory.blocks[block] == "heap" else rules | AFTER_FREE)
    elif found == GONE:
        step.misuse(FREES | USES, f"{name} points to {gone(rules)}")
    elif block is not None:
        step.use(rules, is_passed=True)
        step.require(rules, block, LIVE, f"{name} comes from the caller, and may point to {gone(rules)},")
    else:
        step.use(rules, is_passed=False)
        why = f"{name} may point to {gone(rules)}: where it comes from is not followed,"
        step.refuse_unless(rules, why, Condition("never ends", pointer))


def gone(rules: frozenset[str]) -> str:
    """What must not be used, in words."""
    return "freed memory" if rules <= AFTER_FREE else "freed memory or a closed stream"


def written(step: Step, found: str, lvalue: ir.Expr, given: ir.Expr | None) -> None:
    """An object is overwritten: what it led to could be lost, unless it is a variable of the function, or in a block of it.
    `given`: by the value of an expression; None: by what is not known. A pointer that is moved leads to the block that it led to
    (C11 6.5.6p8); but a number that was stored as a pointer is another one then, and may have been that of a file."""
    root = ir.root(lvalue)
    if not isinstance(root, ir.Var) or root.scope == "global":
        is_text = isinstance(lvalue, ir.Deref | ir.Index) and is_character(lvalue.type)
        lost = LEAKS
        if given is not None and _overlaid(lvalue) == lvalue.type and _is_moved(lvalue, given):
            lost = frozenset(("resource-leak",)) if opens_descriptors(step.program) else frozenset()
            step.meet(LEAKS - lost)
        what = f"`{spell_expr(lvalue)}` is assigned"
        overwritten(step, found, lvalue, _overlaid(lvalue), what, is_text=is_text, leaks=lost)


def _is_moved(lvalue: ir.Expr, given: ir.Expr) -> bool:
    """Whether a value is that of a pointer to which something is added, or from which it is subtracted."""
    if not isinstance(lvalue.type, Pointer):
        return False
    while given != lvalue:
        match given:
            case ir.Cast(operand, Pointer()) if isinstance(operand.type, Pointer):
                given = operand
            case ir.Binary("+" | "-", left, right) if isinstance(left.type, Pointer) and isinstance(right.type, Integer):
                given = left
            case _:
                return False
    return True


def is_character(type_: Type) -> bool:
    """Whether it is a type of characters (C11 6.2.5p15)."""
    return isinstance(type_, Integer) and type_.bits == _CHAR_BITS


def overwritten(
    step: Step, found: str, lvalue: ir.Expr, held: Type, what: str, *, is_text: bool, leaks: frozenset[str] = LEAKS
) -> None:
    """An lvalue that holds something of a type is overwritten, and a pointer leads there. `is_text`: it is a character among
    others. `leaks`: the rules for which it matters which pointer it held."""
    condition = Condition("holds none", lvalue)
    if step.may_hold_pointer(held):
        lose_contents(step, found, leaks, f"{what}, and may have held the last pointer to a block,", condition)
    elif step.may_hold_descriptor(held) and not is_text:
        why = f"{what}, and may have held the number of an open file,"
        lose_contents(step, found, ("resource-leak",), why, condition)


def assign(step: Step, target: ir.Expr, found: str, given: ir.Expr | None = None) -> None:
    """An lvalue gets a value: that of an expression, or what is not known."""
    if isinstance(target, ir.Var) and target.name in step.names:
        step.memory.hold(target.name, found)
        return
    to = place(step, target)
    if to == KEPT and isinstance(target.type, Pointer):
        step.refuse(RULES, f"`{spell_expr(target)}` is assigned, which is the library's own,")
    written(step, to, target, given)
    give_away(step, found, f"is stored in `{spell_expr(target)}`")
