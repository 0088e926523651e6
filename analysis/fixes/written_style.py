"""How a file is written: its indentation and braces, how it tests for null, and how its functions leave when something failed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from enum import Enum

from analysis.c.functions import known
from analysis.fixes.source_text import SourceText, called_name, walk
from analysis.frontend.syntax.parser import Node

_CONSTANTS = frozenset(("number_literal", "null", "true", "false", "char_literal"))
_FAILURES = ("-", "NULL", "false")
_GOOD = re.compile(r"OK|SUCC|DONE|TRUE")  # in names of constants for what has not failed
MOST_EXITS = 3


class Braces(Enum):
    """Where the brace of a body is opened."""

    SAME_LINE = "same line"
    NEXT_LINE = "next line"


class Style:
    """How a file is written. `step` is one step of indentation; `brace_indent` is that of a brace on a line of its own,
    against its statement; `has_braces`: also a body of one statement has them."""

    def __init__(self, source: SourceText) -> None:
        self._source = source
        ifs = [node for node in walk(source.root) if node.type in ("if_statement", "while_statement", "for_statement")]
        bodies = [(node, body) for node in ifs if (body := _body(node)) is not None]
        blocks = [(node, body) for node, body in bodies if body.type == "compound_statement"]
        apart = [(node, body) for node, body in blocks if source.begins_line(body)]
        self.braces = Braces.NEXT_LINE if 2 * len(apart) > len(blocks) else Braces.SAME_LINE
        self.brace_indent = self._brace_indent(apart)
        single = Counter(
            body.type == "compound_statement"
            for node, body in bodies
            if node.type == "if_statement" and node.child_by_field_name("alternative") is None and _is_single(body)
        )
        self.has_braces = single[True] > single[False]
        self.step = self._step(bodies)
        self._null_test = self._chosen_test()

    def null_test(self, pointer: str) -> str:
        """A condition that is true where a pointer is null."""
        return self._null_test.replace("P", pointer if self._null_test != "!P" or not pointer.startswith("*") else f"({pointer})")

    def not_null(self, pointer: str) -> str:
        """A condition that is true where it is not."""
        return pointer if self._null_test == "!P" else self._null_test.replace("==", "!=").replace("P", pointer)

    def conditional(self, condition: str, statement: str) -> tuple[str, ...]:
        """The lines of an `if` without an `else`, as `placing` takes them."""
        if not self.has_braces:
            return f"if ({condition})", f"\t{statement}"
        if self.braces is Braces.SAME_LINE:
            return f"if ({condition}) {{", f"\t{statement}", "}"
        return f"if ({condition})", f"{self.brace_indent}{{", f"\t{self.brace_indent}{statement}", f"{self.brace_indent}}}"

    def _brace_indent(self, apart: list[tuple[Node, Node]]) -> str:
        found: Counter[str] = Counter()
        for node, body in apart:
            outer, brace = self._source.indent(node.start_byte), self._source.indent(body.start_byte)
            if brace.startswith(outer):
                found[brace[len(outer) :]] += 1
        return found.most_common(1)[0][0] if found else ""

    def _step(self, bodies: list[tuple[Node, Node]]) -> str:
        """The step that is used most often, from functions to their statements and from statements to their bodies."""
        found: Counter[str] = Counter()
        functions = [node for node in self._source.root.named_children if node.type == "function_definition"]
        for node, body in [*((one, body) for one in functions if (body := _body(one)) is not None), *bodies]:
            inner = [one for one in body.named_children if one.type != "comment"] if body.type == "compound_statement" else [body]
            if inner and self._source.begins_line(inner[0]):
                head = body if self._source.begins_line(body) and body != inner[0] else node
                outer, indent = self._source.indent(head.start_byte), self._source.indent(inner[0].start_byte)
                if indent.startswith(outer) and indent != outer:
                    found[indent[len(outer) :]] += 1
        return found.most_common(1)[0][0] if found else "    "

    def _chosen_test(self) -> str:
        found: Counter[str] = Counter()
        for node in walk(self._source.root):
            if node.type == "binary_expression":
                operator, right = node.child_by_field_name("operator"), node.child_by_field_name("right")
                if operator is not None and operator.type in ("==", "!=") and right is not None and right.type == "null":
                    found["P == NULL"] += 1
            elif node.type == "if_statement" and (tested := _negated(node)) is not None:
                found["!P"] += tested.type in ("identifier", "field_expression")
        uses_null = b"NULL" in self._source.data
        return found.most_common(1)[0][0] if found else "P == NULL" if uses_null else "!P"


def failing_exits(source: SourceText, function: Node, statement: Node) -> Iterator[str]:
    """How a function leaves when something has failed, the most fitting way first: as it does after other tests for null, after
    other tests, and as functions with its type do."""
    tested: list[tuple[bool, int, str]] = []
    for node in walk(function):
        if node.type != "if_statement" or (consequence := node.child_by_field_name("consequence")) is None:
            continue
        last = consequence.named_children[-1] if _is_block(consequence) and consequence.named_children else consequence
        text = _exit(source, last, function, statement)
        condition = node.child_by_field_name("condition")
        if text is None or condition is None:
            continue
        is_null_test = any(one.type == "null" for one in walk(condition)) or _negated(node) is not None
        if is_null_test or _says_failure(text):
            tested.append((not is_null_test, abs(node.start_byte - statement.start_byte), text))
    found = dict.fromkeys(text for _, _, text in sorted(tested))
    for text in (*list(found)[: MOST_EXITS - 1], *_usual_exits(source, function)):
        yield text


def _says_failure(text: str) -> bool:
    """Whether a way out says by itself that something has failed."""
    value = text.removeprefix("return").strip(" ;()")
    is_error = value.startswith(_FAILURES) or (value.isupper() and not _GOOD.search(value))
    return is_error or not text.startswith("return")


def _exit(source: SourceText, node: Node, function: Node, statement: Node) -> str | None:
    """What is written in a statement that leaves with a constant, by a jump forward, or by ending the program."""
    if node.type == "return_statement":
        is_constant = all(_is_constant(source, one) for one in node.named_children)
        return source.text(node) if is_constant else None
    if node.type == "goto_statement":
        label = node.child_by_field_name("label")
        labels = [one for one in walk(function) if one.type == "labeled_statement" and one.start_byte > statement.end_byte]
        names = {source.text(name) for one in labels if (name := one.child_by_field_name("label")) is not None}
        return source.text(node) if label is not None and source.text(label) in names else None
    function_called = known(called_name(node)) if node.type == "expression_statement" else None
    ends = function_called is not None and function_called.never_returns and "jumps" not in function_called.besides
    return source.text(node) if ends and '"' not in source.text(node) else None


def _is_constant(source: SourceText, node: Node) -> bool:
    if node.type in ("parenthesized_expression", "unary_expression"):
        return all(_is_constant(source, one) for one in node.named_children)
    return node.type in _CONSTANTS or (node.type == "identifier" and source.text(node).isupper())


def _usual_exits(source: SourceText, function: Node) -> tuple[str, ...]:
    """How functions of a type usually say that they failed."""
    declared, declarator = function.child_by_field_name("type"), function.child_by_field_name("declarator")
    if declared is None or declarator is None:
        return ()
    if declarator.type == "pointer_declarator":
        return ("return NULL;",) if b"NULL" in source.data else ("return 0;",)
    name = declarator.child_by_field_name("declarator")
    text = source.text(declared)
    if name is not None and source.text(name) == "main":
        return ("return EXIT_FAILURE;",) if b"EXIT_FAILURE" in source.data else ("return 1;",)
    if text == "void":
        return ("return;",)
    if text in ("bool", "_Bool"):
        return ("return false;",) if b"false" in source.data else ("return 0;",)
    if text in ("int", "long", "long long", "ssize_t", "short", "long int"):
        return ("return -1;",)
    return ("return 0;",) if declared.type in ("primitive_type", "sized_type_specifier") else ()


def _negated(node: Node) -> Node | None:
    """What is negated in the condition of an `if`, if that is all of it."""
    condition = node.child_by_field_name("condition")
    inner = condition.named_children[0] if condition is not None and condition.named_children else None
    if inner is None or inner.type != "unary_expression":
        return None
    operator = inner.child_by_field_name("operator")
    return inner.child_by_field_name("argument") if operator is not None and operator.type == "!" else None


def _body(node: Node) -> Node | None:
    return node.child_by_field_name("consequence" if node.type == "if_statement" else "body")


def _is_block(node: Node) -> bool:
    return node.type == "compound_statement"


def _is_single(body: Node) -> bool:
    return not _is_block(body) or sum(1 for node in body.named_children if node.type != "comment") == 1
