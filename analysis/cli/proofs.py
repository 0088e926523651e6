"""Proofs for the report of a check: `--engine predicate`, `--engine value` and `--certificate FILE`."""

from __future__ import annotations

import time

import msgspec

from analysis.api import Checker
from analysis.certificate import text
from analysis.certificate.annotation import Proof
from analysis.certificate.outcome import Proved
from analysis.cli.options import Asked
from analysis.cli.output import write
from analysis.cpa.predicates.violations import PROPERTIES, Property, violations
from analysis.engines.predicate.decide import PredicateOptions, prove
from analysis.engines.value.decide import prove as prove_by_values
from analysis.model.c_types import ILP32, LP64
from analysis.model.places import Place
from analysis.model.report import FunctionReport, Message, Report, RuleVerdict
from analysis.session.session import Inspection

_SECONDS = 30.0  # for one property, if the user does not say


def with_proofs(checker: Checker, asked: Asked, report: Report) -> Report:
    """The report with what can be proved, and the certificates written to the file that was asked for.

    A property that is proved for the whole program is safe in every function, and what was found of it is refuted."""
    started, entry, why = time.perf_counter(), _entry(asked), ""
    inspection = checker.inspect()
    program = inspection.program
    is_whole = not checker.failed and not inspection.unparsed and all(file.parse_errors == 0 for file in report.files)
    if entry is None or entry not in program.functions:
        why = "Proofs are about programs with one entry: use --entry"
    elif not is_whole:
        why = "There is no proof of a program that is not understood as a whole"
    annotations: list[Proof] = []
    if why:
        report = _with_message(report, why)
    else:
        assert entry is not None
        for property_ in (msgspec.convert(name, Property) for name in sorted({rule.name for rule in checker.rules} & PROPERTIES)):
            report = _with_property(inspection, asked, report, property_, entry, annotations)
    if asked.certificate is not None:
        write(text.write(annotations, program, asked.options.data_model), asked.certificate)
        report = _with_message(report, "" if annotations else "Nothing was proved: the certificate claims nothing")
    spent = (time.perf_counter() - started) * 1000
    return msgspec.structs.replace(report, times=msgspec.structs.replace(report.times, prover=report.times.prover + spent))


def _entry(asked: Asked) -> str | None:
    entries = asked.options.entries or ("main",)
    return entries[0] if len(entries) == 1 else None


def _with_property(
    inspection: Inspection, asked: Asked, report: Report, property_: Property, entry: str, annotations: list[Proof]
) -> Report:
    program, started = inspection.program, time.perf_counter()
    wanted = violations(program, property_)
    seconds, model = asked.task_timeout or _SECONDS, ILP32 if asked.options.data_model == "ILP32" else LP64
    if asked.prover == "value":
        found = prove_by_values(program, wanted, entry, model, seconds=seconds)
    else:
        found = prove(program, wanted, entry, model, PredicateOptions(seconds=seconds))
    ms = (time.perf_counter() - started) * 1000
    if isinstance(found, Proved):
        annotations.append(found.annotation)
        places = {inspection.places.place(violation.function, violation.edge) for violation in wanted}
        verdict = RuleVerdict("safe", None, found.assumptions, asked.prover or "predicate", certified=True, ms=ms)
        return _proved(report, property_, places, verdict)
    return _with_message(report, f"Not proved: {property_}: {found.reason}")


def _proved(report: Report, property_: Property, places: set[Place], verdict: RuleVerdict) -> Report:
    findings = tuple(f for f in report.findings if f.rule != property_ or f.place not in places)
    kept = {finding.function for finding in findings if finding.rule == property_}

    def told(function: FunctionReport) -> FunctionReport:
        if function.stale or property_ not in function.verdicts or function.name in kept:
            return function
        return msgspec.structs.replace(function, verdicts={**function.verdicts, property_: verdict})

    functions = tuple(told(function) for function in report.functions)
    is_safe = all(one.verdict == "safe" for function in functions for one in function.verdicts.values())
    return msgspec.structs.replace(
        report,
        verdict="violated" if findings else "safe" if is_safe and functions else "unknown",
        functions=functions,
        findings=findings,
        refuted=report.refuted + len(report.findings) - len(findings),
    )


def _with_message(report: Report, sentence: str) -> Report:
    if not sentence:
        return report
    message = Message("note", "", sentence + ".")
    return msgspec.structs.replace(report, messages=(*report.messages, message))
