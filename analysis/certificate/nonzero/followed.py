"""Follows functions after all that they call: their contracts, given what each needs of its callers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from analysis.certificate.nonzero.callee_contracts import NOTHING_YET, Contract, Needs
from analysis.certificate.nonzero.needed_values import Rule
from analysis.certificate.nonzero.walk import Walked, walk
from analysis.cfa.callgraph import callees, components
from analysis.cfa.graph import Program

_MOST_ROUNDS = 12
NeedsOf = Callable[[str], Needs]


def groups_below(program: Program, names: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """The groups of functions that call each other, of those that the named ones may call, and of these; callees first."""
    called, waiting = callees(program), [name for name in names if name in program.functions]
    reached = set(waiting)
    while waiting:
        new = {name for name in called[waiting.pop()] if name in program.functions} - reached
        reached |= new
        waiting += new
    return (group for group in components(program) if not reached.isdisjoint(group))


def follow_group(
    program: Program,
    group: tuple[str, ...],
    rule: Rule,
    known: Mapping[str, Walked],
    needs: NeedsOf,
    goes_on: Callable[[], bool] = lambda: True,
) -> dict[str, Walked]:
    """Follows the functions of a group. What they assume of each other follows from itself (Hoare's rule of recursion): at first
    calls among them never return, then with what is shown of them, until that is all."""
    below = {name: one.contract for name, one in known.items()}
    assumed = {name: NOTHING_YET._replace(needs=needs(name)) for name in group}
    for _ in range(_MOST_ROUNDS):
        found = {name: walk(program, program.functions[name], rule, {**below, **assumed}, needs(name), goes_on) for name in group}
        shown = {name: _weaker(assumed[name], one.contract) for name, one in found.items()}
        if shown == assumed:
            return found
        is_recursive = len(group) > 1 or group[0] in callees(program)[group[0]]
        if not is_recursive:
            return found
        assumed = shown
    return {name: Walked(Contract(needs(name)), (), "its recursion is not followed to the end", 0) for name in group}


def _weaker(one: Contract, other: Contract) -> Contract:
    """What both contracts say."""
    return Contract(one.needs, one.returns or other.returns, one.nonzero and other.nonzero, one.writes | other.writes)
