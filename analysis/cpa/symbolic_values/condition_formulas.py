"""Conditions over symbolic identifiers as formulas: the leaves that `smt.encoding.numbers.expression_terms` asks for are
identifiers here.

Each condition is encoded once (section 5.2 of [SYMCEGAR]: formulas are stored, not made at every check). Its
formula contains the condition and what its parts need: identifiers are in the range of their types, and
operations do what is assumed of them (signed sums do not overflow). `assumptions` names the latter. It names
as well what is any value: a condition is encoded once, so that its value is the same whenever it is asked
for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from analysis.c.layout import Layout
from analysis.cfa.graph import Program
from analysis.model import ir
from analysis.model.assumptions import OPENED
from analysis.model.c_types import LP64, DataModel, Floating, Integer, Pointer, Type
from analysis.smt.encoding.numbers.bits import Bits
from analysis.smt.encoding.numbers.expression_terms import Expressions
from analysis.smt.encoding.numbers.formula import Ledger
from analysis.smt.encoding.numbers.integers import Integers, SignedOverflow
from analysis.smt.logic.term_building import and_, symbol
from analysis.smt.logic.terms import Term

Mode = Literal["int", "bv"]


class ConditionFormulas:
    """Encodes conditions in one of the two encodings of integers. `overflow`: whether signed sums that overflow are left out, or
    wrap as on the machine."""

    def __init__(
        self, program: Program, mode: Mode = "int", model: DataModel = LP64, overflow: SignedOverflow = "assume"
    ) -> None:
        self._layout = Layout(model, lambda key: program.records.get(key))
        self._arithmetic = Integers(model, Ledger(), overflow) if mode == "int" else Bits(model, Ledger(), overflow)
        self._known: dict[ir.Expr, tuple[Term, Term]] = {}
        self._assumptions: dict[str, None] = {}

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What the formulas so far assume of the program, one sentence each."""
        return tuple(self._assumptions)

    def of(self, conditions: Sequence[ir.Expr]) -> tuple[Term, ...]:
        """What holds if the conditions do: a formula for each, with what its parts need."""
        return tuple([and_(*self._encode(c)) for c in conditions])

    def conjunctions(self, conditions: Sequence[ir.Expr]) -> tuple[Term, ...]:
        """The conditions alone."""
        return tuple([self._encode(c)[0] for c in conditions])

    def _encode(self, condition: ir.Expr) -> tuple[Term, Term]:
        found = self._known.get(condition)
        if found is None:
            ledger = Ledger(f"c{len(self._known)}:")
            arithmetic = self._arithmetic.with_ledger(ledger)
            expressions = Expressions(arithmetic, _Identifiers(arithmetic, ledger, self._layout), ledger)
            term = expressions.truth(condition)
            opened = [sentence for sentence in ledger.approximations if sentence in OPENED]
            self._assumptions.update(dict.fromkeys([*ledger.assumptions, *opened]))
            found = self._known[condition] = (term, and_(*ledger.constraints))
        return found

    def symbol(self, variable: ir.Var) -> Term | None:
        """The identifier's symbol; None if its type is no integer or pointer."""
        if not isinstance(variable.type, Integer | Pointer):
            return None
        return symbol(variable.name, self._arithmetic.sort(variable.type))

    def number(self, value: int, variable: ir.Var) -> Term:
        """A value of a model for an identifier, as a term."""
        return self._arithmetic.constant(self.decode(value, variable), variable.type)

    def decode(self, value: int, variable: ir.Var) -> int:
        """The C value that a model gives an identifier of integer or pointer type."""
        return int(self._arithmetic.decode(value, variable.type))


class _Identifiers:
    """`Leaves` whose only variables are identifiers."""

    def __init__(self, arithmetic: Integers | Bits, ledger: Ledger, layout: Layout) -> None:
        self._arithmetic = arithmetic
        self._ledger = ledger
        self._layout = layout

    def read(self, lvalue: ir.Expr) -> Term:
        """The identifier's symbol, in the range of its type."""
        if not isinstance(lvalue, ir.Var) or lvalue.scope != "temporary":
            return self.unknown(lvalue)
        return self._constrained(symbol(lvalue.name, self._arithmetic.sort(lvalue.type)), lvalue.type)

    def address(self, lvalue: ir.Expr) -> Term:
        """A symbol that is not null. (That addresses of different objects differ is not said.)"""
        if not isinstance(lvalue, ir.Var):
            return self.unknown(ir.Unknown(Pointer(lvalue.type)))
        pointer = Pointer(lvalue.type)
        term = self._constrained(symbol(f"&{lvalue.name}", self._arithmetic.sort(pointer)), pointer)
        self._ledger.constrain(self._arithmetic.truth(term, pointer))
        return term

    def unknown(self, expr: ir.Expr) -> Term:
        """A fresh symbol in the range of the type."""
        return self._constrained(self._ledger.fresh("any", self._arithmetic.sort(expr.type)), expr.type)

    def element_size(self, type_: Type) -> int | None:
        """`sizeof` the type."""
        return self._layout.size(type_)

    def _constrained(self, term: Term, type_: Type) -> Term:
        if not isinstance(type_, Floating):
            self._ledger.constrain(self._arithmetic.in_range(term, type_))
        return term
