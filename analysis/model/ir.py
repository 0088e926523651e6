"""The intermediate representation: side-effect-free expressions, and the effects that CFA edges carry.

Lowering (frontend, cfa.build) turns C into these. What holds afterwards:

- Expressions have no side effects: no call, no assignment, no `++`; and no control flow: no `&&`, `||`, `?:`,
  comma or statement expression. Those became edges.
- Conversions are explicit: the operands of a binary operator have the type that the usual arithmetic
  conversions give them (C11 6.3.1.8), through `Cast`. A cast between pointer types is kept.
- A null pointer constant is `IntConst(0, <pointer type>)`, however it was written.
- `sizeof`, `_Alignof`, `offsetof` and enumerators are `IntConst`.
- `p[i]` on a pointer is `Deref(Binary("+", p, i))`; on an array it is `Index(a, i)`. `p->f` is `Field(Deref(p), "f")`.
- An array used as a value is `AddressOf(Index(a, 0))`; a function used as a value is `AddressOf(Var(f))`.
- An `Assume` never holds `!e` at its top: the truth value is flipped instead.

Values are immutable, equal by content and blind to layout; where they came from is in a table of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal

import msgspec

from analysis.model.c_types import Integer, Pointer, Type
from analysis.model.ranges import wrapped

Scope = Literal["global", "parameter", "local", "temporary", "function"]


class Var(msgspec.Struct, frozen=True, gc=False, tag_field="node", cache_hash=True):
    """A variable or a function.

    `name` is unique where it must be: for globals and functions it is the linkage name (`g`, or `file.c::g`
    for static ones; a static local `x` of `f` is `file.c::f::x`); for locals the source name, with `~2`, `~3`
    added to the second and third variable of that name in one function; for temporaries `$1`, `$2`, and so on.
    """

    name: str
    scope: Scope
    type: Type


class Deref(msgspec.Struct, frozen=True, gc=False, tag_field="node", cache_hash=True):
    """The object that `pointer` points to."""

    pointer: Expr
    type: Type


class Field(msgspec.Struct, frozen=True, gc=False, tag_field="node", cache_hash=True):
    """Member `name` of the record object `record`."""

    record: Expr
    name: str
    type: Type


class Index(msgspec.Struct, frozen=True, gc=False, tag_field="node", cache_hash=True):
    """Element `index` of the array object `array`."""

    array: Expr
    index: Expr
    type: Type


class AddressOf(msgspec.Struct, frozen=True, gc=False, tag_field="node", cache_hash=True):
    """The address of an lvalue or function."""

    lvalue: Expr
    type: Type


class IntConst(msgspec.Struct, frozen=True, gc=False, tag_field="node", cache_hash=True):
    """An integer constant in the range of its type, or a pointer that was made of one. Making it converts the
    value to the type (`ranges.wrapped`). Pointers count as 64 bits here; narrower ones are left to code
    that knows the data model."""

    value: int
    type: Type

    def __post_init__(self) -> None:
        type_, value = self.type, self.value
        if isinstance(type_, Integer | Pointer):
            held = wrapped(value, type_)
            if held != value:
                msgspec.structs.force_setattr(self, "value", held)


class FloatConst(msgspec.Struct, frozen=True, gc=False, tag_field="node", cache_hash=True):
    """A floating constant as written."""

    text: str
    type: Type


class StringConst(msgspec.Struct, frozen=True, gc=False, tag_field="node", cache_hash=True):
    """A string literal as a value: the address of its first character. `text` is the literal as written."""

    text: str
    type: Type


class Unary(msgspec.Struct, frozen=True, gc=False, tag_field="node", cache_hash=True):
    """`-e`, `~e`, or `!e` (0 or 1)."""

    operator: Literal["-", "~", "!"]
    operand: Expr
    type: Type


class Binary(msgspec.Struct, frozen=True, gc=False, tag_field="node", cache_hash=True):
    """An arithmetic, bitwise, shift or comparison operator; pointer arithmetic has the pointer on the left."""

    operator: Literal["+", "-", "*", "/", "%", "<<", ">>", "&", "|", "^", "==", "!=", "<", "<=", ">", ">="]
    left: Expr
    right: Expr
    type: Type


class Cast(msgspec.Struct, frozen=True, gc=False, tag_field="node", cache_hash=True):
    """A conversion to `type`, written or implicit."""

    operand: Expr
    type: Type


class Unknown(msgspec.Struct, frozen=True, gc=False, tag_field="node", cache_hash=True):
    """Any value of the type: what lowering knows nothing about (`va_arg`, outputs of `asm`). `arguments`: a pointer to the
    argument list that `va_arg` reads it from, or `va_copy` copies. That is for runs; it is no operand, and any value is right
    without it."""

    type: Type
    arguments: Expr | None = None


class Undefined(msgspec.Struct, frozen=True, gc=False, tag_field="node", cache_hash=True):
    """The indeterminate value of an object that was declared without an initialiser (C11 6.7.9p10)."""

    type: Type


class Zero(msgspec.Struct, frozen=True, gc=False, tag_field="node", cache_hash=True):
    """A record or array with every member zero, as a partial initialiser leaves the rest (C11 6.7.9p21)."""

    type: Type


Expr = (
    Var
    | Deref
    | Field
    | Index
    | AddressOf
    | IntConst
    | FloatConst
    | StringConst
    | Unary
    | Binary
    | Cast
    | Unknown
    | Undefined
    | Zero
)
LVALUES = (Var, Deref, Field, Index)


class Assign(msgspec.Struct, frozen=True, gc=False, tag_field="node", cache_hash=True):
    """`target = value`. A declaration without initialiser assigns `Undefined`."""

    target: Expr
    value: Expr


class Assume(msgspec.Struct, frozen=True, gc=False, tag_field="node", cache_hash=True):
    """The branch taken when `condition`, a scalar, is non-zero (`truth`) or zero (not `truth`)."""

    condition: Expr
    truth: bool


class Call(msgspec.Struct, frozen=True, gc=False, tag_field="node", cache_hash=True):
    """A call; `callee` is `Var(scope="function")` for a direct call, else the called pointer's value.

    `result` is the lvalue that takes the result, None when it is dropped or there is none.
    """

    callee: Expr
    arguments: tuple[Expr, ...]
    result: Expr | None


class Return(msgspec.Struct, frozen=True, gc=False, tag_field="node", cache_hash=True):
    """Leaves the function, with `value` already converted to the result type."""

    value: Expr | None


class Unsupported(msgspec.Struct, frozen=True, gc=False, tag_field="node", cache_hash=True):
    """Something that lowering does not model; a function with a reachable one can never be `safe`. `mentions` are the names of
    the variables in a statement that is left out: it may have changed them, or passed them on."""

    reason: str
    mentions: tuple[str, ...] = ()


Effect = Assign | Assume | Call | Return | Unsupported


_OPERANDS: dict[type, Callable[[Any], tuple[Expr, ...]]] = {
    Deref: lambda expr: (expr.pointer,),
    Field: lambda expr: (expr.record,),
    Index: lambda expr: (expr.array, expr.index),
    AddressOf: lambda expr: (expr.lvalue,),
    Unary: lambda expr: (expr.operand,),
    Binary: lambda expr: (expr.left, expr.right),
    Cast: lambda expr: (expr.operand,),
}  # by type: this is asked for millions of times, and most of what it is asked about are leaves


def operands(expr: Expr) -> tuple[Expr, ...]:
    """The direct subexpressions, left to right."""
    read = _OPERANDS.get(type(expr))
    return () if read is None else read(expr)


def walk(expr: Expr) -> Sequence[Expr]:
    """The expression and all its subexpressions, operands before the operator that uses them."""
    if type(expr) not in _OPERANDS:
        return (expr,)
    found: list[Expr] = []
    waiting = [expr]
    while waiting:
        part = waiting.pop()
        found.append(part)
        read = _OPERANDS.get(type(part))
        if read is not None:
            waiting.extend(read(part))
    found.reverse()
    return found


_VALUES: dict[type, Callable[[Any], tuple[Expr, ...]]] = {
    Assign: lambda effect: (effect.value,),
    Assume: lambda effect: (effect.condition,),
    Call: lambda effect: (effect.callee, *effect.arguments),
    Return: lambda effect: () if effect.value is None else (effect.value,),
}  # by type, as _OPERANDS


def values_of(effect: Effect) -> tuple[Expr, ...]:
    """The expressions whose values an effect uses, in the order of evaluation that C compilers use for them."""
    read = _VALUES.get(type(effect))
    return () if read is None else read(effect)


def target_of(effect: Effect) -> Expr | None:
    """The lvalue that an effect assigns to, or None."""
    if type(effect) is Assign:
        return effect.target
    return effect.result if type(effect) is Call else None


def expressions(effect: Effect) -> tuple[Expr, ...]:
    """The expressions of an effect: its values, and behind them its target."""
    target = target_of(effect)
    return values_of(effect) if target is None else (*values_of(effect), target)


def expressions_read(effect: Effect) -> tuple[Expr, ...]:
    """The expressions of an effect, without a variable that it assigns to as a whole."""
    return values_of(effect) if isinstance(target_of(effect), Var) else expressions(effect)


def variables(expr: Expr) -> Iterator[Var]:
    """Every occurrence of a variable in the expression."""
    for part in walk(expr):
        if isinstance(part, Var):
            yield part


def root(lvalue: Expr) -> Expr:
    """The object that an lvalue is a part of: a variable, or what a pointer leads to."""
    while isinstance(lvalue, Field | Index):
        lvalue = lvalue.record if isinstance(lvalue, Field) else lvalue.array
    return lvalue


def steps(lvalue: Expr) -> list[Field | Index]:
    """The members and elements that lead from the `root` of an lvalue to it."""
    found: list[Field | Index] = []
    while isinstance(lvalue, Field | Index):
        found.append(lvalue)
        lvalue = lvalue.record if isinstance(lvalue, Field) else lvalue.array
    found.reverse()
    return found


def place_values(lvalue: Expr) -> list[Expr]:
    """The expressions whose values say where an lvalue is: indices, the last one first, and a pointer."""
    base = root(lvalue)
    indices = [step.index for step in reversed(steps(lvalue)) if isinstance(step, Index)]
    return [*indices, base.pointer] if isinstance(base, Deref) else indices


def strip_casts(expr: Expr) -> Expr:
    """The expression under any casts."""
    while isinstance(expr, Cast):
        expr = expr.operand
    return expr


def direct_callee(call: Call) -> str | None:
    """The linkage name of the function a direct call names, None for a call through a pointer."""
    callee = call.callee
    return callee.name if isinstance(callee, Var) and callee.scope == "function" else None
