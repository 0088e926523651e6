"""`--certificate FILE`: the certificates of all that a check proved, in one file."""

from __future__ import annotations

import msgspec

from analysis.api import Checker
from analysis.certificate import text
from analysis.cli.output import write
from analysis.model.report import FunctionReport, Message, Report


def with_certificates(checker: Checker, file: str, report: Report) -> Report:
    """Writes the certificates to the file; the report, in which what is proved names it."""
    program, texts = checker.inspect().program, checker.certificates
    read = [text.read(one, program) for one in texts]
    proofs = [proof for one in read for proof in one.all]
    write(text.write(proofs, program, checker.options.data_model), file)
    functions = tuple(_function(function, file) for function in report.functions)
    note = Message("note", "", "Nothing was proved: the certificate claims nothing.")
    return msgspec.structs.replace(report, functions=functions, messages=report.messages if proofs else (*report.messages, note))


def _function(function: FunctionReport, file: str) -> FunctionReport:
    verdicts = {
        rule: msgspec.structs.replace(verdict, certificate=file) if verdict.certified else verdict
        for rule, verdict in function.verdicts.items()
    }
    return msgspec.structs.replace(function, verdicts=verdicts)
