"""`everproof replay`: a confirmed finding as a compiled program, run under sanitizers."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
import msgspec

from analysis.api import Checker
from analysis.cli.check import first_of, keep, run
from analysis.cli.command_options import Asked, program_options, read_asked
from analysis.cli.failure import Failure
from analysis.cli.output import say, write
from analysis.cli.text_format import spot
from analysis.frontend.compiler.compiler_run import find_compiler, find_program_file
from analysis.model.report import Finding
from analysis.model.spelling import display_name
from analysis.replaying import replayed
from analysis.replaying.building import Replayable, Unit
from analysis.replaying.replayed import Outcome
from analysis.replaying.running import ENVIRONMENT

REPRODUCED, OTHERWISE, FAILED = 0, 1, 2
_UNASKED: dict[str, Any] = {
    **dict.fromkeys(
        ("engine", "encoding", "unwind", "symbolic_options", "budget", "certificate", "timeout", "task_timeout", "jobs")
    ),
    **dict.fromkeys(("baseline", "write_baseline", "output")),
    "show": "all",
    "assume": (),
    "format_": "text",
    "trace": "short",
    "stats": False,
    "strict": False,
}


@click.command()
@click.argument("fingerprint")
@click.argument("paths", metavar="[PATH]...", nargs=-1)
@click.option("--keep", "kept", metavar="DIR", help="Leave the program and its sources in this new or empty folder.")
@click.option("--gdb", is_flag=True, help="Run it in gdb, which stops at the error.")
@click.option("--store", metavar="FILE|none", help="Where results are kept between runs, as for `everproof check`.")
@program_options
def replay(fingerprint: str, paths: tuple[str, ...], kept: str | None, gdb: bool, **given: Any) -> int:
    """Run a confirmed finding of PATH again, as a compiled program under sanitizers.

    FINGERPRINT names the finding, as `everproof check --format json` prints it; its beginning will do. The program is
    compiled with what the finding's run was given, and run in a folder of its own, with limits. This runs code of PATH: do it
    with code that you trust.

    Exit code: 0 reproduced; 1 it ran otherwise; 2 it could not be run.
    """
    asked = read_asked(_UNASKED | given, first_of(paths))
    if kept is not None and os.path.isdir(kept) and os.listdir(kept):
        raise Failure(f"{kept} is not empty: name a new folder.")
    compiler = find_compiler(asked.options.compiler)
    if compiler is None or asked.options.compiler == "none":
        raise Failure("There is no C compiler to build the program with: install gcc or clang, or name one with --compiler.")
    checker, finding = _decided(asked, paths, fingerprint)
    program = replayable(checker, finding)
    if kept is not None:
        os.makedirs(kept, exist_ok=True)
        return _replayed(finding, program, compiler, kept, gdb=gdb)
    with tempfile.TemporaryDirectory(prefix="everproof-replay-") as folder:
        return _replayed(finding, program, compiler, folder, gdb=gdb)


def _decided(asked: Asked, paths: Sequence[str], fingerprint: str) -> tuple[Checker, Finding]:
    """The finding, and the checker that has its program: provers are asked about findings; about all functions only if that
    does not bring it up."""
    found: Sequence[Finding] = ()
    for everything in (False, True):
        options = msgspec.structs.replace(asked.options, proofs=everything, everywhere=everything)
        checker = Checker(options, jobs=asked.jobs, store=asked.store)
        checker.open(paths)
        report = run(checker, asked)
        found = [one for one in report.findings if one.fingerprint.startswith(fingerprint)]
        keep(checker, asked)
        if any(one.status == "confirmed" for one in found):
            break
    say(report.messages)
    return checker, _only(found, fingerprint)


def replayable(checker: Checker, finding: Finding) -> Replayable:
    """The units of the program as they are compiled, and what it calls outside of them."""
    view = checker.inspect()
    entry = None if finding.run is None else finding.run.entry
    path = view.places.name_place(entry).path if entry in view.program.functions and entry is not None else ""
    read = ((one.preprocessed, one.unit.model) for one in checker.built)
    units = [Unit(text.path, text.text, text.path == path, model.has_signed_char) for text, model in read]
    return Replayable(units, {display_name(name): one.type for name, one in view.program.externals.items()})


def _only(named: Sequence[Finding], fingerprint: str) -> Finding:
    if not named:
        raise Failure(f"There is no finding {fingerprint}: see `everproof check --format json`.")
    if len({one.fingerprint for one in named}) > 1:
        raise Failure(f"Several findings begin with {fingerprint}: give more of the fingerprint.")
    if named[0].status != "confirmed":
        raise Failure(f"The finding {fingerprint} is possible, not confirmed: there is no run to repeat.")
    return named[0]


def _replayed(finding: Finding, program: Replayable, compiler: str, folder: str, *, gdb: bool) -> int:
    path = Path(os.path.realpath(folder))
    outcome = replayed.replay(finding, program, compiler, path)
    write("\n".join((f"{spot(finding.place)}: {finding.message} [{finding.rule}]", *_lines(outcome), "")), None)
    if gdb and outcome.status != "refused":
        _debug(outcome, path)
    return {"reproduced": REPRODUCED, "otherwise": OTHERWISE, "refused": FAILED}[outcome.status]


def _lines(outcome: Outcome) -> list[str]:
    first = {"reproduced": "reproduced", "otherwise": "ran otherwise", "refused": "could not be run"}[outcome.status]
    said = ["", *outcome.said.rstrip().splitlines()] if outcome.said.strip() else []
    return [f"{first}: {outcome.words}", *said, *(["", f"run by: {outcome.command}"] if outcome.command else [])]


def _debug(outcome: Outcome, folder: Path) -> None:
    """Runs the program in gdb with the terminal; sanitizers abort at the error, where gdb stops."""
    gdb = find_program_file("gdb")
    if gdb is None:
        raise Failure("gdb is not installed.")
    stops = {"ASAN_OPTIONS": f"{ENVIRONMENT['ASAN_OPTIONS']}:abort_on_error=1:detect_leaks=0".replace(":abort_on_error=0", ""),
             "UBSAN_OPTIONS": f"{ENVIRONMENT['UBSAN_OPTIONS']}:abort_on_error=1"}  # fmt: skip
    command = [gdb, "-q", "-nx", "-ex", "run", "-ex", "backtrace", "--args", *outcome.program]
    subprocess.run(command, cwd=folder, env=os.environ | stops, check=False)
