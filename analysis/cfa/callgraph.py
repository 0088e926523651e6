"""The call graph of a program and its strongly connected components."""

from __future__ import annotations

from collections.abc import Mapping

from analysis.cfa.components import strongly_connected
from analysis.cfa.graph import Cfa, Program
from analysis.model import ir
from analysis.model.kept_with import kept_with


@kept_with
def called(cfa: Cfa) -> tuple[tuple[str, ...], tuple[ir.Call, ...]]:
    """The functions that a function calls by their names, each once, and its calls through pointers."""
    calls = [edge.effect for edge in cfa.calls if isinstance(edge.effect, ir.Call)]
    direct = dict.fromkeys(name for call in calls if (name := ir.direct_callee(call)) is not None)
    return tuple(direct), tuple(call for call in calls if ir.direct_callee(call) is None)


@kept_with
def callees(program: Program) -> Mapping[str, tuple[str, ...]]:
    """For each function, what it can call, defined or not, each once: what it names, in the order of the calls, then what its
    pointers reach."""
    found: dict[str, tuple[str, ...]] = {}
    for name, cfa in program.functions.items():
        direct, others = called(cfa)
        reached = (target for call in others for target in program.targets(call))
        found[name] = tuple(dict.fromkeys((*direct, *reached))) if others else direct
    return found


@kept_with
def callers(program: Program) -> Mapping[str, tuple[str, ...]]:
    """For each defined or called function, the functions that can call it, in the program's order."""
    found: dict[str, list[str]] = {name: [] for name in program.functions}
    for name, called in callees(program).items():
        for target in called:
            found.setdefault(target, []).append(name)
    return {name: tuple(names) for name, names in found.items()}


@kept_with
def components(program: Program) -> tuple[tuple[str, ...], ...]:
    """The strongly connected components of the defined functions, callees before callers; each in the program's order."""
    order = {name: position for position, name in enumerate(program.functions)}
    return tuple(tuple(sorted(found, key=order.__getitem__)) for found in strongly_connected(callees(program)))


def roots(program: Program) -> tuple[str, ...]:
    """The functions that no other function calls or could call through a pointer, in the program's order."""
    called = {target for name, targets in callees(program).items() for target in targets if target != name}
    return tuple(name for name in program.functions if name not in called and name not in program.address_taken)
