"""`everproof witness`: validates a witness that somebody wrote about a program."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from typing import Any, cast

import click
import msgspec

from analysis.certificate.loop_invariant import LoopInvariant
from analysis.certificate.refusal import RefusedError
from analysis.cli.certificate_request import Request, WitnessRequest
from analysis.cli.certifying import read_linked
from analysis.cli.closing import NOBODY_READS
from analysis.cli.command_options import program_options, read_options
from analysis.cli.failure import Failure
from analysis.cli.output import write
from analysis.cli.text_format import count
from analysis.cli.witness.replayed import replayed
from analysis.cli.witness.witness_format import RULES, Witness, WitnessError, is_whole, read_witness
from analysis.cpa.predicates.violations import PROPERTIES, Property
from analysis.model.c_types import ILP32, LP64
from analysis.model.file_reading import UnreadableError, read_file
from analysis.model.limits import Limits
from analysis.model.options import Options
from analysis.session.files.program_files import find_program

ACCEPTED, REFUSED = 0, 1


@click.command()
@click.argument("file", metavar="FILE", type=click.Path(exists=True, dir_okay=False))
@click.argument("paths", metavar="PROGRAM...", nargs=-1, required=True)
@program_options
def witness(file: str, paths: tuple[str, ...], **given: Any) -> int:
    """Validate FILE, a software verification witness 2.0 in YAML, about PROGRAM (files or folders).

    The invariants of a correctness witness are checked as a certificate; a violation witness is run.

    Exit code: 0 it is accepted; 1 it is not; 2 something asked for could not be done, or FILE is no witness about
    these texts.
    """
    options, _ = read_options(given, paths[0])
    try:
        read = read_witness(file)
        rule = read.rule
        options = msgspec.structs.replace(options, data_model=read.task.data_model)
        _demand_same_texts(read, paths, options)
        if read.kind == "violation":
            return _run(read, paths, options)
        if rule not in PROPERTIES or not is_whole(rule):
            raise WitnessError(f"correctness witnesses for {RULES[rule]!r} are not checked")
        return _certified(read, cast("Property", rule), paths, options)
    except WitnessError as error:
        raise Failure(f"{file} cannot be validated: {error}.") from None
    except UnreadableError as error:
        raise Failure(f"The program cannot be read: {error.reason}.") from None


def _demand_same_texts(read: Witness, paths: tuple[str, ...], options: Options) -> None:
    known = set(read.task.input_file_hashes.values())
    for path in find_program(paths, options).files:
        if hashlib.sha256(read_file(path, Limits().source_bytes)).hexdigest() not in known:
            raise WitnessError(f"{path} is not the text that it is about")


def _run(read: Witness, paths: tuple[str, ...], options: Options) -> int:
    try:
        program = read_linked(paths, options)[0]
        happens, said = replayed(program, read, ILP32 if options.data_model == "ILP32" else LP64)
    except (RefusedError, KeyError) as error:
        write(f"not accepted: {error if isinstance(error, RefusedError) else 'the program has no main'}\n", None)
        return REFUSED
    write(f"{'accepted: a run violates the specification' if happens else 'not accepted'}: {said}\n", None)
    return ACCEPTED if happens else REFUSED


def _certified(read: Witness, rule: Property, paths: tuple[str, ...], options: Options) -> int:
    """Has the process check it that checks certificates, in which no engine is loaded."""
    loops = [one for one in read.invariants if one.type == "loop_invariant"]
    if len(loops) < len(read.invariants):
        click.echo(f"note: {count(len(read.invariants) - len(loops), 'invariant')} not at a loop: not checked", err=True)
    said = tuple(LoopInvariant(one.location.file_name, one.location.line, one.location.function, _c(one.value)) for one in loops)
    request = Request("", paths, options, witness=WitnessRequest(rule, said))
    done = subprocess.run(
        [sys.executable, "-P", "-m", "analysis.cli.certifying"], input=msgspec.json.encode(request), check=False
    )
    if done.returncode not in (0, 1, 2, 3, NOBODY_READS):
        raise Failure(f"The checker of certificates ended with code {done.returncode}: try again with more memory.")
    return REFUSED if done.returncode == 3 else done.returncode


def _c(value: str | bool | int) -> str:
    return value if isinstance(value, str) else str(int(value))
