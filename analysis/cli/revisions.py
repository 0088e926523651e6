"""`everproof revisions`: one checker goes from version to version, so that what a version leaves unchanged is not done again."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import Any, get_args

import click
import msgspec

from analysis.cli.check import FAILED, UNKNOWN, VIOLATED, exit_code
from analysis.cli.command_options import Asked, check_options, read_asked
from analysis.cli.failure import Failure
from analysis.cli.json_format import encode_json, finding_document, report_document
from analysis.cli.output import protect, say, write
from analysis.cli.sarif_format import sarif_document
from analysis.cli.text_format import count, reuse_line, spot, summaries_line, text_report
from analysis.cli.version_chain import Checked, VersionChain
from analysis.cli.versions import read_version
from analysis.engines.automaton import Algorithm
from analysis.model.options import Reuse
from analysis.model.places import Place
from analysis.model.report import Count, Finding, FunctionReport, ProofReuse, Report, RuleVerdict, SummaryWork, other_runs
from analysis.rules.automaton import Rule

DIFFERENT = 4


@click.command()
@click.argument("versions", metavar="V0 V1 [V2]...", nargs=-1)
@click.option(
    "--algorithm",
    type=click.Choice(["full", "incr-fwd", "incr-back"]),
    default="incr-back",
    help="How the automaton engine checks the next version: from scratch, or by repairing what it knows of the last one.",
)
@click.option(
    "--reuse",
    type=click.Choice(get_args(Reuse)),
    help="What proofs reuse of the version before: the assertions that the change does not affect, only their predicates, or "
    "nothing. Default: annotations.",
)
@click.option(
    "--compare",
    is_flag=True,
    help="Check each version from scratch as well; exit with 4 if any result differs. What is proved only with reuse is "
    "listed, and does not count.",
)
@check_options
def revisions(versions: tuple[str, ...], algorithm: Algorithm, reuse: Reuse | None, compare: bool, **given: Any) -> int:
    """Check version V0 of a program, then each next version from what is known of the one before.

    A version is a file, or a folder (a whole program). Files may have different names. Where files are new or gone, a version is
    checked from scratch.

    Exit code: as for `everproof check`, the worst of all versions; 4 with --compare when a result differs.
    """
    if len(versions) < 2:
        raise Failure("There must be at least two versions: name V0 and V1, each a file or a folder.")
    each = [_reusing(read_asked(dict(given), name), reuse) for name in versions]
    asked = each[0]
    if asked.certificate is not None:
        raise Failure("Certificates are of one version: use everproof check.")
    if asked.baseline is not None or asked.write_baseline is not None:
        raise Failure("Baselines are for one version: use them with `everproof check`.")
    if asked.format in ("github", "junit"):
        raise Failure("These reports are about one version: use --format text, json or sarif, or `everproof check`.")
    protect(asked, versions)
    done: list[Checked] = []
    with closing(VersionChain(asked, algorithm)) as chain:
        for name, its in zip(versions, each, strict=True):
            chain.use(its)
            checked = _compared_with_last(chain.check(read_version(name, its.options)), done)
            say(checked.report.messages)
            if compare:
                checked = _compared_with_scratch(checked, chain, its)
            done.append(checked)
    write(_render(done, asked, algorithm, chain.rules), asked.output)
    if any(checked.differences for checked in done):
        return DIFFERENT
    failed = any(its.wrong_settings for its in each)
    codes = [exit_code(checked.report, failed=checked.failed or failed, strict=asked.strict) for checked in done]
    return next((code for code in (VIOLATED, FAILED, UNKNOWN) if code in codes), 0)


def _reusing(asked: Asked, reuse: Reuse | None) -> Asked:
    """With what proofs reuse; raises Failure if the engine makes none."""
    if reuse is not None and asked.options.engine in ("automaton", "summary"):
        raise Failure(f"Only proofs reuse earlier ones, and --engine {asked.options.engine} makes none: leave out --reuse.")
    return _with_reuse(asked, reuse or "annotations")


def _with_reuse(asked: Asked, reuse: Reuse) -> Asked:
    return msgspec.structs.replace(asked, options=msgspec.structs.replace(asked.options, reuse=reuse))


def _compared_with_last(checked: Checked, done: Sequence[Checked]) -> Checked:
    last = next((earlier.report for earlier in reversed(done) if not earlier.ended), None)
    if last is None or checked.ended:
        return checked
    introduced, fixed = _missing_in(last, checked.report), _missing_in(checked.report, last)
    return msgspec.structs.replace(checked, introduced=introduced, fixed=fixed)


def _missing_in(report: Report, other: Report) -> tuple[Finding, ...]:
    """The findings of the other report that this one does not have."""
    known = Counter(finding.fingerprint for finding in report.findings)
    missing = []
    for finding in other.findings:
        if known[finding.fingerprint]:
            known[finding.fingerprint] -= 1
        else:
            missing.append(finding)
    return tuple(missing)


def _compared_with_scratch(checked: Checked, chain: VersionChain, asked: Asked) -> Checked:
    """With the differences to a report that rests on nothing known before; each is said on standard error.

    Where functions do not parse, what they were before is part of the answer (they are stale). Then the versions before are
    checked in their turn, but none of them by repairing what is known of another.
    """
    with closing(VersionChain(_with_reuse(asked, "none"), "full")) as again:
        if any(function.stale for function in checked.report.functions):
            for version in chain.past[:-1]:
                again.check(version)
        scratch = again.check(checked.version)
    name = checked.version.name
    if checked.ended or scratch.ended:
        click.echo(f"{name}: not compared, because the time was used up", err=True)
        return checked
    report, more = _as_from_scratch(checked.report, scratch.report)
    for text in more:
        click.echo(f"{name}: proved with reuse only: {text}", err=True)
    differences = tuple(_differences(report, scratch.report))
    for difference in differences:
        click.echo(f"{name}: {difference}", err=True)
    return msgspec.structs.replace(checked, differences=differences)


def _as_from_scratch(report: Report, scratch: Report) -> tuple[Report, list[str]]:
    """The report without the proofs that rest on earlier ones and that are not found from scratch, and what these are. They are
    no contradiction: their certificates are accepted, and without them it is unknown."""
    known = {(f.name, _where(f.place)): f for f in scratch.functions}
    functions, more = list[FunctionReport](), list[str]()
    for function in report.functions:
        other = known.get((function.name, _where(function.place)))
        open_ = {
            rule: other.verdicts[rule]
            for rule, verdict in function.verdicts.items()
            if other is not None and verdict.reused is not None and other.verdicts[rule].verdict == "unknown"
        }
        functions.append(msgspec.structs.replace(function, verdicts={**function.verdicts, **open_}) if open_ else function)
        more += [f"{function.name} ({_where(function.place)}): {rule}" for rule in open_]
    verdict = scratch.verdict if more and (report.verdict, scratch.verdict) == ("safe", "unknown") else report.verdict
    return msgspec.structs.replace(report, functions=tuple(functions), verdict=verdict), more


def _differences(one: Report, other: Report) -> Iterator[str]:
    """What two reports on one version do not agree on, traces aside."""
    if one.verdict != other.verdict:
        yield f"{one.verdict} as a whole, {other.verdict} from scratch"
    for what, mine, theirs in (
        ("finding", _findings(one), _findings(other)),
        ("verdict", _verdicts(one), _verdicts(other)),
        ("summary", _summaries(one), _summaries(other)),
    ):
        yield from (f"{what} only incrementally: {text}" for text in sorted((mine - theirs).elements()))
        yield from (f"{what} only from scratch: {text}" for text in sorted((theirs - mine).elements()))


def _findings(report: Report) -> Counter[str]:
    return Counter(
        f"{_where(f.place)}: {f.status} {f.severity}: {f.message} in {f.function} [{f.rule}], score {f.score}"
        for f in report.findings
    )


def _verdicts(report: Report) -> Counter[str]:
    return Counter(
        f"{f.name} ({_where(f.place)}): {rule}: {verdict.verdict}{' (stale)' if f.stale else ''}{_within(verdict)}"
        for f in report.functions
        for rule, verdict in f.verdicts.items()
    )


def _within(verdict: RuleVerdict) -> str:
    """The answer within a bound. Which theory settled it may differ, as those that did before come first."""
    if verdict.within is None:
        return ""
    held = "no run violates it" if verdict.within.holds else "not known"
    return f", within bound {verdict.within.bound}: {held}, {other_runs(complete=verdict.within.complete)}"


def _summaries(report: Report) -> Counter[str]:
    return Counter(f"{f.name} ({_where(f.place)}): {line}" for f in report.functions for line in f.summary)


def _where(place: Place) -> str:
    return spot(msgspec.structs.replace(place, path=os.path.relpath(place.path)))


def _render(done: Sequence[Checked], asked: Asked, algorithm: Algorithm, rules: tuple[Rule, ...]) -> str:
    if asked.format == "json":
        return encode_json([{**report_document(c.report), "revision": _revision_document(c, algorithm)} for c in done])
    if asked.format == "sarif":
        documents = [sarif_document(checked.report, rules, not checked.failed) for checked in done]
        return encode_json({**documents[0], "runs": [run for document in documents for run in document["runs"]]})
    return "\n".join("\n".join([f"== {c.version.name}", *_text(c, asked)]) + "\n" for c in done)


def _revision_document(checked: Checked, algorithm: Algorithm) -> dict[str, Any]:
    return {
        "version": checked.version.name,
        "algorithm": algorithm,
        "from_scratch": checked.apart,
        "introduced": [finding.fingerprint for finding in checked.introduced],
        "fixed": [{**finding_document(finding), "trace": []} for finding in checked.fixed],
        "differences": None if checked.differences is None else list(checked.differences),
    }


def _text(checked: Checked, asked: Asked) -> Iterator[str]:
    yield text_report(checked.report, stats=asked.stats).rstrip("\n")
    for finding in filter(_is_shown, checked.introduced):
        yield f"introduced: {spot(finding.place)}: {finding.message} [{finding.rule}]"
    for finding in filter(_is_shown, checked.fixed):
        yield f"fixed: {spot(finding.place)}: {finding.message} [{finding.rule}]"
    work, times = checked.report.work, checked.report.times
    parts = [("configurations", work.configurations), ("derivations", work.derivations), ("functions lowered", work.functions)]
    yield f"work: {', '.join(f'{name} {_spelled(number)}' for name, number in parts)}; {times.total:.0f} ms"
    if work.summaries != SummaryWork():
        yield f"summaries: {summaries_line(work.summaries)}"
    if work.reuse != ProofReuse():
        yield f"reused: {reuse_line(work.reuse)}"
    if checked.apart is not None:
        yield f"from scratch: {checked.apart}"
    if checked.differences is not None:
        number = len(checked.differences)
        yield "compared with from scratch: " + (count(number, "difference") if number else "the same")


def _is_shown(finding: Finding) -> bool:
    return finding.shown


def _spelled(number: Count) -> str:
    return f"{number.recomputed} computed and {number.reused} reused"
