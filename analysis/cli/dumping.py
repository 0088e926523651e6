"""`everproof dump`."""

from __future__ import annotations

from typing import Any

import click
import msgspec

from analysis.api import Checker
from analysis.cfa import cfa_text as dumps
from analysis.cfa.graph import Program
from analysis.cfa.revisions.delta import Revision, changes, program_change
from analysis.cfa.revisions.dump_delta import dot_delta, dump_delta
from analysis.cli.command_options import program_options, read_options
from analysis.cli.failure import Failure
from analysis.cli.output import say, write
from analysis.engines.automaton import Analysis
from analysis.engines.automaton.report.derivations import dot_derivation, dump_derivation
from analysis.model.options import Options
from analysis.model.spelling import display_name
from analysis.rules.automaton import Documentation, Rule
from analysis.rules.load import load_rules

FAILED = 2
_NO_HELP = Documentation("", "", "", "")


@click.command()
@click.argument("what", type=click.Choice(["ast", "cfa", "callgraph", "delta", "derivation"]))
@click.argument("files", metavar="FILE [NEW]", nargs=-1, required=True)
@click.option("--function", "function", metavar="NAME", help="Only this function.")
@click.option(
    "--format", "format_", type=click.Choice(["text", "dot"]), default="text", help="Default: text; dot is for Graphviz."
)
@program_options
def dump(what: str, files: tuple[str, ...], function: str | None, format_: str, **given: Any) -> int:
    """Print a stage between the text of FILE and its findings: ast, cfa, callgraph, derivation (the derivation graph);
    or delta, what changed from FILE to NEW.

    FILE can be a folder (a whole program). The delta names functions that were added (+), deleted (-) or modified (~) with their
    edges, and changed variables, external functions, records and rules (those in .everproof/rules of a folder). What no
    function uses, layout, comments, the order of functions and the names of files are no change.
    """
    read = [read_options(dict(given), name) for name in files]
    (options, _), wrong_settings = read[0], any(is_wrong for _, is_wrong in read)
    _refuse_misuse(what, files, function, format_)
    if what == "delta":
        versions = tuple((name, its) for name, (its, _) in zip(files, read, strict=True))
        return _delta(versions[0], versions[1], function, format_) or (FAILED if wrong_settings else 0)
    checker = Checker(options)
    checker.open(files)
    view, analysis = checker.explore() if what == "derivation" else (checker.inspect(), None)
    say(view.messages)
    if not view.texts or checker.failed:
        return FAILED
    if what == "ast":
        write(dumps.dump_ast(view.trees[0]), None)
    elif what == "callgraph":
        write(dumps.dot_callgraph(view.program) if format_ == "dot" else dumps.dump_callgraph(view.program), None)
    else:
        chosen = _chosen(view.program, function)
        write(_cfas(view.program, chosen, format_) if analysis is None else _derivation(analysis, chosen, format_), None)
    return FAILED if wrong_settings else 0


def _refuse_misuse(what: str, files: tuple[str, ...], function: str | None, format_: str) -> None:
    """Refuses options that what is dumped does not have, and another number of files than it takes."""
    if what == "ast" and (format_ == "dot" or function is not None):
        raise Failure("The syntax tree is dumped as text and as a whole: leave out --format and --function.")
    if what == "callgraph" and function is not None:
        raise Failure("The call graph is of the whole file: leave out --function.")
    if len(files) != (2 if what == "delta" else 1):
        wanted = "two versions, each a file or a folder" if what == "delta" else "one file"
        raise Failure(f"`everproof dump {what}` takes {wanted}: {len(files)} are given.")


def _chosen(program: Program, function: str | None) -> list[str]:
    """The linkage names of the functions to show."""
    chosen = [name for name in program.functions if function in (None, name, display_name(name))]
    if function is not None and not chosen:
        raise Failure(f"The file defines no function {function}: `everproof dump callgraph` lists its functions.")
    return chosen


def _cfas(program: Program, chosen: list[str], format_: str) -> str:
    cfas = (program.functions[name] for name in chosen)
    return "\n".join(dumps.dot_cfa(cfa) if format_ == "dot" else dumps.dump_cfa(cfa) for cfa in cfas)


def _derivation(analysis: Analysis, chosen: list[str], format_: str) -> str:
    return dot_derivation(analysis, chosen) if format_ == "dot" else dump_derivation(analysis, chosen)


def _delta(old: tuple[str, Options], new: tuple[str, Options], function: str | None, format_: str) -> int:
    before, after = _revision(*old), _revision(*new)
    if before is None or after is None:
        return FAILED
    change = program_change(before, after)
    rules = [(rule.name, rule.kind) for rule in changes(_rules(old[1]), _rules(new[1]))]
    if function is not None:
        if not _defines(before, function) and not _defines(after, function):
            raise Failure(f"Neither version defines a function {function}: `everproof dump callgraph` lists their functions.")
        change, rules = change.only(function), []
    write(dot_delta(change) if format_ == "dot" else dump_delta(change, before.places, after.places, rules), None)
    return 0


def _revision(name: str, options: Options) -> Revision | None:
    """The version that a file or folder is; None, and a message, if it cannot be read."""
    checker = Checker(options)
    checker.open((name,))
    view = checker.inspect()
    say(view.messages)
    return Revision(view.program, view.places, view.unparsed, view.system) if view.texts and not checker.failed else None


def _defines(revision: Revision, function: str) -> bool:
    return any(function in (name, display_name(name)) for name in revision.program.functions)


def _rules(options: Options) -> dict[str, Rule]:
    """The rules for a version, without what they only say to people."""
    rules, messages = load_rules(options)
    say(messages)
    return {rule.name: msgspec.structs.replace(rule, summary="", help=_NO_HELP) for rule in rules}
