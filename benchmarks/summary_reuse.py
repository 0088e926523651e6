"""Summaries over revisions, against from scratch: `python -m benchmarks.summary_reuse [--random N] [--corpus FOLDER] ...`.

The chains of revisions are random ones (`--random N` chains of 8); the sequences of a corpus (`--corpus FOLDER`), of which
`incremental.csv` has the columns `seq` and `path` (relative to the folder above), in order; or edits of the larger programs of
that corpus about `reach_error` (`--edits N` of each, the program itself before each of them). Releases of libraries would say
nothing: what has no `main` has no calls to begin with.

Each is verified in every theory, from the summaries of the revision before and from scratch; in `lra` with plain and with
decomposed Farkas interpolants, and without weakening. The columns are those of Tables 1 and 2 and of figures 4 to 7 of
[UPPROVER]; the first revisions of chains are not counted. `only` counts what no other theory says to hold, `without` those
whose revision before left no summaries. Times are of the processor, without the compiler's: parsing (from the revision before,
and from scratch), encoding and solving; from scratch without interpolants, which nobody would read. `gain` is their ratio, where
from scratch takes over a tenth of a second: the median, and the least. Exit code 1 if any answers differ.
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from statistics import median
from typing import NamedTuple

from analysis.api import Checker
from analysis.cfa.graph import Program
from analysis.cfa.linking.link import link
from analysis.engines.summary.bounded_answer import Level
from analysis.engines.summary.revision_chain import ChainOptions, RevisionChain
from analysis.engines.summary.tree_interpolation import ByTheory, Interpolator, LiteralsFirst
from analysis.model.options import Options
from benchmarks.seeded_edits import seeded_edits
from tests.support.lowered import unit_of
from tests.support.random_revisions import Revisions

STEPS = 8
_COUNTED = ("validated", "held", "weakened", "strengthened", "invalid")
_NOTABLE = 0.1  # seconds
_LARGE = 40  # lines


class Revision(NamedTuple):
    """A program, and the seconds to read it: after the revision before, and from scratch."""

    program: Program
    reading: float
    reading_scratch: float


Chain = tuple[str, list[Revision]]


class Setup(NamedTuple):
    """How a chain is verified. `plain`: with Farkas interpolants that are not decomposed."""

    name: str
    level: Level
    plain: bool = False
    weakens: bool = True

    def chain(self, bound: int, *, scratch: bool) -> RevisionChain:
        """An empty chain. From `scratch`, interpolants need no search."""
        made: Interpolator | None = LiteralsFirst(None) if scratch else None
        if self.plain and not scratch:
            made = LiteralsFirst(ByTheory("lra"))
        return RevisionChain(ChainOptions(level=self.level, bound=bound, weakens=self.weakens, milliseconds=2_000), made)


SETUPS = (
    Setup("euf", "euf"),
    Setup("euf, not weakened", "euf", weakens=False),
    Setup("lra", "lra"),
    Setup("lra, not weakened", "lra", weakens=False),
    Setup("lra, plain", "lra", plain=True),
    Setup("lra, plain, not weakened", "lra", plain=True, weakens=False),
    Setup("int", "int"),
    Setup("bv", "bv"),
)


def random_chain(seed: int) -> list[Revision]:
    """The revisions of a random program."""
    revisions, unit, found = Revisions(Random(seed), memory=seed % 2 == 0), None, list[Revision]()
    for _ in range(STEPS):
        text, began = revisions.text(), time.process_time()
        link([unit_of(text)])
        middle = time.process_time()
        unit = unit_of(text, previous=unit)
        program = link([unit]).program
        found.append(Revision(program, time.process_time() - middle, middle - began))
        revisions.edit()
    return found


def edited(path: Path, texts: Sequence[str]) -> list[Revision]:
    """The programs that a file holds, with one text after the other."""
    checker, found = Checker(Options()), list[Revision]()
    checker.open([str(path)])
    for text in texts:
        began = time.process_time()
        fresh = Checker(Options())
        fresh.open([str(path)])
        fresh.change(str(path), text)
        fresh.inspect()
        middle = time.process_time()
        checker.change(str(path), text)
        program = checker.inspect().program
        found.append(Revision(program, time.process_time() - middle, middle - began))
    return found


def sequences(corpus: Path) -> Iterator[Chain]:
    """The sequences of a corpus."""
    found: dict[str, list[Path]] = {}
    with (corpus / "incremental.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            found.setdefault(row["seq"], []).append(corpus.parent / row["path"])
    for name, paths in found.items():
        yield name, edited(paths[0], [path.read_text("utf-8", "replace") for path in paths])


def edits(corpus: Path, count: int, seed: int) -> Iterator[Chain]:
    """The larger programs of a corpus, each as it is before each of its edits."""
    with (corpus / "index.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["property"] == "reach_error" and int(row["lines"]) >= _LARGE]
    for row in rows:
        path = corpus.parent / row["path"]
        text = path.read_text("utf-8", "replace")
        texts = [text]
        for other in seeded_edits(text, count, seed):
            texts += [other, text]
        yield row["path"], edited(path, texts[:-1])


class Counts:
    """What came of one setup."""

    def __init__(self, setup: Setup, bound: int) -> None:
        self.setup, self._bound = setup, bound
        self.held: set[tuple[str, int]] = set()
        self._done: Counter[str] = Counter()
        self._seconds: list[tuple[float, float]] = []
        self.differences: list[str] = []

    def chain(self, name: str, revisions: Sequence[Revision]) -> None:
        """Verifies the revisions of a chain."""
        chain = self.setup.chain(self._bound, scratch=False)
        for step, (program, reading, reading_scratch) in enumerate(revisions):
            is_without = not chain.summaries
            began = time.process_time()
            found = chain.verify(program)
            middle = time.process_time()
            scratch = self.setup.chain(self._bound, scratch=True).verify(program)
            ended = time.process_time()
            if (found.status, found.is_complete) != (scratch.status, scratch.is_complete):
                said = f"{found.sentence()}, from scratch: {scratch.sentence()}"
                self.differences.append(f"{self.setup.name} {name} {step}: {said}")
            if not step:
                continue
            self._done[found.status] += 1
            self._done["without"] += is_without
            if found.status == "holds":
                self.held.add((name, step))
            self._seconds.append((reading + middle - began, reading_scratch + ended - middle))
            self._done.update({what: len(getattr(found.work, what)) for what in _COUNTED})
            self._done["summaries"] += len(chain.summaries)

    def row(self, others: Sequence[Counts]) -> str:
        """A row of a table; `others` are of other theories."""
        done, only = self._done, self.held.difference(*(other.held for other in others))
        numbers = (done["holds"], len(only), done["possible"], done["unknown"], done["without"], done["summaries"])
        ratios = [theirs / mine for mine, theirs in self._seconds if theirs > _NOTABLE]
        cells = [
            self.setup.name,
            *map(str, (*numbers, *(done[what] for what in _COUNTED))),
            f"{sum(mine for mine, _ in self._seconds):.1f}",
            f"{sum(theirs for _, theirs in self._seconds):.1f}",
            f"{median(ratios):.1f}, {min(ratios):.1f} ({len(ratios)})" if ratios else "none",
            str(len(self.differences)),
        ]
        return f"| {' | '.join(cells)} |"


_TITLES = ("theory", "holds", "only", "possible", "unknown", "without", "summaries", *_COUNTED, "s", "s from scratch", "gain")


def _chains(given: argparse.Namespace) -> Iterator[Chain]:
    for seed in range(given.seed, given.seed + given.random):
        yield f"seed {seed}", random_chain(seed)
    if given.corpus is not None:
        yield from edits(given.corpus, given.edits, given.seed) if given.edits else sequences(given.corpus)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.summary_reuse", description="Compare with from scratch.")
    parser.add_argument("--corpus", type=Path, help="a folder with programs, and sequences of revisions")
    parser.add_argument("--edits", type=int, default=0, help="edit the programs of the corpus, so often each")
    parser.add_argument("--random", type=int, default=0, help="how many random chains")
    parser.add_argument("--seed", type=int, default=0, help="of the first chain, or of the edits (default: 0)")
    parser.add_argument("--bound", type=int, default=5, help="of loops and recursion (default: 5)")
    parser.add_argument("--setup", action="append", choices=[setup.name for setup in SETUPS], help="only these")
    given = parser.parse_args(arguments)
    sys.setrecursionlimit(100_000)
    counts = [Counts(setup, given.bound) for setup in SETUPS if given.setup is None or setup.name in given.setup]
    for name, revisions in _chains(given):
        for count in counts:
            count.chain(name, revisions)
        print(name, file=sys.stderr, flush=True)
    print(f"| {' | '.join((*_TITLES, 'differences'))} |")
    print("|---" * (1 + len(_TITLES)) + "|")
    for count in counts:
        print(count.row([other for other in counts if other.setup.level != count.setup.level]))
    for count in counts:
        print("".join(f"{difference}\n" for difference in count.differences), end="", file=sys.stderr)
    return int(any(count.differences for count in counts))


if __name__ == "__main__":
    sys.exit(main())
