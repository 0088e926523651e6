"""The evaluation that [SYMCEGAR] section 7 announces: symbolic execution's operators compared, with and without CEGAR.

    python -m benchmarks.symbolic_cegar [--corpus FOLDER] [--programs N] [--seconds S] [--seed SEED] [--all] [--show]

With `--refine NAME`, repeatable, only the sets that refine in this way are asked.

N programs of the corpus (see `benchmarks.corpus`; EVERPROOF_CORPUS) with error calls are drawn at random. Each is given to
`analysis.engines.symbolic.cegar` with each set of operators, in a process of its own. By default one operator is changed at a
time (sections 7.2 to 7.5); `--all` takes all combinations.

- *proved*: with an accepted certificate. Nothing else counts as safe.
- *a path left*: the analysis ends with a path to an error call that it cannot exclude: of programs with a defect, and (false
  alarms, where symbolic values do not say enough) of safe ones. Paths are not run here.
- *no answer*: out of time or states, or something in the program is not modelled.
"""

from __future__ import annotations

import argparse
import itertools
import math
import multiprocessing
import os
import random
import resource
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Literal, NamedTuple, get_args

from analysis.certificate.checked_outcome import Proved, Work
from analysis.cpa.predicates.violations import violations
from analysis.engines.symbolic.cegar import CegarOptions, prove
from analysis.model.symbolic_operators import CheckAt, Merge, Order, Refine, SymbolicOperators
from benchmarks.corpus import Row, rows
from benchmarks.verdicts import task_of

_LAST_RESORT = 6  # so many seconds of the processor for one of the budget, which counts work; load ends nothing
Ending = Literal["proved", "path", "none"]


class Outcome(NamedTuple):
    """What became of one program; `seconds` of the processor for the analysis, without the front end."""

    ending: Ending
    seconds: float
    work: Work


def configurations(*, everything: bool) -> Iterator[SymbolicOperators]:
    """The sets of operators that are compared."""
    refinements: tuple[Refine, ...] = get_args(Refine)
    if everything:
        for refine, merge, order, check in itertools.product(*map(get_args, (Refine, Merge, Order, CheckAt))):
            yield SymbolicOperators(refine=refine, merge=merge, less_or_equal=order, check_at=check)
        return
    for refine in refinements[:2]:
        yield SymbolicOperators(refine=refine)
        yield SymbolicOperators(refine=refine, merge="join")
        yield from (SymbolicOperators(refine=refine, less_or_equal=order) for order in get_args(Order)[1:])
        yield SymbolicOperators(refine=refine, check_at="target")
    yield from (SymbolicOperators(refine=refine) for refine in refinements[2:])


def _child(row: Row, options: CegarOptions, connection: Connection) -> None:
    limit = math.ceil(_LAST_RESORT * options.seconds)
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
    task = task_of(row, options.seconds)
    began = time.process_time()
    found = prove(task.program, violations(task.program, "assertion"), "main", task.model, options)
    ending = "proved" if isinstance(found, Proved) else "path" if found.may_violate else "none"
    connection.send((ending, time.process_time() - began, found.work))


def outcome(row: Row, options: CegarOptions) -> Outcome:
    """What a process of its own says, which is ended when it takes the processor for too long."""
    receiver, sender = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.Process(target=_child, args=(row, options, sender))
    process.start()
    sender.close()
    found = Outcome("none", options.seconds, Work())
    try:
        found = Outcome(*receiver.recv())
    except EOFError:
        print(f"{row.id}: the process was ended, or died", file=sys.stderr)
    process.join()
    return found


def line(operators: SymbolicOperators, outcomes: Iterable[tuple[Row, Outcome]]) -> str:
    """A row of the table."""
    all_ = list(outcomes)
    violated = [row for row, one in all_ if one.ending == "path"]
    cells = (
        "no CEGAR" if operators.refine == "none" else operators.refine,
        operators.merge,
        operators.less_or_equal,
        operators.check_at,
        sum(one.ending == "proved" for _, one in all_),
        sum(not row.is_safe for row in violated),
        sum(row.is_safe for row in violated),
        sum(one.ending == "none" for _, one in all_),
        sum(one.ending == "proved" and not row.is_safe for row, one in all_),
        sum(one.work.states for _, one in all_),
        sum(one.work.refinements for _, one in all_),
        sum(one.work.queries for _, one in all_),
        f"{sum(one.seconds for _, one in all_):.1f}",
    )
    return f"| {' | '.join(map(str, cells))} |"


HEAD = """\
| refinement | merge | less-or-equal | SAT checks | proved | a path left: defect | safe | no answer | wrong | states | \
refinements | checks | seconds |
|---|---|---|---|---|---|---|---|---|---|---|---|---|"""


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.symbolic_cegar", description="SYMCEGAR's section 7.")
    parser.add_argument("--corpus", type=Path, default=os.environ.get("EVERPROOF_CORPUS"), help="the folder with index.csv")
    parser.add_argument("--programs", type=int, default=30, help="so many programs (default: 30)")
    parser.add_argument("--seconds", type=float, default=5.0, help="for one program (default: 5)")
    parser.add_argument("--seed", type=int, default=1, help="of the draw (default: 1)")
    parser.add_argument("--all", action="store_true", help="all combinations of operators")
    parser.add_argument("--refine", action="append", choices=get_args(Refine), default=[], help="only these; repeatable")
    parser.add_argument("--show", action="store_true", help="each program with what became of it")
    given = parser.parse_args(arguments)
    if given.corpus is None or not (Path(given.corpus) / "index.csv").is_file():
        parser.error("there is no corpus: name the folder with index.csv by --corpus or EVERPROOF_CORPUS")
    eligible = [row for row in rows(Path(given.corpus)) if row.rules == {"assertion"}]
    chosen = sorted(random.Random(given.seed).sample(eligible, min(given.programs, len(eligible))))
    safe = sum(row.is_safe for row in chosen)
    print(f"{len(chosen)} programs, {safe} of them safe; {given.seconds:g} s each.\n\n{HEAD}", flush=True)
    wrong = False
    for operators in configurations(everything=given.all):
        if given.refine and operators.refine not in given.refine:
            continue
        options = CegarOptions(operators=operators, seconds=given.seconds)
        outcomes = [(row, outcome(row, options)) for row in chosen]
        wrong = wrong or any(one.ending == "proved" and not row.is_safe for row, one in outcomes)
        if given.show:
            for row, one in outcomes:
                print(f"{row.id} {row.path.name:50} {one.ending:7}{one.seconds:6.1f} {one.work}", file=sys.stderr)
        print(line(operators, outcomes), flush=True)
    return int(wrong)


if __name__ == "__main__":
    raise SystemExit(main())
