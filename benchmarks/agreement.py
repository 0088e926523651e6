"""Random expressions, and whether all engines agree about their values, with each other and with gcc.

    python -m benchmarks.agreement COUNT SEED [--seconds S]

A program computes one expression: constants, casts between integer types and pointers, shifts, divisions, comparisons,
differences of pointers, bit-fields, floats. gcc's code, with and without sanitizers, tells its value and whether C defines it.
Each engine, in each encoding, is asked twice: whether the value can be another one, and whether it can be this one. `unknown`
is never wrong. Wrong is an answer that contradicts gcc where C defines the value; and everywhere, whether C defines it or not,
two answers that contradict each other: one engine excludes what another one saw in a run, or both possibilities are excluded.
"""

from __future__ import annotations

import argparse
import multiprocessing
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from random import Random
from typing import NamedTuple, cast

from analysis.certificate.checked_outcome import Proved
from analysis.certificate.refusal import RefusedError
from analysis.certificate.unwinding import check_unwinding, unwind
from analysis.certificate.unwinding_tree import Unwinding
from analysis.cfa.building.unit import build_unit
from analysis.cfa.graph import Program
from analysis.cfa.linking.link import link
from analysis.cpa.predicates.violations import violations
from analysis.engines.predicate.predicate_options import PredicateOptions
from analysis.engines.predicate.predicate_proof import prove as by_predicates
from analysis.engines.symbolic import Confirmed, Effort, ProgramTask, Refuted, Target, Task, decide, decide_program
from analysis.engines.symbolic.cegar import CegarOptions
from analysis.engines.symbolic.cegar import prove as by_constraints
from analysis.engines.value.value_proof import prove as by_values
from analysis.frontend.syntax.parser import parse
from analysis.model.c_types import LP64

BATCH = 20
_PATIENCE = 120.0  # seconds, and twenty times those of an answer
_TYPES = (
    "char", "signed char", "unsigned char", "short", "unsigned short", "int", "unsigned", "long", "unsigned long", "_Bool",
)  # fmt: skip
_CONSTANTS = (
    "0", "1", "-1", "2", "3", "5", "7", "31", "32", "33", "63", "64", "127", "128", "255", "256", "32767", "65535", "65536",
    "2147483647", "(-2147483647-1)", "2147483648u", "4294967295u", "0xffffffffffffffffUL", "9223372036854775807L",
    "(-9223372036854775807L-1)", "'a'", "'\\377'",
)  # fmt: skip
_BY_ZERO = "division by zero"  # in what sanitizers say
_RULE = frozenset({"assertion"})
_HEAD = "void reach_error(void); int __VERIFIER_nondet_int(void); long __VERIFIER_nondet_long(void);\n"
_PARTS = "struct parts { signed a : 5; unsigned b : 7; _Bool c : 1; unsigned long d : 33; short e; unsigned char f; };\n"

Verdict = str
"""safe, violated or unknown"""


class Expression(NamedTuple):
    """`variables`: type, name, value as C writes it, and whether it is an input. `setup` are statements before, `text` is the
    value."""

    variables: tuple[tuple[str, str, str, bool], ...]
    setup: tuple[str, ...]
    text: str


class Value(NamedTuple):
    """What gcc's code computes; None if it does not end, or divides by zero, where no run goes on: gcc takes `b / b` of a `_Bool`
    for `b`. `is_defined`: no sanitizer has anything against it."""

    number: int | None
    is_defined: bool


class _Writer:
    def __init__(self, random: Random) -> None:
        self._random = random
        self.variables = tuple(self._variable(number) for number in range(random.randint(0, 3)))
        self.setup: list[str] = []
        self._records = 0

    def _variable(self, number: int) -> tuple[str, str, str, bool]:
        random = self._random
        type_ = random.choice(_TYPES)
        return type_, f"x{number}", f"({type_}){random.choice(_CONSTANTS)}", random.random() < 0.5

    def expression(self, depth: int) -> str:
        """An arithmetic value."""
        random = self._random
        if depth == 0 or random.random() < 0.15:
            if self.variables and random.random() < 0.7:
                return random.choice(self.variables)[1]
            return f"(({random.choice(_TYPES)}){random.choice(_CONSTANTS)})"
        kind = random.choices(
            ("binary", "shift", "divide", "compare", "cast", "unary", "choice", "pointers", "distance", "field", "float"),
            (5, 3, 2, 3, 4, 2, 1, 2, 2, 2, 1),
        )[0]
        return cast(str, getattr(self, f"_{kind}")(depth - 1))

    def _binary(self, depth: int) -> str:
        return f"({self.expression(depth)} {self._random.choice('+-*&|^')} {self.expression(depth)})"

    def _shift(self, depth: int) -> str:
        distance = (
            self.expression(depth) if self._random.random() < 0.5 else str(self._random.choice((0, 1, 4, 7, 15, 31, 32, 63)))
        )
        return f"({self.expression(depth)} {self._random.choice(('<<', '>>'))} {distance})"

    def _divide(self, depth: int) -> str:
        return f"({self.expression(depth)} {self._random.choice('/%')} {self.expression(depth)})"

    def _compare(self, depth: int) -> str:
        operator = self._random.choice(("==", "!=", "<", "<=", ">", ">=", "&&", "||"))
        return f"({self.expression(depth)} {operator} {self.expression(depth)})"

    def _cast(self, depth: int) -> str:
        return f"(({self._random.choice(_TYPES)}){self.expression(depth)})"

    def _unary(self, depth: int) -> str:
        return f"({self._random.choice('-~!')}{self.expression(depth)})"

    def _choice(self, depth: int) -> str:
        return f"({self.expression(depth)} ? {self.expression(depth)} : {self.expression(depth)})"

    def _pointers(self, depth: int) -> str:
        """Numbers as pointers, compared or made numbers again."""
        one, other = (f"(char *)(long){self.expression(depth)}" for _ in range(2))
        if self._random.random() < 0.3:
            return f"(({self._random.choice(_TYPES[:9])})(unsigned long){one})"
        if self._random.random() < 0.3:
            one, other = (f"(char *){self._random.choice(_CONSTANTS)}" for _ in range(2))
        return f"({one} {self._random.choice(('==', '!='))} {other})"

    def _distance(self, depth: int) -> str:
        """How far apart two pointers into an array are, in elements."""
        type_ = self._random.choice(("int", "short", "char", "struct parts"))
        one, other = self._random.randint(0, 24), self._random.randint(0, 24)
        if self._random.random() < 0.7:
            size = {"int": 4, "short": 2, "char": 1, "struct parts": 16}[type_]
            one, other = one // size * size, other // size * size
        return f"(({type_} *)(memory + {one}) - ({type_} *)(memory + {other}))"

    def _field(self, depth: int) -> str:
        self._records += 1
        name = f"s{self._records}"
        member = self._random.choice("abcdef")
        self.setup.append(f"struct parts {name} = {{0}}; {name}.{member} = {self.expression(depth)};")
        return f"{name}.{member}"

    def _float(self, depth: int) -> str:
        type_ = self._random.choice(("float", "double"))
        if self._random.random() < 0.5:
            return f"(({self._random.choice(_TYPES)})({type_}){self.expression(depth)})"
        operator = self._random.choice(("<", "==", ">="))
        return f"(({type_}){self.expression(depth)} {operator} ({type_}){self.expression(depth)})"


def expression(random: Random) -> Expression:
    """A random one."""
    writer = _Writer(random)
    text = writer.expression(random.randint(1, 4))
    return Expression(writer.variables, tuple(writer.setup), text)


def program_text(of: Expression, number: int, *, is_other: bool) -> str:
    """A program that fails if the value can be another number, or can be this one."""
    lines = [_HEAD + _PARTS + "int main(void) {", "_Alignas(16) static char memory[64];"]
    for type_, name, value, is_input in of.variables:
        if is_input:
            lines.append(f"{type_} {name} = ({type_})__VERIFIER_nondet_long(); if ({name} != {value}) return 0;")
        else:
            lines.append(f"{type_} {name} = {value};")
    shown = f"{number}L" if number > -(1 << 63) else "(-9223372036854775807L-1)"
    lines += [*of.setup, f"long v = (long)({of.text});"]
    lines += [f"if (v {'!=' if is_other else '=='} {shown}) reach_error();", "return 0; }"]
    return "\n".join(lines)


def values(all_: Sequence[Expression], folder: Path) -> list[Value]:
    """What gcc makes of them."""
    lines = ["#include <stdio.h>", "#include <stdlib.h>", _PARTS]
    for number, of in enumerate(all_):
        variables = " ".join(f"volatile {type_} {name} = {value};" for type_, name, value, _ in of.variables)
        setup = " ".join(of.setup)
        lines.append(f"static long e{number}(void) {{ _Alignas(16) static char memory[64]; (void)memory; {variables} {setup}")
        lines.append(f"return (long)({of.text}); }}")
    table = ", ".join(f"e{number}" for number in range(len(all_)))
    lines.append(f"static long (*const table[])(void) = {{ {table} }};")
    lines.append('int main(int c, char **v) { (void)c; printf("%ld\\n", table[atoi(v[1])]()); return 0; }')
    source = folder / "expressions.c"
    source.write_text("\n".join(lines))
    plain, checked = folder / "plain", folder / "checked"
    sanitizers = ["-fsanitize=undefined,float-cast-overflow,float-divide-by-zero", "-fno-sanitize-recover=all"]
    for binary, flags in ((plain, []), (checked, sanitizers)):
        subprocess.run(["gcc", "-w", "-O0", *flags, "-o", binary, source], check=True, timeout=300)
    found = []
    for number in range(len(all_)):
        ran, judged = (
            subprocess.run([binary, str(number)], capture_output=True, text=True, check=False, timeout=60)
            for binary in (plain, checked)
        )
        divides_by_zero = judged.returncode == -signal.SIGFPE or _BY_ZERO in judged.stderr
        is_there = ran.returncode == 0 and not divides_by_zero
        same = judged.returncode == 0 and judged.stdout == ran.stdout
        found.append(Value(int(ran.stdout) if is_there else None, is_there and same))
    return found


def built(text: str) -> Program:
    """The program of one file."""
    return link([build_unit("t.c", parse(text.encode()), LP64)]).program


def answers(text: str, seconds: float) -> Iterator[tuple[str, Verdict]]:
    """What each engine says of the assertion, in each encoding."""
    program = built(text)
    wanted = violations(program, "assertion")
    provers: dict[str, Callable[[], object]] = {
        "value": lambda: by_values(program, wanted, seconds=seconds),
        "constraints int": lambda: by_constraints(program, wanted, options=CegarOptions(mode="int", seconds=seconds)),
        "constraints bv": lambda: by_constraints(program, wanted, options=CegarOptions(mode="bv", seconds=seconds)),
        "predicate int": lambda: by_predicates(program, wanted, options=PredicateOptions(mode="int", seconds=seconds)),
        "predicate bv": lambda: by_predicates(program, wanted, options=PredicateOptions(mode="bv", seconds=seconds)),
    }
    for name, prove in provers.items():
        yield name, "safe" if isinstance(prove(), Proved) else "unknown"
    effort = Effort(seconds=seconds)
    place = wanted[0]
    for name, decision in (
        ("program", decide_program(ProgramTask(program, _RULE, effort))),
        ("finding", decide(Task(program, Target(place.function, place.edge, "assertion"), ("main",), (), effort))),
    ):
        yield name, {Confirmed: "violated", Refuted: "safe"}.get(type(decision), "unknown")
    yield "tree", _by_tree(program, seconds)


def _by_tree(program: Program, seconds: float) -> Verdict:
    until = time.monotonic() + seconds
    try:
        made = unwind(program, Unwinding("main", ("assertion",), (), 0), LP64, 2_000, lambda: time.monotonic() < until)
        check_unwinding(program, made, LP64)
    except RefusedError:
        return "unknown"
    return "safe"


class Judged(NamedTuple):
    """What is wrong with the answers about an expression, and how many there were of each kind."""

    wrong: tuple[str, ...]
    counts: Counter[str]


def judged(of: Expression, value: Value, seconds: float) -> Judged:
    """The answers of all engines about one expression."""
    number = 0 if value.number is None else value.number
    wrong: list[str] = []
    counts: Counter[str] = Counter()
    said = {}
    for is_other in (True, False):
        said[is_other] = dict(answers(program_text(of, number, is_other=is_other), seconds))
        counts.update(f"{name}: {verdict}" for name, verdict in said[is_other].items())
        if "violated" in said[is_other].values() and "safe" in said[is_other].values():
            wrong.append(f"{'another value' if is_other else 'this value'}: {said[is_other]}")
    if value.is_defined:
        wrong += [f"{name} says that it can be another value" for name, found in said[True].items() if found == "violated"]
        wrong += [f"{name} says that it cannot be this value" for name, found in said[False].items() if found == "safe"]
    elif value.number is not None:  # the run goes on, whatever C says of it
        excluded = [[name for name, found in said[is_other].items() if found == "safe"] for is_other in (True, False)]
        if all(excluded):
            wrong.append(f"no value at all is left by {excluded[0]} and {excluded[1]}")
    return Judged(tuple(wrong), counts)


def _apart(of: Expression, value: Value, seconds: float) -> Judged:
    """The answers from a process of its own: a solver that crashes ends one expression, and is counted."""
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=lambda: sender.send(judged(of, value, seconds)))
    process.start()
    sender.close()
    try:
        return (
            cast(Judged, receiver.recv())
            if receiver.poll(_PATIENCE + 20 * seconds)
            else Judged((), Counter({"took too long": 1}))
        )
    except EOFError:
        return Judged((), Counter({"crashed": 1}))
    finally:
        process.kill()
        process.join()


def compared(count: int, seed: int, seconds: float) -> tuple[list[str], Counter[str]]:
    """Random expressions: what was wrong, with the expressions, and how many answers of each kind there were."""
    wrong: list[str] = []
    counts: Counter[str] = Counter()
    random = Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        while count > 0:
            batch = [expression(random) for _ in range(min(BATCH, count))]
            count -= len(batch)
            for of, value in zip(batch, values(batch, Path(folder)), strict=True):
                found = _apart(of, value, seconds)
                counts.update(found.counts)
                counts["defined" if value.is_defined else "undefined"] += 1
                wrong += [f"{of} = {value}: {sentence}" for sentence in found.wrong]
    return wrong, counts


def main() -> int:
    """Compares, and says what is wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("count", type=int)
    parser.add_argument("seed", type=int)
    parser.add_argument("--seconds", type=float, default=2.0, help="for one answer")
    given = parser.parse_args()
    wrong, counts = compared(given.count, given.seed, given.seconds)
    for sentence in wrong:
        print(sentence)
    for name, number in sorted(counts.items()):
        print(f"{name}: {number}")
    print(f"{given.count} expressions, {len(wrong)} contradictions")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
