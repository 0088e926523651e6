"""Which terms are said as C expressions: those that a C programmer reads, and a compiler, as they are meant.

An allow list. What is left out reads otherwise than it is meant, or is nothing that anybody would write: shifts and operators on
bits, whose operands C converts by themselves (C11 6.5.7) and whose parentheses `spell_expr` leaves out; numbers that C gives
another type than they have here (6.4.4.1); two minus signs that make a decrement; objects of which one name stands for two types
(6.5p6), or that have no name of their own there.
"""

from __future__ import annotations

from collections import Counter

from analysis.cfa.graph import Cfa, Program
from analysis.model import ir
from analysis.model.c_types import INT, Integer, Pointer, spell
from analysis.model.comparisons import COMPARISONS
from analysis.model.kept_with import kept_with
from analysis.model.ranges import bounds
from analysis.model.spelling import display_name

_OPERATORS = COMPARISONS | {"+", "-", "*", "/", "%"}
_UNNAMED = ("enum", "struct", "union")
_GREATEST = bounds(INT)[1]


def unclear_names(program: Program, cfa: Cfa) -> frozenset[str]:
    """The names that people take for something else, or may, in what is said of a function: beside its parameters, and those that
    several variables have. A parameter may have the name that stands for the result."""
    return _shared(program) | {display_name(one.name) for one in cfa.parameters}


@kept_with
def _shared(program: Program) -> frozenset[str]:
    counts = Counter(display_name(name) for name in program.globals)
    return frozenset(name for name, count in counts.items() if count > 1)


def is_readable(term: ir.Expr, unclear: frozenset[str]) -> bool:
    """Whether a term reads as it is meant. `unclear`: names that global variables cannot have there."""
    if isinstance(term, ir.IntConst) and isinstance(term.type, Integer):
        return abs(term.value) <= _GREATEST
    return _is_readable(term, unclear)


def _is_readable(term: ir.Expr, unclear: frozenset[str]) -> bool:
    match term:
        case ir.IntConst(value, type_):
            return value == 0 if isinstance(type_, Pointer) else 0 <= value <= _GREATEST
        case ir.Var(name, scope):
            return scope != "global" or (not _is_in_function(name) and display_name(name) not in unclear)
        case ir.Deref(pointer):
            return not isinstance(pointer, ir.Cast) and _is_readable(pointer, unclear)
        case ir.Field(inner) | ir.AddressOf(inner) | ir.Unary("!", inner):
            return _is_readable(inner, unclear)
        case ir.Unary("-", inner):
            return isinstance(inner, ir.LVALUES) and _is_readable(inner, unclear)
        case ir.Index(left, right):
            return _is_readable(left, unclear) and _is_readable(right, unclear)
        case ir.Binary(operator, left, right):
            return operator in _OPERATORS and _is_readable(left, unclear) and _is_readable(right, unclear)
        case ir.Cast(inner, type_):
            spelled = spell(type_)
            return "#" not in spelled and spelled.rstrip(" *") not in _UNNAMED and _is_readable(inner, unclear)
    return False


def _is_in_function(name: str) -> bool:
    """Whether a variable with static storage is declared in a function: `file.c::f::x`."""
    return name.count("::") > 1
