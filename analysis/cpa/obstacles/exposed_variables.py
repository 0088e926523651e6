"""The variables with static storage that pointers from outside may lead to: from other functions of the program, whose parts are
looked at by themselves, or from other files.

Other files can name all variables that are not `static` (C11 6.2.2p4). They have none of their own if the program has a `main`
and calls nothing but what it defines and functions of the system.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable

from analysis.c.functions import is_complete
from analysis.cfa.addresses_taken import pointed_statics
from analysis.cfa.callgraph import called, callees
from analysis.cfa.graph import Program
from analysis.model.kept_with import kept_with

_KNOWN: weakref.WeakKeyDictionary[Program, frozenset[str]] = weakref.WeakKeyDictionary()


def exposed(program: Program) -> frozenset[str]:
    """The linkage names of the variables."""
    if program.exposed is not None:
        return program.exposed
    known = _KNOWN.get(program)
    if known is None:
        named: Iterable[str] = () if is_closed(program) else (name for name in program.globals if "::" not in name)
        known = _KNOWN[program] = pointed_statics(program).union(named)
    return known


@kept_with
def is_closed(program: Program) -> bool:
    """Whether no code but the program's and the system's runs."""
    if "main" not in program.functions:
        return False
    if not all(program.targets(call) for cfa in program.functions.values() for call in called(cfa)[1]):
        return False  # nothing is known that the pointer could lead to
    outside = set[str]().union(*callees(program).values()) - program.functions.keys()
    return all(is_complete(name) or is_system(program, name) for name in outside)


def is_system(program: Program, name: str) -> bool:
    """Whether an external function is one of the system's, or of the compiler's own."""
    known = program.externals.get(name)
    return name.startswith("__builtin_") or (known is not None and known.system)
