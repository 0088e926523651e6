"""Questions about the syntax tree of a C file as it is written, for `benchmarks.recall_sites`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from analysis.frontend.syntax.parser import Node

_CAST = re.compile(r"^\([\w\s*]+\)\s*(?=[\w(*])")
_JUMPS = frozenset({"return_statement", "goto_statement", "break_statement", "continue_statement"})
LAST = re.compile(r"^(exit|_exit|abort)$")


class Source:
    """A C file's text, and what is written where."""

    def __init__(self, text: bytes) -> None:
        self.text = text

    def of(self, node: Node) -> str:
        """What is written there, with single blanks."""
        return " ".join(self.text[node.start_byte : node.end_byte].decode("utf-8", "replace").split())

    def line(self, node: Node) -> int:
        """The line where it begins, from 1."""
        return self.text.count(b"\n", 0, node.start_byte) + 1


def below(node: Node) -> Iterator[Node]:
    """The node and all below it, in the order of the text."""
    yield node
    for child in node.named_children:
        yield from below(child)


def functions(root: Node) -> Iterator[Node]:
    """The definitions of functions without anything that does not parse."""
    for node in below(root):
        if node.type == "function_definition" and not node.has_error:
            yield node


def name_of(function: Node, source: Source) -> str:
    """The name that a definition gives its function."""
    node = function.child_by_field_name("declarator")
    while node is not None and node.type != "identifier":
        node = node.child_by_field_name("declarator") or next((c for c in node.named_children if "declarator" in c.type), None)
    return "" if node is None else source.of(node)


def called(node: Node | None, source: Source) -> str:
    """The name of the function that an expression calls, through casts and parentheses; empty if it is none."""
    while node is not None and node.type in ("cast_expression", "parenthesized_expression"):
        node = node.child_by_field_name("value") or (node.named_children[0] if node.named_children else None)
    if node is None or node.type != "call_expression":
        return ""
    function = node.child_by_field_name("function")
    return source.of(function) if function is not None and function.type == "identifier" else ""


def argument(call: Node, source: Source) -> str:
    """The only argument of a call, without casts; empty if there are others."""
    arguments = call.child_by_field_name("arguments")
    given = [] if arguments is None else arguments.named_children
    return _CAST.sub("", source.of(given[0])) if len(given) == 1 else ""


def is_place(text: str) -> bool:
    """Whether it names a variable or a member: nothing is called or counted in it."""
    return re.fullmatch(r"\*?[A-Za-z_]\w*(?:(?:->|\.)\w+|\[\w+\])*", text) is not None and text != "NULL"


def leaves(statement: Node | None, source: Source) -> bool:
    """Whether control does not go on behind a statement, as its last part shows."""
    if statement is None:
        return False
    if statement.type in _JUMPS:
        return True
    if statement.type == "compound_statement":
        parts = [child for child in statement.named_children if child.type != "comment"]
        return bool(parts) and leaves(parts[-1], source)
    if statement.type == "expression_statement" and statement.named_children:
        return LAST.match(called(statement.named_children[0], source)) is not None
    return False


def has_directives(node: Node) -> bool:
    """Whether a preprocessor's directive lies in it."""
    return any(inner.type.startswith("preproc") for inner in below(node))


def mentions(text: str, place: str) -> bool:
    """Whether a place is written in a text."""
    return re.search(rf"(?<![\w.>]){re.escape(place)}(?!\w)", text) is not None


def assigns(text: str, place: str) -> bool:
    """Whether a text gives a place, or the variable it begins with, another value."""
    base = re.match(r"\*?\w*", place)
    names = {place, base.group().lstrip("*") if base is not None else place}
    return any(re.search(rf"(?<![\w.>]){re.escape(name)}\s*(?:=(?!=)|\+\+|--|[-+]=)", text) for name in names)


def dereferences(text: str, place: str) -> bool:
    """Whether what a pointer points to is read or written in a text."""
    name = re.escape(place)
    return re.search(rf"(?<![\w.>]){name}\s*(?:->|\[)|(?<![\w)\]])\s?\*\s?{name}(?!\w)", text) is not None
