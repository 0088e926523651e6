"""Chains of revisions: random programs, the sequences of a corpus, and edits of its programs."""

from __future__ import annotations

import csv
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import NamedTuple

from analysis.api import Checker
from analysis.cfa.graph import Program
from analysis.cfa.linking.link import link
from analysis.model.options import CompilerFlags, Options
from benchmarks.cbmc import Question
from benchmarks.corpus import Model, rows, text_of
from benchmarks.revised_texts import revised_texts
from benchmarks.seeded_edits import seeded_edits
from tests.support.edited_loops import EditedLoops
from tests.support.lowered import unit_of
from tests.support.random_revisions import Revisions

STEPS = 8
_LOOP_STEPS = 10
_LARGE = 40  # lines


class Revision(NamedTuple):
    """A program, the same for CBMC, and the seconds to read it: after the revision before, and from scratch."""

    program: Program
    question: Question
    reading: float
    reading_scratch: float


class Chain(NamedTuple):
    """The revisions of a program, in order."""

    name: str
    revisions: Sequence[Revision]
    model: Model = "LP64"


def random_chain(seed: int) -> Chain:
    """The revisions of a random program."""
    revisions, unit, found = Revisions(Random(seed), memory=seed % 2 == 0, flaws=seed % 3 == 0), None, list[Revision]()
    for _ in range(STEPS):
        text, began = revisions.text(), time.process_time()
        link([unit_of(text)])
        middle = time.process_time()
        unit = unit_of(text, previous=unit)
        program = link([unit]).program
        found.append(Revision(program, Question((Path("t.c"),), text), time.process_time() - middle, middle - began))
        revisions.edit()
    return Chain(f"seed {seed}", found)


def sequences(corpus: Path, names: Sequence[str] = ()) -> Iterator[Chain]:
    """The sequences of a corpus: `incremental.csv` has the columns `seq` and `path`, relative to the folder above, in order.
    Headers are looked for in each folder in `include`. `names`: only those that begin so."""
    folders = tuple(sorted(str(folder) for folder in (corpus / "include").glob("*")))
    options = Options(flags=CompilerFlags(include_dirs=folders))
    found: dict[str, list[Path]] = {}
    with (corpus / "incremental.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            if not names or row["seq"].startswith(tuple(names)):
                found.setdefault(row["seq"], []).append(corpus.parent / row["path"])
    for name, paths in found.items():
        yield Chain(name, _edited(options, paths[:1], [path.read_text("utf-8", "replace") for path in paths]))


def edits(corpus: Path, count: int, seed: int) -> Iterator[Chain]:
    """The larger programs of a corpus about assertions, each as it is before each of its edits."""
    for row in rows(corpus):
        text = text_of(row) or row.path.read_text("utf-8", "replace")
        if row.rules != frozenset({"assertion"}) or text.count("\n") < _LARGE:
            continue
        texts = [text]
        for other in seeded_edits(text, count, seed):
            texts += [other, text]
        options = Options(flags=row.flags, data_model=row.model)
        yield Chain(f"{row.id} {row.path.name}", _edited(options, (row.path, *row.more), texts[:-1]), row.model)


def revisions(corpus: Path, count: int, seed: int, least: int = _LARGE) -> Iterator[Chain]:
    """The programs of a corpus about assertions that are safe, of so many lines, each with so many revisions, one edit behind the
    other."""
    for row in rows(corpus):
        text = text_of(row) or row.path.read_text("utf-8", "replace")
        if row.rules != frozenset({"assertion"}) or row.expected != "true" or text.count("\n") < least:
            continue
        flags = row.flags
        texts = list(revised_texts(text, count, seed, (str(row.path.parent), *flags.include_dirs), flags.defines))
        options = Options(flags=flags, data_model=row.model)
        yield Chain(f"{row.id} {row.path.name}", _edited(options, (row.path, *row.more), texts), row.model)


def loops(count: int, parts: int, seed: int) -> Iterator[Chain]:
    """So many programs of several loops, each edited nine times."""
    for number in range(seed, seed + count):
        edited, found = EditedLoops(Random(number), parts), list[Revision]()
        for _ in range(_LOOP_STEPS):
            text, began = edited.text(), time.process_time()
            program = link([unit_of(text)]).program
            seconds = time.process_time() - began
            found.append(Revision(program, Question((Path("t.c"),), text), seconds, seconds))
            edited.edit()
        yield Chain(f"{parts} loops, seed {number}", found)


def _edited(options: Options, paths: Sequence[Path], texts: Sequence[str]) -> list[Revision]:
    """The programs of some files, the first of which has one text after the other."""
    checker, found, names = Checker(options), list[Revision](), [str(path) for path in paths]
    checker.open(names)
    for text in texts:
        began = time.process_time()
        fresh = Checker(options)
        fresh.open(names)
        fresh.change(names[0], text)
        fresh.inspect()
        middle = time.process_time()
        checker.change(names[0], text)
        program = checker.inspect().program
        ended = time.process_time()
        question = Question(paths, text, options.flags.include_dirs, options.flags.defines, options.data_model)
        found.append(Revision(program, question, ended - middle, middle - began))
    return found
