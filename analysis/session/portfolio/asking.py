"""Asks the provers in turn until all rules of a request are answered, or its time is used up."""

from __future__ import annotations

import msgspec

from analysis.cfa.marks import is_marked, marks_in
from analysis.cpa.framework.algorithm import Cancellation
from analysis.cpa.obstacles.completeness import contracts_not_followed
from analysis.cpa.obstacles.violable import STATE_RULES
from analysis.engines.symbolic import Confirmed, Refuted
from analysis.engines.symbolic.task import NOT_ASKED
from analysis.model import clock
from analysis.session.portfolio.registry import PROVERS, Prover
from analysis.session.portfolio.request import Answer, Bounded, Proved, Request, Unknown
from analysis.session.portfolio.request_terms import NOT_FOLLOWED, Asked
from analysis.session.portfolio.turns import EARLIER, MOST_EDGES, TURNS, ProverName, Turn

_AGAIN = 2.0  # times as long as the run before took is looked for another one
_AT_LEAST = 0.5  # seconds for that
_REASONS = 2  # that are reported
_MOVED = "the pointer may already be null at an earlier place, where it is moved"
_OVER = 2  # times its share is what a prover may take with its last question and the check of its certificate
_LITTLE = 0.05  # of the time is left for a rule that is proved but for what callers have to keep


class Answers(msgspec.Struct, frozen=True):
    """The answer for each rule. `states`: how many abstract states were made for all of them."""

    by_rule: dict[str, Answer]
    states: int = 0


def ask(request: Request, seconds: float, cancellation: Cancellation | None = None, part: Asked = "all") -> Answers:
    """What the provers say in turn, or a `part` of them. A finding is refuted if they refute it at its edge and where its pointer
    is moved before."""
    cancellation, until = cancellation or Cancellation(), clock.spent() + seconds
    answers = _Asking(request, seconds, cancellation).answers(part)
    for function, edge in request.about.moves:
        if not all(isinstance(answer, Refuted | Proved) for answer in answers.by_rule.values()):
            break
        about = request.about._replace(function=function, edge=edge, expression=None, path=(), moves=())
        moved = _Asking(request._replace(about=about), until - clock.spent(), cancellation).answers()
        states = answers.states + moved.states
        answers = Answers({rule: _besides(answers.by_rule[rule], found) for rule, found in moved.by_rule.items()}, states)
    return answers


def _besides(answer: Answer, moved: Answer) -> Answer:
    """The answer about a finding, which is refuted at its edge, with the one about a place where its pointer is moved before."""
    if isinstance(answer, Refuted | Proved) and isinstance(moved, Refuted | Proved):
        both = dict.fromkeys((*answer.assumptions, *moved.assumptions))
        return msgspec.structs.replace(answer, assumptions=tuple(both))
    return Unknown(_MOVED, final=not isinstance(moved, Unknown) or moved.final)


class _Asking:
    def __init__(self, request: Request, seconds: float, cancellation: Cancellation) -> None:
        self._request, self._cancellation = request, cancellation
        self._began, self._seconds = clock.spent(), seconds
        self._decided: dict[str, Answer] = {}
        self._unknown: dict[str, list[Unknown]] = {rule: [] for rule in request.about.rules}
        self._broken: dict[str, str] = {}
        self._settled: dict[tuple[ProverName, str], Unknown] = {}
        self._states = 0
        self._soon: float | None = None  # seconds that are looked for another run, once there is one

    def answers(self, part: Asked = "all") -> Answers:
        if part == "earlier" and self._request.about.kind == "runs":
            self._by_tree()
        elif part != "others":
            self._from_earlier()
        for turn in self._turns() if part != "earlier" else ():
            if not self._open or self._cancellation.cancelled():
                break
            self._take(turn)
        left = {rule: _together(self._unknown[rule]) for rule in self._open}
        left = {rule: msgspec.structs.replace(one, broken=self._broken.get(rule, "")) for rule, one in left.items()}
        return Answers({**self._decided, **left}, self._states)

    def _from_earlier(self) -> None:
        """What is kept of an earlier proof comes first. Where that is not enough, the turns are as if there were none."""
        for rule in self._worth(PROVERS["earlier"]):
            answer = self._answer(PROVERS["earlier"], (rule,), EARLIER * self._seconds)
            if isinstance(answer, Unknown):
                self._broken[rule] = "" if self._request.kept.of else answer.broken
                self._states += answer.states
            else:
                self._note((rule,), answer, tries=False)
        self._began = clock.spent()

    def _by_tree(self) -> None:
        """Whether the tree of its paths proves a program, as it did before: then no run has to be looked for."""
        rules = self._worth(PROVERS["tree"])
        if rules:
            self._note(rules, self._answer(PROVERS["tree"], rules, self._seconds), tries=False)

    def _turns(self) -> tuple[Turn, ...]:
        """The turns. Findings in large programs are not proved away: nothing would come of it."""
        about, program = self._request.about, self._request.program
        turns = TURNS[about.kind][self._request.terms.engine]
        if self._request.terms.operators:
            return tuple(turn._replace(until=1.0) for turn in turns if turn.prover == "constraints")
        if about.kind == "finding" and sum(len(cfa.edges) for cfa in program.functions.values()) > MOST_EDGES:
            return tuple(turn._replace(until=1.0) for turn in turns if turn.prover == "runs")
        return turns

    @property
    def _open(self) -> list[str]:
        return [rule for rule in self._request.about.rules if rule not in self._decided]

    def _take(self, turn: Turn) -> None:
        prover, until = PROVERS[turn.prover], self._began + turn.until * self._seconds
        if prover.jointly:
            self._jointly(prover, until, tries=turn.tries)
            return
        rules = self._worth(prover)
        for number, rule in enumerate(rules):
            left = (until - clock.spent()) / (len(rules) - number)
            if any(one.is_conditional for one in self._unknown[rule]):
                left = min(left, _LITTLE * self._seconds)
            if left > 0:
                self._note((rule,), self._alone(turn.prover, rule, left), tries=turn.tries)

    def _alone(self, name: ProverName, rule: str, seconds: float) -> Answer:
        """What a prover says of one rule; what it said before, where more time does not change it."""
        before = self._settled.get((name, rule))
        if before is not None:
            return msgspec.structs.replace(before, states=0)
        answer = self._answer(PROVERS[name], (rule,), seconds)
        if isinstance(answer, Unknown) and answer.settled:
            self._settled[name, rule] = answer
        return answer

    def _jointly(self, prover: Prover, until: float, *, tries: bool) -> None:
        """Asks about all open rules; after a run that violates one of them soon once more about the others."""
        if self._soon is not None:
            until = min(until, clock.spent() + self._soon)
        while (rules := self._worth(prover)) and (left := until - clock.spent()) > 0:
            began = clock.spent()
            answer = self._answer(prover, rules, left)
            self._note(rules, answer, tries=tries)
            if not isinstance(answer, Confirmed):
                return
            now = clock.spent()
            self._soon = max(_AT_LEAST, _AGAIN * (now - began))
            until = min(until, now + self._soon)

    def _worth(self, prover: Prover) -> tuple[str, ...]:
        """The open rules that the prover is worth being asked about."""
        open_ = tuple(rule for rule in self._open if prover.speaks_of(self._request, rule))
        open_ = open_ if prover.by_contracts else self._without_contracts(open_)
        rules = prover.asked(self._request, open_)
        for rule in open_:
            if rule not in rules and not self._unknown[rule]:
                self._unknown[rule].append(Unknown(NOT_FOLLOWED, final=True))
        return rules

    def _without_contracts(self, rules: tuple[str, ...]) -> tuple[str, ...]:
        """The rules for which it does not matter that a prover does not follow what contracts of the project say. For the others
        it could neither prove nor refute anything: to it, a function that frees a block does something unknown."""
        reason = "" if STATE_RULES.isdisjoint(rules) else contracts_not_followed(self._request.program)
        if not reason:
            return rules
        for rule in STATE_RULES.intersection(rules):
            if not self._unknown[rule]:
                self._unknown[rule].append(Unknown(reason, final=True))
        return tuple(rule for rule in rules if rule not in STATE_RULES)

    def _answer(self, prover: Prover, rules: tuple[str, ...], seconds: float) -> Answer:
        request = self._request._replace(about=self._request.about._replace(rules=rules))
        with clock.within(_OVER * seconds):
            return prover.prove(request, seconds, self._cancellation)

    def _note(self, rules: tuple[str, ...], answer: Answer, *, tries: bool) -> None:
        match answer:
            case Unknown():
                for rule in () if tries else rules:
                    self._unknown[rule].append(answer)
                self._states += answer.states
            case Confirmed():
                self._decided[answer.observation.kind] = answer
                self._states += answer.spent.states
            case Refuted():
                self._decided.update(dict.fromkeys(rules, answer))
                self._states += answer.spent.states
            case Bounded():
                self._decided.update(dict.fromkeys(rules, answer))
            case Proved():
                self._decided.update(dict.fromkeys(rules, answer))
                self._states += answer.states


def _together(found: list[Unknown]) -> Unknown:
    """The reasons of several provers that did not decide, each clause once."""
    if not found:
        return Unknown("no time was left for it")
    clauses = dict.fromkeys("; ".join(_telling(found)[:_REASONS]).split("; "))
    looked = dict.fromkeys(name for one in found for name in one.looked)
    return Unknown("; ".join(clauses), all(one.final for one in found), tuple(looked), nothing=any(one.nothing for one in found))


def _telling(found: list[Unknown]) -> list[str]:
    """The reasons that say most, the last one first; of those about the same places, the first."""
    reasons = list(dict.fromkeys(one.reason for one in reversed(found)))
    reasons = [one.reason for one in found if one.is_conditional] or reasons
    reasons = [reason for reason in reasons if not reason.startswith(NOT_ASKED)] or reasons
    reasons = [reason for reason in reasons if is_marked(reason)] or reasons  # what names a place says more
    later = [frozenset[str]().union(*map(marks_in, reasons[at + 1 :])) for at in range(len(reasons))]
    return [reason for reason, said in zip(reasons, later, strict=True) if not marks_in(reason) or not marks_in(reason) <= said]
