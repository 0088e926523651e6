"""`everproof diff`."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence, Set
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import click
import msgspec

from analysis.api import Checker
from analysis.cfa.revisions.delta import Revision, program_change
from analysis.cli.check import FAILED, VIOLATED, run
from analysis.cli.command_options import Asked, check_options, read_asked
from analysis.cli.difference.condition_format import condition_json
from analysis.cli.difference.condition_reading import LeftPaths, speaks_of
from analysis.cli.difference.difference_formats import (
    Comparison,
    Differing,
    Functions,
    Removed,
    github_of,
    json_of,
    sarif_of,
    text_of,
)
from analysis.cli.difference.same_findings import compare_findings
from analysis.cli.difference.version_names import LAST, named_apart
from analysis.cli.failure import Failure
from analysis.cli.output import protect, say, write
from analysis.cli.version_chain import Checked, VersionChain
from analysis.cli.versions import read_version
from analysis.engines.difference.data_detector import Goal
from analysis.engines.difference.difference_condition import Condition
from analysis.engines.difference.equal_functions import with_proved
from analysis.engines.difference.extraction import Method, difference_condition
from analysis.engines.difference.function_pairs import ProgramPair
from analysis.engines.difference.residual_program import ManyFilesError, residual_program
from analysis.engines.difference.unchanged_functions import differences
from analysis.model.places import Place
from analysis.model.report import Finding, Message, Report
from analysis.model.spelling import display_name
from analysis.rules.automaton import Rule
from analysis.session.entries import choose_entries
from analysis.session.files.git_versions import GitError, Repository

_METHODS: dict[str, Method] = {"diffdp": "diffDP", "diffcond": "diffCond"}


class _Located(NamedTuple):
    """A version: its name, and the file or folder that it is. `copied`: the folder that the files of a repository were copied to,
    and the path of that repository from the current folder."""

    name: str
    path: str
    copied: tuple[str, str] | None = None


@click.command()
@click.argument("versions", metavar="OLD [NEW]", nargs=-1)
@click.option(
    "--condition", metavar="FILE", help="Write to this file, as JSON, which paths of NEW may have errors that OLD does not have."
)
@click.option(
    "--residual", metavar="FILE", help="Write NEW with only these paths to this file, as a C program. For versions of one file."
)
@click.option(
    "--extractor",
    type=click.Choice(list(_METHODS)),
    default="diffdp",
    help="How --condition and --residual compare paths. diffdp: by what depends on changed data; diffcond: by their text"
    " alone. Default: diffdp.",
)
@click.option(
    "--changed-paths",
    is_flag=True,
    help="Check only the paths of NEW that may have errors that OLD does not have: tells what is introduced only.",
)
@check_options
def diff(
    versions: tuple[str, ...], condition: str | None, residual: str | None, extractor: str, changed_paths: bool, **given: Any
) -> int:
    """Say what a change has brought about: which findings it has introduced and fixed, and which functions may do something else.

    A version is a file, a folder (a whole program), or a revision of the git repository that the current folder is in. Without
    NEW, a revision is compared with the current folder as it is now (`everproof diff HEAD`), and a file or folder as it is now
    with the last commit (`everproof diff a.c`). `A..B` and `A...B` name two revisions as git does.

    Exit code: 0 nothing introduced; 1 at least one finding introduced, shown or held back; 2 something asked for could not be
    done.
    """
    versions = named_apart(versions)
    if len(versions) not in (1, 2):
        raise Failure("There must be one version or two: name OLD and NEW, each a file, a folder, or a revision of git.")
    with tempfile.TemporaryDirectory(prefix="everproof-diff-") as folder:
        places = [Path(folder).resolve() / name for name in ("old", "new")]
        if len(versions) == 1 and os.path.exists(versions[0]):
            old, new = _committed(versions[0], places[0]), _Located(versions[0], versions[0])
        else:
            old = _located(versions[0], places[0])
            new = _located(versions[1], places[1]) if len(versions) == 2 else _Located("the working tree", ".")
        more = (("--condition", condition), ("--residual", residual))
        asked = _asked(given, old, new, more)
        if asked.format == "junit":
            raise Failure("A test report is about one version: use --format text, json, sarif or github, or `everproof check`.")
        comparison, rules, programs = _compared(old, new, asked, changed_paths=changed_paths)
    say(comparison.report.messages)
    written = {"json": json_of, "text": text_of, "github": github_of}.get(asked.format)
    write(written(comparison) if written else sarif_of(comparison, rules), asked.output)
    _write_conditions(programs, asked, condition, residual, _METHODS[extractor])  # last: it may fail, and the rest is said
    if comparison.findings.introduced:
        return VIOLATED
    return 0 if comparison.successful else FAILED


def _located(name: str, into: Path) -> _Located:
    if os.path.exists(name):
        return _Located(name, name)
    try:
        repository = Repository(".")
        commit = repository.commit(name)
    except GitError as error:
        raise Failure(f"{name} is no file or folder, and no revision of a git repository here: {error}.") from None
    path = _copied(name, repository, commit, into, ".")
    if not os.path.isdir(path):
        raise Failure(f"{name} has no folder {repository.below}.")
    return _Located(name, path, (str(into), os.path.relpath(repository.top)))


def _committed(name: str, into: Path) -> _Located:
    """The file or folder as the last commit has it."""
    folder, own = (name, ".") if os.path.isdir(name) else os.path.split(os.path.realpath(name))
    try:
        repository = Repository(folder)
        commit = repository.commit(LAST)
    except GitError as error:
        raise Failure(f"{name} has no last commit to be compared with: {error}. Name the other version, too.") from None
    path = _copied(LAST, repository, commit, into, own)
    if not os.path.exists(path):
        raise Failure(f"{name} is not in the last commit: name what it is compared with, too.")
    return _Located(LAST, path, (str(into), os.path.relpath(repository.top)))


def _copied(name: str, repository: Repository, commit: str, into: Path, own: str) -> str:
    """Copies a commit; the path of the copy of `own`, which is a path from the folder that the repository was asked for."""
    try:
        into.mkdir()
        repository.write(commit, into)
    except GitError as error:
        raise Failure(f"{name} cannot be read: {error}.") from None
    except OSError as error:
        raise Failure(f"{name} cannot be copied to a temporary folder: {error.strerror}.") from None
    return os.path.normpath(into / repository.below / own)


def _write_conditions(
    programs: ProgramPair | None, asked: Asked, condition: str | None, residual: str | None, method: Method
) -> None:
    if condition is None and residual is None:
        return
    if programs is None:
        raise Failure("A part of OLD or NEW could not be read, so their paths cannot be compared.")
    program, places = programs.new.program, programs.new.places
    goal, found = _conditions(programs, asked, method)
    if condition is not None:
        write(condition_json(program, places, found, goal, method), condition)
    if residual is not None:
        if programs.new.unparsed:
            raise Failure("No residual program is written: not all of NEW parses.")
        try:
            write(residual_program(program, places, found.values()).decode("utf-8", "surrogateescape"), residual)
        except ManyFilesError:
            raise Failure("A residual program can be made of one file only: compare two files.") from None


def _conditions(programs: ProgramPair, asked: Asked, method: Method) -> tuple[Goal, dict[str, Condition]]:
    """What must not become possible, and the conditions of the entries."""
    goal: Goal = "assertions" if asked.options.rules == ("assertion",) else "violations"
    entries = choose_entries(programs.new.program, asked.options.entries, programs.new.system).names
    return goal, {name: difference_condition(programs, name, method, goal) for name in entries}


def _asked(given: dict[str, Any], old: _Located, new: _Located, written: Iterable[tuple[str, str | None]]) -> Asked:
    """The options, which are those of the new version."""
    asked = read_asked(given, new.path)
    if asked.certificate is not None:
        raise Failure("Certificates are of one version: use everproof check.")
    if asked.baseline is not None or asked.write_baseline is not None:
        raise Failure("Baselines are for one version: use them with `everproof check`.")
    protect(asked, (old.path, new.path), written)
    if asked.format != "sarif":  # the only one that names what is proved
        asked = msgspec.structs.replace(asked, options=msgspec.structs.replace(asked.options, verdicts=False))
    if old.copied is None and new.copied is None:
        return asked
    return msgspec.structs.replace(asked, store=None)  # the next copy has other paths, so that nothing would be found again


def _compared(
    old: _Located, new: _Located, asked: Asked, *, changed_paths: bool
) -> tuple[Comparison, tuple[Rule, ...], ProgramPair | None]:
    with closing(VersionChain(asked, "incr-back", as_typed=False)) as chain:
        before, was = _checked(chain, old, asked)
        after, now = _checked_changes(chain, was, new, asked) if changed_paths else _checked(chain, new, asked)
        rules, is_c = chain.rules, chain.is_c
    copies = [version.copied for version in (old, new) if version.copied is not None]
    report_before, report_after = _respelled(before.report, copies), _respelled(after.report, copies)
    programs = None if was is None or now is None else ProgramPair(was, now, program_change(was, now))
    gone, added = _other_names(programs)
    unread = None if now is None else frozenset() if is_c else now.unparsed | gone
    found = compare_findings(report_before.findings, report_after.findings, gone - (unread or frozenset()), added, programs)
    fixed = tuple(one for one in found.fixed if unread is not None and one.function not in unread)
    comparison = Comparison(
        old=old.name,
        new=new.name,
        report=msgspec.structs.replace(
            report_after, messages=tuple(dict.fromkeys((*report_before.messages, *report_after.messages)))
        ),
        findings=msgspec.structs.replace(found, fixed=() if changed_paths else fixed),
        open=() if changed_paths else tuple(one for one in found.fixed if one not in fixed),
        functions=None if programs is None or unread is None else _functions(programs, report_before, report_after, unread),
        from_scratch=after.apart,
        successful=not (before.failed or after.failed or asked.wrong_settings),
    )
    return comparison, rules, programs


def _checked(chain: VersionChain, located: _Located, asked: Asked) -> tuple[Checked, Revision | None]:
    checked = chain.check(read_version(located.path, asked.options))
    if checked.ended:
        raise Failure(f"The time was used up in {located.name}: give a longer --timeout.")
    return checked, chain.revision()


def _checked_changes(chain: VersionChain, was: Revision | None, new: _Located, asked: Asked) -> tuple[Checked, Revision | None]:
    """NEW, of which only those paths are looked at that the condition of the difference leaves."""
    version = read_version(new.path, asked.options)
    now = chain.read(version)
    if was is None or now is None:
        raise Failure("A part of OLD or NEW could not be read, so their paths cannot be compared: leave out --changed-paths.")
    programs = ProgramPair(was, now, program_change(was, now))
    goal: Goal = "assertions" if asked.options.rules == ("assertion",) else "violations"
    method: Method = "diffDP" if all(speaks_of("diffDP", goal, rule.name) for rule in chain.rules) else "diffCond"
    goal, found = _conditions(programs, asked, method)
    left = LeftPaths("of --changed-paths", condition_json(now.program, now.places, found, goal, method))
    narrowed = left.terms(asked)
    checker = Checker(narrowed.options, jobs=asked.jobs, restriction=left.restrict)
    checker.open((new.path,))
    report = left.said(run(checker, narrowed))
    said = Message(
        "note", "", "Only the paths of NEW that may have errors that OLD does not have were checked: what is fixed is not known."
    )
    report = msgspec.structs.replace(report, messages=(*report.messages, said))
    return Checked(version, report, checker.failed, ended=False, apart=None), now


def _other_names(programs: ProgramPair | None) -> tuple[frozenset[str], frozenset[str]]:
    """The names of functions that only the old version has, and those that only the new one has."""
    if programs is None:
        return frozenset(), frozenset()
    was, now = (frozenset(map(display_name, one.program.functions)) for one in (programs.old, programs.new))
    return was - now, now - was


def _functions(programs: ProgramPair, before: Report, after: Report, unread: Set[str]) -> Functions:
    """What each function of the new version, that of the report `after`, may do; which functions of the report `before` it no
    longer has; and which could not be read: `unread`."""
    was, now = programs.old, programs.new
    found = {
        _key(now, name): difference for name, difference in with_proved(programs, differences(was, now, programs.change)).items()
    }
    keys = ((function, (function.name, function.place.range.start.line)) for function in after.functions)
    differing = tuple(Differing(function.name, function.place, found[key]) for function, key in keys if key in found)
    deleted = {_key(was, name) for name in programs.change.deleted}
    removed = tuple(
        Removed(function.name, function.place)
        for function in before.functions
        if (function.name, function.place.range.start.line) in deleted and function.name not in unread
    )
    return Functions(differing, removed, tuple(sorted(unread)))


def _key(revision: Revision, name: str) -> tuple[str, int]:
    """What a function has in a report: its name, and the line of that."""
    return display_name(name), revision.places.name_place(name).range.start.line


def _respelled(report: Report, copies: Sequence[tuple[str, str]]) -> Report:
    """A report with paths from the current folder in place of those of copies, also in its texts."""
    spelled = tuple(pair for into, top in copies for pair in _spellings(into, top))
    if not spelled:
        return report
    replace = msgspec.structs.replace

    def said(text: str) -> str:
        for there, here in spelled:
            text = text.replace(there, here)
        return text

    def at(place: Place) -> Place:
        return replace(place, path=said(place.path))

    def finding(one: Finding) -> Finding:
        trace = tuple(replace(step, place=at(step.place), text=said(step.text)) for step in one.trace)
        reason = None if one.reason is None else said(one.reason)
        return replace(one, place=at(one.place), message=said(one.message), trace=trace, reason=reason)

    return replace(
        report,
        files=tuple(replace(file, path=said(file.path)) for file in report.files),
        functions=tuple(replace(function, place=at(function.place)) for function in report.functions),
        findings=tuple(map(finding, report.findings)),
        messages=tuple(replace(message, path=said(message.path), text=said(message.text)) for message in report.messages),
    )


def _spellings(into: str, top: str) -> Iterator[tuple[str, str]]:
    """What stands in the paths of a copy for the current folder, if it is in the repository, and for the top of the latter."""
    here = os.path.relpath(os.curdir, top)
    if not here.startswith(os.pardir):
        yield os.path.normpath(os.path.join(into, here)) + os.sep, ""
    yield into + os.sep, "" if top == os.curdir else top + os.sep
