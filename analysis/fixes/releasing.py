"""What is still held where it is lost: free memory, close what is open, release a lock, before the statement.

Nothing may be read after it was freed, also by another name; and what is freed must have been set, on every way. The check
of the edited
program does not see all of that, so that the text has to be simple: a way out with a constant or a number, and a variable that is
given nothing but what is to be freed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from analysis.c.functions import known
from analysis.c.locks import UNLOCKS
from analysis.fixes.asked_finding import AskedFinding, Candidate, Family, is_lvalue
from analysis.fixes.placing import at_end, before
from analysis.fixes.source_text import arguments, called_name, item_of, walk
from analysis.frontend.syntax.parser import Node
from analysis.model.report import TraceStep

_ENDS = {"block": ("free", "stdlib.h"), "stream": ("fclose", "stdio.h"), "directory": ("closedir", "dirent.h"),
         "descriptor": ("close", "unistd.h")}  # fmt: skip
_OWN_ENDS = {"popen": ("pclose", "stdio.h")}
_FILLS = frozenset(("getline", "getdelim", "asprintf", "vasprintf", "posix_memalign"))
_CALL = re.compile(r"\b(\w+)\(")
_WHOLE_CALL = re.compile(r"(?:\([^()]*\) ?)?(\w+)\(")  # behind a cast, if any
_PASSED = re.compile(r"(?:.+ = )?(\w+)\(\s*&([^,()]+)", re.DOTALL)
_LOCK = re.compile(r"still holds `([^`]+)`")
_ROOT = re.compile(r"[A-Za-z_]\w*")
_ASSIGNING = {"assignment_expression": ("left", "right"), "init_declarator": ("declarator", "value")}
_JUMPS = frozenset(("goto_statement", "break_statement", "continue_statement"))
_NUMBERS = frozenset(("identifier", "number_literal", "null", "true", "false", "char_literal", "character", "unary_expression",
                      "binary_expression", "parenthesized_expression", "conditional_expression", "comment"))  # fmt: skip
_CONSTANTS = _NUMBERS - {"identifier", "conditional_expression"}


def leaks(asked: AskedFinding) -> Iterator[Family]:
    """Frees or closes what was got on the way, in the way in which the function does it elsewhere, or as the library has it."""
    for held, ends, step in _held(asked):
        if _leaves(asked, held) and _is_set(asked, held, step) and _holds_only(asked, held, step):
            yield [one for end in ends for one in _before_leaving(asked, f"{end}({held});")]


def locks(asked: AskedFinding) -> Iterator[Family]:
    """Releases the lock by the call that releases it elsewhere in the function."""
    found = _LOCK.search(asked.finding.message)
    if found is None or asked.function is None or not _leaves(asked, ""):
        return
    statements = [node for node in walk(asked.function) if node.type == "expression_statement"]
    releases = [
        one for one in statements if called_name(one) in UNLOCKS and arguments(one, asked.source)[:1] == (found.group(1),)
    ]
    yield [one for call in dict.fromkeys(asked.source.text(one) for one in releases) for one in _before_leaving(asked, call)]


def _before_leaving(asked: AskedFinding, text: str) -> Iterator[Candidate]:
    title = f"put `{text.rstrip(';')}` before this"
    if asked.is_at_end and asked.body is not None:
        yield title, at_end(asked.source, asked.style, asked.body, (text,))
    elif asked.statement is not None:
        yield title, before(asked.source, asked.style, asked.statement, (text,))


def _leaves(asked: AskedFinding, held: str) -> bool:
    """Whether the statement leaves without reading memory; or it gives another value to what is held, or ends what that is in."""
    statement, source = asked.statement, asked.source
    if statement is None or asked.is_at_end or statement.type in _JUMPS:
        return asked.is_at_end or statement is not None
    if statement.type == "return_statement":
        allowed = _CONSTANTS if _returns_pointer(asked) else _NUMBERS
        return all(node.type in allowed or source.text(node).isupper() for one in statement.named_children for node in walk(one))
    return bool(held) and statement.type == "expression_statement" and _replaces_or_ends(asked, statement, held)


def _replaces_or_ends(asked: AskedFinding, statement: Node, held: str) -> bool:
    """Whether an expression statement gives what is held another value, made without it; or frees what it is in."""
    inner, source = statement.named_children[0], asked.source
    if inner.type == "assignment_expression":
        target, value = inner.child_by_field_name("left"), inner.child_by_field_name("right")
        is_target = target is not None and source.text(target) == held
        return is_target and value is not None and held not in source.text(value)
    function, root = known(called_name(statement)), _ROOT.match(held)
    is_freed = function is not None and "freed" in function.argument(0).uses
    return is_freed and root is not None and root.group() in arguments(statement, source)


def _returns_pointer(asked: AskedFinding) -> bool:
    declared = None if asked.function is None else asked.function.child_by_field_name("type")
    declarator = None if asked.function is None else asked.function.child_by_field_name("declarator")
    is_number = declared is not None and declared.type in ("primitive_type", "sized_type_specifier")
    return not is_number or declarator is None or declarator.type == "pointer_declarator"


def _holds_only(asked: AskedFinding, held: str, step: TraceStep) -> bool:
    """Whether nothing else is ever assigned to a variable than null, and what the function of the step, or one of the
    library that does the same, returns."""
    got = _CALL.search(step.text)
    origin = None if got is None else known(got.group(1))
    for node in walk(asked.function) if asked.function is not None else ():
        parts = _ASSIGNING.get(node.type)
        target, value = (node.child_by_field_name(part) for part in parts) if parts is not None else (None, None)
        if target is None or value is None or asked.source.text(target).lstrip("* ") != held.lstrip("* "):
            continue
        while value is not None and value.type == "cast_expression":
            value = value.child_by_field_name("value")
        if value is None or value.type == "null" or asked.source.text(value) in ("0", "-1"):
            continue
        function = known(called_name(value))
        is_same = got is not None and called_name(value) == got.group(1)
        if not is_same and (function is None or origin is None or function.result != origin.result):
            return False
    return True


def _is_set(asked: AskedFinding, held: str, step: TraceStep) -> bool:
    """Whether a variable has a value wherever it is freed: it is initialised, or the step lies on every way."""
    root, setting = _ROOT.match(held), asked.statement_of(step)
    if root is None or setting is None or asked.function is None:
        return False
    declarations = [node for node in walk(asked.function) if node.type == "declaration"]
    named = [one for one in declarations if root.group() in {asked.source.text(node) for node in _names(one)}]
    is_initialised = any(
        _declares(asked, one, root.group()) for node in named for one in node.children_by_field_name("declarator")
    )
    return not named or is_initialised or _is_on_every_way(asked, setting)


def _names(declaration: Node) -> list[Node]:
    """The identifiers in what a declaration declares, without those in initialisers."""
    declared = [one.child_by_field_name("declarator") or one for one in declaration.children_by_field_name("declarator")]
    return [node for one in declared for node in walk(one) if node.type == "identifier"]


def _declares(asked: AskedFinding, declarator: Node, name: str) -> bool:
    """Whether a declarator gives that variable a value."""
    declared = declarator.child_by_field_name("declarator")
    return declarator.type == "init_declarator" and declared is not None and asked.source.text(declared).lstrip("* ") == name


def _is_on_every_way(asked: AskedFinding, setting: Node) -> bool:
    """Whether no way leads to the finding but through a statement: its block is around the finding, or its own `if` is in
    that, and there are no labels."""
    block = item_of(setting).parent
    end = asked.function.end_byte if asked.function is not None else 0
    here = end - 1 if asked.statement is None else asked.statement.start_byte
    is_around = block is not None and block.type == "compound_statement" and block.start_byte <= here < block.end_byte
    labels = () if asked.function is None else [one for one in walk(asked.function) if one.type == "labeled_statement"]
    return is_around and setting.end_byte <= here and not labels


def _held(asked: AskedFinding) -> Iterator[tuple[str, list[str], TraceStep]]:
    """What is held, and the functions that may end it, those of this function first: what was assigned where the value comes
    from, or by the last call."""
    for target, value, step in asked.assigned():
        called = _WHOLE_CALL.match(value)
        if called is not None and (not asked.origin or step.text == asked.origin):
            ends = _library_ends(asked, called.group(1))
            yield target, list(dict.fromkeys((*_own_ends(asked, target), *ends))), step
            return
    for step in asked.own_steps():
        passed = _PASSED.match(step.text)
        if step.kind == "call" and passed is not None and passed.group(1) in _FILLS and is_lvalue(passed.group(2)):
            yield passed.group(2), _declared(asked, [_ENDS["block"]]), step
            return


def _own_ends(asked: AskedFinding, held: str) -> Iterator[str]:
    """What the function calls elsewhere, as a statement, with nothing else."""
    if asked.function is not None:
        for node in walk(asked.function):
            if node.type == "expression_statement" and arguments(node, asked.source) == (held,) and called_name(node):
                yield called_name(node)


def _library_ends(asked: AskedFinding, name: str) -> list[str]:
    function = known(name)
    if name in _OWN_ENDS:
        return _declared(asked, [_OWN_ENDS[name]])
    kind = ("stream" if asked.finding.rule == "resource-leak" else "block") if function is None else function.result
    return _declared(asked, [_ENDS[kind]] if kind in _ENDS else [])


def _declared(asked: AskedFinding, ends: list[tuple[str, str]]) -> list[str]:
    """Those that the text shows to be declared: by their header, or because it calls them."""
    data = asked.source.data
    return [name for name, header in ends if header.encode() in data or re.search(rb"\b%s\s*\(" % name.encode(), data)]
