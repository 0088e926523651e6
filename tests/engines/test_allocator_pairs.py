"""Functions of libraries that free, told by the names and types of a pair of functions that the program only declares."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.api import Checker
from analysis.cfa.graph import External
from analysis.cfa.linking.allocator_pairs import with_beliefs
from analysis.model.c_types import CHAR, INT, VOID, Function, Integer, Pointer, Type
from analysis.model.options import Options

_TEXT = """#include <stddef.h>
extern void *own_malloc_at(size_t, char *, int);
extern void own_free_at(void *, char *, int);
extern void list_free(void *);
struct b { int n; struct b *next; };
int twice(int n)
{
    char *p = own_malloc_at(n, "a", 1);
    if (!p)
        return 1;
    *p = 0;
    own_free_at(p, "a", 2);
    own_free_at(p, "a", 3);
    return 0;
}
int after(struct b *b) { struct b *c = b->next; own_free_at(c, "a", 2); return c->n; }
int right(int n)
{
    char *p = own_malloc_at(n, "a", 1);
    *p = 1;
    own_free_at(p, "a", 2);
    return 0;
}
int counted(struct b *b) { list_free(b); return b->n; }
"""
_SIZE = Integer(64, False, "unsigned long")
_ANY, _TEXTS = Pointer(VOID), Pointer(CHAR)
_FREE = Function(VOID, (_ANY,))
_MALLOC = Function(_ANY, (_SIZE,))


def test_what_is_given_and_taken(tmp_path: Path) -> None:
    path = tmp_path / "a.c"
    path.write_text(_TEXT, encoding="utf-8")
    checker = Checker(Options(engine="automaton"))
    checker.open([str(path)])
    found = {(finding.function, finding.rule) for finding in checker.check().findings}
    assert found == {("twice", "double-free"), ("after", "use-after-free")}


@pytest.mark.parametrize(
    ("types", "told"),
    [
        ({"a_free": _FREE, "a_malloc": _MALLOC}, {"a_free"}),
        ({"a_free": _FREE, "a_malloc_array": Function(_ANY, (_SIZE, _SIZE))}, {"a_free"}),
        ({"a_free": _FREE}, set()),
        ({"a_free": _FREE, "b_malloc": _MALLOC}, set()),
        ({"a_free": _FREE, "a_malloc_at": _MALLOC, "a_free_at": _FREE}, {"a_free", "a_free_at"}),
        ({"a_free": Function(INT, (_ANY,)), "a_malloc": _MALLOC}, set()),
        ({"a_free": Function(VOID, (_ANY, _ANY)), "a_malloc": _MALLOC}, set()),
        ({"a_free": _FREE, "a_malloc": Function(_ANY, (_ANY, _SIZE))}, set()),
        ({"a_free": _FREE, "a_strdup": Function(_TEXTS, (_TEXTS,))}, set()),
    ],
)
def test_which_are_told(types: dict[str, Type], told: set[str]) -> None:
    externals = {name: External(name, type_) for name, type_ in types.items() if isinstance(type_, Function)}
    assert {name for name, one in with_beliefs(externals).items() if one.guess} == told


def test_what_is_known_is_not_guessed() -> None:
    described = External("a_malloc", _MALLOC, row="a_malloc | n | number | | contracts.yaml")
    assert with_beliefs({"a_free": External("a_free", _FREE), "a_malloc": described})["a_free"].guess == ""
    system = {name: External(name, type_, system=True) for name, type_ in (("a_free", _FREE), ("a_malloc", _MALLOC))}
    assert not any(one.guess for one in with_beliefs(system).values())
