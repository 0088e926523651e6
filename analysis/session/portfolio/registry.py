"""The provers by name. A new one is a function here, and its turn in `turns`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from analysis.cpa.algorithm import Cancellation
from analysis.session.portfolio import proofs, runs
from analysis.session.portfolio.request import Answer, Request
from analysis.session.portfolio.turns import ProverName

Prove = Callable[[Request, float, Cancellation], Answer]
"""Answers a request within so many seconds."""


class Prover(NamedTuple):
    """`jointly`: it is asked about all rules of a request at once, and an answer but `Confirmed` is about all of them.
    `asked`: the rules that it is worth asking about."""

    prove: Prove
    jointly: bool = False
    asked: Callable[[Request, tuple[str, ...]], tuple[str, ...]] = lambda _request, rules: rules


PROVERS: Mapping[ProverName, Prover] = {
    "runs": Prover(runs.prove, jointly=True, asked=runs.asked),
    "tree": Prover(runs.prove_by_tree, asked=runs.asked),
    "value": Prover(proofs.by_values),
    "constraints": Prover(proofs.by_constraints),
    "predicate": Prover(proofs.by_predicates),
}
