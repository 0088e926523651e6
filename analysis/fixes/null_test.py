"""A pointer that may be null: leave the function where it is, as the function does elsewhere; or do the statement only where it
is not."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.fixes.asked_finding import AskedFinding, Candidate, Family
from analysis.fixes.placing import after, before, guarded
from analysis.fixes.source_text import is_in_list
from analysis.fixes.written_style import failing_exits
from analysis.frontend.syntax.parser import Node


def candidates(asked: AskedFinding) -> Iterator[Family]:
    """Tests behind the statement that sets the pointer, or else before the one that uses it."""
    pointer, statement = asked.subject, asked.statement
    if not pointer or statement is None or asked.function is None:
        return
    yield list(_tests(asked, pointer, statement))
    if statement.type == "expression_statement" and not _sets_a_variable(asked, statement):
        condition = asked.style.not_null(pointer)
        changes = guarded(asked.source, asked.style, statement, condition)
        if changes is not None:
            yield [(f"do this only if `{condition}`", changes)]


def _tests(asked: AskedFinding, pointer: str, statement: Node) -> Iterator[Candidate]:
    source, style = asked.source, asked.style
    assert asked.function is not None
    setting = _setting(asked, pointer)
    for leave in failing_exits(source, asked.function, statement):
        lines = style.conditional(style.null_test(pointer), leave)
        title = f"test `{pointer}` for null, and `{leave.rstrip(';')}`"
        if setting is not None:
            changes = after(source, style, setting, lines)
            if changes is not None:
                yield title, changes
        yield title, before(source, style, statement, lines)


def _setting(asked: AskedFinding, pointer: str) -> Node | None:
    """The statement that set the pointer; the last declaration, if it is in a row of these."""
    for target, value, step in asked.assigned():
        if target != pointer:
            continue
        found = asked.statement_of(step)
        if found is None or not is_in_list(found) or "(" not in value:
            return None
        following = found.next_named_sibling
        while found.type == "declaration" and following is not None and following.type in ("declaration", "comment"):
            if following.type == "declaration":
                found = following
            following = following.next_named_sibling
        return found if found.type in ("declaration", "expression_statement") else None
    return None


def _sets_a_variable(asked: AskedFinding, statement: Node) -> bool:
    """Whether a statement gives a variable a value, which it would lack where the statement is left out."""
    inner = statement.named_children[0] if statement.named_children else None
    target = inner.child_by_field_name("left") if inner is not None and inner.type == "assignment_expression" else None
    return target is not None and asked.subject not in asked.source.text(target)
