"""Properties of the delta: it is blind to layout, accounts for every edge, and names no function that is not lowered again."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.api import Checker
from analysis.cfa.graph import Edge
from analysis.cfa.revisions.delta import ProgramChange, Revision, program_change
from analysis.cfa.revisions.match import fingerprint
from analysis.model.options import Options
from analysis.model.spelling import display_name
from tests.support.edits import EDITS, read_chain

STATEMENTS = [
    "a = b;",
    'say("two  words", a);',
    "if (a) b++; else b = '\"';",
    "while (a > b) { a--; if (b) break; }",
    "{ int x = a++; b = x; }",
    "t->next = t; t->v = a ? a : b;",
    "if (a && b) goto out;",
    "switch (a) { case 1: b = 2; default: b = (char) 3; }",
    "{ static int calls = 7; b = calls++ + size; }",
]
_TOKEN = re.compile(r'"(?:\\.|[^"])*"|\'(?:\\.|[^\'])*\'|\w+|->|\+\+|--|&&|[^\s\w]')
_GAPS = [" ", "\n", "\t\n\n", " /* a; b */ ", " // }\n", '\n/* "\n */\n']
functions = st.lists(st.lists(st.sampled_from(STATEMENTS), max_size=5), min_size=1, max_size=3)


def revision(text: str, path: str) -> Revision:
    """A program of one file that needs no preprocessor and is not on the disk."""
    checker = Checker(Options(compiler="none"))
    checker.change(path, text)
    checker.open_workspace(path)
    view = checker.inspect()
    assert not checker.failed
    assert not view.unparsed
    return Revision(view.program, view.places)


def program(bodies: list[list[str]]) -> list[str]:
    """A text in parts; the functions are the parts from the second on."""
    names = [f"{'static ' * (number % 2)}int f{number}(int a, int b, struct tree *t)" for number in range(len(bodies))]
    head = "struct tree { struct tree *next; int v; }; static int size = 8; void say(char *, int);" + ";".join(["", *names]) + ";"
    return [head, *(f"{name} {{ {' '.join(body)} out: return b; }}" for name, body in zip(names, bodies, strict=True))]


def kept(edges: tuple[Edge, ...], changed: set[int]) -> set[tuple[int, int, int, bytes]]:
    return {(e.id, e.source, e.target, fingerprint(e)) for e in edges if e.id not in changed}


NOTHING = revision("int nothing;", "/program/a.c")  # before any test: it raises Python's recursion limit


@given(functions, st.data())
@settings(deadline=None, max_examples=60)
def test_other_layout_and_order_in_another_file_are_no_change(bodies: list[list[str]], data: st.DataObject) -> None:
    head, *parts = program(bodies)
    tokens = _TOKEN.findall(" ".join([head, *data.draw(st.permutations(parts))]))
    gaps = data.draw(st.lists(st.sampled_from(_GAPS), min_size=len(tokens), max_size=len(tokens)))
    old = revision(" ".join([head, *parts]), "/program/a.c")
    new = revision("".join(gap + token for gap, token in zip(gaps, tokens, strict=True)), "/elsewhere/b.c")
    assert old.program.functions.keys() != new.program.functions.keys() or len(parts) == 1
    change = program_change(old, new)
    assert change == ProgramChange() == program_change(NOTHING, NOTHING)
    assert change.empty


@given(functions, functions)
@settings(deadline=None, max_examples=60)
def test_a_delta_accounts_for_every_edge(one: list[list[str]], other: list[list[str]]) -> None:
    old, new = revision("\n".join(program(one)), "/program/a.c"), revision("\n".join(program(other)), "/program/a.c")
    change = program_change(old, new)
    modified = {function.old.name: function for function in change.modified}
    assert set(change.added) == new.program.functions.keys() - old.program.functions.keys()
    assert set(change.deleted) == old.program.functions.keys() - new.program.functions.keys()
    assert not change.unparsed
    for name in old.program.functions.keys() & new.program.functions.keys():
        before, after = old.program.functions[name], new.program.functions[name]
        assert (name in modified) == (before.digest != after.digest)
        if name in modified:
            edges = modified[name].edges
            assert edges
            gone = {edge.old.id for edge in edges if edge.old is not None}
            come = {edge.new.id for edge in edges if edge.new is not None}
            assert kept(before.edges, gone) == kept(modified[name].new.edges, come)
            assert gone <= {edge.id for edge in before.edges}
            assert len(modified[name].new.edges) == len(after.edges)


@given(functions)
@settings(deadline=None, max_examples=20)
def test_the_delta_is_the_same_for_a_program_that_was_edited_in_place(bodies: list[list[str]]) -> None:
    text = "\n".join(program([["a = 1;"], *bodies]))
    checker = Checker(Options(compiler="none"))
    checker.change("/program/a.c", text)
    checker.open_workspace("/program/a.c")
    old = checker.inspect()
    checker.change("/program/a.c", text.replace("a = 1;", "a = 2; b = 4;"))
    new = checker.inspect()
    change = program_change(Revision(old.program, old.places), Revision(new.program, new.places))
    assert [function.old.name for function in change.modified] == ["f0"]
    fresh = program_change(Revision(old.program, old.places), revision(text.replace("a = 1;", "a = 2; b = 4;"), "/program/a.c"))
    assert [function.edges for function in change.modified] == [function.edges for function in fresh.modified]


@pytest.mark.parametrize("chain", sorted(EDITS.iterdir()), ids=lambda path: path.name)
def test_only_functions_that_are_lowered_again_are_modified(chain: Path) -> None:
    """By the comments of the chain: a delta may name fewer functions than that (layout), never more."""
    steps = read_chain(chain)
    versions = []
    for step in steps:
        checker = Checker(Options())
        checker.open([str(step.path)])
        view = checker.inspect()
        versions.append(Revision(view.program, view.places, view.unparsed))
    for step, (old, new) in zip(steps[1:], pairwise(versions), strict=True):
        change = program_change(old, new)
        named = {display_name(f.old.name) for f in change.modified} | set(map(display_name, change.added))
        if step.lowered is not None and not old.unparsed:
            assert named <= set(step.lowered), step.path
