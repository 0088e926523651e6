"""Variables of inner blocks that an address may outlive (C11 6.2.4p2, p5): whatever is read or written through it then is gone.

Addresses are followed from variable to variable, whatever the order of the edges and the context of calls (as
Andersen's points-to analysis does, without what memory holds: an address that is stored in memory may be
anywhere). The address of a variable outlives it if it may be stored in a variable of an enclosing block, or
in memory. Formulas do not follow where blocks end (runs do). So they do not know whether such a variable still exists
when it is read through a pointer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import zip_longest

from analysis.c.aliasing import has_room_for_address
from analysis.c.calls import is_null
from analysis.c.functions import known
from analysis.cfa.addresses_taken import taken_by
from analysis.cfa.graph import Cfa, Edge, Program
from analysis.model import ir
from analysis.model.comparisons import COMPARISONS
from analysis.model.kept_with import kept_with

Node = tuple[str, str]
_MEMORY: Node = ("", "")
_RESULT = "return"


@kept_with
def outlived(program: Program) -> Mapping[str, frozenset[str]]:
    """The variables of each function that an address may outlive; functions without any are absent."""
    return dict(_find(program)) if any(cfa.blocks for cfa in program.functions.values()) else {}


def _find(program: Program) -> Iterator[tuple[str, frozenset[str]]]:
    flows: dict[Node, set[Node]] = {}
    pointed = {(cfa.name, variable) for cfa in program.functions.values() for variable in taken_by(cfa).own}
    for cfa in program.functions.values():
        for edge in cfa.edges:
            for source, target in _moves(program, cfa, edge):
                # a variable that is pointed to can be read as memory
                flows.setdefault(source, set()).add(_MEMORY if target in pointed else target)
    for name, cfa in program.functions.items():
        inner = [variable for variable, block in cfa.blocks.items() if block]
        found = frozenset(v for v in inner if _is_outlived(cfa, v, _reached(flows, (name, "&" + v))))
        if found:
            yield name, found


def _is_outlived(cfa: Cfa, variable: str, holders: Iterable[Node]) -> bool:
    block = cfa.blocks[variable]
    for holder in holders:
        if holder == _MEMORY:
            return True
        function, name = holder
        is_variable = function == cfa.name and name != _RESULT and (not name.startswith("$") or name in cfa.blocks)
        if is_variable and cfa.blocks.get(name, ())[: len(block)] != block:
            return True
    return False


def _reached(flows: Mapping[Node, set[Node]], start: Node) -> set[Node]:
    reached: set[Node] = set()
    waiting = [start]
    while waiting:
        for node in flows.get(waiting.pop(), ()):
            if node not in reached:
                reached.add(node)
                waiting.append(node)
    return reached


def _moves(program: Program, cfa: Cfa, edge: Edge) -> Iterator[tuple[Node, Node]]:
    """From where to where an edge may bring addresses."""
    match edge.effect:
        case ir.Assign(target, value):
            for source in _held(cfa.name, value):
                yield source, _holder(cfa.name, target)
        case ir.Return(value) if value is not None:
            for source in _held(cfa.name, value):
                yield source, (cfa.name, _RESULT)
        case ir.Call() as call:
            for name in program.targets(call) or ("",):
                yield from _through_call(program, cfa.name, call, name)


def _through_call(program: Program, caller: str, call: ir.Call, name: str) -> Iterator[tuple[Node, Node]]:
    callee = program.functions.get(name)
    result = None if call.result is None else _holder(caller, call.result)
    if callee is not None and result is not None:
        yield (name, _RESULT), result
    parameters = () if callee is None else callee.parameters
    for argument, parameter in zip_longest(call.arguments, parameters):
        for source in () if argument is None else _held(caller, argument):
            if callee is not None:  # what has no parameter is read by `va_arg`
                yield source, _MEMORY if parameter is None else (name, parameter.name)
                continue
            if not forgets(name, call):
                yield source, _MEMORY
            if result is not None and call.result is not None and has_room_for_address(call.result.type):
                yield source, result


def forgets(name: str, call: ir.Call) -> bool:
    """Whether an external function keeps no pointer that it is given, but for what it returns. Functions like `strtol` store
    one where another points to."""
    function = known(name)
    if function is None:
        return False
    links = (call.arguments[at] for at in function.positions("link") if at < len(call.arguments))
    return function.is_complete and not function.keeps and not function.calls_code and all(map(is_null, links))


def _holder(function: str, target: ir.Expr) -> Node:
    root = ir.root(target)
    return (function, root.name) if isinstance(root, ir.Var) and root.scope != "global" else _MEMORY


def _held(function: str, expr: ir.Expr) -> Iterator[Node]:
    """What a value may be the address of (with a `&`), and the variables that it may be the value of. What is read through
    pointers is neither: addresses in memory are not followed."""
    if not has_room_for_address(expr.type):
        return
    match expr:
        case ir.AddressOf(lvalue):
            root = ir.root(lvalue)
            if isinstance(root, ir.Var):
                yield function, "&" + root.name
            elif isinstance(root, ir.Deref):
                yield from _held(function, root.pointer)
        case ir.Var() | ir.Field() | ir.Index():
            root = ir.root(expr)
            if isinstance(root, ir.Var):
                yield function, root.name
        case ir.Binary(operator) if operator in COMPARISONS:
            return
        case ir.Cast() | ir.Unary() | ir.Binary():
            for operand in ir.operands(expr):
                yield from _held(function, operand)
