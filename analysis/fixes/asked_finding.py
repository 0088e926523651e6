"""A finding as the kinds of fixes see it: its place in the text, and what its trace says, as expressions of the text."""

from __future__ import annotations

import re
from collections.abc import Iterator

from analysis.fixes.source_text import SourceText, walk
from analysis.fixes.written_style import Style
from analysis.frontend.syntax.parser import Node, parse
from analysis.model.report import Finding, TraceStep
from analysis.model.text_changes import ByteChange

Changes = tuple[ByteChange, ...]
Candidate = tuple[str, Changes]
"""What is done, for people, and how."""
Family = list[Candidate]
"""Candidates that do about the same, the most fitting one first: one of them is offered."""

_QUOTED = re.compile(r"`([^`]+)`")
_ASSIGNED = re.compile(r"([^=]+?) = (.+)", re.DOTALL)
_LVALUE = frozenset(("identifier", "field_expression", "field_identifier", "subscript_expression", "number_literal",
                     "pointer_expression", "parenthesized_expression"))  # fmt: skip


class AskedFinding:
    """A finding of a file with its text. `statement` is where it is reported, `function` the definition around that;
    `is_at_end`: it is reported at the brace that ends the function."""

    def __init__(self, source: SourceText, finding: Finding) -> None:
        self.source, self.finding = source, finding
        self.style = Style(source)
        self.function = source.function_around(source.at(finding.place.range))
        self.statement = source.statement_at(finding.place.range)
        body = None if self.function is None else self.function.child_by_field_name("body")
        here = source.at(finding.place.range)
        self.is_at_end = here is not None and here.type == "}" and here.parent == body
        self.body = body

    @property
    def subject(self) -> str:
        """What the message is about, as it is written; empty if that is not an expression without effects."""
        found = _QUOTED.search(self.finding.message)
        return found.group(1) if found is not None and is_lvalue(found.group(1)) else ""

    def own_steps(self) -> Iterator[TraceStep]:
        """The steps in the function of the finding, in its file, outside of macros; the last ones first, without the error."""
        for step in reversed(self.finding.trace[:-1]):
            is_here = step.place.path == self.finding.place.path and step.place.macro is None
            if is_here and step.function == self.finding.function:
                yield step

    @property
    def origin(self) -> str:
        """The step where the value comes from, as it is written, if that is in the function of the finding."""
        found = _QUOTED.fullmatch(self.finding.since)
        return "" if found is None else found.group(1)

    def assigned(self) -> Iterator[tuple[str, str, TraceStep]]:
        """What was assigned on the way: where to, what, and the step; the last one first."""
        for step in self.own_steps():
            found = _ASSIGNED.fullmatch(step.text)
            if step.kind in ("call", "assign") and found is not None and is_lvalue(found.group(1)):
                yield found.group(1), found.group(2), step

    def statement_of(self, step: TraceStep) -> Node | None:
        """The statement of a step, if it is in the function of the finding and can be changed."""
        found = self.source.statement_at(step.place.range)
        return found if found is not None and self.source.function_around(found) == self.function else None


def is_lvalue(text: str) -> bool:
    """Whether a text is a variable, or a part of one, whose evaluation does nothing."""
    tree = parse(f"int x = {text};".encode())
    if tree.root.has_error or not tree.root.named_children:
        return False
    declared = tree.root.named_children[0].child_by_field_name("declarator")
    value = None if declared is None else declared.child_by_field_name("value")
    inner = value
    while inner is not None and inner.type == "pointer_expression":
        inner = inner.child_by_field_name("argument")
    is_address = (
        value is not None and value.type == "pointer_expression" and value.text is not None and value.text.startswith(b"&")
    )
    return (
        value is not None and inner is not None and not is_address and inner.type != "number_literal"
        and all(node.type in _LVALUE for node in walk(value))
    )  # fmt: skip
