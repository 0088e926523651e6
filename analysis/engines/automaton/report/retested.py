"""Conditions that a path finds to be otherwise than before: `if (s->flags & 1) p = NULL; run(s); if (!(s->flags & 1)) use(p);`.

The function that is called between may change what is tested, as far as is known; mostly it does not. The second test stands
elsewhere in the text: a loop that tests the same each time is there because the answer changes.
"""

from __future__ import annotations

from collections.abc import Iterable

from analysis.cfa.graph import Edge
from analysis.engines.automaton.functions.flag_bits import bits_after
from analysis.engines.automaton.functions.known_conditions import condition_of
from analysis.engines.automaton.report.places_in_memory import is_memory
from analysis.model import ir
from analysis.model.intervals import Interval, meet


def is_retested(before: Iterable[Edge], after: Iterable[Edge]) -> bool:
    """Whether one of the edges `after` tests what was tested on an edge before it, at another place and with the other outcome,
    and no edge between assigns to what is tested. Edges are of one activation, and in the order in which they are taken."""
    known: dict[ir.Expr, tuple[int, Interval]] = {}
    _follow(known, before)
    return _follow(known, after)


def _follow(known: dict[ir.Expr, tuple[int, Interval]], edges: Iterable[Edge]) -> bool:
    """Takes the edges; whether one tests what is known otherwise."""
    for edge in edges:
        effect = edge.effect
        target = ir.target_of(effect)
        if target is not None:
            for key in [key for key in known if target in ir.walk(key) and not _leaves(effect, key)]:
                del known[key]
        condition = condition_of(effect) if isinstance(effect, ir.Assume) else None
        if condition is None or not is_memory(condition[0]):
            continue
        place, interval = known.get(condition[0], (edge.source, condition[1]))
        if place != edge.source and meet(interval, condition[1]) is None:
            return True
        known[condition[0]] = edge.source, condition[1]
    return False


def _leaves(effect: ir.Effect, key: ir.Expr) -> bool:
    """Whether an assignment to flags leaves the bits as they are that are tested."""
    return isinstance(effect, ir.Assign) and bits_after(effect, key) is True
