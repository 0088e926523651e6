"""Arithmetic on types: promotions, the usual arithmetic conversions (C11 6.3.1), compatible types."""

from __future__ import annotations

from analysis.frontend.lowering.refused import RefusedError
from analysis.model.c_types import (
    BIT_FIELD,
    DOUBLE,
    INT,
    UNSIGNED_INT,
    Array,
    Floating,
    Function,
    Integer,
    Pointer,
    Type,
    Void,
)

LONG_DOUBLE = Floating(128, "long double")
VOID_POINTER = Pointer(Void())

_RANKS = {"_Bool": 0, "char": 1, "signed char": 1, "unsigned char": 1, "short": 2, "unsigned short": 2, "int": 3}
_RANKS |= {"unsigned int": 3, "long": 4, "unsigned long": 4, "long long": 5, "unsigned long long": 5}
_RANKS |= {"__int128": 6, "unsigned __int128": 6}


def promote(type_: Type) -> Type:
    """The integer promotions (C11 6.3.1.1p2); other types stay as they are. Raises RefusedError where compilers differ."""
    if not isinstance(type_, Integer):
        return type_
    _, is_bit_field, _ = type_.name.partition(BIT_FIELD)
    if is_bit_field:
        if type_.bits > INT.bits:  # gcc computes in the width of the bit-field, clang in the declared type
            raise RefusedError("arithmetic with a bit-field wider than int")
        return INT if type_.signed or type_.bits < INT.bits else UNSIGNED_INT
    if type_.name not in _RANKS:  # an enumeration has the rank of the int it is compatible with
        return INT if type_.signed else UNSIGNED_INT
    return INT if _RANKS[type_.name] < 3 else type_


def promote_argument(type_: Type) -> Type:
    """The default argument promotions (C11 6.5.2.2p6)."""
    if isinstance(type_, Floating) and type_.bits < 64:
        return DOUBLE
    return promote(type_)


def arithmetic_type(left: Type, right: Type) -> Type:
    """The type that the usual arithmetic conversions bring two arithmetic types to (C11 6.3.1.8)."""
    if isinstance(left, Floating) or isinstance(right, Floating):
        if isinstance(left, Floating) and isinstance(right, Floating):
            return left if left.bits >= right.bits else right
        return left if isinstance(left, Floating) else right
    one, other = promote(left), promote(right)
    if one == other or not isinstance(one, Integer) or not isinstance(other, Integer):
        return one
    if one.signed == other.signed:
        return one if _RANKS[one.name] >= _RANKS[other.name] else other
    unsigned, signed = (other, one) if one.signed else (one, other)
    if _RANKS[unsigned.name] >= _RANKS[signed.name]:
        return unsigned
    if signed.bits > unsigned.bits:
        return signed
    return Integer(signed.bits, False, f"unsigned {signed.name}")


def same_representation(one: Type, other: Type) -> bool:
    """Whether a value passes from one type to the other unchanged: equal types, pointers, or integers of one width."""
    if one == other:
        return True
    if isinstance(one, Pointer) and isinstance(other, Pointer):
        return True
    return (
        isinstance(one, Integer)
        and isinstance(other, Integer)
        and one.bits == other.bits
        and "_Bool" not in (one.name, other.name)
    )


def types_compatible(one: Type, other: Type) -> bool | None:
    """What `__builtin_types_compatible_p` says of two types; None where that depends on what types do not tell: qualifiers below
    the outermost level, what an enumeration is compatible with, lengths of arrays, parameters of functions."""
    match one, other:
        case Pointer(target), Pointer(other_target):
            return False if types_compatible(target, other_target) is False else None
        case Array(element), Array(other_element):
            return False if types_compatible(element, other_element) is False else None
        case Function(), Function():
            return None
        case Integer(), Integer() if one.name not in _RANKS or other.name not in _RANKS:
            return None
        case _:
            return one == other


def adjust_parameter(type_: Type) -> Type:
    """The type a parameter really has: arrays and functions are passed as pointers (C11 6.7.6.3p7-8)."""
    if isinstance(type_, Array):
        return Pointer(type_.element)
    return Pointer(type_) if isinstance(type_, Function) else type_
