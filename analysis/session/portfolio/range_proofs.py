"""Proofs about operators on integers of all functions, by bounds of their operands and of results of what they call.

Only what is proved is answered: of the rest, other provers say more. After an edit, what was found of functions is taken over
where nothing that it follows from is other than before.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple, get_args

from analysis.certificate.nonzero.requirement_checker import assumptions
from analysis.certificate.ranges.loop_bounds import at_loops
from analysis.certificate.ranges.range_checker import RangeRule, open_reason
from analysis.certificate.ranges.range_search import RangeSearch
from analysis.cfa.graph import Program
from analysis.cpa.predicates.violations import violations_in
from analysis.session.contracts.unaffected import unaffected
from analysis.session.portfolio.request import Proved
from analysis.session.portfolio.turns import BOUNDS

RULES: tuple[RangeRule, ...] = get_args(RangeRule)
_last: RangeSearch | None = None


def search(program: Program, goes_on: Callable[[], bool]) -> RangeSearch:
    """What is found of the functions of a program, as far as there was the time."""
    global _last
    if _last is None or _last.program is not program:
        found = RangeSearch(program, goes_on)
        names = None if _last is None else unaffected(_last.program, program)
        if _last is not None and names is not None:
            found.take_over(_last, names)
        _last = found
    _last.goes_on = goes_on
    for name in program.functions:
        if not _last.follow(name):
            break
    return _last


class ByRanges(NamedTuple):
    """The proofs of a rule, by function, each whoever calls it; and the functions for which there was no time."""

    proved: Mapping[str, Proved]
    left: frozenset[str]


def proofs(program: Program, below: Callable[[tuple[str, ...]], Program], rule: RangeRule, found: RangeSearch) -> ByRanges:
    """What bounds prove. `below`: the part of the program that functions can run."""
    proved, left = dict[str, Proved](), set[str]()
    for name in program.functions:
        if not any(True for _ in violations_in(program, name, rule)) or name in found.broken:
            continue
        claim = found.claims.get(name)
        if claim is None:
            left.add(name)
        elif not open_reason(program, found.claims, name, rule):
            loops = at_loops(program.functions[name], claim)
            proved[name] = Proved(BOUNDS, assumptions(below((name,)), (name,)), (), len(claim.bounds), loops=loops)
    return ByRanges(proved, frozenset(left))
