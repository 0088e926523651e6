"""Several engines on one question, the cheap ones first (SYMCEGAR section 4; DESIGN.md section 8): is a property of a whole
program violated?

Value analysis proves what needs few values. Runs and symbolic execution confirm violations, and settle programs of few paths;
predicate analysis proves the others, with a certificate. What symbolic execution refutes is given to it, too, to be certified.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Literal, get_args

import msgspec

from analysis.certificate.annotation import Proof
from analysis.certificate.outcome import Proved
from analysis.cpa.algorithm import Cancellation
from analysis.cpa.predicates.violations import PROPERTIES, Property, violations
from analysis.engines.predicate.decide import PredicateOptions, prove
from analysis.engines.symbolic import Confirmed, ProgramTask, Refuted, decide_program
from analysis.engines.value.decide import prove as prove_by_values
from analysis.smt.encoding.formula import Mode

Engine = Literal["value", "symbolic", "predicate", "auto"]
ENGINES: tuple[Engine, ...] = get_args(Engine)
_VALUES, _FIRST = 0.1, 0.4  # of the seconds, for value analysis; for runs and symbolic execution
_PROOFS: tuple[tuple[Mode, float], ...] = (("int", 0.7), ("bv", 1.0))  # encodings, and until which share of what is left


class Answer(msgspec.Struct, frozen=True):
    """`safe`: no run violates any of the rules; `certificates` has an accepted annotation for each of them, or is empty if only
    symbolic execution says so. `violated`: `confirmed` is the run. `unknown`: `reason` says why."""

    verdict: Literal["safe", "violated", "unknown"]
    reason: str = ""
    assumptions: tuple[str, ...] = ()
    confirmed: Confirmed | None = None
    certificates: tuple[Proof, ...] = ()


def answer(task: ProgramTask, engine: Engine = "auto", cancellation: Cancellation | None = None) -> Answer:
    """What the engine, or all of them in turn, say about a task within its seconds. KeyError if there is no `main`."""
    began, seconds = time.monotonic(), task.effort.seconds
    reasons: list[str] = []
    refuted: Refuted | None = None
    if engine in ("value", "auto") and task.rules == {"assertion"}:
        wanted, share = violations(task.program, "assertion"), _VALUES if engine == "auto" else 1.0
        by_values = prove_by_values(task.program, wanted, "main", task.model, seconds=share * seconds, cancellation=cancellation)
        if isinstance(by_values, Proved):
            return Answer("safe", assumptions=by_values.assumptions, certificates=(by_values.annotation,))
        reasons.append(by_values.reason)
    if engine in ("symbolic", "auto"):
        share = 1.0 if engine == "symbolic" else _FIRST
        effort = msgspec.structs.replace(task.effort, seconds=share * seconds)
        decision = decide_program(task._replace(effort=effort), cancellation)
        if isinstance(decision, Confirmed):
            return Answer("violated", assumptions=decision.assumptions, confirmed=decision)
        if isinstance(decision, Refuted):
            refuted = decision
        else:
            reasons.append(decision.reason)
    if engine in ("predicate", "auto"):
        proofs = _proofs(task, began + seconds, cancellation)
        if isinstance(proofs, str):
            reasons.append(proofs)
        else:
            assumptions = dict.fromkeys(assumption for proof in proofs for assumption in proof.assumptions)
            return Answer("safe", assumptions=tuple(assumptions), certificates=tuple(proof.annotation for proof in proofs))
    if refuted is not None:
        return Answer("safe", assumptions=refuted.assumptions)
    return Answer("unknown", "; ".join(reasons[::-1]) or "value analysis knows error calls only")


def _proofs(task: ProgramTask, deadline: float, cancellation: Cancellation | None) -> Sequence[Proved] | str:
    """A proof for each rule; or why there is none."""
    unknown = sorted(task.rules - PROPERTIES)
    if unknown or not task.rules:
        return f"predicate analysis has no words for {unknown[0]}" if unknown else "there is no rule"
    found: list[Proved] = []
    for number, name in enumerate(sorted(task.rules)):
        left = (deadline - time.monotonic()) / (len(task.rules) - number)
        proof = _proof(task, msgspec.convert(name, Property), left, cancellation)
        if isinstance(proof, str):
            return proof
        found.append(proof)
    return found


def _proof(task: ProgramTask, property_: Property, seconds: float, cancellation: Cancellation | None) -> Proved | str:
    began, why = time.monotonic(), "there was no time to look for a proof"
    wanted = violations(task.program, property_)
    for mode, share in _PROOFS:
        left = began + share * seconds - time.monotonic()
        if left <= 0:
            continue
        proved = prove(task.program, wanted, "main", task.model, PredicateOptions(mode=mode, seconds=left), cancellation)
        if isinstance(proved, Proved):
            return proved
        why = proved.reason if mode == "int" else why
    return why
