"""The command `python -m benchmarks.traps`."""

from __future__ import annotations

import argparse
import multiprocessing
import sys
from collections import Counter
from collections.abc import Sequence
from itertools import product

from benchmarks.traps.asked import ENCODINGS, ENGINES, answered
from benchmarks.traps.established import establish
from benchmarks.traps.programs import Trap, traps


def _ask(chosen: Sequence[Trap], given: argparse.Namespace) -> int:
    """Asks every engine with every encoding; prints what is wrong, and how often what was said."""
    pairs = product(given.engine or ENGINES, given.encoding or ENCODINGS)
    questions = [(trap, engine, encoding, given.seconds) for engine, encoding in pairs for trap in chosen]
    counts: Counter[tuple[str, str, str, str]] = Counter()
    mistakes = 0
    with multiprocessing.get_context("spawn").Pool(given.jobs, maxtasksperchild=200) as pool:
        for (trap, engine, encoding, _), said, mistake in pool.imap(answered, questions):
            counts[engine, encoding, "defect" if trap.is_defect else "twin", said.verdict] += 1
            mistakes += bool(mistake)
            if mistake or given.show:
                print(f"{engine} {encoding}: {mistake or f'{trap.name}: {said.verdict}: {said.why[:200]}'}", flush=True)
    print("| engine | encoding | side | verdict | programs |\n|---|---|---|---|---|")
    for row, number in sorted(counts.items()):
        print(f"| {' | '.join(row)} | {number} |")
    print(f"\n{mistakes} mistakes")
    return int(mistakes > 0)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.traps", description="Small programs with a defect, and twins.")
    parser.add_argument("action", choices=("establish", "ask"))
    parser.add_argument("name", nargs="*", help="only traps with one of these in their name")
    parser.add_argument("--engine", action="append", choices=ENGINES, default=[], help="repeatable (default: all)")
    parser.add_argument("--encoding", action="append", choices=ENCODINGS, default=[], help="repeatable (default: all)")
    parser.add_argument("--seconds", type=float, default=2.0, help="for one question (default: 2)")
    parser.add_argument("--jobs", type=int, default=2, help="processes (default: 2)")
    parser.add_argument("--show", action="store_true", help="what is said of each")
    given = parser.parse_args(arguments)
    if given.action == "establish":
        found = establish(traps(), given.jobs)
        print("\n".join([*found, f"{len(found)} problems"]))
        return int(bool(found))
    return _ask([trap for trap in traps() if not given.name or any(part in trap.name for part in given.name)], given)


if __name__ == "__main__":
    sys.exit(main())
