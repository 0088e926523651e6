"""`--certificate FILE`: the certificates of all that a check proved, in one file; and what they say of loops, for `--witness`."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from analysis.api import Checker
from analysis.certificate import text
from analysis.certificate.annotation import Proof
from analysis.certificate.invariants import invariants
from analysis.cli.command_options import Asked
from analysis.cli.output import write
from analysis.cli.witness.written import ProvedLoop
from analysis.model.c_types import DataModel
from analysis.model.report import FunctionReport, Message, Report
from analysis.model.spelling import display_name
from analysis.session.opened import Inspection


def with_certificates(checker: Checker, file: str, report: Report) -> Report:
    """Writes the certificates to the file; the report, in which what is proved names it."""
    program, texts = checker.inspect().program, checker.certificates
    read = [text.read(one, program) for one in texts]
    proofs = [proof for one in read for proof in one.all]
    write(text.write(proofs, program, checker.options.data_model), file)
    functions = tuple(_function(function, file) for function in report.functions)
    note = Message("note", "", "Nothing was proved: the certificate claims nothing.")
    return msgspec.structs.replace(report, functions=functions, messages=report.messages if proofs else (*report.messages, note))


def with_proofs(asked: Asked) -> Asked:
    """What is asked, with the certificates of what is proved. They name locations as they are numbered in a program that is read
    from nothing, so nothing comes out of a store."""
    return msgspec.structs.replace(asked, store=None, options=msgspec.structs.replace(asked.options, certificates=True))


def proved_loops(checker: Checker, model: DataModel, rule: str) -> Iterator[ProvedLoop]:
    """What the proofs of a rule say of loops."""
    inspection = checker.inspect()
    for one in checker.certificates:
        for proof in text.read(one, inspection.program).annotations:
            if proof.property == rule:
                yield from _loops_of(proof, inspection, model)


def _loops_of(proof: Proof, inspection: Inspection, model: DataModel) -> Iterator[ProvedLoop]:
    for name, cfa in inspection.program.functions.items():
        for head, said in invariants(inspection.program, proof, name, model).items():
            place = inspection.places.place(name, cfa.outgoing[head][0].id)
            yield ProvedLoop(display_name(name), place, said)


def _function(function: FunctionReport, file: str) -> FunctionReport:
    verdicts = {
        rule: msgspec.structs.replace(verdict, certificate=file) if verdict.certified else verdict
        for rule, verdict in function.verdicts.items()
    }
    return msgspec.structs.replace(function, verdicts=verdicts)
