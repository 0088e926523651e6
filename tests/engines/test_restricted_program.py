"""Conditional verification: what is left of a program has every run with a regression bug, and engines that verify it skip what
the condition covers. No proof of what is left hides a regression bug."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.api import Checker
from analysis.cfa.graph import Places, Program
from analysis.cli.difference.condition_format import condition_json
from analysis.cli.difference.condition_reading import LeftPaths
from analysis.cpa.framework.algorithm import Cancellation
from analysis.engines.difference.extraction import Method, difference_condition
from analysis.engines.difference.function_pairs import ProgramPair
from analysis.engines.difference.restricted_program import restricted
from analysis.interpreter.inputs import Script
from analysis.interpreter.interpreter import execute
from analysis.interpreter.outcome import Start
from analysis.model.options import Engine, Options
from analysis.session.portfolio.asking import ask
from analysis.session.portfolio.request import Proved, Request
from analysis.session.portfolio.request_terms import About, Terms
from tests.support.explorations import errs
from tests.support.program_pairs import answers, new_runs, pair_of
from tests.support.random_pairs import versions
from tests.support.random_revisions import Revisions

METHODS: list[Method] = ["diffCond", "diffDP"]
ENGINES: list[Engine] = ["value", "predicate", "symbolic"]


def edited(random: Random) -> tuple[str, str]:
    revisions = Revisions(random)
    old = revisions.text()
    revisions.edit()
    return old, revisions.text()


def left_of(programs: ProgramPair, method: Method = "diffDP", entries: tuple[str, ...] = ("main",)) -> Program:
    return restricted(programs.new.program, {"main": difference_condition(programs, "main", method)}, entries)


def edges(program: Program) -> set[tuple[str, int]]:
    return {(name, edge.id) for name, cfa in program.functions.items() for edge in cfa.edges}


def errs_for(program: Program, inputs: tuple[object, ...]) -> bool:
    run = execute(program, Start("main"), Script(inputs, rest=0), record=True)  # type: ignore[arg-type]  # they are numbers
    return errs(program, run)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("made", [versions, edited])
@given(seed=st.integers(0, 2**32))
@settings(max_examples=40, deadline=None)
def test_runs_with_a_regression_bug_are_left_and_none_are_new(
    method: Method, made: Callable[[Random], tuple[str, str]], seed: int
) -> None:
    programs = pair_of(*made(Random(seed)))
    left = left_of(programs, method)
    regressions, others = new_runs(programs, 100)
    for run in regressions:
        assert {(function, edge) for function, edge in run.path} <= edges(left)
        assert errs_for(left, answers(run))
    for run in others:
        assert not errs_for(left, answers(run)) or errs(programs.new.program, run)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("method", METHODS)
@given(seed=st.integers(0, 2**32))
@settings(max_examples=12, deadline=None)
def test_what_is_proved_of_the_rest_has_no_regression_bug(engine: Engine, method: Method, seed: int) -> None:
    programs = pair_of(*versions(Random(seed)))
    request = Request(left_of(programs, method), ("main",), About("program", ("assertion",)), terms=Terms(engine=engine))
    answer = ask(request, 1.0, Cancellation()).by_rule["assertion"]
    if isinstance(answer, Proved):
        assert not new_runs(programs, 100)[0]


HEAD = "int nondet(void); void reach_error(void); int add(int a, int b) { return a + b; }\n"
TWO = (
    HEAD + "int main(void) { int x = 3; if (nondet()) {"
    " unsigned n = nondet(), s = 0; for (unsigned i = 0; i < n; i++) s += i; if (n == 77) reach_error(); }"
    " else { x = add(x, @); if (x < 1) reach_error(); } return 0; }"
)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("method", METHODS)
def test_an_engine_skips_what_is_covered(engine: Engine, method: Method) -> None:
    """The defect that was there before keeps every engine from a proof of the whole program."""
    programs = pair_of(TWO.replace("@", "1"), TWO.replace("@", "2"))
    about, terms = About("program", ("assertion",)), Terms(engine=engine)
    whole = ask(Request(programs.new.program, ("main",), about, terms=terms), 0.5).by_rule["assertion"]
    rest = ask(Request(left_of(programs, method), ("main",), about, terms=terms), 5.0).by_rule["assertion"]
    assert not isinstance(whole, Proved)
    assert isinstance(rest, Proved)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_regression_is_not_proved_away(engine: Engine) -> None:
    programs = pair_of(TWO.replace("@", "1"), TWO.replace("@", "-3"))
    request = Request(left_of(programs), ("main",), About("program", ("assertion",)), terms=Terms(engine=engine))
    assert not isinstance(ask(request, 1.0).by_rule["assertion"], Proved)


POINTERS = (
    "int nondet(void); int main(void) { int x = 1, *p = 0, *q = 0; if (nondet()) { x = 2; return *p; }"
    " if (x) { @ x = 3; } else q = &x; return *q; }"
)


def test_the_automaton_engine_skips_what_is_covered() -> None:
    old, new = POINTERS.replace("@", "q = &x;"), POINTERS.replace("@", "")
    programs = pair_of(old, new)
    found = []

    def rest_of(program: Program, _places: Places, entries: Sequence[str]) -> Program:
        return restricted(program, {"main": difference_condition(programs, "main", goal="violations")}, entries)

    for left in (None, rest_of):
        checker = Checker(Options(compiler="none", rules=("null-dereference",), engine="automaton"), restriction=left)
        checker.change("t.c", new)
        checker.open_workspace("t.c")
        found.append([finding.place.range.start.column for finding in checker.check().findings])
    everything, rest = found
    assert len(everything) == 2
    assert rest == everything[1:]


def test_the_entry_without_a_condition_is_left() -> None:
    text = HEAD + "int other(void) { return add(1, 2); } int main(void) { return add(3, 4); }"
    programs = pair_of(text, text)
    assert not edges(left_of(programs))
    assert {name for name, _ in edges(left_of(programs, entries=("main", "other")))} == {"other", "add"}


def test_what_comes_behind_a_function_that_is_not_followed_is_left() -> None:
    """Variables of `f` end elsewhere, so that it is not compared; nothing is known of what comes behind it."""
    text = HEAD + "int f(void) { int *p; @ return *p; } int main(void) { int x = f(); if (x) reach_error(); return 0; }"
    programs = pair_of(text.replace("@", "int x = 1; p = &x;"), text.replace("@", "{ int x = 1; p = &x; }"))
    condition = difference_condition(programs, "main", goal="violations")
    left = restricted(programs.new.program, {"main": condition}, ("main",))
    assert edges(left) == {one for one in edges(programs.new.program) if one[0] != "add"}


def test_what_is_called_back_is_left() -> None:
    """What qsort calls is not in any automaton; it must not be taken for covered."""
    text = (
        HEAD + "void qsort(void *, unsigned long, unsigned long, int (*)(const void *, const void *));"
        "int less(const void *a, const void *b) { if (a == b) reach_error(); return 0; }"
        "int main(void) { int t[2] = {1, 2}, n = @; qsort(t, n, sizeof(int), less); return 0; }"
    )
    programs = pair_of(text.replace("@", "1"), text.replace("@", "2"))
    for method in METHODS:
        assert {name for name, _ in edges(left_of(programs, method))} == {"main", "less"}


@pytest.mark.parametrize("method", METHODS)
@given(seed=st.integers(0, 2**32))
@settings(max_examples=20, deadline=None)
def test_a_condition_that_is_read_again_leaves_the_same(
    tmp_path_factory: pytest.TempPathFactory, method: Method, seed: int
) -> None:
    programs = pair_of(*edited(Random(seed)))
    new = programs.new
    condition = difference_condition(programs, "main", method)
    path = tmp_path_factory.mktemp("read") / "c.json"
    path.write_text(condition_json(new.program, new.places, {"main": condition}, "assertions", method))
    again = LeftPaths(str(path)).restrict(new.program, new.places, ("main",))
    assert edges(again) == edges(restricted(new.program, {"main": condition}, ("main",)))
    assert msgspec.json.decode(path.read_bytes())["extractor"] == method
