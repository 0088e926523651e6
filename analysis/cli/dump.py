"""`everproof dump`."""

from __future__ import annotations

from typing import Any

import click

from analysis.api import Checker
from analysis.cfa import dump as dumps
from analysis.cfa.graph import Program
from analysis.cli.failure import Failure
from analysis.cli.options import program_options, read_options
from analysis.cli.output import say, write
from analysis.model.spelling import display_name

_LATER = ("delta", "formula")


@click.command()
@click.argument("what", type=click.Choice(["ast", "cfa", "callgraph", "delta", "derivation", "formula"]))
@click.argument("file", metavar="FILE")
@click.option("--function", "function", metavar="NAME", help="Only this function.")
@click.option(
    "--format", "format_", type=click.Choice(["text", "dot"]), default="text", help="Default: text; dot is for Graphviz."
)
@program_options
def dump(what: str, file: str, function: str | None, format_: str, **given: Any) -> int:
    """Print a stage between the text of FILE and its findings. Now: ast, cfa, callgraph."""
    options = read_options(given)
    if what in _LATER:
        raise Failure(f"This version has no {what} to dump: it dumps ast, cfa and callgraph.")
    if what == "ast" and (format_ == "dot" or function is not None):
        raise Failure("The syntax tree is dumped as text and as a whole: leave out --format and --function.")
    checker = Checker(options)
    checker.open([file])
    view = checker.inspect()
    say(view.messages)
    if not view.trees or checker.failed:
        return 2
    write(dumps.dump_ast(view.trees[0]) if what == "ast" else _program(what, view.program, function, format_), None)
    return 0


def _program(what: str, program: Program, function: str | None, format_: str) -> str:
    if what == "callgraph":
        if function is not None:
            raise Failure("The call graph is of the whole file: leave out --function.")
        return dumps.dot_callgraph(program) if format_ == "dot" else dumps.dump_callgraph(program)
    chosen = [cfa for name, cfa in program.functions.items() if function in (None, name, display_name(name))]
    if function is not None and not chosen:
        raise Failure(f"The file defines no function {function}: `everproof dump callgraph` lists its functions.")
    if what == "derivation":
        raise Failure("This version has no derivation graph to dump: it dumps ast, cfa and callgraph.")
    return "\n".join(dumps.dot_cfa(cfa) if format_ == "dot" else dumps.dump_cfa(cfa) for cfa in chosen)
