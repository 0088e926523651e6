"""What one function does with the addresses of functions: the constraints that `function_values` solves for a program.

A node stands for what can hold such an address: a variable (of one function, or global), the result of a function, the members of
one name, whatever the object ([TYPE-ALIASES] does so for what is read and written), a union as a whole, or all objects that are
reached through a pointer. A flow says that the values of one node can become those of another one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from analysis.cfa.graph import Cfa
from analysis.model import ir
from analysis.model.c_types import Array, Function, Pointer, Record, Type, Void
from analysis.model.kept_with import kept_with

Node = tuple[str, str]  # a function, or nothing, and a name in it
BEHIND: Node = ("", "*")
ESCAPED: Node = ("", "!")  # what goes where it is not followed
ANY: Node = ("", "?")  # a value that can be any function
RESULT = "<result>"


class Passed(NamedTuple):
    """A call: what its callee's value and its arguments can be, and where its result goes.

    `filled` are the records, by key, that a function outside of the program could fill."""

    call: ir.Call
    callee: tuple[Node, ...]
    arguments: tuple[tuple[Node, ...], ...]
    result: Node | None
    filled: tuple[tuple[int, str], ...]


class Flows(NamedTuple):
    """What one function does with addresses of functions: flows (target, source), and calls."""

    flows: frozenset[tuple[Node, Node]]
    calls: tuple[Passed, ...]
    parameters: tuple[str, ...]
    type: Function


def function_node(name: str) -> Node:
    """The node that stands for a function's address."""
    return ("&", name)


def carries(type_: Type) -> bool:
    """Whether a value of the type is followed: pointers to functions, and `void *`."""
    return isinstance(type_, Pointer) and isinstance(type_.target, Function | Void)


def element_type(type_: Type) -> Type:
    """The type of the elements of an array, also of one of arrays; any other type itself."""
    while isinstance(type_, Array):
        type_ = type_.element
    return type_


def node_of(function: str, lvalue: ir.Expr) -> Node:
    """The node of an object."""
    while isinstance(lvalue, ir.Index | ir.Cast):
        lvalue = lvalue.array if isinstance(lvalue, ir.Index) else lvalue.operand
    match lvalue:
        case ir.Var(name, scope):
            return ("", "@" + name) if scope == "global" else (function, name)
        case ir.Field(record, name):
            inner = record.type
            return ("", "u:" + inner.key) if isinstance(inner, Record) and inner.kind == "union" else ("", "." + name)
        case _:
            return BEHIND


def values(function: str, expr: ir.Expr) -> tuple[Node, ...]:
    """What a followed value can be."""
    match expr:
        case ir.Cast(operand):
            if carries(operand.type):
                return values(function, operand)
            is_code = isinstance(expr.type, Pointer) and isinstance(expr.type.target, Function)
            plain = isinstance(ir.strip_casts(operand), ir.IntConst) or (isinstance(operand.type, Pointer) and not is_code)
            return () if plain else (ANY,)
        case ir.AddressOf(ir.Var(name, "function")):
            return (function_node(name),)
        case ir.Var() | ir.Deref() | ir.Field() | ir.Index():
            return (node_of(function, expr),)
        case ir.Unknown() | ir.Binary() | ir.Unary():
            return (ANY,)
        case _:
            return ()


@kept_with
def flows_of(cfa: Cfa) -> Flows:
    """The flows of one function."""
    flows: set[tuple[Node, Node]] = set()
    passed: list[Passed] = []
    for edge in cfa.edges:
        flows.update(in_parts(cfa.name, cfa.parts[edge.id]))
        match edge.effect:
            case ir.Assign(target, value):
                flows.update(assigned(cfa.name, target, value))
            case ir.Return(value) if value is not None and carries(value.type):
                flows.update(((cfa.name, RESULT), source) for source in values(cfa.name, value))
            case ir.Call():
                one = _passed(cfa.name, edge.effect)
                if one is not None:
                    passed.append(one)
    return Flows(frozenset(flows), tuple(passed), tuple(parameter.name for parameter in cfa.parameters), cfa.type)


def assigned(function: str, target: ir.Expr, value: ir.Expr) -> Iterator[tuple[Node, Node]]:
    """The flows of an assignment."""
    if carries(target.type):
        node = node_of(function, target)
        yield from ((node, source) for source in values(function, value))
    elif isinstance(target, ir.Field) and isinstance(inner := target.record.type, Record) and inner.kind == "union":
        yield ("", "u:" + inner.key), ANY


def in_parts(function: str, parts: Iterable[ir.Expr]) -> Iterator[tuple[Node, Node]]:
    """Objects that can be reached through a pointer, and functions whose address becomes another kind of value."""
    for part in parts:
        if type(part) is ir.AddressOf:
            if isinstance(part.lvalue, ir.LVALUES) and carries(element_type(part.lvalue.type)):
                node = node_of(function, part.lvalue)
                if node != BEHIND:
                    yield node, BEHIND
                    yield BEHIND, node
        elif type(part) is ir.Cast and not carries(part.type) and is_code(part.operand.type):
            yield from ((ESCAPED, source) for source in values(function, part.operand))


def is_code(type_: Type) -> bool:
    """Whether a value of the type is a pointer to a function."""
    return isinstance(type_, Pointer) and isinstance(type_.target, Function)


def _passed(function: str, call: ir.Call) -> Passed | None:
    direct = ir.direct_callee(call)
    pointer = call.callee.pointer if isinstance(call.callee, ir.Deref) and isinstance(call.callee.type, Function) else call.callee
    callee = (function_node(direct),) if direct is not None else values(function, pointer)
    arguments = tuple(values(function, argument) if carries(argument.type) else () for argument in call.arguments)
    result = call.result
    target = node_of(function, result) if result is not None and carries(result.type) else None
    filled = tuple(found for at, one in enumerate(call.arguments) for found in _filled(at, one))
    if direct is not None and target is None and not any(arguments) and not filled:
        return None
    return Passed(call, callee, arguments, target, filled)


def _filled(at: int, argument: ir.Expr) -> Iterator[tuple[int, str]]:
    bare = ir.strip_casts(argument)
    pointed = bare.type.target if isinstance(bare.type, Pointer) else None
    if isinstance(pointed, Record):
        yield at, pointed.key
    elif pointed is not None and carries(pointed):
        yield at, ""
