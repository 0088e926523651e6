"""Summaries over revisions, against from scratch: `python -m benchmarks.summary_reuse [CORPUS] [--random N] [--seed N]`.

The revisions are random ones (N chains of 8), or those of a corpus, of which a table has the columns `seq` and `path` (relative
to the folder above), in order. Each is verified at every level, from the summaries of the revision before and from scratch. Times
are of encoding and solving, without parsing, and from scratch without interpolants, which nobody would read. Exit code 1 if any
answers differ.
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

from analysis.api import Checker
from analysis.cfa.graph import Program
from analysis.cfa.linking.link import link
from analysis.engines.summary.bounded_answer import BoundedAnswer, Level
from analysis.engines.summary.revision_chain import ChainOptions, RevisionChain
from analysis.engines.summary.tree_interpolation import LiteralsFirst
from analysis.model.options import Options
from tests.support.lowered import unit_of
from tests.support.random_revisions import Revisions

STEPS = 8
LEVELS: tuple[Level, ...] = ("euf", "lra", "int", "bv")
_COUNTED = ("validated", "held", "weakened", "strengthened", "invalid")


def random_chain(seed: int) -> Iterator[Program]:
    """The revisions of a random program."""
    revisions, unit = Revisions(Random(seed), memory=seed % 2 == 0), None
    for _ in range(STEPS):
        unit = unit_of(revisions.text(), previous=unit)
        yield link([unit]).program
        revisions.edit()


def corpus_chains(corpus: Path) -> Iterator[tuple[str, list[Path]]]:
    """The sequences of a corpus."""
    found: dict[str, list[Path]] = {}
    with (corpus / "incremental.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            found.setdefault(row["seq"], []).append(corpus.parent / row["path"])
    yield from found.items()


def corpus_chain(paths: Sequence[Path]) -> Iterator[Program]:
    """The revisions of a sequence: one program, edited."""
    checker = Checker(Options())
    checker.open([str(paths[0])])
    for path in paths:
        checker.change(str(paths[0]), path.read_text("utf-8", "replace"))
        yield checker.inspect().program


class Counts:
    """What came of one level."""

    def __init__(self, level: Level, bound: int) -> None:
        self._level: Level = level
        self._bound = bound
        self._done: Counter[str] = Counter()
        self._seconds = [0.0, 0.0]
        self.differences: list[str] = []

    def chain(self, name: str, programs: Sequence[Program]) -> None:
        """Verifies the revisions of a chain."""
        chain = RevisionChain(ChainOptions(level=self._level, bound=self._bound))
        for step, program in enumerate(programs):
            began = time.process_time()
            found = chain.verify(program)
            middle = time.process_time()
            scratch = self._from_scratch(program)
            ended = time.process_time()
            if (found.status, found.is_complete) != (scratch.status, scratch.is_complete):
                self.differences.append(f"{self._level} {name} {step}: {found.sentence()}, from scratch: {scratch.sentence()}")
            self._done[found.status] += 1
            if step:
                self._seconds[0] += middle - began
                self._seconds[1] += ended - middle
                self._done.update({what: len(getattr(found.work, what)) for what in _COUNTED})
                self._done["summaries"] += len(chain.summaries)

    def _from_scratch(self, program: Program) -> BoundedAnswer:
        return RevisionChain(ChainOptions(level=self._level, bound=self._bound), LiteralsFirst(None)).verify(program)

    def row(self) -> str:
        """A row of a table."""
        done, (mine, theirs) = self._done, self._seconds
        numbers = (done["holds"], done["possible"], done["unknown"], done["summaries"], *(done[what] for what in _COUNTED))
        cells = [self._level, *map(str, numbers), f"{mine:.1f}", f"{theirs:.1f}", str(len(self.differences))]
        return f"| {' | '.join(cells)} |"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.summary_reuse", description="Compare with from scratch.")
    parser.add_argument("corpus", type=Path, nargs="?", help="a folder with sequences of revisions")
    parser.add_argument("--random", type=int, default=0, help="how many random chains")
    parser.add_argument("--seed", type=int, default=0, help="of the first of them (default: 0)")
    parser.add_argument("--bound", type=int, default=5, help="of loops and recursion (default: 5)")
    parser.add_argument("--level", choices=LEVELS, action="append", help="only these levels")
    given = parser.parse_args(arguments)
    sys.setrecursionlimit(100_000)
    levels: list[Level] = given.level or list(LEVELS)
    counts = {level: Counts(level, given.bound) for level in levels}
    for seed in range(given.seed, given.seed + given.random):
        programs = list(random_chain(seed))
        for level in levels:
            counts[level].chain(f"seed {seed}", programs)
    for name, paths in () if given.corpus is None else corpus_chains(given.corpus):
        programs = list(corpus_chain(paths))
        for level in levels:
            counts[level].chain(name, programs)
    print(f"| level | holds | possible | unknown | summaries | {' | '.join(_COUNTED)} | s | s from scratch | differences |")
    print("|---" * (8 + len(_COUNTED)) + "|")
    for level in levels:
        print(counts[level].row())
    for count in counts.values():
        print("".join(f"{difference}\n" for difference in count.differences), end="", file=sys.stderr)
    return int(any(count.differences for count in counts.values()))


if __name__ == "__main__":
    sys.exit(main())
