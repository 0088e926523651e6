"""Random programs against proofs: what is proved of them, the compiler's code must keep to.

    python -m benchmarks.proved COUNT SEED [--engine NAME] [--seconds S] [--encoding int|bv]

The programs are those of `benchmarks.confirmed`: with inputs, and with defects that depend on them. Proofs
are looked for by predicate analysis, property by property, or by one of the engines of
`analysis.session.portfolio`, of all properties together. Where a proof has an accepted certificate, the
program is compiled by gcc with sanitizers and run with random inputs. No run may be stopped by a violation of
what is proved.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import get_args

from analysis.certificate.checked_outcome import Proved
from analysis.certificate.refusal import RefusedError
from analysis.certificate.unwinding import check_unwinding, unwind
from analysis.certificate.unwinding_tree import Unwinding
from analysis.cfa.building.unit import build_unit
from analysis.cfa.graph import Program
from analysis.cfa.linking.link import link
from analysis.cpa.predicates.violations import Property, violations
from analysis.engines.predicate.predicate_options import PredicateOptions
from analysis.engines.predicate.predicate_proof import prove
from analysis.engines.symbolic import Effort, ProgramTask
from analysis.frontend.syntax.parser import parse
from analysis.model.c_types import LP64
from analysis.smt.encoding.numbers.formula import Mode
from benchmarks.asked_programs import ENGINES, Engine, answer
from benchmarks.confirmed import BATCH, RULES, Job, Programs
from benchmarks.random_c import PRELUDE
from benchmarks.random_c.defects import INPUT_PRELUDE

_MILLISECONDS = 10_000  # for one question about a path
_RUNS = 24  # of a program of which something is proved
_LIKELY = (0, 1, -1, 31, 32, 255, 256, 65536, -2147483648, 2147483647)
Proofs = dict[int, tuple[str, ...]]
Prove = Callable[[Program], dict[str, bool]]
"""Which properties of a program are proved; those that nothing in it could violate are left out."""


def by_predicates(options: PredicateOptions) -> Prove:
    """Proofs by predicate analysis, property by property."""

    def proved(program: Program) -> dict[str, bool]:
        wanted = {property_: violations(program, property_) for property_ in get_args(Property)}
        return {name: isinstance(prove(program, of, options=options), Proved) for name, of in wanted.items() if of}

    return proved


def by_engine(engine: Engine, seconds: float) -> Prove:
    """Proofs by one of the engines, or all of them in turn, of all properties together."""

    def proved(program: Program) -> dict[str, bool]:
        task = ProgramTask(program, RULES, Effort(seconds=seconds, runs=0), allocation_fails=False)
        return dict.fromkeys(sorted(RULES), answer(task, engine).verdict == "safe")

    return proved


def by_paths(edges: int) -> Prove:
    """Proofs by trees of paths of at most so many edges, of all properties together."""

    def proved(program: Program) -> dict[str, bool]:
        left = iter(range(edges))
        claim = Unwinding("main", tuple(sorted(RULES)), (), 0, allocation_fails=False)
        try:
            made = unwind(program, claim, LP64, _MILLISECONDS, lambda: next(left, None) is not None)
            check_unwinding(program, made, LP64)
        except RefusedError:
            return dict.fromkeys(claim.rules, False)
        return dict.fromkeys(claim.rules, True)

    return proved


def proofs(programs: Programs, prove_: Prove, counts: Counter[str]) -> Proofs:
    """The properties that are proved, by the number of the program."""
    found: Proofs = {}
    for number, program in enumerate(programs.programs):
        text = f"{PRELUDE}{INPUT_PRELUDE}{program.text}int main(void) {{ {program.entry}(); return 0; }}\n"
        said = prove_(link([build_unit("t.c", parse(text.encode()), LP64)]).program)
        counts.update(f"{name}: {'proved' if is_proved else 'not proved'}" for name, is_proved in said.items())
        if any(said.values()):
            found[number] = tuple(name for name, is_proved in said.items() if is_proved)
    return found


def contradictions(programs: Programs, proved: Proofs, counts: Counter[str]) -> list[str]:
    """What runs of the compiled programs say against the proofs."""
    jobs = []
    for number in proved:
        draw = Random(programs.seeds[number])
        jobs += [Job(number, _inputs(draw)) for _ in range(_RUNS)]
    with tempfile.TemporaryDirectory() as folder:
        ends = programs.compile_and_run(Path(folder), jobs)
    counts["runs of compiled programs"] += len(jobs)
    return [
        f"seed {programs.seeds[job.program]}: {end.kind} is proved not to happen, and happens on {job.inputs}"
        for job, end in zip(jobs, ends, strict=True)
        if end.kind in proved[job.program]
    ]


def _inputs(draw: Random) -> tuple[int, ...]:
    """What three calls of the input function return."""
    return tuple(draw.choice([draw.randrange(-8, 20), draw.choice(_LIKELY), draw.getrandbits(32) - (1 << 31)]) for _ in range(3))


def run(count: int, seed: int, prove_: Prove) -> tuple[int, Counter[str]]:
    """Checks `count` programs, from `seed` on, printing contradictions as they are found; gives their number."""
    counts: Counter[str] = Counter()
    wrong = 0
    for first in range(seed, seed + count, BATCH):
        programs = Programs(range(first, min(first + BATCH, seed + count)))
        for contradiction in contradictions(programs, proofs(programs, prove_, counts), counts):
            wrong += 1
            print(contradiction, flush=True)
        done = min(first + BATCH - seed, count)
        print(f"{done} programs, {wrong} contradictions, {dict(counts)}", file=sys.stderr, flush=True)
    return wrong, counts


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.proved", description="What is proved, compiled.")
    parser.add_argument("count", type=int, nargs="?", default=200)
    parser.add_argument("seed", type=int, nargs="?", default=0)
    parser.add_argument(
        "--engine", choices=ENGINES, default="predicate", help="the engine that looks for proofs (default: predicate)"
    )
    parser.add_argument("--seconds", type=float, default=1.0, help="for one property of one program (default: 1)")
    parser.add_argument("--encoding", choices=get_args(Mode), default="int", help="of predicates (default: int)")
    given = parser.parse_args(arguments)
    began = time.monotonic()
    options = PredicateOptions(mode=given.encoding, seconds=given.seconds, recursion=2)
    is_plain = given.engine == "predicate"
    wrong, counts = run(given.count, given.seed, by_predicates(options) if is_plain else by_engine(given.engine, given.seconds))
    print("| what was said | number |\n|---|---|")
    for what, number in sorted(counts.items()):
        print(f"| {what} | {number} |")
    print(f"\n{wrong} contradictions; {time.monotonic() - began:.0f} s")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
