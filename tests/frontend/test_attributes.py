"""Attributes that change what a program means: they are understood, or nothing is said as if they were not there."""

from __future__ import annotations

import pytest

from analysis.c.layout import Layout
from analysis.cfa.building.body_edit import edit_body
from analysis.frontend.declarations.file_level import UNSEEN
from analysis.model.c_types import LP64, Record
from analysis.model.limits import Limits
from tests.support.explorations import program_of
from tests.support.lowered import edges_of, unit_of


@pytest.mark.parametrize(
    ("text", "size", "start"),
    [
        ("struct s { char c; int i; };", 8, 4),
        ("struct __attribute__((packed)) s { char c; int i; };", 5, 1),
        ("struct s { char c; int i; } __attribute__((packed));", 5, 1),
        ("struct s { char c; int i; } __attribute__((unused, __packed__)) v;", 5, 1),
        ("struct s { unsigned a : 3, b : 31; int i; } __attribute__((packed));", 9, 5),
        ("struct s { char c; int i; }; __attribute__((unused)) static int packed;", 8, 4),
        ("struct s { char c; int i; }; struct t { int j; } __attribute__((packed));", 8, 4),
    ],
)
def test_a_packed_record_has_no_padding(text: str, size: int, start: int) -> None:
    """The sizes and offsets are gcc's."""
    layout = Layout(LP64, program_of(text).records.get)
    record = Record("struct", "struct s")
    assert (layout.size(record), layout.offset(record, "i")) == (size, start)


@pytest.mark.parametrize(
    "text",
    [
        "__attribute__((constructor)) static void first(void) { }",
        "static void first(void) __attribute__((constructor(101))); static void first(void) { }",
        "__attribute__((__destructor__)) void last(void) { }",
    ],
)
def test_calls_that_main_does_not_show_are_noted(text: str) -> None:
    assert UNSEEN in program_of(f"{text} int main(void) {{ return 0; }}").externals


@pytest.mark.parametrize(
    "text",
    [
        "struct s { int i __attribute__((aligned(N))); };",
        "struct __attribute__((aligned(4), aligned(2))) s { int i; };",
        "struct s { int a, i __attribute__((packed)); };",
        "struct s { unsigned a : 3 __attribute__((aligned(8))); int i; };",
        'struct __attribute__((scalar_storage_order("big-endian"))) s { int i; };',
        "typedef int wide __attribute__((aligned(16))); typedef wide other; struct s { other i; };",
        "#pragma pack(N)\nstruct s { int i; };\n#pragma pack()\n",
        "struct t { int j __attribute__((aligned(N))); }; struct s { int i; struct t inner[2]; };",
    ],
)
def test_what_is_not_understood_has_no_layout(text: str) -> None:
    layout = Layout(LP64, program_of(f"{text} struct other {{ int i; }};").records.get)
    record = Record("struct", "struct s")
    assert (layout.size(record), layout.offset(record, "i")) == (None, None)
    assert layout.size(Record("struct", "struct other")) == 4


def test_records_of_functions_are_between_pragmas_after_an_edit() -> None:
    text = "#pragma pack(1)\nint f(void) { struct s { char c; int i; }; return sizeof(struct s) + 1; }\n"
    old, new = text.encode(), text.replace("+ 1", "+ 2").encode()
    assert edit_body(unit_of(text), (), old, new, Limits()) is None
    assert edges_of(text) == "0 -> 1  return 6"


@pytest.mark.parametrize(
    ("before", "after", "sizes"),
    [
        ("#pragma pack(1)\nstruct s { char c; int i; };", "#pragma pack(2)\nstruct s { char c; int i; };", (5, 6)),
        ("#pragma pack(1)\nstruct s { char c; int i; };", "struct s { char c; int i; };\n#pragma pack(1)", (5, 8)),
        (
            "struct s { char c; int i; } __attribute__((packed)); int g;",
            "struct s { char c; int i; }; int g __attribute__((packed));",
            (5, 8),
        ),
    ],
)
def test_an_edit_of_what_says_the_layout_is_noticed(before: str, after: str, sizes: tuple[int, int]) -> None:
    text = "\n{}\nint f(void) {{ return sizeof(struct s); }}\n"
    old = unit_of(text.format(before))
    new = unit_of(text.format(after), previous=old)
    found = [str(unit.functions[0].cfa.edges[0].effect) for unit in (old, new)]
    assert [f"value={size}," in effect for size, effect in zip(sizes, found, strict=True)] == [True, True]


def test_a_function_is_lowered_again_under_another_pragma() -> None:
    text = "#pragma pack({})\nint f(void) {{ struct s {{ char c; int i; }}; return sizeof(struct s); }}\n"
    old = unit_of(text.format(1))
    assert unit_of(text.format(2), previous=old).functions[0].cfa.digest != old.functions[0].cfa.digest


def test_other_attributes_are_not_noted() -> None:
    text = "__attribute__((noreturn)) void end(void); typedef int word __attribute__((may_alias)); int constructor(int alias);"
    assert UNSEEN not in program_of(f"{text} int main(void) {{ return 0; }}").externals


def test_cleanup_is_not_modelled() -> None:
    text = (
        "void end(int *); int f(void) { __attribute__((cleanup(end))) int x = 1; __attribute__((unused)) int y = 2; return x; }"
    )
    assert edges_of(text).count("cleanup") == 1


def test_sizeof_that_is_evaluated_is_not_modelled() -> None:
    assert "side effects" in edges_of("unsigned long f(int n) { return sizeof(int[n--]); }")
    assert "side effects" not in edges_of("unsigned long f(int n) { int a[n]; return sizeof(a) + sizeof(n++); }")


def test_what_violates_a_rule_in_elements_of_vectors_is_not_supported() -> None:
    unit = unit_of(
        "typedef int v4 __attribute__((__vector_size__(16)));"
        "v4 all(v4 a) { return a & a; } v4 twice(v4 a) { return a + a; } v4 half(v4 a) { return a >> 1; }"
        "v4 other(v4 a) { return -a; } v4 more(v4 a) { a++; return a; } v4 ratio(v4 a) { a /= a; return a; }"
        "int first(v4 *p) { return (*p)[0]; } int none(void) { return 1; }"
    )
    assert not unit.broken
    assert {f.cfa.name for f in unit.functions if not f.cfa.unsupported} == {"all", "none"}
