"""Puts statements into a text, takes them out, and moves them, with the indentation and the braces of the text around.

What becomes more than one statement, and was the body of an `if` or of a loop, gets braces. Where statements share a line,
everything stays on that line.
"""

from __future__ import annotations

from collections.abc import Sequence

from analysis.fixes.source_text import SourceText, is_body, is_in_list, item_of, walk
from analysis.fixes.written_style import Braces, Style
from analysis.frontend.syntax.parser import Node
from analysis.model.text_changes import ByteChange

Changes = tuple[ByteChange, ...]
_LABELLED = frozenset(
    ("expression_statement", "if_statement", "for_statement", "while_statement", "return_statement", "goto_statement")
)
_MORE = "\t"  # in lines to be put in: one step further to the right
_PURE = frozenset(("identifier", "field_expression", "field_identifier", "number_literal", "null", "true", "false",
                   "parenthesized_expression", "binary_expression", "unary_expression", "char_literal", "character"))  # fmt: skip


def before(source: SourceText, style: Style, statement: Node, lines: Sequence[str]) -> Changes:
    """Puts lines before a statement. A line that begins with a tab is one step further to the right."""
    if is_body(statement) and statement.type != "compound_statement":
        return _in_braces(source, style, statement, lines)
    if not source.begins_line(statement):
        at = statement.start_byte
        return (ByteChange(at, at, _on_one_line(lines) + " "),)
    at = source.line_start(statement.start_byte)
    return (ByteChange(at, at, _block(lines, source.indent(at), style, source.line_break(at))),)


def after(source: SourceText, style: Style, statement: Node, lines: Sequence[str]) -> Changes | None:
    """Puts lines behind a statement of a list; None if it is in none."""
    if not is_in_list(statement):
        return None
    if not (source.begins_line(statement) and source.ends_line(statement.end_byte)):
        return (ByteChange(statement.end_byte, statement.end_byte, " " + _on_one_line(lines)),)
    at, indent = source.line_end(statement.end_byte), source.indent(statement.start_byte)
    end = source.line_break(at)
    return (ByteChange(at, at, end + _block(lines, indent, style, end)[: -len(end)]),)


def at_end(source: SourceText, style: Style, block: Node, lines: Sequence[str]) -> Changes:
    """Puts lines before the brace that ends a block."""
    brace = block.end_byte - 1
    line = source.line_start(brace)
    if source.data[line:brace].strip():
        return (ByteChange(brace, brace, _on_one_line(lines) + " "),)
    statements = [node for node in block.named_children if node.type != "comment" and source.begins_line(node)]
    indent = source.indent(statements[0].start_byte) if statements else source.indent(brace) + style.step
    return (ByteChange(line, line, _block(lines, indent, style, source.line_break(line))),)


def without(source: SourceText, statement: Node) -> Changes | None:
    """Takes a statement out, with its lines where it has them for itself; an `if` goes with its only statement if its condition
    does nothing. None where a statement has to be left."""
    parent = statement.parent
    if parent is not None and parent.type == "compound_statement" and is_body(parent) and parent.named_child_count == 1:
        return without(source, parent)
    if parent is not None and is_body(statement) and parent.type == "if_statement":
        return without(source, parent) if _can_go(parent) else None
    if not _is_needless(statement):
        return None
    if source.begins_line(statement) and source.ends_line(statement.end_byte):
        end = source.data.find(b"\n", statement.end_byte)
        return (ByteChange(source.line_start(statement.start_byte), len(source.data) if end < 0 else end + 1, ""),)
    end = statement.end_byte
    while source.data[end : end + 1] in (b" ", b"\t"):
        end += 1
    return (ByteChange(statement.start_byte, end, ""),)


def _can_go(conditional: Node) -> bool:
    """Whether an `if` whose only statement goes can go as well: its condition does nothing, and there is no `else`."""
    condition = conditional.child_by_field_name("condition")
    is_pure = condition is not None and all(node.type in _PURE for node in walk(condition))
    return is_pure and conditional.child_by_field_name("alternative") is None and is_in_list(conditional)


def _is_needless(statement: Node) -> bool:
    """Whether its list can do without a statement: its labels, if it has any, can be those of the next one."""
    item = item_of(statement)
    following = item.next_named_sibling
    return is_in_list(statement) and (item == statement or (following is not None and following.type in _LABELLED))


def guarded(source: SourceText, style: Style, statement: Node, condition: str) -> Changes | None:
    """Puts an expression statement below a condition. None where it does not have its lines for itself."""
    alone = source.begins_line(statement) and source.ends_line(statement.end_byte)
    one_line = b"\n" not in source.data[statement.start_byte : statement.end_byte]
    if not (alone and one_line and is_in_list(statement)):
        return None
    start, end = source.line_start(statement.start_byte), source.line_end(statement.end_byte)
    kept = source.data[statement.start_byte : end].decode("utf-8", "replace")
    lines = style.conditional(condition, kept)
    break_ = source.line_break(start)
    text = _block(lines, source.indent(start), style, break_)
    return (ByteChange(start, end, text[: -len(break_)]),)


def _in_braces(source: SourceText, style: Style, statement: Node, lines: Sequence[str]) -> Changes:
    """Gives a body braces, with lines before it."""
    head = statement.prev_sibling
    while head is not None and head.type == "comment":
        head = head.prev_sibling
    owner = statement.parent
    if head is None or owner is None or not source.begins_line(statement) or not source.ends_line(statement.end_byte):
        first, last = statement.start_byte, statement.end_byte
        return ByteChange(first, first, "{ " + _on_one_line(lines) + " "), ByteChange(last, last, " }")
    owner = owner if owner.type != "else_clause" or source.begins_line(owner) else owner.parent or owner
    outer, inner = source.indent(owner.start_byte), source.indent(statement.start_byte)
    break_ = source.line_break(head.end_byte)
    if style.braces is Braces.SAME_LINE:
        opening = ByteChange(head.end_byte, head.end_byte, " {")
    else:
        at = source.line_end(head.end_byte)
        opening = ByteChange(at, at, f"{break_}{outer}{style.brace_indent}{{")
    at = source.line_start(statement.start_byte)
    closing = source.line_end(statement.end_byte)
    return (
        opening,
        ByteChange(at, at, _block(lines, inner, style, break_)),
        ByteChange(closing, closing, f"{break_}{outer}{'' if style.braces is Braces.SAME_LINE else style.brace_indent}}}"),
    )


def _block(lines: Sequence[str], indent: str, style: Style, line_break: str) -> str:
    written = (indent + style.step * (len(line) - len(line.lstrip(_MORE))) + line.lstrip(_MORE) for line in lines)
    return "".join(line + line_break for line in written)


def _on_one_line(lines: Sequence[str]) -> str:
    return " ".join(line.strip() for line in lines)
