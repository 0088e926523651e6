"""The tree: errors, odd input, and parsing again after an edit."""

from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.frontend.syntax.parser import Node, child_of, parse, text_of

PROGRAM = b"""
struct s { int a; struct s *next; };
static int count;
char *find(list, key) struct s *list; int key;
{
    while (list && list->a != key)
        list = list->next;
    return (char *)list;
}
int main(int argc, char **argv)
{
    __typeof__(count) i = 0;
    for (i = 0; i < argc; i++) {
        switch (i) { case 1 ... 3: count++; break; default: goto out; }
    }
out:
    return find(0, count) != 0;
}
"""


def shape(node: Node) -> object:
    """All properties of a tree except its points."""
    return node.type, node.start_byte, node.end_byte, node.is_missing, [shape(child) for child in node.children]


PLACES = st.integers(0, len(PROGRAM) - 1)
EDITS = st.lists(
    st.tuples(PLACES, st.integers(0, 6), st.sampled_from([b"", b"x", b";", b" ", b"\n", b"a = b;", b"}", b"(", b"int k;"])),
    max_size=6,
)


@settings(deadline=None)
@given(EDITS)
def test_parsing_after_edits_gives_what_parsing_from_scratch_gives(edits: list[tuple[int, int, bytes]]) -> None:
    text = PROGRAM
    syntax = parse(text)
    for at, removed, added in edits:
        text = text[:at] + added + text[at + removed :]
        syntax = parse(text, syntax)
        fresh = parse(text)
        assert shape(syntax.root) == shape(fresh.root)
        assert (syntax.text, syntax.errors) == (fresh.text, fresh.errors)
        assert syntax.old_style.keys() == fresh.old_style.keys()
        assert syntax.case_ends.keys() == fresh.case_ends.keys()
        assert syntax.typeofs.keys() == fresh.typeofs.keys()


def test_the_program_of_these_tests_parses() -> None:
    syntax = parse(PROGRAM)
    assert syntax.errors == []
    assert [len(nodes) for nodes in syntax.old_style.values()] == [2]
    assert (len(syntax.typeofs), len(syntax.case_ends)) == (1, 1)


def test_errors_are_where_they_are() -> None:
    text = b"int a;\nint f(void) { return 1 }\nint g(void) { return +; }\nint h(void) { return 0; }\n"
    syntax = parse(text)
    assert syntax.errors
    definitions = [node for node in syntax.root.named_children if node.type == "function_definition"]
    whole = [node for node in definitions if not node.has_error]
    assert [text_of(node) for node in whole] == [b"int h(void) { return 0; }"]
    assert all(text.index(b"int f") < start <= end < text.index(b"int h") for start, end in syntax.errors)


def test_fields_and_text() -> None:
    (definition,) = parse(b"int f(void) { return 0; }").root.named_children
    declarator = child_of(definition, "declarator")
    assert declarator is not None
    assert text_of(declarator) == b"f(void)"
    assert child_of(definition, "no_such_field") is None


@settings(deadline=None)
@given(st.binary(max_size=300))
def test_any_bytes_can_be_parsed(text: bytes) -> None:
    assert len(parse(text).text) == len(text)


def test_deep_nesting() -> None:
    depth = 20_000
    assert parse(b"int x = " + b"(" * depth + b"1" + b")" * depth + b";").errors == []
    assert parse(b"void f(void) {" + b"{" * depth + b"}" * depth + b"}").errors == []
    assert parse(b"int x = " + b"(" * depth).errors
