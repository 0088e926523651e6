"""Declarations in C syntax, from types: typedefs and qualifiers are resolved there."""

from __future__ import annotations

from collections.abc import Sequence

from analysis.model import c_types
from analysis.model.spelling import display_name


def signature(name: str, type_: c_types.Function, parameters: Sequence[str] = ()) -> str:
    """The declaration of a function, with the names of its parameters as far as they are given."""
    return declaration(display_name(name), type_, parameters)


def declaration(name: str, type_: c_types.Type, parameters: Sequence[str] = ()) -> str:
    """The declaration of an object or a function of a type (C11 6.7.6); of a type by itself if the name is empty."""
    match type_:
        case c_types.Pointer(target):
            inner = f"*{name}"
            if isinstance(target, c_types.Array | c_types.Function):
                inner = f"({inner})"
            return declaration(inner, target)
        case c_types.Array(element, length):
            return declaration(f"{name}[{'' if length is None else length}]", element)
        case c_types.Function(result, given, variadic):
            names = [*parameters, *[""] * (len(given) - len(parameters))]
            said = [declaration(display_name(one), two) for one, two in zip(names, given, strict=False)]
            text = ", ".join([*said, *(["..."] if variadic else [])]) or "void"
            return declaration(f"{name}({text})", result)
        case _:
            return f"{_base(type_)} {name}".rstrip()


def _base(type_: c_types.Type) -> str:
    match type_:
        case c_types.Integer(_, _, name) | c_types.Floating(_, name):
            return name
        case c_types.Record(_, key):
            return key
        case _:
            return "void"
