"""Declarations to types."""

from __future__ import annotations

import pytest

from analysis.cfa.cfa_text import dump_cfa
from analysis.model import c_types as t
from analysis.model.c_types import Array, Function, Pointer, Type, spell
from tests.support.lowered import unit_of

LONG = t.LP64.long


def type_of(declaration: str, name: str = "x", before: str = "") -> Type:
    unit = unit_of(f"{before} {declaration}")
    return next(v.var.type for v in unit.variables if v.var.name == name)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("int x;", t.INT),
        ("unsigned x;", t.UNSIGNED_INT),
        ("long int unsigned x;", t.LP64.unsigned_long),
        ("const volatile short *const x;", Pointer(t.SHORT)),
        ("signed char x;", t.SIGNED_CHAR),
        ("long long x;", t.LONG_LONG),
        ("_Bool x;", t.BOOL),
        ("int *x[3];", Array(Pointer(t.INT), 3)),
        ("int (*x)[3];", Pointer(Array(t.INT, 3))),
        ("int x[2][3];", Array(Array(t.INT, 3), 2)),
        ("int x[1 + sizeof(int) * 2];", Array(t.INT, 9)),
        ("int (*x)(char, ...);", Pointer(Function(t.INT, (t.CHAR,), variadic=True))),
        ("char *(*x)();", Pointer(Function(Pointer(t.CHAR), (), prototyped=False))),
        (
            "void (*x[2])(int a[], void f(void));",
            Array(Pointer(Function(t.VOID, (Pointer(t.INT), Pointer(Function(t.VOID, ()))))), 2),
        ),
        ("int (*(*x)(int))(char);", Pointer(Function(Pointer(Function(t.INT, (t.CHAR,))), (t.INT,)))),
        ("int x[] = { 1, 2, 3 };", Array(t.INT, 3)),
        ('char x[] = "abc" "d";', Array(t.CHAR, 5)),
        ("extern int x[]; int x[7];", Array(t.INT, 7)),
        ("__typeof__(1 + 1L) x;", LONG),
    ],
)
def test_declarators(text: str, expected: Type) -> None:
    assert type_of(text) == expected


def test_typedefs() -> None:
    before = "typedef unsigned char byte, *bytes; typedef int (*handler)(bytes);"
    assert type_of("byte x;", before=before) == t.UNSIGNED_CHAR
    assert type_of("handler x[2];", before=before) == Array(Pointer(Function(t.INT, (Pointer(t.UNSIGNED_CHAR),))), 2)


def test_records_refer_to_themselves() -> None:
    unit = unit_of("struct list { struct list *next; int bits : 3; union { int i; float f; }; } x;")
    definition = unit.records["struct list"]
    assert [(m.name, spell(m.type).split("#")[0], m.bits) for m in definition.members] == [
        ("next", "struct list *", None),
        ("bits", "int", 3),
        ("", "union {i, f}", None),
    ]


def test_unnamed_bit_fields_take_room() -> None:
    unit = unit_of("enum { N = 9 }; struct s { unsigned a : 3; unsigned : N; int : 0; char b; };")
    assert [(m.name, m.bits) for m in unit.records["struct s"].members] == [("a", 3), ("", 9), ("", 0), ("b", None)]


def test_records_of_functions_are_kept_apart() -> None:
    unit = unit_of(
        "struct s { int a; }; int f(void) { struct s { char b; } v; v.b = 1; { struct s { long c; } w; w.c = 2; }"
        " return sizeof(struct s); }"
        "int g(struct s *p) { return p->a; }"
    )
    assert sorted(unit.records) == ["struct s", "struct s@f", "struct s@f~2"]
    assert not unit.broken


def test_enumerations() -> None:
    unit = unit_of("enum e { A, B = 5, C, D = -1 } x; enum { E = C * 2 }; int y[E]; enum u { F } z;")
    types = {v.var.name: v.var.type for v in unit.variables}
    assert types == {"x": t.Integer(32, True, "enum e"), "y": Array(t.INT, 12), "z": t.Integer(32, False, "enum u")}


def test_names_that_hide_types() -> None:
    unit = unit_of("typedef int T; int f(void) { int T = 3; return T * 2; } T g(T T) { return T; }")
    assert [len(f.cfa.edges) for f in unit.functions] == [2, 1]


def test_the_data_model() -> None:
    unit = unit_of("int x[sizeof(long)]; int y[sizeof(char *)];", model=t.ILP32)
    assert [v.var.type for v in unit.variables] == [Array(t.INT, 4), Array(t.INT, 4)]


def test_unknown_types_are_noted_and_the_rest_goes_on() -> None:
    unit = unit_of("nonsense x; int f(void) { unknown y; return 1; }")
    assert unit.level.refused == [(0, "unknown type nonsense")]
    assert len(unit.functions) == 1


def test_a_declaration_with_an_error_is_read_as_far_as_it_goes() -> None:
    unit = unit_of("struct s { int a; int ; ] int b; }; int f(struct s *p) { return p->b; }")
    assert [b.name for b in unit.broken] == [None]
    assert next(m.name for m in unit.records["struct s"].members) == "a"


def test_declarations_that_read_as_calls() -> None:
    unit = unit_of(
        "typedef int T; T g(T a) { return a; } T (*p)(int); T (*q)(int) = g; T (x); T (declared)(int);"
        "int f(void) { T (*r)(int) = g; T (*s)[3]; T (y); y = r(1) + declared(2); return y; }"
    )
    pointer = Pointer(Function(t.INT, (t.INT,)))
    assert [(v.var.name, v.var.type) for v in unit.variables] == [("p", pointer), ("q", pointer), ("x", t.INT)]
    assert unit.address_taken == {"g"}
    assert dump_cfa(unit.functions[1].cfa).splitlines()[1:] == [
        "  0 -> 2  r = g",
        "  2 -> 3  s is declared",
        "  3 -> 4  y is declared",
        "  4 -> 5  $1 = r(1)",
        "  5 -> 6  $2 = declared(2)",
        "  6 -> 7  y = $1 + $2",
        "  7 -> 1  return y",
    ]


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("struct s { int a; struct s next; };", ["a"]),
        ("struct s { int a; struct { struct s two[3]; } in; union { struct s u; int b; }; };", ["a"]),
        ("struct t { struct s x; int y; }; struct s { int a; struct t t; };", ["a"]),
        ("struct t { struct s *x; int y; }; struct s { int a; struct t t; };", ["a", "t"]),
    ],
)
def test_no_record_holds_itself(text: str, left: list[str]) -> None:
    unit = unit_of(text + " struct s v = { 1 }; unsigned long f(struct s *p) { struct s q = *p; return sizeof q + q.a; }")
    assert [member.name for member in unit.records["struct s"].members] == left
    assert [function.cfa.name for function in unit.functions] == ["f"]
