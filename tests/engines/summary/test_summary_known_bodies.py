"""Bodies that are kept from revision to revision are what they would be if they were encoded anew."""

from __future__ import annotations

from random import Random

import pytest

from analysis.cfa.graph import Program
from analysis.cfa.linking.link import link
from analysis.engines.summary.body_encoding import BodyEncoder
from analysis.engines.summary.known_bodies import KnownBodies
from analysis.engines.summary.unwound_program import UnwoundProgram, unwound
from analysis.model.spelling import display_name
from tests.support.explorations import program_of
from tests.support.lowered import unit_of
from tests.support.random_revisions import Revisions

program_of(Revisions(Random(0)).text())  # before any test: it raises Python's recursion limit


def encoded(program: Program, numbers: dict[str, int], known: KnownBodies | None, mode: str = "int") -> UnwoundProgram:
    return unwound(program, "assertion", 2, "bv" if mode == "bv" else "int", numbers, known=known)


@pytest.fixture
def bodies(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The functions whose bodies are encoded."""
    done: list[str] = []
    anew = BodyEncoder.encoded_anew

    def noted(self: BodyEncoder, function: str) -> object:
        done.append(display_name(function))
        return anew(self, function)

    monkeypatch.setattr(BodyEncoder, "encoded_anew", noted)
    return done


@pytest.mark.parametrize("mode", ["int", "bv"])
def test_random_revisions(mode: str, bodies: list[str]) -> None:
    reused = 0
    for seed in range(4):
        revisions, known, numbers, unit = Revisions(Random(seed), flaws=True), KnownBodies(), dict[str, int](), None
        for _ in range(4):
            unit = unit_of(revisions.text(), previous=unit)
            program = link([unit]).program
            anew = encoded(program, numbers, None, mode)
            bodies.clear()
            kept = encoded(program, numbers, known, mode)
            reused += len({*map(display_name, kept.partitions)} - {*bodies})
            assert kept.partitions == anew.partitions
            assert kept.assumptions == anew.assumptions
            revisions.edit()
    assert reused > 4


def edited(text: str, old: str, new: str, known: KnownBodies, numbers: dict[str, int]) -> Program:
    """The program after an edit of the only place that says `old`, the bodies before it being known."""
    assert text.count(old) == 1
    unit = unit_of(text)
    encoded(link([unit]).program, numbers, known)
    return link([unit_of(text.replace(old, new), previous=unit)]).program


BEFORE = """
void reach_error(void); int nondet(void); void other(int); static int g = 1; static int h; static int *p;
static struct s { int a; int b; } r;
static int low(int n) { h = n; return n; }
static int mid(int n) { int x = low(n); if (x > 3) other(x); return x + g + r.b; }
static int top(int n) { return n > 2 ? mid(n) : n; }
static void side(void) { h = 2; }
int main(void) { side(); if (top(nondet()) > 100) reach_error(); return 0; }
"""


@pytest.mark.parametrize(
    ("old", "new", "encoded_again"),
    [
        ("x + g", "x - g", "mid"),
        ("n > 2", "n > 1", "top"),
        ("h = n;", "h = n; g = n;", "low main mid top"),  # those above change what it changes
        ("h = n;", "int y = n; h = y;", "low mid"),  # a caller forgets the variables of what it calls
        ("{ h = 2; }", "{ h = 2; p = &h; }", "low main mid side top"),  # h is in memory
        ("int g = 1", "int g = 2", "low main mid side top"),
        ("int a; int b;", "int b; int a;", "low main mid side top"),
        ("int h;", "unsigned h;", "low main mid side top"),
        ("void other(int);", "__attribute__((noreturn)) void other(int);", "low main mid side top"),
        ("return n; }\n", "if (n > 9) return low(n - 1); return n; }\n", "low mid"),  # it is recursive now
    ],
)
def test_what_is_encoded_again(old: str, new: str, encoded_again: str, bodies: list[str]) -> None:
    known, numbers = KnownBodies(), dict[str, int]()
    program = edited(BEFORE, old, new, known, numbers)
    bodies.clear()
    kept = encoded(program, numbers, known)
    assert sorted(set(bodies)) == encoded_again.split()
    assert kept.partitions == encoded(program, numbers, None).partitions
    bodies.clear()
    again = encoded(program, numbers, known)
    assert not bodies
    assert again.partitions == kept.partitions


def test_an_edit_that_is_undone_is_not_encoded_again(bodies: list[str]) -> None:
    known, numbers = KnownBodies(), dict[str, int]()
    texts = [BEFORE, *(BEFORE.replace("x + g", f"x {operator} g") for operator in "-*")]
    first, *others = (link([unit_of(text)]).program for text in texts)
    before = encoded(first, numbers, known)
    for program in others:
        encoded(program, numbers, known)
    bodies.clear()
    assert encoded(first, numbers, known).partitions == before.partitions
    assert not bodies


RECURSIVE = BEFORE.replace("return n; }\n", "if (n > 9) return top(n - 1); return n; }\n").replace(
    "static int low", "static int top(int n);\nstatic int low"
)


@pytest.mark.parametrize(
    ("old", "new", "encoded_again"),
    [
        ("{ h = 2; }", "{ h = 3; }", "side"),
        ("x > 3", "x > 4", "low mid top"),  # they call each other
        ("{ h = 2; }", "{ h = 2; g = h; }", "main side"),
    ],
)
def test_functions_that_call_each_other_are_encoded_together(old: str, new: str, encoded_again: str, bodies: list[str]) -> None:
    known, numbers = KnownBodies(), dict[str, int]()
    program = edited(RECURSIVE, old, new, known, numbers)
    bodies.clear()
    kept = encoded(program, numbers, known)
    assert sorted(set(bodies)) == encoded_again.split()
    assert kept.partitions == encoded(program, numbers, None).partitions


def test_another_question_has_bodies_of_its_own(bodies: list[str]) -> None:
    known, program = KnownBodies(), program_of(BEFORE)
    for bound in (2, 3, 2):
        bodies.clear()
        kept = unwound(program, "assertion", bound, "int", {}, known=known)
        assert kept.partitions == unwound(program, "assertion", bound, "int", {}).partitions
    assert bodies == [*map(display_name, kept.partitions)]  # those of the comparison alone
