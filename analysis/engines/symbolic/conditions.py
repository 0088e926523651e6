"""When an edge violates a rule, as conditions on its operands; and the program in which these lead to a location of their own.

The conditions over-approximate: where none of them can hold, no run violates the rule at the edge. What only the memory's state
tells (whether a block was freed before) has the condition "the edge is reached".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TypeGuard

import msgspec

from analysis.cfa.graph import Cfa, Edge, Program
from analysis.engines.symbolic.task import Target
from analysis.model import ir
from analysis.model.c_types import INT, Floating, Function, Pointer
from analysis.model.verifiers import CHECKS

Locations = Mapping[str, frozenset[int]]
"""Locations by the function that they are in."""
TRUE = ir.IntConst(1, INT)
_EXPRESSED = frozenset({"assertion", "null-dereference", "division-by-zero"})  # rules with conditions on operands


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
    suspects = tuple(_suspects(program, edge.effect, target))
    conditions: list[ir.Expr] = [ir.Binary("==", e, ir.IntConst(0, e.type), INT) for e in suspects]
    conditions = conditions or [TRUE]
    location, number = cfa.next_location, cfa.next_edge
    added = [Edge(number + i, edge.source, location, ir.Assume(c, True)) for i, c in enumerate(conditions)]
    changed = _with_edges(cfa, (*(e for e in cfa.edges if e is not edge or suspects or target.rule != "assertion"), *added))
    functions = {**program.functions, target.function: changed}
    whole = Program(functions, program.globals, program.externals, program.records, program.address_taken)
    return Violating(whole, target.function, location, suspects)


class Everywhere(msgspec.Struct, frozen=True):
    """A program with more locations, which are reached where one of some rules is violated, wherever. `is_exact`: there is no
    edge that can violate a rule of which only the memory's state tells."""

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
            found = [s for rule in sorted(rules) for s in _suspects(program, edge.effect, Target(name, edge.id, rule))]
            conditions += [(edge.source, ir.Binary("==", e, ir.IntConst(0, e.type), INT)) for e in dict.fromkeys(found)]
            is_error = "assertion" in rules and may(edge, "assertion") and not _is_check(edge.effect, program)
            if is_error:
                conditions.append((edge.source, TRUE))
            else:
                kept.append(edge)
            others = rules - (_EXPRESSED if not divides_floats(edge.effect) else _EXPRESSED - {"division-by-zero"})
            is_exact = is_exact and not any(may(edge, rule) for rule in others)
        location, number = cfa.next_location, cfa.next_edge
        if conditions:
            locations[name] = frozenset((location,))
            kept += [Edge(number + i, s, location, ir.Assume(c, True)) for i, (s, c) in enumerate(dict.fromkeys(conditions))]
        functions[name] = _with_edges(cfa, tuple(kept))
    whole = Program(functions, program.globals, program.externals, program.records, program.address_taken)
    return Everywhere(whole, locations, is_exact)


def _with_edges(cfa: Cfa, edges: tuple[Edge, ...]) -> Cfa:
    return Cfa(
        name=cfa.name,
        path=cfa.path,
        type_=cfa.type,
        parameters=cfa.parameters,
        entry=cfa.entry,
        exit_=cfa.exit,
        edges=edges,
        digest=cfa.digest,
    )


def _suspects(program: Program, effect: ir.Effect, target: Target) -> Iterator[ir.Expr]:
    if target.rule == "null-dereference":
        found = dict.fromkeys(_pointers(program, effect))
    elif target.rule == "division-by-zero":
        found = dict.fromkeys(_divisors(effect))
    elif _is_check(effect, program):
        found = {ir.strip_casts(argument): None for argument in effect.arguments[:1]}
    else:
        return
    wanted = target.expression
    yield from (wanted,) if wanted is not None and wanted in found else found


def _is_check(effect: ir.Effect, program: Program) -> TypeGuard[ir.Call]:
    """Whether it is a call that fails if its argument is zero."""
    return isinstance(effect, ir.Call) and ir.direct_callee(effect) in CHECKS - program.functions.keys()


def _pointers(program: Program, effect: ir.Effect) -> Iterator[ir.Expr]:
    """What must not be null: the pointers that are dereferenced (as computed, and as they were before something was added), and
    those that are passed to functions without a body, or called."""
    for expr in ir.expressions(effect):
        for part in ir.walk(expr):
            if isinstance(part, ir.Deref):
                yield from _bases(part.pointer)
    if isinstance(effect, ir.Call):
        is_outside = any(name not in program.functions for name in program.targets(effect) or ("",))
        for argument in (effect.callee, *(effect.arguments if is_outside else ())):
            if isinstance(argument.type, Pointer):
                yield from _bases(argument)


def _bases(pointer: ir.Expr) -> Iterator[ir.Expr]:
    if not isinstance(pointer.type, Pointer):
        return
    yield pointer
    inner = ir.strip_casts(pointer)
    if isinstance(inner, ir.Binary) and isinstance(inner.left.type, Pointer):
        yield from _bases(inner.left)
    elif isinstance(inner, ir.AddressOf):
        lvalue = inner.lvalue
        while isinstance(lvalue, ir.Field | ir.Index):
            lvalue = lvalue.record if isinstance(lvalue, ir.Field) else lvalue.array
        if isinstance(lvalue, ir.Deref):
            yield from _bases(lvalue.pointer)


def divides_floats(effect: ir.Effect) -> bool:
    """Whether a floating value is divided by one that is no constant: undefined for zero by C11 6.5.5p5, not by its annex F."""
    parts = (part for expr in ir.expressions(effect) for part in ir.walk(expr))
    divisions = (part for part in parts if isinstance(part, ir.Binary) and part.operator == "/")
    constants = (ir.IntConst, ir.FloatConst)
    return any(isinstance(part.type, Floating) and not isinstance(ir.strip_casts(part.right), constants) for part in divisions)


def _divisors(effect: ir.Effect) -> Iterator[ir.Expr]:
    for expr in ir.expressions(effect):
        for part in ir.walk(expr):
            if isinstance(part, ir.Binary) and part.operator in ("/", "%") and not isinstance(part.type, Floating | Function):
                yield part.right
