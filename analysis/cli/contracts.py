"""`everproof contracts`: what callers of functions have to keep, and what they can rely on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import click
import msgspec

from analysis.api import Checker
from analysis.cli.command_options import program_options, read_options
from analysis.cli.failure import Failure
from analysis.cli.json_format import encode_json
from analysis.cli.output import say, write
from analysis.model.spelling import display_name
from analysis.session.contracts.function_contract import FunctionContract
from analysis.session.contracts.library_contracts import library_contract
from analysis.session.contracts.program_contracts import program_contracts
from analysis.session.contracts.sentences import callers_sentence, sentences
from analysis.session.entries import choose_entries
from analysis.session.opened import Inspection

FAILED = 2


@click.command()
@click.argument("paths", metavar="[PATH ...]", nargs=-1)
@click.option("--function", "function", metavar="NAME", help="Only this function, which may be one of a library.")
@click.option("--format", "format_", type=click.Choice(["text", "json"]), default="text", help="Default: text.")
@program_options
def contracts(paths: tuple[str, ...], function: str | None, format_: str, **given: Any) -> int:
    """Print what is known of each function of PATH (files or folders; without one, of the program in the current folder): what
    it expects of callers, and what they can rely on.

    It is enough that callers do what the function expects: then it dereferences no null pointer and divides by no zero itself.
    It can be more than a call needs. What is not listed is not known.
    """
    alone = None if paths or given["compile_commands"] or function is None else library_contract(function)
    if alone is not None:
        _print([alone], format_)
        return 0
    options, wrong_settings = read_options(dict(given), paths[0] if paths else ".")
    checker = Checker(options)
    checker.open(paths)
    view = checker.inspect()
    say(view.messages)
    if not view.texts or checker.failed:
        return FAILED
    entries, _ = choose_entries(view.program, options.entries, view.system)
    found = list(program_contracts(view.program, view.places, _chosen(view, function), view.declarations, entries))
    if not found and function is not None:
        found = [_of_library(function, view)]
    elif function is None:
        described = (name for name, external in sorted(view.program.externals.items()) if external.row)
        found += [_of_library(name, view) for name in described]
    _print(found, format_)
    return FAILED if wrong_settings else 0


def _print(found: Sequence[FunctionContract], format_: str) -> None:
    write(encode_json(msgspec.to_builtins(found)) if format_ == "json" else _text(found), None)


def _chosen(view: Inspection, function: str | None) -> list[str]:
    """The linkage names of the functions that are defined in the files of the program, or of those that were asked for."""
    names = [name for name in view.program.functions if name not in view.system]
    return [name for name in names if function in (None, name, display_name(name))]


def _of_library(function: str, view: Inspection) -> FunctionContract:
    external = view.program.externals.get(function)
    written = "" if external is None else view.declarations.of_external(function)
    found = library_contract(function, external, written)
    if found is None:
        raise Failure(f"Nothing is known of {function}: the program does not define it, and no table describes it.")
    return found


def _text(found: Sequence[FunctionContract]) -> str:
    return "\n".join("\n".join(_lines(one)) + "\n" for one in found)


def _lines(contract: FunctionContract) -> Iterator[str]:
    where = f"{contract.path}:{contract.line}: " if contract.path else ""
    yield f"{where}{contract.declared or contract.signature}"
    for sentence in sentences(contract):
        yield f"  {sentence.text} ({sentence.known})"
    callers = callers_sentence(contract)
    if callers and contract.requires:
        yield f"  callers: {callers}"
    for text in contract.open:
        yield f"  not proved: {text}"
