"""Members that a function resizes in place, `b->data = realloc(b->data, n)`: whether the old block is lost where that fails, and
the function goes on."""

from __future__ import annotations

from collections.abc import Iterable

from analysis.cfa.graph import Cfa
from analysis.engines.automaton.functions.access_paths import Path, behind_pointer, path_of, split_pointer
from analysis.model import ir


def is_there_before(path: Path, made: Iterable[ir.Effect]) -> bool:
    """Whether a path leads into an object that was there before the function, and so may hold a block: not into one in the
    making. `made` are the effects that set the variable with which it begins."""
    if path[0].startswith("@"):
        return True
    read = (*ir.LVALUES, ir.Undefined)
    return behind_pointer(path) and all(
        isinstance(one, ir.Assign) and isinstance(ir.strip_casts(one.value), read) for one in made
    )


def may_go_on(cfa: Cfa, path: Path) -> bool:
    """Whether a function asks for what is at a path, or never uses what that leads to. Otherwise, where it is null, the function
    gets no further."""
    return _is_tested(cfa, path) or not _is_followed(cfa, path)


def _is_tested(cfa: Cfa, path: Path) -> bool:
    tests = (one.id for one in cfa.edges if isinstance(one.effect, ir.Assume))
    return any(path_of(part) == path for test in tests for part in cfa.parts[test] if isinstance(part, ir.LVALUES))


def _is_followed(cfa: Cfa, path: Path) -> bool:
    parts = (part for one in cfa.edges for part in cfa.parts[one.id])
    return any(isinstance(part, ir.Deref) and path_of(split_pointer(part.pointer)[0]) == path for part in parts)
