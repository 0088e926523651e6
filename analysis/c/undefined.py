"""What an edge can violate, and when: one enumeration for engines, formulas and the interpreter.

Rules are named as their findings are. `CONDITIONS` says of each under which condition an edge
violates it, with the paragraphs of C11. Which operators can violate the rules of `OperatorRule`,
and with which operands they do, the table in `operators` says.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, get_args

OperatorRule = Literal["division-by-zero", "shift-range", "signed-overflow"]
"""What computing an operator can violate, in the order in which it is asked: the first one counts."""
AccessRule = Literal["null-dereference", "array-bounds", "use-after-free", "use-after-scope", "uninitialized-read"]
"""What reading or writing an object can violate."""
CallRule = Literal["double-free", "invalid-free", "assertion"]
"""What only a call can violate."""
EdgeRule = Literal[OperatorRule, AccessRule, CallRule]
"""What formulas can say of one edge and the state before it."""
SHOWN_ALONE: frozenset[Literal["array-bounds", "uninitialized-read"]] = frozenset(("array-bounds", "uninitialized-read"))
"""What nothing but runs looks for: each function is run by itself for these."""
RunRule = Literal["memory-leak", "resource-leak", "use-after-close", "memory-cleanup", "lock-discipline", "lock-at-exit"]
"""What only a run shows."""
ObservedRule = Literal[EdgeRule, RunRule]
"""What a run that is followed step by step shows."""
OBSERVED: frozenset[str] = frozenset(get_args(ObservedRule))
"""The rules whose violations the interpreter can observe."""
CertifiedRule = Literal[
    "assertion",
    "division-by-zero",
    "signed-overflow",
    "shift-range",
    "null-dereference",
    "array-bounds",
    "uninitialized-read",
]
"""What a certificate can be about."""


class Condition(NamedTuple):
    """When an edge violates a rule, and the paragraph of C11 that leaves it undefined. An assertion that fails is defined."""

    when: str
    section: str


CONDITIONS: dict[EdgeRule, Condition] = {
    "division-by-zero": Condition("the right operand of `/` or `%` is zero", "6.5.5p5"),
    "shift-range": Condition("a distance is negative, or not less than the width of what is shifted", "6.5.7p3"),
    "signed-overflow": Condition(
        "the exact result of `+`, `-`, `*`, `/`, `<<` or unary `-`, or for `%` the quotient, is no value "
        "of its signed type; or what `<<` shifts is negative",
        "6.5p5, 6.5.5p6, 6.5.7p4",
    ),
    "null-dereference": Condition("a null pointer is followed, or moved by a distance other than zero", "6.5.3.2p4, 6.5.6p8"),
    "array-bounds": Condition("an access is outside of its object", "6.5.6p8"),
    "use-after-free": Condition("what is accessed was in a block that is freed", "6.2.4p2, 7.22.3p1"),
    "use-after-scope": Condition("what is accessed was a variable of a block that is left", "6.2.4p2"),
    "uninitialized-read": Condition("the value of an object is indeterminate when it is read", "6.3.2.1p2, J.2"),
    "double-free": Condition("`free` or `realloc` is passed a block that is freed", "7.22.3.3p2, 7.22.3.5p3"),
    "invalid-free": Condition("`free` or `realloc` is passed what is no block from the start", "7.22.3.3p2, 7.22.3.5p3"),
    "assertion": Condition("what reports the failure of an assertion is called", "7.2.1.1p2"),
}

OPERATOR_RULES: tuple[OperatorRule, ...] = get_args(OperatorRule)
