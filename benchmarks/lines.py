"""Findings on programs whose defects are known by line or by function: right, missed and false, per property.

    python -m benchmarks.lines --corpus FOLDER [--show]

The rows of kind `lines` and `functions` of the corpus (see `benchmarks.corpus`) are checked as the checker does it at typing
speed: what is counted are its possible findings, of the rules that the property stands for. A line may be reported a little away
from where the index has it: on the same statement, or for leaks anywhere in the function that owns the line.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from analysis.api import Checker
from analysis.model.options import Options
from analysis.model.report import Finding, FunctionReport
from benchmarks.corpus import Row, rows

_NEAR = 1  # lines
_SHIPPED = frozenset(
    {"assertion", "division-by-zero", "double-free", "lock-discipline", "memory-leak", "null-dereference", "use-after-free"}
)


class Judged(NamedTuple):
    """What is expected and was reported of one row, as counts."""

    right: int
    missed: int
    false: int


def judge(row: Row) -> Judged | None:
    """Checks one program; None if no shipped rule says what its property means."""
    wanted = row.rules & _SHIPPED
    if not wanted:
        return None
    checker = Checker(Options(flags=row.flags, data_model=row.model))
    checker.open([str(row.path)])
    report = checker.check()
    found = [finding for finding in report.findings if finding.rule in wanted]
    if row.kind == "functions":
        return _by_function(row, found)
    return _by_line(row, found, [one for one in report.functions if one.place.path == str(row.path)])


def _by_function(row: Row, found: Sequence[Finding]) -> Judged:
    bad, ok = _named(row.expected, "bad"), _named(row.expected, "ok")
    reported = {finding.function.rpartition("::")[2] for finding in found}
    return Judged(len(bad & reported), len(bad - reported), len(ok & reported))


def _named(expected: str, what: str) -> set[str]:
    match = re.search(rf"{what}=([^|]*)", expected)
    return {name for name in match[1].split(";") if name} if match else set()


def _by_line(row: Row, found: Sequence[Finding], functions: Sequence[FunctionReport]) -> Judged:
    expected = {int(number) for number in re.findall(r"\d+", row.expected)}
    starts = sorted(function.place.range.start.line for function in functions)
    hit: set[int] = set()
    false = 0
    for finding in found:
        line = finding.place.range.start.line
        near = {one for one in expected if _is_same(one, line, finding.rule, starts)}
        hit |= near
        false += not near and not any(_is_same(one, line, finding.rule, starts) for one in row.ignored)
    return Judged(len(hit), len(expected - hit), false)


def _is_same(expected: int, line: int, rule: str, starts: Sequence[int]) -> bool:
    if abs(expected - line) <= _NEAR:
        return True
    return rule == "memory-leak" and _owner(expected, starts) == _owner(line, starts)


def _owner(line: int, starts: Sequence[int]) -> int:
    """The line on which the function that owns a line begins."""
    return max((start for start in starts if start <= line), default=0)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.lines", description="Findings by line and by function.")
    parser.add_argument("--corpus", type=Path, default=os.environ.get("EVERPROOF_CORPUS"), help="the folder with index.csv")
    parser.add_argument("--show", action="store_true", help="each program with its counts")
    given = parser.parse_args(arguments)
    if given.corpus is None or not (Path(given.corpus) / "index.csv").is_file():
        parser.error("there is no corpus: name the folder with index.csv by --corpus or EVERPROOF_CORPUS")
    totals: dict[str, Counter[str]] = {}
    for row, judged in _all(Path(given.corpus)):
        if given.show:
            print(f"{row.id} {row.path.name:40}{row.about:40} {judged}", file=sys.stderr, flush=True)
        counts = totals.setdefault(row.about, Counter())
        counts["programs"] += 1
        if judged is None:
            counts["without a rule"] += 1
        else:
            counts.update(judged._asdict())
    print("| property | programs | without a rule | right | missed | false |\n|---|---|---|---|---|---|")
    for name, counts in sorted(totals.items()):
        print(
            f"| {name} | " + " | ".join(str(counts[c]) for c in ("programs", "without a rule", "right", "missed", "false")) + " |"
        )
    return 0


def _all(corpus: Path) -> Iterator[tuple[Row, Judged | None]]:
    for row in rows(corpus, ("lines", "functions")):
        yield row, judge(row)


if __name__ == "__main__":
    raise SystemExit(main())
