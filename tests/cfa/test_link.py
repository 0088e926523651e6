"""Linking units to a program."""

from __future__ import annotations

import pytest

from analysis.cfa.linking.link import link
from analysis.model import ir
from analysis.model.c_types import INT, Pointer, Record
from analysis.model.spelling import display_name, spell_effect
from tests.support.lowered import unit_of


def test_functions_and_externals() -> None:
    linked = link([unit_of("int g(int); int f(void) { return g(h()); }", "a.c"), unit_of("int g(int x) { return x; }", "b.c")])
    assert sorted(linked.program.functions) == ["f", "g"]
    assert sorted(linked.program.externals) == ["h"]
    assert linked.sources["g"].unit == "b.c"
    assert linked.messages == ()


def test_static_functions_of_one_name_are_two() -> None:
    linked = link([unit_of("static int f(void) { return 1; }", "a.c"), unit_of("static int f(void) { return 2; }", "b.c")])
    assert sorted(linked.program.functions) == ["a.c::f", "b.c::f"]


def test_a_second_different_definition_is_one_message_and_the_first_wins() -> None:
    units = [unit_of(f"int main(void) {{ return {n}; }}", f"{n}.c") for n in range(2)]
    linked = link(units)
    assert linked.program.functions["main"].path == "0.c"
    assert [(m.path, m.text) for m in linked.messages] == [
        ("1.c", "main is defined in 0.c already, with another body; this definition is not checked.")
    ]


def test_an_inline_function_of_a_header_in_two_files_is_no_conflict() -> None:
    linked = link([unit_of("inline int f(int a) { return a; }", path) for path in ("a.c", "b.c")])
    assert linked.messages == ()


def test_globals() -> None:
    one = "extern int defined_elsewhere; int tentative; extern int nowhere; int *p = &tentative; int filled[2] = {1, 2};"
    one += "struct s *q;"
    other = (
        "int defined_elsewhere = 5; int tentative; static int mine = 3; int defined_later; int defined_later = 7; int zeros[4];"
    )
    linked = link([unit_of(one, "a.c"), unit_of(other, "b.c")])
    initial = {name: known.initial for name, known in linked.program.globals.items()}
    tentative = ir.Var("tentative", "global", INT)
    assert initial == {
        "defined_elsewhere": ir.IntConst(5, INT),
        "tentative": ir.IntConst(0, INT),
        "nowhere": ir.Unknown(INT),
        "p": ir.AddressOf(tentative, Pointer(INT)),
        "filled": ir.Unknown(linked.program.globals["filled"].var.type),
        "q": ir.IntConst(0, Pointer(Record("struct", "struct s"))),
        "b.c::mine": ir.IntConst(3, INT),
        "defined_later": ir.IntConst(7, INT),
        "zeros": ir.Zero(linked.program.globals["zeros"].var.type),
    }


def test_static_initialisers_are_kept_part_by_part() -> None:
    text = """
    struct s { int a; char n[4]; struct s *next; int b : 3; }; int f(int x) { static int t[2] = {1}; return t[x]; }
    struct s one = {.n = "ab", .next = &one, .b = 5}; int (*table[3])(int) = {[1] = f}; int two = {2}; int big[5000] = {1, 2};
    int *p = (int[]){1, 2}; struct s lit[2] = {[1] = (struct s){.a = 7}}; int nothing[2];
    """
    linked = link([unit_of(text)])
    parts = {display_name(name): [spell_effect(part) for part in known.parts] for name, known in linked.program.globals.items()}
    assert parts == {
        "one": ["one = {0}", 'one.n = "ab"', "one.next = &one", "one.b = -3"],
        "table": ["table = {0}", "table[1] = f"],
        "two": ["two = 2"],
        "big": ["big = {0}", "big[0] = 1", "big[1] = 2"],
        "p": [],
        "lit": ["lit = {0}", "lit[1] = {0}", "lit[1].a = 7"],
        "nothing": [],
        "t": ["t = {0}", "t[0] = 1"],
    }
    assert "f" in linked.program.address_taken


def test_tables_beyond_a_size_are_not_kept() -> None:
    linked = link([unit_of(f"int t[] = {{{', '.join(['1'] * 5000)}}};")])
    assert linked.program.globals["t"].parts == ()
    assert isinstance(linked.program.globals["t"].initial, ir.Unknown)


def test_globals_declared_in_functions() -> None:
    linked = link([unit_of("int f(void) { extern int x; static int n; return x + n; }", "a.c"), unit_of("int x = 2;", "b.c")])
    assert {name: known.initial for name, known in linked.program.globals.items()} == {
        "a.c::f::n": ir.IntConst(0, INT),
        "x": ir.IntConst(2, INT),
    }


def test_one_anonymous_record_in_two_files_is_one_record() -> None:
    header = "typedef struct { int a; struct { char *p; } in; } pair;"
    linked = link([unit_of(f"{header} pair one;", "a.c"), unit_of(f"{header} pair two;", "b.c")])
    assert linked.program.globals["one"].var.type == linked.program.globals["two"].var.type
    assert len(linked.program.records) == 2


def test_one_tag_with_different_members_is_two_records() -> None:
    text = "struct s {{ int {0}; }}; struct outer {{ struct s in; }}; int f{0}(struct outer *p) {{ return p->in.{0}; }}"
    units = [unit_of(text.format("a"), "a.c"), unit_of(text.format("b"), "b.c")]
    linked = link(units)
    assert sorted(linked.program.records) == ["struct outer", "struct outer~2", "struct s", "struct s~2"]
    assert linked.program.records["struct outer~2"].members[0].type == Record("struct", "struct s~2")
    (edge,) = linked.program.functions["fb"].edges
    keys = [part.type.key for e in ir.expressions(edge.effect) for part in ir.walk(e) if isinstance(part.type, Record)]
    assert keys == ["struct outer~2", "struct s~2"]
    assert linked.program.functions["fa"] is units[0].functions[0].cfa
    assert link(units).program.functions["fb"] is linked.program.functions["fb"]


def test_linking_again_reuses_what_units_show() -> None:
    one, two = unit_of("int x = 1; int f(void) { return g(); }", "a.c"), unit_of("int g(void) { return 1; }", "b.c")
    before = link([one, two])
    edited = unit_of("int g(void) { return 2; }", "b.c", previous=two)
    after = link([one, edited], before=before)
    scratch = link([one, edited])
    assert after.program.functions == scratch.program.functions
    assert after.program.globals == scratch.program.globals
    assert after.program.externals == scratch.program.externals
    removed = link([one, unit_of("int h(void) { return 2; }", "b.c", previous=two)], before=before)
    assert sorted(removed.program.externals) == ["g"]


def test_calls_through_pointers_reach_functions_of_both_files() -> None:
    linked = link(
        [
            unit_of("int a(int x) { return x; } int (*table[])(int) = { a };", "a.c"),
            unit_of("int b(int x) { return x; } int c(char *s); int f(int (*p)(int)) { p = b; c(0); return p(1); }", "b.c"),
        ]
    )
    call = linked.program.functions["f"].calls[-1].effect
    assert isinstance(call, ir.Call)
    assert linked.program.targets(call) == ("a", "b")


def test_calls_through_pointers_reach_functions_of_other_types_only_where_there_are_none_of_the_very_type() -> None:
    text = (
        "struct s; void done(struct s *p) {} void gone(void *p) {} char *copy(const char *t) { return 0; } "
        "enum e { A } named(void);"
        "void f(void (*g)(void *), void (*h)(struct s *), void (*k)(long *), unsigned (*m)(void)) { g(0); h(0); k(0); m(); }"
        "void *all[] = { done, gone, copy, named };"
    )
    program = link([unit_of(text, "a.c")]).program
    reached = [program.targets(edge.effect) for edge in program.functions["f"].calls if isinstance(edge.effect, ir.Call)]
    assert reached == [("gone",), ("done",), ("copy", "gone"), ("named",)]


def test_a_program_of_which_no_cfa_is_another_is_the_same_one() -> None:
    first, other = unit_of("int f(void) { return 1; }", "a.c"), unit_of("int main(void) { return 0; }", "b.c")
    before = link([first, other])
    moved = link([unit_of("\n\nint  f(void) { return 1; }", "a.c", previous=first), other], before=before)
    assert moved.program is before.program
    assert moved.sources["f"].start == before.sources["f"].start + 2
    assert moved.sources["main"] is before.sources["main"]


@pytest.mark.parametrize(
    "text",
    [
        "int f(void) { return 1; } int g(void) { return 3; }",  # another body
        "int g(void) { return 2; } int f(void) { return 1; }",  # another order
        "int f(void) { return 1; }",  # a function less
        "int f(void) { return 1; } int g(void) { return 2; } int h(void) { return 3; }",  # one more
        "int f(void) { return 1; } int g(void) { return 2; } int twice(void) { return 4; }",  # one of another file's
        "int f(void) { return 1; } int f(void) { return 2; }",  # one twice
    ],
)
def test_linking_goes_on_from_the_program_before_as_from_nothing(text: str) -> None:
    first = unit_of("int f(void) { return 1; } int g(void) { return 2; }", "a.c")
    others = [unit_of("int twice(void) { return 4; }", "b.c"), unit_of("int twice(void) { return 5; }", "c.c")]
    before = link([first, *others])
    edited = unit_of(text, "a.c", previous=first)
    again = link([first, *others], before=link([edited, *others], before=before))
    for found, scratch in (
        (link([edited, *others], before=before), link([edited, *others])),
        (again, before),
        (link([first, edited, others[0]], before=before), link([first, edited, others[0]])),
    ):
        assert list(found.program.functions.items()) == list(scratch.program.functions.items())
        assert (found.sources, found.messages, found.defined.shared) == (
            scratch.sources,
            scratch.messages,
            scratch.defined.shared,
        )


def test_a_function_of_two_files_is_reported_when_one_of_them_changes() -> None:
    one, two = unit_of("int f(void) { return 1; }", "a.c"), unit_of("int f(void) { return 1; }", "b.c")
    before = link([one, two])
    assert before.messages == ()
    assert before.defined.shared == {"f"}
    after = link([one, unit_of("int f(void) { return 2; }", "b.c", previous=two)], before=before)
    assert [message.text for message in after.messages] == [
        "f is defined in a.c already, with another body; this definition is not checked."
    ]


@pytest.mark.parametrize("text", ["int x = sizeof(struct unknown);", "int x = 5;", "int x = 0;", "int x[2] = {1, 2};"])
def test_a_tentative_definition_does_not_replace_one_with_an_initialiser(text: str) -> None:
    """Also where the initialiser is not understood, or is a list: then the tentative one of a later file won."""
    definition, tentative = unit_of(text, "a.c"), unit_of("int x[2];" if "[" in text else "int x;", "b.c")
    for units in ([definition, tentative], [tentative, definition]):
        found = link(units).program.globals["x"]
        assert (found.path, found.initial) == ("a.c", link([definition]).program.globals["x"].initial)
