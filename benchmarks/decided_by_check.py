"""How many findings `everproof check` decides, as it comes: `python -m benchmarks.decided_by_check [NAME ...]`, as Markdown.

A name is a program of `benchmarks.programs` or `benchmarks.real_sources`, a C file, or the path of a `compile_commands.json`;
without one, those of `benchmarks/small_programs`. Each is checked once by the command itself, with nothing kept, and all findings
are counted, shown or held back. Seconds are by the clock: of the command, and of all prover processes together.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.programs import PROGRAMS
from benchmarks.real_sources import PROJECTS, provide
from benchmarks.sources import FetchError

_SMALL = Path(__file__).parent / "small_programs"
_COMMAND = (sys.executable, "-P", "-m", "analysis.cli", "check", "--store", "none", "--show", "all", "--format", "json")


class Row(NamedTuple):
    """What became of the findings of one program."""

    name: str
    statuses: Counter[str]
    seconds: float
    provers: float

    @property
    def asked(self) -> int:
        """All findings, those that went away included."""
        return sum(self.statuses.values())

    @property
    def decided(self) -> int:
        """Those that a run confirmed, or a prover refuted."""
        return self.statuses["confirmed"] + self.statuses["refuted"]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.decided_by_check", description="Count what check decides.")
    parser.add_argument("names", nargs="*", help=f"{', '.join([*PROGRAMS, *PROJECTS])}, or a path (default: small programs)")
    names = parser.parse_args(arguments).names or sorted(map(str, _SMALL.glob("*.c")))
    print("| program | findings | confirmed | refuted | left | decided | s | s of provers |")
    print("|---|---|---|---|---|---|---|---|")
    for name in names:
        try:
            print(line(checked(name)), flush=True)
        except FetchError as error:
            print(f"error: {error}", file=sys.stderr)
            return 2
    return 0


def checked(name: str) -> Row:
    """What the command says of a program. Raises FetchError if it is not there."""
    path = Path(name)
    what = [name] if path.suffix == ".c" else ["-p", name if path.is_file() else str(provide(name))]
    began = time.monotonic()
    done = subprocess.run((*_COMMAND, *what), capture_output=True, text=True, check=False)
    seconds = time.monotonic() - began
    report = json.loads(done.stdout)
    statuses = Counter(finding["status"] for finding in report["findings"])
    statuses["refuted"] += report["refuted"]
    return Row(path.stem if path.suffix == ".c" else name, statuses, seconds, report["time_ms"]["prover"] / 1000)


def line(row: Row) -> str:
    """A row of the table."""
    share = f"{100 * row.decided / row.asked:.0f} %" if row.asked else "-"
    counts = row.statuses["confirmed"], row.statuses["refuted"], row.asked - row.decided
    cells = (row.name, row.asked, *counts, share, f"{row.seconds:.0f}", f"{row.provers:.0f}")
    return f"| {' | '.join(map(str, cells))} |"


if __name__ == "__main__":
    raise SystemExit(main())
