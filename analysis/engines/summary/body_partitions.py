"""Partitions: what is known of one function body as a formula, in which each call has a slot ([UPPROVER] section 2.1).

Symbols of a partition have canonical names, so that a formula says the same of every call of the function, in every revision:

- `in:@g`, `in:0`, `in:1.64`: a shared variable, or a part of a parameter (by position), when the function is entered;
- `out:@g`, `out:$result`: a shared variable, or the result, when the function returns;
- `returns`, `error`, `flaw`, `cut`: the call returns; it comes to a violation; to something that is not modelled; to the bound;
- `0>g/in:0`: the same of a call that the body makes (`Slot.of`), and `0>g/called`: that the body comes to this call;
- `local:3`: any other.

All conjuncts are implications from literals, but for axioms: the ranges of the symbols' types. So a partition is true of any
inputs if its literals are false, and a call whose outputs do not matter can be left out of a model.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping

import msgspec

from analysis.smt.logic.substitution import Substitution
from analysis.smt.logic.term_building import FALSE, TRUE, not_, symbol
from analysis.smt.logic.terms import BOOL, Term, symbols

ERROR, FLAW, CUT, RETURNS = (symbol(name, BOOL) for name in ("error", "flaw", "cut", "returns"))
LITERALS = (ERROR, FLAW, CUT, RETURNS)
_CALLED = "called"
_FUNCTION = "fn!"  # what names of uninterpreted functions begin with: they are the same in all formulas


class Slot(msgspec.Struct, frozen=True):
    """A call that a body makes. `key` identifies it within the body, over revisions."""

    key: str
    callee: str

    @property
    def called(self) -> Term:
        """The symbol that is true if the body comes to this call."""
        return symbol(f"{self.key}/{_CALLED}", BOOL)

    def of(self, canonical: Term) -> Term:
        """The symbol of the partition that stands for a canonical symbol of the called function."""
        return symbol(f"{self.key}/{canonical.data}", canonical.sort)


class Partition(msgspec.Struct, frozen=True):
    """The formula of one body, the conjunction of `conjuncts`.

    `inputs` and `outputs` are its canonical symbols, without the literals. `depends` says which symbols each symbol is determined
    by: those of outputs and literals, and of what calls are passed. `violations` and `flaws` are local literals, each true if the
    body reaches it, with the edge of the violation, or a sentence about the flaw. `loops_are_cut`: the bound leaves out rounds
    of a loop. `reached`, which is no part of the conjuncts, holds only if the body reaches a check (`reached_places`).
    """

    function: str
    conjuncts: tuple[Term, ...]
    inputs: tuple[Term, ...]
    outputs: tuple[Term, ...]
    slots: tuple[Slot, ...]
    depends: Mapping[Term, tuple[Term, ...]]
    violations: tuple[tuple[Term, int], ...]
    flaws: tuple[tuple[Term, str], ...]
    loops_are_cut: bool
    digest: bytes
    reached: Term = TRUE

    @property
    def interface(self) -> frozenset[Term]:
        """What a summary may speak of."""
        return frozenset((*self.inputs, *self.outputs, *LITERALS))


def without_body(partition: Partition) -> Partition:
    """The partition of a call that the bound does not follow: it reaches nothing but the bound."""
    return msgspec.structs.replace(
        partition,
        conjuncts=(not_(ERROR), not_(FLAW), not_(RETURNS)),
        slots=(),
        depends={},
        violations=(),
        flaws=(),
        loops_are_cut=True,
        digest=b"not followed",
        reached=FALSE,
    )


def digest_of(conjuncts: Iterable[Term], slots: Iterable[Slot]) -> bytes:
    """16 bytes that depend on what a partition says."""
    hasher = hashlib.blake2b(digest_size=16)
    for term in conjuncts:
        hasher.update(term.digest)
    for slot in slots:
        hasher.update(f"{slot.key}\0".encode())
    return hasher.digest()


class Instance:
    """The symbols of one call in a formula of many: canonical ones get the number of the call, those of slots the number of the
    call in the slot."""

    def __init__(self, number: int, slots: Mapping[str, int]) -> None:
        self._number = number
        self._slots = slots
        self._put = Substitution(self.symbol)

    def symbol(self, canonical: Term) -> Term:
        """The symbol that a symbol of the partition, or of a summary, stands for."""
        name = str(canonical.data)
        if name.startswith(_FUNCTION):
            return canonical
        key, slash, rest = name.partition("/")
        if slash and rest != _CALLED and key in self._slots:
            return symbol(f"{rest}%{self._slots[key]}", canonical.sort)
        return symbol(f"{name}%{self._number}", canonical.sort)

    def __call__(self, term: Term) -> Term:
        """A formula of the partition, or a summary, about this call."""
        return self._put(term)


def speaks_only_of(term: Term, allowed: frozenset[Term], functions: frozenset[Term] | None = None) -> bool:
    """Whether a formula has no other symbols, but for uninterpreted functions: these, if they are given, else any."""
    others = frozenset(symbols((term,))) - allowed
    return all(map(_is_function, others)) if functions is None else others <= functions


def functions_of(partitions: Iterable[Partition]) -> frozenset[Term]:
    """The uninterpreted functions that bodies speak of."""
    distinct = {partition.digest: partition.conjuncts for partition in partitions}
    return frozenset(one for conjuncts in distinct.values() for one in symbols(conjuncts) if _is_function(one))


def _is_function(one: Term) -> bool:
    return str(one.data).startswith(_FUNCTION)


def conjuncts_of(term: Term) -> tuple[Term, ...]:
    """The top-level conjuncts of a formula."""
    return term.args if term.op == "and" else (term,)
