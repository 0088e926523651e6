"""The process that checks a certificate: the front end and the checker, and nothing that looked for the proof.

It reads a `Request` as JSON from standard input. Exit code: 0 accepted, 1 refused, 2 it could not be checked, 3 accepted, but not
about all places.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence

import click
import msgspec

from analysis.certificate import text
from analysis.certificate.annotation import Annotation
from analysis.certificate.checker import check
from analysis.certificate.claimed import Coverage, Place, coverage, unreached
from analysis.certificate.later_version import claimed_of
from analysis.certificate.nonzero.claims import Requirements
from analysis.certificate.nonzero.requirement_checker import check_requirements
from analysis.certificate.ownership.closed_checker import check_closed_sets
from analysis.certificate.ownership.closed_sets import ClosedSets
from analysis.certificate.refusal import RefusedError
from analysis.certificate.unwinding import check_unwinding
from analysis.certificate.witnessed import claimed
from analysis.cfa.edge_places import ProgramPlaces
from analysis.cfa.graph import Program
from analysis.cfa.linking.link import link
from analysis.cfa.linking.obstructed import MAIN
from analysis.cfa.linking.renamed_unit import as_linked
from analysis.cfa.marks import with_places
from analysis.cli.certificate_request import Request, WitnessRequest
from analysis.cli.closing import quietly
from analysis.cpa.predicates.violations import Property, violations
from analysis.frontend.text.source_columns import FileMap
from analysis.model.c_types import ILP32, LP64
from analysis.model.file_reading import UnreadableError, read_file
from analysis.model.limits import CERTIFICATE_BYTES
from analysis.model.options import Options
from analysis.model.spelling import display_name
from analysis.rules.function_files import load_functions
from analysis.session.entries import choose_entries
from analysis.session.files.program_files import find_program
from analysis.session.units.file_building import build
from analysis.smt.transitions.vocabulary import TooLargeError

ACCEPTED, REFUSED, FAILED, PARTIAL = 0, 1, 2, 3


def read_program(paths: tuple[str, ...], options: Options) -> Program:
    """The program alone; see `read_linked`."""
    return read_linked(paths, options)[0]


def read_linked(paths: tuple[str, ...], options: Options) -> tuple[Program, ProgramPlaces]:
    """The program, with the contracts of the project, and its places; says which contracts do not count. Raises RefusedError if a
    part of it is not understood, UnreadableError if it is not there."""
    found = find_program(paths, options)
    for message in found.messages:
        if message.severity == "error":
            raise UnreadableError(f"{message.path}: error: {message.text}")
    units = [build(path, None, found.flags[path], options, {}) for path in found.files]
    for message in (message for unit in units for message in unit.preprocessed.messages):
        if message.severity == "error":
            raise RefusedError(f"{message.path}: {message.text}")
    if not units or any(unit.parse_errors or unit.unit.broken for unit in units):
        raise RefusedError("not all of the program is understood")
    contracts, messages = load_functions(options)
    linked = link(as_linked([unit.unit for unit in units]), contracts=contracts)
    for message in (*messages, *linked.applied.messages):
        click.echo(f"{message.path}: {message.severity}: {message.text}", err=True)
    maps = {unit.preprocessed.path: FileMap(unit.preprocessed, {}) for unit in units}
    return linked.program, ProgramPlaces(linked.sources, maps)


def main() -> int:
    """Checks the certificate that the request names."""
    request = msgspec.json.decode(sys.stdin.buffer.read(), type=Request)
    if request.witness is not None:
        return _witnessed(request, request.witness)
    try:
        data = read_file(request.certificate, CERTIFICATE_BYTES)
    except UnreadableError as error:
        click.echo(f"everproof: {request.certificate} cannot be read: {error.reason}.", err=True)
        return FAILED
    try:
        program = read_program(request.paths, request.options)
        before = None if request.made_for is None else read_program((request.made_for,), request.options)
    except RefusedError as refused:
        click.echo(f"refused: {refused}")
        return REFUSED
    except UnreadableError as error:
        click.echo(error.reason, err=True)
        return FAILED
    return judged(program, request.options, data, before)


def _witnessed(request: Request, claim: WitnessRequest) -> int:
    """Checks what the invariants of a witness claim."""
    model = ILP32 if request.options.data_model == "ILP32" else LP64
    program = places = None
    try:
        program, places = read_linked(request.paths, request.options)
        proof = claimed(program, places, claim.rule, claim.invariants, model)
        certificate = text.Certificate(request.options.data_model, (proof,))
        is_whole = _accepted(program, certificate, ("main",))
    except (RefusedError, TooLargeError) as refused:
        click.echo(f"refused: {refused if program is None else with_places(str(refused), program, places)}")
        return REFUSED
    except UnreadableError as error:
        click.echo(error.reason, err=True)
        return FAILED
    except Exception as problem:  # of conditions that somebody wrote, whatever they do to the solver: nothing of it is accepted
        click.echo(f"refused: it cannot be checked ({type(problem).__name__})")
        return REFUSED
    return ACCEPTED if is_whole else PARTIAL


def judged(program: Program, options: Options, data: bytes, before: Program | None = None) -> int:
    """The exit code for a certificate of a program, or of the version `before` of it; says what is accepted, or why nothing
    is."""
    try:
        certificate = text.read(data, program if before is None else before)
        if before is not None:
            certificate = _carried_over(certificate, before, program)
        if certificate.data_model != options.data_model:
            raise RefusedError(f"the certificate is about {certificate.data_model} programs: use --data-model")
        if not certificate.all:
            raise RefusedError("it claims nothing")
        is_whole = _accepted(program, certificate, choose_entries(program, options.entries)[0])
    except (RefusedError, TooLargeError) as refused:
        click.echo(f"refused: {with_places(str(refused), program, None)}")
        return REFUSED
    except Exception as problem:  # of a text that is no certificate, whatever it does to the solver: nothing of it is accepted
        click.echo(f"refused: it cannot be checked ({type(problem).__name__})")
        return REFUSED
    return ACCEPTED if is_whole else PARTIAL


def _carried_over(certificate: text.Certificate, before: Program, program: Program) -> text.Certificate:
    """What a certificate of an earlier version claims of the program; says so. Only assertions can be carried over."""
    annotations = [one for one in certificate.annotations if isinstance(one, Annotation)]
    left = len(certificate.all) - len(annotations)
    if not annotations:
        raise RefusedError("it holds no assertions, and only these can be carried over to a later version")
    click.echo("The certificate is about an earlier version. Its assertions are checked in this one.")
    if left:
        click.echo(f"not carried over: {left} proofs of other kinds")
    model = ILP32 if certificate.data_model == "ILP32" else LP64
    claimed = tuple(claimed_of(program, one, before, model) for one in annotations)
    return text.Certificate(certificate.data_model, claimed)


def _accepted(program: Program, certificate: text.Certificate, entries: Sequence[str]) -> bool:
    """Whether what it claims, all of which is accepted and reported, is all that there is to claim of its rules."""
    model = ILP32 if certificate.data_model == "ILP32" else LP64
    claimed: dict[Property, dict[str, set[Place]]] = {}
    whole: set[str] = set()
    for annotation in certificate.annotations:
        checked = check(program, annotation, model)
        of_rule = claimed.setdefault(annotation.property, {})
        of_rule.setdefault(annotation.entry, set()).update(annotation.edges)
        known = coverage(program, annotation.entry, violations(program, annotation.property), annotation.edges)
        click.echo(f"accepted: no run from {display_name(annotation.entry)} violates {annotation.property} ({_scope(known)})")
        _print_notes(unreached(checked.unreached, annotation.edges), checked.assumptions)
    for claim in certificate.unwindings:
        unwound = check_unwinding(program, claim, model)
        whole.update(claim.rules)
        click.echo(f"accepted: no run from {claim.entry} violates {', '.join(claim.rules)} (on any path)")
        _print_notes(unreached(unwound.unreached, unwound.places), unwound.assumptions)
    alone, from_main = set[tuple[str, str]](), set[str]()
    for closed in certificate.closed_sets:
        from_main.update((closed.rule,) if closed.runs_from else ())
        alone.add(_accepted_alone(closed, check_closed_sets(program, closed).assumptions))
    for required in certificate.requirements:
        from_main.update((required.rule,) if required.runs_from else ())
        alone.add(_accepted_alone(required, check_requirements(program, required).assumptions))
    gaps = [gap for rule in sorted(claimed) for gap in _gaps(program, rule, claimed[rule], () if rule in whole else entries)]
    if (whole or from_main) and tuple(entries) != (MAIN,):
        gaps.append(f"{', '.join(sorted(whole | from_main))} in runs from entries other than {MAIN}")
    gaps += _functions_left_out(program, {(entry, rule) for entry, rule in alone if rule not in whole})
    for gap in gaps:
        click.echo(f"not the whole program: {gap}")
    return not gaps


def _accepted_alone(claim: ClosedSets | Requirements, assumptions: Sequence[str]) -> tuple[str, str]:
    """Says that a claim about one function is accepted; the function and the rule."""
    when = f"in runs from {', '.join(claim.runs_from)}" if claim.runs_from else "in whatever state it is called"
    click.echo(f"accepted: {display_name(claim.entry)} does not violate {claim.rule} itself, {when}")
    _print_notes("", assumptions)
    return claim.entry, claim.rule


def _functions_left_out(program: Program, proved: set[tuple[str, str]]) -> Iterator[str]:
    """The rules that are proved of some functions by themselves, but not of all."""
    for rule in sorted({rule for _, rule in proved}):
        functions = [name for name, of in proved if of == rule]
        if len(functions) < len(program.functions):
            yield f"{rule} is proved for {len(functions)} of {len(program.functions)} functions by themselves"


def _print_notes(note: str, assumptions: Sequence[str]) -> None:
    if note:
        click.echo(f"  note: {note}")
    for assumption in assumptions:
        click.echo(f"  assumed: {assumption}")


def _scope(known: Coverage) -> str:
    """At how many of the places at which runs can come to violate the property."""
    all_ = "at the only place" if known.places == 1 else f"at any of {known.places} places"
    said = all_ if known.is_whole else f"covers {known.claimed} of {known.places} places"
    return said + (f"; {known.elsewhere} more in functions that it does not lead to" if known.elsewhere else "")


def _gaps(program: Program, rule: Property, claimed: Mapping[str, set[Place]], entries: Sequence[str]) -> Iterator[str]:
    """What all proofs of a rule together leave out."""
    places = violations(program, rule)
    for entry in entries:
        known = coverage(program, entry, places, claimed.get(entry, set()))
        if not known.is_whole:
            covered = f"{known.claimed} of {known.places} places where {rule} could be violated"
            yield f"in runs from {display_name(entry)}, it covers {covered}"


if __name__ == "__main__":
    sys.exit(quietly(main))
