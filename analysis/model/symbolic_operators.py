"""The operators of symbolic execution with refinement that [SYMCEGAR] compares (sections 4.1 to 4.4)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, get_args

import msgspec

Tracked = Literal["constraints-first", "values-first", "values-only", "predicates"]
"""What is forgotten first where an interpolant is made, so that the other is what the proof rests on: constraints (Algorithm 6),
values, or values alone (all constraints stay); or the way by predicates."""
Refine = Literal["none", Tracked]
ConstraintsBy = Literal["variables", "conditions"]
Order = Literal["subset", "aliased", "implication"]
Merge = Literal["sep", "join"]
CheckAt = Literal["assume", "target"]
Restart = Literal["pivot", "full"]

_CHOICES: dict[str, tuple[str, ...]] = {
    "refine": get_args(Refine),
    "by": get_args(ConstraintsBy),
    "less-or-equal": get_args(Order),
    "merge": get_args(Merge),
    "check-at": get_args(CheckAt),
    "restart": get_args(Restart),
}


class SymbolicOperators(msgspec.Struct, frozen=True):
    """`refine`: what of a path that cannot be taken is tracked ("none": all is tracked from the start). `by`: whether
    constraints are tracked by their variables or by the conditions that they come from. `less_or_equal`: when a state covers
    another one. `merge`: whether states at one location are joined. `check_at`: whether each branch asks the solver, or only
    a place that violates the rule. `restart`: whether a refinement goes back to where it differs, or to the start."""

    refine: Refine = "constraints-first"
    by: ConstraintsBy = "variables"
    less_or_equal: Order = "subset"
    merge: Merge = "sep"
    check_at: CheckAt = "assume"
    restart: Restart = "pivot"

    @property
    def words(self) -> tuple[str, ...]:
        """All of them, as `read_operators` takes them."""
        return tuple(f"{name}={getattr(self, name.replace('-', '_'))}" for name in _CHOICES)


def read_operators(words: Sequence[str]) -> SymbolicOperators:
    """The operators that words like `merge=join` name; others are as usual. Raises ValueError with a sentence."""
    found = dict(map(_read, words))
    operators = msgspec.convert(found, SymbolicOperators)
    if operators.refine == "predicates" and operators.by != "variables":
        raise ValueError("refine=predicates tracks constraints by variables: leave out by=conditions.")
    return operators


def _read(word: str) -> tuple[str, str]:
    name, _, value = word.strip().partition("=")
    if name not in _CHOICES:
        raise ValueError(f"There is no operator {name or 'without a name'}: there are {', '.join(_CHOICES)}.")
    if value not in _CHOICES[name]:
        raise ValueError(f"{name} cannot be {value or 'nothing'}: it is one of {', '.join(_CHOICES[name])}.")
    return name.replace("-", "_"), value


def choices() -> Iterator[str]:
    """What can be said of each operator, for people."""
    for name, values in _CHOICES.items():
        yield f"{name}={'|'.join(values)}"
