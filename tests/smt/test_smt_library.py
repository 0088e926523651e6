"""What library functions need of their arguments, bits that are counted, and constants that are written to, as formulas."""

from __future__ import annotations

import msgspec
import pytest

from analysis.cfa.graph import Edge, Program
from analysis.model import ir
from analysis.model.bit_counts import BitCount
from analysis.smt.encoding.numbers.bit_count_terms import counted
from analysis.smt.encoding.numbers.formula import FailureKind
from analysis.smt.encoding.paths.path import PathEncoder
from analysis.smt.encoding.storage.path_memory import WRITES_CONSTANT
from analysis.smt.logic.term_building import bits, constant_of, distinct, eq, number, symbol
from analysis.smt.logic.terms import bit_vector
from analysis.smt.solving.z3_backend import Z3Solver
from tests.support.runs import main_of, program_of

VALUES = (0, 1, 2, 3, 8, 12, 255, 256, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)


@pytest.mark.parametrize("what", ["clz", "ctz", "ffs", "popcount", "parity"])
def test_counts_of_constants(what: str) -> None:
    count = BitCount(what, 32)  # type: ignore[arg-type]  # one of the names
    for value in VALUES:
        found = constant_of(counted(bits(value, 32), count, bits(77, 32)))
        expected = count.of(value)
        assert found == (77 if expected is None else expected), value


@pytest.mark.parametrize("what", ["clz", "ctz", "ffs", "popcount", "parity"])
def test_counts_of_unknown_values(what: str) -> None:
    count = BitCount(what, 32)  # type: ignore[arg-type]  # one of the names
    value, solver = symbol("value", bit_vector(32)), Z3Solver()
    term = counted(value, count, bits(77, 32))
    for given in VALUES:
        expected = count.of(given)
        same = eq(value, number(given, value.sort))
        wrong = distinct(term, bits(77 if expected is None else expected, 32))
        assert solver.check(same).status == "sat"
        assert solver.check(same, wrong).status == "unsat"


def before(program: Program, name: str) -> tuple[PathEncoder, Edge]:
    """The path through `main`, where no branch is taken, up to the call of a function."""
    encoder = PathEncoder(program, "bv")
    encoder.start("main")
    cfa = program.functions["main"]
    location = cfa.entry
    while True:
        edge = cfa.outgoing[location][-1]
        if isinstance(edge.effect, ir.Call) and ir.direct_callee(edge.effect) == name:
            return encoder, edge
        encoder.take(edge)
        location = edge.target


def is_possible(statements: str, name: str, kind: FailureKind) -> bool:
    """Whether the call can fail so, by the formula."""
    encoder, edge = before(program_of(main_of(f"int n = __VERIFIER_nondet_int(); {statements} return 0;")), name)
    condition = encoder.condition_at(edge, kind)
    if condition is None:
        return False
    solver = Z3Solver()
    solver.add(*condition.formula.conjuncts)
    return solver.check().status == "sat"


@pytest.mark.parametrize(
    ("statements", "name", "kind", "possible"),
    [
        ("char a[8]; memset(a, 0, 9);", "memset", "array-bounds", True),
        ("char a[8]; memset(a, 0, 8);", "memset", "array-bounds", False),
        ("char a[8]; memset(a + 1, 0, 8);", "memset", "array-bounds", True),
        ("char a[8]; memset(a, 0, n);", "memset", "array-bounds", True),
        ("char a[8]; memset(a, 0, n & 7);", "memset", "array-bounds", False),
        ("char a[8], b[4] = {0}; memcpy(a, b, 5);", "memcpy", "array-bounds", True),
        ("char a[8], b[4] = {0}; memcpy(a, b, 4);", "memcpy", "array-bounds", False),
        ("char a[8], *p = n ? a : 0; memset(p, 0, 1);", "memset", "null-dereference", True),
        ("char *p = 0; memset(p, 0, 1);", "memset", "null-dereference", True),
        ("char *p = 0; memset(p, 0, 0);", "memset", "null-dereference", False),
        ("char *p = malloc(4); free(p); memset(p, 0, 4);", "memset", "use-after-free", True),
        ("char *p = malloc(4); memset(p, 0, 4);", "memset", "use-after-free", False),
    ],
)
def test_bytes_that_must_be_there(statements: str, name: str, kind: FailureKind, possible: bool) -> None:
    assert is_possible(statements, name, kind) == possible


@pytest.mark.parametrize(
    ("statements", "name", "open_"),
    [
        ('printf("%d", n);', "printf", False),
        ('const char *s = "abc"; printf("%s", s);', "printf", False),
        ('const char *s = "abc"; printf("%s", s + 3);', "printf", False),
        ('const char *s = "abc"; printf("%s", s + 4);', "printf", True),
        ("char s[2]; s[0] = n; s[1] = n; strlen(s);", "strlen", True),
        ("char s[2] = {1, 0}; strlen(s);", "strlen", False),
        ("char s[2] = {1, 2}; strlen(s);", "strlen", True),
        ('char s[4]; strcpy(s, "abc");', "strcpy", True),
        ("char s[4]; memset(s, 0, 4);", "memset", False),
    ],
)
def test_what_no_formula_says(statements: str, name: str, open_: bool) -> None:
    text = main_of(f"int n = __VERIFIER_nondet_int(); {statements} return 0;")
    program = program_of(text)
    for external, known in program.externals.items():
        program.externals[external] = msgspec.structs.replace(known, system=True)
    encoder, edge = before(program, name)
    assert encoder.may_fail_inside(edge, "array-bounds") == open_


@pytest.mark.parametrize(
    ("statements", "written"),
    [("*(int *)&c = 1; use(0);", True), ("int x = c; use(&x);", False), ('char *s = "a"; *s = 1; use(0);', True)],
)
def test_writes_to_constants_are_noted(statements: str, written: bool) -> None:
    encoder, _ = before(program_of(main_of(f"{statements} return 0;", "const int c = 3;")), "use")
    assert (WRITES_CONSTANT in encoder.formula().approximations) == written
