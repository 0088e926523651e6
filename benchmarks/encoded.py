"""Differential test of the encoding of C: random functions, compiled and run, against their formulas in both encodings.

    python -m benchmarks.encoded COUNT SEED [--show]

Of the functions, some compute with integers of all types, some work on memory, some on memory that they are given pointers to
(`encoded_functions`). Each is called once with random arguments. The path that the call takes is encoded; with the arguments
fixed, the formula together with "the result is what the compiled code returned" must be satisfiable, and together with "the
result is another one" it must not be, unless the encoding says that it approximated. Signed overflow wraps in the compiled code
(-fwrapv) and in both encodings.
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

from analysis.cfa.building.unit import build_unit
from analysis.cfa.graph import Edge, Program
from analysis.cfa.linking.link import link
from analysis.frontend.syntax.parser import parse
from analysis.model import ir
from analysis.model.c_types import LP64, Integer
from analysis.model.ranges import signed_value
from analysis.smt.encoding.numbers.formula import Mode
from analysis.smt.encoding.paths.path import PathEncoder
from analysis.smt.logic.term_building import distinct, eq, number
from analysis.smt.logic.terms import Term
from analysis.smt.solving.solver import Answer, Budget
from analysis.smt.solving.z3_backend import Z3Solver
from benchmarks.encoded_functions import (
    DECLARATIONS,
    NUMBERS,
    OUTSIDE_BYTES,
    arguments,
    expression_function,
    memory_function,
    outside_function,
)

WRONG = frozenset(("wrong result", "not unique", "no path", "crash"))
_BATCH = 200
_OUTSIDE = (1 << 63) + 4096  # where memory outside is in the formulas
_POINTER = 72  # where the record has its pointer, which is null
_DISTANCES = (32, 80)  # from the record to its array of numbers, to what is behind it
_BUDGET = Budget(5_000)
_MOST_EDGES = 2_000


class Case(msgspec.Struct, frozen=True):
    """A function, how it is called, and what it returned when it was compiled and run.

    `memory` are the bytes that the pointer `o` leads to; `distance` is how many bytes further `op` points.
    """

    name: str
    text: str
    arguments: tuple[int, ...]
    memory: bytes
    distance: int
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
    found: list[Case] = []
    for position in range(count):
        make = (memory_function, expression_function, memory_function, outside_function)[position % 4]
        memory = source.randbytes(_POINTER) + bytes(8) + source.randbytes(OUTSIDE_BYTES - _POINTER - 8)
        name = f"f{position}"
        found.append(Case(name, make(name, source), arguments(source), memory, source.choice(_DISTANCES), 0))
    text = DECLARATIONS + "".join(case.text for case in found)
    results = _run(text, found)
    return text, [msgspec.structs.replace(case, result=result) for case, result in zip(found, results, strict=True)]


def _run(text: str, called: Sequence[Case]) -> list[int]:
    """Compiles and runs all functions at once."""
    calls = "".join(_call(case) for case in called)
    with tempfile.TemporaryDirectory() as folder:
        source, binary = Path(folder) / "all.c", Path(folder) / "all"
        source.write_text(
            f"int printf(const char *, ...);\n{text}static long room[{OUTSIDE_BYTES // 8}];\nint main(void) {{\n{calls}}}\n"
        )
        flags = ["-O0", "-fwrapv", "-fno-strict-aliasing", "-w"]
        subprocess.run(["gcc", *flags, "-o", str(binary), str(source)], check=True)
        output = subprocess.run([str(binary)], check=True, capture_output=True, text=True).stdout
    return [int(line) for line in output.split()]


def _call(case: Case) -> str:
    """A statement that calls the function of a case and prints what it returns."""
    content = ", ".join(map(str, case.memory))
    values = [_literal(value, type_) for value, (type_, _) in zip(case.arguments, NUMBERS, strict=True)]
    values += ["(void *)room", f"(void *)((char *)room + {case.distance})"]
    return f"""{{ static const unsigned char content[] = {{ {content} }}; memcpy(room, content, sizeof room);
      printf("%lu\\n", {case.name}({", ".join(values)})); }}\n"""


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
    values = (*case.arguments, _OUTSIDE, _OUTSIDE + case.distance)
    solver.add(*(eq(given.term, number(value, given.term.sort)) for given, value in zip(encoder.inputs(), values, strict=True)))
    follower = _Follower(program, case, solver)
    followed = follower.follow(encoder)
    if follower.gave_up:
        return Verdict(case, mode, "unknown", "the solver gave up")
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


class _Follower:
    """Follows the path that the pinned arguments take, and asserts its formula. Allocations succeed."""

    def __init__(self, program: Program, case: Case, solver: Z3Solver) -> None:
        self._program = program
        self._case = case
        self._solver = solver
        self._sent = 0
        self._known = 2 + len(NUMBERS)
        self.gave_up = False

    def follow(self, encoder: PathEncoder) -> tuple[PathEncoder, Term] | str:
        """The encoder before the last edge and the value that this returns, or the outcome that says why there is none."""
        returns: list[int] = []
        location = self._program.functions[self._case.name].entry
        for _ in range(_MOST_EDGES):
            edges = self._program.functions[encoder.function].outgoing[location]
            (first, *_) = edges
            if isinstance(first.effect, ir.Return) and not returns and first.effect.value is not None:
                result = encoder.value(first.effect.value)
                encoder.take(first)  # for what the value needs
                self._send(encoder)
                return encoder, result
            if len(edges) > 1:
                chosen = self._branch(encoder, edges)
                if isinstance(chosen, str):
                    return chosen
                encoder, location = chosen
            else:
                location = self._step(encoder, first, returns)
                self._send(encoder)
        return "unknown"

    def _step(self, encoder: PathEncoder, edge: Edge, returns: list[int]) -> int:
        """Goes over an edge, into calls and out of them; gives the next location."""
        callee = ir.direct_callee(edge.effect) if isinstance(edge.effect, ir.Call) else None
        if callee in self._program.functions and callee is not None:
            encoder.enter(edge, callee)
            returns.append(edge.target)
            return self._program.functions[callee].entry
        encoder.take(edge)
        if isinstance(edge.effect, ir.Return):
            encoder.leave()
            return returns.pop()
        return edge.target

    def _branch(self, encoder: PathEncoder, edges: Sequence[Edge]) -> tuple[PathEncoder, int] | str:
        """The branch that is taken: the only one that the solver does not refute."""
        open_paths: list[tuple[PathEncoder, int]] = []
        for edge in edges:
            branch = encoder.fork()
            branch.take(edge)
            self._solver.push()
            sent, known = self._sent, self._known
            self._send(branch)
            if self._solver.check(budget=_BUDGET).status != "unsat":
                open_paths.append((branch, edge.target))
            self._solver.pop()
            self._sent, self._known = sent, known
        if len(open_paths) != 1:
            is_exact = all(branch.formula().is_exact for branch, _ in open_paths)
            return "no path" if not open_paths else "not unique" if is_exact else "approximated"
        self._send(open_paths[0][0])
        return open_paths[0]

    def _send(self, encoder: PathEncoder) -> None:
        """Asserts the new conjuncts, and the values of outside memory that the path has read since."""
        conjuncts = encoder.formula().conjuncts
        self._solver.add(*conjuncts[self._sent :])
        self._sent = len(conjuncts)
        for given in encoder.inputs()[self._known :]:
            if given.kind == "allocation":
                self._solver.add(given.term)
            elif given.kind == "memory" and given.address is not None and self._is_possible():
                start = int(self._solver.model().value(given.address)) - _OUTSIDE
                size = given.type.bits // 8 if isinstance(given.type, Integer) else 8
                value = int.from_bytes(self._case.memory[start : start + size], "little")
                if isinstance(given.type, Integer) and given.type.signed and given.term.sort.kind == "Int":
                    value = signed_value(value, given.type.bits)
                self._solver.add(eq(given.term, number(value, given.term.sort)))
        self._known = len(encoder.inputs())

    def _is_possible(self) -> bool:
        """Whether there is a model, which says where memory is asked for."""
        status = self._solver.check(budget=_BUDGET).status
        self.gave_up = self.gave_up or status == "unknown"
        return status == "sat"


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
