"""What the text of a function says and its control-flow automaton does not show.

Assembler, `va_arg` and computed jumps are not understood, or give any value. The sizes of arrays of variable length (C11 6.7.6.2)
are no part of types: `p[1][0]` is elsewhere if `p` leads to arrays of `m` elements, and no longer of `n`. Where automata are
compared, the texts of such functions have to be compared as well.
"""

from __future__ import annotations

import re

from analysis.cfa.graph import Cfa, Edge, Places
from analysis.model import ir
from analysis.model.c_types import Array, Pointer, Type
from analysis.model.kept_with import kept_with

_LAYOUT = re.compile(rb"^#.*$|\s+", re.MULTILINE)
_WHERE = re.compile(rb'"[^"]*",[0-9]+(?=,)')


def text_of(places: Places, name: str) -> bytes:
    """The text of a function, without what depends on its place: layout, markers of lines, and the file and line in an `assert`.
    What the automaton shows of these is compared there."""
    text, source = places.source(name)
    return _WHERE.sub(b"", _LAYOUT.sub(b"", text[source.start : source.start + source.end_site.end]))


@kept_with
def hides_text(cfa: Cfa) -> bool:
    """Whether the text says more than the automaton."""
    return any(map(_hides, cfa.edges)) or hides_sizes(cfa)


@kept_with
def hides_sizes(cfa: Cfa) -> bool:
    """Whether sizes of arrays that are not known may matter in a function."""
    parts = (part for parts in cfa.parts.values() for part in parts)
    return any(map(_has_parts_of_unknown_size, (*cfa.parameters, *parts)))


def _hides(edge: Edge) -> bool:
    if isinstance(edge.effect, ir.Unsupported):
        return True
    return any(isinstance(part, ir.Unknown) for value in ir.values_of(edge.effect) for part in ir.walk(value))


def _has_parts_of_unknown_size(expr: ir.Expr) -> bool:
    if isinstance(expr, ir.Var) and expr.scope != "global" and _is_open(expr.type):
        return True
    inner: Type | None = _inner(expr.type)
    while inner is not None:
        if _is_open(inner):
            return True
        inner = _inner(inner)
    return False


def _is_open(type_: Type) -> bool:
    return isinstance(type_, Array) and type_.length is None


def _inner(type_: Type) -> Type | None:
    return type_.target if isinstance(type_, Pointer) else type_.element if isinstance(type_, Array) else None
