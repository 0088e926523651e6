"""Random programs of several units, with linkage and initialisers, run by the compiler's code and by the interpreter of CFAs;
and what engines say of the sum of what they print.

    python -m benchmarks.linked COUNT SEED [--engine NAME ...] [--seconds S]

What is printed must be the same. Then each engine is asked whether the sum can be another one than the compiler's code computes,
which may not be confirmed, and whether it is always another one, which may not be proved: its certificate would be accepted.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from analysis.cfa.building.unit import build_unit
from analysis.cfa.linking.link import LinkedProgram, link
from analysis.engines.symbolic import Effort, ProgramTask
from analysis.frontend.syntax.parser import parse
from analysis.interpreter import Bounds, Run, Script, Start, execute
from analysis.interpreter.outcome import Returned
from analysis.model.c_types import LP64
from benchmarks.asked_programs import ENGINES, Engine, answer
from benchmarks.interpreted import DRIVER, ENVIRONMENT, FLAGS, Compiled, Difference, compiled
from benchmarks.random_c import PRELUDE
from benchmarks.random_c.units import RandomUnits

BATCH = 40
_BOUNDS = Bounds(steps=1_000_000, output=1_000_000)
_RANGE = 1 << 64
_SUM = """\
extern unsigned long long sum;
void reach_error(void);
static void out(const char *name, long long value) { sum = (sum ^ (unsigned long long)value) * 5; }
"""


class Batch:
    """Programs whose units share files: for the compiler and for the interpreter."""

    def __init__(self, seeds: Sequence[int]) -> None:
        self.seeds = seeds
        self.programs = [RandomUnits(seed, f"p{number}_") for number, seed in enumerate(seeds)]
        parts = zip(*(program.texts for program in self.programs), strict=True)
        self.texts = [PRELUDE + "".join(part) for part in parts]
        self._linked = linked(self.texts)

    def interpret(self, number: int) -> Run:
        """Runs one program by the interpreter."""
        return execute(self._linked.program, Start(self.programs[number].entry), Script(), _BOUNDS)

    def compile_and_run(self, folder: Path) -> list[Compiled]:
        """Runs all programs as compiled; raises CalledProcessError if the compiler refuses a text."""
        names = [program.entry for program in self.programs]
        files = [f"t{number}.c" for number in range(len(self.texts))]
        for file, text in zip(files, self.texts, strict=True):
            (folder / file).write_text(text)
        (folder / "driver.c").write_text(DRIVER % ("\n".join(f"void {name}(void);" for name in names), ", ".join(names)))
        subprocess.run(["gcc", *FLAGS, *files, "driver.c", "-o", "t"], cwd=folder, check=True, capture_output=True, text=True)
        done = subprocess.run(["./t"], cwd=folder, check=True, capture_output=True, text=True, env=ENVIRONMENT)
        return [compiled(folder, number, int(status)) for number, status in enumerate(done.stdout.split())]


def linked(texts: Sequence[str]) -> LinkedProgram:
    """The program of these units. ValueError if one does not parse."""
    units = [build_unit(f"t{number}.c", parse(text.encode()), LP64) for number, text in enumerate(texts)]
    for unit in units:
        if unit.broken:
            raise ValueError(f"{unit.broken[0].name} does not parse")
    return link(units)


def sum_of(output: str) -> int:
    """What the sum is of a program that prints this."""
    found = 0
    for line in output.splitlines():
        found = (found ^ int(line.rpartition("=")[2]) % _RANGE) * 5 % _RANGE
    return found


def claims(program: RandomUnits, expected: int) -> dict[str, ProgramTask]:
    """Two programs that end in an assertion about the sum: "right" holds, "wrong" does not."""
    texts = [_SUM + text for text in program.texts]
    found = {}
    for name, value in (("right", expected), ("wrong", expected ^ 1)):
        end = (
            f"unsigned long long sum;\nint main(void) {{ {program.entry}(); if (sum != {value}ull) reach_error(); return 0; }}\n"
        )
        whole = linked([texts[0] + end, *texts[1:]]).program
        found[name] = ProgramTask(whole, frozenset({"assertion"}), Effort(seconds=2))
    return found


def asked(program: RandomUnits, output: str, engine: Engine, seconds: float, counts: Counter[str]) -> str:
    """What is wrong with what an engine says; empty if nothing."""
    for name, task in claims(program, sum_of(output)).items():
        verdict = answer(task._replace(effort=Effort(seconds=seconds)), engine).verdict
        counts[f"{engine}: the {name} sum: {verdict}"] += 1
        if (name, verdict) in (("right", "violated"), ("wrong", "safe")):
            return f"{engine}: of the {name} sum: {verdict}"
    return ""


def compare(batch: Batch, counts: Counter[str], engines: Sequence[Engine] = (), seconds: float = 2.0) -> list[Difference]:
    """Runs a batch in the interpreter and as machine code, and asks the engines; `counts` counts what was said."""
    try:
        with tempfile.TemporaryDirectory() as folder:
            ends = batch.compile_and_run(Path(folder))
    except subprocess.CalledProcessError:
        if len(batch.seeds) == 1:
            counts["(the compiler refuses it)"] += 1
            return []
        half = len(batch.seeds) // 2
        parts = (batch.seeds[:half], batch.seeds[half:])
        return [each for part in parts for each in compare(Batch(part), counts, engines, seconds)]
    found = []
    for number, (seed, expected) in enumerate(zip(batch.seeds, ends, strict=True)):
        run = batch.interpret(number)
        counts["lines printed"] += expected.output.count("\n")
        counts[f"interpreted: {type(run.end).__name__}"] += 1
        what = _difference(expected, run)
        for engine in engines:
            what = what or asked(batch.programs[number], expected.output, engine, seconds, counts)
        if what:
            found.append(Difference(seed, what))
    return found


def _difference(expected: Compiled, run: Run) -> str:
    if expected.kind or expected.failure:
        return f"compiled: {expected.kind} {expected.failure}"
    if not isinstance(run.end, Returned) or run.assumptions:
        return f"interpreted: {run.end} {run.assumptions}"
    pairs = zip(expected.output.splitlines(), run.output.splitlines(), strict=False)
    first = next((f"compiled {one}, interpreted {other}" for one, other in pairs if one != other), "")
    return first or ("" if run.output == expected.output else "one prints more lines")


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.linked", description="Random programs of several units.")
    parser.add_argument("count", type=int, nargs="?", default=200)
    parser.add_argument("seed", type=int, nargs="?", default=0)
    parser.add_argument("--engine", action="append", choices=ENGINES, default=[], help="to be asked (default: none)")
    parser.add_argument("--seconds", type=float, default=2.0, help="for one question (default: 2)")
    given = parser.parse_args(arguments)
    counts: Counter[str] = Counter()
    differences, last = 0, given.seed + given.count
    for first in range(given.seed, last, BATCH):
        for found in compare(Batch(range(first, min(first + BATCH, last))), counts, given.engine, given.seconds):
            differences += 1
            print(f"seed {found.seed}: {found.what}", flush=True)
        print(f"{min(first + BATCH, last) - given.seed} programs, {differences} differences", file=sys.stderr, flush=True)
    print("| what was said | number |\n|---|---|")
    for what, number in sorted(counts.items()):
        print(f"| {what} | {number} |")
    return int(differences > 0)


if __name__ == "__main__":
    sys.exit(main())
