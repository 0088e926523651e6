"""When a function may be called through a pointer type: compatible types (C11 6.2.7, 6.7.6.3p15), made lenient.

Real programs call through pointers of nearly right types (`void *` for `struct s *`, `int` for an enumeration, old-style
declarations). Missing a target would hide a defect, so whatever the calling convention passes alike fits; but where there are
functions of the very type that is called, they are what is meant.
"""

from __future__ import annotations

from analysis.model.c_types import Function, Integer, Pointer, Record, Type, Void


def fits(pointer: Function, function: Function) -> bool:
    """Whether a call through a pointer to type `pointer` can reach a function of type `function`."""
    if not _alike(pointer.result, function.result) and not isinstance(pointer.result, Void):
        return False
    if not (pointer.prototyped and function.prototyped):
        return True
    if len(pointer.parameters) != len(function.parameters):
        return False
    return pointer.variadic == function.variadic and all(map(_alike, pointer.parameters, function.parameters))


def is_compatible(one: Type, other: Type) -> bool:
    """Whether two types are compatible, integers by their width alone (an enumeration is its integer type)."""
    match one, other:
        case Integer(bits), Integer(other_bits):
            return bits == other_bits
        case Pointer(target), Pointer(other_target):
            return is_compatible(target, other_target)
        case Function(), Function():
            known = one.prototyped and other.prototyped
            same = (len(one.parameters), one.variadic) == (len(other.parameters), other.variadic)
            return is_compatible(one.result, other.result) and (
                not known or (same and all(map(is_compatible, one.parameters, other.parameters)))
            )
        case _:
            return one == other


def _is_record(type_: Type) -> bool:
    return isinstance(type_, Record)


def _is_generic(type_: Type) -> bool:
    """`void *`, and `char *`, which old code uses for it."""
    return isinstance(type_, Void) or (isinstance(type_, Integer) and type_.bits == 8)


def _alike(one: Type, other: Type) -> bool:
    """Whether two types are passed alike and could stand for each other."""
    match one, other:
        case Integer(bits), Integer(other_bits):
            return bits == other_bits
        case Pointer(Function() as target), Pointer(Function() as other_target):
            return fits(target, other_target)
        case Pointer(Record(_, key)), Pointer(Record(_, other_key)):
            return key == other_key
        case Pointer(target), Pointer(other_target):
            return not (_is_record(target) or _is_record(other_target)) or _is_generic(target) or _is_generic(other_target)
        case _:
            return one == other
