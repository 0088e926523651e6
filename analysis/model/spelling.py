"""Expressions and effects as C text, for traces, hovers and dumps.

The text is for people: implicit conversions and linkage prefixes are left out, `(*p).f` is `p->f`, a null
pointer is `NULL`. It is not meant to be compiled.
"""

from __future__ import annotations

from analysis.model import ir
from analysis.model.c_types import Floating, Integer, Pointer, spell
from analysis.model.comparisons import NEGATED

_PRECEDENCE = {
    "*": 10, "/": 10, "%": 10, "+": 9, "-": 9, "<<": 8, ">>": 8, "<": 7, "<=": 7, ">": 7, ">=": 7,
    "==": 6, "!=": 6, "&": 5, "^": 4, "|": 3,
}  # fmt: skip
_UNARY = 11
_ESCAPES = {"\0": "\\0", "\t": "\\t", "\n": "\\n", "\r": "\\r", "'": "\\'", "\\": "\\\\"}
_CHARACTERS = {ord(one): f"'{_ESCAPES.get(one, one)}'" for one in (*map(chr, range(32, 127)), "\0", "\t", "\n", "\r")}
POSTFIX = 12


def display_name(name: str) -> str:
    """A variable's name as in the source: without linkage prefix and numbering."""
    return name.rsplit("::", 1)[-1].split("~", 1)[0]


def spell_expr(expr: ir.Expr, precedence: int = 0) -> str:
    """The expression in C syntax, in parentheses if it binds weaker than `precedence`."""
    text, binds = _spell(expr)
    return f"({text})" if binds < precedence else text


def _spell(expr: ir.Expr) -> tuple[str, int]:
    """The expression, and how strongly its outermost operator binds."""
    match expr:
        case ir.Var(name):
            return display_name(name), POSTFIX
        case ir.Deref() | ir.Field() | ir.Index() | ir.AddressOf():
            return _spell_access(expr)
        case ir.IntConst(value, type_):
            if isinstance(type_, Pointer):
                return ("NULL", POSTFIX) if value == 0 else (f"({spell(type_)}){value}", _UNARY)
            return str(value), POSTFIX if value >= 0 else _UNARY
        case ir.FloatConst(text) | ir.StringConst(text):
            # A literal keeps bytes that are no UTF-8 as lone surrogates; nothing that leaves the analysis may hold these.
            return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace"), POSTFIX
        case ir.Unary(operator, operand):
            return f"{operator}{spell_expr(operand, _UNARY)}", _UNARY
        case ir.Binary(operator, left, right):
            binds = _PRECEDENCE[operator]
            if operator in NEGATED:
                return f"{_compared(left, right, binds)} {operator} {_compared(right, left, binds + 1)}", binds
            return f"{spell_expr(left, binds)} {operator} {spell_expr(right, binds + 1)}", binds
        case ir.Cast(operand):
            return _spell(operand)
        case ir.Zero():
            return "{0}", POSTFIX
        case ir.Unknown():
            return "any value", POSTFIX
        case ir.Undefined():
            return "an indeterminate value", POSTFIX


def _spell_access(expr: ir.Deref | ir.Field | ir.Index | ir.AddressOf) -> tuple[str, int]:
    """What follows pointers, picks members and elements, and takes addresses."""
    match expr:
        case ir.Deref(ir.Binary("+", base, index)):
            return f"{spell_expr(base, POSTFIX)}[{spell_expr(ir.strip_casts(index))}]", POSTFIX
        case ir.Deref(pointer):
            return f"*{spell_expr(ir.strip_casts(pointer), _UNARY)}", _UNARY
        case ir.Field(ir.Field(record, ""), name, type_):  # a member of an anonymous record is written as the outer record's
            return _spell(ir.Field(record, name, type_))
        case ir.Field(ir.Deref(ir.Var() | ir.Field() | ir.Index() as pointer), name):
            return f"{spell_expr(pointer, POSTFIX)}->{name}", POSTFIX
        case ir.Field(record, name):
            return f"{spell_expr(record, POSTFIX)}.{name}", POSTFIX
        case ir.Index(array, index):
            return f"{spell_expr(array, POSTFIX)}[{spell_expr(ir.strip_casts(index))}]", POSTFIX
        case ir.AddressOf(ir.Index(array, ir.IntConst(0))):
            return _spell(array)
        case ir.AddressOf(ir.Var(_, "function") as function):
            return _spell(function)
        case ir.AddressOf(lvalue):
            return f"&{spell_expr(lvalue, _UNARY)}", _UNARY


def _compared(expr: ir.Expr, other: ir.Expr, precedence: int) -> str:
    """An operand of a comparison: what is compared with a character is one."""
    bare = ir.strip_casts(expr)
    type_ = getattr(ir.strip_casts(other), "type", None)
    if isinstance(bare, ir.IntConst) and isinstance(type_, Integer) and type_.name.endswith("char"):
        return _CHARACTERS.get(bare.value, str(bare.value))
    return spell_expr(expr, precedence)


def spell_condition(condition: ir.Expr, truth: bool) -> str:
    """What an `Assume` says, as a condition that holds."""
    bare = ir.strip_casts(condition)
    if not truth and isinstance(bare, ir.Binary) and bare.operator in NEGATED and not isinstance(bare.left.type, Floating):
        return f"{_compared(bare.left, bare.right, 7)} {NEGATED[bare.operator]} {_compared(bare.right, bare.left, 7)}"
    if truth:
        return spell_expr(condition)
    if isinstance(getattr(bare, "type", None), Pointer):
        return f"{spell_expr(bare, 7)} == NULL"
    return f"!{spell_expr(bare, _UNARY)}"


def spell_effect(effect: ir.Effect) -> str:
    """An effect in one line."""
    match effect:
        case ir.Assign(target, ir.Undefined()):
            return f"{spell_expr(target)} is declared"
        case ir.Assign(target, value):
            return f"{spell_expr(target)} = {spell_expr(value)}"
        case ir.Assume(condition, truth):
            return spell_condition(condition, truth)
        case ir.Call(callee, arguments, result):
            text = f"{spell_expr(callee, POSTFIX)}({', '.join(spell_expr(a) for a in arguments)})"
            return text if result is None else f"{spell_expr(result)} = {text}"
        case ir.Return(value):
            return "return" if value is None else f"return {spell_expr(value)}"
        case ir.Unsupported(reason):
            return f"unsupported: {reason}"
