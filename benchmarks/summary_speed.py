"""What summaries save from version to version, by the command: `python -m benchmarks.summary_speed [--size N ...] [--seed N]`.

Programs are random: layers of functions that call functions of the layers below, with loops and global variables. A version
differs from the first one in one function. `everproof revisions --engine summary` goes from version to version; `everproof check`
takes each by itself, and starts its prover for it. A time is what the report says of one version: all of it, preprocessing and
parsing included. The exit code is 1 if any answers differ.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from statistics import mean, median
from typing import Any, NamedTuple

SIZES = (8, 16, 24, 30, 36, 48, 64, 80)
BOUND = 3
EDITS = 6
_LAYER = 6  # functions below that one may call
_TASK = "600"  # seconds for one question
_SLOW = 1_000.0  # milliseconds: where from scratch takes longer, a mean is of interest


class Step(NamedTuple):
    """One version: milliseconds from the version before and from scratch, whether the answers are equal, and how many summaries
    were validated."""

    before: float
    scratch: float
    is_equal: bool
    validated: int


def calls(functions: int, seed: int) -> list[list[int]]:
    """The functions that each function calls."""
    random = Random(seed)
    below = [range(max(0, number - _LAYER), number) for number in range(functions)]
    return [random.sample(some, min(random.randint(1, 2), len(some))) for some in below]


def reached(called: Sequence[Sequence[int]]) -> list[int]:
    """The functions that the last one leads to."""
    found, waiting = set[int](), [len(called) - 1]
    while waiting:
        number = waiting.pop()
        if number not in found:
            found.add(number)
            waiting.extend(called[number])
    return sorted(found)


def program(called: Sequence[Sequence[int]], seed: int, edited: int | None = None) -> str:
    """A program, or a version of it in which one function is another one."""
    random, lines = Random(seed), ["void reach_error(void); int nondet(void); int g0, g1;"]
    for number, below in enumerate(called):
        step, rounds = random.randint(1, 9), random.randint(0, BOUND)
        more = f"x + {step} > 100 ? 100 : x + {step}"
        body = ["int x = n; if (x < 0) x = 0; if (x > 100) x = 100;"]
        body.append(f"for (int i = 0; i < {rounds}; i++) x = {more};" if rounds else f"g{number % 2} = x;")
        body += [f"x = f{other}(x);" for other in below]
        body.append(f"if (x > 100 || x < 0) x = {step};")
        if number == edited:
            body.append(f"if (x > {step}) x = x - 1;")
        lines.append(f"static int f{number}(int n) {{ {' '.join(body)} return x; }}")
    lines.append(f"int main(void) {{ int y = f{len(called) - 1}(nondet()); if (y > 100 || y < 0) reach_error(); return 0; }}")
    return "\n".join(lines) + "\n"


def steps(functions: int, seed: int) -> Iterator[Step]:
    """The versions after the first one."""
    called = calls(functions, seed)
    some = reached(called)
    edited = Random(seed).sample(some, min(EDITS, len(some)))
    texts = [program(called, seed), *(program(called, seed, number) for number in edited)]
    with tempfile.TemporaryDirectory() as folder:
        names = [f"{number}.c" for number in range(len(texts))]
        for name, text in zip(names, texts, strict=True):
            (Path(folder) / name).write_text(text)
        chain = asked(folder, "revisions", *names)
        for name, report in list(zip(names, chain, strict=True))[1:]:
            scratch = asked(folder, "check", name)
            times = report["time_ms"]["total"], scratch["time_ms"]["total"]
            print(f"{functions} {seed} {name}: {times}", file=sys.stderr, flush=True)
            yield Step(*times, answers(report) == answers(scratch), report["work"]["summaries"]["validated"])


def asked(folder: str, *words: str) -> Any:
    """The report of a command."""
    options = ["--engine", "summary", "--rule", "assertion", "--unwind", str(BOUND), "--store", "none", "--format", "json"]
    line = [sys.executable, "-m", "analysis.cli", words[0], *options, "--task-timeout", _TASK, *words[1:]]
    environment = {"PYTHONPATH": str(Path(__file__).resolve().parents[1]), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(line, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    return json.loads(done.stdout)


def answers(report: Any) -> list[tuple[str, Any, Any]]:
    """What a report says of each function; the number of summaries is no part of it."""
    found = []
    for function in report["functions"]:
        verdict = function["verdicts"]["assertion"]
        within = verdict["within"] or {}
        found.append((verdict["verdict"], within.get("holds"), within.get("complete")))
    return found


def row(functions: str, found: Sequence[Step]) -> str:
    """A row of the table: of programs with so many functions, or of all."""
    ratios = [step.scratch / step.before for step in found]
    slow = [step.scratch / step.before for step in found if step.scratch > _SLOW]
    cells = [
        functions,
        str(len(found)),
        f"{median(step.scratch for step in found) / 1000:.2f}",
        f"{median(step.before for step in found) / 1000:.2f}",
        f"{min(ratios):.1f}",
        f"{mean(slow):.1f} ({len(slow)})" if slow else "none",
        f"{mean(step.validated for step in found):.1f}",
        str(sum(not step.is_equal for step in found)),
    ]
    return f"| {' | '.join(cells)} |"


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.summary_speed", description="What summaries save.")
    parser.add_argument("--size", type=int, action="append", default=[], help=f"functions, repeatable (default: {SIZES})")
    parser.add_argument("--seed", type=int, default=1, help="of the first program (default: 1)")
    parser.add_argument("--programs", type=int, default=2, help="of each size (default: 2)")
    given = parser.parse_args(arguments)
    titles = ("functions", "versions", "from scratch, s", "from the version before, s", "least gain", "mean gain over 1 s")
    print(f"| {' | '.join((*titles, 'validated', 'differ'))} |")
    print("|---" * 8 + "|", flush=True)
    everything: list[Step] = []
    for size in given.size or SIZES:
        found = [step for seed in range(given.seed, given.seed + given.programs) for step in steps(size, seed)]
        print(row(str(size), found), flush=True)
        everything += found
    print(row("all", everything), flush=True)
    return int(not all(step.is_equal for step in everything))


if __name__ == "__main__":
    sys.exit(main())
