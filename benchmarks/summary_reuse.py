"""Summaries over revisions, against from scratch: `python -m benchmarks.summary_reuse [--random N] [--corpus FOLDER] ...`.

The chains of revisions are random ones (`--random N` chains of 8); the sequences of a corpus (`--corpus FOLDER`), of which
`incremental.csv` has the columns `seq` and `path` (relative to the folder above), in order; or edits of the larger programs of
that corpus about assertions (`--edits N` of each, the program itself before each of them).

Each is verified in every theory, and by the theories in turn (`auto`), from the summaries of the revision before and from
scratch; in `lra` with plain and with decomposed Farkas interpolants, and without weakening. The columns are those of Tables 1
and 2 and of figures 4 to 7 of [UPPROVER]; the first revisions of chains are not counted.

- `only`: what holds by no other theory (`auto` is none). `without`: whose revision before left no summaries.
- `initial`: the summaries that the revisions before left, and of these those that are `preserved` as they were. What was done to
  summaries is that of the theory that answered.
- Times are of the processor, without the compiler's: parsing (from the revision before, and from scratch), encoding, solving and
  interpolants. `bootstrapping` is from scratch, with summaries for a next revision, as in [UPPROVER]; `from scratch` makes none.
  Each is done `--repeat N` times, in turn, each time in a copy of the process, and the least of its times counts. What takes over
  half a second is done once. The gains are the ratios of both to the time from the revision before, where this or
  bootstrapping takes over a tenth of a second: the median, the mean, and the least. Those of changes of which
  bootstrapping takes over a second are named below the table.
- A revision has as many seconds as a question about a whole program has in the command (`analysis.model.budgets`). Then it is
  ended, is unknown, and counts with what it has taken. If it holds in the other way, that is no difference.

Ctrl-C ends early, with the table of the chains that are done.

`--cbmc COMMAND` adds a row of CBMC (`benchmarks.cbmc`), which takes each revision by itself: by the clock, the preprocessor
included. Its `only` is what holds by no theory, and its differences are revisions that a theory says to hold, and CBMC to be
violated. The exit code is 1 if answers of ours differ.
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import math
import os
import shlex
import signal
import struct
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import mean, median
from typing import Literal, NamedTuple

import msgspec

from analysis.cfa.graph import Program
from analysis.engines.summary.bounded_answer import BoundedAnswer, Level
from analysis.engines.summary.known_bodies import KnownBodies
from analysis.engines.summary.known_calls import KnownCalls
from analysis.engines.summary.level_chain import LEVELS, LevelChain
from analysis.engines.summary.partition_abstraction import Abstractions
from analysis.engines.summary.revision_chain import ChainOptions
from analysis.engines.summary.tree_interpolation import ByTheory, Interpolator, LiteralsFirst
from analysis.engines.summary.validation_work import Work
from analysis.model.budgets import BUDGETS
from analysis.model.c_types import ILP32, LP64
from analysis.smt.logic.terms import Term
from benchmarks import cbmc
from benchmarks.revised_programs import Chain, edits, random_chain, sequences

_COUNTED = ("validated", "held", "weakened", "strengthened", "invalid")
_NOTABLE = 0.1  # seconds
_LONG = 0.5  # seconds: what takes longer is done once
_SECONDS_EACH = BUDGETS["full"].program
_OVER = "the time was up"
_SECOND = 1.0
_LEAST = 5  # of the revisions with the least gain are named


class Times(NamedTuple):
    """The seconds of a revision: from the revision before, from scratch with summaries, and from scratch without."""

    mine: float
    bootstrap: float
    scratch: float
    revision: str


class Setup(NamedTuple):
    """How a chain is verified. `plain`: with Farkas interpolants that are not decomposed."""

    name: str
    level: Level | Literal["auto"]
    plain: bool = False
    weakens: bool = True

    def chain(
        self, options: ChainOptions, abstractions: Abstractions, bodies: KnownBodies | None = None, *, scratch: bool
    ) -> LevelChain:
        """An empty chain, which adds to the `abstractions` and `bodies`. From `scratch`, interpolants need no search."""
        made: Interpolator | None = LiteralsFirst(None) if scratch else None
        if self.plain and not scratch:
            made = LiteralsFirst(ByTheory("lra"))
        levels = LEVELS if self.level == "auto" else (self.level,)
        given = msgspec.structs.replace(options, weakens=self.weakens)
        return LevelChain(given, levels, lambda _level: made, abstractions, bodies)


SETUPS = (
    Setup("auto", "auto"),
    Setup("euf", "euf"),
    Setup("euf, not weakened", "euf", weakens=False),
    Setup("lra", "lra"),
    Setup("lra, not weakened", "lra", weakens=False),
    Setup("lra, plain", "lra", plain=True),
    Setup("lra, plain, not weakened", "lra", plain=True, weakens=False),
    Setup("int", "int"),
    Setup("bv", "bv"),
)


def summaries(known: KnownCalls) -> Mapping[tuple[Level, str], Term]:
    """The summaries that a chain has, by theories and keys of calls."""
    return {
        (level, key): call.summary
        for level, calls in known.levels.items()
        for key, call in calls.items()
        if call.summary is not None
    }


class Verified(NamedTuple):
    """A revision that was verified: the answer, its seconds, and what is kept for the next one."""

    answer: BoundedAnswer
    seconds: float
    known: KnownCalls
    abstractions: Abstractions


class _OverError(Exception):
    """A revision has taken all the time that it has."""


@contextlib.contextmanager
def _allowed() -> Iterator[None]:
    """Ends what takes more of the processor than a question has. As in the command, nothing of it is kept."""

    def end(_number: int, _frame: object) -> None:
        raise _OverError

    before = signal.signal(signal.SIGPROF, end)
    signal.setitimer(signal.ITIMER_PROF, _SECONDS_EACH, 1.0)  # again, where the first one was swallowed
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def _apart(way: Callable[[], Verified]) -> float:
    """The seconds that one way takes in a copy of this process: each finds the solver in the same state. Where it was used
    before, it numbers terms otherwise, and the same question can take it several times as long, or as little."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        status = 1
        try:
            os.write(writer, struct.pack("d", way().seconds))
            status = 0
        finally:
            os._exit(status)
    os.close(writer)
    with open(reader, "rb") as result:
        packed = result.read()
    os.waitpid(child, 0)
    return float(struct.unpack("d", packed)[0])


class Counts:
    """What came of one setup."""

    def __init__(self, setup: Setup, bound: int, repeat: int = 1) -> None:
        self.setup, self._bound, self._repeat = setup, bound, repeat
        self.held: set[tuple[str, int]] = set()
        self._done: Counter[str] = Counter()
        self._times: list[Times] = []
        self.differences: list[str] = []
        self._bodies = KnownBodies()  # of the chain

    def chain(self, chain: Chain) -> None:
        """Verifies the revisions of a chain."""
        options = ChainOptions(bound=self._bound, model=ILP32 if chain.model == "ILP32" else LP64)
        known, abstractions, self._bodies = KnownCalls(), Abstractions(), KnownBodies()
        for step, (program, _, reading, reading_scratch) in enumerate(chain.revisions):
            before = summaries(known)
            mine, scratch, bootstrap = self._verified(program, options, known, abstractions, is_first=not step)
            known, abstractions, found, other = mine.known, mine.abstractions, mine.answer, scratch.answer
            is_over = any(answer.reasons == (_OVER,) for answer in (found, other))
            if not is_over and (found.status, found.is_complete) != (other.status, other.is_complete):
                said = f"{found.sentence()}, from scratch: {other.sentence()}"
                self.differences.append(f"{self.setup.name} {chain.name} {step}: {said}")
            if not step:
                continue
            self._done[found.status] += 1
            self._done["without"] += not before
            seconds = reading + mine.seconds, reading_scratch + bootstrap.seconds, reading_scratch + scratch.seconds
            self._times.append(Times(*seconds, f"{chain.name} {step}"))
            if found.status == "holds":
                self.held.add((chain.name, step))
                after = summaries(known)
                self._done["initial"] += len(before)
                self._done["preserved"] += sum(after.get(key) is summary for key, summary in before.items())
                self._done.update({what: len(getattr(found.work, what)) for what in _COUNTED})

    def _verified(
        self, program: Program, options: ChainOptions, known: KnownCalls, abstractions: Abstractions, *, is_first: bool
    ) -> tuple[Verified, Verified, Verified]:
        """A revision from the one before, from scratch without summaries, and from scratch with summaries. The first one of a
        chain, of which no times count, is bootstrapped as it is."""

        def mine() -> Verified:
            chain = self.setup.chain(options, more := dict(abstractions), self._bodies, scratch=False)
            return self._once(program, chain, known, more)

        def scratch() -> Verified:
            return self._once(program, self.setup.chain(options, more := Abstractions(), scratch=True), KnownCalls(), more)

        def bootstrap() -> Verified:
            return self._once(program, self.setup.chain(options, more := Abstractions(), scratch=False), KnownCalls(), more)

        best = [math.inf, math.inf, math.inf]
        for _ in range(0 if is_first else self._repeat):
            found = [_apart(way) for way in (mine, scratch, bootstrap)]
            best = list(map(min, found, best))
            if max(found) > _LONG:
                break
        first, second = mine(), scratch()
        return first._replace(seconds=best[0]), second._replace(seconds=best[1]), first._replace(seconds=best[2])

    @staticmethod
    def _once(program: Program, chain: LevelChain, known: KnownCalls, abstractions: Abstractions) -> Verified:
        began = time.process_time()
        try:
            with _allowed():
                chain.resume(known, are_believed=True)
                answer, after = chain.verify(program), chain.known
        except _OverError:
            answer, after = BoundedAnswer("unknown", "assertion", 0, Work(), reasons=(_OVER,)), known
        return Verified(answer, time.process_time() - began, after, abstractions)

    def row(self, others: Sequence[Counts]) -> str:
        """A row of a table; `others` are all setups."""
        only = self.held.difference(*(other.held for other in others if other.setup.level not in (self.setup.level, "auto")))
        done = {**self._done, "only": len(only)}
        cells = [
            self.setup.name,
            *(str(done.get(title, 0)) for title in _NUMBERS),
            *(f"{sum(seconds):.1f}" for seconds in zip(*(times[:3] for times in self._times), strict=True)),
            gains([times.bootstrap / times.mine for times in self.notable]),
            gains([times.scratch / times.mine for times in self.notable]),
            str(len(self.differences)),
        ]
        return f"| {' | '.join(cells)} |"

    def long_gains(self) -> str:
        """The gain over bootstrapping of each revision of which that takes over a second, and their mean."""
        ratios = {times.revision: times.bootstrap / times.mine for times in self._times if times.bootstrap > _SECOND}
        each = ", ".join(f"{name} {ratio:.1f}" for name, ratio in ratios.items())
        return f"{each}; mean {mean(ratios.values()):.1f} ({len(ratios)})" if ratios else "none"

    @property
    def notable(self) -> list[Times]:
        """The times of revisions that take long."""
        return [times for times in self._times if max(times.mine, times.bootstrap) > _NOTABLE]


def gains(ratios: Sequence[float]) -> str:
    """The median of ratios, their mean, the least, and how many there are."""
    return f"{median(ratios):.1f}, {mean(ratios):.1f}, {min(ratios):.2f} ({len(ratios)})" if ratios else "none"


class BesideCbmc:
    """What CBMC, the command of which is `words`, says of the same revisions."""

    def __init__(self, words: Sequence[str], bound: int) -> None:
        self._words, self._bound = words, bound
        self._said: dict[str, cbmc.Said] = {}
        self._answers: dict[tuple[str, int], cbmc.Said] = {}

    def chain(self, chain: Chain) -> None:
        """Asks about the revisions of a chain; what was asked before is not asked again, and counts again."""
        for step, revision in enumerate(chain.revisions[1:], 1):
            text = revision.question.text or ""
            if text not in self._said:
                self._said[text] = cbmc.ask(self._words, revision.question, self._bound)
            self._answers[chain.name, step] = self._said[text]
        self._said.clear()

    def row(self, others: Sequence[Counts]) -> str:
        """A row of the table."""
        counts = Counter(_LIKE[said.answer] for said in self._answers.values())
        held = {revision for revision, said in self._answers.items() if _LIKE[said.answer] == "holds"}
        done = {**counts, "only": len(held.difference(*(other.held for other in others)))}
        cells = ["CBMC", *(str(done.get(title, 0)) if title in (*_ANSWERS, "only") else "" for title in _NUMBERS)]
        seconds = sum(said.seconds for said in self._answers.values())
        return f"| {' | '.join([*cells, '', '', f'{seconds:.1f}', '', '', str(len(self.differences(others)))])} |"

    def differences(self, others: Sequence[Counts]) -> list[str]:
        """The revisions that a theory says to hold, and CBMC to be violated."""
        found = [revision for revision, said in self._answers.items() if said.answer == "violated"]
        return [f"CBMC {name} {step}" for name, step in found if any((name, step) in other.held for other in others)]


_ANSWERS = ("holds", "possible", "unknown")
_LIKE = {"complete": "holds", "holds": "holds", "violated": "possible", "unknown": "unknown"}
_NUMBERS = ("holds", "only", "possible", "unknown", "without", "initial", "preserved", *_COUNTED)
_SECONDS = ("s", "s bootstrapping", "s from scratch", "gain over bootstrapping", "over from scratch")
_TITLES = ("theory", *_NUMBERS, *_SECONDS, "differences")


def _chains(given: argparse.Namespace) -> Iterator[Chain]:
    yield from (random_chain(seed) for seed in range(given.seed, given.seed + given.random))
    if given.corpus is not None:
        yield from edits(given.corpus, given.edits, given.seed) if given.edits else sequences(given.corpus, given.sequence)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.summary_reuse", description="Compare with from scratch.")
    parser.add_argument("--corpus", type=Path, help="a folder with programs, and sequences of revisions")
    parser.add_argument("--sequence", action="append", default=[], help="only sequences that begin so, repeatable (default: all)")
    parser.add_argument("--edits", type=int, default=0, help="edit the programs of the corpus, so often each")
    parser.add_argument("--random", type=int, default=0, help="how many random chains")
    parser.add_argument("--seed", type=int, default=0, help="of the first chain, or of the edits (default: 0)")
    parser.add_argument("--bound", type=int, default=5, help="of loops and recursion (default: 5)")
    parser.add_argument("--repeat", type=int, default=1, help="how often each is timed (default: 1)")
    parser.add_argument("--setup", action="append", choices=[setup.name for setup in SETUPS], help="only these")
    parser.add_argument("--cbmc", type=shlex.split, help="the command of CBMC, to be asked as well")
    given = parser.parse_args(arguments)
    sys.setrecursionlimit(100_000)
    counts = [Counts(setup, given.bound, given.repeat) for setup in SETUPS if given.setup is None or setup.name in given.setup]
    beside = [BesideCbmc(given.cbmc, given.bound)] if given.cbmc else []
    rows: list[Counts | BesideCbmc] = [*counts, *beside]
    done = copy.deepcopy(rows)
    with contextlib.suppress(KeyboardInterrupt):
        for chain in _chains(given):
            seconds = []
            for row in rows:
                began = time.process_time()
                row.chain(chain)
                seconds.append(f"{time.process_time() - began:.1f}")
            done = copy.deepcopy(rows)
            print(f"{chain.name}: {', '.join(seconds)} s", file=sys.stderr, flush=True)
    rows, counts = done, [row for row in done if isinstance(row, Counts)]
    beside = [row for row in done if isinstance(row, BesideCbmc)]
    print(f"| {' | '.join(_TITLES)} |")
    print("|---" * len(_TITLES) + "|")
    for row in rows:
        print(row.row(counts))
    for count in counts:
        print(f"\n{count.setup.name}, where bootstrapping takes over a second: {count.long_gains()}")
    for count in counts:
        for times in sorted(count.notable, key=lambda times: times.bootstrap / times.mine)[:_LEAST]:
            print(f"{count.setup.name}: {times}", file=sys.stderr)
    for differences in (*(count.differences for count in counts), *(row.differences(counts) for row in beside)):
        print("".join(f"{line}\n" for line in differences), end="", file=sys.stderr)
    return int(any(count.differences for count in counts))


if __name__ == "__main__":
    sys.exit(main())
