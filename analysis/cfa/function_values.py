"""Which functions the values of a program can be, and so which ones its calls through pointers reach.

A points-to analysis by inclusion constraints [ANDERSEN], for addresses of functions alone: it ignores the order of statements and
which call a value came through. Its nodes are variables (of one function, or global), results of functions, members by their
names, whatever the object ([TYPE-ALIASES] does so for what is read and written), a union as a whole, and one node for all objects
that are reached through a pointer. So a copy of a record, also by `memcpy`, moves nothing.

What a value can be is not known (ANY) where it comes from an integer, from another kind of pointer, from `va_arg`, from a
function that is not in the program, from an initialiser that is not known, from another member of a union, or, in a program
without `main`, from a caller of a function with external linkage. A call through such a value reaches, beside what is known to
flow there, all functions whose address is used and whose type is compatible (C11 6.5.2.2p9), and those of a fitting type that
went where they are not followed; if these are none, those that `Program.targets` says by type. Otherwise it reaches what flows
there and can be called through the type (`model.compatible.fits`). That can be nothing: then the pointer is null, or the
function is not in the program.

Only for findings that remain possible (the automaton engine). It may overlook a target: where two records of different types
share memory in a way that C does not allow (C11 6.5p7), under other names of their members; in what does not parse; where the
bytes of a pointer are copied one by one. So nothing is proved with it: provers take the targets by type.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from analysis.c import calls
from analysis.cfa.graph import Cfa, Global, Program
from analysis.model import ir
from analysis.model.c_types import Array, Function, Pointer, Record, Type, Void
from analysis.model.compatible import fits, is_compatible
from analysis.model.kept_with import kept_with

Node = tuple[str, str]  # a function, or nothing, and a name in it
BEHIND: Node = ("", "*")
ESCAPED: Node = ("", "!")  # what goes where it is not followed
ANY: Node = ("", "?")  # a value that can be any function
_RESULT = "<result>"


class Passed(NamedTuple):
    """A call: what its callee's value and its arguments can be, and where its result goes; `returned` is the result's type.
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


def _element(type_: Type) -> Type:
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
        flows.update(_in_parts(cfa.name, cfa.parts[edge.id]))
        match edge.effect:
            case ir.Assign(target, value):
                flows.update(_assigned(cfa.name, target, value))
            case ir.Return(value) if value is not None and carries(value.type):
                flows.update(((cfa.name, _RESULT), source) for source in values(cfa.name, value))
            case ir.Call():
                one = _passed(cfa.name, edge.effect)
                if one is not None:
                    passed.append(one)
    return Flows(frozenset(flows), tuple(passed), tuple(parameter.name for parameter in cfa.parameters), cfa.type)


def _assigned(function: str, target: ir.Expr, value: ir.Expr) -> Iterator[tuple[Node, Node]]:
    if carries(target.type):
        node = node_of(function, target)
        yield from ((node, source) for source in values(function, value))
    elif isinstance(target, ir.Field) and isinstance(inner := target.record.type, Record) and inner.kind == "union":
        yield ("", "u:" + inner.key), ANY


def _in_parts(function: str, parts: Iterable[ir.Expr]) -> Iterator[tuple[Node, Node]]:
    """Objects that can be reached through a pointer, and functions whose address becomes another kind of value."""
    for part in parts:
        if isinstance(part, ir.AddressOf) and isinstance(part.lvalue, ir.LVALUES) and carries(_element(part.lvalue.type)):
            node = node_of(function, part.lvalue)
            if node != BEHIND:
                yield node, BEHIND
                yield BEHIND, node
        elif isinstance(part, ir.Cast) and not carries(part.type) and _is_code(part.operand.type):
            yield from ((ESCAPED, source) for source in values(function, part.operand))


def _is_code(type_: Type) -> bool:
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


class _Solution:
    """Solves the constraints of a program."""

    def __init__(self, program: Program) -> None:
        self._program = program
        parts = {name: flows_of(cfa) for name, cfa in program.functions.items()}
        self._values: dict[Node, set[str]] = {}
        self._into: dict[Node, set[Node]] = {}
        self._work: list[tuple[Node, str]] = []
        self._types = {name: known for name in sorted(program.address_taken) if (known := program.function_type(name))}
        self._compatible: dict[Function, frozenset[str]] = {}
        self._bound: set[tuple[int, str]] = set()
        for part in parts.values():
            for target, source in part.flows:
                self._flow(target, source)
        for variable in program.globals.values():
            self._begin(variable)
        if "main" not in program.functions:
            for name in parts:
                if "::" not in name:
                    self._called_from_outside(name)
        calls_ = [one for part in parts.values() for one in part.calls]
        for one in calls_:
            direct = ir.direct_callee(one.call)
            if direct is not None:
                self._bind(one, direct)
        pointers = [one for one in calls_ if ir.direct_callee(one.call) is None]
        self._propagate()
        while self._resolve(pointers) or self._resolve_outside(pointers):
            self._propagate()
        self.called: dict[ir.Call, tuple[str, ...]] = {}
        for one in pointers:
            found = self._targets(one) | set(self.called.get(one.call, ()))
            self.called[one.call] = tuple(sorted(found))

    def _flow(self, target: Node, source: Node) -> None:
        if source[0] == "&" or source == ANY:
            self._add(target, source[1])
            return
        following = self._into.setdefault(source, set())
        if target not in following:
            following.add(target)
            for value in self._values.get(source, ()):
                self._add(target, value)

    def _add(self, node: Node, value: str) -> None:
        have = self._values.setdefault(node, set())
        if value not in have:
            have.add(value)
            self._work.append((node, value))

    def _propagate(self) -> None:
        while self._work:
            node, value = self._work.pop()
            if node == ESCAPED and value != ANY[1]:
                self._called_from_outside(value)
            for target in self._into.get(node, ()):
                self._add(target, value)

    def _begin(self, variable: Global) -> None:
        """The values with which a variable begins."""
        node = ("", "@" + variable.var.name)
        given = (variable.initial, *(part.value for part in variable.parts))
        for value in given:
            for target, source in _in_parts("", ir.walk(value)):
                self._flow(target, source)
        if carries(variable.var.type) and not variable.parts:
            for source in values("", variable.initial):
                self._flow(node, source)
        elif isinstance(variable.initial, ir.Unknown) and not variable.parts:
            self._fill(node, variable.var.type)
        for part in variable.parts:
            for target, source in _assigned("", part.target, part.value):
                self._flow(target, source)

    def _fill(self, node: Node, type_: Type) -> None:
        """An object gets values that are not known."""
        element = _element(type_)
        if carries(element):
            self._flow(node, ANY)
        elif isinstance(element, Record):
            for inner in self._members(element.key):
                self._flow(inner, ANY)

    def _members(self, key: str) -> frozenset[Node]:
        """The nodes of the pointers to functions in a record, and in the records in it."""
        found: set[Node] = set()
        work, seen = [key], {key}
        while work:
            here = work.pop()
            record = self._program.records.get(here)
            for member in () if record is None else record.members:
                element = _element(member.type)
                if _is_code(element):
                    found.add(("", "u:" + here) if record is not None and record.kind == "union" else ("", "." + member.name))
                elif isinstance(element, Record) and element.key not in seen:
                    seen.add(element.key)
                    work.append(element.key)
        return frozenset(found)

    def _called_from_outside(self, name: str) -> None:
        """A function of the program can be called by code that is not."""
        cfa = self._program.functions.get(name)
        for parameter in () if cfa is None else cfa.parameters:
            if carries(parameter.type):
                self._flow((name, parameter.name), ANY)

    def _resolve(self, pointers: Iterable[Passed]) -> bool:
        """Binds calls to functions that they are found to reach; whether there were any."""
        grown = False
        for number, one in enumerate(pointers):
            for target in sorted(self._targets(one)):
                if (number, target) not in self._bound:
                    self._bound.add((number, target))
                    self._bind(one, target)
                    grown = True
        return grown

    def _resolve_outside(self, pointers: Iterable[Passed]) -> bool:
        """The same for functions that are not known, as soon as it is known which calls reach none of the program's."""
        grown = False
        for number, one in enumerate(pointers):
            if self._is_open(one) and (number, "") not in self._bound:
                self._bound.add((number, ""))
                self._bind_outside(one, "")
                grown = True
        return grown

    def _reaching(self, one: Passed) -> set[str]:
        found = {source[1] for source in one.callee if source[0] == "&"}
        return found.union(*(self._values.get(source, ()) for source in one.callee if source[0] != "&"))

    def _is_open(self, one: Passed) -> bool:
        """Whether it is not known what the call reaches, or it is nothing of the program."""
        return ANY in one.callee or ANY[1] in self._reaching(one) or not self._targets(one)

    def _targets(self, one: Passed) -> set[str]:
        """The functions that a call through a pointer is known to reach by now."""
        type_ = one.call.callee.type
        type_ = type_.target if isinstance(type_, Pointer) else type_
        if not isinstance(type_, Function):
            return set()
        reaching = self._reaching(one)
        found = {name for name in reaching if self._fits(type_, name)}
        if ANY in one.callee or ANY[1] in reaching:
            found |= self._compatible_with(type_)
            found |= {name for name in self._values.get(ESCAPED, ()) if self._fits(type_, name)}
            found = found or {name for name in self._types if self._fits(type_, name)}
        return found

    def _fits(self, pointer: Function, name: str) -> bool:
        type_ = self._program.function_type(name)
        return type_ is not None and fits(pointer, type_)

    def _compatible_with(self, type_: Function) -> frozenset[str]:
        found = self._compatible.get(type_)
        if found is None:
            names = (name for name, known in self._types.items() if is_compatible(type_, known))
            found = self._compatible[type_] = frozenset(names)
        return found

    def _bind(self, one: Passed, name: str) -> None:
        """The call reaches a function."""
        cfa = self._program.functions.get(name)
        if cfa is None:
            self._bind_outside(one, name)
            return
        for at, sources in enumerate(one.arguments):
            target = (name, cfa.parameters[at].name) if at < len(cfa.parameters) else ESCAPED
            for source in sources:
                self._flow(target, source)
        if one.result is not None:
            self._flow(one.result, (name, _RESULT))

    def _bind_outside(self, one: Passed, name: str) -> None:
        """The call reaches a function outside of the program, one that is not known if it has no name."""
        for sources in one.arguments:
            for source in sources:
                self._flow(ESCAPED, source)
        known = self._program.known(name)
        if known is not None and known.result == "argument" and one.result is not None and known.of < len(one.arguments):
            for source in one.arguments[known.of]:
                self._flow(one.result, source)
        elif one.result is not None and (known is None or known.result == "any"):
            self._flow(one.result, ANY)
        self._fill_arguments(one, name)

    def _fill_arguments(self, one: Passed, name: str) -> None:
        """A function outside of the program stores what is not known. One of the library's does so in records that it knows."""
        known, type_ = self._program.known(name), self._program.function_type(name)
        written = None if known is None else calls.written_by(known, one.call)
        for at, key in one.filled:
            if written is not None and at not in written:
                continue
            declared = type_.parameters[at] if type_ is not None and at < len(type_.parameters) else None
            if known is not None and not (isinstance(declared, Pointer) and isinstance(declared.target, Record)):
                continue
            for node in self._members(key) if key else (BEHIND,):
                self._flow(node, ANY)


def with_values(program: Program, before: Program | None = None) -> Program:
    """The program with `Program.called`, for what rests nothing on it. `before` is what this made of the revision before: where
    nothing differs that matters, it has the same answer."""
    known = None if before is None or not _is_like(before, program) else before.called
    called = _Solution(program).called if known is None else known
    return Program(
        program.functions, program.globals, program.externals, program.records, program.address_taken, program.exposed, called
    )


def _is_like(one: Program, other: Program) -> bool:
    """Whether nothing differs between two programs that the answer depends on."""
    if one.functions.keys() != other.functions.keys():
        return False
    both = ((cfa, other.functions[name]) for name, cfa in one.functions.items())
    return (
        one.address_taken == other.address_taken
        and one.globals == other.globals
        and one.externals == other.externals
        and one.records == other.records
        and all(cfa is new or flows_of(cfa) == flows_of(new) for cfa, new in both)
    )
