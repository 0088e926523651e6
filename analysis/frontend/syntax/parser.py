"""Parses preprocessed C with tree-sitter; the only module that imports it.

Others get `Node` and a few typed helpers from here. Offsets in the tree are offsets in the preprocessed text, because cleaning
keeps them (`frontend.syntax.cleaning`). What the grammar cannot hold is in tables of the `SyntaxTree`, keyed by offsets:

- `old_style`: parameter declarations of K&R definitions, by the start of the parameter list;
- `va_args`: the type in `va_arg(ap, T)`, by the start of the call, which reads `va_arg(ap   )` in the tree;
- `typeofs`: the operand of `typeof(...)`, a type or an expression, by the start of the type name `__type` in the tree;
- `offsetofs`, `compatibles`: the two operands of `offsetof(T, m)` and `__builtin_types_compatible_p(T, U)`, by the start of the
  call, whose arguments are blank in the tree;
- `case_ends`: the upper bound in `case 1 ... 5:`, by the start of the case statement;
- `unnamed_bits`: the width, as written, of an unnamed bit-field, by the start of its declaration, which reads `int    ;`;
- `computed_gotos`: starts of the statements `goto *p;`, which read `goto _;` in the tree.

Operands are nodes at their own offsets, too.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence

import tree_sitter_c
from tree_sitter import Language, Node, Parser, Point, Range, Tree

from analysis.c.layout_attributes import is_packing, packings
from analysis.frontend.syntax import sized_members, typedef_names
from analysis.frontend.syntax.cleaning import Attribute, clean
from analysis.frontend.syntax.old_style import OldStyle, give_types, separate
from analysis.frontend.syntax.signed_numbers import as_names
from analysis.frontend.syntax.type_operands import Fragment
from analysis.frontend.text.difference import difference

__all__ = ["Attribute", "Node", "SyntaxTree", "child_of", "error_ranges", "parse", "parse_again", "parse_apart", "text_of"]

_LANGUAGE = Language(tree_sitter_c.language())
_SIZEOF = b"sizeof("  # what is written before an operand to parse it as "a type or an expression"; room for it is always there


_DECLARING = frozenset(("declaration", "expression_statement"))  # `T (*p)(void);` reads as calls


class SyntaxTree:
    """A parsed translation unit; see the module's docstring for the tables.

    `text` is the preprocessed text, cleaned, with the same length and lines. `parsed` is the text that the tree was made from:
    where a definition has no result type, it has an `int` in the white space before it, and behind `sizeof` it has names for
    numbers (`signed_numbers`) and lacks some parentheses (`sized_members`, `typedef_names`). `pragmas` are those but for
    `#pragma pack`. `errors` are the half-open byte ranges that the parser could not make sense of, empty where something was
    missing. `base` is the last text without errors, and its tree, for the next `parse`.
    """

    def __init__(self, text: bytes, attributes: list[Attribute], computed_gotos: frozenset[int], tree: Tree) -> None:
        self.tree = tree
        self.base: tuple[bytes, Tree] | None = None
        self._layer_trees: list[Tree] = []  # nodes refer to their trees
        self.text = self.parsed = text
        self.root = tree.root_node
        self.attributes = attributes
        self.pragmas: list[Attribute] = []
        self._packings: list[tuple[int, int | None]] | None = None
        self.computed_gotos = computed_gotos
        self.errors: list[tuple[int, int]] = list(error_ranges(tree.root_node))
        self.old_style: dict[int, tuple[Node, ...]] = {}
        self.va_args: dict[int, Node] = {}
        self.typeofs: dict[int, Node] = {}
        self.case_ends: dict[int, Node] = {}
        self.unnamed_bits: dict[int, bytes] = {}
        self.offsetofs: dict[int, tuple[Node, ...]] = {}
        self.compatibles: dict[int, tuple[Node, ...]] = {}

    def packing(self, offset: int) -> int | None:
        """To how many bytes members are aligned at most in a record that ends at the offset (`layout_attributes.packings`)."""
        if self._packings is None:
            self._packings = packings([(start, text) for start, _, text in self.attributes if is_packing(text)])
        before = bisect_left(self._packings, offset, key=lambda found: found[0])
        return self._packings[before - 1][1] if before else 0

    def attributes_in(self, start: int, end: int) -> Sequence[Attribute]:
        """The attributes that begin in [start, end)."""
        keys = self.attributes
        return keys[bisect_left(keys, (start,)) : bisect_left(keys, (end,))]

    def pragmas_in(self, start: int, end: int) -> Sequence[Attribute]:
        """The pragmas that begin in [start, end)."""
        return self.pragmas[bisect_left(self.pragmas, (start,)) : bisect_left(self.pragmas, (end,))]

    def add_layer(self, tree: Tree, fragments: list[Fragment], definitions: list[OldStyle]) -> None:
        """Puts the operands and parameter declarations that `tree` holds into the tables."""
        self._layer_trees.append(tree)
        self.errors = sorted([*self.errors, *error_ranges(tree.root_node)])
        nodes = [node for node in tree.root_node.named_children if not node.is_extra]
        starts = [node.start_byte for node in nodes]
        for definition in definitions:
            inside = nodes[bisect_left(starts, definition.start) : bisect_left(starts, definition.end)]
            self.old_style[definition.parameters] = tuple(node for node in inside if node.type in _DECLARING)
        for fragment in fragments:
            at = bisect_left(starts, fragment.start - len(_SIZEOF))
            node = _operand(nodes[at]) if at < len(nodes) and starts[at] < fragment.end else None
            if node is not None:
                self._enter(fragment, node)

    def _enter(self, fragment: Fragment, operand: Node) -> None:
        key = fragment.key
        match fragment.kind:
            case "typeof":
                self.typeofs[key] = operand
            case "va_arg":
                self.va_args[key] = operand
            case "case":
                self.case_ends[key] = operand
            case "offsetof":
                self.offsetofs[key] = (*self.offsetofs.get(key, ()), operand)
            case "compatible":
                self.compatibles[key] = (*self.compatibles.get(key, ()), operand)


def parse(preprocessed: bytes, previous: SyntaxTree | None = None) -> SyntaxTree:
    """Parses text as `preprocess` gives it, or raw text (then directives are nodes of the tree). Never fails.

    `previous`, a tree of an earlier version of the text, makes it faster and changes nothing in the result.
    """
    cleaned = clean(preprocessed)
    text, definitions = separate(cleaned.text)
    typed = typedef_names.without_parentheses(sized_members.without_parentheses(as_names(give_types(text))))
    base = None if previous is None else previous.base
    syntax = SyntaxTree(text, cleaned.attributes, cleaned.computed_gotos, _tree(typed, base))
    syntax.unnamed_bits, syntax.pragmas, syntax.parsed = cleaned.unnamed_bits, cleaned.pragmas, typed
    syntax.base = base if syntax.root.has_error else (typed, syntax.tree)
    for fragments, in_layer in _layers(cleaned.fragments, definitions):
        source, ranges = _layer_text(cleaned.text, fragments, in_layer)
        syntax.add_layer(Parser(_LANGUAGE, included_ranges=ranges).parse(source), fragments, in_layer)
    return syntax


def _tree(text: bytes, base: tuple[bytes, Tree] | None) -> Tree:
    """The tree of a text, through the tree of an earlier text if there is one.

    How errors are recovered from depends on that tree, so that a text with errors is parsed from scratch.
    """
    parser = Parser(_LANGUAGE)
    if base is None:
        return parser.parse(text)
    before, tree = base
    start, end, new_end = difference(before, text)
    edited = tree.copy()
    edited.edit(start, end, new_end, _point(before, start), _point(before, end), _point(text, new_end))
    result = parser.parse(text, edited)
    return parser.parse(text) if result.root_node.has_error else result


def _point(text: bytes, offset: int) -> Point:
    """The row and the column in bytes, from 0."""
    return Point(text.count(b"\n", 0, offset), offset - text.rfind(b"\n", 0, offset) - 1)


def _layers(fragments: list[Fragment], definitions: list[OldStyle]) -> Iterator[tuple[list[Fragment], list[OldStyle]]]:
    """Deals the fragments to as few layers as it takes for no two in a layer to touch; operands can be nested."""
    layers: list[tuple[int, list[Fragment]]] = []
    for fragment in fragments:
        begin, end = fragment.start - len(_SIZEOF), fragment.end + 2
        at = next((at for at, (limit, _) in enumerate(layers) if limit <= begin), len(layers))
        if at == len(layers):
            layers.append((0, []))
        layers[at][1].append(fragment)
        layers[at] = (end, layers[at][1])
    if definitions:
        yield [], definitions
    for _, members in layers:
        yield members, []


def _layer_text(text: bytes, fragments: list[Fragment], definitions: list[OldStyle]) -> tuple[bytes, list[Range]]:
    """A text that holds only the operands, each in `sizeof(...);`, and the declarations; and where in it they are."""
    buffer = bytearray(len(text) + 2)
    spans: list[tuple[int, int]] = []
    for start, end in ((definition.start, definition.end) for definition in definitions):
        buffer[start:end] = text[start:end]
        spans.append((start, end))
    for fragment in fragments:
        start, end = fragment.start - len(_SIZEOF), fragment.end + 2
        buffer[start:end] = _SIZEOF + fragment.text + b");"
        spans.append((start, end))
    return bytes(buffer), [Range(Point(0, start), Point(0, end), start, end) for start, end in spans]


def _operand(statement: Node) -> Node | None:
    """The operand of the `sizeof` in a statement, without the parentheses that are not its own."""
    size = next((child for child in statement.named_children if child.type == "sizeof_expression"), None)
    if size is None:
        return None
    value = size.child_by_field_name("type") or size.child_by_field_name("value")
    if value is not None and value.type == "parenthesized_expression" and value.named_child_count == 1:
        return value.named_child(0)
    return value


def parse_again(syntax: SyntaxTree, node: Node, blanks: Sequence[int]) -> Node | None:
    """A statement or declaration of the tree parsed again, at its own offsets, with the bytes at `blanks` left out;
    None if that fails."""
    start, end = node.start_byte, node.end_byte
    buffer = bytearray(syntax.text)
    for at in blanks:
        buffer[at] = 0x20
    tree = Parser(_LANGUAGE, included_ranges=[Range(Point(0, start), Point(0, end), start, end)]).parse(bytes(buffer))
    found = tree.root_node.named_children
    return found[0] if len(found) == 1 and not found[0].has_error and found[0].end_byte == end else None


def parse_apart(text: bytes, offset: int) -> Node | None:
    """A declaration that is in no file, its nodes at offsets from `offset` on; None if it does not parse."""
    padded = b" " * offset + text
    tree = Parser(_LANGUAGE, included_ranges=[Range(Point(0, offset), Point(0, len(padded)), offset, len(padded))]).parse(padded)
    found = tree.root_node.named_children
    return found[0] if len(found) == 1 and not found[0].has_error else None


def text_of(node: Node) -> bytes:
    """The text of a node, of an operand's too (which is blank in the tree's `text`)."""
    return node.text or b""


def child_of(node: Node, field: str) -> Node | None:
    """The child in a field of the grammar."""
    return node.child_by_field_name(field)


def error_ranges(node: Node) -> Iterator[tuple[int, int]]:
    """The byte ranges below `node` that do not parse, in order; empty ranges where something is missing."""
    stack = [node]
    while stack:
        here = stack.pop()
        if here.is_error or here.is_missing:
            yield here.start_byte, here.end_byte
        elif here.has_error:
            stack.extend(reversed(here.children))
