"""Which functions can return at all: a least fixed point over the call graph.

A function can return when its exit is reachable over edges whose calls can return; one without a body can unless it is declared
`noreturn`. Values that a callee cannot reach pass a call exactly when the callee can return.
"""

from __future__ import annotations

from collections.abc import Container, Iterable

from analysis.cfa.graph import Cfa, Program
from analysis.model import ir


def may_return(program: Program, known: Iterable[str] = (), names: Iterable[str] | None = None) -> frozenset[str]:
    """The names of the defined functions that can return: of `names` (default: all), and the `known` ones."""
    found = set(known)
    open_ = dict.fromkeys(program.functions if names is None else names)
    grown = True
    while grown:
        grown = False
        for name in list(open_):
            if reaches_exit(program.functions[name], program, found):
                found.add(name)
                del open_[name]
                grown = True
    return frozenset(found)


def call_returns(call: ir.Call, program: Program, returning: Container[str]) -> bool:
    """Whether some function that the call can reach can return."""
    targets = program.targets(call)
    return not targets or any(target_returns(target, program, returning) for target in targets)


def target_returns(target: str, program: Program, returning: Container[str]) -> bool:
    """Whether a function, with or without a body, can return."""
    if target in program.functions:
        return target in returning
    external = program.externals.get(target)
    return external is None or not external.noreturn


def reaches_exit(cfa: Cfa, program: Program, returning: Container[str]) -> bool:
    """Whether a function can return when the given ones can."""
    seen = {cfa.entry}
    work = [cfa.entry]
    while work:
        for edge in cfa.outgoing.get(work.pop(), ()):
            if edge.target in seen or (isinstance(edge.effect, ir.Call) and not call_returns(edge.effect, program, returning)):
                continue
            seen.add(edge.target)
            work.append(edge.target)
    return cfa.exit in seen
