"""What is proved of functions, as it is reported: their verdicts, and the invariants of their loops."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec

from analysis.certificate.ownership.obligations import RULES
from analysis.cfa.callgraph import callers
from analysis.cfa.graph import Cfa, Places, Program
from analysis.cfa.marks import is_marked, with_places
from analysis.cpa.obstacles.violable import Excluded, Violable, may_do
from analysis.cpa.predicates.violations import PROPERTIES, Property, violations_in
from analysis.model.report import IF_KEPT, FunctionReport, Invariant, RuleVerdict, SummaryRepair
from analysis.model.spelling import display_name
from analysis.session.portfolio.request_terms import NOTHING_TO_PROVE, ONLY_BY_PATHS
from analysis.session.portfolio.turns import MOST_EDGES
from analysis.session.provers.asking.answer import Decided
from analysis.session.provers.asking.claim import Key, Wanted, observed
from analysis.session.provers.asking.program_answers import UNREACHED, ProgramAnswers

ENGINE = "auto"
"""The engine that is named where several could not prove something."""
_NO_PLACE = Decided("possible", reason=NOTHING_TO_PROVE, no_place=True)
_BY_PATHS = Decided("possible", reason=ONLY_BY_PATHS)


class _Reported(NamedTuple):
    """A function's report before and after answers were added, and what was added."""

    before: FunctionReport
    decided: Mapping[str, Decided]
    repairs: Mapping[str, SummaryRepair]
    version: object
    after: FunctionReport


class ProvedFunctions:
    """Adds to function reports what is proved of them; what is reported again is the same object as before."""

    def __init__(self) -> None:
        self._wanted: dict[str, tuple[Cfa, tuple[str, ...]]] = {}
        self._around: tuple[object, ...] = ()  # what that rests on besides the functions themselves
        self._rules: frozenset[str] = frozenset()  # those that are shipped: others mean what their files say
        self._conditions: frozenset[str] = frozenset()
        self._violable = Violable()
        self._are_wanted = False  # until somebody wants proofs
        self._understood = True
        self._reported: dict[str, _Reported] = {}

    def wanted(
        self,
        program: Program,
        reports: Mapping[str, FunctionReport],
        rank: Mapping[str, int],
        rules: Collection[str],
        *,
        understood: bool,
        however_large: bool,
    ) -> Wanted:
        """What is to be proved: the rules of functions with a rank that are open and that something there could violate, those of
        the lowest rank first; and the rules in the program as a whole, if any is open and it is small, or `however_large` it is.
        `understood`: all of its text parses."""
        self._understood = understood
        if not rank:
            return Wanted()
        if not self._are_wanted:
            self._violable.look(program)  # here, where a key ends it, and not in the check of the next key
            self._are_wanted = True
        names = sorted(rank, key=lambda name: rank[name])
        self._conditions, self._rules = frozenset(conditions(rules)), frozenset(rules)
        around = _around(program, rules)
        is_same = self._around == around
        self._wanted = {name: known for name, known in self._wanted.items() if name in reports and is_same}
        self._around = around  # after what it was compared for: this may be ended from outside in between
        functions = tuple(
            (name, rule)
            for name in names
            if name in reports and not reports[name].stale
            for rule in (*self._suspect(program, name, rules), *_owned(program, name, rules))
            if (verdict := reports[name].verdicts.get(rule)) is not None and verdict.verdict == "unknown"
        )
        if not however_large and sum(len(cfa.edges) for cfa in program.functions.values()) > MOST_EDGES:
            return Wanted(functions)
        suspect = {rule for name in program.functions for rule in _suspect(program, name, rules)}
        return Wanted(functions, observed(rules), tuple(sorted(suspect)))

    def _suspect(self, program: Program, name: str, rules: Collection[str]) -> tuple[str, ...]:
        cfa, known = program.functions[name], self._wanted.get(name)
        if known is None or known[0] is not cfa:
            known = self._wanted[name] = cfa, tuple(_suspect(program, name, rules))
        return known[1]

    def with_answers(
        self,
        functions: Sequence[FunctionReport],
        reports: Mapping[str, FunctionReport],
        answers: Mapping[Key, tuple[Decided, float]],
        whole: ProgramAnswers,
        program: Program,
        places: Places,
    ) -> tuple[FunctionReport, ...]:
        """The functions with the answers. `reports` are those by linkage name, the same objects as in `functions`."""
        by_name: dict[str, dict[str, tuple[Decided, float]]] = {}
        excluded = self._excluded(program, reports)
        is_any = excluded is not None or whole.proved or whole.within or whole.reasons
        names = reports if is_any else dict.fromkeys([*self._wanted, *(name for name, _ in answers)])
        answers = _without_hidden(answers, reports, program)
        for name in names:
            for rule in reports[name].verdicts if name in reports else ():
                answer = self._answer(name, rule, answers, whole, excluded, program)
                if answer is not None:
                    answer = _spelled(answer, program, places)
                    by_name.setdefault(name, {})[rule] = answer
        before, self._reported = self._reported, {}
        new: dict[int, FunctionReport] = {}
        for name, answered in by_name.items():
            report = reports.get(name)
            if report is not None and name in program.functions and not report.stale:
                repairs = {rule: decided.repairs[name] for rule, (decided, _) in whole.within.items() if name in decided.repairs}
                new[id(report)] = self._one(name, report, answered, repairs, before.get(name), program.functions[name], places)
        return tuple(new.get(id(function), function) for function in functions) if new else tuple(functions)

    def _excluded(self, program: Program, reports: Mapping[str, FunctionReport]) -> Excluded | None:
        """What nothing in the program could violate; None where that is not asked: before somebody wants proofs, and of programs
        of which not all is known."""
        if not self._are_wanted or not self._understood:
            return None
        return self._violable.excluded(program, reports.keys())

    def _answer(
        self,
        name: str,
        rule: str,
        answers: Mapping[Key, tuple[Decided, float]],
        whole: ProgramAnswers,
        excluded: Excluded | None,
        program: Program,
    ) -> tuple[Decided, float] | None:
        """What is known of a rule in a function: by itself, else from the program as a whole, else by its form."""
        own, general = answers.get((name, rule)), whole.of_function(name, rule)
        proofs = [one for one in (own, general) if one is not None and one[0].status == "refuted"]
        if proofs:  # that of all runs is one proof for all functions; one that holds whoever calls a function says more
            return proofs[-1] if proofs[0][0].entries else proofs[0]
        if excluded is not None and rule in self._rules and excluded(name, rule):
            return _NO_PLACE, 0.0
        if general is not None and general[0].reason == UNREACHED:
            return general
        looked = self._wanted.get(name)
        if looked is not None and rule in self._conditions and rule not in looked[1]:
            return Decided("possible", reason=NOTHING_TO_PROVE), 0.0
        known = _open(own, general)
        if known is None and excluded is not None and rule in self._rules - self._conditions and "main" not in program.functions:
            return _BY_PATHS, 0.0
        return known

    def _one(
        self,
        name: str,
        report: FunctionReport,
        answered: Mapping[str, tuple[Decided, float]],
        repairs: Mapping[str, SummaryRepair],
        known: _Reported | None,
        cfa: Cfa,
        places: Places,
    ) -> FunctionReport:
        decided, version = {rule: answer for rule, (answer, _) in answered.items()}, places.version(name)
        is_same = known is not None and (known.before is report and known.version is version)
        if known is None or not is_same or (known.decided, known.repairs) != (decided, repairs):
            verdicts = {
                rule: msgspec.structs.replace(_verdict(name, verdict, answered.get(rule)), repair=repairs.get(rule))
                for rule, verdict in report.verdicts.items()
            }
            said = tuple(dict.fromkeys(_invariants(name, cfa, decided, places)))
            after = msgspec.structs.replace(report, verdicts=verdicts, invariants=said)
            known = _Reported(report, decided, repairs, version, after)
        self._reported[name] = known
        return known.after


def _open(own: tuple[Decided, float] | None, general: tuple[Decided, float] | None) -> tuple[Decided, float] | None:
    """What is known of what is proved neither by itself nor of the program; what broke of a proof is said in any case."""
    if own is None or general is None or own[0].broken or not general[0].broken:
        return own or general
    return msgspec.structs.replace(own[0], broken=general[0].broken), own[1]


def _without_hidden(
    answers: Mapping[Key, tuple[Decided, float]], reports: Mapping[str, FunctionReport], program: Program
) -> Mapping[Key, tuple[Decided, float]]:
    """The answers, without what says that a function has no place of a rule where one without a report, of a system header, may
    have one: it counts for all."""
    unreported = [(name, rule) for (name, rule), (decided, _) in answers.items() if name not in reports and not decided.no_place]
    called = callers(program) if unreported else {}
    hidden = {rule for name, rule in unreported if called.get(name) or name in program.address_taken or "::" not in name}
    kept = {key: one for key, one in answers.items() if not (one[0].no_place and key[1] in hidden)}
    return answers if len(kept) == len(answers) else kept


def _spelled(answer: tuple[Decided, float], program: Program, places: Places) -> tuple[Decided, float]:
    """The answer with its reasons as people read them."""
    reason, broken = answer[0].reason, answer[0].broken
    if not is_marked(reason + broken):
        return answer
    reason, broken = with_places(reason, program, places), with_places(broken, program, places)
    return msgspec.structs.replace(answer[0], reason=reason, broken=broken), answer[1]


def _around(program: Program, rules: Collection[str]) -> tuple[object, ...]:
    """What decides which rules something in a function could violate, besides its own edges: which functions are defined, what
    the project says of others, and where calls through pointers lead."""
    pointed = tuple((name, program.function_type(name)) for name in sorted(program.address_taken))
    return program.functions.keys(), program.contracts, pointed, frozenset(rules)


def conditions(rules: Collection[str]) -> tuple[str, ...]:
    """Those of the rules that a condition on single edges speaks of."""
    return tuple(sorted(PROPERTIES.intersection(rules)))


def _suspect(program: Program, name: str, rules: Collection[str]) -> Iterator[str]:
    for rule in conditions(rules):
        if any(True for _ in violations_in(program, name, msgspec.convert(rule, Property))):
            yield rule


def _owned(program: Program, name: str, rules: Collection[str]) -> Iterator[str]:
    """The rules about blocks and streams that something in a function, or in what it calls, could violate."""
    return (rule for rule in sorted(RULES.intersection(rules)) if may_do(program, name, rule))


def _verdict(name: str, verdict: RuleVerdict, answer: tuple[Decided, float] | None) -> RuleVerdict:
    """A verdict with what a prover says: it only adds to what was open."""
    if answer is None:
        return verdict
    decided, ms = answer
    if verdict.verdict != "unknown":
        return verdict if decided.within is None else msgspec.structs.replace(verdict, within=decided.within)
    if decided.status == "refuted" and decided.certified:
        missed = decided.unreached.count(name)
        note = f"no run reaches {missed} of the places in it where it could be violated" if missed else None
        entries = tuple(map(display_name, decided.entries))
        reused = decided.reuse if decided.reuse.proofs else None
        return RuleVerdict(
            "safe", note, decided.assumptions, decided.engine, certified=True, ms=ms, entries=entries, reused=reused
        )
    if decided.no_place:
        return RuleVerdict("unknown", decided.reason, (), ENGINE, no_place=True)
    if decided.within is not None:
        return RuleVerdict("unknown", decided.reason, decided.assumptions, decided.engine, ms=ms, within=decided.within)
    if decided.reason in (NOTHING_TO_PROVE, UNREACHED):
        return RuleVerdict("unknown", decided.reason, (), decided.engine or ENGINE, ms=ms, unreached=decided.reason == UNREACHED)
    reason = decided.reason if decided.reason.startswith(IF_KEPT) else f"not proved: {decided.reason}"
    broken = decided.broken or None
    return RuleVerdict("unknown", reason, verdict.assumptions, decided.engine or ENGINE, ms=ms, broken=broken)


def _invariants(name: str, cfa: Cfa, decided: Mapping[str, Decided], places: Places) -> Iterator[Invariant]:
    for rule, answer in sorted(decided.items()):
        for invariant in answer.invariants:
            yield Invariant(rule, places.place(name, cfa.edges[invariant.edge].id), invariant.text)
