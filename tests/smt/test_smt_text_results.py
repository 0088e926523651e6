"""What functions of strings return, on paths that say what these hold: the same as this machine's C library."""

import ctypes

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.walked_paths import MODES, returned, status, walk
from support.walked_paths import program_of as linked

DECLARED = """
int strcmp(const char *, const char *); int strncmp(const char *, const char *, size_t);
int memcmp(const void *, const void *, size_t); size_t strlen(const char *);
size_t strspn(const char *, const char *); size_t strcspn(const char *, const char *);
char *strstr(const char *, const char *); char *strpbrk(const char *, const char *);
char *strchr(const char *, int); char *strrchr(const char *, int);
"""
C = ctypes.CDLL(None)
TEXTS = st.binary(max_size=5).map(lambda text: bytes(b"ab\xff\x80"[byte % 4] for byte in text))


def held(name, text, zeros=1):
    """The declaration of an array with this text."""
    values = ", ".join(f"(char){byte}" for byte in (*text, *[0] * zeros))
    return f"static char {name}[] = {{ {values} }};"


def sign(number):
    return (number > 0) - (number < 0)


@MODES
@given(one=TEXTS, other=TEXTS, size=st.integers(0, 6), name=st.sampled_from(["strcmp", "strncmp", "memcmp"]))
def test_comparisons_of_known_strings(mode, one, other, size, name):
    arguments, more = "a, b", ()
    if name != "strcmp":
        arguments, more = f"a, b, {size}", (ctypes.c_size_t(size),)
    program = DECLARED + held("a", one, 7) + held("b", other, 7)
    found = {}
    for answer, test in ((-1, "<"), (0, "=="), (1, ">")):
        text = f"{program} int f(void) {{ int r = {name}({arguments}); if (r {test} 0) return 1; return 0; }}"
        found[answer] = status(walk(linked(text), mode, branches="t"))
    oracle = sign(getattr(C, name)(one + bytes(7), other + bytes(7), *more))
    assert found == {answer: "sat" if answer == oracle else "unsat" for answer in (-1, 0, 1)}


@MODES
@given(one=TEXTS, other=TEXTS, name=st.sampled_from(["strspn", "strcspn", "strlen"]))
def test_lengths_of_known_strings(mode, one, other, name):
    arguments = ("a", "b")[: 1 if name == "strlen" else 2]
    text = f"{DECLARED} {held('a', one)} {held('b', other)} int f(void) {{ return {name}({', '.join(arguments)}); }}"
    assert returned(text, mode) == getattr(C, name)(*(one, other)[: len(arguments)])


@MODES
@given(one=TEXTS, other=TEXTS, name=st.sampled_from(["strstr", "strpbrk"]))
def test_searches_for_strings(mode, one, other, name):
    found = oracle(name, one, other)
    assert searched(mode, name, "b", one, other, found) == found


@MODES
@given(
    one=TEXTS, wanted=st.sampled_from([0, ord("a"), 255, -1, 256 + ord("b"), -128]), name=st.sampled_from(["strchr", "strrchr"])
)
def test_searches_for_characters(mode, one, wanted, name):
    found = oracle(name, one, wanted)
    assert searched(mode, name, str(wanted), one, b"", found) == found


def searched(mode, name, argument, one, other, found):
    """Where the function finds something if the formula says so; -1 where it finds nothing."""
    text = f"{DECLARED} {held('a', one)} {held('b', other)} long f(void) {{ char *r = {name}(a, {argument}); "
    return returned(f"{text} if (r == 0) return -1; return r - a; }}", mode, branches="t" if found == -1 else "f")


def oracle(name, one, wanted):
    text = ctypes.create_string_buffer(one)
    search = getattr(C, name)
    search.restype = ctypes.c_void_p
    found = search(text, wanted)
    return -1 if found is None else found - ctypes.addressof(text)


UNKNOWN = DECLARED + "static char a[8]; void fill(char *);"
OPEN = [
    # what a comparison that is taken says of bytes that were not known
    ('int f(void) { fill(a); if (strcmp(a, "GET") == 0) return a[1]; return 0; }', "t", ord("E")),
    ('int f(void) { fill(a); if (strncmp(a, "GET", 2) == 0) return a[1]; return 0; }', "t", ord("E")),
    ('int f(void) { fill(a); if (strncmp(a, "GET", 2) == 0) return a[2]; return 0; }', "t", None),
    ('int f(void) { fill(a); if (strcmp(a, "GET") != 0) return a[1]; return 0; }', "t", None),
    ('int f(void) { fill(a); if (memcmp(a, "G", 2) == 0) return a[1]; return 0; }', "t", 0),
    ("int f(void) { fill(a); return memcmp(a, a + 1, 0); }", "", 0),
    # what is not known is not said
    ('int f(void) { fill(a); return strcmp(a, "GET"); }', "", None),
    ("int f(void) { fill(a); return strlen(a); }", "", None),
    ('int f(char *p) { return strcmp(p, "GET"); }', "", None),
    ('int f(int n) { return strncmp("GET", "GO", n); }', "", None),
    ('int f(int n) { return strchr("GET", n) == 0; }', "", None),
    # the string has no end in its object
    ('static char b[2] = "ab"; int f(void) { return strlen(b); }', "", None),
    ('static char b[2] = "ab"; int f(void) { return strcmp(b, "ab"); }', "", None),
    # of different strings only the sign is specified (C11 7.24.4p1)
    ('int f(void) { return strcmp("a", "b"); }', "", None),
]


@MODES
@pytest.mark.parametrize(("text", "branches", "expected"), OPEN)
def test_of_unknown_bytes(mode, text, branches, expected):
    assert returned(UNKNOWN + text, mode, branches=branches) == expected


@MODES
def test_a_string_is_known_where_it_was_changed(mode):
    text = DECLARED + 'int f(void) { char a[] = "abc"; a[1] = 0; return strlen(a); }'
    assert returned(text, mode) == 1


@MODES
def test_a_function_of_the_program_is_not_the_library_s(mode):
    text = 'size_t strlen(const char *s) { return 7; } int f(void) { return strlen("abc"); }'
    assert returned(text, mode) == 7
