"""The text of a file as it is written, with its syntax tree: statements, the blocks that they are in, their indentation.

The text is parsed without preprocessing, so that each node is text that a person can change.
"""

from __future__ import annotations

from collections.abc import Iterator

from analysis.frontend.syntax.parser import Node, parse
from analysis.model.places import Range
from analysis.model.text_changes import offset_of

BLOCKS = frozenset(("compound_statement", "case_statement"))
"""Nodes that hold a list of statements."""
_BODY_OF = frozenset(("if_statement", "else_clause", "while_statement", "for_statement", "do_statement"))
_AROUND = frozenset((*BLOCKS, *_BODY_OF, "switch_statement", "labeled_statement"))
"""What may be around a statement that is changed. Directives are not among them."""
_LEAVES = frozenset(("return_statement", "goto_statement", "break_statement", "continue_statement"))
STATEMENTS = frozenset((*_BODY_OF, *_LEAVES, "compound_statement", "switch_statement", "expression_statement", "declaration")) - {
    "else_clause"
}
JUMPS = frozenset((*_LEAVES, "labeled_statement", "case_statement"))
"""What control enters or leaves a list of statements by."""


class SourceText:
    """A text in UTF-8 as `data`."""

    def __init__(self, text: str) -> None:
        self.data = text.encode("utf-8", "surrogatepass")
        self._syntax = parse(self.data)
        self.root = self._syntax.root

    def text(self, node: Node) -> str:
        """What is written there."""
        return self.data[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def function_around(self, node: Node | None) -> Node | None:
        """The definition of the function that a node is in; None outside of functions, and where it does not parse."""
        while node is not None and node.type != "function_definition":
            node = node.parent
        if node is None or any(start < node.end_byte and end >= node.start_byte for start, end in self._syntax.errors):
            return None
        return node

    def at(self, place: Range) -> Node | None:
        """The smallest node that a range is in."""
        start, end = offset_of(self.data, place.start), offset_of(self.data, place.end)
        return self.root.descendant_for_byte_range(start, max(start, end - 1))

    def statement_at(self, place: Range) -> Node | None:
        """The statement that a range is in, which can be changed: only blocks and bodies of statements are around it."""
        node = self.at(place)
        while node is not None and not (node.type in STATEMENTS and is_in_list_or_body(node)):
            node = node.parent
        return node if node is not None and self.is_plain(node) else None

    def is_plain(self, node: Node) -> bool:
        """Whether all that is around a node up to its function is understood, and none of its lines is continued."""
        function = self.function_around(node)
        around = node.parent
        while around is not None and around != function:
            if around.type not in _AROUND:
                return False
            around = around.parent
        first, last = self.line_start(node.start_byte), self.line_end(node.end_byte)
        before = self.data[self.line_start(max(0, first - 1)) : first]
        lines = (before + self.data[first:last]).splitlines()
        return function is not None and not any(line.rstrip().endswith(b"\\") for line in lines)

    def line_start(self, offset: int) -> int:
        """Where the line of a byte begins."""
        return self.data.rfind(b"\n", 0, offset) + 1

    def line_end(self, offset: int) -> int:
        """Where the line of a byte ends, before what ends it."""
        end = self.data.find(b"\n", offset)
        end = len(self.data) if end < 0 else end
        return end - 1 if end > 0 and self.data[end - 1 : end] == b"\r" and end - 1 >= offset else end

    def line_break(self, offset: int) -> str:
        """How the line of a byte ends: as the first one does if it is the last."""
        end = self.data.find(b"\n", offset)
        if end < 0:
            end = self.data.find(b"\n")
        return "\r\n" if end > 0 and self.data[end - 1 : end] == b"\r" else "\n"

    def indent(self, offset: int) -> str:
        """The white space that the line of a byte begins with."""
        line = self.data[self.line_start(offset) : self.line_end(offset)]
        return line[: len(line) - len(line.lstrip(b" \t"))].decode()

    def begins_line(self, node: Node) -> bool:
        """Whether nothing but white space is before a node on its line."""
        return not self.data[self.line_start(node.start_byte) : node.start_byte].strip()

    def ends_line(self, offset: int) -> bool:
        """Whether nothing but white space and one comment follows on the line of a byte."""
        rest = self.data[offset : self.line_end(offset)].strip()
        is_comment = rest.startswith(b"/*") and rest.endswith(b"*/") and rest.count(b"*/") == 1
        return not rest or rest.startswith(b"//") or is_comment


def is_in_list_or_body(node: Node) -> bool:
    """Whether a node is an element of a list of statements, or the body of a statement; not a part of the head of one."""
    parent = node.parent
    if parent is None or parent.type in BLOCKS or parent.type == "labeled_statement":
        return parent is not None
    return is_body(node)


def item_of(node: Node) -> Node:
    """What a statement is in its list: with its labels."""
    while node.parent is not None and node.parent.type == "labeled_statement":
        node = node.parent
    return node


def is_in_list(node: Node) -> bool:
    """Whether a statement, with its labels, is an element of a list of statements."""
    around = item_of(node).parent
    return around is not None and around.type in BLOCKS


def is_body(node: Node) -> bool:
    """Whether a node is the body of an `if`, `else` or loop."""
    parent = node.parent
    if parent is None or parent.type not in _BODY_OF:
        return False
    if parent.type == "else_clause":
        return node.type != "if_statement" and node == parent.named_children[-1]
    return node in (parent.child_by_field_name("consequence"), parent.child_by_field_name("body"))


def walk(node: Node) -> Iterator[Node]:
    """A node and all below it, in the order of the text."""
    waiting = [node]
    while waiting:
        one = waiting.pop()
        yield one
        waiting.extend(reversed(one.named_children))


def called_name(node: Node) -> str:
    """The name of the function that an expression statement, or a call, calls; empty if it is none, or by a pointer."""
    if node.type == "expression_statement" and node.named_children:
        node = node.named_children[0]
    called = node.child_by_field_name("function") if node.type == "call_expression" else None
    return called.text.decode() if called is not None and called.type == "identifier" and called.text else ""


def arguments(node: Node, source: SourceText) -> tuple[str, ...]:
    """What is passed in the call that an expression statement is, as it is written."""
    if node.type == "expression_statement" and node.named_children:
        node = node.named_children[0]
    found = node.child_by_field_name("arguments") if node.type == "call_expression" else None
    return () if found is None else tuple(source.text(one) for one in found.named_children if one.type != "comment")
