"""Something is used, freed or closed again after it was freed or closed: free it later, leave one of the two times out, or forget
the pointer.

Only calls that do nothing else are left out: those of the library.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from analysis.c.functions import known
from analysis.c.locks import UNLOCKS
from analysis.fixes.asked_finding import AskedFinding, Candidate, Family
from analysis.fixes.placing import after, without
from analysis.fixes.source_text import BLOCKS, JUMPS, arguments, called_name, item_of, walk
from analysis.frontend.syntax.parser import Node

_NAME = re.compile(r"[A-Za-z_]\w*")
_PART = re.compile(r"\w+(?:(?:->|\.)\w+)*")
_MOVED = frozenset(
    ("expression_statement", "declaration", "if_statement", "while_statement", "for_statement", "compound_statement")
)


def used_again(asked: AskedFinding) -> Iterator[Family]:
    """Moves what frees or closes behind the use. What is in between may not assign what is freed, and has to be passed
    through."""
    if "second time" not in asked.finding.message:
        yield list(_later(asked))


def freed_again(asked: AskedFinding) -> Iterator[Family]:
    """Takes the second call out, or the first one; or sets the pointer to null after the first one."""
    statement = asked.statement
    if statement is None or "second time" not in asked.finding.message:
        return
    again = [statement] if _only_ends(statement) else []
    earlier = [ending for ending, _ in _ends(asked) if _only_ends(ending) and ending != statement]
    yield [*_left_out(asked, again, "the second "), *_left_out(asked, earlier, "the first ")]
    yield list(_forgotten(asked))


def unlocked_again(asked: AskedFinding) -> Iterator[Family]:
    """Takes a release out of a lock that is not held."""
    statement = asked.statement
    if statement is not None and called_name(statement) in UNLOCKS and "is not held" in asked.finding.message:
        yield list(_left_out(asked, [statement], ""))


def _left_out(asked: AskedFinding, statements: Sequence[Node], which: str) -> Iterator[Candidate]:
    for statement in statements:
        changes = without(asked.source, statement)
        if changes is not None:
            yield f"leave {which}`{asked.source.text(statement).rstrip(';')}` out", changes


def _only_ends(statement: Node) -> bool:
    """Whether a statement is a call that does nothing but to free or close."""
    function = known(called_name(statement)) if statement.type == "expression_statement" else None
    return function is not None and bool(function.positions("freed", "closed")) and function.result not in ("block", "stream")


def _ends(asked: AskedFinding) -> Iterator[tuple[Node, str]]:
    """The statements that may have freed or closed it, with what they end; the last one first."""
    for step in asked.own_steps():
        statement = asked.statement_of(step) if step.kind == "call" else None
        if statement is None or statement.type != "expression_statement" or not called_name(statement):
            continue
        passed, function = arguments(statement, asked.source), known(called_name(statement))
        at = function.positions("freed", "closed") if function is not None else (0,) if len(passed) == 1 else ()
        for number in at:
            if number < len(passed):
                yield statement, passed[number]


def _later(asked: AskedFinding) -> Iterator[Candidate]:
    source, use = asked.source, asked.statement
    for ending, ended in _ends(asked):
        first = item_of(ending)
        last = None if use is None else item_of(use)
        while last is not None and last.parent != first.parent:
            last = last.parent
        if first.parent is None or first.parent.type not in BLOCKS or last is None or last.start_byte <= ending.start_byte:
            continue
        nodes = first.parent.named_children
        passed = [node for node in nodes if ending.end_byte <= node.start_byte and node.end_byte <= last.end_byte]
        taken = without(source, ending)
        put = after(source, asked.style, last, (source.text(ending),))
        if taken is not None and put is not None and _can_pass(passed, ended, asked):
            yield f"`{source.text(ending).rstrip(';')}` only after this", (*taken, *put)


def _can_pass(passed: Sequence[Node], ended: str, asked: AskedFinding) -> bool:
    """Whether control goes through all the statements, and none of them assigns what is freed, or a variable of which that
    is made."""
    nodes = [node for one in passed for node in walk(one)]
    if any(one.type not in _MOVED and one.type != "comment" for one in passed) or any(node.type in JUMPS for node in nodes):
        return False
    names = frozenset(_NAME.findall(ended))
    for node in nodes:
        target = node.child_by_field_name({"assignment_expression": "left", "update_expression": "argument"}.get(node.type, "-"))
        if target is not None and _assigns(asked.source.text(target), ended, names):
            return False
        declared = node.child_by_field_name("declarator") if node.type in ("declaration", "init_declarator") else None
        is_named = declared is not None and declared.type != "init_declarator"
        if declared is not None and is_named and not names.isdisjoint(_NAME.findall(asked.source.text(declared))):
            return False
    return True


def _assigns(target: str, ended: str, names: frozenset[str]) -> bool:
    """Whether an assignment to a text may change what another one, with these names, means."""
    if _NAME.fullmatch(ended):
        return target == ended
    through = target.startswith((f"{ended}[", f"{ended}->"))  # what it leads to is another object
    return not through and not names.isdisjoint(_NAME.findall(target))


def _forgotten(asked: AskedFinding) -> Iterator[Candidate]:
    if b"NULL" not in asked.source.data or asked.statement is None or known(called_name(asked.statement)) is None:
        return
    for ending, ended in _ends(asked):
        changes = after(asked.source, asked.style, ending, (f"{ended} = NULL;",))
        if changes is not None and _PART.fullmatch(ended):
            yield f"set `{ended}` to NULL after the first `{asked.source.text(ending).rstrip(';')}`", changes
