"""Whether a program has descriptors: numbers by which the system knows open files. Where nothing opens one, no number that is
overwritten is the last that says of an open file."""

from __future__ import annotations

from analysis.cfa.callgraph import callees
from analysis.cfa.graph import Program
from analysis.cpa.obstacles.exposed_variables import is_closed
from analysis.model.kept_with import kept_with

_MAY_OPEN = frozenset(("opens", "open", "by-number", "named-code"))
"""What rows say of functions that open descriptors otherwise than by their result, or do more than the row says."""


@kept_with
def opens_descriptors(program: Program) -> bool:
    """Whether something that the program calls, or to which pointers may lead, may open a file and return its number, or store it
    somewhere; or other code runs, which may keep one where the program writes."""
    if not is_closed(program):
        return True
    used = program.address_taken.union(*callees(program).values()) - program.functions.keys()
    return any(_may_open(program, name) for name in sorted(used))


def _may_open(program: Program, name: str) -> bool:
    function = program.known(name)
    return function is None or function.result == "descriptor" or not function.besides.isdisjoint(_MAY_OPEN)
