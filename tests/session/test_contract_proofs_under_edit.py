"""After an edit, proofs about all functions are those from scratch, and only what the edit concerns is followed again."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from support.program_edits import Edited

from analysis.api import Checker
from analysis.certificate.nonzero import followed
from analysis.certificate.ownership import closed_checker
from analysis.cfa.graph import Program
from analysis.model.options import Options
from analysis.session.portfolio.request import Proved
from tests.support.contract_proofs import answers, forget, from_nothing

_EDITS = 6
_CHAIN = """
#include <stdlib.h>
struct item { int *count; };
static int get(struct item *i) { return i ? *i->count : 0; }
static void drop(struct item *i) { free(i); }
int twice(struct item *i) { return 2 * get(i); }
int lonely(int n) { int *p = malloc(sizeof *p); if (!p) return 0; *p = n; n = *p; free(p); return n; }
int main(void) { struct item *i = malloc(sizeof *i); int n; if (!i) return 1; i->count = &n; n = twice(i); drop(i); return n; }
"""


@pytest.fixture(autouse=True)
def _nothing_known(monkeypatch: pytest.MonkeyPatch) -> None:
    forget(monkeypatch)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_answers_after_edits_are_those_from_scratch(seed: int, tmp_path: Path) -> None:
    edited = Edited(Random(seed), 200)
    checker = Checker(Options(engine="automaton"))
    checker.open(edited.write(tmp_path))
    for step in range(_EDITS):
        said = edited.edit() if step else "the program as it was written"
        for name in sorted(edited.changed):
            checker.change(str(tmp_path / name), edited.text(name), step)
        program: Program = checker.inspect().program
        assert answers(program) == from_nothing(program), said


class _Counted:
    """The functions that were followed since the last look, by the search and by the checker alike."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._names = set[str]()
        walk, closed = followed.walk, closed_checker._closed

        def counted_walk(edges, *more, **named):  # type: ignore[no-untyped-def]
            self._names.add(edges.cfa.name)
            return walk(edges, *more, **named)

        def counted_closed(program, claim, contracts):  # type: ignore[no-untyped-def]
            self._names.add(claim.function)
            return closed(program, claim, contracts)

        monkeypatch.setattr(followed, "walk", counted_walk)
        monkeypatch.setattr(closed_checker, "_closed", counted_closed)

    def names(self) -> set[str]:
        found, self._names = self._names, set()
        return {name.rpartition("::")[2] for name in found}


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> _Counted:
    return _Counted(monkeypatch)


@pytest.mark.parametrize(
    ("old", "new", "again"),
    [
        ("int n; if", "int n = 1; if", {"main"}),
        ("free(p); return n", "free(p); return n + 1", {"lonely"}),
        ("free(i);", "free(i); i = 0;", {"drop"}),  # callers see nothing else
        ("i ? *i->count : 0", "*i->count", {"get", "twice", "main"}),
        ("2 * get(i)", "2  * get(i) /* two */", set()),
    ],
)
def test_an_edit_has_followed_again_what_it_concerns(
    old: str, new: str, again: set[str], tmp_path: Path, counted: _Counted
) -> None:
    file = tmp_path / "a.c"
    file.write_text(_CHAIN)
    checker = Checker(Options(engine="automaton"))
    checker.open([str(file)])
    answers(checker.inspect().program)
    assert counted.names() >= {"get", "drop", "twice", "lonely", "main"}
    assert old in _CHAIN
    checker.change(str(file), _CHAIN.replace(old, new), 1)
    answers(checker.inspect().program)
    assert counted.names() == again


_USED = """
#include <stdlib.h>
struct item { struct item *next; int count; };
static struct item *first, *other;
static void tidy(void) { }
static void end(void) { free(first->next); }
static int get(void) { return first->next->count; }
static int over(void) { tidy(); return get(); }
int main(void) {
    first = malloc(sizeof *first); if (!first) return 1;
    other = first->next = malloc(sizeof *other); if (!other) return 1;
    other->count = 0; first->next = other;
    int n = over(); end(); return n;
}
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("tidy(void) { }", "tidy(void) { free(other); }"),
        ("int n = over(); end();", "end(); int n = over();"),
        ("tidy(); return get();", "int n = get(); tidy(); end(); return n + get();"),
        ("return n;", "return n ? get() : 0;"),
        ("int main(void) {", "int (*late)(void) = get; int main(void) {"),
        ("int main(void) {", "#include <signal.h>\nstatic void on(int n) { end(); } int main(void) { signal(2, on);"),
    ],
)
def test_that_nothing_has_ended_before_is_proved_as_long_as_it_is_so(old: str, new: str, tmp_path: Path) -> None:
    """The class: after an edit elsewhere, something ends in front of what was proved to use only what is live."""
    file = tmp_path / "a.c"
    file.write_text(_USED)
    checker = Checker(Options(engine="automaton"))
    checker.open([str(file)])
    assert _USED.count(old) == 1
    for step, (text, holds) in enumerate(((_USED, True), (_USED.replace(old, new), False), (_USED, True))):
        checker.change(str(file), text, step)
        program = checker.inspect().program
        found = answers(program)
        assert found == from_nothing(program)
        (proved,) = (one for one in found if one.function.endswith("get") and one.rule == "use-after-free")
        assert isinstance(proved.answer, Proved) == holds
