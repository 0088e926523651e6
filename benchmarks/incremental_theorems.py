"""Theorems 2 and 3 over many random edits: `python -m benchmarks.incremental_theorems STEPS [SEED]`.

Each program is edited a number of times and then given up for another one. Stops at the first difference between the
incremental algorithms and Full, with the seed and the step that show it again.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from random import Random

from tests.support.repairs import Chain

LENGTH = 20
TOLD_EVERY = 50_000  # edits


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.incremental_theorems", description="Compare with Full.")
    parser.add_argument("steps", type=int, help="how many edits")
    parser.add_argument("seed", type=int, nargs="?", default=0, help="of the first program (default: 0)")
    given = parser.parse_args(arguments)
    began = time.perf_counter()
    largest = with_errors = done = 0
    for seed in range(given.seed, given.seed + -(-given.steps // LENGTH)):
        chain = Chain(Random(seed), stretches=seed % 4 != 0)
        for step in range(min(LENGTH, given.steps - done)):
            try:
                chain.step()
            except Exception:
                print(f"seed {seed}, step {step}:", file=sys.stderr)
                raise
            done += 1
            largest = max(largest, chain.forward.configurations)
            with_errors += any(part.errors for part in chain.forward.functions.values())
            if done % TOLD_EVERY == 0:
                print(f"{done} edits, no difference so far; the next program has seed {seed + 1}", file=sys.stderr, flush=True)
    seconds = time.perf_counter() - began
    print(f"{done} edits in {seconds:.0f} s, no difference; {with_errors} programs with errors, at most {largest} configurations")
    return 0


if __name__ == "__main__":
    sys.exit(main())
