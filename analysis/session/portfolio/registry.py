"""The provers by name. A new one is a function here, and its turn in `turns`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from analysis.cpa.framework.algorithm import Cancellation
from analysis.session.portfolio import bounded_answers, certified_proofs, searched_runs
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
    "runs": Prover(searched_runs.prove, jointly=True, asked=searched_runs.asked),
    "tree": Prover(searched_runs.prove_by_tree, asked=searched_runs.asked),
    "value": Prover(certified_proofs.by_values),
    "constraints": Prover(certified_proofs.by_constraints),
    "predicate": Prover(certified_proofs.by_predicates),
    "summary": Prover(bounded_answers.by_summaries),
}
