"""Cleaning overwrites what the grammar lacks and moves nothing. It leaves literals as they are."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.frontend.syntax.cleaning import clean
from analysis.frontend.syntax.old_style import separate
from analysis.frontend.syntax.parser import parse, text_of
from analysis.model.limits import OPERAND_BYTES, OPERAND_LEVELS

PARTS = (
    b"__attribute__((|noreturn|))|(|)|{|}|;|\n|# 1 'a.h' 1\n|typeof(|va_arg(a,|case 1| ... |:|\"|'|\\|/*|*/|//|goto *|x| |f(a)"
    b"|int a;|[[|]]|_Static_assert(|offsetof(s, m)|__builtin_types_compatible_p(int,char)|unsigned :3;|register i;|_Atomic(int)"
    b"|\xff|typeof|goto *;|\n#pragma x\n".split(b"|")
)
PIECES = st.sampled_from(PARTS)


@given(st.one_of(st.binary(max_size=200), st.lists(PIECES, max_size=30).map(b"".join)))
def test_cleaning_keeps_length_and_newlines(text: bytes) -> None:
    cleaned = clean(text).text
    for result in (cleaned, separate(cleaned)[0], parse(text).text):
        assert len(result) == len(text)
        assert [i for i, byte in enumerate(result) if byte == 10] == [i for i, byte in enumerate(text) if byte == 10]


@given(st.lists(PIECES, max_size=20).map(b"".join))
def test_cleaning_only_overwrites_with_spaces_or_known_words(text: bytes) -> None:
    cleaned = clean(text).text
    changed = bytes(new for old, new in zip(text, cleaned, strict=True) if old != new)
    assert set(changed) <= set(b" int__type_offset")


CLOSED = [part for part in PARTS if part not in (b'"', b"\\")]
WORDS = st.lists(st.sampled_from([*CLOSED, b"extern f();", b"f(a) int a; {", b";;}", b"{int :3;", b'\\"']), max_size=6)


@given(st.lists(st.tuples(WORDS, st.sampled_from(b"int x;|f(|)|typeof(|case 1 ... |:|goto *|;|}|\n".split(b"|"))), max_size=5))
def test_literals_stay_what_they_are(parts: list[tuple[list[bytes], bytes]]) -> None:
    """Unless all of the literal is overwritten, as in an attribute."""
    text = b"".join(b'="' + b"".join(words).replace(b"\n", b"") + b'";' + code for words, code in parts)
    result = separate(clean(text).text)[0]
    for literal in re.finditer(rb'"(?:[^"\\\n]|\\.)*+"', text):
        if b'"' in result[literal.start() : literal.end()]:
            assert result[literal.start() : literal.end()] == literal.group()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('# 12 "f.h" 1 3\nint x;', "              \nint x;"),
        ("#pragma once\nint x;", "            \nint x;"),
        ("int f(void) __attribute__((format(printf, 1, (2)), unused));", "int f(void)" + " " * 48 + ";"),
        ("__extension__ typedef long x;", "              typedef long x;"),
        ("char *__restrict p;", "char *           p;"),
        ("static __inline__ int f(void);", "static inline     int f(void);"),
        ("__const char *p; __volatile__ int v;", "const   char *p; volatile     int v;"),
        ("__signed__ char c;", "signed     char c;"),
        ("_Thread_local int x;", "__thread      int x;"),
        ("_Atomic(int) x;", "_Atomic int  x;"),
        ('_Static_assert(sizeof(int) == 4, "a)b");int x;', " " * 40 + "int x;"),
        ("_Static_assert(" + "(" * 11 + "1" + ")" * 12 + ";int x;", " " * 40 + "int x;"),
        ('static_assert(1, "x"); my_static_assert(2);', " " * 22 + " my_static_assert(2);"),
        ("int x = a[b[1]]; [[maybe_unused]] int y;", "int x = a[b[1]];                  int y;"),
        ("typeof(\nint) x; __typeof__ (y)z;", "__type \n     x; __type        z;"),
        ("goto*p; goto *\np; goto *;", "goto _; goto  \n_; goto *;"),
        ("{ __label__ a, b; a:; }", "{                 a:; }"),
        ("struct s { unsigned :3; int :0; int b:2; };", "struct s { unsigned   ; int   ; int b:2; };"),
        ("{ register i; register char c; }", "{ int      i; register char c; }"),
        ("extern f(); extern g(a, b); extern T h(int); extern T (*p)(int);",
         "int    f(); int    g(a, b); extern T h(int); extern T (*p)(int);"),
        ("struct s { int a; ; };", "struct s { int a;   };"),
        ("int x; /* a\nb */ int y; // c", "int x;     \n     int y;     "),
        ('char *s = "__inline /* no */ __attribute__((x))";', 'char *s = "__inline /* no */ __attribute__((x))";'),
        *((f'char *s = "{word}";',) * 2 for word in ("goto *p;", "case 1 ... 5:", "a;;}", "{int :3;", "register x;")),
        *((f'char *s = "{word}";',) * 2 for word in ("extern f();", " typeof(x)", "f(va_arg(a, b))", "typeof(")),
        ("int x __attribute__((section(\"(\"))); int y;", "int x" + " " * 30 + "; int y;"),
        ("{ __label__ a\"b\"; }", "{ __label__ a\"b\"; }"),
        ("int my__inline, __inlined;", "int my__inline, __inlined;"),
        ("for (;;) ;", "for (;;) ;"),
    ],
)  # fmt: skip
def test_each_construct(text: str, expected: str) -> None:
    assert clean(text.encode()).text.decode() == expected


def test_widths_of_unnamed_bit_fields_are_kept() -> None:
    text = b"struct s { unsigned :3; int a; const int : N; };"
    assert parse(text).unnamed_bits == {text.index(b"unsigned"): b"3", text.index(b"const"): b"N"}


def test_attributes_are_kept_where_they_were() -> None:
    text = b"_Noreturn void f(void); int g(char *) __attribute__((nonnull(1)));"
    syntax = parse(text)
    assert [(text[a.start : a.end], a.text) for a in syntax.attributes] == [
        (b"_Noreturn", b"_Noreturn"),
        (b"__attribute__((nonnull(1)))", b"__attribute__((nonnull(1)))"),
    ]
    assert [a.text for a in syntax.attributes_in(24, len(text))] == [b"__attribute__((nonnull(1)))"]
    assert not syntax.errors


def test_operands_that_are_types_are_parsed_at_their_place() -> None:
    text = b"void f(void) { x = __builtin_va_arg(ap, struct s *); y = offsetof(struct s, a.b[2]); typeof(x[0]->b) z; }"
    syntax = parse(text)
    assert not syntax.errors
    va_arg, offsetof, typeof = text.index(b"__builtin_va_arg"), text.index(b"offsetof"), text.index(b"typeof")
    assert syntax.va_args[va_arg].type == "type_descriptor"
    assert text_of(syntax.va_args[va_arg]) == b"struct s *"
    assert syntax.va_args[va_arg].start_byte == text.index(b"struct s *")
    assert [text_of(node) for node in syntax.offsetofs[offsetof]] == [b"struct s", b"a.b[2]"]
    assert syntax.typeofs[typeof].type == "field_expression"
    assert syntax.typeofs[typeof].start_byte == text.index(b"x[0]")


def test_nested_operands() -> None:
    text = b"void f(void) { typeof(({ typeof(y) z = y; z; })) w; int k = __builtin_types_compatible_p(typeof(y), int); }"
    syntax = parse(text)
    assert not syntax.errors
    inner = text.index(b"typeof(y) z")
    assert text_of(syntax.typeofs[inner]) == b"y"
    assert text_of(syntax.typeofs[text.index(b"typeof")]).startswith(b"({ __type")
    assert [text_of(node) for node in syntax.compatibles[text.index(b"__builtin")]] == [b"__type", b"int"]


def test_case_ranges_and_computed_gotos() -> None:
    text = b"void f(int x) { switch (x) { case 'a' ... 'z': case 1 ... N + 1: ; } goto *table[x]; }"
    syntax = parse(text)
    assert not syntax.errors
    assert {at: text_of(node) for at, node in syntax.case_ends.items()} == {
        text.index(b"case 'a'"): b"'z'",
        text.index(b"case 1"): b"N + 1",
    }
    assert syntax.computed_gotos == {text.index(b"goto")}


@pytest.mark.parametrize(
    "text",
    [
        "void f(void) { __asm__ volatile (\"nop\" : \"=r\"(x) : \"r\"(y) : \"memory\"); }",
        "extern int f(void) __asm__ (\"\" \"g\") __attribute__ ((__nothrow__ , __leaf__));",
        "int f(int x) { int g(int a) { return a; } return ({ int y = g(x); y; }); }",
        "void f(void) { void *p = &&lab; lab: __attribute__((unused)); }",
        "int f(int x) { return _Generic((x), char *: 1, int: 3, default: 2); }",
        "unsigned __int128 x; _Complex double z; _Alignas(16) int a; ;",
        "[[noreturn]] void f(void);",
        "#define A 1\n#if A\nint x;\n#endif\n",
    ],
)  # fmt: skip
def test_gnu_forms_parse(text: str) -> None:
    assert parse(text.encode()).errors == []


def test_what_is_not_understood_is_an_error() -> None:
    assert parse(b"void f(void) { int = ; }").errors
    assert parse(b"int f( {").errors


def test_operators_that_are_too_deep_or_too_long_are_errors() -> None:
    for levels, fits in ((OPERAND_LEVELS, True), (OPERAND_LEVELS + 1, False)):
        assert (not parse(b"void f(int x) { " + b"typeof(" * levels + b"x" + b")" * levels + b" y; }").errors) == fits
    for length, fits in ((OPERAND_BYTES - 2, True), (OPERAND_BYTES, False)):
        assert (not parse(b"int x = sizeof(typeof(" + b"x" * length + b"));").errors) == fits


@pytest.mark.parametrize(
    ("text", "ordered"),
    [
        (b"unsigned const char a;", b"const unsigned char a;"),
        (b"long const  unsigned\tint y;", b"const long  unsigned\tint y;"),
        (b"unsigned static volatile short z;", b"static volatile unsigned short z;"),
        (b"int f(long register int x, short const *p);", b"int f(register long int x, short const *p);"),
        (b"unsigned long long const x;", b"unsigned long long const x;"),
        (b"const unsigned char *const volatile p;", b"const unsigned char *const volatile p;"),
        (b'char *s = "unsigned const char";', b'char *s = "unsigned const char";'),
        (b"myunsigned const char a; unsigned constant; unsigned\nconst int b;", None),
    ],
)
def test_specifiers_are_ordered(text: bytes, ordered: bytes | None) -> None:
    assert clean(text).text == (text if ordered is None else ordered)
