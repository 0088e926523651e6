"""`everproof revisions`."""

from __future__ import annotations

from typing import Any

import click

from analysis.api import Checker
from analysis.cli.check import FAILED, UNKNOWN, VIOLATED, exit_code, run
from analysis.cli.failure import Failure
from analysis.cli.json_format import encode_json, report_document
from analysis.cli.options import Asked, check_options, read_asked
from analysis.cli.output import say, write
from analysis.cli.sarif_format import sarif_document
from analysis.cli.text_format import text_report
from analysis.model.report import Report
from analysis.rules.automaton import Rule

DIFFERENT = 4


@click.command()
@click.argument("versions", metavar="V0 V1 [V2]...", nargs=-1)
@click.option(
    "--algorithm",
    type=click.Choice(["full", "incr-fwd", "incr-back"]),
    default="full",
    help="How the next version is checked. This version has full, which is from scratch; the incremental ones come later.",
)
@click.option("--compare", is_flag=True, help="Check each version from scratch as well; exit with 4 if any result differs.")
@check_options
def revisions(versions: tuple[str, ...], algorithm: str, compare: bool, **given: Any) -> int:
    """Check version V0 of a program, then each next version. A version is a file, or a folder (a whole program).

    Exit code: as for `everproof check`, the worst of all versions; 4 with --compare when a result differs.
    """
    asked = read_asked(given)
    if len(versions) < 2:
        raise Failure("There must be at least two versions: name V0 and V1, each a file or a folder.")
    if algorithm != "full":
        raise Failure(f"This version has no {algorithm}: use --algorithm full.")
    if asked.baseline is not None or asked.write_baseline is not None:
        raise Failure("Baselines are for one version: use them with `everproof check`.")
    reports: list[Report] = []
    codes: list[int] = []
    rules: tuple[Rule, ...] = ()
    different = False
    for version in versions:
        report, code, rules = _check(version, asked)
        reports.append(report)
        codes.append(code)
        if compare:
            different |= _differs(version, report, _check(version, asked, quiet=True)[0])
    write(_render(versions, reports, codes, rules, asked), asked.output)
    if different:
        return DIFFERENT
    return next((code for code in (VIOLATED, FAILED, UNKNOWN) if code in codes), 0)


def _check(version: str, asked: Asked, quiet: bool = False) -> tuple[Report, int, tuple[Rule, ...]]:
    """A version's report from scratch, its exit code, and the rules used."""
    checker = Checker(asked.options, jobs=asked.jobs)
    checker.open((version,))
    report = run(checker, asked)
    if not quiet:
        say(report.messages)
    return report, exit_code(report, failed=checker.failed, strict=asked.strict), checker.rules


def _render(versions: tuple[str, ...], reports: list[Report], codes: list[int], rules: tuple[Rule, ...], asked: Asked) -> str:
    if asked.format == "json":
        return encode_json([report_document(report) for report in reports])
    if asked.format == "sarif":
        documents = [sarif_document(report, rules, code != FAILED) for report, code in zip(reports, codes, strict=True)]
        return encode_json({**documents[0], "runs": [run for document in documents for run in document["runs"]]})
    parts = [f"== {version}\n{text_report(report, stats=asked.stats)}" for version, report in zip(versions, reports, strict=True)]
    return "\n".join(parts)


def _differs(version: str, one: Report, other: Report) -> bool:
    """Whether two reports on one version disagree; each disagreement is said on standard error."""
    problems: list[str] = []
    mine, theirs = _findings(one), _findings(other)
    problems.extend(f"only incrementally: {finding}" for finding in sorted(mine - theirs))
    problems.extend(f"only from scratch: {finding}" for finding in sorted(theirs - mine))
    left, right = _verdicts(one), _verdicts(other)
    for key in sorted(left.keys() | right.keys()):
        if left.get(key) != right.get(key):
            problems.append(f"{key[0]} ({key[1]}), {key[2]}: {left.get(key)} incrementally, {right.get(key)} from scratch")
    for problem in problems:
        click.echo(f"{version}: {problem}", err=True)
    return bool(problems)


def _findings(report: Report) -> set[str]:
    return {f"{f.rule} {f.place.path}:{f.place.range.start.line} {f.fingerprint}" for f in report.findings}


def _verdicts(report: Report) -> dict[tuple[str, str, str], str]:
    return {(f.name, f.place.path, rule): verdict.verdict for f in report.functions for rule, verdict in f.verdicts.items()}
