"""The options that several commands share, and what they make of them: `analysis.model.options.Options`."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, Literal, TypeVar

import click
import msgspec

from analysis.cli.failure import Failure
from analysis.model.options import CompilerFlags, Options
from analysis.store.database import Store
from analysis.store.location import open_store
from analysis.store.records import is_foreign

Command = TypeVar("Command", bound=Callable[..., Any])


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
    task_timeout: float | None = None
    prover: Literal["predicate", "symbolic", "value"] | None = None


def _program(command: Command) -> Command:
    """Options that say what the program is and how it is compiled."""
    for option in reversed(
        [
            click.option("-p", "--compile-commands", metavar="FILE", help="Where the compiler flags come from."),
            click.option("-I", "include_dirs", metavar="DIR", multiple=True, help="A folder of headers."),
            click.option("-D", "defines", metavar="NAME[=V]", multiple=True, help="Define a macro."),
            click.option("--std", metavar="STD", help="The C standard, as for the compiler."),
            click.option(
                "--compiler", metavar="NAME", help="The preprocessor to run: gcc, clang, cc; none for no preprocessing."
            ),
            click.option(
                "--data-model", type=click.Choice(["LP64", "ILP32"]), default="LP64", help="Widths of long and pointers."
            ),
            click.option(
                "--entry",
                "entries",
                metavar="NAME",
                multiple=True,
                help="An entry function, repeatable. Default: main, else every function nobody calls.",
            ),
            click.option("--rule", "rules", metavar="NAME", multiple=True, help="Only these rules; 'all' for every rule."),
            click.option("--rules-dir", "rules_dirs", metavar="DIR", multiple=True, help="More rules, as YAML files."),
        ]
    ):
        command = option(command)
    return command


def _run(command: Command) -> Command:
    """Options that say how to check and what to print."""
    engines = ["auto", "automaton", "predicate", "symbolic", "value", "summary"]
    seconds = click.FloatRange(min=0, min_open=True)
    for option in reversed(
        [
            click.option(
                "--engine",
                type=click.Choice(engines),
                default="auto",
                help="automaton: findings stay possible; auto: provers decide them; predicate, symbolic, value: proofs, too.",
            ),
            click.option(
                "--encoding",
                type=click.Choice(["auto", "int", "bv", "lra", "euf"]),
                default="auto",
                help="How solvers see C. Now: auto.",
            ),
            click.option("--certificate", metavar="FILE", help="Look for proofs, and write them to this file."),
            click.option("--timeout", type=seconds, metavar="S", help="Seconds for the whole run."),
            click.option("--task-timeout", type=seconds, metavar="S", help="Seconds to decide one finding. Default: 5."),
            click.option(
                "--jobs", type=click.IntRange(1, 64), metavar="N", help="Processes. Default: one per processor, at most 2."
            ),
            click.option(
                "--store",
                metavar="FILE|none",
                help="Where results are kept between runs. Default: a file for each workspace, in the user's cache folder.",
            ),
            click.option("--baseline", metavar="FILE", help="Report only findings that this file does not hold."),
            click.option("--write-baseline", metavar="FILE", help="Write the findings to this file."),
            click.option(
                "--format", "format_", type=click.Choice(["text", "json", "sarif"]), default="text", help="Default: text."
            ),
            click.option("--output", metavar="FILE", help="Write the report here, not to standard output."),
            click.option("--stats", is_flag=True, help="Times and work counters, also in text."),
            click.option("--strict", is_flag=True, help="Exit with 3 where something stayed unknown."),
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


def read_options(given: dict[str, Any]) -> Options:
    """The program options, taken out of a command's keyword arguments; raises Failure on those that cannot be used."""
    commands = given.pop("compile_commands")
    if commands is not None and not os.path.isfile(commands):
        raise Failure(f"There is no file {commands}: give --compile-commands a compile_commands.json.")
    for folder in given["include_dirs"]:
        if not os.path.isdir(folder):
            raise Failure(f"There is no folder {folder}: -I takes a folder of headers.")
    return Options(
        flags=CompilerFlags(tuple(given.pop("include_dirs")), tuple(given.pop("defines")), given.pop("std")),
        compile_commands=commands,
        compiler=given.pop("compiler"),
        data_model=given.pop("data_model"),
        entries=tuple(given.pop("entries")),
        rules=tuple(given.pop("rules")),
        rules_dirs=tuple(given.pop("rules_dirs")),
    )


def read_asked(given: dict[str, Any]) -> Asked:
    """All options of a check; raises Failure on those that cannot be used, or cannot be used yet."""
    options = read_options(given)
    engine, encoding, store = given.pop("engine"), given.pop("encoding"), given.pop("store")
    task_timeout = given.pop("task_timeout")
    if engine == "summary":
        raise Failure("This version has no summary engine of its own: use --engine predicate, which finds summaries.")
    certificate = given.pop("certificate")
    prover: Literal["predicate", "symbolic", "value"] | None = None if certificate is None else "predicate"
    if engine in ("predicate", "symbolic", "value"):
        prover, engine = engine, "auto"
    if encoding != "auto":
        raise Failure(f"This version has no solver engine that could encode C as {encoding}: leave out --encoding.")
    limits = options.limits if task_timeout is None else msgspec.structs.replace(options.limits, task_seconds=task_timeout)
    options = msgspec.structs.replace(options, engine=engine, limits=limits)
    opened = open_store(store, os.getcwd())
    if opened is not None and store is not None and is_foreign(opened.path):
        raise Failure(f"{store} is not a store of Everproof: name another file, or leave out --store.")
    return Asked(
        options=options,
        timeout=given.pop("timeout"),
        store=opened,
        jobs=given.pop("jobs") or min(2, os.cpu_count() or 1),
        baseline=given.pop("baseline"),
        write_baseline=given.pop("write_baseline"),
        format=given.pop("format_"),
        output=given.pop("output"),
        stats=given.pop("stats"),
        strict=given.pop("strict"),
        certificate=certificate,
        task_timeout=task_timeout,
        prover=prover,
    )
