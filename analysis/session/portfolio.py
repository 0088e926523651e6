"""Several engines on one question, the cheap ones first (SYMCEGAR section 4; DESIGN.md section 8): is a property of a whole
program violated?

Value analysis proves what needs few values, predicate analysis what it can prove at once. Runs and symbolic execution confirm
violations. Symbolic execution with CEGAR proves programs of few paths, predicate analysis with more time the others. What
symbolic execution excludes is proved by the tree of its paths, if there are only so many. `safe` is what has an accepted
certificate, and nothing else: that symbolic execution finds no violation is a reason for `unknown`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Literal, get_args

import msgspec

from analysis.certificate.annotation import Proof
from analysis.certificate.outcome import Proved, Unproved
from analysis.certificate.questions import RefusedError
from analysis.certificate.unwinding import Unwinding, check_unwinding, unwind
from analysis.cpa.algorithm import Cancellation
from analysis.cpa.predicates.violations import PROPERTIES, Property, Violation, violations
from analysis.engines.predicate.decide import PredicateOptions
from analysis.engines.predicate.decide import prove as prove_by_predicates
from analysis.engines.symbolic import Confirmed, ProgramTask, Refuted, decide_program
from analysis.engines.symbolic.cegar import CegarOptions
from analysis.engines.symbolic.cegar import prove as prove_by_constraints
from analysis.engines.value.decide import prove as prove_by_values
from analysis.smt.encoding.formula import Mode

Engine = Literal["value", "symbolic", "predicate", "auto"]
ENGINES: tuple[Engine, ...] = get_args(Engine)
_MODES: tuple[tuple[Mode, float], ...] = (("int", 0.7), ("bv", 1.0))  # encodings, and until which share of what is left
_UNWINDING = 0.2  # of the seconds, to make the tree of paths
_EXCLUDED = "no run violates it as far as symbolic execution tells, which has no certificate for that"

Prove = Callable[[tuple[Violation, ...], float], Proved | Unproved]
"""Looks for a proof about violations of one property, for so many seconds."""


class Answer(msgspec.Struct, frozen=True):
    """`safe`: no run violates any of the rules; `certificates` has accepted proofs of that. `violated`: `confirmed` is
    the run. `unknown`: `reason` says why."""

    verdict: Literal["safe", "violated", "unknown"]
    reason: str = ""
    assumptions: tuple[str, ...] = ()
    confirmed: Confirmed | None = None
    certificates: tuple[Proof | Unwinding, ...] = ()


def answer(task: ProgramTask, engine: Engine = "auto", cancellation: Cancellation | None = None) -> Answer:
    """What the engine, or all of them in turn, say about a task within its seconds. KeyError if there is no `main`."""
    return _Asking(task, cancellation).answer(engine)


class _Asking:
    def __init__(self, task: ProgramTask, cancellation: Cancellation | None) -> None:
        self._task, self._cancellation = task, cancellation
        self._began = time.monotonic()

    def answer(self, engine: Engine) -> Answer:
        reasons: list[str] = []
        for until, ask in self._turns(engine):
            seconds = self._began + until * self._task.effort.seconds - time.monotonic()
            found = ask(seconds) if seconds > 0 else "there was no time left"
            if isinstance(found, Answer):
                return found
            reasons.append(found)
        return Answer("unknown", "; ".join(dict.fromkeys(reversed(reasons))))

    def _turns(self, engine: Engine) -> Iterator[tuple[float, Callable[[float], Answer | str]]]:
        """Who is asked, one after the other, and until which share of the seconds."""
        match engine:
            case "value":
                yield 1.0, self._by_values
            case "symbolic":
                yield from ((0.6, self._by_runs), (1.0, self._by_constraints))
            case "predicate":
                yield 1.0, self._by_predicates
            case "auto":
                yield from ((0.1, self._by_values), (0.15, self._by_predicates), (0.4, self._by_runs))
                yield from ((0.55, self._by_constraints), (1.0, self._by_predicates))

    # -- engines ------------------------------------------------------------------------------------------------

    def _by_runs(self, seconds: float) -> Answer | str:
        """Runs, and symbolic execution that looks for them: nothing else confirms."""
        effort = msgspec.structs.replace(self._task.effort, seconds=seconds)
        decision = decide_program(self._task._replace(effort=effort), self._cancellation)
        if isinstance(decision, Confirmed):
            return Answer("violated", assumptions=decision.assumptions, confirmed=decision)
        return self._by_unwinding() if isinstance(decision, Refuted) else decision.reason

    def _by_unwinding(self) -> Answer | str:
        """What symbolic execution excludes, proved by the tree of paths, if there are only so many."""
        task, until = self._task, time.monotonic() + _UNWINDING * self._task.effort.seconds
        claim = Unwinding("main", tuple(sorted(task.rules)), (), 0, task.allocation_fails, task.outside_writes)
        milliseconds = task.effort.query_milliseconds
        try:
            made = unwind(task.program, claim, task.model, milliseconds, lambda: time.monotonic() < until)
            checked = check_unwinding(task.program, made, task.model)
        except RefusedError as refused:
            return f"{_EXCLUDED}: {refused}"
        return Answer("safe", assumptions=checked.assumptions, certificates=(made,))

    def _by_values(self, seconds: float) -> Answer | str:
        def prove(wanted: tuple[Violation, ...], left: float) -> Proved | Unproved:
            task = self._task
            return prove_by_values(task.program, wanted, "main", task.model, seconds=left, cancellation=self._cancellation)

        return self._proved(prove, seconds)

    def _by_constraints(self, seconds: float) -> Answer | str:
        def prove(wanted: tuple[Violation, ...], left: float, mode: Mode) -> Proved | Unproved:
            task, options = self._task, CegarOptions(mode=mode, seconds=left)
            return prove_by_constraints(task.program, wanted, "main", task.model, options, self._cancellation)

        return self._proved(_in_modes(prove), seconds)

    def _by_predicates(self, seconds: float) -> Answer | str:
        def prove(wanted: tuple[Violation, ...], left: float, mode: Mode) -> Proved | Unproved:
            task, options = self._task, PredicateOptions(mode=mode, seconds=left)
            return prove_by_predicates(task.program, wanted, "main", task.model, options, self._cancellation)

        return self._proved(_in_modes(prove), seconds)

    # -- proofs -------------------------------------------------------------------------------------------------

    def _proved(self, prove: Prove, seconds: float) -> Answer | str:
        """A proof for each rule; or why there is none."""
        rules = self._task.rules
        unknown = sorted(rules - PROPERTIES)
        if unknown or not rules:
            return f"proofs have no words for {unknown[0]}" if unknown else "there is no rule"
        until = time.monotonic() + seconds
        found: list[Proved] = []
        for number, name in enumerate(sorted(rules)):
            wanted = violations(self._task.program, msgspec.convert(name, Property))
            proof = prove(wanted, (until - time.monotonic()) / (len(rules) - number))
            if isinstance(proof, Unproved):
                return proof.reason
            found.append(proof)
        return _safe(found)


def _in_modes(prove: Callable[[tuple[Violation, ...], float, Mode], Proved | Unproved]) -> Prove:
    """Looks for a proof in one encoding of integers after the other; the reason is that of the first one."""

    def prove_(wanted: tuple[Violation, ...], seconds: float) -> Proved | Unproved:
        began, first = time.monotonic(), None
        for mode, share in _MODES:
            left = began + share * seconds - time.monotonic()
            found = prove(wanted, left, mode) if left > 0 else first
            if isinstance(found, Proved):
                return found
            first = first or found
        assert first is not None, "there is time for the first encoding"
        return first

    return prove_


def _safe(proofs: Sequence[Proved]) -> Answer:
    assumptions = dict.fromkeys(assumption for proof in proofs for assumption in proof.assumptions)
    return Answer("safe", assumptions=tuple(assumptions), certificates=tuple(proof.annotation for proof in proofs))
