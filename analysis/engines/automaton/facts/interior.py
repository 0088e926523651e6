"""Pointers into an owned object: to a member, to an element, to what comes after the first byte.

An owner need not keep the address of the block itself. `return &list->head;` hands out a block by a pointer into it, and
`pool_add(pool, &item->link)` keeps one that way. A path with INSIDE at its end says that its value points into the tracked
object. Facts of rules about ownership have such paths: as long as there is one, the object is not lost, and who keeps one is an
owner. Such a pointer can also be computed as a number: `(char *)(((uintptr_t)block + 15) & ~15)`.
Nothing else is said of them. They match no pattern, since a rule speaks of the object's own address. But a function
that ends an object may be passed one, as a pointer to the first member is a pointer to the object (C11 6.7.2.1p15).
"""

from __future__ import annotations

from collections.abc import Iterable

from analysis.engines.automaton.functions.access_paths import INSIDE, Path, path_of, split_pointer
from analysis.model import ir
from analysis.model.c_types import Integer, Pointer


def into(path: Path) -> Path:
    """The path whose value points into the object of which this one's value is the address."""
    return (*path, INSIDE)


def is_into(path: Path) -> bool:
    """Whether the path's value points into the object."""
    return path[-1] == INSIDE


def points_into(value: ir.Expr, paths: Iterable[Path]) -> bool:
    """Whether a value points into the object that one of the paths holds, and need not be its address."""
    inner = ir.strip_casts(value)
    if isinstance(inner.type, Integer) and not isinstance(value.type, Pointer):
        return False
    return any(_points_into(inner, path) for path in paths)


def _points_into(value: ir.Expr, path: Path) -> bool:
    holder = path[:-1] if is_into(path) else path
    match value:
        case ir.AddressOf(lvalue):
            place = ir.root(lvalue)
            if not isinstance(place, ir.Deref):
                return False
            pointer, distance = split_pointer(place.pointer)
            return path_of(pointer) == holder and not (place is lvalue and distance == "0" and not is_into(path))
        case ir.Binary("+" | "-", left, _, Pointer()) | ir.Binary("+" | "-" | "&" | "|", left, _, Integer()):
            inner = ir.strip_casts(left)
            return path_of(inner) == holder or _points_into(inner, path)
        case _:
            return is_into(path) and path_of(value) == holder


def is_computed(value: ir.Expr) -> bool:
    """Whether the value is the result of pointer arithmetic. It is followed into variables of the function only: loops over
    buffers make many of it."""
    bare = ir.strip_casts(value)
    return isinstance(bare, ir.Binary) and isinstance(bare.type, Pointer)
