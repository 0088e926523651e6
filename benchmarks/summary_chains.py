"""Answers within a bound after each of many changes, against from scratch: `python -m benchmarks.summary_chains [--chains N]`.

The chains are of `tests.support.random_versions`, a chain for each seed. Each version is verified by the levels in turn, or by
one (`--encoding`), from what the version before left, and from scratch at the same bound. The table has, for each bound: answers
by kind; for the changes after which the property holds, the calls and summaries that there were, and the summaries that were
validated, held, weakened, strengthened and lost; and differences in the answer or in whether there are other runs. `--forged`:
what the version before left is replaced by summaries that contradict themselves, as if read from a store, so that they must
change no answer. Exit code 1 if any answers differ.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from random import Random
from typing import get_args

import msgspec

from analysis.cfa.linking.link import link
from analysis.engines.summary.bounded_answer import BoundedAnswer, Level
from analysis.engines.summary.known_calls import KnownCalls
from analysis.engines.summary.level_chain import LEVELS, LevelChain
from analysis.engines.summary.revision_chain import ChainOptions
from analysis.engines.summary.tree_interpolation import LiteralsFirst
from analysis.smt.logic.term_building import FALSE
from tests.support.lowered import unit_of
from tests.support.random_versions import Versions

BOUNDS = (1, 2, 3)
VERSIONS = 8  # of a chain
_ANSWERS = ("holds", "complete", "possible", "unknown")
_WORK = ("calls", "summaries", "validated", "held", "weakened", "strengthened", "invalid")


class Chains:
    """What came of the chains of one bound."""

    def __init__(self, bound: int, levels: Sequence[Level], *, forged: bool) -> None:
        self._options = ChainOptions(bound=bound)
        self._levels = levels
        self._forged = forged
        self._done: Counter[str] = Counter()
        self.differences: list[str] = []

    def chain(self, seed: int) -> None:
        """Verifies the versions of a chain."""
        versions, unit, chain = Versions(Random(seed)), None, LevelChain(self._options, self._levels)
        change = "the first version"
        for step in range(VERSIONS):
            unit = unit_of(versions.text(), previous=unit)
            program = link([unit]).program
            if self._forged and step:
                chain = self._resumed(chain)
            found = chain.verify(program)
            scratch = LevelChain(self._options, self._levels, lambda _level: LiteralsFirst(None)).verify(program)
            if (found.status, found.is_complete) != (scratch.status, scratch.is_complete):
                said = f"{found.sentence()} ({found.level}), from scratch: {scratch.sentence()} ({scratch.level})"
                self.differences.append(f"seed {seed}, version {step} ({change}): {said}")
            self._count(found, chain, step)
            change = versions.edit()

    def _resumed(self, chain: LevelChain) -> LevelChain:
        """A chain that goes on from what is forged."""
        known = chain.known
        levels = {
            level: {key: msgspec.structs.replace(call, summary=FALSE) for key, call in calls.items()}
            for level, calls in known.levels.items()
        }
        other = LevelChain(self._options, self._levels)
        other.resume(KnownCalls(levels, known.numbers), are_believed=False)
        return other

    def _count(self, found: BoundedAnswer, chain: LevelChain, step: int) -> None:
        self._done[found.status] += 1
        self._done["complete"] += found.is_complete
        if step and found.status == "holds":
            calls = chain.known.levels.get(found.level, {})
            self._done["calls"] += len(calls)
            self._done["summaries"] += sum(call.summary is not None for call in calls.values())
            self._done.update({what: len(getattr(found.work, what)) for what in _WORK[2:]})

    def row(self) -> str:
        """A row of the table."""
        cells = [self._done[what] for what in (*_ANSWERS, *_WORK)]
        return f"| {' | '.join(map(str, (self._options.bound, *cells, len(self.differences))))} |"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.summary_chains", description="Compare with from scratch.")
    parser.add_argument("--chains", type=int, default=240, help=f"how many, of {VERSIONS} versions each (default: 240)")
    parser.add_argument("--seed", type=int, default=0, help="of the first of them (default: 0)")
    parser.add_argument("--encoding", choices=("auto", *get_args(Level)), default="auto", help="the theory (default: auto)")
    parser.add_argument("--forged", action="store_true", help="forge what the version before left")
    given = parser.parse_args(arguments)
    sys.setrecursionlimit(100_000)
    levels: Sequence[Level] = LEVELS if given.encoding == "auto" else (given.encoding,)
    found = {bound: Chains(bound, levels, forged=given.forged) for bound in BOUNDS}
    for seed in range(given.seed, given.seed + given.chains):
        found[BOUNDS[seed % len(BOUNDS)]].chain(seed)
    print(f"| bound | {' | '.join((*_ANSWERS, *_WORK))} | differences |")
    print("|---" * (2 + len(_ANSWERS) + len(_WORK)) + "|")
    for chains in found.values():
        print(chains.row())
        print("".join(f"{difference}\n" for difference in chains.differences), end="", file=sys.stderr)
    return int(any(chains.differences for chains in found.values()))


if __name__ == "__main__":
    sys.exit(main())
