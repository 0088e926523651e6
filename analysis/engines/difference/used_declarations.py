"""Which declarations of a residual program are used: what only covered code used, or nothing did, is left out of its text.

Most of a small program's text comes from headers, and other verifiers read all of it. A declaration is used if `main`, or another
one that is used, has a word that it declares: a name, a tag or a constant. All declarations of a name stay or go together. Words
in strings count, and so does all text between declarations. What is not known to be needed for its names alone stays: attributes
other than plain ones, such as that of a function that runs before `main`, and all that declares nothing that is seen here.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from itertools import zip_longest
from typing import NamedTuple

from analysis.c.attributes import is_plain
from analysis.frontend.declarations.attribute_reading import attributes
from analysis.frontend.syntax.parser import Node, SyntaxTree, parse

_WORD = re.compile(rb"[A-Za-z_$][\w$]*")
_BETWEEN = re.compile(rb"(?:\s|^#[^\n]*)*", re.MULTILINE)
_MARKER = re.compile(rb"^#[ \t]*\d.*$", re.MULTILINE)
_RECORDS = frozenset(("struct_specifier", "union_specifier", "enum_specifier"))
_ITEMS = _RECORDS | {"declaration", "type_definition", "function_definition"}
_NAMED = frozenset(("identifier", "type_identifier"))


class _Item(NamedTuple):
    """A declaration at file level: where it is in the text, and what it declares."""

    start: int
    end: int
    names: Collection[bytes]


def with_used_alone(text: bytes, entries: Collection[bytes]) -> bytes:
    """The text without the declarations that nothing uses, from functions of these names on. Lines keep their numbers."""
    tree = parse(text)
    if tree.errors:
        return text
    items = [item for item in _items(tree, text) if item.names]
    used = _used(text, items, entries)
    pieces, at = [], 0
    for item in items:
        if item not in used:
            pieces += [text[at : item.start], b"\n" * text.count(b"\n", item.start, item.end)]
            at = item.end
    return b"".join((*pieces, text[at:]))


def _used(text: bytes, items: list[_Item], entries: Collection[bytes]) -> set[_Item]:
    declaring: dict[bytes, list[_Item]] = {}
    for item in items:
        for name in item.names:
            declaring.setdefault(name, []).append(item)
    used = set[_Item]()
    seen = {*entries, *_words_between(text, items)}
    waiting = list(seen)
    while waiting:
        for item in declaring.get(waiting.pop(), ()):
            if item not in used:
                used.add(item)
                more = set(_WORD.findall(text, item.start, item.end)) - seen
                seen |= more
                waiting += more
    return used


def _words_between(text: bytes, items: list[_Item]) -> Iterator[bytes]:
    at = 0
    for item in (*items, _Item(len(text), len(text), ())):
        yield from _WORD.findall(_MARKER.sub(b"", text[at : item.start]))
        at = item.end


def _items(tree: SyntaxTree, text: bytes) -> Iterator[_Item]:
    nodes, before = tree.root.children, 0
    for node, after in zip_longest(nodes, nodes[1:]):
        end = after.end_byte if node.type in _RECORDS and after is not None and after.type == ";" else node.end_byte
        if node.type in _ITEMS:
            begun = _BETWEEN.match(text, before)  # attributes stand before what the tree has
            start = node.start_byte if begun is None else min(begun.end(), node.start_byte)
            if _is_plain(tree, start, end):
                yield _Item(start, end, frozenset(_declared(node)))
        before = max(before, end)


def _is_plain(tree: SyntaxTree, start: int, end: int) -> bool:
    """Whether a declaration is needed for its names alone."""
    texts = [attribute.text for attribute in tree.attributes_in(start, end)]
    return all(is_plain(one) for one in attributes(texts))


def _declared(item: Node) -> Iterator[bytes]:
    """The names that a declaration gives to anything; none if one of them is not seen."""
    names = [_name(node) for node in item.children_by_field_name("declarator")]
    if None in names:
        return
    yield from (name for name in names if name is not None)
    yield from _tags(item)


def _name(node: Node | None) -> bytes | None:
    while node is not None and node.type not in _NAMED:
        node = node.child_by_field_name("declarator") or next((one for one in node.children if "declarator" in one.type), None)
    return None if node is None else node.text


def _tags(item: Node) -> Iterator[bytes]:
    """The tags that a declaration mentions, which may be where they are declared, and the constants of its enumerations."""
    waiting = [item]
    while waiting:
        node = waiting.pop()
        if node.type in _RECORDS or node.type == "enumerator":
            name = node.child_by_field_name("name")
            if name is not None and name.text is not None:
                yield name.text
        waiting += [child for child in node.children if child.type != "compound_statement"]
