"""Random programs run by the compiler's code, with sanitizers, and by the interpreter of CFAs: they must agree.

    python -m benchmarks.interpreted COUNT SEED

What is printed must be the same. Where a sanitizer stops a program, the interpreter must observe a violation of that kind on that
line, and where none does, it must observe none. This tests the interpreter, and the lowering of C to CFAs with it.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from analysis.cfa.building.unit import build_unit
from analysis.cfa.linking.link import LinkedProgram, link
from analysis.frontend.syntax.parser import parse
from analysis.interpreter import Bounds, Observation, Run, Script, Start, execute
from analysis.interpreter.outcome import Returned
from analysis.model.c_types import LP64
from benchmarks.random_c import PRELUDE, RandomProgram

BATCH = 50
_BOUNDS = Bounds(steps=3_000_000, output=1_000_000)
FLAGS = ("-w", "-O0", "-fsanitize=undefined,address", "-fno-sanitize-recover=all")
ENVIRONMENT = {
    "ASAN_OPTIONS": "detect_leaks=0:symbolize=0:detect_stack_use_after_return=1",
    "UBSAN_OPTIONS": "print_stacktrace=0",
    "PATH": "/usr/bin:/bin",
}
DRIVER = """\
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
%s
static void (*const programs[])(void) = {%s};
int main(void)
{
    for (unsigned i = 0; i < sizeof programs / sizeof *programs; i++) {
        fflush(stdout);
        pid_t child = fork();
        if (child == 0) {
            char name[32];
            snprintf(name, sizeof name, "%%u.out", i);
            freopen(name, "w", stdout);
            setvbuf(stdout, NULL, _IOLBF, 0);
            snprintf(name, sizeof name, "%%u.err", i);
            freopen(name, "w", stderr);
            alarm(20);
            programs[i]();
            fflush(stdout);
            _exit(0);
        }
        int status = 0;
        waitpid(child, &status, 0);
        printf("%%d\\n", status);
    }
    return 0;
}
"""
# what the sanitizers of gcc say, and the rule that it belongs to
_MESSAGES: tuple[tuple[str, str], ...] = (
    ("reach_error", "assertion"),
    ("shift exponent", "shift-range"),
    ("left shift of", "signed-overflow"),
    ("signed integer overflow", "signed-overflow"),
    ("negation of", "signed-overflow"),
    ("division of", "signed-overflow"),
    ("division by zero", "division-by-zero"),
    ("out of bounds", "array-bounds"),
    ("insufficient space", "array-bounds"),
    ("buffer-overflow", "array-bounds"),
    ("buffer-underflow", "array-bounds"),
    ("null pointer", "null-dereference"),
    ("heap-use-after-free", "use-after-free"),
    ("stack-use-after", "use-after-scope"),
    ("double-free", "double-free"),
    ("not malloc()-ed", "invalid-free"),
)


class Compiled(NamedTuple):
    """How the compiled program ended: what it printed, the kind of the violation that stopped it, its line (0: unknown), and
    what is wrong with it otherwise."""

    output: str
    kind: str | None
    line: int
    failure: str


class Difference(NamedTuple):
    """A program on which the two do not agree."""

    seed: int
    what: str


class Batch:
    """Programs in one file: run by the compiler, and by the interpreter."""

    def __init__(self, seeds: Sequence[int]) -> None:
        self.seeds = seeds
        self.programs = [RandomProgram(seed, f"p{number}_") for number, seed in enumerate(seeds)]
        self.text = PRELUDE + "".join(program.text for program in self.programs)
        self._starts: list[int] = []
        unit = build_unit("t.c", parse(self.text.encode()), LP64)
        self.linked: LinkedProgram = link([unit])
        self.broken = [broken.name for broken in unit.broken]

    def interpret(self, number: int) -> Run:
        """Runs one program by the interpreter."""
        start = Start(self.programs[number].entry)
        return execute(self.linked.program, start, Script(), _BOUNDS, record=True)

    def line_of(self, run: Run) -> int:
        """The line of the last edge of a run."""
        step = run.path[-1]
        source = self.linked.sources[step.function]
        at = source.start + source.sites[step.edge].start
        return self.text.encode()[:at].count(b"\n") + 1

    def same_switch(self, line: int, later: int) -> bool:
        """Whether the second line is that of a case of the switch in the first: where its condition is tested, edge by edge."""
        lines = self.text.splitlines()
        return line < later and "switch (" in lines[line - 1] and lines[later - 1].lstrip().startswith("case ")

    def compile_and_run(self, folder: Path) -> list[Compiled]:
        """Runs all programs as compiled; raises CalledProcessError if the compiler refuses the text."""
        (folder / "t.c").write_text(self.text)
        names = [program.entry for program in self.programs]
        declarations = "\n".join(f"void {name}(void);" for name in names)
        (folder / "driver.c").write_text(DRIVER % (declarations, ", ".join(names)))
        subprocess.run(["gcc", *FLAGS, "t.c", "driver.c", "-o", "t"], cwd=folder, check=True, capture_output=True, text=True)
        done = subprocess.run(["./t"], cwd=folder, check=True, capture_output=True, text=True, env=ENVIRONMENT)
        statuses = [int(line) for line in done.stdout.split()]
        return [compiled(folder, number, status) for number, status in enumerate(statuses)]


def compiled(folder: Path, number: int, status: int) -> Compiled:
    """How a run ended that wrote `NUMBER.out` and `NUMBER.err`."""
    output = (folder / f"{number}.out").read_bytes().decode("latin-1")
    errors = (folder / f"{number}.err").read_bytes().decode("latin-1")
    if not errors:
        return Compiled(output, None, 0, "" if status == 0 else f"status {status}")
    first = next((line for line in errors.splitlines() if "error:" in line or "ERROR:" in line), errors[:200])
    kind = next((kind for text, kind in _MESSAGES if text in first), None)
    where = re.match(r"t\.c:(\d+):", first)
    return Compiled(output, kind, int(where[1]) if where else 0, "" if kind else first)


def compare(batch: Batch, counts: Counter[str]) -> list[Difference]:
    """Runs a batch in the interpreter and as machine code; `counts` counts how the programs ended, "edges"
    and "seconds" of the interpreter."""
    try:
        with tempfile.TemporaryDirectory() as folder:
            ends = batch.compile_and_run(Path(folder))
    except subprocess.CalledProcessError as error:
        if "internal compiler error" not in error.stderr:
            raise
        return _compare_parts(batch, counts)
    found = [Difference(batch.seeds[0], f"does not parse: {name}") for name in batch.broken]
    for number, (seed, expected) in enumerate(zip(batch.seeds, ends, strict=True)):
        began = time.process_time()
        run = batch.interpret(number)
        counts["milliseconds"] += round(1000 * (time.process_time() - began))
        counts["edges"] += run.steps
        counts[run.end.kind if isinstance(run.end, Observation) else type(run.end).__name__] += 1
        what = difference_of(batch, expected, run)
        if what:
            found.append(Difference(seed, what))
    return found


def _compare_parts(batch: Batch, counts: Counter[str]) -> list[Difference]:
    """The compiler crashes on one of the programs: compares the others."""
    if len(batch.seeds) == 1:
        counts["(the compiler crashed)"] += 1
        return []
    half = len(batch.seeds) // 2
    return compare(Batch(batch.seeds[:half]), counts) + compare(Batch(batch.seeds[half:]), counts)


def difference_of(batch: Batch, expected: Compiled, run: Run) -> str:
    if expected.failure:
        return f"compiled: {expected.failure}"
    if run.assumptions:
        return f"the interpreter assumes {run.assumptions}"
    if run.output != expected.output:
        return f"output: {_first_difference(expected.output, run.output)} (interpreter: {run.end})"
    if expected.kind is None:
        return "" if isinstance(run.end, Returned) else f"the compiled program ends, the interpreter: {run.end}"
    if not isinstance(run.end, Observation):
        return f"compiled: {expected.kind} in line {expected.line}, interpreter: {run.end}"
    line = batch.line_of(run)
    if expected.line and line != expected.line and not batch.same_switch(expected.line, line):
        return f"compiled: {expected.kind} in line {expected.line}, interpreter: {run.end} in line {line}"
    if run.end.kind != expected.kind:
        return f"compiled: {expected.kind}, interpreter: {run.end}"
    return ""


def _first_difference(one: str, other: str) -> str:
    for number, (left, right) in enumerate(zip(one.splitlines(), other.splitlines(), strict=False)):
        if left != right:
            return f"line {number}: compiled {left!r}, interpreted {right!r}"
    return f"compiled {len(one.splitlines())} lines, interpreted {len(other.splitlines())}"


def run_batches(count: int, seed: int) -> tuple[int, Counter[str]]:
    """Compares `count` programs, from `seed` on, printing differences as they are found; gives their number."""
    counts: Counter[str] = Counter()
    differences = 0
    for first in range(seed, seed + count, BATCH):
        for found in compare(Batch(range(first, min(first + BATCH, seed + count))), counts):
            differences += 1
            print(f"seed {found.seed}: {found.what}", flush=True)
        print(f"{min(first + BATCH - seed, count)} programs, {differences} differences", file=sys.stderr, flush=True)
    return differences, counts


def main(arguments: list[str]) -> int:
    count, seed = int(arguments[0]) if arguments else 200, int(arguments[1]) if len(arguments) > 1 else 0
    differences, counts = run_batches(count, seed)
    print("| how it ended | programs |\n|---|---|")
    for kind, number in counts.most_common():
        if kind not in ("edges", "milliseconds"):
            print(f"| {kind} | {number} |")
    print(f"\n{differences} differences; {counts['edges']} edges in {counts['milliseconds'] / 1000:.1f} s of the processor")
    return 1 if differences else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
