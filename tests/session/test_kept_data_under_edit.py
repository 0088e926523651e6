"""After edits, the invariants of a program's data are those from scratch, and only what an edit concerns is followed again.

The class: an invariant that an edit broke, or that it made true, is still dropped or relied on where it was before."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from analysis.api import Checker
from analysis.cfa.graph import Program
from analysis.cpa.framework.algorithm import Cancellation
from analysis.model.options import Options
from analysis.session.portfolio import contract_proofs
from analysis.session.portfolio.contract_proofs import OfFunction
from analysis.session.portfolio.kept_data import KeptData
from analysis.session.portfolio.request import Proved, Request
from analysis.session.portfolio.request_terms import About

_RULES = ("division-by-zero", "null-dereference")
_MAIN = ("main",)
_HEAD = """
#include <stdlib.h>
#include <string.h>
struct item { char *name; char *note; struct item *next; };
static struct item *all;
static char *title = "t";
"""
_FUNCTIONS: dict[str, tuple[str, ...]] = {
    "more": (
        "static void *more(size_t n) { void *p = calloc(1, n); if (!p) exit(1); return p; }",
        "static void *more(size_t n) { return calloc(1, n); }",
        "static void *more(size_t n) { void *p; if (n == 0) return NULL; p = malloc(n); if (!p) exit(1); return p; }",
    ),
    "make": (
        "static struct item *make(char *s) { struct item *t = more(sizeof *t); t->name = s; t->note = s; return t; }",
        "static struct item *make(char *s) { struct item *t = more(sizeof *t); t->name = s; t->note = 0; return t; }",
        "static struct item *make(char *s) { struct item *t = more(sizeof *t); all = t; t->name = s; t->note = s; return t; }",
        "static struct item *make(char *s) { struct item *t = more(sizeof *t); t->note = s; t->name = title; return t; }",
    ),
    "put": (
        "static void put(struct item *t) { t->next = all; all = t; }",
        "static void put(struct item *t) { t->next = all; t->note = 0; all = t; }",
        "static void put(struct item *t) { memset(t, 0, sizeof *t); all = t; }",
    ),
    "rename_all": (
        "static void rename_all(char *s) { for (struct item *t = all; t; t = t->next) t->name = s; title = s; }",
        "static void rename_all(char *s) { for (struct item *t = all; t; t = t->next) if (s) t->name = s; }",
    ),
    "first": (
        "static int first(void) { return all ? all->name[0] + title[0] : 0; }",
        "static int first(void) { return all ? all->note[0] : title[0]; }",
    ),
    "main": (
        'int main(void) { put(make("a")); rename_all("b"); return first(); }',
        'int main(void) { put(make("a")); rename_all(0); return first(); }',
        "int main(void) { put(make(0)); return first(); }",
    ),
}


def _text(chosen: dict[str, int]) -> str:
    return _HEAD + "\n".join(versions[chosen[name]] for name, versions in _FUNCTIONS.items()) + "\n"


def _answers(program: Program) -> list[OfFunction]:
    return list(contract_proofs.prove(Request(program, _MAIN, About("contracts", _RULES)), 1000.0, Cancellation()))


@pytest.mark.parametrize("seed", range(3))
def test_invariants_after_edits_are_those_from_scratch(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    random, file, kept = Random(seed), tmp_path / "a.c", KeptData()
    monkeypatch.setattr(contract_proofs, "HERE", kept)
    monkeypatch.setattr(contract_proofs, "_last_values", {})
    chosen = dict.fromkeys(_FUNCTIONS, 0)
    file.write_text(_text(chosen))
    checker = Checker(Options(engine="automaton"))
    checker.open([str(file)])
    seen = set()
    for step in range(8):
        name = random.choice(sorted(_FUNCTIONS))
        chosen[name] = (chosen[name] + (random.randrange(1, len(_FUNCTIONS[name])) if step else 0)) % len(_FUNCTIONS[name])
        checker.change(str(file), _text(chosen), step + 1)
        program = checker.inspect().program
        now, found = _answers(program), kept.of(program, _MAIN, lambda: True)
        seen.add(found)
        with pytest.MonkeyPatch.context() as patch:
            fresh = KeptData()
            patch.setattr(contract_proofs, "HERE", fresh)
            patch.setattr(contract_proofs, "_last_values", {})
            assert found == fresh.of(program, _MAIN, lambda: True), chosen
            assert now == _answers(program), chosen
    assert len(seen) > 1


def test_an_edit_has_only_that_followed_again_which_it_concerns(tmp_path: Path) -> None:
    file, kept = tmp_path / "a.c", KeptData()
    chosen = dict.fromkeys(_FUNCTIONS, 0)
    file.write_text(_text(chosen))
    checker = Checker(Options(engine="automaton"))
    checker.open([str(file)])
    kept.of(checker.inspect().program, _MAIN, lambda: True)
    before = kept.walked
    assert before >= 2 * len(_FUNCTIONS)
    checker.change(str(file), _text(chosen).replace(" title = s; ", " title = s; title = s; "), 1)
    kept.of(checker.inspect().program, _MAIN, lambda: True)
    assert kept.walked - before <= 6  # one function, in each round, by the search and by the checker


def test_a_broken_invariant_takes_the_proof_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contract_proofs, "HERE", KeptData())
    file = tmp_path / "a.c"
    chosen = dict.fromkeys(_FUNCTIONS, 0)
    file.write_text(_text(chosen))
    checker = Checker(Options(engine="automaton"))
    checker.open([str(file)])
    proved = []
    for step, put in enumerate((0, 2, 0)):
        checker.change(str(file), _text({**chosen, "put": put}), step + 1)
        answers = {(one.function.rpartition("::")[2], one.rule): one.answer for one in _answers(checker.inspect().program)}
        proved.append(isinstance(answers["first", "null-dereference"], Proved))
    assert proved == [True, False, True]


def test_without_the_time_nothing_is_relied_on(tmp_path: Path) -> None:
    file, kept = tmp_path / "a.c", KeptData()
    file.write_text(_text(dict.fromkeys(_FUNCTIONS, 0)))
    checker = Checker(Options(engine="automaton"))
    checker.open([str(file)])
    program = checker.inspect().program
    assert kept.of(program, _MAIN, lambda: False) == frozenset()
    found = kept.of(program, _MAIN, lambda: True)
    assert found
    assert found == KeptData().of(program, _MAIN, lambda: True)
