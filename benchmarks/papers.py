"""The programs of the papers' figures, decided: verdict, kind of proof, and seconds, each in a process of its own.

    python -m benchmarks.papers [--seconds S]

They are in `fixtures/programs/papers`; what is expected of each is said there. The engines take turns
(`analysis.session.portfolio`). Seconds are of the processor, those of the front end among them, and of the clock.
"""

from __future__ import annotations

import argparse
import resource
from collections.abc import Sequence
from pathlib import Path

from analysis.model.options import CompilerFlags
from benchmarks.corpus import Row
from benchmarks.verdicts import decided

FOLDER = Path(__file__).resolve().parents[1] / "fixtures" / "programs" / "papers"


def row_of(path: Path) -> Row:
    """What is asked about one of the programs: all of them are safe."""
    rules, flags = frozenset({"assertion"}), CompilerFlags()
    return Row(path.stem, path, (), "reach_error", "true", "papers", "verdict", flags, "LP64", False, rules, True, frozenset())


def _spent() -> float:
    """Seconds of the processor that processes which have ended took."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.papers", description="The papers' programs, decided.")
    parser.add_argument("--seconds", type=float, default=30.0, help="for one program (default: 30)")
    given = parser.parse_args(arguments)
    print("| program | verdict | certificate | seconds of the processor | of the clock |\n|---|---|---|---|---|")
    missed = 0
    for path in sorted(FOLDER.glob("*.c")):
        before = _spent()
        found = decided(row_of(path), "auto", ["--timeout", str(given.seconds)])
        missed += found.verdict != "safe"
        accepted, spent = "accepted" if found.certified else "-", _spent() - before
        print(f"| {path.stem} | {found.verdict} | {accepted} | {spent:.1f} | {found.seconds:.1f} |", flush=True)
    return int(missed > 0)


if __name__ == "__main__":
    raise SystemExit(main())
