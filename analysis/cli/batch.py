"""`everproof batch`: many programs, each checked by a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from pathlib import Path
from typing import get_args

import click
import msgspec

from analysis.cli.check import FAILED, UNKNOWN, VIOLATED
from analysis.cli.failure import Failure, demand_paths
from analysis.cli.output import write
from analysis.cli.scheduler import provers_of, scheduler_options
from analysis.frontend.compiler.compiler_flags import DATABASE_NAME
from analysis.model.budgets import BudgetName
from analysis.model.digest import digest_text
from analysis.model.file_reading import UnreadableError, read_file
from analysis.model.limits import LONGEST
from analysis.model.options import Engine
from analysis.session.keeping.surroundings import tool_digest

_DONE = (0, VIOLATED, UNKNOWN)
_MORE = 60.0  # seconds that a process has beyond its own time limit
_REPORT_BYTES = 1 << 30  # of a report; a larger one is none of ours
_COUNTS = ("files", "functions", "confirmed", "possible", "held_back", "safe")  # the columns of the table
_LARGEST = 64_000_000  # bytes of a file whose content counts; of larger ones, the size and the time do
_LONGEST_NAME = 120  # characters of the name of a report; file systems take 255 bytes


class _Finding(msgspec.Struct):
    status: str
    shown: bool


class _Verdict(msgspec.Struct):
    verdict: str


class _Function(msgspec.Struct):
    verdicts: dict[str, _Verdict]


class _File(msgspec.Struct):
    path: str


class _Report(msgspec.Struct):
    """What of a report is counted."""

    files: list[_File]
    functions: list[_Function]
    findings: list[_Finding]


class Checked(msgspec.Struct, frozen=True):
    """A program of a batch, as it is kept beside its report. `question` is a digest of its texts, the options and the tool;
    `failure` says why there is no report."""

    path: str
    question: str
    seconds: float
    failure: str = ""
    files: int = 0
    functions: int = 0
    confirmed: int = 0
    possible: int = 0
    held_back: int = 0
    safe: int = 0


_decoder = msgspec.json.Decoder(_Report)
_kept = msgspec.json.Decoder(Checked)


@click.command()
@click.argument("paths", metavar="PATH...", nargs=-1, required=True)
@click.option("--into", metavar="DIR", required=True, help="Where the reports are written, as JSON; made if it is not there.")
@click.option("--at-once", type=click.IntRange(1, 64), default=1, help="How many programs are checked at a time. Default: 1.")
@click.option("--budget", type=click.Choice(get_args(BudgetName)), help="As for `everproof check`.")
@click.option("--engine", type=click.Choice(get_args(Engine)), help="As for `everproof check`.")
@click.option("--rule", "rules", metavar="NAME", multiple=True, help="As for `everproof check`.")
@click.option("--jobs", type=click.IntRange(1, 64), metavar="N", help="As for `everproof check`.")
@click.option("--timeout", type=click.FloatRange(1, LONGEST), default=600.0, help="Seconds for each program. Default: 600.")
@click.option("--again", is_flag=True, help="Also check programs whose reports are already there.")
@click.option("--output", metavar="FILE", help="Write the table to this file instead of standard output.")
@scheduler_options
def batch(
    paths: Sequence[str],
    into: str,
    at_once: int,
    budget: str | None,
    engine: str | None,
    rules: Sequence[str],
    jobs: int | None,
    timeout: float,
    again: bool,
    output: str | None,
    scheduler: str | None,
    scheduler_tls: str | None,
) -> int:
    """Check many programs, each by itself, and print one table.

    Each PATH is a program: a C file, a folder, or a compile_commands.json. One that fails, or takes too long, does not end the
    others. If the command is ended and given again, it goes on with the programs that have no report yet.

    Exit code: 0 nothing violated; 1 at least one finding; 2 at least one program could not be checked.
    """
    demand_paths(paths)
    named = (
        ("--budget", budget),
        ("--engine", engine),
        ("--jobs", jobs),
        ("--timeout", timeout),
        *(("--rule", one) for one in rules),
    )
    options = [str(word) for name, value in named if value is not None for word in (name, value)]
    asked = (("--scheduler", scheduler), ("--scheduler-tls", scheduler_tls))
    places = [word for name, value in asked if value is not None for word in (name, value)]
    provers_of(scheduler, scheduler_tls)  # one sentence, rather than one for each program
    reports = _reports(paths, Path(into))
    with ThreadPoolExecutor(at_once) as threads:
        done = list(threads.map(lambda one: _checked(one[0], one[1], options, places, timeout, again), reports))
    write(table(done), output)
    if any(one.failure for one in done):
        return FAILED
    return VIOLATED if any(one.confirmed or one.possible or one.held_back for one in done) else 0


def table(done: Sequence[Checked]) -> str:
    """What was found, as Markdown."""
    rows = [
        "| program | files | functions | confirmed | possible | held back | safe for some rule | seconds | |",
        "|---" * 9 + "|",
    ]
    rows += [_row(_cell(os.path.normpath(one.path)), one, _cell(one.failure)) for one in done]
    counts = {name: sum(getattr(one, name) for one in done) for name in _COUNTS}
    total = Checked("", "", sum(one.seconds for one in done), **counts)
    failed = sum(bool(one.failure) for one in done)
    rows.append(_row(f"all {len(done)}", total, f"{failed} failed"))
    return "\n".join(rows) + "\n"


def _row(name: str, one: Checked, said: str) -> str:
    counts = " | ".join(str(getattr(one, count)) for count in _COUNTS)
    return f"| {name} | {counts} | {one.seconds:.1f} | {said} |"


def _cell(text: str) -> str:
    """A text that others chose, in one cell of the table: names of folders can hold line ends, bars, and what terminals obey."""
    shown = (one if one.isprintable() else one.encode("unicode_escape").decode("ascii") for one in text)
    return "".join(shown).replace("|", "\\|")


def _reports(paths: Sequence[str], into: Path) -> list[tuple[str, Path]]:
    """Each program with the file that its report goes to. Raises Failure if two have the same name."""
    names = [_name(path) for path in paths]
    twice = next((name for name, count in Counter(names).items() if count > 1), None)
    if twice is not None:
        raise Failure(f"Two programs have the name {twice}: name each once.")
    try:
        into.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Failure(f"The folder {into} cannot be made: {error.strerror}.") from None
    return [(path, into / f"{name}.json") for path, name in zip(paths, names, strict=True)]


def _name(path: str) -> str:
    """The name of a program's report: its path, with a digest in place of what would make it too long."""
    name = os.path.normpath(path).strip("/.").replace("/", "_") or "program"
    return name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]}-{digest_text(path)[:12]}"


def _checked(path: str, report: Path, options: Sequence[str], places: Sequence[str], timeout: float, again: bool) -> Checked:
    """Checks a program, unless its report is there and of the same question."""
    contents = _contents(Path(path), report.parent.resolve())
    question, beside = digest_text(tool_digest(), path, *options, *contents), report.with_suffix(".batch")
    try:
        known = _kept.decode(read_file(beside, _REPORT_BYTES))
        if known.question == question and not known.failure and report.is_file() and not again:
            return known
    except (UnreadableError, msgspec.MsgspecError):
        pass
    began = time.monotonic()
    failure = _check(path, report, [*options, *places], timeout + _MORE)
    done = Checked(path, question, round(time.monotonic() - began, 3), failure)
    done = done if failure else _counted(done, report)
    try:
        beside.unlink(missing_ok=True)  # it may be a link to somewhere else
        beside.write_bytes(msgspec.json.encode(done))
    except OSError as error:
        raise Failure(f"{beside} cannot be written: {error.strerror}.") from None
    return done


def _check(path: str, report: Path, options: Sequence[str], seconds: float) -> str:
    """Has a process check a program; why that failed, or nothing."""
    try:
        report.unlink(missing_ok=True)
    except OSError as error:
        return f"{report} cannot be replaced: {error.strerror}"
    program = ["-p", path] if os.path.basename(path) == DATABASE_NAME else ["--", path]
    command = [
        sys.executable,
        "-P",
        "-m",
        "analysis.cli",
        "check",
        "--format",
        "json",
        "--output",
        str(report),
        *options,
        *program,
    ]
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        return f"it was ended after {seconds:g} s"
    if done.returncode in _DONE:
        return ""
    said = done.stderr.strip().splitlines()[-1:]
    return said[0][:200] if said else f"it ended with {done.returncode}"


def _counted(done: Checked, report: Path) -> Checked:
    try:
        found = _decoder.decode(read_file(report, _REPORT_BYTES))
    except (UnreadableError, msgspec.MsgspecError) as error:
        return msgspec.structs.replace(done, failure=f"its report cannot be read: {error}")
    shown = [finding.status for finding in found.findings if finding.shown]
    safe = sum(any(verdict.verdict == "safe" for verdict in one.verdicts.values()) for one in found.functions)
    return msgspec.structs.replace(
        done,
        files=len(found.files),
        functions=len(found.functions),
        confirmed=shown.count("confirmed"),
        possible=len(shown) - shown.count("confirmed"),
        held_back=len(found.findings) - len(shown),
        safe=safe,
    )


def _contents(path: Path, into: Path) -> Iterator[str]:
    """What the check of a program may read: all files of its folder, as an `#include` can name any, but hidden folders and the
    one `into` which the reports go; of a program that is one file, those beside it."""
    is_folder = path.is_dir()
    folder = path if is_folder else path.parent
    for at, folders, files in os.walk(folder):
        inner = (name for name in folders if not name.startswith(".") and Path(at, name).resolve() != into)
        folders[:] = sorted(inner) if is_folder or path.name == DATABASE_NAME else []
        for name in sorted(files):
            yield from (os.path.join(at, name), _content(os.path.join(at, name)))


def _content(path: str) -> str:
    """Something that differs for files with other contents."""
    try:
        status = os.stat(path)
        return _digest(path, status.st_size, status.st_mtime_ns)
    except OSError as error:  # a link to nothing
        return str(error.strerror)


@lru_cache(1 << 16)
def _digest(path: str, size: int, time_: int) -> str:
    """The digest of a file; programs that lie beside each other share most of what they could read."""
    try:
        return digest_text(read_file(path, _LARGEST))
    except UnreadableError as error:
        return f"{error} {size} {time_}"
