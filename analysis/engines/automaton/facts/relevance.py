"""Which variables can matter to a rule: those whose value can flow, by assignments, arguments and results, to where the rule
reports.

Most variables that are set to 0 never become a divisor. The flow is computed backwards from the places of
error transitions. It ignores the order of statements. Its nodes stand for sets of objects: a variable of a
function, a global, a member name, a function's result, and one node for everything else behind pointers. It
leaves out values that the rule could track but never report, so findings are the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from copy import copy

from analysis.cfa.graph import Cfa, Program
from analysis.engines.automaton.facts.value_flows import BEHIND, Node, Part, ValueFlows
from analysis.engines.automaton.functions.access_paths import RESULT, Path, beside, lvalue_cell, root_of
from analysis.engines.automaton.functions.matching import Matcher
from analysis.model import ir
from analysis.model.c_types import Pointer, spell
from analysis.rules.automaton import ERROR, Rule


def node_of(function: str, path: Path) -> Node:
    """The node of the object that holds the path's value."""
    if path[-1] == "&":
        return BEHIND
    while path[-1][0] == "[":
        path = path[:-1]
    if path[-1][0] == "." and len(path) > 1:
        return ("", path[-1])
    if any(operation[0] == "*" for operation in path[1:]):
        return BEHIND
    return ("", path[0]) if path[0][0] == "@" else (function, path[0])


class Relevance:
    """The relevant nodes of each rule of one program. Rules that report when a value is lost or a function left have no use
    for it."""

    def __init__(self, program: Program, rules: Iterable[Rule], matcher: Matcher) -> None:
        self._program = program
        self._matcher = matcher
        self._followed = _followed(rules)
        self._parts = {name: self._read(program.functions[name]) for name in sorted(program.functions)}
        self._value_flows = ValueFlows(self._followed, self._parts.values())

    @property
    def nodes(self) -> Mapping[int, frozenset[Node]]:
        """The nodes that matter to each rule; of a rule to which the same ones matter after an edit, the same object."""
        return self._value_flows.nodes

    def revise(self, program: Program, matcher: Matcher, changed: Iterable[str]) -> None:
        """Goes on to a program in which some functions differ, or what they call does, or which lacks some."""
        self._program, self._matcher = program, matcher
        read = {name: self._read(program.functions[name]) for name in changed}
        read = {name: part for name, part in read.items() if part != self._parts.get(name)}
        others = [name for name in self._parts if name in read or name not in program.functions]
        before = [self._parts.pop(name) for name in others]
        self._parts |= read
        self._value_flows.exchange(before, read.values())

    def under(self, rules: Iterable[Rule], matcher: Matcher, matched: Iterable[str]) -> Relevance:
        """The relevance in the same program under other rules; `matched` are the functions in which those that differ match."""
        other = copy(self)
        other._matcher = matcher
        other._followed = _followed(rules)
        other._parts = self._parts | {name: other._read(self._program.functions[name]) for name in matched}
        other._value_flows = ValueFlows(other._followed, other._parts.values())
        return other

    def matters(self, rule: int, function: str, path: Path) -> bool:
        """Whether a value that begins to be tracked at the path can reach a place where the rule reports."""
        nodes = self.nodes.get(rule)
        if nodes is None:
            return True
        start = node_of(function, path)
        return start in nodes or start == BEHIND

    def _read(self, cfa: Cfa) -> Part:
        sinks = {
            (match.rule, node_of(cfa.name, match.path))
            for edge in cfa.edges
            for match in self._matcher.edge(edge).before
            if match.target == ERROR and match.path is not None
        }
        return frozenset(flow for edge in cfa.edges for flow in self._flows(cfa, edge.effect)), frozenset(sinks)

    def _flows(self, cfa: Cfa, effect: ir.Effect) -> Iterator[tuple[Node, Node]]:
        match effect:
            case ir.Assign(target, value):
                yield from self._flow(node(cfa.name, target), cfa.name, value)
            case ir.Return(value) if value is not None:
                yield from self._flow((cfa.name, RESULT), cfa.name, value)
            case ir.Call(_, arguments, result):
                for callee in self._program.targets(effect):
                    known = self._program.functions.get(callee)
                    if known is None:
                        continue
                    for parameter, argument in zip(known.parameters, arguments, strict=False):
                        yield from self._flow((callee, root_of(parameter)), cfa.name, argument)
                    if result is not None:
                        yield node(cfa.name, result), (callee, RESULT)

    def _flow(self, target: Node, function: str, value: ir.Expr) -> Iterator[tuple[Node, Node]]:
        bare = ir.strip_casts(beside(value) or value)
        if isinstance(bare, ir.LVALUES):
            yield target, node(function, bare)
        for part in ir.walk(value):
            if isinstance(part, ir.AddressOf) and isinstance(part.lvalue, ir.LVALUES) and isinstance(part.lvalue.type, Pointer):
                # the pointer object can be read and written as what it is, and as what a pointer to it points to
                behind: Node = ("", "*" + spell(part.lvalue.type))
                yield behind, node(function, part.lvalue)
                yield node(function, part.lvalue), behind


def _followed(rules: Iterable[Rule]) -> tuple[int, ...]:
    return tuple(number for number, rule in enumerate(rules) if not rule.about_object)


def node(function: str, lvalue: ir.Expr) -> Node:
    """The node of an lvalue."""
    member = lvalue
    while isinstance(member, ir.Index | ir.Cast):
        member = member.array if isinstance(member, ir.Index) else member.operand
    if isinstance(member, ir.Field):
        return ("", "." + member.name)
    cell = lvalue_cell(lvalue)
    return ("", cell) if cell[0] in "@.*?" else (function, cell)
