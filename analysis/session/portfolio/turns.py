"""The order in which provers are asked, and the share of the time after which each one ends ([SYMCEGAR]
section 4).

Cheap provers come first: values, then predicates for a short time, then constraints for programs with few
paths, then predicates again with more time. Runs, and the symbolic execution that looks for runs, are asked
about all rules together; only they confirm. The tree of all paths proves the rules that no run violates,
those about the state of memory included.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from analysis.model.options import Engine
from analysis.session.portfolio.request_terms import Kind

ProverName = Literal["runs", "tree", "ownership", "requirements", "value", "constraints", "predicate", "summary", "earlier"]


class Turn(NamedTuple):
    """A prover, and until which share of the seconds it is its turn. `tries`: another turn says why it decides nothing."""

    prover: ProverName
    until: float
    tries: bool = False


_PROOFS: dict[Engine, tuple[Turn, ...]] = {
    "auto": (Turn("value", 0.15), Turn("predicate", 0.3), Turn("constraints", 0.45), Turn("predicate", 1.0)),
    "value": (Turn("value", 1.0),),
    "symbolic": (Turn("constraints", 1.0),),
    "predicate": (Turn("predicate", 1.0),),
    "summary": (),
    "automaton": (),
}
_RUNS = (Turn("runs", 0.05, tries=True), Turn("predicate", 0.1, tries=True), Turn("runs", 0.65), Turn("tree", 1.0))
# people read the invariants of functions, and those of predicates are the shortest
_VALUES = (Turn("predicate", 0.75), Turn("value", 0.85), Turn("constraints", 0.92), Turn("predicate", 1.0))
TURNS: dict[Kind, dict[Engine, tuple[Turn, ...]]] = {
    "runs": {
        "auto": _RUNS,
        "value": (),
        "symbolic": (Turn("runs", 0.65), Turn("tree", 1.0)),
        "predicate": (),
        "summary": (),
        "automaton": (),
    },
    "program": {**_PROOFS, "summary": (Turn("summary", 1.0),)},
    "contracts": {},  # `contract_proofs` alone
    "function": {
        **_PROOFS,
        "auto": (
            Turn("ownership", 1.0),  # of rules that no other one proves of a function
            Turn("requirements", 0.3),
            *_VALUES,
        ),
    },
    "values": {**_PROOFS, "auto": _VALUES},
    "finding": {
        "auto": (Turn("runs", 0.65), Turn("value", 0.7), Turn("predicate", 1.0)),
        "value": (Turn("value", 1.0),),
        "symbolic": (Turn("runs", 0.8), Turn("constraints", 1.0)),
        "predicate": (Turn("predicate", 1.0),),
        "summary": (),
        "automaton": (),
    },
}
TREE = 0.25  # of the turn of runs about a whole program, for the tree of its paths
INT_UNTIL = 0.7  # of a proof's time: then integers are encoded as bits
BOUNDED: Engine = "summary"
"""The engine whose answers are about runs within a bound. It is only asked about the whole program."""
BOUNDS = "ranges"
"""The engine that is named where bounds of integers prove a rule (`range_proofs`)."""
REUSING: Engine = "predicate"
"""The engine that reuses earlier proofs in all its turns, where it is asked alone."""
EARLIER = 0.25
"""How much of the time for a proof an earlier one may take, before all others and besides their time."""
FROM_EARLIER: tuple[Kind, ...] = ("program", "function", "values")
"""What proofs are reused for, one rule at a time."""
KEEPING: tuple[Kind, ...] = (*FROM_EARLIER, "runs")
"""What proofs are kept of: those of the program that are found with its runs, too."""
MOST_EDGES = 3_000  # of a program that is looked at as a whole
