"""From the states of value domains that were reached to assertions at the heads of loops ([IPA] Algorithm 2): at each of them, in
each context, the disjunction of what the states there say. A head that no state reached is claimed not to be reached.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from analysis.cfa.graph import Program
from analysis.cpa.domains.location import Location, Stack
from analysis.cpa.obstacles.exposed_variables import exposed
from analysis.cpa.predicates.adjustable_blocks import loop_heads
from analysis.cpa.predicates.described import Described
from analysis.cpa.predicates.step_formulas import Contexts
from analysis.cpa.stores.store_memory import Store
from analysis.model import ir
from analysis.model.c_types import DataModel
from analysis.smt.encoding.numbers.formula import Mode
from analysis.smt.logic.term_building import FALSE, or_
from analysis.smt.logic.terms import Term
from analysis.smt.transitions.system import System


class Reaching:
    """Collects the states of one reached set, for an annotation with this encoding of integers."""

    def __init__(self, program: Program, entry: str, mode: Mode, model: DataModel) -> None:
        self._entry = entry
        self._contexts = Contexts()
        system = System(program, mode, model, whole=entry == "main", exposed=exposed(program))
        self._described = Described(program, system, self._contexts)
        self._heads = {name: loop_heads(cfa) for name, cfa in program.functions.items()}
        self._locations = {name: frozenset(cfa.locations) for name, cfa in program.functions.items()}
        self._found: dict[tuple[int, int], dict[Term, None]] = {}

    def add(self, location: Location, store: Store, conditions: Sequence[ir.Expr] = ()) -> None:
        """A state: what it knows of variables, and conditions over the identifiers in that. States at locations that the program
        does not have, such as those of errors, are left out."""
        if location.location not in self._locations[location.function]:
            return
        point = self._contexts.number(location.stack), location.location
        if location.location in self._heads[location.function]:
            self._found.setdefault(point, {})[self._described.of(location, store, conditions)] = None

    def assertions(self) -> tuple[tuple[Stack | None, ...], Mapping[tuple[int, int], Term]]:
        """The contexts by number, and the assertions by context and location."""
        found: dict[tuple[int, int], Term] = {}
        for context, stack in self._contexts.rows():
            function = self._entry if stack is None else stack.call.callee
            for head in self._heads[function]:
                terms = self._found.get((context, head))
                found[context, head] = or_(*terms) if terms else FALSE
        return tuple(stack for _, stack in self._contexts.rows()), found
