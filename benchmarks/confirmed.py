"""Random programs whose defects depend on inputs: what the symbolic engine says of them, against the compiler's code.

    python -m benchmarks.confirmed COUNT SEED

Each program is decided as a whole. Where a violation is confirmed, the program is compiled by gcc with
sanitizers and run with the inputs of the trace. A violation of that kind on that line must stop it. Where all
are refuted, it is run with random inputs, and none may stop it. Leaks and values that were never set are not
looked at: gcc's sanitizers do not see them here.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import NamedTuple

from analysis.cfa.building.unit import build_unit
from analysis.cfa.linking.link import LinkedProgram, link
from analysis.engines.symbolic import Confirmed, Decision, Effort, ProgramTask, Refuted, decide_program
from analysis.frontend.syntax.parser import parse
from analysis.model.c_types import LP64
from benchmarks.interpreted import ENVIRONMENT, FLAGS, Compiled, Difference, compiled
from benchmarks.random_c import PRELUDE, DefectProgram
from benchmarks.random_c.defects import INPUT, INPUT_PRELUDE

RULES = frozenset(
    {
        "null-dereference",
        "use-after-free",
        "use-after-scope",
        "double-free",
        "invalid-free",
        "division-by-zero",
        "array-bounds",
        "signed-overflow",
        "shift-range",
        "assertion",
    }
)
BATCH = 50
EFFORT = Effort(seconds=60, states=60, runs=8, run_steps=10_000)  # bounded by work, so that it is the same on every machine
_RANDOM_RUNS = 8  # of a program in which nothing is said to go wrong
_MOST_INPUTS = 3
_HALF = 1 << 31
_LIKELY = (0, 1, -1, 100, 255, 1000, 4711, 65536, -7, 2147483647)
_DRIVER = """\
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
%s
static void (*const programs[])(void) = {%s};
static int inputs[64], given, asked;
int __VERIFIER_nondet_int(void) { return asked < given ? inputs[asked++] : 0; }
void reach_error_at(int line) { fprintf(stderr, "t.c:%%d: error: reach_error\\n", line); exit(1); }
int main(void)
{
    unsigned job = 0, number;
    while (scanf("%%u %%d", &number, &given) == 2) {
        for (int at = 0; at < given; at++) scanf("%%d", &inputs[at]);
        fflush(stdout);
        pid_t child = fork();
        if (child == 0) {
            char name[32];
            snprintf(name, sizeof name, "%%u.out", job);
            freopen(name, "w", stdout);
            snprintf(name, sizeof name, "%%u.err", job);
            freopen(name, "w", stderr);
            alarm(20);
            programs[number]();
            fflush(stdout);
            _exit(0);
        }
        int status = 0;
        waitpid(child, &status, 0);
        printf("%%d\\n", status);
        job++;
    }
    return 0;
}
"""


class Job(NamedTuple):
    """One run of a compiled program, by its number in the batch, on inputs."""

    program: int
    inputs: tuple[int, ...]


class Programs:
    """Some programs in one file for the compiler, and each on its own for the engine."""

    def __init__(self, seeds: Sequence[int]) -> None:
        self.seeds = seeds
        self.programs = [DefectProgram(seed, f"p{number}_", risk=0.0) for number, seed in enumerate(seeds)]
        self._prelude = PRELUDE + INPUT_PRELUDE

    def decide(self, number: int, effort: Effort = EFFORT) -> tuple[Decision, int]:
        """What the engine says of one program, and the line, in the program's own text, of a violation."""
        program = self.programs[number]
        text = f"{self._prelude}{program.text}int main(void) {{ {program.entry}(); return 0; }}\n"
        linked = link([build_unit("t.c", parse(text.encode()), LP64)])
        decision = decide_program(ProgramTask(linked.program, RULES, effort, allocation_fails=False))
        line = _line(linked, text, decision) - self._prelude.count("\n") if isinstance(decision, Confirmed) else 0
        return decision, line

    def start_of(self, number: int) -> int:
        """How many lines are before a program's text in the file for the compiler."""
        return self._prelude.count("\n") + sum(program.text.count("\n") for program in self.programs[:number])

    def lines_of(self, number: int) -> list[str]:
        """The lines of one program."""
        return self.programs[number].text.splitlines()

    def compile_and_run(self, folder: Path, jobs: Sequence[Job]) -> list[Compiled]:
        """Runs the jobs; raises CalledProcessError if the compiler refuses the text."""
        text = self._prelude + "".join(program.text for program in self.programs)
        (folder / "t.c").write_text(text.replace("reach_error()", "reach_error_at(__LINE__)"))
        names = [program.entry for program in self.programs]
        declarations = "\n".join(f"void {name}(void);" for name in names)
        (folder / "driver.c").write_text(_DRIVER % (declarations, ", ".join(names)))
        subprocess.run(["gcc", *FLAGS, "t.c", "driver.c", "-o", "t"], cwd=folder, check=True, capture_output=True, text=True)
        given = "\n".join(f"{job.program} {len(job.inputs)} {' '.join(map(str, job.inputs))}" for job in jobs)
        done = subprocess.run(["./t"], cwd=folder, check=True, capture_output=True, text=True, env=ENVIRONMENT, input=given)
        statuses = [int(line) for line in done.stdout.split()]
        return [compiled(folder, number, status) for number, status in enumerate(statuses)]


def _line(linked: LinkedProgram, text: str, decision: Confirmed) -> int:
    last = decision.steps[-1]
    source = linked.sources[last.function]
    at = source.start + source.sites[last.edge].start
    return text.encode()[:at].count(b"\n") + 1


def inputs_of(decision: Confirmed) -> tuple[int, ...]:
    """What the calls of the input function return, in their order, as values of `int`."""
    given = (value for question, value in decision.inputs if question.name == INPUT and isinstance(value, int))
    return tuple((value + _HALF) % (2 * _HALF) - _HALF for value in given)


def compare(programs: Programs, counts: Counter[str], effort: Effort = EFFORT) -> list[Difference]:
    """Decides all programs and checks what was said; `counts` counts it."""
    jobs: list[Job] = []
    said: list[tuple[Decision, int]] = []
    for number, seed in enumerate(programs.seeds):
        decision, line = programs.decide(number, effort)
        counts[_what(decision)] += 1
        if isinstance(decision, Confirmed):
            jobs.append(Job(number, inputs_of(decision)))
            said.append((decision, line))
        elif isinstance(decision, Refuted):
            draw = Random(seed)
            for _ in range(_RANDOM_RUNS):
                jobs.append(Job(number, tuple(_random_input(draw) for _ in range(_MOST_INPUTS))))
                said.append((decision, 0))
    with tempfile.TemporaryDirectory() as folder:
        ends = programs.compile_and_run(Path(folder), jobs)
    found = [
        Difference(programs.seeds[job.program], what)
        for job, (decision, line), end in zip(jobs, said, ends, strict=True)
        if (what := difference_of(programs, job, decision, line, end))
    ]
    counts["runs of compiled programs"] += len(jobs)
    return found


def _random_input(draw: Random) -> int:
    return draw.choice([draw.randrange(-8, 20), draw.choice(_LIKELY), draw.getrandbits(32) - (1 << 31)])


def _what(decision: Decision) -> str:
    match decision:
        case Confirmed(observation=seen):
            return f"confirmed: {seen.kind}"
        case Refuted():
            return "refuted"
    return "undecided"


def difference_of(programs: Programs, job: Job, decision: Decision, line: int, end: Compiled) -> str:
    """What the compiled program did otherwise than was said; empty if nothing."""
    if isinstance(decision, Refuted):
        return f"refuted, but on {job.inputs}: {end.kind or end.failure}" if end.kind or end.failure else ""
    if not isinstance(decision, Confirmed):
        return ""
    kind = decision.observation.kind
    if end.kind != kind:
        return f"confirmed: {kind} in line {line} on {job.inputs}, compiled: {end.kind or end.failure or 'ends'}"
    there = end.line - programs.start_of(job.program)
    if end.line and there != line and not _same_switch(programs.lines_of(job.program), there, line):
        return f"confirmed: {kind} in line {line} on {job.inputs}, compiled: in line {there}"
    return ""


def _same_switch(lines: Sequence[str], line: int, later: int) -> bool:
    """Whether the second line is that of a case of the switch in the first: where its condition is tested, edge by edge."""
    return 0 < line < later <= len(lines) and "switch (" in lines[line - 1] and lines[later - 1].lstrip().startswith("case ")


def run_batches(count: int, seed: int, effort: Effort = EFFORT) -> tuple[int, Counter[str]]:
    """Checks `count` programs, from `seed` on, printing differences as they are found; gives their number."""
    counts: Counter[str] = Counter()
    differences = 0
    for first in range(seed, seed + count, BATCH):
        seeds = range(first, min(first + BATCH, seed + count))
        for found in compare(Programs(seeds), counts, effort):
            differences += 1
            print(f"seed {found.seed}: {found.what}", flush=True)
        print(
            f"{min(first + BATCH - seed, count)} programs, {differences} differences, {dict(counts)}", file=sys.stderr, flush=True
        )
    return differences, counts


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.confirmed", description="What is confirmed and refuted, compiled."
    )
    parser.add_argument("count", type=int, nargs="?", default=200)
    parser.add_argument("seed", type=int, nargs="?", default=0)
    given = parser.parse_args(arguments)
    began = time.monotonic()
    differences, counts = run_batches(given.count, given.seed)
    print("| what was said | programs |\n|---|---|")
    for what, number in counts.most_common():
        print(f"| {what} | {number} |")
    print(f"\n{differences} differences; {time.monotonic() - began:.0f} s")
    return 1 if differences else 0


if __name__ == "__main__":
    raise SystemExit(main())
