"""C patterns with metavariables, matched against expressions and effects of the intermediate representation.

A pattern is a piece of C in which `$NAME` stands for any expression (the same one at every occurrence), `$_` for
any expression, and `...` in a call for any further arguments. In the place of a called function, a metavariable can be
limited to a list of names (`names` in the rule file). Conversions are ignored. The syntax is parsed by the front end's
own C parser; what it means is decided here, on lowered code:

| pattern | matches |
|---|---|
| `$P = f($X, ...)`, `f($P)` | a call; without `$P =` the result does not matter |
| `$P = NULL`, `$P = $Q` | an assignment, an argument bound to a parameter, or a result that is returned |
| `if ($P == NULL)`, `if ($F < 0)` | a branch whose condition implies the one written |
| `*$P` | an access through a pointer: `*p`, `p->f`, `p[i]` |
| `$X / $D` | the expression, anywhere in an effect; of floating values no `/`, which is defined for 0 as well (C11 F.3) |
| `return $P` | leaving a function with a value |
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal

import msgspec

from analysis.frontend.syntax import parser
from analysis.model import ir
from analysis.model.c_types import Pointer
from analysis.model.intervals import Interval, interval_of
from analysis.model.spelling import display_name

Bindings = Mapping[str, ir.Expr]
PatternKind = Literal["call", "assign", "branch", "access", "expression", "return"]

ANYTHING = "$_"
_REST = "$REST__"


class PatternError(Exception):
    """The pattern is not one that this module understands; the message says why, in one sentence."""


class Name(msgspec.Struct, frozen=True):
    """A variable or function by its name in the source."""

    name: str


class Metavariable(msgspec.Struct, frozen=True):
    """`$NAME`."""

    name: str


class Number(msgspec.Struct, frozen=True):
    """An integer constant; `null`: only the null pointer."""

    value: int
    null: bool = False


class Operation(msgspec.Struct, frozen=True):
    """An operator and its operands: "deref", "address", ".f" with one, "[]" and C's binary operators with two."""

    operator: str
    operands: tuple[Term, ...]


Term = Name | Metavariable | Number | Operation


class Pattern(msgspec.Struct, frozen=True):
    """A parsed pattern.

    call: `callee`, `operands` the arguments (with `rest`, more may follow), `result`; assign: `operands` target and value;
    branch: `operands` the tested expression, with `interval` the values it must be in, a pointer if `null` and else an
    integer; access: `operands` the pointer; expression and return: `operands` the expression (none for a bare `return`).
    """

    text: str
    kind: PatternKind
    operands: tuple[Term, ...]
    callee: Term | None = None
    result: Term | None = None
    rest: bool = False
    interval: Interval | None = None
    null: bool = False


def parse_pattern(text: str) -> Pattern:
    """Parses a pattern; raises PatternError."""
    source = text.replace("...", _REST)
    body = f"void pattern(void) {{ {source}{' ;' if source.startswith('if') else ';'} }}"
    tree = parser.parse(body.encode())
    if tree.errors:
        raise PatternError(f"`{text}` is not a C expression, `if (...)` or `return` with metavariables")
    try:
        statement = tree.root.named_children[0].child_by_field_name("body").named_children[0]  # type: ignore[union-attr]
    except (IndexError, AttributeError):
        raise PatternError(f"`{text}` is empty") from None
    return _pattern(text, statement)


def _pattern(text: str, statement: parser.Node) -> Pattern:
    if statement.type == "if_statement":
        condition = _unwrap(_field(statement, "condition", text), text)
        return _branch(text, condition)
    if statement.type == "return_statement":
        return Pattern(text, "return", tuple(_term(child, text) for child in statement.named_children))
    if statement.type != "expression_statement" or not statement.named_children:
        raise PatternError(f"`{text}` is not a C expression, `if (...)` or `return`")
    node = _unwrap(statement.named_children[0], text)
    result: Term | None = None
    if node.type == "assignment_expression":
        target, value = _field(node, "left", text), _unwrap(_field(node, "right", text), text)
        result = _term(target, text)
        if value.type != "call_expression":
            return Pattern(text, "assign", (result, _term(value, text)))
        node = value
    if node.type == "call_expression":
        arguments = [_term(a, text) for a in _field(node, "arguments", text).named_children]
        rest = bool(arguments) and arguments[-1] == Metavariable(_REST)
        callee = _term(_field(node, "function", text), text)
        return Pattern(text, "call", tuple(arguments[: len(arguments) - rest]), callee, result, rest)
    if node.type in ("pointer_expression", "subscript_expression", "field_expression"):
        term = _term(node, text)
        while isinstance(term, Operation) and term.operator[0] == ".":
            term = term.operands[0]
        if isinstance(term, Operation) and term.operator == "deref":
            return Pattern(text, "access", term.operands)
    return Pattern(text, "expression", (_term(node, text),))


def _branch(text: str, condition: parser.Node) -> Pattern:
    term = _term(condition, text)
    if isinstance(term, Operation) and len(term.operands) == 2 and isinstance(term.operands[1], Number):
        interval = interval_of(term.operator, term.operands[1].value)
        if interval is not None:
            return Pattern(text, "branch", (term.operands[0],), interval=interval, null=term.operands[1].null)
    return Pattern(text, "branch", (term,), interval=interval_of("!=", 0))


def _field(node: parser.Node, name: str, text: str) -> parser.Node:
    child = node.child_by_field_name(name)
    if child is None:
        raise PatternError(f"`{text}` is not complete")
    return child


def _unwrap(node: parser.Node, text: str) -> parser.Node:
    while node.type in ("parenthesized_expression", "cast_expression"):
        node = node.named_children[-1]
    return node


def _term(node: parser.Node, text: str) -> Term:
    node = _unwrap(node, text)
    spelled = (node.text or b"").decode()
    match node.type:
        case "identifier" | "null":
            if spelled == "NULL":
                return Number(0, null=True)
            return Metavariable(spelled) if spelled.startswith("$") else Name(spelled)
        case "number_literal":
            try:
                return Number(int(spelled, 0))
            except ValueError:
                raise PatternError(f"`{spelled}` in `{text}` is not an integer") from None
        case "unary_expression":
            operand = _term(_field(node, "argument", text), text)
            if spelled[0] == "-" and isinstance(operand, Number):
                return Number(-operand.value)
        case "pointer_expression":
            operator = "deref" if spelled[0] == "*" else "address"
            return Operation(operator, (_term(_field(node, "argument", text), text),))
        case "field_expression":
            record = _term(_field(node, "argument", text), text)
            if "->" in spelled[: spelled.rindex(_spelled(node, "field"))][-3:]:
                record = Operation("deref", (record,))
            return Operation("." + _spelled(node, "field"), (record,))
        case "subscript_expression":
            base, index = _field(node, "argument", text), _field(node, "index", text)
            return Operation("deref", (Operation("+", (_term(base, text), _term(index, text))),))
        case "binary_expression":
            left, right = _field(node, "left", text), _field(node, "right", text)
            return Operation(_spelled(node, "operator"), (_term(left, text), _term(right, text)))
    raise PatternError(f"`{spelled}` in `{text}` is not understood in a pattern")


def _spelled(node: parser.Node, name: str) -> str:
    child = node.child_by_field_name(name)
    return "" if child is None or child.text is None else child.text.decode()


def match_term(term: Term, expr: ir.Expr, bound: dict[str, ir.Expr], names: Mapping[str, frozenset[str]]) -> bool:
    """Whether the expression is an instance of the term, adding to `bound` what the metavariables stand for."""
    expr = ir.strip_casts(expr)
    match term:
        case Metavariable(name):
            return _bind(name, expr, bound, names)
        case Name(name):
            return isinstance(expr, ir.Var) and display_name(expr.name) == name
        case Number(value, null):
            return isinstance(expr, ir.IntConst) and expr.value == value and null == isinstance(expr.type, Pointer)
        case Operation(operator, operands):
            parts = _parts(operator, expr)
            return parts is not None and all(map(lambda t, e: match_term(t, e, bound, names), operands, parts))


def _parts(operator: str, expr: ir.Expr) -> tuple[ir.Expr, ...] | None:
    match expr:
        case ir.Deref(pointer) if operator == "deref":
            return (pointer,)
        case ir.AddressOf(lvalue) if operator == "address":
            return (lvalue,)
        case ir.Field(record, name) if operator == "." + name:
            return (record,)
        case ir.Binary(op, left, right) if op == operator:
            return (left, right)
    return None


def _bind(name: str, expr: ir.Expr, bound: dict[str, ir.Expr], names: Mapping[str, frozenset[str]]) -> bool:
    if name == ANYTHING:
        return True
    if name in names and not (isinstance(expr, ir.Var) and display_name(expr.name) in names[name]):
        return False
    return bound.setdefault(name, expr) == expr


def match_call(pattern: Pattern, call: ir.Call, callee: str, names: Mapping[str, frozenset[str]]) -> dict[str, ir.Expr] | None:
    """What the metavariables stand for when the call, reaching the function of linkage name `callee`, matches; else None.

    A metavariable that takes a result which the call drops is absent from the answer.
    """
    bound: dict[str, ir.Expr] = {}
    if pattern.callee is not None:
        function = ir.Var(callee, "function", call.callee.type)
        if not match_term(pattern.callee, function, bound, names):
            return None
    count = len(pattern.operands)
    if len(call.arguments) < count or (len(call.arguments) > count and not pattern.rest):
        return None
    if not all(match_term(t, a, bound, names) for t, a in zip(pattern.operands, call.arguments, strict=False)):
        return None
    if pattern.result is not None and call.result is not None and not match_term(pattern.result, call.result, bound, names):
        return None
    return bound


def occurrences(effect: ir.Effect) -> Iterator[ir.Expr]:
    """Every expression that the effect evaluates, operands first."""
    for expr in ir.expressions(effect):
        yield from ir.walk(expr)
