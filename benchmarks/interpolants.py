"""Where interpolants come from, compared: unsat cores with weakest preconditions, Spacer, Bitwuzla, and explicit values.

    python -m benchmarks.interpolants [--seconds S] [PROGRAM...]

First each method alone refines the proofs of the programs (fixtures/programs/papers and the good ones of fixtures/proofs, if none
is named), in both encodings; the whole program as Horn clauses is left out. Then all methods are asked about the same sequences,
those that were met with all methods together. The size of interpolants is their number of different subterms; those that the
check refused, or that were not found in the budget, count as none.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import mean, median
from typing import NamedTuple
from unittest import mock

import msgspec

from analysis.api import Checker
from analysis.certificate.checked_outcome import Proved, Unproved
from analysis.cfa.graph import Program
from analysis.cpa.predicates.violations import Property, Violation, violations
from analysis.engines.predicate import predicate_refinement
from analysis.engines.predicate.predicate_options import PredicateOptions
from analysis.engines.predicate.predicate_proof import prove
from analysis.engines.value.value_proof import prove as prove_by_values
from analysis.model.c_types import LP64
from analysis.model.options import Options
from analysis.smt.encoding.numbers.formula import Mode
from analysis.smt.logic.terms import Term, subterms
from analysis.smt.solving.interpolation import METHODS, Method, interpolants
from analysis.smt.solving.solver import Budget, Solver
from analysis.smt.solving.z3_backend import Z3Solver

_FIXTURES = Path(__file__).parent.parent / "fixtures"
_ALONE: tuple[Method, ...] = ("core", "spacer", "bitwuzla")
_MODES: tuple[Mode, ...] = ("int", "bv")


class Question(NamedTuple):
    """A property of a program, and the places where it could be violated."""

    name: str
    program: Program
    violations: tuple[Violation, ...]


class Row(NamedTuple):
    """What came of one method: proofs, refinements in them, seconds for all questions, and what was asked of it."""

    proved: int
    refinements: int
    seconds: float
    asked: int
    found: int
    interpolating: float
    sizes: list[int]


def questions(files: Sequence[Path]) -> Iterator[Question]:
    """The programs that have a `main`, with the property that is theirs: the name of their folder, or `assertion`."""
    for file in files:
        checker = Checker(Options())
        checker.open([str(file)])
        program = checker.inspect().program
        name = file.parent.name if file.parent.parent.name == "proofs" else "assertion"
        wanted = violations(program, msgspec.convert(name, Property))
        if wanted and "main" in program.functions:
            yield Question(file.stem, program, wanted)


def size(terms: Sequence[Term]) -> int:
    """How many different subterms they have."""
    return sum(1 for _ in subterms(terms))


class Recorder:
    """Takes the place of `interpolants` and notes what it is asked and what it says."""

    def __init__(self) -> None:
        self.sequences: list[list[Term]] = []
        self.seconds, self.asked = 0.0, 0
        self.sizes: list[int] = []

    def __call__(
        self, solver: Solver, formulas: Sequence[Term], budget: Budget, methods: Sequence[Method] = METHODS
    ) -> tuple[tuple[Term, ...], Method] | None:
        """The interpolants."""
        began = time.perf_counter()
        found = interpolants(solver, formulas, budget, methods)
        self.seconds += time.perf_counter() - began
        self.asked += 1
        self.sequences.append(list(formulas))
        self.sizes += [] if found is None else [size(found[0])]
        return found


def alone(asked: Sequence[Question], attempt: Callable[[Question], Proved | Unproved]) -> tuple[Row, list[list[Term]]]:
    """All questions with one way to prove; and the sequences that were interpolated."""
    proved = refinements = 0
    recorder, began = Recorder(), time.perf_counter()
    with mock.patch.object(predicate_refinement, "interpolants", recorder):
        for question in asked:
            found = attempt(question)
            if isinstance(found, Proved):
                proved += 1
                refinements += found.work.refinements
    seconds = time.perf_counter() - began
    row = Row(proved, refinements, seconds, recorder.asked, len(recorder.sizes), recorder.seconds, recorder.sizes)
    return row, recorder.sequences


def by_predicates(mode: Mode, methods: tuple[Method, ...], seconds: float) -> Callable[[Question], Proved | Unproved]:
    """Predicate analysis with these methods."""
    options = PredicateOptions(mode=mode, interpolation=methods, seconds=seconds, clauses=0.0)
    return lambda question: prove(question.program, question.violations, "main", LP64, options)


def by_values(seconds: float) -> Callable[[Question], Proved | Unproved]:
    """Value analysis with interpolation of values."""
    return lambda question: prove_by_values(question.program, question.violations, "main", LP64, seconds=seconds)


def _line(name: str, row: Row) -> str:
    sizes = f"{median(row.sizes):.0f}, {max(row.sizes)}" if row.sizes else "-"
    each = f"{1000 * row.interpolating / row.asked:.0f}" if row.asked else "-"
    return f"| {name} | {row.proved} | {row.refinements} | {row.seconds:.0f} | {row.asked} | {row.found} | {each} | {sizes} |"


def same_sequences(sequences: Sequence[Sequence[Term]], milliseconds: int) -> Iterator[str]:
    """A row for each method about the same sequences."""
    for method in _ALONE:
        times, sizes = [], []
        for formulas in sequences:
            began = time.perf_counter()
            found = interpolants(Z3Solver(), formulas, Budget(milliseconds), (method,))
            times.append(1000 * (time.perf_counter() - began))
            sizes += [] if found is None else [size(found[0])]
        spread = f"{median(sizes):.0f}, {mean(sizes):.0f}, {max(sizes)}" if sizes else "-"
        took = f"{median(times):.0f}, {mean(times):.0f}, {max(times):.0f}"
        yield f"| {method} | {len(sizes)} of {len(sequences)} | {took} | {spread} |"


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.interpolants", description="Where interpolants come from.")
    parser.add_argument("programs", nargs="*", type=Path, metavar="PROGRAM")
    parser.add_argument("--seconds", type=float, default=10.0, help="for one property of one program (default: 10)")
    parser.add_argument("--most", type=int, default=40, help="sequences of each encoding that all are asked about (default: 40)")
    given = parser.parse_args(arguments)
    files = given.programs or [*sorted(_FIXTURES.glob("programs/papers/*.c")), *sorted(_FIXTURES.glob("proofs/*/*-good.c"))]
    asked = list(questions(files))
    print(f"{len(asked)} questions, {given.seconds:g} s each\n")
    print("| interpolants | proved | refinements | s in all | asked for | found | ms each | size (median, most) |")
    print("|---|---|---|---|---|---|---|---|")
    met: dict[Mode, list[list[Term]]] = {}
    for mode in _MODES:
        for methods in (*((method,) for method in _ALONE), METHODS):
            row, sequences = alone(asked, by_predicates(mode, methods, given.seconds))
            print(_line(f"`{mode}`: {', '.join(methods)}", row), flush=True)
            met[mode] = sequences
    print(_line("explicit values", alone(asked, by_values(given.seconds))[0]), flush=True)
    for mode, sequences in met.items():
        step = max(1, len(sequences) // given.most)
        print(f"\nThe same sequences, `{mode}`, of all methods together:\n")
        print("| method | found | ms (median, mean, most) | size (median, mean, most) |\n|---|---|---|---|")
        for line in same_sequences(sequences[::step][: given.most], 5_000):
            print(line, flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
