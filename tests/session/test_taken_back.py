"""An edit that is taken back asks for no search, if the program is what it was before in all that an analysis can ask for."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.api import Checker
from analysis.cfa.function_values import with_values
from analysis.cfa.graph import Cfa, Program
from analysis.cfa.linking.obstructed import without_obstacles
from analysis.engines.automaton.feasibility.error_paths import Feasibility
from analysis.engines.automaton.report.beginnings import Beginnings
from analysis.engines.automaton.report.earlier_revisions import Revision, is_same, is_same_function
from analysis.model.limits import Limits
from analysis.model.options import Options
from analysis.model.report import Report

_LARGE = Options(limits=Limits(global_edges=0))
_PROGRAM = """\
#include <stdlib.h>
struct pair { int first, second; };
struct pair pair = {1, 2};
static int counted, other, limit = 3;
void over(struct pair *into);
void under(struct pair *into);
static int done(void) { return 1; }
static int *find(int wanted) { return wanted > limit ? &counted : 0; }
static void more(void) { other = 6; }
static void (*hook)(void) = more;
static int run(int count)
{
    char *block = malloc(8);
    if (!block) return 1;
    over(&pair);
    under(&pair);
    counted = 5;
    more();
    if (!done()) return 2;
    if (counted != 5) return 3;
    free(block);
    int *found = find(count);
    hook();
    return *found;
}
int main(int count, char **arguments) { return run(count); }
"""
_EDITS = (
    ("counted = 5;", "counted = 5;\n    { int *none = 0; if (count == 7) *none = 1; }"),
    ("    more();\n", "    more(); more();\n"),
    ("    free(block);\n", ""),
    ("other = 6;", "other = 6; counted = other;"),
    ("return 1; }", "return 0; }"),
    ("limit = 3;", "limit = 4;"),
    ("void over(struct pair *into);", "_Noreturn void over(struct pair *into);"),
    ("void under(struct pair *into);", "__attribute__((nonnull)) void under(struct pair *into);"),
    ("int first, second;", "int first, second; int *third;"),
    ("hook)(void) = more", "hook)(void) = 0"),
    ("    hook();\n", ""),
)


def _text(edits: frozenset[int]) -> str:
    text = _PROGRAM
    for number in sorted(edits):
        assert _EDITS[number][0] in text
        text = text.replace(*_EDITS[number])
    return text


def _answers(report: Report) -> object:
    verdicts = [(f.name, f.summary, {rule: v.verdict for rule, v in f.verdicts.items()}) for f in report.functions]
    return report.findings, verdicts


def _counted(done: list[str], name: str, function: Callable[..., object]) -> Callable[..., object]:
    def wrapped(*arguments: object, **named: object) -> object:
        done.append(name)
        return function(*arguments, **named)

    return wrapped


@pytest.fixture
def done(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The searches that are made: of a "path", or of the "calls" that lead to one."""
    done: list[str] = []
    for name, owner, method in (("path", Feasibility, "error_path"), ("calls", Beginnings, "find")):
        monkeypatch.setattr(owner, method, _counted(done, name, getattr(owner, method)))
    return done


@pytest.mark.parametrize("number", [0, 1])
def test_what_was_inserted_and_is_taken_back_asks_for_no_search(number: int, tmp_path: Path, done: list[str]) -> None:
    path = tmp_path / "a.c"
    path.write_text(_PROGRAM)
    checker = Checker(_LARGE)
    checker.open([str(path)])
    before = _answers(checker.check())
    done.clear()
    checker.change(str(path), _text(frozenset((number,))))
    checker.check()
    assert "path" in done
    done.clear()
    checker.change(str(path), _PROGRAM)
    assert _answers(checker.check()) == before
    assert done == []


def test_what_is_taken_back_in_as_many_steps_asks_for_no_search(tmp_path: Path, done: list[str]) -> None:
    path = tmp_path / "a.c"
    texts = [_text(frozenset(range(count))) for count in (0, 1, 2)]
    path.write_text(texts[0])
    checker = Checker(_LARGE)
    checker.open([str(path)])
    answers = [_answers(checker.check())]
    for text in texts[1:]:
        checker.change(str(path), text)
        answers.append(_answers(checker.check()))
    done.clear()
    for number in (1, 0):
        checker.change(str(path), texts[number])
        assert _answers(checker.check()) == answers[number]
    assert done == []


@settings(deadline=None, max_examples=6)
@given(st.booleans(), st.lists(st.tuples(st.integers(0, len(_EDITS) - 1), st.booleans()), min_size=2, max_size=5))
def test_edits_and_their_undos_say_what_a_check_from_scratch_says(
    tmp_path_factory: pytest.TempPathFactory, is_small: bool, toggled: list[tuple[int, bool]]
) -> None:
    options = Options() if is_small else _LARGE
    path = tmp_path_factory.mktemp("undo") / "a.c"
    path.write_text(_PROGRAM)
    checker = Checker(options)
    checker.open([str(path)])
    checker.check()
    edits = frozenset[int]()
    for number, is_hasty in toggled:
        edits ^= {number}
        checker.change(str(path), _text(edits))
        if is_hasty:
            assert checker.check_unless(lambda: False, patient=False) is not None
        report = checker.check()
        scratch = Checker(options, algorithm="full")
        scratch.open([str(path)])
        scratch.change(str(path), _text(edits))
        assert _answers(report) == _answers(scratch.check())


def _program(path: Path, *edits: int) -> Program:
    path.write_text(_text(frozenset(edits)))
    checker = Checker(_LARGE)
    checker.open([str(path)])
    _, analysis = checker.explore()
    return with_values(without_obstacles(analysis.program))


@pytest.mark.parametrize("number", range(len(_EDITS)))
def test_programs_that_differ_are_not_the_same(number: int, tmp_path: Path) -> None:
    one, again, other = (_program(tmp_path / "a.c", *edits) for edits in ((), (), (number,)))
    assert is_same(Revision(one, ("main",)), Revision(again, ("main",)))
    assert not is_same(Revision(one, ("main",)), Revision(other, ("main",)))
    assert not is_same(Revision(one, ("main",)), Revision(one, ("run",)))


def test_a_function_with_other_ids_is_another_one(tmp_path: Path) -> None:
    program = _program(tmp_path / "a.c")
    cfa = program.functions["main"]
    moved = tuple(type(edge)(edge.id + 1, edge.source, edge.target, edge.effect) for edge in cfa.edges)
    assert is_same_function(cfa, cfa.with_edges(cfa.edges))
    assert not is_same_function(cfa, cfa.with_edges(moved))


def test_all_that_makes_a_function_is_compared() -> None:
    compared = {"name", "path", "type_", "parameters", "entry", "exit_", "edges", "digest", "blocks", "inside", "unordered"}
    assert {*inspect.signature(Cfa.__init__).parameters} == compared | {"self", "next_location", "next_edge", "unobstructed"}


def test_all_that_makes_a_program_is_compared() -> None:
    compared = {"functions", "globals_", "externals", "records", "address_taken", "exposed", "called"}
    assert {*inspect.signature(Program.__init__).parameters} == compared | {"self", "edges"}
