"""`everproof watch`."""

from __future__ import annotations

import os
from typing import Any

import click
import watchfiles

from analysis.api import Checker
from analysis.cli.check import first_of, keep, run
from analysis.cli.command_options import Asked, check_options, read_asked
from analysis.cli.failure import Failure, demand_paths
from analysis.cli.output import say, write
from analysis.cli.text_format import text_report
from analysis.model.options import Options
from analysis.model.settings import FILE_NAME, settings_folder

_WATCHED = (".c", ".h", ".yaml", ".yml", ".json")


@click.command()
@click.argument("paths", metavar="[PATH]...", nargs=-1)
@check_options
def watch(paths: tuple[str, ...], **given: Any) -> None:
    """Check, and check again on every save. Ends with Ctrl-C."""
    asked = read_asked(dict(given), first_of(paths), "edit")
    if asked.certificate is not None:
        raise Failure("Certificates are of one version: use everproof check.")
    if asked.format != "text":
        raise Failure("The live view is text: use `everproof check` for other formats.")
    if asked.output is not None or asked.baseline is not None or asked.write_baseline is not None:
        raise Failure("The live view goes to the terminal and has no baseline: use `everproof check`.")
    demand_paths(paths)
    try:
        while _watched(paths, asked):
            asked = read_asked(dict(given), first_of(paths), "edit")
    except KeyboardInterrupt:
        pass


def _watched(paths: tuple[str, ...], asked: Asked) -> bool:
    """Checks on every save, until the settings change; whether they did."""
    checker = Checker(asked.options, jobs=asked.jobs, store=asked.store)
    _show(checker, paths, asked)
    for changes in watchfiles.watch(*_folders(paths, asked.options), raise_interrupt=True):
        if any(os.path.basename(path) == FILE_NAME for _, path in changes):
            checker.close()
            return True
        if any(path.endswith(_WATCHED) for _, path in changes):
            _show(checker, paths, asked)
    return False


def _show(checker: Checker, paths: tuple[str, ...], asked: Asked) -> None:
    checker.open(paths)
    checker.refresh()
    report = run(checker, asked)
    click.clear()
    say(report.messages)
    write(text_report(report, stats=asked.stats), None)
    keep(checker, asked)


def _folders(paths: tuple[str, ...], options: Options) -> list[str]:
    """What to watch: the folders that hold the files, because editors replace files rather than write into them; and those that
    hold rules, contracts or settings."""
    folders = {path if os.path.isdir(path) else os.path.dirname(path) or "." for path in paths} or {"."}
    folders |= {folder for folder in (*options.rules_dirs, *options.functions_dirs) if os.path.isdir(folder)}
    settings = os.path.join(settings_folder(first_of(paths)), FILE_NAME)
    return sorted(folders | ({settings} if os.path.isfile(settings) else set()))
