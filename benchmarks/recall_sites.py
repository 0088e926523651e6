"""Places in real functions where a defect can be seeded, and the seeded text.

Sites are found in the syntax tree of the file as it is written (`analysis.frontend.syntax.parser`). Each of the operators makes
one change:

- `null-check`: a test of a pointer that a function of the project gave, or that memory holds, is removed;
- `unchecked`: the same for the result of a function of the library: malloc, fopen, strchr and their like;
- `dropped`: a call that frees or closes is removed;
- `twice`: a call that frees or closes is made again, at once or behind some of the next statements of its block;
- `after`: a call that frees goes before the last statement of its block that uses what it frees;
- `unlock`: a call that unlocks is removed.

Whether the change is a defect is judged by hand (`benchmarks.recall`).
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import NamedTuple

from analysis.frontend.syntax.parser import Node, parse
from benchmarks import recall_text as text_of
from benchmarks.recall_text import Source

OPERATORS = ("null-check", "unchecked", "dropped", "twice", "after", "unlock")
_LIBRARY = """
malloc calloc realloc reallocarray strdup strndup fopen fdopen freopen popen tmpfile opendir readdir getenv strchr strrchr
aligned_alloc strstr strpbrk strtok memchr fgets getcwd setlocale localtime gmtime getpwuid getpwnam getgrnam gethostbyname
getservbyname ttyname bsearch
"""
_GIVES_NULL = frozenset(_LIBRARY.split())
_CLOSES = frozenset(("fclose", "close", "closedir", "pclose"))
_UNLOCKS = frozenset(("pthread_mutex_unlock", "pthread_rwlock_unlock"))


class Edit(NamedTuple):
    """[start, end) of a file becomes `new`; offsets in bytes."""

    start: int
    end: int
    new: bytes


class Place(NamedTuple):
    """A function: its definition, its name as far as it shows, and its first and last line."""

    node: Node
    name: str
    lines: tuple[int, int]


class Site(NamedTuple):
    """A seeded defect. `line` is that of the change, from 1; `lines` are the first and the last one of the function; `subject` is
    the pointer, descriptor or lock that it is about."""

    operator: str
    function: str
    lines: tuple[int, int]
    line: int
    subject: str
    edits: tuple[Edit, ...]

    def applied(self, text: bytes) -> bytes:
        """The file with the defect."""
        for edit in sorted(self.edits, reverse=True):
            text = text[: edit.start] + edit.new + text[edit.end :]
        return text


def sites(text: bytes) -> list[Site]:
    """All sites of a file, in the order of its text."""
    source, found = Source(text), list[Site]()
    for function in text_of.functions(parse(text).root):
        body = function.child_by_field_name("body")
        if body is not None:
            lines = (source.line(function), source.text.count(b"\n", 0, function.end_byte) + 1)
            place = Place(function, text_of.name_of(function, source), lines)
            for node in text_of.below(body):
                found += [site for site in _at(node, place, source) if site is not None]
    return found


def _at(node: Node, inside: Place, source: Source) -> Iterator[Site | None]:
    if node.type == "if_statement":
        yield _unchecked(node, inside, source)
    elif node.type == "expression_statement" and node.named_children:
        call = node.named_children[0]
        callee = text_of.called(call, source)
        if callee in _UNLOCKS:
            yield Site("unlock", *inside[1:], source.line(node), callee, (_replaced(node, b";"),))
        subject = text_of.argument(call, source) if call.type == "call_expression" and _releases(callee) else ""
        if text_of.is_place(subject):
            yield Site("dropped", *inside[1:], source.line(node), subject, (_replaced(node, b";"),))
            yield _twice(node, inside, subject, source)
            if callee not in _CLOSES:
                yield _after(node, inside, subject, source)


def _releases(callee: str) -> bool:
    return callee in _CLOSES or callee.lower().endswith("free")


def _replaced(node: Node, new: bytes) -> Edit:
    return Edit(node.start_byte, node.end_byte, new)


# -- tests for NULL -----------------------------------------------------------------------------------------------------------


def _unchecked(node: Node, inside: Place, source: Source) -> Site | None:
    condition, body = node.child_by_field_name("condition"), node.child_by_field_name("consequence")
    if condition is None or body is None or node.child_by_field_name("alternative") is not None or text_of.has_directives(node):
        return None
    whole = condition.named_children[0]
    parts = _disjuncts(whole, source)
    for part in parts:
        tested = _tested(part, source)
        if tested is None or not text_of.leaves(body, source):
            continue
        place, assigned = tested
        origin = (
            text_of.called(assigned.child_by_field_name("right"), source)
            if assigned
            else _origin(place, node, inside.node, source)
        )
        if origin is None or (assigned is not None and not origin):
            continue
        operator = "unchecked" if origin in _GIVES_NULL else "null-check"
        kept = b"" if assigned is None else source.text[assigned.start_byte : assigned.end_byte]
        if len(parts) == 1:
            return Site(operator, *inside[1:], source.line(node), place, (_replaced(node, kept + b";"),))
        return Site(operator, *inside[1:], source.line(node), place, (_replaced(part, b"(" + kept + b", 0)" if kept else b"0"),))
    return None


def _disjuncts(node: Node, source: Source) -> list[Node]:
    if node.type == "binary_expression" and _operator(node, source) == "||":
        return [part for child in node.named_children[:2] for part in _disjuncts(child, source)]
    return [node]


def _operator(node: Node, source: Source) -> str:
    operator = node.child_by_field_name("operator")
    return "" if operator is None else source.of(operator)


def _tested(node: Node, source: Source) -> tuple[str, Node | None] | None:
    """The place that is tested for NULL, and the assignment to it that is part of the test; None if it is no such test."""
    operand: Node | None = None
    if node.type == "unary_expression" and _operator(node, source) == "!":
        operand = node.child_by_field_name("argument")
    elif node.type == "binary_expression" and _operator(node, source) == "==":
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is not None and right is not None:
            is_null = source.of(right) == "NULL" or source.of(right).endswith("*)0")
            operand = left if is_null else right if source.of(left) == "NULL" else None
    if operand is None:
        return None
    while operand.type == "parenthesized_expression":
        operand = operand.named_children[0]
    if operand.type == "assignment_expression":
        place = operand.child_by_field_name("left")
        return None if place is None else (source.of(place), operand)
    place_text = source.of(operand)
    return (place_text, None) if text_of.is_place(place_text) else None


def _origin(place: str, test: Node, function: Node, source: Source) -> str | None:
    """The function whose result a place was last given before a test, as the text goes; empty where it is not a call. None where
    nothing shows that it is a pointer."""
    last: str | None = None
    is_pointer = "NULL" in source.of(test.child_by_field_name("condition") or test)
    for node in text_of.below(function):
        if node.start_byte >= test.start_byte:
            break
        if node.type in ("parameter_declaration", "declaration", "init_declarator"):
            is_pointer = is_pointer or any(source.of(inner).lstrip("* ") == place for inner in _pointers(node))
        if node.type == "assignment_expression" and _is(node.child_by_field_name("left"), place, source):
            last = text_of.called(node.child_by_field_name("right"), source)
        if node.type == "init_declarator" and any(_is(inner, place, source) for inner in text_of.below(node)):
            last = text_of.called(node.child_by_field_name("value"), source)
    return (last or "") if is_pointer else None


def _pointers(node: Node) -> Iterator[Node]:
    return (inner for inner in text_of.below(node) if inner.type == "pointer_declarator")


def _is(node: Node | None, place: str, source: Source) -> bool:
    return node is not None and source.of(node) == place


# -- calls that free ----------------------------------------------------------------------------------------------------------


def _twice(node: Node, inside: Place, subject: str, source: Source) -> Site | None:
    """The copy goes behind none, one or more of the next statements, up to one that leaves the block, or gives another value."""
    written = source.text[node.start_byte : node.end_byte]
    if node.parent is None or node.parent.type != "compound_statement":
        return Site(
            "twice", *inside[1:], source.line(node), subject, (_replaced(node, b"{ " + written + b" " + written + b" }"),)
        )
    behind = [node.end_byte]
    for following in _siblings(node, after=True):
        if following.type.startswith(("preproc", "return", "goto", "break", "continue", "case", "labeled")):
            break
        if text_of.assigns(source.of(following), subject) or text_of.has_directives(following):
            break
        behind.append(following.end_byte)
    following_one = next(iter(_siblings(node, after=True)), None)
    if len(behind) == 1 and following_one is not None and text_of.assigns(source.of(following_one), subject):
        return None  # as `p = NULL` behind it
    at = Random(f"{inside.name} {node.start_byte}").choice(behind)
    return Site("twice", *inside[1:], source.line(node), subject, (Edit(at, at, b" " + written),))


def _after(node: Node, inside: Place, subject: str, source: Source) -> Site | None:
    """It goes before the last statement of its block that reads or writes what is freed, or passes the pointer on."""
    if node.parent is None or node.parent.type != "compound_statement":
        return None
    written = source.text[node.start_byte : node.end_byte]
    for before in reversed(list(_siblings(node, after=False))):
        text = source.of(before)
        if before.type.startswith(("preproc", "labeled", "case")) or text_of.assigns(text, subject):
            return None
        if before.type != "declaration" and text_of.dereferences(text, subject) and not text_of.has_directives(before):
            moved = (Edit(before.start_byte, before.start_byte, written + b" "), _replaced(node, b";"))
            return Site("after", *inside[1:], source.line(before), subject, moved)
    return None


def _siblings(node: Node, *, after: bool) -> Iterator[Node]:
    assert node.parent is not None
    for child in node.parent.named_children:
        if child.type != "comment" and (child.start_byte >= node.end_byte if after else child.end_byte <= node.start_byte):
            yield child
