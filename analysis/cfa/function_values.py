"""Which functions the values of a program can be, and so which ones its calls through pointers reach.

A points-to analysis by inclusion constraints [ANDERSEN], for addresses of functions alone. It ignores the order of statements and
which call a value came through. `function_flows` has the constraints of each function, and says what their nodes are: one for all
objects that are reached through a pointer, and one for all members of a name. So a copy of a record, also by `memcpy`, moves
nothing.

A value can be any function (ANY) where it comes from an integer, from another kind of pointer, from `va_arg`, from a function
that is not in the program, from an initialiser that is not known, or from another member of a union. In a program without `main`
a caller of a function with external linkage can pass any, too.

A call through a value that is not ANY reaches what flows there and can be called through the type (`model.compatible.fits`). That
can be nothing: then the pointer is null, or the function is not in the program.

A call through ANY reaches what is known to flow there and two kinds of functions more: those whose address is used and whose
type is compatible (C11 6.5.2.2p9), and those of a fitting type that went where they are not followed. If there are none of
these, it reaches all that `Program.targets` says by type.

Only for findings that remain possible (the automaton engine). It may overlook a target: where two records of different types
share memory in a way that C does not allow (C11 6.5p7), under other names of their members; in what does not parse; where the
bytes of a pointer are copied one by one. So nothing is proved with it: provers take the targets by type.
"""

from __future__ import annotations

from collections.abc import Iterable

from analysis.c import calls
from analysis.c.functions import Function as KnownFunction
from analysis.cfa.function_flows import (
    ANY,
    BEHIND,
    ESCAPED,
    RESULT,
    Node,
    Passed,
    assigned,
    carries,
    element_type,
    flows_of,
    in_parts,
    is_code,
    values,
)
from analysis.cfa.graph import Cfa, Global, Program, Reached
from analysis.model import ir
from analysis.model.c_types import Function, Pointer, Record, Type
from analysis.model.compatible import fits, is_compatible


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
        targets: dict[ir.Call, set[str]] = {}
        assigned: dict[ir.Call, set[str]] = {}
        for one in pointers:
            targets.setdefault(one.call, set()).update(self._targets(one))
            assigned.setdefault(one.call, set()).update(self._reaching(one))
        self.called = {
            call: Reached(tuple(sorted(found)), tuple(sorted(found & assigned[call]))) for call, found in targets.items()
        }

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
            for target, source in in_parts("", ir.walk(value)):
                self._flow(target, source)
        if carries(variable.var.type) and not variable.parts:
            for source in values("", variable.initial):
                self._flow(node, source)
        elif isinstance(variable.initial, ir.Unknown) and not variable.parts:
            self._fill(node, variable.var.type)
        for part in variable.parts:
            for target, source in assigned("", part.target, part.value):
                self._flow(target, source)

    def _fill(self, node: Node, type_: Type) -> None:
        """An object gets values that are not known."""
        element = element_type(type_)
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
                element = element_type(member.type)
                if is_code(element):
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
            self._flow(one.result, (name, RESULT))

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
        for at, key in _left_to_fill(one, known):
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
        program.functions,
        program.globals,
        program.externals,
        program.records,
        program.address_taken,
        program.exposed,
        called,
        program.edges,
    )


def _is_like(one: Program, other: Program) -> bool:
    """Whether nothing differs between two programs that the answer depends on."""
    if one.functions.keys() != other.functions.keys():
        return False
    changed = [(cfa, new) for name, cfa in one.functions.items() if (new := other.functions[name]) is not cfa]
    return (
        one.address_taken == other.address_taken
        and one.globals == other.globals
        and one.externals == other.externals
        and one.records == other.records
        and all(_constraints(cfa, one) == _constraints(new, other) for cfa, new in changed)
    )


def _constraints(cfa: Cfa, program: Program) -> tuple[object, ...]:
    """What a function adds to the constraints of its program. Calls by name are what they pass on, and get, and what a function
    outside of the program can fill: other calls that add the same are no difference."""
    flows = flows_of(cfa)
    direct, others = set[object](), set[Passed]()
    for one in flows.calls:
        name = ir.direct_callee(one.call)
        if name is None:
            others.add(one)
            continue
        filled = () if name in program.functions else _left_to_fill(one, program.known(name))
        if filled or any(one.arguments) or one.result is not None:
            direct.add((name, one.arguments, one.result, filled))
    return flows.flows, flows.parameters, flows.type, direct, others


def _left_to_fill(one: Passed, known: KnownFunction | None) -> tuple[tuple[int, str], ...]:
    """The records that a function outside of the program could fill, without those that it is known not to write."""
    written = None if known is None else calls.written_by(known, one.call)
    return tuple(filled for filled in one.filled if written is None or filled[0] in written)
