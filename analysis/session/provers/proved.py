"""What is proved of functions, as it is told: their verdicts, and the invariants of their loops."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

import msgspec

from analysis.cfa.graph import Cfa, Places, Program
from analysis.model.report import FunctionReport, Invariant, RuleVerdict
from analysis.session.provers.claims import Key
from analysis.session.provers.decided import Decided

ENGINE = "predicate"


class ProvedFunctions:
    """Tells functions with what is proved of them; what is told again is the same object as before."""

    def __init__(self) -> None:
        self._wanted: dict[str, tuple[Cfa, tuple[str, ...]]] = {}
        self._told: dict[str, tuple[FunctionReport, dict[str, Decided], object, FunctionReport]] = {}

    def wanted(
        self, program: Program, reports: Mapping[str, FunctionReport], rank: Mapping[str, int], rules: Collection[str]
    ) -> list[Key]:
        """What is to be proved: the rules of functions with a rank that are open and that something there could violate, those of
        the lowest rank first."""
        names = sorted(rank, key=lambda name: rank[name])
        self._wanted = {name: known for name, known in self._wanted.items() if name in reports}
        return [
            (name, rule)
            for name in names
            if name in reports and not reports[name].stale
            for rule in self._suspect(program, name, rules)
            if (verdict := reports[name].verdicts.get(rule)) is not None and verdict.verdict == "unknown"
        ]

    def _suspect(self, program: Program, name: str, rules: Collection[str]) -> tuple[str, ...]:
        cfa, known = program.functions[name], self._wanted.get(name)
        if known is None or known[0] is not cfa:
            known = self._wanted[name] = cfa, tuple(_suspect(program, name, rules))
        return known[1]

    def told(
        self,
        functions: Sequence[FunctionReport],
        reports: Mapping[str, FunctionReport],
        answers: Mapping[Key, tuple[Decided, float]],
        program: Program,
        places: Places,
    ) -> tuple[FunctionReport, ...]:
        """The functions with the answers. `reports` are those by linkage name, the same objects as in `functions`."""
        by_name: dict[str, dict[str, tuple[Decided, float]]] = {}
        for (name, rule), answer in answers.items():
            by_name.setdefault(name, {})[rule] = answer
        before, self._told = self._told, {}
        new: dict[int, FunctionReport] = {}
        for name, answered in by_name.items():
            report = reports.get(name)
            if report is not None and name in program.functions and not report.stale:
                new[id(report)] = self._one(name, report, answered, before.get(name), program.functions[name], places)
        return tuple(new.get(id(function), function) for function in functions) if new else tuple(functions)

    def _one(
        self,
        name: str,
        report: FunctionReport,
        answered: Mapping[str, tuple[Decided, float]],
        known: tuple[FunctionReport, dict[str, Decided], object, FunctionReport] | None,
        cfa: Cfa,
        places: Places,
    ) -> FunctionReport:
        decided, version = {rule: answer for rule, (answer, _) in answered.items()}, places.version(name)
        if known is None or known[0] is not report or known[1] != decided or known[2] is not version:
            verdicts = {rule: _verdict(verdict, answered.get(rule)) for rule, verdict in report.verdicts.items()}
            said = tuple(dict.fromkeys(_invariants(name, cfa, decided, places)))
            known = report, decided, version, msgspec.structs.replace(report, verdicts=verdicts, invariants=said)
        self._told[name] = known
        return known[3]


def _suspect(program: Program, name: str, rules: Collection[str]) -> Iterator[str]:
    from analysis.cpa.predicates.violations import PROPERTIES, Property, violations_in  # not before somebody wants proofs

    for rule in rules:
        if rule in PROPERTIES and any(True for _ in violations_in(program, name, msgspec.convert(rule, Property))):
            yield rule


def _verdict(verdict: RuleVerdict, answer: tuple[Decided, float] | None) -> RuleVerdict:
    """A verdict with what a prover says: it only adds to what was open."""
    if answer is None or verdict.verdict != "unknown":
        return verdict
    decided, ms = answer
    if decided.status == "refuted":
        return RuleVerdict("safe", None, decided.assumptions, ENGINE, certified=True, ms=ms)
    return RuleVerdict("unknown", f"not proved: {decided.reason}", verdict.assumptions, ENGINE, ms=ms)


def _invariants(name: str, cfa: Cfa, decided: Mapping[str, Decided], places: Places) -> Iterator[Invariant]:
    for rule, answer in sorted(decided.items()):
        for invariant in answer.invariants:
            yield Invariant(rule, places.place(name, cfa.edges[invariant.edge].id), invariant.text)
