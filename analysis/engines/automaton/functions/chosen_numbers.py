"""Descriptors that are opened for their number: `close(0); dup(fd);`, `close(0); if (open(path, O_RDONLY) < 0) ...`.

A new descriptor has the lowest number that is free (POSIX.1-2008, 2.14). Where a program closes one, and then opens another one
of which it does not keep the number, it puts the new one in the old one's place. That is to stay open. So are descriptors of
which a branch says that they are standard output or standard error, or not above these: `if (fd <= 2)`,
`if (fd <= fileno(stderr))`.
"""

from __future__ import annotations

from analysis.c.functions import known
from analysis.cfa.graph import Cfa, Edge
from analysis.engines.automaton.functions.access_paths import Path, path_of
from analysis.engines.automaton.functions.known_conditions import condition_of
from analysis.model import ir
from analysis.model.c_types import Integer
from analysis.model.intervals import ZERO

_STEPS = 12  # edges between the call that closes and the one that opens


def takes_closed_number(cfa: Cfa, edge: Edge) -> bool:
    """Whether the edge opens a descriptor, just after one was closed, and nobody keeps its number."""
    call = edge.effect
    function = known(ir.direct_callee(call) or "") if isinstance(call, ir.Call) else None
    if function is None or function.result != "descriptor" or _is_kept(cfa, edge):
        return False
    place = edge.source
    for _ in range(_STEPS):
        before = cfa.incoming.get(place, ())
        if len(before) != 1:
            return False
        if _closes(before[0].effect):
            return True
        place = before[0].source
    return False


def standard_stream(cfa: Cfa, edge: Edge) -> Path | None:
    """The path to a descriptor that is one of the standard ones where this branch is taken. A test for 0 alone is none: it is
    often meant to ask whether opening failed."""
    condition = condition_of(edge.effect) if isinstance(edge.effect, ir.Assume) else None
    if condition is None:
        return None
    key, interval = condition
    if isinstance(key, ir.Binary):
        below = key.operator == "<" and interval == ZERO and _is_number_of_stream(cfa, edge, key.left)  # !(fileno(f) < fd)
        return path_of(key.right) if below else None
    is_standard = isinstance(key.type, Integer) and interval.high in (1, 2)
    return path_of(key) if is_standard else None


def _is_number_of_stream(cfa: Cfa, edge: Edge, value: ir.Expr) -> bool:
    """Whether a value is the number of the descriptor of a stream, which the edge before asked for."""
    before = cfa.incoming.get(edge.source, ())
    call = before[0].effect if len(before) == 1 else None
    return isinstance(call, ir.Call) and ir.direct_callee(call) == "fileno" and call.result == value


def _closes(effect: ir.Effect) -> bool:
    """Whether the effect closes a descriptor."""
    function = known(ir.direct_callee(effect) or "") if isinstance(effect, ir.Call) else None
    return function is not None and any("n" in function.argument(at).uses for at in function.positions("closed"))


def _is_kept(cfa: Cfa, edge: Edge) -> bool:
    """Whether anything but a branch uses the result of the call."""
    result = ir.target_of(edge.effect)
    if result is None:
        return False
    if not isinstance(result, ir.Var) or result.scope != "temporary":
        return True
    users = (other.effect for other in cfa.edges if other.id != edge.id and result in cfa.parts[other.id])
    return not all(isinstance(user, ir.Assume) for user in users)
