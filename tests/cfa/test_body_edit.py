"""An edit inside one body: the unit is the one that parsing the whole text gives, and what does not parse stays alone."""

from __future__ import annotations

import re

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from analysis.cfa.building.body_edit import edit_body
from analysis.cfa.building.unit import Unit, build_unit
from analysis.frontend.syntax.parser import parse
from analysis.frontend.text.blanks import changes_no_token
from analysis.frontend.text.difference import difference
from analysis.model.c_types import LP64
from analysis.model.limits import Limits
from analysis.model.report import Count

TOKENS = re.compile(rb"""(?m:^)#[^\n]*|"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?|\w+|->|\+\+|--|&&|\S""")
TEXT = b"""\
# 1 "a.c"
struct item { int count; struct item *next; };
typedef struct item item;
static int total;
void *malloc(unsigned long size);




main(argc, argv)
    int argc;
    char **argv;
{
    static int calls;
    calls++;
    return run(argv[1]) + argc;
}
# 20 "a.c"
static item *make(int count)
{
    item *made = malloc(sizeof(item));
    if (made == 0) { return 0; }
    made->count = count;
    for (int i = 0; i < count; i++) { total += i; }
    return made;
}
int run(char *text)
{
    item *first = make(text[0]);
    goto out;
out:
    { struct local { int x; } here = { 1 }; total = here.x; }
    return first->count;
}
static int (*chosen)(char *) = run;
"""
PIECES = (
    b"",
    b" ",
    b"\n",
    b"x",
    b";",
    b"{",
    b"}",
    b"(",
    b"total = 1;",
    b"if (total) return 0;",
    b"run(0);",
    b'"',
    b"'",
    b'\n# 7 "a.c"\n',
)
PATH = "a.c"


def whole(text: bytes, previous: Unit | None = None) -> Unit:
    return build_unit(PATH, parse(text), LP64, previous)


BEFORE = whole(TEXT)  # before any test: it raises Python's recursion limit
TYPED = TEXT.replace(b"main(argc", b"int main(argc")  # a type that is not written begins in the white space before
BEFORE_TYPED = whole(TYPED)


def answers(unit: Unit) -> object:
    """All that a unit says, but for the revisions behind it."""
    functions = [
        (
            f.cfa.name,
            f.cfa.digest,
            f.cfa.edges,
            f.source,
            f.text_key,
            f.used,
            f.statics,
            f.implicit,
            f.externs,
            f.records,
            f.address_taken,
        )
        for f in unit.functions
    ]
    return functions, unit.variables, unit.externals, unit.records, unit.address_taken


def replaced(text: bytes, start: int, length: int, by: bytes) -> bytes:
    return text[:start] + by + text[start + length :]


@given(st.integers(0, len(TEXT)), st.integers(0, 12), st.sampled_from(PIECES))
@example(TEXT.index(b"calls++"), 0, b"} int other(void) {")
@example(TEXT.index(b"}\nstatic int (*"), 1, b"")
@example(TEXT.index(b"*next"), 1, b"")  # a record that would hold itself
def test_one_edit(start: int, length: int, piece: bytes) -> None:
    before, text = BEFORE, replaced(TEXT, start, length, piece)
    edit = edit_body(before, (), TEXT, text, Limits())
    expected = whole(text, before)
    if edit is None:
        return
    if not edit.slots:
        assert not parse(text).errors
        assert answers(edit.unit) == answers(expected)
        assert edit.unit.work == expected.work
    else:
        (slot,) = edit.slots
        assert parse(text).errors
        assert [f.cfa.name for f in edit.unit.functions] == [f.cfa.name for f in before.functions if f.cfa.name != slot.name]
        assert all(any(f.cfa is old.cfa for old in before.functions) for f in edit.unit.functions)
        assert text[slot.body : slot.body + 1] == b"{"
        assert [b.name for b in edit.unit.broken] == [slot.name.rpartition("::")[2]]


@given(st.integers(0, len(TYPED)), st.integers(0, 3), st.sampled_from([b"", b" ", b"\n", b"\n\t ", b'\n# 12 "a.c"\n']))
@example(TYPED.index(b"run(argv") - 1, 1, b"  ")
@example(TYPED.index(b"run("), 0, b"\n")
def test_an_edit_of_white_space_moves_places_alone(start: int, length: int, piece: bytes) -> None:
    text = replaced(TYPED, start, length, piece)
    change = difference(TYPED, text)
    edit = edit_body(BEFORE_TYPED, (), TYPED, text, Limits(), change)
    if edit is None or not changes_no_token(TYPED, text, change):
        return
    assert all(new.cfa is old.cfa for new, old in zip(edit.unit.functions, BEFORE_TYPED.functions, strict=True))
    assert edit.unit.work == Count(reused=len(BEFORE_TYPED.functions))
    expected = whole(text, BEFORE_TYPED)
    assert not expected.broken
    assert answers(_without_keys(edit.unit)) == answers(_without_keys(expected))


def _without_keys(unit: Unit) -> Unit:
    """The unit without the digests of its functions' texts, white space included."""
    return msgspec.structs.replace(unit, functions=tuple(msgspec.structs.replace(f, text_key="") for f in unit.functions))


@given(st.text("ab+-&/*'\"# \n;(", max_size=14), st.integers(0, 13), st.integers(0, 3), st.text(" \n", max_size=2))
def test_where_white_space_changes_no_token_the_tokens_are_the_same(text: str, start: int, length: int, typed: str) -> None:
    old = text.encode()
    new = replaced(old, min(start, len(old)), length, typed.encode())
    if changes_no_token(old, new, difference(old, new)):
        assert TOKENS.findall(old) == TOKENS.findall(new)


@given(st.lists(st.tuples(st.integers(0, 500), st.integers(0, 6), st.sampled_from(PIECES)), min_size=2, max_size=8))
def test_a_chain_of_edits_and_back(edits: list[tuple[int, int, bytes]]) -> None:
    """Whatever is typed into bodies: when the text is again what it was, so is the unit."""
    unit, slots, text = whole(TEXT), (), TEXT
    texts = [TEXT]
    for place, length, piece in edits:
        after = replaced(text, min(place, len(text)), length, piece)
        edit = edit_body(unit, slots, text, after, Limits())
        if edit is not None:
            unit, slots, text = edit.unit, edit.slots, after
            texts.append(text)
            for function in unit.functions:
                source = function.source
                assert text[source.start + source.end_site.start : source.start + source.end_site.end] == b"}"
    for earlier in reversed(texts[:-1]):
        edit = edit_body(unit, slots, text, earlier, Limits())
        if edit is None:  # two edits in one place can look like one outside of it
            return
        unit, slots, text = edit.unit, edit.slots, earlier
    if not slots:
        assert answers(unit) == answers(msgspec.structs.replace(whole(TEXT, unit)))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"int run(char *text)", b"int run(char *name)"),  # the head
        (b"int argc;", b"long argc;"),  # a parameter's declaration
        (b"calls++;\n", b"calls++; }\nint other(void) {\n"),  # two functions now
        (b"static int total;", b"static long total;"),
        (b"struct item *next;", b"struct item *prev;"),
    ],
)
def test_more_than_a_body(old: bytes, new: bytes) -> None:
    assert edit_body(whole(TEXT), (), TEXT, TEXT.replace(old, new, 1), Limits()) is None


def test_a_missing_brace_breaks_its_function_alone() -> None:
    before = whole(TEXT)
    text = TEXT.replace(b"if (made == 0) { return 0; }", b"if (made == 0) { return 0;")
    edit = edit_body(before, (), TEXT, text, Limits())
    assert edit is not None
    assert [f.cfa.name for f in edit.unit.functions] == ["main", "run"]
    assert [slot.name for slot in edit.slots] == ["a.c::make"]
    again = edit_body(edit.unit, edit.slots, text, text.replace(b"return 0;", b"return 0; }", 1), Limits())
    assert again is not None
    assert not again.slots
    assert [(f.cfa.name, f.cfa.edges) for f in again.unit.functions] == [(f.cfa.name, f.cfa.edges) for f in before.functions]


def test_two_broken_functions() -> None:
    text = TEXT.replace(b"calls++;", b"calls++")
    one = edit_body(whole(TEXT), (), TEXT, text, Limits())
    assert one is not None
    both = text.replace(b"goto out;", b"goto out")
    two = edit_body(one.unit, one.slots, text, both, Limits())
    assert two is not None
    assert {slot.name for slot in two.slots} == {"main", "run"}
    assert [f.cfa.name for f in two.unit.functions] == ["a.c::make"]
    back = edit_body(two.unit, two.slots, both, both.replace(b"calls++", b"calls++;"), Limits())
    assert back is not None
    assert [slot.name for slot in back.slots] == ["run"]


def test_a_line_more_changes_line_markers_too() -> None:
    text = TEXT.replace(b"calls++;\n", b"calls++;\n\n").replace(b"# 20", b"# 21")
    edit = edit_body(whole(TEXT), (), TEXT, text, Limits())
    assert edit is not None
    assert answers(edit.unit) == answers(whole(text, whole(TEXT)))


def test_numbers_of_lines_behind_the_name_of_the_file_are_no_edit() -> None:
    old = TEXT.replace(b"int run(char *text)\n{\n", b'int run(char *text)\n{\n    check(text, "src/a.c",33);\n')
    new = old.replace(b"calls++;\n", b"calls++;\n    ;\n").replace(b'"src/a.c",33', b'"src/a.c",34')
    edit = edit_body(whole(old), (), old, new, Limits())
    assert edit is not None
    assert edit.unit.work.recomputed == 1
    digests = {function.cfa.name: function.cfa.digest for function in edit.unit.functions}
    assert digests == {function.cfa.name: function.cfa.digest for function in whole(new).functions}
    elsewhere = new.replace(b'"src/a.c",34', b'"src/b.c",35')
    assert edit_body(whole(old), (), old, elsewhere, Limits()) is None
