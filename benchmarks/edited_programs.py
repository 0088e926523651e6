"""Findings after edits against findings from scratch: `python -m benchmarks.edited_programs [--edits N] [--seed S]`.

Random programs that go wrong in many ways (`tests.support.defective_programs`) are edited at random, 20 times each. After each
edit, a checker that has followed the edits has to say what one from scratch says: the same findings with the same traces and
scores. Says what differs, with the seed of the program; the exit code is 1 then. Ctrl-C ends early, and says what was found until
then.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.support.defective_programs import Edited

_EDITS = 20  # of a program


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.edited_programs", description="Compare with checks from scratch.")
    parser.add_argument("--edits", type=int, default=2_000, help="how many (default: 2000)")
    parser.add_argument("--seed", type=int, default=400_000, help="of the first program (default: 400000)")
    given = parser.parse_args(arguments)
    edits = wrong = findings = 0
    with contextlib.suppress(KeyboardInterrupt):
        for seed in range(given.seed, given.seed + -(-given.edits // _EDITS)):
            with tempfile.TemporaryDirectory() as folder:
                edited = Edited(seed, Path(folder))
                for number in range(_EDITS):
                    compared = edited.step()
                    edits += 1
                    findings += compared.findings
                    wrong += bool(compared.differences)
                    for difference in compared.differences:
                        print(f"seed {seed}, edit {number + 1} ({compared.done}): {difference}", flush=True)
            print(f"\r{edits} edits", end="", file=sys.stderr, flush=True)
    print(f"{edits} edits, {findings} findings: {wrong} edits with another answer than from scratch")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
