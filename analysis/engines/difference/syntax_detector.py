"""diffCond: the syntax-based difference detector ([DIFFDP] section 2, after Beyer, Jakobs and Lemberger).

Both versions are followed in step as long as their edges are the same. Where the new one has another edge, begins with other
values, or has variables that end elsewhere, a regression bug indicator stands. So it speaks of every property of single paths.
"""

from __future__ import annotations

from analysis.cfa.graph import Edge
from analysis.engines.difference.alignment import both_err, called_functions, same_edge, unlike_errors
from analysis.engines.difference.dependencies import NOTHING, Affected
from analysis.engines.difference.detection import INDICATOR, After, Calls
from analysis.engines.difference.function_pairs import FunctionPair, ProgramPair
from analysis.model import ir


class SyntaxDetector:
    """diffCond for two versions."""

    def __init__(self, programs: ProgramPair) -> None:
        self._programs = programs

    def begins(self, pair: FunctionPair) -> bool:
        """Whether nothing differs before the first edge, or beside edges."""
        return pair.has_same_blocks and not unlike_errors(pair, pair.new.cfa.entry, pair.old.cfa.entry)

    def step(self, pair: FunctionPair, edge: Edge, partner: int, affected: Affected, calls: Calls) -> After:
        """What is behind an edge of the new version."""
        other = same_edge(pair, edge, partner)
        if affected or other is None or isinstance(edge.effect, ir.Unsupported) or _is_open(edge.effect):
            return INDICATOR
        if unlike_errors(pair, edge.target, other.target):
            return INDICATOR
        if both_err(pair, edge.target, other.target):
            return After(other.target)
        if not isinstance(edge.effect, ir.Call):
            return After(other.target)
        targets = called_functions(self._programs, pair, edge.id, other.id)
        if targets is None:
            return INDICATOR
        found = [calls.returned(name, NOTHING) for name in targets.defined]
        contexts = tuple(one[0] for one in found if one is not None)
        if len(contexts) < len(found):
            return INDICATOR
        comes_back = bool(targets.external) or any(one is not None and one[1] is not None for one in found)
        return After(other.target, calls=contexts, ended=not comes_back)


def _is_open(effect: ir.Effect) -> bool:
    return any(isinstance(part, ir.Unknown) for expr in ir.expressions(effect) for part in ir.walk(expr))
