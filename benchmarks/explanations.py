"""How many steps explain a finding: `python -m benchmarks.explanations FOLDER ...`.

Runs `everproof check --engine automaton` in each folder, and prints a table: the findings that are shown and, of all of these and
of the ten that come first, the steps of their traces, and those that explain them (median, and the most). The exit code is 1 if
more steps explain a finding than there may be.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from statistics import median
from typing import Any

from analysis.path_following.explanation import MOST

_FIRST = 10


def main(folders: list[str]) -> int:
    """Prints the table."""
    print("| program | findings | steps of their traces | steps that explain them | of the first ten | |")
    print("|---|---|---|---|---|---|")
    most = 0
    for folder in folders:
        findings = _findings(folder)
        rows = [_steps(findings), _steps(findings[:_FIRST])]
        (traces, short), (first, first_short) = rows
        cells = (Path(folder).name, len(findings), _said(traces), _said(short), _said(first), _said(first_short))
        print("| " + " | ".join(map(str, cells)) + " |")
        most = max(most, *short, 0)
    return 1 if most > MOST else 0


def _findings(folder: str) -> list[dict[str, Any]]:
    command = [sys.executable, "-m", "analysis.cli", "check", "--engine", "automaton", "--store", "none", "--format", "json"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return [finding for finding in json.loads(done.stdout)["findings"] if finding["shown"]]


def _steps(findings: list[dict[str, Any]]) -> tuple[list[int], list[int]]:
    """The numbers of steps of the traces, and of those that explain the findings."""
    return [len(finding["trace"]) for finding in findings], [len(finding["explaining"]) for finding in findings]


def _said(numbers: list[int]) -> str:
    return f"{median(numbers):g}, {max(numbers)}" if numbers else "none"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
