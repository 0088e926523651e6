"""A variable that is read before it has a value: give it zero where it is declared."""

from __future__ import annotations

import re
from collections.abc import Iterator

from analysis.fixes.asked_finding import AskedFinding, Family
from analysis.fixes.source_text import walk
from analysis.frontend.syntax.parser import Node
from analysis.model.text_changes import ByteChange

_READ = re.compile(r"(?:^|: |`)([A-Za-z_]\w*)(?:[.\[][^ ]*)?`? is read before it has a value")
_STORAGE = frozenset(("extern", "typedef", "static"))


def candidates(asked: AskedFinding) -> Iterator[Family]:
    """Initialises the last declaration of that name before the finding."""
    read = _READ.findall(asked.finding.message)
    if not read or asked.function is None:
        return
    start = asked.statement.start_byte if asked.statement is not None else asked.function.end_byte
    declared = [one for node in walk(asked.function) if node.type == "declaration" for one in _declarators(asked, node)]
    named = [one for one in declared if one.start_byte < start and _name(one) == read[-1]]
    if named and asked.source.is_plain(named[-1].parent or named[-1]):
        value = _zero(asked, named[-1])
        at = named[-1].end_byte
        yield [(f"initialise `{read[-1]}` with {value}", (ByteChange(at, at, f" = {value}"),))]


def _declarators(asked: AskedFinding, declaration: Node) -> list[Node]:
    """What a declaration declares, without an initialiser."""
    if any(one.type == "storage_class_specifier" and asked.source.text(one) in _STORAGE for one in declaration.named_children):
        return []
    return [one for one in declaration.children_by_field_name("declarator") if one.type != "init_declarator"]


def _name(declarator: Node) -> str:
    names = [node for node in walk(declarator) if node.type == "identifier"]
    is_function = any(node.type == "function_declarator" for node in walk(declarator))
    return names[0].text.decode() if names and names[0].text is not None and not is_function else ""


def _zero(asked: AskedFinding, declarator: Node) -> str:
    if declarator.type == "pointer_declarator":
        return "NULL" if b"NULL" in asked.source.data else "0"
    if declarator.type == "array_declarator":
        return "{0}"
    declaration = declarator.parent
    declared = None if declaration is None else declaration.child_by_field_name("type")
    is_record = declared is not None and declared.type in ("struct_specifier", "union_specifier")
    return "{0}" if is_record else "0"
