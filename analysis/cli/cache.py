"""`everproof cache`."""

from __future__ import annotations

import os

import click

from analysis.cli.failure import Failure
from analysis.cli.output import say, write
from analysis.cli.text_format import count
from analysis.session.provers.asking.kept_answers import DECISIONS
from analysis.store.database import Store
from analysis.store.store_location import open_store


@click.command()
@click.argument("action", type=click.Choice(["stat", "clear", "verify"]))
@click.option("--store", metavar="FILE", help="The store. Default: that of the current folder's workspace.")
def cache(action: str, store: str | None) -> int:
    """Show, empty or verify the store, which keeps results between runs.

    Exit code: 0; 2 if there is no store, or it is of no use; for `verify`, 1 if something in it was damaged.
    """
    opened = open_store(store, os.getcwd())
    if opened is None:
        raise Failure("There is no store: EVERPROOF_STORE or --store says none.")
    if not os.path.exists(opened.path):
        write(f"{opened.path}: nothing is kept.\n", None)
        return 0
    try:
        return {"stat": _stat, "clear": _clear, "verify": _verify}[action](opened)
    finally:
        opened.close()


def _stat(store: Store) -> int:
    groups = store.groups()
    _check(store)
    programs = sum(not group.label.startswith(DECISIONS) for group in groups)
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
    messages = store.take_messages()
    if not store.usable:
        raise Failure(messages[0].text)
    say(messages)
    write(f"{store.path}: {count(good, 'record')} as written, {damaged} damaged and deleted\n", None)
    return 1 if messages else 0


def _check(store: Store) -> None:
    """Says what went wrong; raises Failure if the store is of no use."""
    messages = store.take_messages()
    if not store.usable:
        raise Failure(messages[0].text)
    say(messages)
