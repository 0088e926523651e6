"""Uses of what pointers in memory lead to, in front of all that may end anything.

Where nothing had ended when a function was called that it can come to, nothing has until something ends in it. So all uses hold
that no such edge comes before, on any path. An own block counts for nothing, as nothing else leads there, and neither does a
parameter's for the callers, who are told (`Obligations.ending`). Edges count as well that store a pointer to what has ended, or
may make one: of a number, or by the library. No pointer is put together otherwise, as is assumed (`assumptions.COPIED_POINTERS`).
Among operands whose order C leaves open, what ends something may come first.

That nothing has ended is required of callers. In runs from `main` they keep it where each call, on each way from `main`, is in
front of all that may end anything: when the program starts nothing has ended, and what a function is passed then is live, too.
Nothing may run beside the program, which could end something meanwhile.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from analysis.certificate.hidden_calls import hidden_calls
from analysis.certificate.ownership.obligations import LIVE, USES, Obligations
from analysis.cfa.callgraph import callers
from analysis.cfa.graph import Cfa, Program
from analysis.cfa.open_functions import only_started
from analysis.cpa.obstacles.beside import beside
from analysis.model import ir
from analysis.model.kept_with import kept_with
from analysis.model.spelling import display_name


def finds_live(program: Program, function: str, found: Obligations, rule: str) -> bool:
    """Whether a rule about uses holds in a function, as far as no parameter leads to what it uses, if nothing has ended that the
    function can come to when it is called."""
    if rule not in USES or rule in found.refused or _is_interrupted(program):
        return False
    return _are_in_front(program.functions[function], found, found.used_unknown.get(rule, ()))


def _is_interrupted(program: Program) -> bool:
    """Whether something else may run meanwhile, and end something."""
    found = beside(program)
    return bool(found.starters) and bool(found.threads or found.returning_handlers)


def may_have_ended(program: Program, found: Mapping[str, Obligations], function: str, rule: str, entries: Collection[str]) -> str:
    """Why something may have ended that a function uses, in runs from the entries; empty if nothing has."""
    one = found[function]
    if rule not in USES or rule in one.refused or _is_interrupted(program):
        return "something else may end it"
    if any(of == rule and need != LIVE for of, _, need in one.requires):
        return "more is required than that nothing has ended"
    if not _are_in_front(program.functions[function], one, one.used.get(rule, ())):
        return f"{display_name(function)}() may end something before"
    return hidden_calls(program, entries) or _ended_above(program, found, function)


def unfollowed_callers(program: Program, found: Mapping[str, Obligations], function: str, rule: str) -> Iterator[str]:
    """The functions that have to be followed next, so that it is seen whether something may have ended that a function uses."""
    one = found[function]
    uses = one.used.get(rule, ())
    if uses and rule not in one.refused and _are_in_front(program.functions[function], one, uses):
        waiting, seen = [function], {function}
        while waiting:
            new = set(callers_of(program).get(waiting.pop(), ())) - seen
            seen |= new
            waiting += new & found.keys()
            yield from sorted(new - found.keys())


def _ended_above(program: Program, found: Mapping[str, Obligations], function: str) -> str:
    """Why something may have ended when a function is called; empty if nothing has."""
    waiting, seen = [function], {function}
    while waiting:
        name = waiting.pop()
        if name in only_started(program):
            continue
        by = callers_of(program).get(name, ())
        if name in program.address_taken or not by:
            return f"not all calls of {display_name(name)}() are seen"
        for caller in by:
            one, cfa = found.get(caller), program.functions[caller]
            if one is None or one.broken or one.hidden:
                return f"{display_name(caller)}() calls {display_name(name)}(), and is not followed"
            if not _are_in_front(cfa, one, _calls(cfa, name)):
                return f"{display_name(caller)}() may end something before it calls {display_name(name)}()"
        new = set(by) - seen
        seen |= new
        waiting += sorted(new)
    return ""


def _calls(cfa: Cfa, name: str) -> list[int]:
    return [edge.id for edge in cfa.edges if isinstance(edge.effect, ir.Call) and ir.direct_callee(edge.effect) == name]


def _are_in_front(cfa: Cfa, found: Obligations, edges: Iterable[int]) -> bool:
    """Whether edges cannot be reached behind one that may end something."""
    behind = _behind(cfa, found)
    return not any(cfa.by_id[edge].source in behind for edge in edges)


def _behind(cfa: Cfa, found: Obligations) -> frozenset[int]:
    """The locations that can be reached behind something that may end something."""
    starts = {cfa.by_id[edge].target for edge in found.ending} | {cfa.by_id[edge].source for edge in found.stale}
    sources = {cfa.by_id[edge].source for edge in found.ending}
    for group in cfa.unordered if sources else ():
        if not any(one.reads or one.calls or one.leaves for one in group.operands):
            continue  # assignments that are not complete, as in `a = b = c`: they use what was found before them
        inside = _reached(cfa, {group.location}, group.end)
        if group.end < 0 or not sources.isdisjoint(inside):
            starts.add(group.location)
    return _reached(cfa, starts)


def _reached(cfa: Cfa, starts: Collection[int], end: int = -1) -> frozenset[int]:
    """The locations from some on, up to one that is left out."""
    waiting, seen = list(starts), {*starts, end}
    while waiting:
        for edge in cfa.outgoing.get(waiting.pop(), ()):
            if edge.target not in seen:
                seen.add(edge.target)
                waiting.append(edge.target)
    return frozenset(seen - {end})


@kept_with
def callers_of(program: Program) -> Mapping[str, tuple[str, ...]]:
    """The functions of a program that call each function, or could, by its name."""
    return callers(program)
