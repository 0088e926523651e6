"""What `everproof contracts` shows of real programs: `python -m benchmarks.contracts [NAME ...]`, as Markdown.

Each is one process. The time is that of the processor, of the process and its children, and the memory that of the largest
one, as the kernel counts them. A contract says something if it has a requirement, says something of the result or of blocks, or
names what is written. For each rule, a function is *nothing* if it requires nothing (also where nothing in it could violate the
rule), *kept* if all of its callers in the program, of which there is one at least, keep what it requires, or if it requires
nothing because of what the data always holds, *if kept* if it needs something that not all keep, and else
*open*. Pairs of a function and one of the two rules *hold* where it is *nothing* or *kept*.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

from benchmarks.programs import PROGRAMS, provide
from benchmarks.releases import LIBRARIES
from benchmarks.releases import provide as provide_library
from benchmarks.sources import FetchError

_COMMAND = [sys.executable, "-m", "analysis.cli", "contracts", "--format", "json"]
_RULES = ("null-dereference", "division-by-zero")
_STATES = ("nothing", "kept", "if kept", "open")


class Measured(NamedTuple):
    """The contracts of a program, the seconds of the processor, and the megabytes of its largest process."""

    contracts: list[dict[str, Any]]
    seconds: float
    megabytes: float


def main(arguments: Sequence[str] | None = None) -> int:
    names = (*PROGRAMS, *LIBRARIES)
    parser = argparse.ArgumentParser(prog="python -m benchmarks.contracts", description="Measure contracts of real programs.")
    parser.add_argument("names", nargs="*", choices=[[], *names], help=f"which ones: {', '.join(names)} (default: all)")
    given = parser.parse_args(arguments)
    rows = []
    try:
        for name in given.names or names:
            rows.append(_row(name, measure(_program(name))))
    except FetchError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    rules = [f"{state}: {rule}" for rule in _RULES for state in _STATES]
    print("| program | functions | say something | pairs that hold | " + " | ".join(rules) + " | seconds | MB |")
    print("|---|" + "---|" * (len(rules) + 5))
    print("\n".join(rows))
    return 0


def _program(name: str) -> list[str]:
    """What names the program on the command line: of a library, its last release."""
    return ["-p", str(provide(name))] if name in PROGRAMS else [str(provide_library(name)[-1])]


def measure(program: Sequence[str]) -> Measured:
    """Runs the command on a program. FetchError if it fails."""
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen([*_COMMAND, *program], stdout=output, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            raise FetchError(f"`everproof contracts` exited with {process.returncode}")
        output.seek(0)
        return Measured(json.load(output), usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def says_something(contract: dict[str, Any]) -> bool:
    """Whether a contract says anything but that all is possible."""
    is_written = any(clause["status"] == "proved" for clause in contract["writes"])
    return bool(contract["requires"] or contract["ensures"] or contract["ownership"] or is_written or not contract["returns"])


def state(contract: dict[str, Any], rule: str) -> str:
    """What is known of a rule in a function."""
    if any(text.startswith(f"{rule}: ") for text in contract["open"]):
        return "open"
    if not any(clause["from"] == rule for clause in contract["requires"]):
        return "kept" if contract["relies"] else "nothing"
    keeping, of = contract["callers_discharging"]
    return "kept" if of and keeping == of else "if kept"


def _row(name: str, measured: Measured) -> str:
    contracts = [contract for contract in measured.contracts if contract["path"]]  # without those of libraries
    states = Counter((rule, state(contract, rule)) for rule in _RULES for contract in contracts)
    fine = sum(states[rule, one] for rule in _RULES for one in ("nothing", "kept"))
    shares = [f"{100 * states[rule, one] / len(contracts):.0f} %" for rule in _RULES for one in _STATES]
    said = f"{100 * sum(map(says_something, contracts)) / len(contracts):.0f} %"
    cells = [
        name,
        str(len(contracts)),
        said,
        f"{100 * fine / (len(_RULES) * len(contracts)):.0f} %",
        *shares,
        f"{measured.seconds:.1f}",
        f"{measured.megabytes:.0f}",
    ]
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    sys.exit(main())
