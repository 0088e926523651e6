"""Attributes that change what a program means: they are understood, or nothing is said as if they were not there."""

from __future__ import annotations

import pytest

from analysis.frontend.file_level import UNSEEN
from analysis.frontend.types import Layout
from analysis.model.c_types import LP64, Record
from tests.support.explorations import program_of
from tests.support.lowered import edges_of


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
        'int a; extern int b __attribute__((alias("a")));',
    ],
)
def test_what_main_does_not_tell_is_noted(text: str) -> None:
    assert UNSEEN in program_of(f"{text} int main(void) {{ return 0; }}").externals


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
