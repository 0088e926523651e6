"""Proofs that nothing is read before it has a value: never of what a run contradicts, which the interpreter of CFAs, and valgrind
where it is installed, see."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from random import Random

import pytest

from analysis.certificate.checked_outcome import Proved
from analysis.cfa.graph import Program
from analysis.cpa.predicates.violations import violations
from analysis.engines.predicate.predicate_options import PredicateOptions
from analysis.engines.predicate.predicate_proof import prove
from tests.support.runs import program_of, run_of

_INPUTS = 3
_VARIABLES = ("a", "b", "c", "flag")


class _Writer:
    """A random function with local variables, some of which lack a value at first."""

    def __init__(self, draw: Random) -> None:
        self._draw = draw

    def program(self) -> str:
        draw = self._draw
        inputs = "".join(f"int n{k} = __VERIFIER_nondet_int(); " for k in range(_INPUTS))
        locals_ = "".join(f"int {name}{' = 1' if draw.random() < 0.3 else ''}; " for name in _VARIABLES)
        body = " ".join(self._statement(2) for _ in range(draw.randint(3, 6)))
        helper = f"int helper(int p) {{ int r; {self._choice('p > 2', 'r = p;', 'r = 0;')} return r; }}"
        return f"{helper} int main(void) {{ {inputs}{locals_}{body} return {self._sum()} > 3; }}"

    def _choice(self, condition: str, then: str, otherwise: str) -> str:
        last = f"else {{ {otherwise} }}" if self._draw.random() < 0.8 else ""
        return f"if ({condition}) {{ {then} }} {last}"

    def _statement(self, depth: int) -> str:
        draw, kind = self._draw, self._draw.randrange(6 if depth else 3)
        target = draw.choice(_VARIABLES)
        if kind < 3:
            value = draw.choice(["1", f"n{draw.randrange(_INPUTS)}", self._sum(), f"helper(n{draw.randrange(_INPUTS)})"])
            return f"{target} = {value};"
        inner = " ".join(self._statement(depth - 1) for _ in range(draw.randint(1, 2)))
        if kind == 3:
            return f"for (int i = 0; i < {draw.randint(1, 3)}; i++) {{ {inner} }}"
        if kind == 4:
            return f"{{ int {target}; {target} = 2; {inner} }}"
        condition = draw.choice([f"n{draw.randrange(_INPUTS)} > {draw.randint(-1, 4)}", f"{draw.choice(_VARIABLES)} == 1"])
        return self._choice(condition, inner, self._statement(depth - 1))

    def _sum(self) -> str:
        names = [self._draw.choice((*_VARIABLES, "n0", "n1")) for _ in range(self._draw.randint(1, 2))]
        return " + ".join(f"{name} % 8" for name in names)


def is_proved(what: Program) -> bool:
    wanted = violations(what, "uninitialized-read")
    options = PredicateOptions(seconds=4.0, states=200, recursion=2, clauses=0.0)
    return bool(wanted) and isinstance(prove(what, wanted, options=options), Proved)


def reads_undefined(text: str, draw: Random, runs: int) -> bool:
    """Whether one of some runs reads what has no value."""
    for _ in range(runs):
        end = run_of(text, [draw.randint(-3, 6) for _ in range(_INPUTS)]).end
        if getattr(getattr(end, "violation", end), "kind", None) == "uninitialized-read":
            return True
    return False


def test_no_run_contradicts_a_proof() -> None:
    proved = refuted = 0
    for seed in range(60):
        text = _Writer(Random(seed)).program()
        reads = reads_undefined(text, Random(seed), 12)
        refuted += reads
        if is_proved(program_of(text)):
            proved += 1
            assert not reads, text
    assert proved >= 5
    assert refuted >= 15


@pytest.mark.skipif(not (shutil.which("valgrind") and shutil.which("gcc")), reason="needs gcc and valgrind")
def test_valgrind_sees_nothing_in_what_is_proved(tmp_path: Path) -> None:
    texts = [text for seed in range(1_000, 1_025) if is_proved(program_of(text := _Writer(Random(seed)).program()))][:4]
    assert texts
    for number, text in enumerate(texts):
        source, program = tmp_path / f"{number}.c", tmp_path / f"p{number}"
        inputs = "static int given[] = {5, -2, 1}, at; int __VERIFIER_nondet_int(void) { return given[at++ % 3]; }\n"
        source.write_text(inputs + text)
        subprocess.run(["gcc", "-O0", "-g", "-w", "-o", program, source], check=True)
        command = ["valgrind", "-q", "--error-exitcode=99", str(program)]
        assert subprocess.run(command, check=False, capture_output=True).returncode in (0, 1), text


@pytest.mark.parametrize(
    "text",
    [
        "int f(int n) { if (n) return 1; } int main(void) { return f(__VERIFIER_nondet_int()); }",
        "int main(void) { int a[3] = {1}; int b[3]; b[0] = a[1]; return b[1]; }",
        "int main(void) { struct { int a, b; } s, t; s.a = 1; t = s; return t.b; }",
        "int main(void) { int x, *p = &x; return *p; }",
        "int main(void) { int *p = malloc(4); return p ? *p : 0; }",
        "int main(void) { goto in; { int x = 1; in: return x; } }",
        "int f(int n) { int x; if (n > 0) { x = 1; f(n - 1); return x; } return x; } int main(void) { return f(2); }",
        "int main(void) { for (int i = 0; i < 2; i++) { int x; if (i) return x; x = 1; } return 0; }",
        'int main(void) { char b[8]; return printf("%s", b); }',
    ],
)
def test_what_can_lack_a_value_is_not_proved(text: str) -> None:
    assert not is_proved(program_of(text))


@pytest.mark.parametrize(
    "text",
    [
        "int main(void) { int a[3] = {1}; return a[2]; }",
        "int main(void) { struct { int a, b; } s = {1}, t; t = s; return t.b; }",
        'int main(void) { int x; x = __VERIFIER_nondet_int(); printf("%d", x); return x; }',
        "int fact(int n) { int r; if (n > 1) r = n * fact(n - 1); else r = 1; return r; } int main(void) { return fact(1); }",
    ],
)
def test_what_has_a_value_is_proved(text: str) -> None:
    assert is_proved(program_of(text))


_RECURSIVE = """static int made(int n) { int r; %s return r; }
static int f(int n) { int s; if (n > 0) { s = made(n) + made(2); return s + f(n - 1); } return 0; }
int main(void) { return f(__VERIFIER_nondet_int() %% 4); }"""


@pytest.mark.parametrize(
    ("body", "proved"), [("r = n;", True), ("if (n == 3) r = 4; else r = n;", True), ("if (n < 3) r = 1;", False)]
)
def test_functions_that_call_themselves_and_others(body: str, proved: bool) -> None:
    found = prove(
        what := program_of(_RECURSIVE % body),
        violations(what, "uninitialized-read"),
        "main",
        options=PredicateOptions(seconds=4.0, depth=2),
    )
    assert isinstance(found, Proved) == proved
