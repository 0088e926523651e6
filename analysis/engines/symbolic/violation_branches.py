"""When an edge violates a rule, as conditions on its operands; and the program in which these lead to a location of their own.

The conditions over-approximate: where none of them can hold, no run violates the rule at the edge. What only the memory's state
tells (whether a block was freed before) has the condition "the edge is reached".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeGuard

import msgspec

from analysis.cfa.graph import Cfa, Edge, Program
from analysis.cpa.obstacles.late_results import is_late
from analysis.cpa.predicates.error_locations import (
    EXPRESSED,
    TRUE,
    Locations,
    divisors,
    pointers,
    with_functions,
)
from analysis.cpa.predicates.violations import has_float_division
from analysis.engines.symbolic.task import Target
from analysis.model import ir
from analysis.model.c_types import INT
from analysis.model.verifiers import CHECKS


class Violating(msgspec.Struct, frozen=True):
    """A program with one more location, which is reached where the target's rule is violated.

    `suspects` are the expressions that are null or zero then; none if reaching the edge is all that is known.
    """

    program: Program
    function: str
    location: int
    suspects: tuple[ir.Expr, ...]

    @property
    def locations(self) -> Locations:
        """The location, by its function."""
        return {self.function: frozenset((self.location,))}


def violating(program: Program, target: Target) -> Violating:
    """The program with branches to a new location from where the target's edge starts. What cannot be taken without violating the
    rule is not in it."""
    cfa = program.functions[target.function]
    edge = cfa.by_id[target.edge]
    suspects = () if _is_late(program, cfa, edge) else tuple(_suspects(program, edge.effect, target))
    conditions: list[ir.Expr] = [ir.Binary("==", e, ir.IntConst(0, e.type), INT) for e in suspects]
    conditions = conditions or [TRUE]
    location, number = cfa.next_location, cfa.next_edge
    added = [Edge(number + i, edge.source, location, ir.Assume(c, True)) for i, c in enumerate(conditions)]
    changed = cfa.with_edges((*(e for e in cfa.edges if e is not edge or suspects or target.rule != "assertion"), *added))
    functions = {**program.functions, target.function: changed}
    return Violating(with_functions(program, functions), target.function, location, suspects)


class Everywhere(msgspec.Struct, frozen=True):
    """A program with more locations, which are reached where one of some rules is violated, wherever. `is_exact`: there is no
    edge that can violate a rule whose violations only the state of memory shows."""

    program: Program
    locations: Locations
    is_exact: bool


def violating_everywhere(program: Program, rules: frozenset[str], may: Callable[[Edge, str], bool]) -> Everywhere:
    """The program with branches to a new location in each function. `may`: whether an edge can violate a rule, by its form."""
    functions: dict[str, Cfa] = {}
    locations: dict[str, frozenset[int]] = {}
    is_exact = True
    for name, cfa in program.functions.items():
        conditions: list[tuple[int, ir.Expr]] = []
        kept: list[Edge] = []
        for edge in cfa.edges:
            late = edge.effect.result if isinstance(edge.effect, ir.Call) and _is_late(program, cfa, edge) else None
            is_exact = is_exact and (late is None or not any(may(edge, rule) for rule in rules))
            found = [s for rule in sorted(rules) for s in _suspects(program, edge.effect, Target(name, edge.id, rule))]
            conditions += [(edge.source, ir.Binary("==", e, ir.IntConst(0, e.type), INT)) for e in dict.fromkeys(found)]
            is_error = "assertion" in rules and may(edge, "assertion") and not _is_check(edge.effect, program)
            if is_error:
                conditions.append((edge.source, TRUE))
            else:
                kept.append(edge)
            others = rules - (EXPRESSED if not has_float_division(edge.effect) else EXPRESSED - {"division-by-zero"})
            is_exact = is_exact and not any(may(edge, rule) for rule in others)
        location, number = cfa.next_location, cfa.next_edge
        if conditions:
            locations[name] = frozenset((location,))
            kept += [Edge(number + i, s, location, ir.Assume(c, True)) for i, (s, c) in enumerate(dict.fromkeys(conditions))]
        functions[name] = cfa.with_edges(tuple(kept))
    return Everywhere(with_functions(program, functions), locations, is_exact)


def _suspects(program: Program, effect: ir.Effect, target: Target) -> Iterator[ir.Expr]:
    if target.rule == "null-dereference":
        found = dict.fromkeys(pointers(program, effect))
    elif target.rule == "division-by-zero":
        found = dict.fromkeys(divisors(effect))
    elif _is_check(effect, program):
        found = {ir.strip_casts(argument): None for argument in effect.arguments[:1]}
    else:
        return
    wanted = target.expression
    yield from (wanted,) if wanted is not None and wanted in found else found


def _is_late(program: Program, cfa: Cfa, edge: Edge) -> bool:
    """Whether a function of the program may change where its result goes: operands say nothing before the call then."""
    return is_late(cfa, edge) and any(name in program.functions for name in program.targets(edge.effect))  # type: ignore[arg-type]


def _is_check(effect: ir.Effect, program: Program) -> TypeGuard[ir.Call]:
    """Whether it is a call that fails if its argument is zero."""
    return isinstance(effect, ir.Call) and ir.direct_callee(effect) in CHECKS - program.functions.keys()
