"""Pointers to what ends with a function (C11 6.2.4p2, p5): its variables, parameters, compound literals, and blocks of `alloca`.

Library functions hand on what they are passed: the result of `strcpy(text, name)` is the address of `text`, that of
`strchr(text, ':')` leads into it. What the program's own functions return is not looked at.
"""

from __future__ import annotations

from analysis.cfa.graph import Program
from analysis.engines.automaton.functions.access_paths import Path, local_of, path_of, pointer_into, root_of, split_pointer
from analysis.model import ir
from analysis.model.c_types import Pointer, Record


def takes_local(program: Program, effect: ir.Effect) -> bool:
    """Whether what an effect stores is the address of something that ends with the function, or leads into it."""
    if isinstance(effect, ir.Assign):
        return local_of(effect.value) is not None
    if not isinstance(effect, ir.Call) or effect.result is None:
        return False
    function = program.known(ir.direct_callee(effect) or "")
    if function is None:
        return False
    if function.result == "stack":
        return True
    handed_on = function.result in ("argument", "into") and function.of < len(effect.arguments)
    return handed_on and local_of(effect.arguments[function.of]) is not None


def named(address: ir.Expr) -> Path | None:
    """The path by which a message names the variable whose address it is; None if it has no name."""
    variable = local_of(address)
    return None if variable is None or variable.scope == "temporary" else (root_of(variable),)


def can_return(result: object) -> bool:
    """Whether a value of the type can be, or have in it, a pointer."""
    return isinstance(result, Pointer | Record)


def handed_out(value: ir.Expr, paths: tuple[Path, ...]) -> Path | None:
    """The path, of those by which an object is known, by which it goes out where the value is returned: the value is such a
    pointer, points into the object, or is a structure that holds one."""
    if isinstance(value.type, Record):
        source = path_of(value)
        return next(
            (path for path in paths if source is not None and path[: len(source)] == source and len(path) > len(source)), None
        )
    if not isinstance(value.type, Pointer):
        return None
    held = path_of(value)
    return held if held in paths else _moved(value, paths)


def moved(value: ir.Expr, paths: tuple[Path, ...]) -> bool:
    """Whether a value is one of these pointers at another distance: `p + i`, `&p->name`."""
    return isinstance(value.type, Pointer) and _moved(value, paths) is not None


def tells_apart(branch: ir.Assume, paths: tuple[Path, ...]) -> bool:
    """Whether a branch says that the pointer is another one than that of something of the function's own:
    `if (line != buffer) return line;`."""
    equality = branch.condition
    if not isinstance(equality, ir.Binary) or equality.operator != ("!=" if branch.truth else "=="):
        return False
    sides = (equality.left, equality.right), (equality.right, equality.left)
    return any(path_of(one) in paths and local_of(other) is not None for one, other in sides)


def _moved(value: ir.Expr, paths: tuple[Path, ...]) -> Path | None:
    held = path_of(pointer_into(value) or split_pointer(value)[0])
    return held if held in paths else None
