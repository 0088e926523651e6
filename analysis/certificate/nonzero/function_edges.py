"""What the edges of one function need, and which objects they speak of, whatever is known before them."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy

from analysis.certificate.nonzero.construction import Construction
from analysis.certificate.nonzero.data_invariants import NONE, Invariants
from analysis.certificate.nonzero.main_arguments import argument_array
from analysis.certificate.nonzero.needed_values import Needed, Rule, needed
from analysis.certificate.nonzero.values import open_streams
from analysis.certificate.nonzero.writes import Objects
from analysis.cfa.addresses_taken import taken_by
from analysis.cfa.graph import Cfa, Program
from analysis.model import ir
from analysis.model.c_types import Integer, Pointer


class Edges:
    """What the edges of one function need, and which objects they speak of; whatever is known before them. `invariants` are
    relied on. `checks`: that all edges keep them is checked as well, also those behind what is not followed."""

    def __init__(self, program: Program, cfa: Cfa, rule: Rule, invariants: Invariants = NONE, *, checks: bool = False) -> None:
        self.program, self.cfa, self.invariants, self.checks = program, cfa, invariants, checks
        self.streams = open_streams(program)
        self.construction = Construction(program, cfa, invariants) if invariants else None
        self.objects = Objects(program, cfa, arguments=argument_array(program, cfa))
        self._rule: Rule = rule
        self.needed = {edge.id: self.needed_by(edge.effect) for edge in cfa.edges}
        self.formats = dict(_formats(program, cfa))
        self.fixed = _fixed(cfa) if isinstance(cfa.type.result, Integer | Pointer) else frozenset[str]()
        self._locals: dict[ir.Expr, frozenset[str]] = {}

    def relying(self, invariants: Invariants) -> Edges:
        """The same, with other invariants to rely on."""
        if invariants == self.invariants:
            return self
        other = copy(self)
        other.invariants = invariants
        other.construction = Construction(self.program, self.cfa, invariants) if invariants else None
        return other

    def needed_by(self, effect: ir.Effect) -> tuple[Needed, ...]:
        """What an effect needs."""
        return tuple(needed(self.program, effect, self._rule))

    def locals_of(self, expr: ir.Expr) -> frozenset[str]:
        """The names of the function's own variables in an expression."""
        found = self._locals.get(expr)
        if found is None:
            names = (one.name for one in ir.variables(expr) if one.scope not in ("global", "function"))
            found = self._locals[expr] = frozenset(names)
        return found


def _formats(program: Program, cfa: Cfa) -> Iterator[tuple[int, int]]:
    """The calls of library functions whose format is a variable, each with the number of the argument."""
    for edge in cfa.calls:
        if not isinstance(edge.effect, ir.Call):
            continue
        name = ir.direct_callee(edge.effect)
        function = None if name is None or name in program.functions else program.known(name)
        for at in () if function is None else function.positions("format"):
            yield from ((edge.id, at) for one in edge.effect.arguments[at : at + 1] if isinstance(one, ir.Var))


def _fixed(cfa: Cfa) -> frozenset[str]:
    """The parameters that hold what was passed all the time."""
    assigned = {target.name for edge in cfa.edges if isinstance(target := ir.target_of(edge.effect), ir.Var)}
    return frozenset(one.name for one in cfa.parameters) - assigned - taken_by(cfa).own
