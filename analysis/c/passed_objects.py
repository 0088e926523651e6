"""Whether what is passed to a library function has as many bytes as the function accesses.

Only string literals and addresses of variables are looked at, and what the row of the function says (`functions`). All else is
for those who know what memory holds.
"""

from __future__ import annotations

from analysis.c.calls import literal
from analysis.c.formats import NUMBERS, Conversion, printed, scanned, stored_bits
from analysis.c.functions import Function, known
from analysis.model import ir
from analysis.model.c_types import DataModel, Floating, Integer, Pointer, Record, Type

_NOT_ACCESSED = frozenset(("n", "any", "freed"))
_TEXTS = frozenset(("text", "format", "scan"))
_ONE_OBJECT = frozenset(("one", "link", "lock", "handle", "closed"))
_THROUGH = frozenset("sn")  # conversions of printf() that go through a pointer


def is_literal(argument: ir.Expr) -> bool:
    """Whether an argument is a string literal."""
    return isinstance(ir.strip_casts(argument), ir.StringConst)


def scalar_variable(argument: ir.Expr) -> ir.Var | None:
    """The variable of a scalar type whose address an argument is."""
    inner = ir.strip_casts(argument)
    found = inner.lvalue if isinstance(inner, ir.AddressOf) else None
    return found if isinstance(found, ir.Var) and isinstance(found.type, Integer | Floating | Pointer) else None


def is_enough(name: str, call: ir.Call, position: int, model: DataModel) -> bool:
    """Whether a literal, or a scalar variable whose address is passed, surely has as many bytes as the function accesses. False
    for every other argument, and for functions of which nothing is known."""
    function = known(name)
    if function is None or (position >= len(function.arguments) and not function.is_variadic):
        return False
    uses = function.argument(position).uses
    if uses <= _NOT_ACCESSED or (uses == {"kept"} and (function.is_complete or "thread" in function.besides)):
        return True
    if is_literal(call.arguments[position]):
        return _reads_literal(function, call, position)
    variable = scalar_variable(call.arguments[position])
    if variable is None:
        return False
    bits = _bits(variable.type, model)
    if uses & _ONE_OBJECT:
        return is_one(function, position, call.arguments[position], model)
    conversion = conversion_of(function, call, position)
    if conversion is None:
        return False
    if function.format is not None:
        return conversion.letter in NUMBERS or conversion.letter == "p"
    stored = stored_bits(conversion, model)
    return stored is not None and stored <= bits


def is_one(function: Function, position: int, argument: ir.Expr, model: DataModel) -> bool:
    """Whether an argument is the address of a variable that is no smaller than the one object that the function accesses."""
    inner = ir.strip_casts(argument)
    if not isinstance(inner, ir.AddressOf) or not isinstance(inner.lvalue, ir.Var) or not isinstance(argument.type, Pointer):
        return False
    if function.argument(position).uses.isdisjoint(_ONE_OBJECT):
        return False
    given, target = inner.lvalue.type, argument.type.target
    return (isinstance(target, Record) and given == target) or 0 < _bits(target, model) <= _bits(given, model)


def fits_format(name: str, call: ir.Call) -> bool:
    """Whether a function like `printf` or `scanf` finds a pointer for each conversion that goes through one; True for all other
    functions. False if its format is not understood: what it takes for a pointer may then be none (C11 7.21.6.1p2 and p9)."""
    function = known(name)
    at = None if function is None else next(iter(function.positions("format", "scan")), None)
    if function is None or at is None or not function.is_variadic:
        return True
    text = literal(call.arguments[at]) if at < len(call.arguments) else None
    found = None if text is None else printed(text) if function.format is not None else scanned(text)
    given = call.arguments[len(function.arguments) - 1 :]
    if found is None or len(given) < len(found):
        return False
    through = [argument for one, argument in zip(found, given, strict=False) if function.format is None or one.letter in _THROUGH]
    return all(isinstance(argument.type, Pointer) for argument in through)


def passes_over(function: Function, call: ir.Call, position: int) -> bool:
    """Whether the format of a call of a function like `printf` goes through a further argument in no conversion. Those that are
    left when the format ends are ignored (C11 7.21.6.1p2)."""
    at, first = function.format, len(function.arguments) - 1
    text = literal(call.arguments[at]) if at is not None and at < len(call.arguments) else None
    found = None if text is None else printed(text)
    if found is None or position < first or not function.is_variadic or "va" in function.arguments[-1].uses:
        return False
    return position - first >= len(found) or found[position - first].letter not in _THROUGH


def conversion_of(function: Function, call: ir.Call, position: int) -> Conversion | None:
    """What the format does with a further argument of a function like `printf` or `scanf`; None if that is not known."""
    at = next(iter(function.positions("format", "scan")), None)
    text = None if at is None or at >= len(call.arguments) else literal(call.arguments[at])
    if at is None or text is None or position <= at or not function.is_variadic:
        return None
    found = printed(text) if function.format is not None else scanned(text)
    further = position - (len(function.arguments) - 1)
    return found[further] if found is not None and 0 <= further < len(found) else None


def _reads_literal(function: Function, call: ir.Call, position: int) -> bool:
    """Whether a function reads a literal up to its end, at most."""
    if function.argument(position).uses & _TEXTS:
        return True
    conversion = conversion_of(function, call, position)
    if conversion is None or function.format is None:
        return False
    return conversion.letter in NUMBERS or conversion.letter == "p" or conversion[:2] == ("s", "")


def _bits(type_: Type, model: DataModel) -> int:
    """The bits of a scalar; 0 for other types."""
    if isinstance(type_, Pointer):
        return model.pointer_bits
    return type_.bits if isinstance(type_, Integer | Floating) else 0
