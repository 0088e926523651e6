"""What a program gives to the library for good, so that functions read it which are not passed it.

`putenv` keeps a text, and a program may set `environ`, or an element of what it leads to: `getenv`, `system` and many others read
these (POSIX.1-2008 XBD 8.1). Other variables of the library are read by the functions that they are for (`argp_program_version`).
"""

from __future__ import annotations

from analysis.c.functions import known
from analysis.c.library_variables import ENVIRON, LIBRARY_VARIABLES, SECOND_NAMES, SET_BY
from analysis.cfa.callgraph import callees
from analysis.cfa.graph import Cfa, Program
from analysis.model import ir
from analysis.model.c_types import Pointer
from analysis.model.kept_with import kept_with

_OF_ENVIRONMENT = frozenset((ENVIRON, *(second for second, first in SECOND_NAMES.items() if first == ENVIRON)))
_READ = LIBRARY_VARIABLES - SET_BY["getopt"]


@kept_with
def given_to_library(program: Program) -> str:
    """Why functions of the library may read what has ended, though they are not passed it; empty if they do not."""
    called = {name for names in callees(program).values() for name in names}
    for name in sorted(called - program.functions.keys()):
        function = known(name)
        if function is not None and "environment" in function.besides and function.positions("kept"):
            return f"{name}() keeps what it is passed, and other functions of the library read it"
    cfas = program.functions.values() if any(name in program.globals for name in _READ) else ()
    found = next(filter(None, map(_sets, cfas)), "")
    return f"the program uses {found}, and functions of the library read what it leads to" if found else ""


@kept_with
def _sets(cfa: Cfa) -> str:
    """A variable of the library that a function may make lead to something, or whose array it may change."""
    for edge in cfa.edges:
        for expr in ir.expressions(edge.effect):
            for variable in ir.variables(expr):
                if variable.scope == "global" and variable.name in _OF_ENVIRONMENT:
                    return variable.name
        target = ir.target_of(edge.effect)
        if isinstance(target, ir.Var) and target.scope == "global" and target.name in _READ and isinstance(target.type, Pointer):
            return target.name
    return ""
