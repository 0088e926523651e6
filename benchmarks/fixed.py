"""Findings for which a fix is offered, and what a compiler says of the fixed texts.

    python -m benchmarks.fixed PATH...

Each PATH is a C file, checked as a program by itself by the automaton engine, or a folder of which each C file is. Of each
finding it is counted whether there is a candidate, and whether a fix was confirmed by a check of the changed program. Each fixed
text is given to the compiler: one that it refuses, while it takes the original, is listed.
"""

from __future__ import annotations

import argparse
import subprocess
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path

from analysis.api import Checker
from analysis.fixes.confirming import confirmed_fixes
from analysis.fixes.kinds import families
from analysis.fixes.source_text import SourceText
from analysis.model.options import Options
from analysis.model.text_changes import ByteChange, Fix, changed, offset_of


def programs(paths: Sequence[str]) -> list[Path]:
    """The files, in order."""
    found = [sorted(Path(path).rglob("*.c")) if Path(path).is_dir() else [Path(path)] for path in paths]
    return [path for one in found for path in one]


def fixed(text: bytes, fix: Fix) -> bytes:
    """The text after a fix."""
    places = ((offset_of(text, one.range.start), offset_of(text, one.range.end), one.text) for one in fix.changes)
    return changed(text, tuple(ByteChange(*one) for one in places))


def compiles(text: bytes, folder: Path) -> bool:
    """Whether gcc takes a text, as a file of a folder."""
    command = ["gcc", "-fsyntax-only", "-w", f"-I{folder}", "-x", "c", "-"]
    return subprocess.run(command, input=text, capture_output=True, check=False).returncode == 0


def count(program: Path, counts: dict[str, Counter[str]]) -> None:
    """Counts the findings of a program."""
    text = program.read_bytes().decode()
    checker = Checker(Options(engine="automaton"))
    checker.open([str(program)])
    original = compiles(text.encode(), program.parent)
    for finding in checker.check().findings:
        row = counts[finding.rule]
        row["findings"] += 1
        row["candidates"] += bool(families(SourceText(text), finding))
        began = time.perf_counter()
        fixes = confirmed_fixes(checker, str(program), text, finding.fingerprint)
        row["ms"] += round((time.perf_counter() - began) * 1000)
        checker.change(str(program), text)
        row["confirmed"] += bool(fixes)
        row["fixes"] += len(fixes)
        for fix in fixes:
            if original and not compiles(fixed(text.encode(), fix), program.parent):
                row["refused"] += 1
                print(f"{program}: {fix.title}: the compiler refuses it", flush=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fixed", description="Findings for which a fix is offered.")
    parser.add_argument("paths", nargs="+")
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for program in programs(parser.parse_args(arguments).paths):
        count(program, counts)
    print("| rule | findings | with candidates | with a fix | fixes | refused by gcc | ms for a finding |")
    print("|---|---|---|---|---|---|---|")
    for rule, row in sorted(counts.items()):
        print(_row(rule, row))
    print(_row("all", sum(counts.values(), Counter())))
    return 0


def _row(rule: str, row: Counter[str]) -> str:
    each = row["ms"] // max(row["findings"], 1)
    return (
        f"| {rule} | {row['findings']} | {row['candidates']} | {row['confirmed']} | {row['fixes']} | {row['refused']} | {each} |"
    )


if __name__ == "__main__":
    raise SystemExit(main())
