"""Identity across edits: properties of matching."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.cfa.graph import Cfa
from analysis.cfa.revisions.match import fingerprint, match
from analysis.model import ir
from tests.support.lowered import cfa_of, unit_of

STATEMENTS = [
    "a = b;",
    "b = g(a);",
    "if (a) b++;",
    "while (a > b) { a--; if (b) break; }",
    "{ int x = a++; b = x; }",
    "use(g(a) + g(b));",
    "if (a && b) return 1;",
    "switch (a) { case 1: b = 2; default: b = 3; }",
]
bodies = st.lists(st.sampled_from(STATEMENTS), max_size=8)


def text(statements: list[str]) -> str:
    return f"int g(int); void use(int); int f(int a, int b) {{ {' '.join(statements)} return b; }}"


def ids(cfa: Cfa) -> list[int]:
    return [edge.id for edge in cfa.edges]


@given(bodies)
@settings(deadline=None, max_examples=40)
def test_matching_the_same_text_is_identity(statements: list[str]) -> None:
    old = cfa_of(text(statements))
    new = match(cfa_of(text(statements)), old)
    assert new.edges == old.edges
    assert (new.entry, new.exit, new.digest) == (old.entry, old.exit, old.digest)


@given(st.lists(bodies, min_size=2, max_size=5))
@settings(deadline=None, max_examples=40)
def test_ids_are_unique_and_never_reused(revisions: list[list[str]]) -> None:
    cfa = cfa_of(text(revisions[0]))
    retired: set[int] = set()
    retired_locations: set[int] = set()
    for statements in revisions[1:]:
        old, cfa = cfa, match(cfa_of(text(statements)), cfa)
        assert len(set(ids(cfa))) == len(cfa.edges)
        retired |= set(ids(old)) - set(ids(cfa))
        retired_locations |= set(old.locations) - set(cfa.locations)
        assert not retired & set(ids(cfa))
        assert not retired_locations & set(cfa.locations)
        assert max(ids(cfa)) < cfa.next_edge
        assert cfa.locations[-1] < cfa.next_location


def test_the_number_of_a_local_variable_does_not_count_after_another_argument() -> None:
    body = "{ int x = a; use(a, x); }"
    texts = [f"void use(int, int); void f(int a) {{ {before} {body} }}" for before in ("", "{ int x = 1; use(1, x); }")]
    one, two = [{fingerprint(edge) for edge in cfa_of(text).edges} for text in texts]
    assert one <= two


@given(bodies, st.data())
@settings(deadline=None, max_examples=40)
def test_the_graph_stays_the_same_up_to_ids(statements: list[str], data: st.DataObject) -> None:
    fresh = cfa_of(text(statements))
    matched = match(fresh, cfa_of(text(data.draw(bodies))))
    locations: dict[int, int] = {}
    for before, after in zip(fresh.edges, matched.edges, strict=True):
        assert fingerprint(before) == fingerprint(after)
        assert locations.setdefault(before.source, after.source) == after.source
        assert locations.setdefault(before.target, after.target) == after.target
    assert len(set(locations.values())) == len(locations)
    assert matched.digest == fresh.digest


@given(bodies, st.data())
@settings(deadline=None, max_examples=40)
def test_renaming_variables_is_one_to_one(statements: list[str], data: st.DataObject) -> None:
    fresh = cfa_of(text(statements))
    matched = match(fresh, cfa_of(text(data.draw(bodies))))
    names: dict[str, str] = {}
    for before, after in zip(fresh.edges, matched.edges, strict=True):
        olds = [v.name for e in ir.expressions(before.effect) for v in ir.variables(e)]
        news = [v.name for e in ir.expressions(after.effect) for v in ir.variables(e)]
        for old, new in zip(olds, news, strict=True):
            assert names.setdefault(old, new) == new
    assert len(set(names.values())) == len(names)


@given(bodies, st.data())
@settings(deadline=None, max_examples=40)
def test_inserting_a_statement_keeps_the_other_edges(statements: list[str], data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(statements)))
    old = cfa_of(text(statements))
    new = match(cfa_of(text([*statements[:at], "a = 77;", *statements[at:]])), old)
    by_id = {edge.id: edge for edge in new.edges}
    assert set(ids(old)) <= set(by_id)
    assert len(new.edges) == len(old.edges) + 1
    for edge in old.edges:
        assert by_id[edge.id].effect == edge.effect


def test_inserting_before_temporaries_keeps_their_names() -> None:
    old = cfa_of(text(["use(g(a));"]))
    new = match(cfa_of(text(["b = g(b) + g(1);", "use(g(a));"])), old)
    assert {edge.id: edge.effect for edge in old.edges}.items() <= {edge.id: edge.effect for edge in new.edges}.items()


def test_matching_again_changes_nothing() -> None:
    old = cfa_of(text(["a = b;"]))
    new = match(cfa_of(text(["a = b;", "b = 9;"])), old)
    assert match(new, old) is new


def test_sites_follow_the_ids() -> None:
    before = "int f(int a) { a = 1; return a; }"
    after = "int f(int a) { a = 5; a = 1; return a; }"
    function = unit_of(after, previous=unit_of(before)).functions[0]
    texts = {i: after[function.source.start + s.start : function.source.start + s.end] for i, s in function.source.sites.items()}
    assert texts == {0: "a = 1", 1: "return a;", 2: "a = 5"}


def test_an_argument_list_that_is_read_gets_its_old_name_back() -> None:
    """It is no operand of what is assigned."""
    reading = "__builtin_va_list l; __builtin_va_start(l, n); x = __builtin_va_arg(l, int);"
    head = "int f(int n, ...) { int x = 0; %s { " + reading + " } return x; }"
    old, before = cfa_of(head % ""), cfa_of(head % "{ int l = n; x = l; }")
    new = match(before, old)
    kept = {edge.id: edge.effect for edge in new.edges}
    assert [kept[edge.id] for edge in old.edges] == [edge.effect for edge in old.edges]
    hidden = [part.arguments for parts in before.parts.values() for part in parts if isinstance(part, ir.Unknown)]
    assert any("~" in str(arguments) for arguments in hidden)  # the other variable has the plain name
