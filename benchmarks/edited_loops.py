"""Proofs from earlier ones against proofs from scratch: `python -m benchmarks.edited_loops [--edits N] [--seed S]`.

Random programs of a few loops (`tests.support.edited_loops`), most of them safe, are edited at random, seven times each. Each
text is proved from scratch and from the last proof. A difference is a text that one way proves, and that the other says may be
violated, or that a run violates, or that only scratch proves: the exit code is 1 then. What only reuse proves is counted.

`states`: abstract states; times are of the processor, without reading the text. By kind of edit, and how the proof was found from
the last one. Ctrl-C ends early, and says what was found until then. A line after every twenty programs says what was found in
them, so that a run that was ended can be gone on with from the next seed.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from random import Random
from typing import NamedTuple

from analysis.certificate.annotation import Annotation
from analysis.certificate.checked_outcome import Proved, Unproved
from analysis.cfa.graph import Program
from analysis.cpa.predicates.violations import violations
from analysis.engines.predicate.predicate_options import PredicateOptions
from analysis.engines.predicate.predicate_proof import prove
from analysis.engines.predicate.reuse import earlier_proofs
from analysis.engines.predicate.reuse.earlier_proofs import EarlierProofs
from tests.support.edited_loops import EditedLoops
from tests.support.explorations import errs, program_of, runs

_EDITS = 7  # of a program
_RUNS = 20
_PROGRAMS = 20  # after so many, a line says what was found


class Compared(NamedTuple):
    """One edited text: what was edited, how its proof was found from the last one, states and seconds of both ways; `wrong`: why
    the two differ."""

    edit: str
    how: str
    states: tuple[int, int]
    seconds: tuple[float, float]
    solved: tuple[bool, bool]
    wrong: str = ""


def compared(seed: int, options: PredicateOptions) -> Iterator[Compared]:
    """The edits of one program."""
    random = Random(seed)
    edited, earlier, edit = EditedLoops(random), None, ""
    for _ in range(_EDITS + 1):
        program = program_of(edited.text())
        began = time.process_time()
        scratch = prove(program, violations(program, "assertion"), options=options)
        middle = time.process_time()
        found = prove(program, violations(program, "assertion"), options=options, earlier=earlier)
        ended = time.process_time()
        if edit:
            yield Compared(
                edit,
                found.work.reuse.how,
                (scratch.work.states, found.work.states),
                (middle - began, ended - middle),
                (isinstance(scratch, Proved), isinstance(found, Proved)),
                _wrong(program, scratch, found),
            )
        earlier = _kept(program, found) or earlier
        edit = edited.edit()


def _wrong(program: Program, scratch: Proved | Unproved, found: Proved | Unproved) -> str:
    both = scratch, found
    if isinstance(scratch, Proved) and not isinstance(found, Proved):
        return "proved from scratch only"
    if not any(isinstance(one, Proved) for one in both):
        return ""
    if any(isinstance(one, Unproved) and one.may_violate for one in both):
        return "proved, and may be violated"
    return "proved, and a run violates it" if any(errs(program, run) for run in runs(program, _RUNS)) else ""


def _kept(program: Program, found: Proved | Unproved) -> EarlierProofs | None:
    if not isinstance(found, Proved) or not isinstance(found.annotation, Annotation):
        return None
    return earlier_proofs.read(earlier_proofs.write(program, [found.annotation], "LP64", found.work.worked) or b"")


def table(rows: Sequence[Compared]) -> Iterator[str]:
    """The lines of the table: all edits, by kind, and by how the proof was found."""
    yield "| | edits | proved: both, reuse only | states: scratch, reuse | s: scratch, reuse | gain |\n|---|---|---|---|---|---|"
    yield _line("all", rows)
    for kind in sorted({row.edit for row in rows}):
        yield _line(kind, [row for row in rows if row.edit == kind])
    for how in ("annotation", "lemmas", "search"):
        yield _line(f"by {how}", [row for row in rows if row.how == how])


def progress(first: int, last: int, rows: Sequence[Compared]) -> str:
    """What was found of the programs with the seeds from `first` to `last`."""
    both, wrong = sum(all(row.solved) for row in rows), sum(bool(row.wrong) for row in rows)
    one_way = [sum(row.solved == way for row in rows) for way in ((False, True), (True, False))]
    said = f"proved in both ways {both}, by reuse only {one_way[0]}, from scratch only {one_way[1]}"
    return f"seeds {first} to {last}: {len(rows)} edits, {said}, differences {wrong}"


def _line(name: str, rows: Sequence[Compared]) -> str:
    both, more = sum(all(row.solved) for row in rows), sum(row.solved == (False, True) for row in rows)
    states = [sum(row.states[way] for row in rows) for way in (0, 1)]
    seconds = [sum(row.seconds[way] for row in rows) for way in (0, 1)]
    gain = f"{seconds[0] / seconds[1]:.1f}" if rows else ""
    return f"| {name} | {len(rows)} | {both}, {more} | {states[0]}, {states[1]} | {seconds[0]:.1f}, {seconds[1]:.1f} | {gain} |"


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.edited_loops", description="Compare with from scratch.")
    parser.add_argument("--edits", type=int, default=700, help="about so many (default: 700)")
    parser.add_argument("--seed", type=int, default=0, help="of the first program (default: 0)")
    parser.add_argument("--seconds", type=float, default=2.0, help="of work for each task (default: 2)")
    given = parser.parse_args(arguments)
    sys.setrecursionlimit(100_000)
    options, rows, wrong = PredicateOptions(seconds=given.seconds), list[Compared](), Counter[str]()
    with contextlib.suppress(KeyboardInterrupt):
        seeds, said = range(given.seed, given.seed + (given.edits + _EDITS - 1) // _EDITS), 0
        for number, seed in enumerate(seeds, 1):
            for row in compared(seed, options):
                rows.append(row)
                if row.wrong:
                    wrong[row.wrong] += 1
                    print(f"seed {seed}: {row.edit}: {row.wrong}", flush=True)
            if number % _PROGRAMS == 0 or number == len(seeds):
                print(progress(seed - (number - 1) % _PROGRAMS, seed, rows[said:]), flush=True)
                said = len(rows)
    print("\n".join(table(rows)))
    print(f"\n{len(rows)} edits, differences: {wrong.total()}", *(f"{why}: {count}" for why, count in wrong.items()))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
