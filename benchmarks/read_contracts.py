"""Contracts of real functions that were read by hand, beside their code: `python -m benchmarks.read_contracts [--text]`.

Six programs, ten functions of each, drawn with a fixed seed from all functions that `everproof contracts` lists, in the order of
files and lines, without those of tests and examples. `benchmarks/read_contracts.csv` has a row for each one that somebody has
read. `right`: nothing that the contract says is wrong, as far as the code shows. `useful`: it tells a caller something that he
has to know, or that there is nothing to know. `readable`: he understands it without this manual. Each is `yes` or `no`; `note`
says why not.

It prints a table of how many are right, useful and readable; with `--text`, the contracts of the functions as they are now.
"""

from __future__ import annotations

import argparse
import csv
import random
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.contracts import measure
from benchmarks.programs import provide
from benchmarks.sources import FetchError

READ = Path(__file__).with_suffix(".csv")
PROGRAMS = ("bzip2", "hiredis", "jansson", "libyaml", "lz4", "spin")
_OF_EACH = 10
_SEED = 19
_LEFT_OUT = ("/test", "/examples/")  # in the path below the program's folder
_MARKS = ("right", "useful", "readable")


class Row(NamedTuple):
    """What somebody says of one contract."""

    program: str
    function: str
    right: str
    useful: str
    readable: str
    note: str


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.read_contracts", description="Contracts read by hand.")
    parser.add_argument("--text", action="store_true", help="print the contracts that are drawn, as they are now")
    if not parser.parse_args(arguments).text:
        print(table(read_rows()))
        return 0
    try:
        for program in PROGRAMS:
            for contract in drawn(measure(["-p", str(provide(program))]).contracts):
                print(f"{program}: {contract['function']}")
                for part in ("requires", "ensures", "ownership", "writes", "relies"):
                    print("".join(f"  {part}: {one['text']} ({one['status']})\n" for one in contract[part]), end="")
                print("".join(f"  open: {one}\n" for one in contract["open"]), end="")
    except FetchError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


def drawn(contracts: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The contracts of one program that are read. Functions of headers that several files include count once."""
    found: dict[tuple[str, int], dict[str, Any]] = {}
    for contract in contracts:
        path = contract["path"].partition("/source/")[2]
        if path and not any(part in contract["path"] for part in _LEFT_OUT):
            found.setdefault((path, contract["line"]), contract)
    return random.Random(_SEED).sample([found[key] for key in sorted(found)], _OF_EACH)


def read_rows(file: Path = READ) -> list[Row]:
    """The rows of the table. ValueError where one is not understood."""
    with file.open(encoding="utf-8", newline="") as rows:
        found = [Row(**row) for row in csv.DictReader(rows)]
    for row in found:
        if not {row.right, row.useful, row.readable} <= {"yes", "no"}:
            raise ValueError(f"{row.program}, {row.function}: each mark is yes or no")
    return found


def table(rows: Sequence[Row]) -> str:
    """How many contracts have each mark, as Markdown."""
    lines = ["| program | read | right | useful | readable |", "|---|---|---|---|---|"]
    for program in (*PROGRAMS, ""):
        mine = [row for row in rows if program in ("", row.program)]
        counts = [str(sum(getattr(row, mark) == "yes" for row in mine)) for mark in _MARKS]
        lines.append(f"| {program or 'all'} | {len(mine)} | {' | '.join(counts)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
