"""Whether all calls of functions of a program are seen, in runs from `main`."""

from __future__ import annotations

from collections.abc import Collection

from analysis.c.control import NAMED_CODE
from analysis.cfa.building.cfa_building import PASSED_DECLARATION
from analysis.cfa.callgraph import callees
from analysis.cfa.graph import Edge, Program
from analysis.cfa.linking.obstacle_words import is_open_order
from analysis.cfa.linking.obstructed import MAIN
from analysis.model import ir
from analysis.model.kept_with import kept_with
from analysis.model.spelling import display_name


def hidden_calls(program: Program, entries: Collection[str]) -> str:
    """Why not all calls of functions of the program may be seen, in runs from the entries; empty if they are."""
    if tuple(entries) != (MAIN,) or MAIN not in program.functions:
        return "there is no main() from which all runs start"
    return _hidden_below_main(program)


@kept_with
def _hidden_below_main(program: Program) -> str:
    called, waiting, reached = callees(program), [MAIN], {MAIN}
    while waiting:
        name = waiting.pop()
        cfa = program.functions.get(name)
        if name in NAMED_CODE:
            return f"{display_name(name)}() finds functions by their names, as `dlsym` does"
        if cfa is not None and any(map(may_hide, cfa.unsupported)):
            return f"not all of {display_name(name)}() is supported"
        new = set(called.get(name, ())) - reached
        reached |= new
        waiting += new
    return ""


def may_hide(edge: Edge) -> bool:
    """Whether what is not supported there may call a function without naming it. What is called in an open order is named."""
    reason = edge.effect.reason if isinstance(edge.effect, ir.Unsupported) else ""
    return not (is_open_order(reason) or reason.endswith(PASSED_DECLARATION))
