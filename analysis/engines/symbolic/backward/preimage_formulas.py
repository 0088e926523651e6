"""Whether conditions on a state of a program can hold together: each lvalue that is read is a symbol.

More can hold than in any run (that objects are apart is left out, and that two lvalues can be one object), so that "no" is always
right.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from analysis.c.operators import may_give_anything
from analysis.cfa.bit_layout import BitLayout
from analysis.cfa.graph import Program
from analysis.cpa.symbolic_values.symbolic import negation
from analysis.engines.symbolic.backward.rewriting import is_symbol, leaves
from analysis.model import ir
from analysis.model.c_types import Array, DataModel, Floating, Integer, Pointer, Type
from analysis.model.spelling import spell_expr
from analysis.smt.encoding.numbers.bits import Bits
from analysis.smt.encoding.numbers.expression_terms import Expressions
from analysis.smt.encoding.numbers.formula import Ledger
from analysis.smt.logic import linear
from analysis.smt.logic.term_building import and_, symbol
from analysis.smt.logic.terms import Term
from analysis.smt.solving.memo import Memo, MemoSolver
from analysis.smt.solving.solver import Budget
from analysis.smt.solving.z3_backend import Z3Solver


class Formulas:
    """Asks the solver about conditions; `checks` counts the questions."""

    def __init__(self, program: Program, model: DataModel, milliseconds: int) -> None:
        self._arithmetic = Bits(model, Ledger())
        self._layout = BitLayout.of(program, model)
        self._solver = MemoSolver(Z3Solver(), Memo())
        self._budget = Budget(milliseconds)
        self._known: dict[ir.Expr, Term] = {}
        self._possible: dict[frozenset[ir.Expr], bool] = {}
        self._names: dict[ir.Expr, int] = {}
        self.checks = 0

    def possible(self, conditions: frozenset[ir.Expr]) -> bool:
        """Whether the conditions can hold together, as far as the solver can tell in its time."""
        known = self._possible.get(conditions)
        if known is None:
            known = self._possible[conditions] = all(self._is_possible(part) for part in connected(conditions))
        return known

    def _is_possible(self, conditions: frozenset[ir.Expr]) -> bool:
        known = self._possible.get(conditions)
        if known is None:
            known = not any(is_settled(c) and negation(c) in conditions for c in conditions)
            if known and not (len(conditions) == 1 and _is_free(*conditions)):
                self.checks += 1
                terms = sorted((self._encode(c) for c in conditions), key=lambda term: term.digest)
                known = self._solver.check(*terms, budget=self._budget).status != "unsat"
            self._possible[conditions] = known
        return known

    def _encode(self, condition: ir.Expr) -> Term:
        found = self._known.get(condition)
        if found is None:
            ledger = Ledger(f"c{len(self._known)}:")
            arithmetic = self._arithmetic.with_ledger(ledger)
            leaves = _Leaves(arithmetic, ledger, self._layout, self._names)
            leaves.expressions = Expressions(arithmetic, leaves, ledger)
            term = leaves.expressions.truth(condition)
            found = self._known[condition] = and_(term, *ledger.constraints)
        return found


class _Leaves:
    """The values of lvalues in one state."""

    expressions: Expressions

    def __init__(self, arithmetic: Bits, ledger: Ledger, layout: BitLayout, names: dict[ir.Expr, int]) -> None:
        self._arithmetic = arithmetic
        self._names = names
        self._ledger = ledger
        self._layout = layout

    def read(self, lvalue: ir.Expr) -> Term:
        """A symbol for a variable or a part of one, an element of memory for what is behind a pointer."""
        type_ = lvalue.type
        if isinstance(type_, Array):
            return self.address(lvalue)
        if not isinstance(type_, Integer | Floating | Pointer):
            return self.unknown(lvalue)
        term = self._ranged(symbol(f"value {self._named(lvalue)}", self._arithmetic.sort(type_)), type_)
        if isinstance(lvalue, ir.Var) and lvalue.name[0] == "!":
            self._ledger.constrain(self._arithmetic.truth(term, type_))
        return term

    def _named(self, lvalue: ir.Expr) -> str:
        """A name for an lvalue or a literal: the same for the same one only."""
        return lvalue.name if isinstance(lvalue, ir.Var) else f"#{self._names.setdefault(lvalue, len(self._names))}"

    def address(self, lvalue: ir.Expr) -> Term:
        """A number that is not zero for a variable."""
        match lvalue:
            case ir.Deref(pointer):
                return self.expressions.value(pointer)
            case ir.Field(record, name, type_):
                start = self._layout.member(record.type, name, type_)
                if start is not None:
                    return linear.add(self.address(record), self._number(start // 8))
            case ir.Index(array_, index, type_):
                size = self._layout.bytes(type_)
                if size is not None:
                    moved = ir.Binary("+", ir.AddressOf(array_, Pointer(type_)), index, Pointer(type_))
                    return self.expressions.value(moved)
            case ir.Var() | ir.StringConst():
                here = Pointer(lvalue.type)
                term = symbol(f"address {self._named(lvalue)}", self._arithmetic.sort(here))
                self._ledger.constrain(self._arithmetic.truth(term, here))
                return term
        return self.unknown(ir.Unknown(Pointer(lvalue.type)))

    def unknown(self, expr: ir.Expr) -> Term:
        """A fresh symbol in the range of the type."""
        type_ = expr.type if isinstance(expr.type, Integer | Floating | Pointer) else Integer(32, True, "int")
        return self._ranged(self._ledger.fresh("any", self._arithmetic.sort(type_)), type_)

    def element_size(self, type_: Type) -> int | None:
        """`sizeof` the type."""
        return self._layout.bytes(type_)

    def _number(self, value: int) -> Term:
        return self._arithmetic.constant(value, Integer(self._arithmetic.model.pointer_bits, False, "unsigned long"))

    def _ranged(self, term: Term, type_: Type) -> Term:
        if not isinstance(type_, Floating):
            self._ledger.constrain(self._arithmetic.in_range(term, type_))
        return term


def connected(conditions: frozenset[ir.Expr]) -> list[frozenset[ir.Expr]]:
    """The conditions in groups that share no variables: each can hold or not by itself."""
    groups: list[tuple[set[str], set[ir.Expr]]] = []
    for c in conditions:
        names, members = set(leaves(c)), {c}
        apart = []
        for other in groups:
            if other[0].isdisjoint(names):
                apart.append(other)
            else:
                names |= other[0]
                members |= other[1]
        groups = [*apart, (names, members)]
    return [frozenset(members) for _, members in groups]


@lru_cache(maxsize=20_000)
def is_settled(expr: ir.Expr) -> bool:
    """Whether the expression has the same value whenever its operands have: not if a shift may be too far, or the least value be
    divided by -1, which gives any value."""
    return not any(isinstance(part, ir.Binary) and may_give_anything(part) for part in ir.walk(expr))


def _is_free(condition: ir.Expr) -> bool:
    """Whether it compares something that is read with a constant, so that surely it can hold or not."""
    if not isinstance(condition, ir.Binary) or condition.operator not in ("==", "!="):
        return False
    return isinstance(condition.left, ir.LVALUES) and isinstance(condition.right, ir.IntConst) and _is_wide(condition.left)


def _is_wide(read: ir.Expr) -> bool:
    return isinstance(read.type, Integer | Pointer) and getattr(read.type, "name", "") != "_Bool"


def spelled(conditions: Iterable[ir.Expr]) -> str:
    """The conditions as text for a person, sorted. Conditions on values without a name are left out."""
    texts = {spell_expr(c) for c in conditions if not any(is_symbol(part) for part in ir.walk(c))}
    return " and ".join(sorted(texts))
