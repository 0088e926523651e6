"""Proofs for the report of a check: `--engine predicate`, `symbolic` or `value`, and `--certificate FILE`."""

from __future__ import annotations

import time

import msgspec

from analysis.api import Checker
from analysis.certificate import text
from analysis.certificate.annotation import Proof
from analysis.cli.options import Asked
from analysis.cli.output import write
from analysis.cpa.predicates.violations import PROPERTIES, Property
from analysis.model.c_types import ILP32, LP64
from analysis.model.report import FunctionReport, Message, Report, RuleVerdict
from analysis.model.spelling import display_name
from analysis.session.entries import choose_entries
from analysis.session.property_proofs import NOTHING, PropertyProofs, prove_property
from analysis.session.session import Inspection
from analysis.session.withheld import overall

_SECONDS = 30.0  # for one property, if the user does not say


def with_proofs(checker: Checker, asked: Asked, report: Report, until: float | None = None) -> Report:
    """The report with what can be proved, and the certificates written to the file that was asked for. What is proved is safe,
    and what was found there is refuted. `until` is when the whole run must end, on the clock of `time.monotonic`."""
    started = time.perf_counter()
    inspection = checker.inspect()
    entries, _ = choose_entries(inspection.program, asked.options.entries)
    is_whole = not checker.failed and not inspection.unparsed and all(file.parse_errors == 0 for file in report.files)
    annotations: list[Proof] = []
    if not is_whole or not entries:
        report = _with_message(report, "There is no proof of a program that is not understood as a whole")
    else:
        wanted = sorted({rule.name for rule in checker.rules} & PROPERTIES)
        model = ILP32 if asked.options.data_model == "ILP32" else LP64
        for name in wanted:
            property_, began, seconds = msgspec.convert(name, Property), time.perf_counter(), asked.task_timeout or _SECONDS
            if until is not None:
                seconds = max(0.0, min(seconds, until - time.monotonic()))
            found = prove_property(inspection.program, property_, entries, model, seconds, asked.prover or "predicate")
            annotations += [proof.annotation for proof in found.proofs]
            told = _Told(inspection, asked, property_, found, (time.perf_counter() - began) * 1000)
            report = told.report(report)
        unspoken = sorted({rule.name for rule in checker.rules} - PROPERTIES)
        if unspoken and not wanted:
            report = _with_message(report, f"There are no proofs for {', '.join(unspoken)}")
    if asked.certificate is not None:
        write(text.write(annotations, inspection.program, asked.options.data_model), asked.certificate)
        report = _with_message(report, "" if annotations else "Nothing was proved: the certificate claims nothing")
    report = msgspec.structs.replace(report, verdict=overall(report.functions, report.findings, is_whole))
    spent = (time.perf_counter() - started) * 1000
    return msgspec.structs.replace(report, times=msgspec.structs.replace(report.times, prover=report.times.prover + spent))


class _Told:
    """What proofs of one property say in a report."""

    def __init__(self, inspection: Inspection, asked: Asked, property_: Property, found: PropertyProofs, ms: float) -> None:
        places, functions = inspection.places, inspection.program.functions
        self._property, self._found = property_, found
        self._answers = {(display_name(name), places.name_place(name)): found.functions[name] for name in functions}
        self._covered = {places.place(place.function, place.edge) for place in found.covered}
        self._engine, self._certificate = asked.prover or "predicate", asked.certificate
        self._ms = ms / max(1, len(self._answers))

    def report(self, report: Report) -> Report:
        """The report with them."""
        findings = tuple(f for f in report.findings if f.rule != self._property or f.place not in self._covered)
        open_ = {(finding.place.path, finding.function) for finding in findings if finding.rule == self._property}
        told = msgspec.structs.replace(
            report,
            functions=tuple(self._function(function, open_) for function in report.functions),
            findings=findings,
            refuted=report.refuted + len(report.findings) - len(findings),
        )
        reason = self._found.reason
        return told if reason in (None, NOTHING) else _with_message(told, f"Not proved: {self._property}: {reason}")

    def _function(self, function: FunctionReport, open_: set[tuple[str, str]]) -> FunctionReport:
        verdict, answer = function.verdicts.get(self._property), self._answers.get((function.name, function.place))
        is_open = (function.place.path, function.name) in open_
        if verdict is None or answer is None or function.stale or is_open:
            return function
        if answer.reason is not None:
            said = RuleVerdict("unknown", answer.reason, verdict.assumptions, self._engine, ms=self._ms)
        else:
            file = self._certificate
            said = RuleVerdict("safe", None, answer.assumptions, self._engine, certified=True, ms=self._ms, certificate=file)
        return msgspec.structs.replace(function, verdicts={**function.verdicts, self._property: said})


def _with_message(report: Report, sentence: str) -> Report:
    if not sentence:
        return report
    message = Message("note", "", sentence + ".")
    return msgspec.structs.replace(report, messages=(*report.messages, message))
