"""The checker of certificates accepts what proves, and nothing else."""

from __future__ import annotations

import subprocess
import sys

import msgspec
import pytest

from analysis.certificate import text
from analysis.certificate.annotation import Annotation
from analysis.certificate.checked_outcome import Proved
from analysis.certificate.checker import check
from analysis.certificate.refusal import RefusedError
from analysis.cfa.graph import Program
from analysis.cpa.predicates.violations import violations
from analysis.engines.predicate.predicate_options import PredicateOptions
from analysis.engines.predicate.predicate_proof import prove
from analysis.model.assumptions import BEFORE
from analysis.model.c_types import ILP32, LP64
from analysis.smt.logic import linear
from analysis.smt.logic.term_building import FALSE, TRUE, eq, integer, not_, symbol
from analysis.smt.logic.terms import INT
from tests.support.explorations import program_of

HEAD = "void reach_error(void); int __VERIFIER_nondet_int(void); void mystery(void);\n"
COUNTING = (
    HEAD
    + """
int step(int i) { return i + 1; }
int main(void) {
    int i = 0;
    int n = __VERIFIER_nondet_int();
    if (n < 0 || n > 1000)
        return 0;
    while (i < n)
        i = step(i);
    if (i != n)
        reach_error();
    return 0;
}
"""
)


def proved(of: Program, mode: str = "int") -> Annotation:
    found = prove(of, violations(of, "assertion"), options=PredicateOptions(mode=mode))  # type: ignore[arg-type]  # one of the two
    assert isinstance(found, Proved), found
    return found.annotation


@pytest.fixture(scope="module")
def counting() -> tuple[Program, Annotation]:
    of = program_of(COUNTING)
    return of, proved(of)


def test_a_proof_is_accepted_again(counting: tuple[Program, Annotation]) -> None:
    of, annotation = counting
    checked = check(of, annotation)
    assert checked.questions > 0
    assert BEFORE.sentence in checked.assumptions


def test_each_corrupted_assertion_is_refused(counting: tuple[Program, Annotation]) -> None:
    of, annotation = counting
    i, n = symbol("0:i", INT), symbol("0:n", INT)
    for point, term in annotation.assertions.items():
        for wrong in (TRUE, FALSE, not_(term), linear.at_most(i, integer(5)), linear.less(i, n)):
            corrupted = {**annotation.assertions, point: wrong}
            with pytest.raises(RefusedError):
                check(of, msgspec.structs.replace(annotation, assertions=corrupted))


def test_a_claim_about_what_is_no_assertion_is_refused(counting: tuple[Program, Annotation]) -> None:
    of, annotation = counting
    for edge in (("main", of.functions["main"].edges[0].id), ("step", 99), ("nobody", 0)):
        with pytest.raises(RefusedError, match="where nothing could violate assertion"):
            check(of, msgspec.structs.replace(annotation, edges=(*annotation.edges, edge)))


def test_a_loop_without_an_assertion_is_refused(counting: tuple[Program, Annotation]) -> None:
    of, annotation = counting
    with pytest.raises(RefusedError, match="cycle without an assertion"):
        check(of, msgspec.structs.replace(annotation, assertions={}))


def test_a_call_in_no_context_is_refused(counting: tuple[Program, Annotation]) -> None:
    of, annotation = counting
    assert len(annotation.contexts) == 2
    with pytest.raises(RefusedError, match="does not follow the call of step at"):
        check(of, msgspec.structs.replace(annotation, contexts=(None,)))


def test_an_annotation_of_every_location_is_a_proof_by_single_edges() -> None:
    of = program_of(HEAD + "int main(void) { int x = 1; if (x == 2) reach_error(); return x; }")
    cfa = of.functions["main"]
    edges = tuple((v.function, v.edge) for v in violations(of, "assertion"))
    (error,) = (cfa.by_id[edge].source for _, edge in edges)
    is_one = eq(symbol("0:x", INT), integer(1))
    assertions = {(0, location): is_one for location in cfa.locations} | {(0, cfa.entry): TRUE, (0, error): FALSE}
    annotation = Annotation("main", "assertion", edges, "int", (None,), assertions)
    assert check(of, annotation).questions > 0
    for location in cfa.locations:
        if location not in (cfa.entry, cfa.exit):
            wrong = {**assertions, (0, location): TRUE}
            with pytest.raises(RefusedError):
                check(of, msgspec.structs.replace(annotation, assertions=wrong))


def claim(source: str, *, entry: str = "main") -> Annotation:
    """The claim that nothing is violated, without any assertion."""
    of = program_of(source)
    edges = tuple((v.function, v.edge) for v in violations(of, "assertion"))
    return Annotation(entry, "assertion", edges, "int", (None,), {})


REFUSED = {
    "an error that is reached": ("int main(void) { reach_error(); return 0; }", "nothing rules out assertion at"),
    "a global that a function without body can change": (
        "int g; int main(void) { g = 1; mystery(); if (g != 1) reach_error(); return 0; }",
        "nothing rules out assertion at",
    ),
    "a signed sum that wraps": (
        "int main(void) { int x = __VERIFIER_nondet_int(); if (x + 1 < x) reach_error(); return 0; }",
        "nothing rules out assertion at",
    ),
    "an unsigned sum that wraps": (
        "int main(void) { unsigned x = __VERIFIER_nondet_int(); if (x + 1 == 0) reach_error(); return 0; }",
        "nothing rules out assertion at",
    ),
    "a cast that cuts": (
        "int main(void) { int x = __VERIFIER_nondet_int(); unsigned char c = x; if (x == 256 && !c) reach_error(); return 0; }",
        "nothing rules out assertion at",
    ),
    "a variable changed through a pointer": (
        "int main(void) { int x = 1; int *p = &x; *p = 2; if (x == 2) reach_error(); return 0; }",
        "nothing rules out assertion at",
    ),
    "an int changed as characters": (
        "int main(void) { int x = 1; char *p = (char *)&x; *p = 2; if (x != 1) reach_error(); return 0; }",
        "nothing rules out assertion at",
    ),
    "an array of characters as room for an int": (
        "char room[8]; int main(void) { int *p = (int *)room; *p = 5; room[0] = 1; if (*p != 5) reach_error(); return 0; }",
        "nothing rules out assertion at",
    ),
    "a member changed through the union": (
        "union u { int i; char c; } g; int main(void) { g.i = 1; g.c = 7; if (g.i != 1) reach_error(); return 0; }",
        "nothing rules out assertion at",
    ),
    "a bit-field that cuts": (
        "struct s { unsigned b : 2; } g; int main(void) { g.b = 5; if (g.b == 1) reach_error(); return 0; }",
        "nothing rules out assertion at",
    ),
    "an element of an array": (
        "int a[3]; int main(void) { int i = __VERIFIER_nondet_int(); if (i < 0 || i > 2) return 0; a[i] = 1;"
        " if (a[2] == 1) reach_error(); return 0; }",
        "nothing rules out assertion at",
    ),
    "not a number": (
        "double f(void); int main(void) { double d = f(); if (d != d) reach_error(); return 0; }",
        "nothing rules out assertion at",
    ),
    "an uninitialised variable": (
        "int main(void) { int x; if (x == 5) reach_error(); return 0; }",
        "nothing rules out assertion at",
    ),
    "memory that is allocated": (
        "void *malloc(unsigned long n); int main(void) { int *p = malloc(4); if (p == 0) reach_error(); return 0; }",
        "nothing rules out assertion at",
    ),
    "memory that is allocated twice": (
        "void *malloc(unsigned long n); int main(void) { int *p = malloc(4), *q = malloc(4); if (!p || !q) return 0;"
        " *p = 1; *q = 2; if (*p == 1 && p != q) reach_error(); return 0; }",
        "nothing rules out assertion at",
    ),
    "a called pointer": (
        "int one(void) { return 1; } int two(void) { return 2; } int (*f)(void); int main(void) {"
        " f = __VERIFIER_nondet_int() ? one : two; if (f() == 2) reach_error(); return 0; }",
        "nothing rules out assertion at|does not follow the call",
    ),
    "an error that a pointer leads to": (
        "void (*f)(void) = reach_error; int main(void) { f(); return 0; }",
        "nothing rules out assertion at",
    ),
    "an error behind a pointer that leads to another function, too": (
        "void reach_error(void) { for (;;); } void nothing(void) { } void (*f)(void); int main(void) {"
        " f = __VERIFIER_nondet_int() ? nothing : reach_error; f(); return 0; }",
        "nothing rules out assertion at|does not follow the call",
    ),
    "two literals that may be one": (
        'int main(void) { const char *p = "a", *q = "a", *r = "ba"; if (p != q) reach_error(); return r == 0; }',
        "may depend on where objects lie in memory",
    ),
    "two literals that may share their end": (
        'int main(void) { const char *p = "a", *q = "ba"; if (p == q + 1) reach_error(); return 0; }',
        "may depend on where objects lie in memory",
    ),
    "one past an object and the next one": (
        "int a[1], b[1]; int main(void) { int *p = a + 1, *q = b; if (p == q) reach_error(); return 0; }",
        "may depend on where objects lie in memory",
    ),
    "an argument of main": (
        "int main(int argc, char **argv) { if (argc == 3 && argv[1][0] == 7) reach_error(); return 0; }",
        "nothing rules out",
    ),
    "jumps": (
        "int setjmp(void *b); void *b; int main(void) { setjmp(b); if (0) reach_error(); return 0; }",
        "calls setjmp.., whose effects are not known",
    ),
    "threads": (
        "int pthread_create(void *t, void *a, void *(*f)(void *), void *x); int g; void *run(void *x) { g = 1; return 0; }"
        " int main(void) { pthread_create(0, 0, run, 0); if (0) reach_error(); return 0; }",
        "whose effects are not known",
    ),
    "callbacks": (
        "void with(void (*f)(void)); int g; void set(void) { g = 1; }"
        " int main(void) { with(set); if (0) reach_error(); return 0; }",
        "which is external and may call them",
    ),
    "assembly": (
        'int main(void) { __asm__ volatile ("nop"); if (0) reach_error(); return 0; }',
        "not supported|nothing rules out assertion at",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_proved_is_refused(name: str) -> None:
    source, why = REFUSED[name]
    of = program_of(HEAD + source)
    for mode in ("int", "bv"):
        for model in (LP64, ILP32):
            annotation = msgspec.structs.replace(claim(HEAD + source), mode=mode)
            with pytest.raises(RefusedError, match=why):
                check(of, annotation, model)


def test_the_text_of_a_certificate(counting: tuple[Program, Annotation]) -> None:
    of, annotation = counting
    written = text.write([annotation], of, "LP64")
    again = text.read(written, of)
    (read,) = again.annotations
    assert read.assertions == dict(annotation.assertions)
    assert read.contexts == annotation.contexts
    check(of, read)
    assert text.write([read], of, "LP64") == written


def test_a_certificate_for_another_program_is_refused(counting: tuple[Program, Annotation]) -> None:
    of, annotation = counting
    written = text.write([annotation], of, "LP64")
    other = program_of(COUNTING.replace("i + 1", "i + 2"))
    with pytest.raises(RefusedError, match="another program"):
        text.read(written, other)


@pytest.mark.parametrize("broken", ["", "{}", "[1, 2]", '{"format": "everproof-certificate"}', "\xff"])
def test_what_is_no_certificate_is_refused(broken: str, counting: tuple[Program, Annotation]) -> None:
    with pytest.raises(RefusedError):
        text.read(broken, counting[0])


def test_a_certificate_with_senseless_parts_is_refused(counting: tuple[Program, Annotation]) -> None:
    of, annotation = counting
    raw = msgspec.json.decode(text.write([annotation], of, "LP64"))
    for part, value in {
        "contexts": [[7, "main", 0, "step"]],
        "symbols": {},
        "entry": "nobody",
        "edges": [["main"]],
        "assertions": [{"context": 9, "location": 0, "formula": "true"}],
    }.items():
        with pytest.raises(RefusedError):
            text.read(msgspec.json.encode({**raw, "proofs": [{**raw["proofs"][0], part: value}]}), of)
    with pytest.raises(RefusedError):
        text.read(msgspec.json.encode({**raw, "version": 2}), of)


def test_the_checker_needs_no_engine() -> None:
    listed = (
        "import analysis.certificate.checker, analysis.certificate.text, sys; print([n for n in sys.modules if 'engines' in n])"
    )
    answer = subprocess.run([sys.executable, "-c", listed], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[]"
