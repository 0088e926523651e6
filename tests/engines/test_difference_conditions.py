"""Difference verification with conditions ([DIFFDP]): Theorems 2.1 and 3.1 by brute force, and what the conditions cover.

Brute force runs both versions of a program on all small inputs. A run of the new version has a regression bug if it violates the
property, and the old version does not for the same inputs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.engines.difference.data_detector import Goal
from analysis.engines.difference.difference_condition import condition_of
from analysis.engines.difference.difference_graph import ProgramGraph
from analysis.engines.difference.extraction import Method, difference_condition, difference_graph
from tests.support.program_pairs import new_runs, pair_of
from tests.support.random_pairs import versions
from tests.support.random_revisions import Revisions

METHODS: list[Method] = ["diffCond", "diffDP"]
HEAD = "int nondet(void); void reach_error(void); int printf(const char *, ...); int other(int); int g, h; int *where = &g;\n"


def edited(random: Random) -> tuple[str, str]:
    """Two versions with functions that come, go, and get other parameters."""
    revisions = Revisions(random)
    old = revisions.text()
    for _ in range(random.randrange(1, 4)):
        revisions.edit()
    return old, revisions.text()


def reaches_indicator(graph: ProgramGraph, path: Iterable[tuple[str, int]]) -> bool:
    """Whether a difference graph takes a prefix of a path to a regression bug indicator."""
    stack = [(graph.entry, graph.graphs[graph.entry].initial)]
    for function, edge in path:
        context, node = stack.pop()
        if node.is_indicator:
            return True
        assert context.function == function
        move = graph.graphs[context].moves[node][edge]
        if move.target.is_indicator and not move.calls:
            return True
        stack.append((context, move.target))
        stack.extend((called, graph.graphs[called].initial) for called in move.calls)
        assert len(move.calls) < 2
        while stack and stack[-1][1].location == graph.graphs[stack[-1][0]].exit:
            stack.pop()
        if not stack:
            return False
    return stack[-1][1].is_indicator


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("made", [versions, edited])
@given(seed=st.integers(0, 2**32))
@settings(max_examples=60, deadline=None)
def test_no_path_with_a_regression_bug_is_covered(method: Method, made: Callable[[Random], tuple[str, str]], seed: int) -> None:
    programs = pair_of(*made(Random(seed)))
    graph = difference_graph(programs, "main", method)
    condition = condition_of(graph)
    regressions, _ = new_runs(programs, 200)
    for run in regressions:
        assert reaches_indicator(graph, run.path), "Theorem 3.1: it is no difference graph"
        assert not condition.covers(run.path), "Theorem 2.1"


def test_the_random_pairs_have_what_the_theorems_are_about() -> None:
    """How many runs of 100 pairs have a regression bug, and how many of the others each condition covers."""
    bad, good, covered = 0, 0, dict.fromkeys(METHODS, 0)
    for seed in range(100):
        programs = pair_of(*versions(Random(seed)))
        regressions, others = new_runs(programs, 200)
        bad, good = bad + len(regressions), good + len(others)
        for method in METHODS:
            condition = difference_condition(programs, "main", method)
            covered[method] += sum(condition.covers(run.path) for run in others)
    assert bad > 100
    assert 100 < covered["diffCond"] < covered["diffDP"] < good


@pytest.mark.parametrize("method", METHODS)
@given(seed=st.integers(0, 2**32))
@settings(max_examples=10, deadline=None)
def test_of_a_program_that_did_not_change_all_paths_are_covered(method: Method, seed: int) -> None:
    text, _ = versions(Random(seed))
    assert difference_condition(pair_of(text, text), "main", method).covers_all


def covers_all(old: str, new: str, method: Method = "diffDP", goal: Goal = "assertions") -> bool:
    return difference_condition(pair_of(HEAD + old, HEAD + new), "main", method, goal).covers_all


FIGURE = (
    "int main(void) { int x = nondet(); int n = -x; if (x > 0) { n = -x; if (n > 0) reach_error(); } return n; }",
    "int main(void) { int x = nondet(); int n = x; if (x > 0) { n = -x; if (n > 0) reach_error(); } return n; }",
)


def test_figure_2_of_the_paper() -> None:
    """After its description; the figure is a picture. The change does not concern the assertion."""
    assert not covers_all(*FIGURE, "diffCond")
    assert covers_all(*FIGURE)
    assert covers_all(*FIGURE, goal="violations")
    assert not covers_all(FIGURE[1], FIGURE[0], goal="violations")  # -x can overflow where x could not


UNSET = "int main(void) { @ int y = x; return y; }"


@pytest.mark.parametrize(
    ("was", "now"),
    [
        ("int x = 0;", "int x;"),
        ("int x; if (nondet()) x = 1; else x = 2;", "int x; if (nondet()) x = 1;"),
        ("int t[2], x; t[0] = 0; x = t[0];", "int t[2], x; x = t[0];"),
    ],
    ids=["an initialiser went", "an assignment of a branch went", "an element has no value"],
)
def test_a_variable_that_lost_its_value_is_a_violation(was: str, now: str) -> None:
    old, new = UNSET.replace("@", was), UNSET.replace("@", now)
    assert covers_all(old, new)
    assert not covers_all(old, new, goal="violations")


MAIN = "int main(void) { int x = nondet(); @ if (x > 3) reach_error(); return 0; }"


def both(text: str, was: str, now: str) -> tuple[str, str]:
    """Two versions: one thing at `@` in the text or, if there is none, in the middle of `MAIN` behind the text."""
    whole = text if "int main" in text else text + MAIN
    return whole.replace("@", was), whole.replace("@", now)


@pytest.mark.parametrize(
    ("text", "was", "now"),
    [
        ("", "int y = 1;", "int y = 2;"),
        ("", "g = 1; g = 2;", "g = 2;"),
        ("", "g = 1;", "if (x) g = 1;"),
        ("", "", "while (g < 3) g++;"),
        ("", "if (x > 3) reach_error();", "g = 1;"),
        ("int f(int a, int b) { return a; }", "x = f(nondet(), 1);", "x = f(nondet(), 2);"),
        ("int f(int a) { g = @; return a; }" + MAIN.replace("@", "x = f(x);"), "1", "2"),
    ],
    ids=[
        "another variable",
        "overwritten",
        "a branch that writes what nothing reads",
        "a new loop",
        "the old version violates it as well",
        "an argument that is not used",
        "what a callee writes is not read",
    ],
)
def test_what_cannot_introduce_a_violation_is_covered(text: str, was: str, now: str) -> None:
    assert not covers_all(*both(text, was, now), "diffCond")
    assert covers_all(*both(text, was, now))


@pytest.mark.parametrize(
    ("text", "was", "now"),
    [
        ("", "x &= 3;", "x &= 7;"),
        ("", "x = 1;", "x = 1; x = 4;"),
        ("", "if (x > 3) return 1;", ""),
        ("", "if (g) h = 4; x = h;", "h = 4; x = h;"),
        ("", "*where = 0; x = g;", "*where = 4; x = g;"),
        ("", "int *p = &h; x = *p;", "int *p = &g; x = *p;"),
        ("struct s { int a, b; } v;", "v.a = 1; struct s w = v; x = w.a;", "v.a = 4; struct s w = v; x = w.a;"),
        ("", "int t[2] = {0, 1}; x = t[g & 1];", "int t[2] = {0, 4}; x = t[g & 1];"),
        ("int f(int a) { return a@; }" + MAIN.replace("@", "x = f(3);"), "", " + 1"),
        ("void f(int *a) { *a = @; }" + MAIN.replace("@", "f(&x);"), "1", "4"),
        ("int f(int a) { if (a > 3) reach_error(); return 1; }", "x = f(3);", "x = f(4);"),
        ("", "x = nondet(); x = nondet() & 3;", "x = nondet() & 7;"),
        ("", "nondet(); x = nondet();", "x = nondet();"),
        ("", "x = other(1);", "x = other(2);"),
        ("", 'printf("%d", 1); x = nondet();', 'printf("%d", 2); x = nondet();'),
        ("", "x = 4; other(1);", "x = 4;"),
        ("", "x = 4; while (nondet()) g++;", "x = 4;"),
        ("int k = @;" + MAIN.replace("@", "x = k;"), "3", "4"),
        ("struct s { int a; @ b; } v;" + MAIN.replace("@", "x = v.b;"), "int", "char"),
        ("int k(int a) { return 4; } int (*f)(int) = @;" + MAIN.replace("@", "x = f(1);"), "other", "k"),
        ("", '__asm__("nop" : "=r"(x));', '__asm__("hlt" : "=r"(x));'),
        ("", "int y = 5; y = 0; x &= 1; x = y;", "int y = 5; x &= 1; x = y;"),
        ("", "int t[2] = {4, 4}, i = 0; t[i] = 0; x = t[0];", "int t[2] = {4, 4}, i = 1; t[i] = 0; x = t[0];"),
        ("", "int *p = &g; h = 0; *p = 4; x = h;", "int *p = &h; h = 0; *p = 4; x = h;"),
        (
            "int f(int *a) { int y = 0, *q = &y; return *a + *q; }" + MAIN.replace("@", "int y = @; x = f(&y);"),
            "1",
            "4",
        ),
    ],
    ids=[
        "a value",
        "another assignment",
        "a branch is gone",
        "through a global",
        "through a pointer",
        "another pointer",
        "through a copy of a record",
        "through an array",
        "through a result",
        "through a parameter",
        "in a callee",
        "another input",
        "an input less",
        "an argument of an unknown function",
        "what was printed",
        "a call that might not have come back",
        "a loop that might not have ended",
        "an initial value",
        "a record",
        "another callee",
        "assembler",
        "an assignment less, before one that stayed",
        "a write to another element",
        "a write through another pointer",
        "a variable of a caller that has the name of one of the callee",
    ],
)
@pytest.mark.parametrize("method", METHODS)
def test_what_can_introduce_a_violation_is_left(method: Method, text: str, was: str, now: str) -> None:
    assert not covers_all(*both(text, was, now), method)


@pytest.mark.parametrize(
    ("was", "now"),
    [
        ("return a;", "return 10 / a;"),
        ("int b = 3; return b;", "int b = 3; return 10 / (b - 3);"),
        ("int *p = &a; return *p;", "int *p = 0; return *p;"),
        ("int t[3] = {0}; return t[1];", "int t[3] = {0}; return t[a];"),
        ("int *p, b = a; { p = &b; } return *p;", "int *p; { int b = a; p = &b; } return *p;"),
    ],
    ids=["a division", "another value divides", "null", "an index", "a variable ends earlier"],
)
def test_undefined_behaviour_that_is_new_is_left(was: str, now: str) -> None:
    texts = both("int f(int a) { @ } int main(void) { return f(nondet() & 3); }", was, now)
    assert not covers_all(*texts, goal="violations")
    assert covers_all(*texts, goal="assertions")


UNREACHED = """typedef long jmp_buf[8]; extern int setjmp(jmp_buf); extern void longjmp(jmp_buf, int); jmp_buf where_to;
int nondet(void); void reach_error(void);
static void jump(void) { longjmp(where_to, 1); }
static int jumps(void) { int x = 2; if (setjmp(where_to)) return x; x = 3; jump(); return 0; }
int main(void) { int unused = 1; if (nondet() > 5) reach_error(); return 0; }
"""


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("calls", "is_covered"),
    [
        ("", True),
        ("if (nondet()) jumps();", False),
        ("int (*called)(void) = jumps; if (nondet()) called();", False),
        ("extern void run(int (*)(void)); run(jumps);", False),
    ],
)
def test_only_what_main_reaches_can_jump(method: Method, calls: str, is_covered: bool) -> None:
    old = UNREACHED.replace("int unused", f"{calls} int unused")
    new = old if method == "diffCond" else old.replace("unused = 1", "unused = 2")
    assert difference_condition(pair_of(old, new), "main", method).covers_all == is_covered
    library = old.replace("int main(", "int begin("), new.replace("int main(", "int begin(")
    assert not difference_condition(pair_of(*library), "begin", method).covers_all
