"""Which functions of a program have the contracts that they had in the revision before.

The contract of a function follows from its own CFA, from the contracts of what it calls, and from what the program says of all:
its records, what it says of external functions, which functions a pointer may lead to, which streams nothing assigns to or
closes, whether anything opens a descriptor, whether anything calls `main`, and what callers see of functions beside their
contracts. Where all of that is the same, what was found of the function is.
"""

from __future__ import annotations

from analysis.certificate.nonzero.callee_contracts import comes_back_though
from analysis.certificate.nonzero.values import open_streams
from analysis.certificate.ownership.open_descriptors import opens_descriptors
from analysis.certificate.ownership.standard_streams import never_closed
from analysis.cfa.callgraph import callers, reached_by_pointers
from analysis.cfa.graph import Cfa, Program
from analysis.cfa.open_functions import only_started


def unaffected(before: Program, now: Program) -> frozenset[str] | None:
    """The functions of which nothing that their contracts follow from is other than before; None if something differs that
    follows from no function."""
    same = same_by_themselves(before, now)
    if same is None:
        return None
    affected = now.functions.keys() - same
    waiting, calling = list(affected), callers(now)
    while waiting:
        new = set(calling.get(waiting.pop(), ())) - affected
        affected |= new
        waiting += new
    return frozenset(now.functions.keys() - affected)


def same_by_themselves(before: Program, now: Program) -> frozenset[str] | None:
    """The functions of which nothing that their contracts follow from is other than before, but for the contracts of what they
    call; None if something differs that follows from no function."""
    if not (_same_for_all(before, now) and _calls_mean_the_same(before, now)):
        return None
    return frozenset(
        name
        for name, cfa in now.functions.items()
        if before.functions.get(name) is cfa and reached_by_pointers(now, cfa) == reached_by_pointers(before, cfa)
    )


def same_surroundings(before: Program, now: Program) -> bool:
    """Whether two revisions of a program differ in functions only, and declare the same external ones."""
    return before.externals == now.externals and _same_for_all(before, now)


def _same_for_all(before: Program, now: Program) -> bool:
    one, other = ((program.records, program.address_taken, program.exposed) for program in (before, now))
    is_same = one == other and open_streams(before) == open_streams(now) and never_closed(before) == never_closed(now)
    return is_same and only_started(before) == only_started(now) and opens_descriptors(before) == opens_descriptors(now)


def _calls_mean_the_same(before: Program, now: Program) -> bool:
    """Whether a function that did not change calls what looks the same to it: the same external functions, and functions that
    differ in what they do only. (A call that is being typed may declare another one.)"""
    if before.externals.keys() & now.functions.keys() or now.externals.keys() & before.functions.keys():
        return False
    both = before.externals.keys() & now.externals.keys()
    if any(before.externals[name] != now.externals[name] for name in both):
        return False
    return all(_looks_the_same(cfa, now.functions.get(name)) for name, cfa in before.functions.items())


def _looks_the_same(before: Cfa, now: Cfa | None) -> bool:
    """Whether callers see the same of a function, beside its contract. One that is gone has no callers."""
    if before is now or now is None:
        return True
    is_same = (before.type, before.parameters) == (now.type, now.parameters)
    return is_same and comes_back_though(before) == comes_back_though(now)
