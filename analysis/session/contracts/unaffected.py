"""Which functions of a program have the contracts that they had in the revision before.

The contract of a function follows from its own CFA, from the contracts of what it calls, and from what the program says of all:
its records, what it declares and does not define, which functions a pointer may lead to, which streams nothing assigns to or
closes, whether anything opens a descriptor, and whether anything calls `main`.
Where all of that is the same, what was found of the function is.
"""

from __future__ import annotations

from analysis.certificate.nonzero.values import open_streams
from analysis.certificate.ownership.open_descriptors import opens_descriptors
from analysis.certificate.ownership.standard_streams import never_closed
from analysis.cfa.callgraph import callees, callers
from analysis.cfa.graph import Program
from analysis.cfa.open_functions import only_started


def unaffected(before: Program, now: Program) -> frozenset[str]:
    """The functions of which nothing that their contracts follow from is other than before."""
    if not same_surroundings(before, now):
        return frozenset()
    called, called_before = callees(now), callees(before)
    affected = {
        name
        for name, cfa in now.functions.items()
        if before.functions.get(name) is not cfa or called[name] != called_before[name]
    }
    waiting, calling = list(affected), callers(now)
    while waiting:
        new = set(calling.get(waiting.pop(), ())) - affected
        affected |= new
        waiting += new
    return frozenset(now.functions.keys() - affected)


def same_surroundings(before: Program, now: Program) -> bool:
    """Whether two revisions of a program differ in the bodies of functions only."""
    one, other = ((program.records, program.externals, program.address_taken, program.exposed) for program in (before, now))
    is_same = one == other and open_streams(before) == open_streams(now) and never_closed(before) == never_closed(now)
    return is_same and only_started(before) == only_started(now) and opens_descriptors(before) == opens_descriptors(now)
