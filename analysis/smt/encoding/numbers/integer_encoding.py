"""C's arithmetic on terms: the interface that the two encodings of integers share.

`int` (`integers.Integers`): a value is a mathematical integer in the range of its type. `bv` (`bits.Bits`): a bit-vector as wide
as the type. Pointers are unsigned integers of the data model's width. Floating values are approximated in both:
they are `Real` terms about which little is known but for constants.

Operands and results have the types that `model.ir` gives them: conversions are explicit, so both operands of a binary operator
have one type (but for shifts), and a comparison gives an `int` that is 0 or 1.
"""

from __future__ import annotations

from typing import Protocol

from analysis.model.c_types import DataModel, Type
from analysis.smt.encoding.numbers.formula import Ledger
from analysis.smt.logic.terms import Sort, Term
from analysis.smt.solving.solver import Value


class Arithmetic(Protocol):
    """How C values are terms. What they need besides, and what they assume, goes into `ledger`."""

    model: DataModel
    ledger: Ledger

    def with_ledger(self, ledger: Ledger) -> Arithmetic:
        """The same arithmetic with another ledger."""

    def sort(self, type_: Type) -> Sort:
        """The sort of values of a scalar type."""

    def constant(self, value: int, type_: Type) -> Term:
        """A value of an integer or pointer type, given in the range of the type."""

    def in_range(self, term: Term, type_: Type) -> Term:
        """The condition that a term, which stands for any value of its sort, is a value of the type."""

    def unary(self, operator: str, operand: Term, type_: Type) -> Term:
        """`-`, `~` or `!` of a value; `type_` is that of the operand."""

    def binary(self, operator: str, left: Term, right: Term, type_: Type, right_type: Type | None = None) -> Term:
        """A binary operator of `ir.Binary` on arithmetic values of the type; on pointers only comparisons. `right_type` is that
        of the right operand where it differs: in shifts. A comparison is the value 0 or 1 of type int. A shift too far, and the
        least value divided by -1, give any value; a division by zero ends the path. Signed overflow: `bv` wraps; `int` gives the
        mathematical result, constrains it to the type's range and notes the assumption, or wraps, as it was made."""

    def open_where(self, condition: Term, result: Term, type_: Type, sentence: str) -> Term:
        """The result; where the condition holds, any value of the type, as the sentence says."""

    def compare(self, operator: str, left: Term, right: Term, type_: Type) -> Term:
        """A comparison of two values of a type, as a term of sort Bool."""

    def is_zero(self, term: Term) -> Term:
        """The condition that a value of an integer or pointer type is zero."""

    def is_too_far(self, distance: Term, distance_type: Type, type_: Type) -> Term:
        """The condition that a distance is negative, or not less than the width of the type that is shifted (C11 6.5.7p3)."""

    def overflows(self, operator: str, left: Term, right: Term | None, type_: Type) -> Term:
        """The condition that the mathematical result of a signed operation is not a value of the type (C11
        6.5p5). `right` is None for `-e`."""

    def convert(self, term: Term, source: Type, target: Type) -> Term:
        """A value converted between scalar types (C11 6.3)."""

    def truth(self, term: Term, type_: Type) -> Term:
        """The condition that a scalar value compares unequal to 0."""

    def decode(self, value: Value, type_: Type) -> int | float:
        """The C value that a model's value stands for: signed types are signed."""
