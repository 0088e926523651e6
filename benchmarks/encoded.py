"""Differential test of the encoding of C: random functions, compiled and run, against their formulas in both encodings.

    python -m benchmarks.encoded COUNT SEED [--show]

Half of the functions compute with integers of all types, half work on memory (`encoded_functions`). Each is called once
with random arguments. The path that the call takes is encoded; with the arguments fixed, the formula together with "the result is
what the compiled code returned" must be satisfiable, and together with "the result is another one" it must not be, unless the
encoding says that it approximated. Signed overflow wraps in the compiled code (-fwrapv) and in both encodings.
"""

from __future__ import annotations

import random
import subprocess
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from analysis.cfa.graph import Program
from analysis.cfa.link import link
from analysis.cfa.unit import build_unit
from analysis.frontend.syntax import parse
from analysis.model import ir
from analysis.model.c_types import LP64
from analysis.smt.build import TRUE, distinct, eq, number
from analysis.smt.encoding.formula import Mode
from analysis.smt.encoding.path import PathEncoder
from analysis.smt.solver import Answer, Budget
from analysis.smt.terms import Term
from analysis.smt.z3_backend import Z3Solver
from benchmarks.encoded_functions import DECLARATIONS, PARAMETERS, arguments, expression_function, memory_function

WRONG = frozenset(("wrong result", "not unique", "no path", "crash"))
_BATCH = 200
_BUDGET = Budget(5_000)
_MOST_EDGES = 2_000


class Case(msgspec.Struct, frozen=True):
    """A function, the arguments that it is called with, and what it returned when it was compiled and run."""

    name: str
    text: str
    arguments: tuple[int, ...]
    result: int


class Verdict(msgspec.Struct, frozen=True):
    """What the encoding says of a case. `outcome` is "agrees", "approximated" (the compiled code's result is possible, and others
    are, and the encoding says why), "unknown" (the solver gave up), or one of `WRONG`."""

    case: Case
    mode: Mode
    outcome: str
    detail: str = ""

    @property
    def is_wrong(self) -> bool:
        """Whether the encoding contradicts the compiled code, or is less exact than it says."""
        return self.outcome in WRONG


def cases(count: int, source: random.Random) -> tuple[str, list[Case]]:
    """Random functions as one C text, with what they return."""
    texts: list[str] = []
    given: list[tuple[int, ...]] = []
    for number_ in range(count):
        make = expression_function if number_ % 2 else memory_function
        texts.append(make(f"f{number_}", source))
        given.append(arguments(source))
    text = DECLARATIONS + "".join(texts)
    results = _run(text, given)
    return text, [Case(f"f{i}", texts[i], given[i], results[i]) for i in range(count)]


def _run(text: str, given: Sequence[tuple[int, ...]]) -> list[int]:
    """Compiles and runs all functions at once."""
    calls = "".join(
        f'printf("%lu\\n", f{i}({", ".join(_literal(v, t) for v, (t, _) in zip(values, PARAMETERS, strict=True))}));\n'
        for i, values in enumerate(given)
    )
    with tempfile.TemporaryDirectory() as folder:
        source, binary = Path(folder) / "all.c", Path(folder) / "all"
        source.write_text(f"int printf(const char *, ...);\n{text}int main(void) {{\n{calls}return 0; }}\n")
        flags = ["-O0", "-fwrapv", "-fno-strict-aliasing", "-w"]
        subprocess.run(["gcc", *flags, "-o", str(binary), str(source)], check=True)
        output = subprocess.run([str(binary)], check=True, capture_output=True, text=True).stdout
    return [int(line) for line in output.split()]


def _literal(value: int, type_: str) -> str:
    return f"({type_}){value & ((1 << 64) - 1)}ul"


def program_of(text: str) -> Program:
    """The program of one C text."""
    return link([build_unit("t.c", parse(text.encode()), LP64, None)]).program


def verdict(program: Program, case: Case, mode: Mode, solver: Z3Solver) -> Verdict:
    """Encodes the call of one case and compares. The solver is left as it was."""
    solver.push()
    try:
        return _verdict(program, case, mode, solver)
    finally:
        solver.pop()


def _verdict(program: Program, case: Case, mode: Mode, solver: Z3Solver) -> Verdict:
    encoder = PathEncoder(program, mode, LP64, signed_overflow="wrap")
    encoder.start(case.name)
    pinned = [
        eq(given.term, number(value, given.term.sort)) for given, value in zip(encoder.inputs(), case.arguments, strict=True)
    ]
    solver.add(*pinned)
    followed = _follow(encoder, program, case.name, solver)
    if isinstance(followed, str):
        return Verdict(case, mode, followed)
    encoder, result = followed
    expected = number(case.result, result.sort)
    same, other = solver.check(eq(result, expected), budget=_BUDGET), solver.check(distinct(result, expected), budget=_BUDGET)
    formula = encoder.formula()
    if "unknown" in (same.status, other.status):
        return Verdict(case, mode, "unknown", f"{same} {other}")
    if same.status == "unsat":
        return Verdict(case, mode, "wrong result", _value(solver, other, result))
    if other.status == "unsat":
        return Verdict(case, mode, "agrees")
    return Verdict(case, mode, "not unique" if formula.is_exact else "approximated", "; ".join(formula.approximations))


def _value(solver: Z3Solver, answer: Answer, result: Term) -> str:
    return str(solver.model().value(result)) if answer.status == "sat" else "none"


def _follow(encoder: PathEncoder, program: Program, name: str, solver: Z3Solver) -> tuple[PathEncoder, Term] | str:
    """Follows the path that the pinned arguments take, to the return edge, and asserts its formula. Allocations succeed."""
    cfa = program.functions[name]
    sent, location = 0, cfa.entry
    for _ in range(_MOST_EDGES):
        open_paths: list[tuple[PathEncoder, int]] = []
        for edge in cfa.outgoing[location]:
            if isinstance(edge.effect, ir.Return) and edge.effect.value is not None:
                result = encoder.value(edge.effect.value)
                encoder.take(edge)
                solver.add(*encoder.formula().conjuncts[sent:])
                return encoder, result
            branch = encoder.fork() if len(cfa.outgoing[location]) > 1 else encoder
            branch.take(edge)
            found = [given.term for given in branch.inputs() if given.kind == "allocation"]
            formulas = [*branch.formula().conjuncts[sent:], *found]
            if len(cfa.outgoing[location]) == 1 or solver.check(*formulas, budget=_BUDGET).status != "unsat":
                open_paths.append((branch, edge.target))
        if not open_paths:
            return "no path"
        if len(open_paths) > 1:
            return "approximated" if open_paths[0][0].formula().approximations else "not unique"
        encoder, location = open_paths[0]
        conjuncts = encoder.formula().conjuncts
        solver.add(*(c for c in conjuncts[sent:] if c is not TRUE))
        sent = len(conjuncts)
    return "unknown"


def run(count: int, seed: int) -> Iterator[Verdict]:
    """Verdicts on a number of random functions, in both encodings."""
    source, solver = random.Random(seed), Z3Solver()
    for start in range(0, count, _BATCH):
        text, batch = cases(min(_BATCH, count - start), source)
        program = program_of(text)
        for case in batch:
            for mode in ("int", "bv"):
                try:
                    yield verdict(program, case, mode, solver)
                except Exception:  # a defect of the encoding, which must not end a long run
                    yield Verdict(case, mode, "crash", traceback.format_exc())


def main() -> None:
    """The command."""
    count, seed = int(sys.argv[1]), int(sys.argv[2])
    outcomes: Counter[tuple[str, str]] = Counter()
    for found in run(count, seed):
        outcomes[found.mode, found.outcome] += 1
        if found.is_wrong:
            print(f"{found.mode} {found.outcome}: {found.detail}\n{found.case.text}{found.case.arguments} = {found.case.result}")
        elif "--show" in sys.argv:
            print(found.mode, found.outcome, found.detail)
    for (mode, outcome), times in sorted(outcomes.items()):
        print(f"{mode:4} {outcome:14} {times:6}")
    raise SystemExit(any(outcome in WRONG for _, outcome in outcomes))


if __name__ == "__main__":
    main()
