"""The process that checks a certificate: the front end and the checker, and nothing that looked for the proof.

It reads a `Request` as JSON from standard input. Exit code: 0 accepted, 1 refused, 2 it could not be checked.
"""

from __future__ import annotations

import sys
from pathlib import Path

import click
import msgspec

from analysis.certificate import text
from analysis.certificate.annotation import Proof
from analysis.certificate.checker import check
from analysis.certificate.questions import RefusedError
from analysis.certificate.unwinding import check_unwinding
from analysis.cfa.graph import Program
from analysis.cfa.link import link
from analysis.cli.certificate_request import Request
from analysis.cpa.predicates.violations import violations
from analysis.model.c_types import ILP32, LP64
from analysis.model.options import Options
from analysis.session.building import build
from analysis.session.program_files import find_program
from analysis.smt.transitions.vocabulary import TooLargeError

ACCEPTED, REFUSED, FAILED = 0, 1, 2


def read_program(paths: tuple[str, ...], options: Options) -> Program:
    """The program. Raises RefusedError if a part of it is not understood."""
    found = find_program(paths, options)
    units = [build(path, None, found.flags[path], options, {}) for path in found.files]
    for message in (*found.messages, *(message for unit in units for message in unit.preprocessed.messages)):
        if message.severity == "error":
            raise RefusedError(f"{message.path}: {message.text}")
    if not units or any(unit.parse_errors or unit.unit.broken for unit in units):
        raise RefusedError("not all of the program is understood")
    return link([unit.unit for unit in units]).program


def main() -> int:
    """Checks the certificate that the request names."""
    request = msgspec.json.decode(sys.stdin.buffer.read(), type=Request)
    try:
        program = read_program(request.paths, request.options)
        certificate = text.read(Path(request.certificate).read_bytes(), program)
        if certificate.data_model != request.options.data_model:
            raise RefusedError(f"the certificate is about {certificate.data_model} programs: use --data-model")
        if not certificate.annotations and not certificate.unwindings:
            raise RefusedError("it claims nothing")
        model = ILP32 if certificate.data_model == "ILP32" else LP64
        for annotation in certificate.annotations:
            checked = check(program, annotation, model)
            click.echo(f"accepted: no run from {annotation.entry} violates {annotation.property} ({_scope(program, annotation)})")
            for assumption in checked.assumptions:
                click.echo(f"  assumed: {assumption}")
        for claim in certificate.unwindings:
            unwound = check_unwinding(program, claim, model)
            click.echo(f"accepted: no run from {claim.entry} violates {', '.join(claim.rules)} (on any path)")
            for assumption in unwound.assumptions:
                click.echo(f"  assumed: {assumption}")
    except (RefusedError, TooLargeError) as refused:
        click.echo(f"refused: {refused}")
        return REFUSED
    except OSError as error:
        click.echo(f"everproof: {error.filename}: {error.strerror}.", err=True)
        return FAILED
    return ACCEPTED


def _scope(program: Program, annotation: Proof) -> str:
    """At how many of the places at which the property can be violated."""
    all_ = {(violation.function, violation.edge) for violation in violations(program, annotation.property)}
    claimed = len(all_.intersection(annotation.edges))
    return f"at any of {len(all_)} places" if claimed == len(all_) else f"at {claimed} of {len(all_)} places"


if __name__ == "__main__":
    sys.exit(main())
