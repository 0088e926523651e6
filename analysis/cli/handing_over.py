"""`everproof cache export` and `import`: what was found on one machine, for another."""

from __future__ import annotations

import os

from analysis.cli.failure import Failure
from analysis.cli.output import write
from analysis.cli.text_format import count
from analysis.model.distribution import everproof_version
from analysis.session.files.texts import Texts
from analysis.session.keeping.archive import Archive, Snapshot
from analysis.session.keeping.handed_over import (
    HandedOver,
    HandedOverError,
    HandedProgram,
    handed_program,
    is_another_file,
    packed,
    read_handed_over,
)
from analysis.session.provers.asking.kept_answers import handed_proofs, take_in
from analysis.store.database import Store
from analysis.store.store_location import workspace_root

_MOST_PROGRAMS = 20


def export(store: Store, path: str) -> int:
    """Writes what the store has of the present texts of the current folder's workspace; raises Failure."""
    if is_another_file(path):
        raise Failure(f"export {path} would replace a file that it did not write: name another file.")
    root, texts = workspace_root(os.getcwd()), Texts()
    found = (_program(snapshot, root, texts) for snapshot in Archive(store).snapshots())
    programs = [program for program in found if program is not None][:_MOST_PROGRAMS]
    if not programs:
        raise Failure(f"{store.path} has no results for the files below {root} as they are now: run `everproof check` first.")
    handed = HandedOver(everproof_version(), tuple(programs), handed_proofs(store))
    store.close()
    try:
        data = packed(handed)
        with open(path, "wb") as file:
            file.write(data)
    except HandedOverError as error:
        raise Failure(f"{path} is not written: {error}.") from None
    except OSError as error:
        raise Failure(f"{path} cannot be written: {error.strerror}.") from None
    write(f"{path}: {_counted(handed)}, {len(data) / 1e6:.1f} MB.\n", None)
    return 0


def _program(snapshot: Snapshot, root: str, texts: Texts) -> HandedProgram | None:
    """What is kept of a program, if it is about the texts as they are now."""
    files = dict(file for unit in snapshot.units for file in unit.files.items())
    if any(texts.digest(path) != digest for path, digest in files.items()):
        return None
    return handed_program(snapshot.report, tuple(files.items()), root)


def take(store: Store, path: str) -> int:
    """Takes a file into the store, for the current folder's workspace; raises Failure."""
    root = workspace_root(os.getcwd())
    try:
        handed = read_handed_over(path)
        done = Archive(store).take_in(root, packed(handed)) and take_in(store, root, handed.proofs)
    except HandedOverError as error:
        raise Failure(f"{path} cannot be used: {error}.") from None
    if not done:
        raise Failure(f"{store.path} cannot be written now: try again.")
    write(f"{store.path}: {_counted(handed)} taken in; all of it is checked before it counts.\n", None)
    return 0


def _counted(handed: HandedOver) -> str:
    return f"{count(len(handed.programs), 'program')} and {count(len(handed.proofs), 'proof')}"
