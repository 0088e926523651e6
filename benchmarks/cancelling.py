"""How soon a cancelled proof is answered while its prover is busy: in Python, deaf to everything, and inside of z3.

Run: python -m benchmarks.cancelling [--runs N]. Prints milliseconds from `cancel` to the outcome: median and most.
"""

from __future__ import annotations

import argparse
import os
import signal
import statistics
import tempfile
import time
from collections.abc import Sequence

from analysis.session.provers import Budget, Pool

_HARD = 1_000_000_016_000_000_063 * 1_000_000_007  # no z3 factors it in the time


def work(task: tuple[str, str]) -> None:
    """What a prover does: is busy in the way named first, once it has made the file named second."""
    kind, file = task
    if kind == "one call of z3":
        import z3  # type: ignore[import-untyped]  # z3 has no types

        left, right = z3.BitVecs("left right", 90)
        solver = z3.Solver()
        solver.add(left * right == _HARD, z3.ULT(1, left), z3.ULE(left, right), z3.ULT(right, 1 << 45))
        open(file, "w").close()
        solver.check()
    elif kind != "nothing":
        if kind == "deaf to signals":
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            signal.signal(signal.SIGUSR1, signal.SIG_IGN)
        open(file, "w").close()
        while True:
            pass


def measure(kind: str, runs: int) -> tuple[list[float], list[float]]:
    """Milliseconds from cancelling to the outcome, and from there to the answer of the next task, for each run."""
    cancelled, next_answer = [], []
    pool = Pool("benchmarks.cancelling:work", 1)
    with tempfile.TemporaryDirectory() as folder:
        for run in range(runs):
            file = os.path.join(folder, str(run))
            ticket = pool.submit((kind, file), Budget(seconds=600.0))
            while not os.path.exists(file):
                time.sleep(0.002)
            time.sleep(0.05)  # deep in its work
            start = time.perf_counter()
            pool.cancel(ticket)
            pool.wait()
            cancelled.append((time.perf_counter() - start) * 1000)
            (ended,) = pool.take()
            assert ended.end == "interrupted", ended
            start = time.perf_counter()
            pool.submit(("nothing", ""), Budget(seconds=600.0))
            pool.wait()
            next_answer.append((time.perf_counter() - start) * 1000)
            pool.take()
    pool.close()
    return cancelled, next_answer


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=20)
    runs = parser.parse_args(arguments).runs
    print("| busy with | answered after, median | most | the next task's answer, median | most |")
    print("|---|---|---|---|---|")
    for kind in ("a loop in Python", "deaf to signals", "one call of z3"):
        cancelled, following = measure(kind, runs)
        row = [statistics.median(cancelled), max(cancelled), statistics.median(following), max(following)]
        print(f"| {kind} | " + " | ".join(f"{ms:.0f} ms" for ms in row) + " |")


if __name__ == "__main__":
    main()
