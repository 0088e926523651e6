"""The parameters and results of functions outside of the program, as C that a harness can define them with."""

from __future__ import annotations

from analysis.model.c_types import Array, Floating, Function, Integer, Pointer, Type, Void

_INTEGERS = {8: "signed char", 16: "short", 32: "int", 64: "long", 128: "__int128"}
_FLOATING = {"float": "float", "double": "double", "long double": "long double"}
UNKNOWN = tuple(f"long a{number}" for number in range(6))
"""Parameters of a function whose type is not known: what comes in registers, whatever the types are, but floating ones."""


def parameters(type_: Function | None) -> tuple[str, ...] | None:
    """The parameters `a0`, `a1` and so on; None if C could not take all arguments by them: without a prototype, of a variadic
    function, of structures."""
    if type_ is None or not type_.prototyped or type_.variadic:
        return None
    spelled = [_scalar(one) for one in type_.parameters]
    if any(one is None for one in spelled):
        return None
    return tuple(f"{one} a{number}" for number, one in enumerate(spelled))


def result(type_: Function | None) -> str:
    """The type of the result; `long` where it is not known, or no number is expected."""
    floating = type_.result if type_ is not None and isinstance(type_.result, Floating) else None
    return _FLOATING.get(floating.name, "long") if floating is not None else "long"


def branches(type_: Function | None) -> str:
    """Statements that branch on each argument, so that valgrind sees one that was never set."""
    found = parameters(type_) or ()
    return "".join(f"if (a{number}) everproof_looked++; " for number in range(len(found)))


def defined(name: str, type_: Function | None, body: str) -> str:
    """The definition of a function."""
    given = parameters(type_)
    taken = UNKNOWN if given is None else given or ("void",)
    return f"{result(type_)} {name}({', '.join(taken)}) {{ {body} }}"


def cuts_pointers(type_: Function | None) -> bool:
    """Whether a pointer that the function returns loses its upper half: it is called without a declaration, and so returns
    `int`."""
    return type_ is not None and not type_.prototyped and isinstance(type_.result, Integer) and type_.result.bits < 64


def _scalar(type_: Type) -> str | None:
    match type_:
        case Integer(bits, _, name):
            return "_Bool" if name == "_Bool" else _INTEGERS.get(bits)
        case Floating(_, name):
            return _FLOATING.get(name)
        case Pointer() | Array() | Function():
            return "void *"
        case Void() | _:
            return None
