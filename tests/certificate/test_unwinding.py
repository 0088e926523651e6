"""Trees of paths as proofs: what proves is accepted, and nothing else."""

from __future__ import annotations

from random import Random

import msgspec
import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

from analysis.c.blocks import ALLOCATIONS, HEAP, RELEASES
from analysis.certificate import text
from analysis.certificate.refusal import RefusedError
from analysis.certificate.unwinding import check_unwinding, unwind
from analysis.certificate.unwinding_tree import Unwinding
from analysis.cfa.graph import Program
from analysis.interpreter.library.allocation import MODELS
from analysis.model.assumptions import FOUND
from analysis.model.c_types import LP64
from tests.support.explorations import errs, program_of, runs
from tests.support.random_c import program

HEAD = """void reach_error(void); int __VERIFIER_nondet_int(void); void *malloc(unsigned long); void free(void *);
    void mystery(int *); int known;\n"""
BRANCHES = """int main(void) { int n = __VERIFIER_nondet_int(), s = 0; if (n < 0) return 0; for (int i = 0; i < 3; i++)
    { if (n > i) s++; } if (s > 3) reach_error(); if (n == 2 && s != 2) reach_error(); return s; }"""
FREED = """int main(void) { int *p = malloc(8); if (__VERIFIER_nondet_int()) { free(p); p = 0; } if (p) free(p); return 0; }"""
COUNTED = """int vprintf(const char *, __builtin_va_list); void tell(const char *format, ...) { __builtin_va_list a;
    __builtin_va_start(a, format); vprintf(format, a); __builtin_va_end(a); }
    int main(void) { int n = 7; tell("%n", &n); if (n != 7) reach_error(); return 0; }"""
program_of(program(Random(0)))  # before any test: it raises Python's recursion limit


def claim(*rules: str, fails: bool = True, outside: bool = True) -> Unwinding:
    return Unwinding("main", rules, (), 0, fails, outside)


def made(of: Program, wanted: Unwinding, edges: int = 300) -> Unwinding:
    left = iter(range(edges))
    return unwind(of, wanted, LP64, 10_000, lambda: next(left, None) is not None)


PROVED = [
    (BRANCHES, claim("assertion")),
    (FREED, claim("double-free", "use-after-free", "invalid-free")),
    (FREED, claim("memory-leak", "memory-cleanup")),
    ("int main(void) { int *p = malloc(4); *p = 1; free(p); return 0; }", claim("null-dereference", fails=False)),
    ("int main(void) { int n; n = 4; return n; }", claim("uninitialized-read")),
    ("int main(void) { known = 1; mystery(0); if (known != 1) reach_error(); return 0; }", claim("assertion", outside=False)),
    (
        "int f(int n) { return n < 1 ? 0 : 1 + f(n - 1); } int main(void) { if (f(3) != 3) reach_error(); return 0; }",
        claim("assertion"),
    ),
]


@pytest.mark.parametrize(("body", "wanted"), PROVED)
def test_what_paths_prove_is_accepted(body: str, wanted: Unwinding) -> None:
    of = program_of(HEAD + body)
    proof = made(of, wanted)
    checked = check_unwinding(of, proof)
    assert checked.assumptions
    (read,) = text.read(text.write((proof,), of, "LP64"), of).unwindings
    assert read == proof


REFUSED = [
    (BRANCHES.replace("s > 3", "s > 2"), claim("assertion")),
    (FREED.replace("p = 0;", ""), claim("double-free")),
    (FREED.replace("if (p)", "if (0)"), claim("memory-leak")),
    ("int main(void) { int *p = malloc(4); *p = 1; free(p); return 0; }", claim("null-dereference")),
    ("int main(void) { int n; return n; }", claim("uninitialized-read")),
    ("int main(void) { known = 1; mystery(0); if (known != 1) reach_error(); return 0; }", claim("assertion")),
    ("int main(void) { while (__VERIFIER_nondet_int()) known++; return 0; }", claim("assertion")),
    ("int x; int main(void) { return (int)(long)&x; }", claim("assertion")),
    ("int main(void) { mystery(&known); return 0; }", claim("assertion", outside=False)),
    (COUNTED, claim("assertion")),
    ("int main(void) { return 0; }", claim("lock-discipline")),
    ("int main(void) { return 0; }", claim()),
]


@pytest.mark.parametrize(("body", "wanted"), REFUSED)
def test_what_paths_do_not_prove_is_refused(body: str, wanted: Unwinding) -> None:
    with pytest.raises(RefusedError):
        made(program_of(HEAD + body), wanted)


@pytest.mark.parametrize("body", [BRANCHES, FREED])
def test_a_corrupted_tree_is_refused(body: str) -> None:
    of = program_of(HEAD + body)
    proof = made(of, claim("assertion", "double-free"))
    assert check_unwinding(of, proof)
    for position, allowed in enumerate(proof.taken):
        for bit in (1, 2):
            if allowed & bit:  # a path that can be taken is left out
                other = (*proof.taken[:position], allowed & ~bit, *proof.taken[position + 1 :])
                with pytest.raises(RefusedError):
                    check_unwinding(of, msgspec.structs.replace(proof, taken=other))
    for changed in (
        {"taken": proof.taken[:-1]},
        {"taken": (*proof.taken, 3)},
        {"edges": proof.edges - 1},
        {"rules": ("haste",)},
        {"entry": "mystery"},
    ):
        with pytest.raises(RefusedError):
            check_unwinding(of, msgspec.structs.replace(proof, **changed))


def test_a_tree_is_about_one_program() -> None:
    of, other = program_of(HEAD + BRANCHES), program_of(HEAD + BRANCHES.replace("s != 2", "s == 2"))
    proof = made(of, claim("assertion"))
    with pytest.raises(RefusedError):
        check_unwinding(other, proof)
    with pytest.raises(RefusedError):
        text.read(text.write((proof,), of, "LP64"), other)


def test_what_is_taken_for_granted_is_said() -> None:
    of = program_of(HEAD + "int main(void) { int *p = malloc(4); *p = 1; free(p); return 0; }")
    assert FOUND.sentence in check_unwinding(of, made(of, claim("null-dereference", fails=False))).assumptions


def test_all_functions_that_give_memory_are_known() -> None:
    assert set(MODELS) <= HEAP
    assert {name for name in ALLOCATIONS | RELEASES if not name.startswith("__builtin_")} <= set(MODELS)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 100_000))
def test_no_run_contradicts_a_tree(seed: int) -> None:
    source = program(Random(seed))
    note(source)
    of = program_of(source)
    try:
        proof = made(of, claim("assertion"))
    except RefusedError:
        return
    assert check_unwinding(of, proof)
    assert not any(errs(of, run) for run in runs(of, 2_000))
