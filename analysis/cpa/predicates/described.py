"""What states of the value domains say, as formulas over state variables. What a formula cannot say is left out, which makes it
weaker; the certificate checker decides whether what is left proves anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from analysis.cfa.graph import Program
from analysis.cpa.domains.location import Location, Stack
from analysis.cpa.predicates.eliminated import Cell, without_identifiers
from analysis.cpa.predicates.step_formulas import Contexts
from analysis.cpa.stores.scalar_values import Address, Value
from analysis.cpa.stores.store_memory import Contents, Store
from analysis.cpa.symbolic_values.condition_formulas import ConditionFormulas
from analysis.model import ir
from analysis.model.c_types import Array, Floating, Integer, Pointer, Type, is_scalar
from analysis.smt.logic import linear
from analysis.smt.logic.substitution import Substitution
from analysis.smt.logic.term_building import and_, eq, number
from analysis.smt.logic.terms import Term, symbols
from analysis.smt.transitions.access import Access
from analysis.smt.transitions.object_cells import MOST_CELLS
from analysis.smt.transitions.system import System
from analysis.smt.transitions.transition_state import START


class _Object(NamedTuple):
    """A variable of an activation (or a global one), and the context that it is in."""

    owner: str
    var: ir.Var
    context: int


class Described:
    """Formulas about states of one program, over the vocabulary of a system, for contexts that are numbered as they come up."""

    def __init__(self, program: Program, system: System, contexts: Contexts) -> None:
        self._system, self._contexts = system, contexts
        self._vocabulary = system.vocabulary
        self._types: dict[str, dict[str, Type]] = {}
        vocabulary = system.vocabulary
        self._formulas = ConditionFormulas(program, vocabulary.mode, vocabulary.model, overflow="wrap")

    def of(self, location: Location, store: Store, conditions: Sequence[ir.Expr] = ()) -> Term:
        """What is known of variables, and the conditions over the identifiers in it."""
        stacks = _frames(location)
        known: list[Term] = []
        cells: list[Cell] = []
        terms: dict[Term, Term] = {}
        for at, type_, value in self._cells(store, stacks):
            if isinstance(value, ir.Expr):
                if value.type == type_ and isinstance(type_, Integer | Pointer):
                    cell = ir.Var(f"cell!{len(cells)}", "temporary", type_)
                    symbol = self._formulas.symbol(cell)
                    if symbol is not None and symbol.sort == at.sort:
                        cells.append(Cell(cell, value))
                        terms[symbol] = at
            else:
                term = self._known(value, type_, stacks)
                if term is not None and term.sort == at.sort:
                    known.append(eq(at, term))
        put = Substitution(terms)
        open_ = frozenset(cell.var for cell in cells)
        for condition in without_identifiers(cells, conditions, open_):
            known += [put(term) for term in self._formulas.conjunctions([condition])]
        allowed = {self._vocabulary[variable] for variable in self._vocabulary}
        return and_(*(term for term in known if allowed.issuperset(symbols((term,)))))

    # -- cells --------------------------------------------------------------------------------------------------

    def _cells(self, store: Store, stacks: Sequence[Stack | None]) -> Iterator[tuple[Term, Type, Value]]:
        """The scalars of which something is known: as terms, with types and values."""
        layout = self._vocabulary.objects.layout
        for root, value in store.items():
            found = self._object(root, stacks)
            if found is None:
                continue
            access = Access(self._vocabulary, START, found.owner, found.context)
            if not isinstance(value, Contents):
                if is_scalar(found.var.type):
                    yield access.read_at(access.place(found.var), 0, found.var.type), found.var.type, value
                continue
            place, size = access.place(found.var), layout.size
            for bit, type_ in self._leaves(found.var.type):
                cell = value.get(bit, size(type_) or 0)
                if cell is not None:
                    yield access.read_at(place, bit, type_), type_, cell

    def _leaves(self, type_: Type) -> Iterable[tuple[int, Type]]:
        layout = self._vocabulary.objects.layout
        if isinstance(type_, Array) and is_scalar(type_.element) and type_.length is not None:
            width = layout.size(type_.element) or 0
            return ((position * width, type_.element) for position in range(min(type_.length, MOST_CELLS)))
        leaves = layout.leaves(type_)
        return [] if leaves is None or len(leaves) > MOST_CELLS else leaves

    def _known(self, value: Value, type_: Type, stacks: Sequence[Stack | None]) -> Term | None:
        if isinstance(value, int) and not isinstance(type_, Floating):
            return self._vocabulary.arithmetic.constant(value, type_) if isinstance(type_, Integer) or value == 0 else None
        if not isinstance(value, Address) or not isinstance(type_, Pointer):
            return None
        found = self._object(value.root, stacks)
        if found is None or self._vocabulary.objects.kind(found.owner, found.var) != "memory":
            return None
        start = self._vocabulary.address(found.context, found.var, found.owner)
        return linear.add(start, number(value.offset, self._vocabulary.pointer_sort))

    def _object(self, root: str, stacks: Sequence[Stack | None]) -> _Object | None:
        """The variable that a root names; None for what no variable names."""
        owner, name, context = "", root[1:], 0
        if root[0] != "@":
            owner, separator, rest = root.rpartition("#")
            depth, _, name = rest.partition(":")
            if not separator or not depth.isdigit() or int(depth) >= len(stacks):
                return None
            context = self._contexts.number(stacks[int(depth)])
        if owner not in self._types:
            self._types[owner] = dict(self._vocabulary.objects.locals(owner))
        type_ = self._types[owner].get(name)
        return None if type_ is None else _Object(owner, ir.Var(name, "local" if owner else "global", type_), context)


def _frames(location: Location) -> list[Stack | None]:
    """The stacks of the open activations, outermost first."""
    found: list[Stack | None] = []
    stack = location.stack
    while stack is not None:
        found.append(stack)
        stack = stack.below
    return [None, *reversed(found)]
