"""`everproof cache`."""

from __future__ import annotations

import os

import click

from analysis.cli.failure import Failure, demand_paths
from analysis.cli.handing_over import export, take
from analysis.cli.output import say, write
from analysis.cli.self_audit import verify_deep
from analysis.cli.text_format import count
from analysis.session.keeping.archive import HANDED_OVER
from analysis.session.provers.asking.kept_answers import DECISIONS
from analysis.store.database import Store
from analysis.store.store_location import open_store

_WITH_FILE = {"export": export, "import": take}


@click.command()
@click.argument("action", type=click.Choice(["stat", "clear", "verify", "export", "import"]))
@click.argument("files", metavar="[FILE]", nargs=-1)
@click.option("--deep", is_flag=True, help="With verify: check the program of the FILEs again from scratch, and compare.")
@click.option(
    "--report",
    metavar="FILE",
    default="everproof-self-audit.json",
    help="Where --deep writes what differs. Default: everproof-self-audit.json.",
)
@click.option("--store", metavar="FILE", help="The store. Default: that of the current folder's workspace.")
def cache(action: str, files: tuple[str, ...], deep: bool, report: str, store: str | None) -> int:
    """Show, empty or verify the store, which keeps results between runs; or hand it over.

    `export FILE` writes what is kept of the current folder's workspace to a file; `import FILE` takes such a file into the store
    of another machine. There, nothing in it is believed before it was checked again.

    `verify` reads all that is kept. `verify --deep [FILE]...` checks the program of `everproof check [FILE]...` again, from
    nothing, and compares: what differs is repaired, and written to a report.

    Exit code: 0; 2 if there is no store, or it is of no use; for `verify`, 1 if something in it was damaged or differs.
    """
    opened = open_store(store, os.getcwd())
    if opened is None:
        raise Failure("There is no store: EVERPROOF_STORE or --store says none.")
    if deep and action != "verify":
        raise Failure("Only `everproof cache verify` has --deep.")
    if not deep and len(files) != (action in _WITH_FILE):
        raise Failure("`everproof cache export` and `import` take one FILE, `verify --deep` any number, the other actions none.")
    if deep:
        demand_paths(files)
    if action != "import" and not os.path.exists(opened.path):
        if action == "export" or deep:
            raise Failure(f"{opened.path}: nothing is kept: run `everproof check` first.")
        write(f"{opened.path}: nothing is kept.\n", None)
        return 0
    try:
        if deep:
            return verify_deep(opened, files, report)
        if action in _WITH_FILE:
            done = _WITH_FILE[action](opened, files[0])
            _check(opened)
            return done
        return {"stat": _stat, "clear": _clear, "verify": _verify}[action](opened)
    finally:
        opened.close()


def _stat(store: Store) -> int:
    groups = store.groups()
    _check(store)
    programs = sum(not group.label.startswith((DECISIONS, HANDED_OVER)) for group in groups)
    lines = [f"{store.path}: {count(programs, 'program')}, {store.size() / 1e6:.1f} MB"]
    lines += [f"  {group.label}: {count(group.records, 'record')}, {group.size / 1e6:.1f} MB" for group in groups]
    write("\n".join(lines) + "\n", None)
    return 0


def _clear(store: Store) -> int:
    store.clear()
    _check(store)
    write(f"{store.path}: emptied.\n", None)
    return 0


def _verify(store: Store) -> int:
    good, damaged = store.verify()
    _demand_usable(store)
    messages = store.take_messages()
    say(messages)
    write(f"{store.path}: {count(good, 'record')} intact, {damaged} damaged and deleted\n", None)
    return 1 if messages else 0


def _check(store: Store) -> None:
    """Says what went wrong; raises Failure if the store is of no use."""
    _demand_usable(store)
    say(store.take_messages())


def _demand_usable(store: Store) -> None:
    """Raises Failure if the store is of no use, with nothing of what that means for a check."""
    if not store.usable:
        raise Failure(f"{store.path} cannot be used: {store.why_unusable}; --store names another one.")
