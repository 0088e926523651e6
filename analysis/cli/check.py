"""`everproof check`."""

from __future__ import annotations

import time
from typing import Any

import click

from analysis.api import Checker
from analysis.cli.baseline import baseline_text, read_baseline, without_known
from analysis.cli.budget import OutOfTime, time_budget
from analysis.cli.options import Asked, check_options, read_asked
from analysis.cli.output import render, say, write
from analysis.cli.progress import progress
from analysis.model.report import Report

VIOLATED, FAILED, UNKNOWN = 1, 2, 3


@click.command()
@click.argument("paths", metavar="[PATH]...", nargs=-1)
@check_options
def check(paths: tuple[str, ...], **given: Any) -> int:
    """Check C files or folders as one program.

    Without a PATH: the compile_commands.json found upward from the current folder, else every *.c below it.

    Exit code: 0 nothing violated; 1 at least one finding; 2 something asked for could not be done; 3 with --strict,
    something stayed unknown.
    """
    asked = read_asked(given)
    known = None if asked.baseline is None else read_baseline(asked.baseline)
    until = None if asked.timeout is None else time.monotonic() + asked.timeout
    checker = Checker(asked.options, jobs=asked.jobs, store=asked.store)
    checker.open(paths)
    report = run(checker, asked)
    if asked.prover is not None:
        report = proofs(checker, asked, report, until)
    if asked.write_baseline is not None:
        write(baseline_text(report.findings), asked.write_baseline)
    withheld = 0
    if known is not None:
        report, withheld = without_known(report, known)
    say(report.messages)
    write(render(report, asked, checker.rules, known=withheld, successful=not checker.failed), asked.output)
    keep(checker, asked)
    return exit_code(report, failed=checker.failed, strict=asked.strict)


def run(checker: Checker, asked: Asked, *, prove: bool = True) -> Report:
    """One check within its time; what was not reached in time is unknown. `prove`: then provers decide the findings."""
    why = "" if asked.timeout is None else f"the {asked.timeout:g} s of --timeout were not enough"
    is_checked = False
    with progress() as show:
        try:
            with time_budget(asked.timeout):
                report = checker.check(progress=show)
                is_checked = True
                return checker.prove(progress=show) if prove else report
        except OutOfTime:
            return checker.unproved(why) if is_checked else checker.unfinished(why)


def proofs(checker: Checker, asked: Asked, report: Report, until: float | None) -> Report:
    """The report with what can be proved until then."""
    from analysis.cli.proofs import with_proofs  # here: the provers are not loaded by who does not ask for proofs

    return with_proofs(checker, asked, report, until)


def keep(checker: Checker, asked: Asked) -> None:
    """Keeps what was found for later runs, after all has been said; and says what is wrong with the store."""
    checker.save()
    if asked.store is not None:
        say(asked.store.take_messages())


def exit_code(report: Report, *, failed: bool, strict: bool) -> int:
    """The exit code of a check (INTERFACE.md). A finding outweighs a file that could not be read."""
    if report.findings:
        return VIOLATED
    if failed:
        return FAILED
    return UNKNOWN if strict and report.verdict == "unknown" else 0
