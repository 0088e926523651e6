"""The provers by name. A new one is a function here, and its turn in `turns`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from analysis.certificate.nonzero.needed_values import RULES as NONZERO
from analysis.certificate.ownership.obligations import RULES
from analysis.cpa.framework.algorithm import Cancellation
from analysis.session.portfolio import bounded_answers, certified_proofs, ownership_proofs, required_proofs, searched_runs
from analysis.session.portfolio.request import Answer, Request
from analysis.session.portfolio.turns import BOUNDED, FROM_EARLIER, REUSING, ProverName

Prove = Callable[[Request, float, Cancellation], Answer]
"""Answers a request within so many seconds."""


class Prover(NamedTuple):
    """`jointly`: it is asked about all rules of a request at once, and an answer but `Confirmed` is about all of them.
    `by_contracts`: it follows what only contracts of the project say that functions do to blocks and streams.
    `asked`: the rules that it is worth asking about. `speaks_of`: whether it has anything to say of a rule, a reason included."""

    prove: Prove
    jointly: bool = False
    by_contracts: bool = False
    asked: Callable[[Request, tuple[str, ...]], tuple[str, ...]] = lambda _request, rules: rules
    speaks_of: Callable[[Request, str], bool] = lambda _request, _rule: True


def _owns(_request: Request, rule: str) -> bool:
    return rule in RULES


def _needs_values(_request: Request, rule: str) -> bool:
    return rule in NONZERO


def _leaves(request: Request, rule: str) -> bool:
    """For provers that only say of these rules that they do not prove them."""
    return request.about.kind != "function" or rule not in RULES or request.terms.engine != "auto"


def _has_earlier(request: Request, _rule: str) -> bool:
    """Where an earlier proof is kept, for an engine that does not itself begin with it."""
    terms, is_about_proofs = request.terms, request.about.kind in FROM_EARLIER
    return is_about_proofs and bool(request.kept.text) and terms.reuse != "none" and terms.engine not in (REUSING, BOUNDED)


PROVERS: Mapping[ProverName, Prover] = {
    "runs": Prover(searched_runs.prove, jointly=True, asked=searched_runs.asked),
    "tree": Prover(searched_runs.prove_by_tree, asked=searched_runs.asked),
    "ownership": Prover(ownership_proofs.prove, by_contracts=True, speaks_of=_owns),
    "requirements": Prover(required_proofs.prove, speaks_of=_needs_values),
    "value": Prover(certified_proofs.by_values, speaks_of=_leaves),
    "constraints": Prover(certified_proofs.by_constraints, speaks_of=_leaves),
    "predicate": Prover(certified_proofs.by_predicates, speaks_of=_leaves),
    "summary": Prover(bounded_answers.by_summaries),
    "earlier": Prover(certified_proofs.by_earlier_proof, speaks_of=_has_earlier),
}
