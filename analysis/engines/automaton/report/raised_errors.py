"""Errors that are those of a call: a function releases or uses what it is passed in each of its runs, and was passed something
that is released already.

`void release(char *p) { if (p) free(p); }` is as good as `free`. So `release(key); release(key);` is an error of the second call,
and two such calls elsewhere are another error. In the derivation graph both are the same error, inside of `release`. Here it is
raised to the calls, as long as each run of the function that makes them makes the call (`report.unavoidable`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from analysis.engines.automaton.facts.facts import NOTHING, Fact
from analysis.engines.automaton.facts.product import ProgramDelta
from analysis.engines.automaton.feasibility.graph_slices import Sites
from analysis.engines.automaton.functions.access_paths import CALLER
from analysis.engines.automaton.report.every_run import is_unavoidable
from analysis.engines.automaton.report.suspicions import Error
from analysis.engines.automaton.solver.full import DerivationGraph, unpack
from analysis.engines.automaton.solver.retrace import Retrace

_LEVELS = 4  # of calls that an error is raised by: functions may be recursive


class Sought(msgspec.Struct, frozen=True):
    """What a path is searched to: the error configurations of `error`. For one that was raised to a call, the path leads over the
    call sites `over`, by called function; and `at` are the configurations of the function of the call at which it is made."""

    error: Error
    configurations: frozenset[int]
    at: tuple[str, frozenset[int]]
    over: Sites = {}

    @property
    def functions(self) -> frozenset[str]:
        """The functions of the error, and of the calls that it was raised by."""
        return frozenset((self.error[0], self.at[0], *self.over))


def sought(
    graph: DerivationGraph, delta: ProgramDelta, retrace: Retrace, errors: Mapping[Error, Sequence[int]]
) -> dict[Error, Sought]:
    """What is to be searched for all errors, each by the error as it is reported: raised to a call, or as it is."""
    found: dict[Error, Sought] = {}
    for error, configurations in errors.items():
        by_calls = [one for one in configurations if _is_of_calls(graph, delta, error, unpack(one)[1])]
        own = frozenset(configurations).difference(by_calls)
        if own:
            found[error] = Sought(error, own, (error[0], own))
        below = Sought(error, frozenset(by_calls), (error[0], frozenset(by_calls)))
        for raised, one in _raised(graph, delta, retrace, error, below, _LEVELS) if by_calls else ():
            known = found.get(raised)
            if known is not None and known.error == one.error:
                found[raised] = _either(known, one)
            elif known is None or _order(delta, one) < _order(delta, known):
                found[raised] = one
    return found


def _raised(
    graph: DerivationGraph, delta: ProgramDelta, retrace: Retrace, error: Error, below: Sought, levels: int
) -> Iterator[tuple[Error, Sought]]:
    """The errors of the calls that lead to an error, as far up as each run makes the call."""
    name, fact = error
    calls: dict[Error, dict[int, set[int]]] = {}
    for configuration in below.at[1]:
        for caller, site, edge in graph.functions[name].sites[unpack(configuration)[1]]:
            if retrace.live(caller, unpack(site)[1]):
                names = tuple(path for path in delta.facts[unpack(site)[2]].paths if path[0] != CALLER)
                raised = caller, Fact(fact.rule, fact.state, names or fact.paths, (), fact.transition, edge.id)
                calls.setdefault(raised, {}).setdefault(site, set()).add(configuration)
    for raised, sites in calls.items():
        by_calls = [one for one in sites if levels > 1 and _is_of_calls(graph, delta, raised, unpack(one)[1])]
        for is_last, some in ((True, sites.keys() - by_calls), (False, set(by_calls))):
            if not some:
                continue
            over = {**below.over, name: below.over.get(name, frozenset()) | {(raised[0], site) for site in some}}
            one = msgspec.structs.replace(below, at=(raised[0], frozenset(some)), over=over)
            if is_last:
                yield raised, one
            else:
                yield from _raised(graph, delta, retrace, raised, one, levels - 1)


def _either(one: Sought, other: Sought) -> Sought:
    """The same error, raised to the same call on several ways: a path may lead over any of them."""
    over = {name: one.over.get(name, frozenset()) | other.over.get(name, frozenset()) for name in {**one.over, **other.over}}
    at = one.at[0], one.at[1] | other.at[1]
    return Sought(one.error, one.configurations | other.configurations, at, over)


def _is_of_calls(graph: DerivationGraph, delta: ProgramDelta, error: Error, entry: int) -> bool:
    """Whether an error in a function that was entered in this state is one of the calls that lead to it."""
    name, fact = error
    rule = delta.rules[fact.rule]
    if rule.ownership or not rule.about_object or entry == NOTHING or entry in graph.initial.get(name, ()):
        return False
    return is_unavoidable(delta.program.functions[name], fact.edge)


def _order(delta: ProgramDelta, one: Sought) -> tuple[object, ...]:
    """By where the error is in the text: its id can be another one from scratch."""
    name, fact = one.error
    return name, delta.program.functions[name].positions[fact.edge], fact.paths, fact.transition, fact.state


def must_be_sure(delta: ProgramDelta, one: Sought) -> bool:
    """Whether the branch to the error has to be decided by what is known."""
    name, fact = one.error
    return delta.transfer.asks_for_decision(delta.model(name), fact)
