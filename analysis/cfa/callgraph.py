"""The call graph of a program and its strongly connected components."""

from __future__ import annotations

from collections.abc import Mapping

from analysis.cfa.components import strongly_connected
from analysis.cfa.graph import Program
from analysis.model import ir
from analysis.model.kept_with import kept_with


@kept_with
def callees(program: Program) -> Mapping[str, tuple[str, ...]]:
    """For each function, what it can call, defined or not, in the order of the calls, each once."""
    found: dict[str, tuple[str, ...]] = {}
    for name, cfa in program.functions.items():
        called: dict[str, None] = {}
        for edge in cfa.calls:
            if isinstance(edge.effect, ir.Call):
                for target in program.targets(edge.effect):
                    called.setdefault(target)
        found[name] = tuple(called)
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
