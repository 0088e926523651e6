"""What provers say of a program as a whole: the rules that are proved of it, the runs that violate one, why others are open."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from analysis.session.provers.asking.answer import Decided, Part

ELSEWHERE = "it is called in runs that do not start from main, too, about which nothing was proved"
UNREACHED = "no entry of the program leads to this function, so nothing was proved"


class Run(NamedTuple):
    """A run that violates a rule."""

    rule: str
    decided: Decided


class ProgramAnswers:
    """The answers. They are about runs from `main`: no other program is asked about as a whole. `reached` are the functions
    that only these runs reach; what other runs reach is among the functions `elsewhere`. `conditions` are the rules that a
    condition on single edges describes, if something could violate them."""

    def __init__(
        self,
        conditions: frozenset[str] = frozenset(),
        reached: frozenset[str] = frozenset(),
        elsewhere: frozenset[str] = frozenset(),
    ) -> None:
        self.conditions, self.reached, self.elsewhere = conditions, reached, elsewhere
        self.proved: dict[str, tuple[Decided, float]] = {}
        self.runs: list[Run] = []
        self.within: dict[str, tuple[Decided, float]] = {}
        self.reasons: dict[str, str] = {}
        self._broken: dict[str, str] = {}

    def add(self, rule: str, decided: Decided, ms: float) -> None:
        """Takes in what is said of one rule."""
        if decided.status == "refuted" and decided.certified:
            self.proved.setdefault(rule, (msgspec.structs.replace(decided, entries=("main",)), ms))
        elif decided.status == "confirmed":
            self.runs.append(Run(rule, decided))
        elif decided.within is not None:
            self.within[rule] = decided, ms
        elif decided.reason:
            self.reasons[rule] = decided.reason
            self._broken[rule] = decided.broken

    def add_part(self, part: Part, ms: float) -> None:
        """Takes in what is said of one of several rules. Where nothing proves, the reason of a proof that failed says more."""
        reason = "" if part.rule in self.conditions else part.reason
        decided = Decided(
            part.status,
            reason=reason,
            observed=part.observed,
            assumptions=part.assumptions,
            steps=part.steps,
            engine=part.engine,
            certified=part.certified,
            certificates=part.certificates,
            unreached=part.unreached,
            run=part.run,
        )
        self.add(part.rule, decided, ms)

    @property
    def violated(self) -> frozenset[tuple[str, str]]:
        """The functions in which runs end that violate a rule, with the rule."""
        return frozenset((run.decided.steps[-1].function, run.rule) for run in self.runs if run.decided.steps)

    @property
    def complete(self) -> dict[str, tuple[Decided, float]]:
        """The rules of which answers within a bound tell that no run violates them, since the bound leaves out none. Findings
        cannot happen then, but nothing is proved."""
        return {
            rule: (msgspec.structs.replace(decided, status="refuted", reason=""), ms)
            for rule, (decided, ms) in self.within.items()
            if decided.within is not None and decided.within.holds and decided.within.complete
        }

    @property
    def open(self) -> dict[str, str]:
        """Why rules are open."""
        return {rule: decided.reason for rule, (decided, _) in self.within.items()} | self.reasons

    def of_function(self, function: str, rule: str) -> tuple[Decided, float] | None:
        """What follows for a rule in a function; None if nothing does."""
        proved = self.proved.get(rule) or self.within.get(rule)
        if proved is not None and function not in self.reached:
            return Decided("possible", reason=ELSEWHERE if function in self.elsewhere else UNREACHED), 0.0
        if proved is not None:
            return proved
        reason = self.reasons.get(rule)
        if reason is None:
            return None
        return Decided("possible", final=False, reason=reason, broken=self._broken.get(rule, "")), 0.0
