"""IR expressions as terms, whatever it is that holds the values of their leaves."""

from __future__ import annotations

from typing import Protocol

from analysis.model import ir
from analysis.smt.encoding.arithmetic import Arithmetic
from analysis.smt.encoding.formula import Ledger
from analysis.smt.terms import Term


class Leaves(Protocol):
    """Where the values of an expression's leaves come from."""

    def read(self, lvalue: ir.Expr) -> Term:
        """The value that a scalar lvalue (Var, Deref, Field, Index) holds."""

    def address(self, lvalue: ir.Expr) -> Term:
        """The address of an lvalue or function."""

    def unknown(self, expr: ir.Expr) -> Term:
        """A fresh value for `ir.Unknown` and `ir.Undefined`, and for what cannot be said exactly."""

    def element_size(self, pointer: ir.Expr) -> int | None:
        """`sizeof` what the pointer points to, in bytes; None when it is not known."""


class Expressions:
    """Encodes expressions with one arithmetic. Constraints that the terms need, approximations and assumptions go into the
    ledger."""

    def __init__(self, arithmetic: Arithmetic, leaves: Leaves, ledger: Ledger) -> None:
        self.arithmetic = arithmetic
        self.leaves = leaves
        self.ledger = ledger

    def value(self, expr: ir.Expr) -> Term:
        """The value of a scalar expression."""
        raise NotImplementedError

    def truth(self, condition: ir.Expr) -> Term:
        """That a scalar expression is not zero, as a term of sort Bool."""
        raise NotImplementedError
