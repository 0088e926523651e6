"""A search for a path is not repeated where an edit changes the graph elsewhere, and is where it changes what the search read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from analysis.api import Checker
from analysis.engines.automaton.feasibility.error_paths import Feasibility
from analysis.engines.automaton.report.beginnings import Beginnings
from analysis.model.limits import Limits
from analysis.model.options import Options
from analysis.model.report import Report

_LARGE = Options(limits=Limits(global_edges=0))  # paths in small programs are searched from the program's start, each time anew
_RELEASED = "free(block);"
_PROGRAM = """\
#include <stdlib.h>
static int counted, other;
static int done(void) { return 1; }
static void end(char *block) { BODY }
static int *find(int wanted) { return wanted > 3 ? &counted : 0; }
static void more(void) { STATEMENT }
static int run(int count)
{
    char *block = malloc(8);
    if (!block) return 1;
    end(block);
    counted = 5;
    if (!done()) return 2;
    more();
    if (counted == 5) return 3;
    int *found = find(count);
    return *found;
}
int main(int count, char **arguments) { return run(count); }
"""


def _text(body: str, statement: str = "counted = 6;") -> str:
    return _PROGRAM.replace("BODY", body).replace("STATEMENT", statement)


def _answers(report: Report) -> object:
    return [(finding.rule, finding.place, finding.fingerprint, finding.trace) for finding in report.findings]


class _Edited:
    """A checker of one file, and the functions whose errors were searched since the last edit."""

    def __init__(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        path.write_text(_text(_RELEASED))
        self.path = str(path)
        self.searched: list[str] = []
        self.checker = Checker(_LARGE)
        self.checker.open([self.path])
        self._rules(self.checker.check(), {"null-dereference"})
        search = Feasibility.error_path

        def counted(self_: Feasibility, function: str, *rest: object, **more: object) -> object:
            self.searched.append(function.rpartition("::")[2])
            return search(self_, function, *rest, **more)  # type: ignore[arg-type]

        monkeypatch.setattr(Feasibility, "error_path", counted)

    def edit(self, text: str, rules: set[str]) -> list[str]:
        """Checks a text, also from scratch, and returns in which functions errors were searched after the edit."""
        self.searched.clear()
        self.checker.change(self.path, text)
        report, searched = self.checker.check(), list(self.searched)
        scratch = Checker(_LARGE, algorithm="full")
        scratch.open([self.path])
        scratch.change(self.path, text)
        assert _answers(report) == _answers(scratch.check())
        self._rules(report, rules)
        return searched

    def _rules(self, report: Report, rules: set[str]) -> None:
        assert {finding.rule for finding in report.findings} == rules


@pytest.fixture
def edited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> _Edited:
    return _Edited(tmp_path / "a.c", monkeypatch)


def test_what_differs_elsewhere_in_the_same_function_asks_for_no_search(edited: _Edited) -> None:
    searched = edited.edit(_text("(void) block;"), {"null-dereference", "memory-leak"})
    assert len(searched) == 1  # for the leak, which is new
    assert edited.edit(_text(_RELEASED), {"null-dereference"}) == []


def test_what_differs_on_the_way_asks_for_a_search(edited: _Edited) -> None:
    assert edited.edit(_text("exit(0);"), set()) == []  # nothing leads to the error any more
    assert edited.edit(_text(_RELEASED), {"null-dereference"}) == ["run"]


def test_a_callee_that_does_not_return_asks_for_a_search(edited: _Edited) -> None:
    text = _text(_RELEASED).replace("return 1; }", "exit(1); }")
    assert edited.edit(text, set()) == []
    assert edited.edit(_text(_RELEASED), {"null-dereference"}) == ["run"]


def test_what_is_written_counts_where_it_was_asked_for(edited: _Edited) -> None:
    assert edited.edit(_text(_RELEASED, "other = 6;"), set()) == []  # the graph itself knows that `counted` is 5
    assert edited.edit(_text(_RELEASED), {"null-dereference"}) == ["run"]
    assert edited.edit(_text(_RELEASED, "counted = 6; other = 3;"), {"null-dereference"}) == []


_COMES_BACK = """\
#include <stdlib.h>
static void touch(int *block) { BODY }
static int *pass(int *block) { touch(block); return block; }
static int run(int count)
{
    int *block = malloc(4), *kept;
    int more = count;
    if (!block) return 1;
    if (count) { kept = pass(block); }
    else { kept = block; if (more == count) more = count; }
    return count;
}
int main(int count, char **arguments) { return run(count); }
"""


def test_a_callee_that_a_search_opened_may_come_back_otherwise(tmp_path: Path) -> None:
    """The search opens pass(), and finds the way beside it before it looks into touch()."""
    path = tmp_path / "a.c"
    path.write_text(_COMES_BACK.replace("BODY", ";"))
    checker = Checker(_LARGE)
    checker.open([str(path)])
    before = checker.check()
    checker.change(str(path), _COMES_BACK.replace("BODY", "free(block);"))
    after = checker.check()
    assert [finding.rule for finding in before.findings] == ["memory-leak"]
    assert _answers(before) == _answers(after)


_TWO_WAYS = """\
#include <stdlib.h>
struct page { char *text; int length; };
static int inner(struct page *page) { BODY return page->length; }
static int outer(struct page *page) { return inner(page); }
static int other(struct page *page) { page->length = 1; page->length = 2; page->length = 3; return page->length; }
static int middle(struct page *page, int n)
{
    if (n > 2) return outer(page);
    return other(page);
}
static int run(struct page *page, int n)
{
    page->text = malloc(8);
    int length = middle(page, n);
    if (n > 5) return 1;
    free(page->text);
    return length;
}
int main(int count, char **arguments) { struct page page = {0, 0}; return run(&page, count); }
"""


@pytest.mark.parametrize("body", ["if (page->length) page->length--; page->length++;", "if (page->length) exit(1);"])
def test_what_a_search_steps_over_counts(body: str, tmp_path: Path) -> None:
    """The search takes the calls in one step, by the shortest way through. An edit makes another way the shortest."""
    path = tmp_path / "a.c"
    texts = [_TWO_WAYS.replace("BODY", one) for one in ("", body)]
    path.write_text(texts[0])
    checker = Checker(_LARGE)
    checker.open([str(path)])
    assert [finding.rule for finding in checker.check().findings] == ["memory-leak"]
    for text in (texts[1], texts[0]):
        checker.change(str(path), text)
        scratch = Checker(_LARGE, algorithm="full")
        scratch.open([str(path)])
        scratch.change(str(path), text)
        report = checker.check()
        assert [finding.rule for finding in report.findings] == ["memory-leak"]
        assert _answers(report) == _answers(scratch.check())


_ELSEWHERE = """\
static int noted, other;
static void note(void) { STATEMENT }
static int *find(int wanted) { return wanted > 3 ? &noted : 0; }
static int look(int count)
{
    int *found = find(count);
    if (count == 1) { BODY }
    return *found;
}
int main(int count, char **arguments)
{
    note();
    if (noted == 5) return 3;
    return look(count);
}
"""


def _looked_up(path: Path, monkeypatch: pytest.MonkeyPatch, before: tuple[str, str], after: tuple[str, str]) -> list[str]:
    """What is searched after an edit: a "path", or the "calls" that lead to one. From scratch the answers are the same."""

    def text(statement: str, body: str) -> str:
        return _ELSEWHERE.replace("STATEMENT", statement).replace("BODY", body)

    path.write_text(text(*before))
    checker = Checker(_LARGE)
    checker.open([str(path)])
    assert [finding.rule for finding in checker.check().findings] == ["null-dereference"]
    checker.change(str(path), text(*after))
    searched: list[str] = []
    with monkeypatch.context() as patched:
        for what, owner, name in (("path", Feasibility, "error_path"), ("calls", Beginnings, "find")):
            patched.setattr(owner, name, _noting(searched, what, getattr(owner, name)))
        answers = _answers(checker.check())
    scratch = Checker(_LARGE, algorithm="full")
    scratch.open([str(path)])
    scratch.change(str(path), text(*after))
    assert answers == _answers(scratch.check())
    return searched


def _noting(noted: list[str], what: str, function: Callable[..., object]) -> Callable[..., object]:
    def wrapped(*arguments: object, **named: object) -> object:
        noted.append(what)
        return function(*arguments, **named)

    return wrapped


@pytest.mark.parametrize(
    ("statement", "searched"),
    [
        ("other = 1;", []),  # nothing on the way mentions it
        ("noted = 6;", ["calls"]),  # main() tests it
    ],
)
def test_a_global_counts_where_it_is_mentioned_on_the_way(
    statement: str, searched: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert _looked_up(tmp_path / "a.c", monkeypatch, (";", ";"), (statement, ";")) == searched


@pytest.mark.parametrize(
    ("before", "after", "searched"),
    [
        ("other = 1; return 0;", "other = 2; return 0;", []),  # nothing leads from there to the error
        ("other = 1;", "other = 2;", ["path", "calls"]),  # the way may lead over it
        ("return 0;", "found = &noted;", ["path", "calls"]),  # the way may lead over it now
    ],
)
def test_an_edit_of_a_function_counts_on_the_way(
    before: str, after: str, searched: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert _looked_up(tmp_path / "a.c", monkeypatch, (";", before), (";", after)) == searched


_BEGINS = """\
static int noted;
static void set(int *into) { *into = 1; }
static void short_way(void) { int *into = 0; set(into); }
static void long_way(int count)
{
    int *into = 0;
    if (count == 7) noted = 3;
    if (count == noted) noted = 4;
    set(into);
}
static void start(void) { BODY }
int main(int count, char **arguments) { start(); long_way(count); return 0; }
"""


@pytest.mark.parametrize("patient", [True, False])
def test_no_path_begins_where_nothing_leads_any_more(tmp_path: Path, patient: bool) -> None:
    """The function in which the path began stays in the graph, as it was."""
    path = tmp_path / "a.c"
    path.write_text(_BEGINS.replace("BODY", "short_way();"))
    checker = Checker(_LARGE)
    checker.open([str(path)])
    assert any(step.function == "short_way" for step in checker.check().findings[0].trace)
    checker.change(str(path), _BEGINS.replace("BODY", ";"))
    report = checker.check_unless(lambda: False, patient=patient)
    assert report is not None
    functions = {step.function for finding in report.findings for step in finding.trace}
    assert functions == {"main", "long_way", "set"}


_KNOWN_LATER = """\
static int counted, other;
static void note(void) { STATEMENT }
static int *find(int wanted) { return wanted > 3 ? &counted : 0; }
static int run(int count)
{
    note();
    counted = 5;
    if (counted != 5) return 3;
    int *found = find(count);
    LATER
    return *found;
}
int main(int count, char **arguments) { return run(count); }
"""


@pytest.mark.parametrize(
    ("later", "is_searched"),
    [
        (";", False),  # nothing is known of `counted` where note() is called
        ("note(); if (counted != 5) return 4;", True),  # it is known at the second call
    ],
)
def test_what_a_call_writes_counts_where_that_is_known(
    later: str, is_searched: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [_KNOWN_LATER.replace("STATEMENT", one).replace("LATER", later) for one in ("other = 1;", "counted = 5;")]
    path = tmp_path / "a.c"
    path.write_text(texts[0])
    checker = Checker(_LARGE)
    checker.open([str(path)])
    assert [finding.rule for finding in checker.check().findings] == ["null-dereference"]
    checker.change(str(path), texts[1])
    searched: list[str] = []
    with monkeypatch.context() as patched:
        patched.setattr(Feasibility, "error_path", _noting(searched, "path", Feasibility.error_path))
        answers = _answers(checker.check())
    scratch = Checker(_LARGE, algorithm="full")
    scratch.open([str(path)])
    scratch.change(str(path), texts[1])
    assert answers == _answers(scratch.check())
    assert bool(searched) == is_searched


_NEAR_AND_FAR = """\
static int near_level(void) { return NEAR; }
static int far_level(void) { return FAR; }
static int total;
static void use(int *given) { *given = 1; }
static void near_user(void)
{
    int *given = 0;
    total += near_level();
    use(given);
}
static void far_user(int count)
{
    int *given = 0;
    if (count > 1) total++;
    if (count > 2) total++;
    if (count > 3) total++;
    total += far_level();
    use(given);
}
int main(int count, char **arguments)
{
    near_user();
    far_user(count);
    return total;
}
"""


def test_an_edge_that_a_search_did_not_come_to_asks_for_no_search(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "_PROGRAM", _NEAR_AND_FAR.replace("NEAR", "1").replace("FAR", "1"))
    edited = _Edited(tmp_path / "a.c", monkeypatch)
    assert edited.edit(_NEAR_AND_FAR.replace("NEAR", "1").replace("FAR", "2"), {"null-dereference"}) == []
    assert edited.edit(_NEAR_AND_FAR.replace("NEAR", "2").replace("FAR", "2"), {"null-dereference"}) != []
