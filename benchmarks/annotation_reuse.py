"""Proofs over revisions, against from scratch: `python -m benchmarks.annotation_reuse [--random N] [--corpus FOLDER]`.

The chains of revisions are those of `benchmarks.revised_programs`: random ones, the sequences of a corpus, or edits of its larger
programs about assertions. A task is a revision after the first, with one rule, in the runs from `main`. Each is proved from
scratch (PA), from the predicates of the proof before (precision reuse), and from its annotation (IPA). What is kept is the
proof of the last revision that this way has proved. `--refinement` leaves the Horn clauses out, so that all is found by predicate
abstraction, as in the paper. `--flooding` matches the revisions by similarity flooding, as in the paper.

The table is Table 1 of [IPA], one row for each chain and rule of which some task is proved:

- `solved`: tasks that PA and IPA prove, + those that only IPA proves, - those that only PA proves; the rest counts the first.
- `#Abs`: abstract states. `T_a`: seconds of the analysis, with the check of the certificate; of IPA without `T_diff` (comparing
  the programs), `T_anno` (what is left of the annotation) and `T_IO` (writing and reading what is kept). `FSize`: kilobytes.
- `SU_a` and `SU`: how often `T_a` of IPA, and its total, go into `T_a` of PA; in the last rows the means over rows. `SU_p` is
  the same for the total of precision reuse. Below the table are means over tasks.

The last line compares both ways to match each revision with the one before: the size of the delta in edges, and the seconds.

Times are of the processor, without reading the program. A difference is a task that one way proves, and of which another says
that it may be violated: the exit code is 1 then. Ctrl-C ends early.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import sys
import time
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from statistics import mean
from typing import NamedTuple, get_args

import msgspec

from analysis.certificate.annotation import Annotation
from analysis.certificate.checked_outcome import Proved, Unproved
from analysis.cfa.graph import Program
from analysis.cfa.revisions.location_map import program_map
from analysis.cfa.revisions.match import by_order
from analysis.cfa.revisions.similarity_flooding import by_flooding
from analysis.cpa.predicates.violations import Property, violations
from analysis.engines.predicate.predicate_options import PredicateOptions
from analysis.engines.predicate.predicate_proof import prove
from analysis.engines.predicate.reuse import earlier_proofs
from analysis.engines.predicate.reuse.earlier_proofs import EarlierProofs
from analysis.engines.predicate.reuse.reusing import Reuse
from analysis.model.c_types import ILP32, LP64
from benchmarks.revised_programs import Chain, edits, loops, random_chain, revisions, sequences

_LONG = 0.5  # seconds: the goals are about tasks whose first proof takes longer
_WAYS = ("none", "precisions", "annotations")
_TITLES = (
    "chain",
    "rule",
    "LoC",
    "solved",
    "T_1st",
    "PA #Abs",
    "PA T_a",
    "prec. #Abs",
    "prec. T_total",
    "IPA #Abs",
    "T_a",
    "T_diff",
    "T_anno",
    "T_IO",
    "T_total",
    "FSize",
    "SU_p",
    "SU_a",
    "SU",
)


class Task(NamedTuple):
    """One revision that was proved in one way, or not: the seconds of all, and of these those before the analysis and for what is
    kept, its bytes, and how the proof was found from an earlier one."""

    found: Proved | Unproved
    seconds: float
    keeping: float
    size: int
    how: str

    @property
    def analysis(self) -> float:
        """The seconds of the analysis alone."""
        reuse = self.found.work.reuse
        return self.seconds - reuse.differing - reuse.annotating


class Way:
    """One way to prove a chain; `last` is what is kept."""

    def __init__(self, reuse: str, options: PredicateOptions) -> None:
        self._reuse, self._options, self._last = reuse, options, b""
        self.tasks: list[Task] = []

    def prove(self, program: Program, rule: Property, ilp32: bool) -> None:
        """Proves the next revision, if that can be. What is in use stays, as in a prover process: no phase of it pays for garbage
        that others have made."""
        gc.collect()
        gc.freeze()
        began = time.process_time()
        earlier: EarlierProofs | None = earlier_proofs.read(self._last)
        read = time.process_time()
        model = ILP32 if ilp32 else LP64
        found = prove(program, violations(program, rule), "main", model, self._options, earlier=earlier)
        proved = time.process_time()
        if isinstance(found, Proved) and isinstance(found.annotation, Annotation) and self._reuse != "none":
            self._last = earlier_proofs.write(program, [found.annotation], "ILP32" if ilp32 else "LP64") or b""
        keeping = read - began + time.process_time() - proved
        self.tasks.append(Task(found, proved - read, keeping, len(self._last), found.work.reuse.how))


class Row(NamedTuple):
    """What came of a chain with a rule: the tasks of each way, the first revision left out."""

    chain: str
    rule: str
    lines: int
    first: float
    tasks: dict[str, list[Task]]

    @property
    def solved(self) -> list[int]:
        """The tasks that PA and IPA prove."""
        pairs = zip(self.tasks["none"], self.tasks["annotations"], strict=True)
        return [at for at, pair in enumerate(pairs) if all(isinstance(task.found, Proved) for task in pair)]

    def only(self, mine: str, other: str) -> int:
        """How many tasks one way proves and another does not."""
        pairs = zip(self.tasks[mine], self.tasks[other], strict=True)
        return sum(isinstance(one.found, Proved) and not isinstance(two.found, Proved) for one, two in pairs)

    def differences(self) -> Iterator[str]:
        """The tasks that one way proves, and of which another says that they may be violated."""
        for at, found in enumerate(zip(*self.tasks.values(), strict=True), 1):
            violated = any(isinstance(task.found, Unproved) and task.found.may_violate for task in found)
            if violated and any(isinstance(task.found, Proved) for task in found):
                yield f"{self.chain} {self.rule} {at}"

    def gains(self) -> Iterator[tuple[float, float, float]]:
        """Of each task that was solved: `SU_a`, `SU`, and the share of `T_diff` and `T_anno` in the total."""
        for at in self.solved:
            scratch, mine = self.tasks["none"][at], self.tasks["annotations"][at]
            reuse, total = mine.found.work.reuse, mine.seconds + mine.keeping
            yield scratch.seconds / mine.analysis, scratch.seconds / total, (reuse.differing + reuse.annotating) / total

    def sums(self) -> list[float]:
        """The columns of numbers from `PA #Abs` to `FSize`, over the tasks that were solved."""
        scratch, precise, mine = ([self.tasks[way][at] for at in self.solved] for way in _WAYS)
        reuse = [task.found.work.reuse for task in mine]
        times = [
            sum(task.analysis for task in mine),
            sum(one.differing for one in reuse),
            sum(one.annotating for one in reuse),
            sum(task.keeping for task in mine),
        ]
        return [
            sum(task.found.work.states for task in scratch),
            sum(task.seconds for task in scratch),
            sum(task.found.work.states for task in precise),
            sum(task.seconds + task.keeping for task in precise),
            sum(task.found.work.states for task in mine),
            *times,
            sum(times),
            sum(task.size for task in mine) / 1_000,
        ]


def speedups(sums: Sequence[float]) -> tuple[float, float, float]:
    """`SU_p`, `SU_a` and `SU` of columns of numbers."""
    return sums[1] / sums[3], sums[1] / sums[5], sums[1] / sums[9]


def row_of(chain: Chain, rule: Property, options: PredicateOptions, *, first_only: bool = False) -> Row | None:
    """What comes of a chain with a rule; None if nothing of it is proved, or its first revision is not (`first_only`)."""
    ways = {name: Way(name, msgspec.structs.replace(options, reuse=_reuse(name))) for name in _WAYS}
    programs = [one.program for one in chain.revisions if "main" in one.program.functions]
    if len(programs) < 2 or not any(violations(program, rule) for program in programs):
        return None
    for program in programs:
        for way in ways.values():
            way.prove(program, rule, chain.model == "ILP32")
        if not isinstance(ways["none"].tasks[0].found, Proved) and first_only:
            return None
    text = chain.revisions[0].question.text or ""
    row = Row(chain.name, rule, text.count("\n"), ways["none"].tasks[0].seconds, {n: w.tasks[1:] for n, w in ways.items()})
    return row if any(isinstance(task.found, Proved) for way in row.tasks.values() for task in way) else None


def deltas(chain: Chain) -> Iterator[tuple[int, float, int, float]]:
    """The edges that differ between each revision and the one before, and the seconds that it takes to find them: in the order of
    the text, and by similarity flooding."""
    for old, new in pairwise(one.program for one in chain.revisions):
        began = time.process_time()
        ordered = program_map(new, old).changed_edges
        between = time.process_time()
        flooded = program_map(new, old, by_flooding).changed_edges
        yield ordered, between - began, flooded, time.process_time() - between


def _reuse(way: str) -> Reuse:
    return "precisions" if way == "precisions" else "annotations"


def _line(names: Sequence[str], sums: Sequence[float], gains: Sequence[float]) -> str:
    cells = [f"{number:.0f}" if at in (0, 2, 4) else f"{number:.3f}" for at, number in enumerate(sums)]
    return f"| {' | '.join([*names, *cells, *(f'{gain:.1f}' for gain in gains)])} |"


def table(rows: Sequence[Row]) -> Iterator[str]:
    """The lines of the table; the last rows are all rows together, and those whose first proof takes long."""
    yield f"| {' | '.join(_TITLES)} |"
    yield f"|{'---|' * len(_TITLES)}"
    counted = [row for row in rows if row.solved]
    for row in rows:
        solved = f"{len(row.solved)}+{row.only('annotations', 'none')}-{row.only('none', 'annotations')}"
        names = (row.chain, row.rule, str(row.lines), solved, f"{row.first:.2f}")
        yield _line(names, row.sums(), speedups(row.sums()) if row.solved else ())
    for name, some in (("all", counted), (f"T_1st > {_LONG} s", [row for row in counted if row.first > _LONG])):
        if some:
            sums = [sum(numbers) for numbers in zip(*(row.sums() for row in some), strict=True)]
            gains = [mean(numbers) for numbers in zip(*(speedups(row.sums()) for row in some), strict=True)]
            yield _line((name, "", "", str(sum(len(row.solved) for row in some)), ""), sums, gains)


def by_task(rows: Sequence[Row]) -> str:
    """The means over the tasks whose first proof takes long, and those of the tenth of them that gains least."""
    found = sorted((gains for row in rows if row.first > _LONG for gains in row.gains()), key=lambda gains: gains[1])
    if not found:
        return ""
    mean_a, mean_all, share = (mean(numbers) for numbers in zip(*found, strict=True))
    least = mean(gains[1] for gains in found[: max(1, len(found) // 10)])
    said = f"SU_a {mean_a:.1f}, SU {mean_all:.1f}, T_diff and T_anno {share:.0%} of T_total; SU of the least tenth {least:.1f}"
    return f"Means over {len(found)} tasks with T_1st > {_LONG} s: {said}"


def _chains(given: argparse.Namespace) -> Iterator[Chain]:
    yield from (random_chain(seed) for seed in range(given.seed, given.seed + given.random))
    yield from loops(given.loops, given.parts, given.seed)
    if given.corpus is None:
        return
    if given.revisions:
        yield from revisions(given.corpus, given.revisions, given.seed, given.lines)
    else:
        yield from edits(given.corpus, given.edits, given.seed) if given.edits else sequences(given.corpus, given.sequence)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.annotation_reuse", description="Compare with from scratch.")
    parser.add_argument("--corpus", type=Path, help="a folder with programs, and sequences of revisions")
    parser.add_argument("--sequence", action="append", default=[], help="only sequences that begin so, repeatable (default: all)")
    parser.add_argument("--edits", type=int, default=0, help="edit the programs of the corpus, so often each")
    parser.add_argument(
        "--revisions", type=int, default=0, help="edit the safe programs of the corpus so often, one after the other"
    )
    parser.add_argument("--lines", type=int, default=40, help="of these, the least (default: 40)")
    parser.add_argument("--loops", type=int, default=0, help="how many chains of programs of several loops")
    parser.add_argument("--parts", type=int, default=10, help="how many loops in each (default: 10)")
    parser.add_argument("--random", type=int, default=0, help="how many random chains")
    parser.add_argument("--seed", type=int, default=0, help="of the first chain, or of the edits (default: 0)")
    parser.add_argument("--chains", type=int, help="at most so many chains")
    parser.add_argument("--rule", action="append", choices=get_args(Property), help="repeatable (default: assertion)")
    parser.add_argument("--seconds", type=float, default=10.0, help="of work for each task (default: 10)")
    parser.add_argument("--refinement", action="store_true", help="without Horn clauses")
    parser.add_argument("--flooding", action="store_true", help="match revisions by similarity flooding")
    given = parser.parse_args(arguments)
    sys.setrecursionlimit(100_000)
    options = PredicateOptions(
        seconds=given.seconds,
        clauses=0.0 if given.refinement else PredicateOptions().clauses,
        align=by_flooding if given.flooding else by_order,
    )
    rules: Sequence[Property] = given.rule or ("assertion",)
    rows: list[Row] = []
    compared: list[tuple[int, float, int, float]] = []
    with contextlib.suppress(KeyboardInterrupt):
        for number, chain in enumerate(_chains(given)):
            if given.chains is not None and number >= given.chains:
                break
            rows += filter(None, (row_of(chain, rule, options, first_only=bool(given.revisions)) for rule in rules))
            compared += deltas(chain)
            print(f"{number + 1} chains, {len(rows)} rows", end="\r", file=sys.stderr)
    print("\n".join(table(rows)))
    print(f"\n{by_task(rows)}")
    differences = [said for row in rows for said in row.differences()]
    how = [task.how for row in rows for task in row.tasks["annotations"]]
    counts = [f"{way or 'none'} {how.count(way)}" for way in ("annotation", "lemmas", "search", "")]
    print(f"\nHow IPA found proofs: {', '.join(counts)}. Differences: {len(differences)}", *differences)
    if compared:
        ordered, seconds, flooded, longer = (sum(numbers) for numbers in zip(*compared, strict=True))
        print(f"Delta of {len(compared)} edits: by order {ordered} edges, {seconds:.3f} s; by flooding {flooded}, {longer:.3f} s")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
