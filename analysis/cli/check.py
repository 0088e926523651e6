"""`everproof check`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import click
import msgspec

from analysis.api import Checker
from analysis.cli.baseline import baseline_text, read_baseline, without_known
from analysis.cli.budget import OutOfTime, time_budget
from analysis.cli.certificates import proved_loops, with_certificates, with_proofs
from analysis.cli.command_options import Asked, check_options, read_asked
from analysis.cli.difference.condition_reading import LeftPaths
from analysis.cli.first_findings import say_first
from analysis.cli.output import protect, render, say, write
from analysis.cli.progress_line import progress
from analysis.cli.scheduler import provers_of, scheduler_options
from analysis.cli.witness.witness_format import WitnessError
from analysis.cli.witness.written import written_witness
from analysis.model.c_types import ILP32, LP64
from analysis.model.report import Message, Report

VIOLATED, FAILED, UNKNOWN = 1, 2, 3


@click.command()
@click.argument("paths", metavar="[PATH]...", nargs=-1)
@click.option(
    "--condition",
    metavar="FILE",
    help="Check only the paths that a condition, written by `everproof diff --condition`, leaves to be checked.",
)
@click.option("--witness", metavar="FILE", help="Write a software verification witness 2.0 to this file.")
@scheduler_options
@check_options
def check(
    paths: tuple[str, ...],
    condition: str | None,
    witness: str | None,
    scheduler: str | None,
    scheduler_tls: str | None,
    **given: Any,
) -> int:
    """Check C files or folders as one program.

    Without a PATH: the compile_commands.json found upward from the current folder, else every *.c below it.

    Exit code: 0 nothing violated; 1 at least one finding, shown or held back; 2 something asked for could not be done; 3 with
    --strict, something stayed unknown.
    """
    asked = read_asked(given, first_of(paths))
    known = None if asked.baseline is None else read_baseline(asked.baseline)
    left = None if condition is None else LeftPaths(condition)
    asked = asked if left is None else left.terms(asked)
    if witness is not None and asked.options.engine not in ("automaton", "summary"):
        asked = with_proofs(asked)
    checker = Checker(
        asked.options,
        jobs=asked.jobs,
        store=asked.store,
        restriction=None if left is None else left.restrict,
        provers=provers_of(scheduler, scheduler_tls),
    )
    checker.open(paths)
    protect(asked, (*paths, *checker.files, *(() if condition is None else (condition,))), [("--witness", witness)])
    report = run(checker, asked)
    report = report if left is None else left.said(report)
    if asked.certificate is not None:
        report = with_certificates(checker, asked.certificate, report)
    if witness is not None:
        report = _with_witness(checker, report, asked, witness)
    if asked.write_baseline is not None:
        write(baseline_text(report.findings), asked.write_baseline)
    withheld = None
    if known is not None:
        report, withheld = without_known(report, known)
    say(report.messages)
    write(render(report, asked, checker.rules, known=withheld, successful=not checker.failed), asked.output)
    keep(checker, asked)
    return exit_code(report, failed=checker.failed or asked.wrong_settings, strict=asked.strict)


def _with_witness(checker: Checker, report: Report, asked: Asked, path: str) -> Report:
    """Writes the witness of a report; the report, which says so where there is none, or where it has no invariants."""
    try:
        loops = partial(proved_loops, checker, ILP32 if asked.options.data_model == "ILP32" else LP64)
        written = written_witness(report, asked.options.data_model, loops)
    except WitnessError as error:
        none = Message("warning", "", f"No witness is written: {error}.")
        return msgspec.structs.replace(report, messages=(*report.messages, none))
    write(written.text, path)
    if not written.without_invariants:
        return report
    bare = "The witness has no loop invariants, because the proof has none: validators may refuse it; try --engine predicate."
    return msgspec.structs.replace(report, messages=(*report.messages, Message("note", "", bare)))


def first_of(paths: Sequence[str]) -> str:
    """What is checked first: its settings count."""
    return paths[0] if paths else "."


def run(checker: Checker, asked: Asked, *, stays: bool = False) -> Report:
    """One check within its time, with what provers say; what was not reached in time is unknown. `stays`: see `Checker.prove`."""
    why = "" if asked.timeout is None else f"the {asked.timeout:g} s of --timeout are used up"
    is_checked = False
    with progress() as show:
        try:
            with time_budget(asked.timeout):
                first = checker.check(progress=show)
                is_checked = True
                if checker.unasked and not stays:
                    say_first(first, asked)
                report = checker.prove(progress=show, stays=stays)
        except OutOfTime:
            report = checker.unproved(why) if is_checked else checker.unfinished(why)
    return asked.presented(report)


def keep(checker: Checker, asked: Asked) -> None:
    """Keeps what was found for later runs, after all has been said; and says what is wrong with the store."""
    checker.save()
    if asked.store is not None:
        say(asked.store.take_messages())


def exit_code(report: Report, *, failed: bool, strict: bool) -> int:
    """The exit code of a check, as docs/guide.md lists them. A finding outweighs a file that could not be read. One that is held
    back counts like any other: its function is violated, and a script would take 0 for "nothing is violated"."""
    if report.findings:
        return VIOLATED
    if failed:
        return FAILED
    return UNKNOWN if strict and report.verdict == "unknown" else 0
