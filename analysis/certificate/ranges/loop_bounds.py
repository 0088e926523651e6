"""What bounds of integers say of the loops of a function, in C, for people: `0 <= i && i <= 9`.

Bounds that are those of a variable's type say nothing, and are left out; so are variables that share a name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from analysis.certificate.ranges.bounded_values import Range
from analysis.certificate.ranges.function_ranges import FunctionRanges
from analysis.cfa.graph import Cfa
from analysis.cpa.predicates.adjustable_blocks import loop_heads
from analysis.model import ir
from analysis.model.c_types import Integer
from analysis.model.ranges import bounds
from analysis.model.spelling import display_name


def at_loops(cfa: Cfa, claim: FunctionRanges) -> tuple[tuple[int, str], ...]:
    """What the claim says at the heads of the function's loops, by location; heads of which it says nothing are left out."""
    types = {variable.name: variable.type for variable in _variables(cfa) if isinstance(variable.type, Integer)}
    written = Counter(display_name(name) for name in types)
    known, found = dict(claim.bounds), []
    for head in sorted(loop_heads(cfa).intersection(known)):
        said = [
            part
            for name, low, high in known[head]
            if name in types and written[display_name(name)] == 1
            for part in _said(display_name(name), (low, high), bounds(types[name]))
        ]
        if said:
            found.append((head, " && ".join(said)))
    return tuple(found)


def _variables(cfa: Cfa) -> Iterator[ir.Var]:
    yield from cfa.parameters
    for edge in cfa.edges:
        for expr in ir.expressions(edge.effect):
            yield from (variable for variable in ir.variables(expr) if variable.scope == "local")


def _said(name: str, value: Range, widest: Range) -> Iterator[str]:
    """The bounds of a variable that are not those of its type."""
    low, high = value
    if low == high:
        yield f"{name} == {low}"
        return
    if low > widest[0]:
        yield f"{name} >= {low}" if high >= widest[1] else f"{low} <= {name}"
    if high < widest[1]:
        yield f"{name} <= {high}"
