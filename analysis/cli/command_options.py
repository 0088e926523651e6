"""The options that several commands share, and what they make of them: `analysis.model.options.Options`.

What is not said on the command line is what the settings of the workspace say (`analysis.model.settings`): those of the folder of
what is to be checked, or of one above it.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from typing import Any, TypeVar, get_args

import click
import msgspec

from analysis.cli.failure import Failure
from analysis.cli.text_format import message_line
from analysis.frontend.compiler.compiler_flags import DATABASE_NAME
from analysis.model.budgets import BudgetName
from analysis.model.limits import LONGEST
from analysis.model.options import LIGHT, MOST_ROUNDS, UNWIND, Assumption, CompilerFlags, Encoding, Engine, Options, Show
from analysis.model.report import Message, Report
from analysis.model.settings import Settings, settings_folder, workspace_settings
from analysis.model.symbolic_operators import SymbolicOperators, choices, read_operators
from analysis.model.unit_flags import flags_problems
from analysis.rules.function_files import load_functions
from analysis.rules.load import load_rules
from analysis.store.database import Store
from analysis.store.records import is_foreign
from analysis.store.store_location import VARIABLE, open_store

_REPORTED = "everproof: folders whose wrong settings were reported"
Command = TypeVar("Command", bound=Callable[..., Any])


"""Encodings that only the engine `summary` has."""


class _Seconds(click.FloatRange):
    """Seconds in a range; what is no number is in none."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The number; fails with a sentence."""
        number = super().convert(value, param, ctx)
        if math.isnan(number):
            self.fail(f"{value!r} is not a number of seconds.", param, ctx)
        return number


class Asked(msgspec.Struct, frozen=True):
    """What the user asked for, beyond `Options`. `timeout` in seconds, None for no bound; `store` None for none."""

    options: Options
    store: Store | None
    timeout: float | None
    jobs: int
    baseline: str | None
    write_baseline: str | None
    format: str
    output: str | None
    stats: bool
    strict: bool
    certificate: str | None = None
    settings: Settings = Settings()
    wrong_settings: bool = False
    whole_traces: bool = False

    def presented(self, report: Report) -> Report:
        """The report as it is to be printed: with all steps of its traces, or with those that explain the findings."""
        if not self.whole_traces:
            return report
        findings = tuple(msgspec.structs.replace(finding, explaining=()) for finding in report.findings)
        return msgspec.structs.replace(report, findings=findings)


def _program(command: Command) -> Command:
    """Options that say what the program is and how it is compiled."""
    for option in reversed(
        [
            click.option(
                "-p",
                "--compile-commands",
                metavar="FILE",
                help="Where the compiler flags come from: a compile_commands.json, or its folder.",
            ),
            click.option("-I", "include_dirs", metavar="DIR", multiple=True, help="A folder of headers."),
            click.option("-D", "defines", metavar="NAME[=V]", multiple=True, help="Define a macro."),
            click.option("--std", metavar="STD", help="The C standard, as for the compiler."),
            click.option(
                "--compiler", metavar="NAME", help="The preprocessor to run: gcc, clang, cc; none for no preprocessing."
            ),
            click.option(
                "--data-model", type=click.Choice(["LP64", "ILP32"]), help="Widths of long and pointers. Default: LP64."
            ),
            click.option(
                "--entry",
                "entries",
                metavar="NAME",
                multiple=True,
                help="An entry function, repeatable. Default: main, and every function nobody calls.",
            ),
            click.option("--rule", "rules", metavar="NAME", multiple=True, help="Only these rules; 'all' for every rule."),
            click.option("--rules-dir", "rules_dirs", metavar="DIR", multiple=True, help="More rules, as YAML files."),
        ]
    ):
        command = option(command)
    return command


def _run(command: Command) -> Command:
    """Options that say how to check and what to print."""
    seconds = _Seconds(min=0, min_open=True, max=LONGEST)
    for option in reversed(
        [
            click.option(
                "--engine",
                type=click.Choice(get_args(Engine)),
                help="automaton: findings stay possible, nothing is proved; summary: runs within the bound --unwind; "
                "auto: all provers but summary, in turn; others: only that one. Default: that of the settings, else auto.",
            ),
            click.option(
                "--encoding",
                type=click.Choice(get_args(Encoding)),
                help="How proofs encode integers. int: mathematical integers; bv: bits; auto: int, then bv. For --engine summary "
                "also lra: linear real arithmetic; euf: equality only; there, auto is euf, then lra, then int.",
            ),
            click.option(
                "--unwind",
                type=click.IntRange(1, MOST_ROUNDS),
                metavar="K",
                help="The bound of --engine summary: how often a loop goes back, and how many calls of a function are active at "
                f"once. Default: {UNWIND}.",
            ),
            click.option(
                "--symbolic-options",
                metavar="NAME=VALUE,...",
                help="Of --engine symbolic, only proofs by refinement, with these operators: " + ", ".join(choices()) + ".",
            ),
            click.option(
                "--show",
                type=click.Choice(get_args(Show)),
                help="Which findings are shown: those that are likely to be true, or all. The others are counted. "
                "Default: that of the settings, else likely.",
            ),
            click.option(
                "--budget",
                type=click.Choice(get_args(BudgetName)),
                help="The time that provers get. edit: as after a change; background: as in an editor; full: as for one check.",
            ),
            click.option(
                "--assume",
                "assume",
                type=click.Choice(get_args(Assumption)),
                multiple=True,
                help="An assumption that provers may make; repeatable.",
            ),
            click.option("--certificate", metavar="FILE", help="Write the certificates of what is proved to this file."),
            click.option("--timeout", type=seconds, metavar="S", help="Seconds for the whole run."),
            click.option("--task-timeout", type=seconds, metavar="S", help="Seconds for one task of a prover."),
            click.option(
                "--jobs", type=click.IntRange(1, 64), metavar="N", help="Processes. Default: one per processor, at most 8."
            ),
            click.option(
                "--store",
                metavar="FILE|none",
                help="Where results are kept between runs. Default: a file for each workspace, in the user's cache folder.",
            ),
            click.option("--baseline", metavar="FILE", help="Report only findings that this file does not contain."),
            click.option("--write-baseline", metavar="FILE", help="Write the findings to this file."),
            click.option(
                "--format",
                "format_",
                type=click.Choice(["text", "json", "sarif", "github", "junit"]),
                default="text",
                help="github: annotations of a GitHub workflow; junit: a test report in XML. Default: text.",
            ),
            click.option(
                "--trace",
                type=click.Choice(["short", "whole"]),
                default="short",
                help="Which steps of a trace are printed: those that explain the finding, or all. Default: short.",
            ),
            click.option("--output", metavar="FILE", help="Write the report to this file instead of standard output."),
            click.option("--stats", is_flag=True, help="Times and work counters, also in text."),
            click.option("--strict", is_flag=True, help="Exit with 3 if something stayed unknown."),
        ]
    ):
        command = option(command)
    return command


def program_options(command: Command) -> Command:
    """Adds the options of `read_options` to a command."""
    return _program(command)


def check_options(command: Command) -> Command:
    """Adds the options of `read_asked` to a command."""
    return _program(_run(command))


def settings_of(start: str) -> tuple[Settings, Options, bool]:
    """The settings for a file or folder, what they make of the options, and whether anything is wrong in
    them. A message says so, once for each command."""
    folder = settings_folder(start)
    settings, problems = workspace_settings((folder,))
    reported = click.get_current_context().meta.setdefault(_REPORTED, set())
    for problem in problems if folder not in reported else ():
        click.echo(message_line(Message("error", folder, problem[:1].upper() + problem[1:])), err=True)
    reported.add(folder)
    return settings, msgspec.structs.replace(settings.options((folder,)), proofs=False), bool(problems)


def read_options(given: dict[str, Any], start: str) -> tuple[Options, bool]:
    """The program options, taken out of a command's keyword arguments, and whether settings are wrong; raises Failure on options
    that cannot be used. `start` is the first file or folder that the command is about: its settings count."""
    _, default, is_wrong = settings_of(start)
    return _read_options(given, default), is_wrong


def _read_options(given: dict[str, Any], default: Options) -> Options:
    commands = _named_database(given.pop("compile_commands"))
    for folder in given["include_dirs"]:
        if not os.path.isdir(folder):
            raise Failure(f"There is no folder {folder}: -I takes a folder of headers.")
    for name, problem in flags_problems(given["defines"], given["std"]):
        raise Failure(f"{'-D' if name == 'defines' else '--std'}: {problem}.")
    flags = CompilerFlags(
        tuple(given.pop("include_dirs")) or default.flags.include_dirs,
        tuple(given.pop("defines")) or default.flags.defines,
        given.pop("std") or default.flags.standard,
    )
    return msgspec.structs.replace(
        default,
        flags=flags,
        compile_commands=commands or default.compile_commands,
        compiler=given.pop("compiler") or default.compiler,
        data_model=given.pop("data_model") or default.data_model,
        entries=tuple(given.pop("entries")) or default.entries,
        rules=tuple(given.pop("rules")) or default.rules,
        rules_dirs=(*given.pop("rules_dirs"), *default.rules_dirs),
    )


def _named_database(named: str | None) -> str | None:
    """The file that `-p` names: itself, or the compile_commands.json in a folder; raises Failure if it is no regular file."""
    if named is None:
        return None
    path = os.path.join(named, DATABASE_NAME) if os.path.isdir(named) else named
    if not os.path.exists(path):
        raise Failure(f"There is no file {path}: give --compile-commands a {DATABASE_NAME}, or a folder that has one.")
    if not os.path.isfile(path):
        raise Failure(f"{path} is no regular file: give --compile-commands a {DATABASE_NAME}, or a folder that has one.")
    return path


def is_alike(one: Asked, other: Asked) -> bool:
    """Whether two folders have the same settings, contracts and rules, with the same options of the command."""
    if one.settings != other.settings or load_functions(one.options)[0] != load_functions(other.options)[0]:
        return False
    return load_rules(one.options)[0] == load_rules(other.options)[0]


def _with_engine(given: dict[str, Any], options: Options) -> Options:
    """The options with the engine, the encoding and the bound that are given; raises Failure where these do not go together."""
    engine, named = given.pop("engine") or options.engine, given.pop("encoding")
    encoding = named or options.encoding
    unwind = given.pop("unwind")
    if engine != "summary" and unwind is not None:
        raise Failure("--unwind is the bound of --engine summary: use them together.")
    if engine != "summary" and encoding in LIGHT:
        said = f"Only summaries are made in {encoding}" + ("" if named else ", as the settings say")
        raise Failure(f"{said}: use it with --engine summary, or --encoding int, bv or auto.")
    if engine == "summary" and not set(options.entries) <= {"main"}:
        raise Failure("Runs within a bound begin in main: leave out --entry and the setting entries, or use another --engine.")
    operators = _operators(given.pop("symbolic_options"), engine)
    return msgspec.structs.replace(
        options, engine=engine, encoding=encoding, unwind=unwind or options.unwind, operators=operators
    )


def _operators(text: str | None, engine: Engine) -> SymbolicOperators | None:
    """The operators of symbolic execution that are given; raises Failure if they are not understood."""
    if text is None:
        return None
    if engine != "symbolic":
        raise Failure("--symbolic-options is about --engine symbolic: use them together.")
    try:
        return read_operators(text.split(","))
    except ValueError as error:
        raise Failure(str(error)) from None


def read_asked(given: dict[str, Any], start: str, budget: BudgetName = "full") -> Asked:
    """All options of a check, with the command's own `budget`; raises Failure on those that cannot be used. `start`: see
    `read_options`."""
    settings, default, wrong_settings = settings_of(start)
    options = _with_engine(given, _read_options(given, default))
    store, task_timeout, certificate = given.pop("store"), given.pop("task_timeout"), given.pop("certificate")
    if certificate is not None and options.engine == "automaton":
        raise Failure("The automaton engine proves nothing: leave out --certificate, or use another --engine.")
    if certificate is not None and options.engine == "summary":
        raise Failure("Answers within a bound are no proofs: leave out --certificate, or use another --engine.")
    limits = options.limits
    if task_timeout is not None:
        each = dict.fromkeys(("task_seconds", "proof_seconds", "program_seconds"), task_timeout)
        limits = msgspec.structs.replace(limits, **each)
    options = msgspec.structs.replace(
        options,
        budget=given.pop("budget") or budget,
        proofs=True,
        everywhere=True,
        show=given.pop("show") or options.show,
        assume=tuple(given.pop("assume")),
        reuse="annotations" if options.engine == "predicate" else "none",
        certificates=certificate is not None,
        limits=limits,
    )
    if certificate is not None:
        store = "none"  # certificates name locations as they are numbered in a program that is read from nothing
    opened = open_store(store or os.environ.get(VARIABLE) or settings.store, os.getcwd())
    if opened is not None and store is not None and is_foreign(opened.path):
        raise Failure(f"{store} is not a store of Everproof: name another file, or leave out --store.")
    return Asked(
        options=options,
        timeout=given.pop("timeout"),
        store=opened,
        jobs=given.pop("jobs") or min(8, os.cpu_count() or 1),
        baseline=given.pop("baseline"),
        write_baseline=given.pop("write_baseline"),
        format=given.pop("format_"),
        output=given.pop("output"),
        stats=given.pop("stats"),
        strict=given.pop("strict"),
        certificate=certificate,
        whole_traces=given.pop("trace") == "whole",
        settings=settings,
        wrong_settings=wrong_settings,
    )
