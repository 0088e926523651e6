"""The residual program of a condition: the new version without what the condition covers, for verifiers that take C programs.

The reducer of [DIFFDP] (section 4.1) unrolls the product of program and condition, which gives gotos and copies. Here the text of
the new version stays as it is written, loops and all. Only statements are taken out that no path takes which is not covered
(`left_edges`); `abort()` stands for each, and for the `else` that an `if` lacks, where only covered paths go past it. So the
residual program does a little more than the condition leaves, and never less: every path that is not covered is still there, up
to where it violates the property. Declarations that nothing left uses are left out, too (`used_declarations`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from analysis.cfa.graph import Cfa, Edge, FunctionSource, Places, Program
from analysis.engines.difference.difference_condition import Condition
from analysis.engines.difference.left_edges import left_edges
from analysis.engines.difference.used_declarations import with_used_alone
from analysis.frontend.syntax.parser import Node as SyntaxNode
from analysis.frontend.syntax.parser import parse
from analysis.model import ir
from analysis.model.spelling import display_name

_STOP = b"{ abort(); }"
_HEAD = b"extern void abort(void);\n"
_KEPT = frozenset(("labeled_statement", "case_statement", "attributed_statement"))
_AROUND = _KEPT | {"translation_unit", "function_definition", "compound_statement", "else_clause"}
_Edit = tuple[int, int, bytes]  # from where to where in the text, and what stands there instead


class ManyFilesError(Exception):
    """The program has several files, so that its text is not one program."""


def residual_program(program: Program, places: Places, conditions: Iterable[Condition]) -> bytes:
    """The text of the residual program: the preprocessed text of the new version, for all entries that have a condition. Raises
    ManyFilesError."""
    conditions = tuple(conditions)
    left = left_edges(program, conditions)
    texts = {places.source(name)[1].unit for name in program.functions}
    if len(texts) != 1:
        raise ManyFilesError
    text = places.source(next(iter(program.functions)))[0]
    if any(_is_obstructed(program.functions[condition.entry.function]) for condition in conditions):
        return text
    edits = sorted(edit for name in program.functions for edit in _edits(program, places, name, left[name]))
    entries = {display_name(condition.entry.function).encode() for condition in conditions}
    return with_used_alone(_HEAD + b"".join(_edited(text, edits)) if edits else text, entries)


def _is_obstructed(cfa: Cfa) -> bool:
    """Whether a function is not understood as a whole: code may run before or after `main`, for example, that nothing calls."""
    return any(edge.source == cfa.entry for edge in cfa.unsupported)


def _edited(text: bytes, edits: list[_Edit]) -> Iterator[bytes]:
    at = 0
    for start, end, by in edits:
        yield text[at:start]
        yield by + b"\n" * text.count(b"\n", start, end)
        at = end
    yield text[at:]


# -- text --------------------------------------------------------------------------------------------------------


class _Function:
    """The edges of a function with their places in its text, and which of them are left."""

    def __init__(self, cfa: Cfa, source: FunctionSource, left: frozenset[int]) -> None:
        self._sites = [(site, cfa.by_id[at]) for at, site in source.sites.items() if at in cfa.by_id]
        self._left = left

    def edges(self, node: SyntaxNode) -> list[Edge]:
        """The edges of a part of the text."""
        return [edge for site, edge in self._sites if node.start_byte <= site.start and site.end <= node.end_byte]

    def is_out(self, edges: list[Edge]) -> bool:
        """Whether there are edges, and none of them is left."""
        return bool(edges) and not any(edge.id in self._left for edge in edges)


def _edits(program: Program, places: Places, name: str, left: frozenset[int]) -> Iterator[_Edit]:
    """What becomes of a function: the statements that are taken out, the largest ones, and what stands for an `else`."""
    text, source = places.source(name)
    function = _Function(program.functions[name], source, left)
    waiting = [parse(text[source.start : source.start + source.end_site.end]).root]
    while waiting:
        node = waiting.pop()
        if _is_statement(node):
            if function.is_out(function.edges(node)) and not _has_labels(node):
                yield source.start + node.start_byte, source.start + node.end_byte, _STOP
                continue
            for start, end, by in _without_else(node, function):
                yield source.start + start, source.start + end, by
        waiting.extend(child for child in node.children if _is_statement(child) or child.type in _AROUND)


def _without_else(node: SyntaxNode, function: _Function) -> Iterator[_Edit]:
    """Ends the paths past an `if` without `else`, if only covered paths go there."""
    condition, then = node.child_by_field_name("condition"), node.child_by_field_name("consequence")
    if node.type != "if_statement" or condition is None or then is None or node.child_by_field_name("alternative") is not None:
        return
    tests = [edge for edge in function.edges(condition) if isinstance(edge.effect, ir.Assume)]
    into = {edge.source for edge in function.edges(then)}
    leaving = [edge for edge in tests if edge.target not in {test.source for test in function.edges(condition)}]
    past = [edge for edge in leaving if edge.target not in into]
    if len(past) < len(leaving) and function.is_out(past) and not function.is_out(tests) and not _has_labels(then):
        yield then.start_byte, then.start_byte, b"{ "
        yield then.end_byte, then.end_byte, b" } else " + _STOP


def _is_statement(node: SyntaxNode) -> bool:
    """Whether a node is a statement that another one can stand for: no body of a function, and nothing that has a label."""
    if node.type not in _KEPT and node.type.endswith("_statement"):
        return node.parent is None or node.parent.type != "function_definition"
    return False


def _has_labels(node: SyntaxNode) -> bool:
    waiting = [node]
    while waiting:
        one = waiting.pop()
        if one.type in _KEPT:
            return True
        waiting.extend(one.children)
    return False
