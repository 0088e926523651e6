"""What encoding a path gives: formulas that say how far they can be trusted, and the inputs that a model chooses.

An encoding errs to one side only: where C cannot be said exactly, a value is left open, so that the formula has more models than
the program has runs. So `unsat` always means that no run exists (under the assumptions); `sat` means that one exists only if
nothing was approximated, and is else a candidate that must be replayed.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from analysis.c.undefined import EdgeRule
from analysis.model.c_types import Type
from analysis.smt.logic.term_building import TRUE
from analysis.smt.logic.terms import Sort, Term

Mode = Literal["int", "bv"]

FailureKind = EdgeRule

InputKind = Literal["parameter", "result", "allocation", "unknown", "undefined", "memory"]


class Formula(msgspec.Struct, frozen=True):
    """A conjunction, what in it is approximated, and what it assumes of the program.

    `approximations` are sentences about values that were left open; with none, a model is a run. `assumptions` are sentences
    that narrow the runs that are spoken about: no signed overflow, accesses stay inside their objects.
    """

    conjuncts: tuple[Term, ...]
    approximations: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()

    @property
    def is_exact(self) -> bool:
        """Whether `sat` can be believed without a replay."""
        return not self.approximations


class Input(msgspec.Struct, frozen=True):
    """A value that the program does not compute itself, in the order in which a run needs them.

    `term` is its symbol; `type` its C type; `step` is how many edges were taken before the one that asks for it (0: what the
    entry function starts with). `name` is what a person would call it: a parameter, a global, `getchar()`.

    - parameter: an argument of the entry function;
    - result: what a call returned that was not followed;
    - allocation: whether an allocation found memory, of sort Bool;
    - unknown: an `ir.Unknown`;
    - undefined: what an object without initialiser holds (C11 6.7.9p10);
    - memory: what an object holds that the path did not write: at its start, or since a call was not followed that could write
      it. `name` is the object's, `region` its number; `address` where in it, in bytes from its start, outside from address 0.
    """

    term: Term
    kind: InputKind
    name: str
    type: Type
    step: int
    address: Term | None = None
    region: int | None = None


class Condition(msgspec.Struct, frozen=True):
    """When an edge violates a rule: `formula` says that the path is taken up to the edge and that the edge then fails.

    `text` says for a person what fails, such as `p is null`.
    """

    kind: FailureKind
    formula: Formula
    text: str


class Ledger:
    """What encoding leaves behind besides terms: constraints, sentences, and the supply of fresh symbols.

    `constraints` are to be conjoined with whatever uses the terms: the axioms of fresh symbols, and what is assumed about the
    operations (that a signed sum does not overflow). Names of fresh symbols depend on the order of the requests alone, so that
    the same path has the same formula in every process.
    """

    def __init__(self, prefix: str = "") -> None:
        self.prefix = prefix
        self.constraints: list[Term] = []
        self._constrained: set[Term] = set()
        self._approximations: dict[str, None] = {}
        self._assumptions: dict[str, None] = {}
        self._next: dict[str, int] = {}

    def fresh(self, name: str, sort: Sort) -> Term:
        """A symbol that was not used yet; its name starts with the given one."""
        number = self._next.get(name, 0)
        self._next[name] = number + 1
        return Term("symbol", (), sort, f"{self.prefix}{name}#{number}")

    def constrain(self, formula: Term) -> None:
        """Notes a constraint, if it says anything new."""
        if formula is not TRUE and formula not in self._constrained:
            self._constrained.add(formula)
            self.constraints.append(formula)

    def approximate(self, sentence: str) -> None:
        """Notes that a value was left open."""
        self._approximations[sentence] = None

    def assume(self, sentence: str) -> None:
        """Notes an assumption: the formula leaves out the runs that violate it."""
        self._assumptions[sentence] = None

    @property
    def approximations(self) -> tuple[str, ...]:
        """Why values are approximated: a sentence for each reason, each once, in order."""
        return tuple(self._approximations)

    @property
    def assumptions(self) -> tuple[str, ...]:
        """The assumptions that were noted, each once, in order."""
        return tuple(self._assumptions)

    def copy(self) -> Ledger:
        """An independent copy."""
        other = Ledger(self.prefix)
        other.constraints = list(self.constraints)
        other._constrained = set(self._constrained)
        other._approximations = dict(self._approximations)
        other._assumptions = dict(self._assumptions)
        other._next = dict(self._next)
        return other
