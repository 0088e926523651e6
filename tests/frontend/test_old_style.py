"""Old-style definitions, with their declarations at their own offsets."""

import pytest

from analysis.frontend.syntax.parser import SyntaxTree, parse, text_of


def declarations(syntax: SyntaxTree) -> list[list[str]]:
    return [[text_of(node).decode() for node in nodes] for _, nodes in sorted(syntax.old_style.items())]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("char *f(a, b) char *a; int b; { return a; }", ["char *a;", "int b;"]),
        ("struct s *f(a, b)\n\tregister struct s *a;\n\tint (*b)();\n{\n}", ["register struct s *a;", "int (*b)();"]),
        ("static unsigned char **f(a) unsigned char a, *c[3]; { }", ["unsigned char a, *c[3];"]),
        ("void (*f(a))(int) int a; { }", ["int a;"]),
        ("int\nmain(argc, argv)\n\tint argc;\n\tchar **argv;\n{\n}", ["int argc;", "char **argv;"]),
        ("T *f(a) struct { int x; int y; } *a; { }", ["struct { int x; int y; } *a;"]),
    ],
)
def test_parameter_declarations(text: str, expected: list[str]) -> None:
    syntax = parse(text.encode())
    assert syntax.errors == []
    assert [node.type for node in syntax.root.named_children] == ["function_definition"]
    assert declarations(syntax) == [expected]
    ((parameters, nodes),) = syntax.old_style.items()
    assert text[parameters] == "("
    for node, declaration in zip(nodes, expected, strict=True):
        assert text[node.start_byte : node.end_byte] == declaration


def test_several_definitions() -> None:
    text = "\n".join(
        f"char *f{i}(a, b)\n\tchar *a;\n\tint b;\n{{\n\tif (b) return a; {{ g(a); }}\n\treturn 0;\n}}\n" for i in range(5)
    )
    syntax = parse(text.encode())
    assert syntax.errors == []
    assert declarations(syntax) == [["char *a;", "int b;"]] * 5


@pytest.mark.parametrize(
    "text",
    [
        "void f(int a) { if (a) return; { g(a); } }",
        "void f(int a) { while (a) g(a); { g(a); } }",
        "void f(int a) { g(a); { int a; h(a); } }",
        "int f(int a); struct s { int a; };",
    ],
)
def test_statements_are_not_declarations(text: str) -> None:
    syntax = parse(text.encode())
    assert syntax.old_style == {}
    assert syntax.text == text.encode()


@pytest.mark.parametrize(
    "text",
    [
        "    main() { }",
        "int x;\n\n\n\nf(a, b)\n{ return 1; }",
        "int x;   \nf(a) { return 1; }",
        "int f(int a) { }\n   \nstatic f(a) int a; { }",
    ],
)
def test_results_without_a_type(text: str) -> None:
    syntax = parse(text.encode())
    assert syntax.errors == []
    definition = syntax.root.named_children[-1]
    assert definition.type == "function_definition"
    assert text_of(definition).startswith(b"int ")
    assert syntax.text.count(b"\n") == text.count("\n")


def test_no_room_for_a_type_is_an_error() -> None:
    syntax = parse(b"int g(void) { return 1; }\nf(a) { return 1; }\nint h(void) { return 2; }\n")
    assert [node.has_error for node in syntax.root.named_children] == [False, True, False]
