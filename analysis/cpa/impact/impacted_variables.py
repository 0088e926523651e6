"""The variables that may differ between two revisions at each location ([IPA] section 4.3, Algorithms 3 and 4).

One fixed point over the joint graph of both revisions: an edge is impacted if it is changed, reads what is impacted, or is in a
region that an impacted branch decides; what it writes is impacted from there on. Calls are followed, without contexts: into the
callee and back to all callers. Memory is told apart by kinds of accesses (`cpa.effects`). What is not understood is impacted.

An edge that is not impacted gives the variable that it assigns the value that it had before: unlike in the paper, this one
is then not impacted any more.

Beside what may differ there is what is doubted: the variables of an impacted condition. They have the values that they had, but
what was known of them behind the condition need not hold any more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from analysis.c.blocks import ALLOCATIONS
from analysis.c.functions import known as known_function
from analysis.cfa.addresses_taken import pointed_statics, taken_by
from analysis.cfa.callgraph import callees
from analysis.cfa.revisions.location_map import ProgramMap
from analysis.cpa.effects.state_places import ANY, tags_in
from analysis.cpa.effects.writes import NO_WRITES, WholeProgram, Writes
from analysis.cpa.impact.control_regions import ControlRegions
from analysis.cpa.impact.joint_graph import JointEdge, JointGraph, Node, old_name, renaming
from analysis.model import ir
from analysis.model.c_types import Pointer, Void
from analysis.model.verifiers import is_assumption, is_input

RESULT = "$result"  # what a function returns
NEXT = "#next"  # where the next block is allocated
_ANYTHING = Writes(memory=frozenset({ANY}), named=True, undefined=True)
_NO_TYPE = Void()


class _EitherRevision(WholeProgram):
    """The new program; pointers may lead to what the address is taken of in either revision."""

    def __init__(self, pair: ProgramMap, closed: bool) -> None:
        super().__init__(pair.new, closed)
        self._pair = pair
        self._pointed: dict[str, frozenset[str]] = {}

    def taken(self, function: str) -> frozenset[str]:
        """The parameters and local variables of a function whose address is used in either revision."""
        known = self._pointed.get(function)
        if known is None:
            known, mapped = super().taken(function), self._pair.functions.get(function)
            if mapped is not None:
                known |= {mapped.variables.get(name, name) for name in taken_by(mapped.old).own}
            self._pointed[function] = known
        return known

    def is_taken(self, base: ir.Var, function: str) -> bool:
        """Whether somebody can have the address of a variable in either revision."""
        if super().is_taken(base, function):
            return True
        return base.scope == "global" and old_name(self._pair, base.name) in pointed_statics(self._pair.old)


class Impact:
    """What a change impacts. `everything`: nothing is known to be as it was. `controlled` are the locations that one revision may
    pass more often than the other,."""

    def __init__(self, pair: ProgramMap, *, is_whole: bool) -> None:
        self.pair = pair
        self._graph = JointGraph(pair)
        self._now, self._before = _EitherRevision(pair, is_whole), WholeProgram(pair.old, is_whole)
        self._rename = renaming(pair)
        self.everything = not pair.records or bool(self._now.obstacle() or self._before.obstacle())
        self.controlled: set[Node] = set()
        self._differs: dict[Node, Writes] = {}
        self._doubted: dict[Node, Writes] = {}
        self._leaving: dict[Node, list[JointEdge]] = {}
        self._arriving: dict[str, list[JointEdge]] = {}
        self._regions: dict[str, ControlRegions] = {}
        self._waiting: dict[Node, None] = {}
        if not self.everything:
            self._solve()

    def at(self, function: str, location: int) -> Writes:
        """What is impacted at a location of the new revision; local variables as `function|name`."""
        node = (function, location)
        return self._differs.get(node, NO_WRITES).joined(self._doubted.get(node, NO_WRITES))

    def differs(self, function: str, location: int) -> Writes:
        """Of that, what may have another value when both revisions are there."""
        return self._differs.get((function, location), NO_WRITES)

    def is_impacted(self, variable: ir.Var, function: str, writes: Writes) -> bool:
        """Whether a variable of a function, or with static storage, is among what is impacted."""
        return self._now.changes(writes, variable, function, f"{function}|{variable.name}")

    # -- the fixed point ----------------------------------------------------------------------------------------

    def _solve(self) -> None:
        for edges in self._graph.edges.values():
            for edge in edges:
                self._leaving.setdefault((edge.function, edge.source), []).append(edge)
                for target in edge.targets:
                    self._arriving.setdefault(target, []).append(edge)
        for function, edges in self._graph.edges.items():
            entry, _ = self._graph.ends(function)
            first = NO_WRITES
            if self.pair.globals:
                first = self._spread(Writes(variables=self.pair.globals), function)
            self._join(self._differs, (function, entry), first)
            for edge in edges:
                self._waiting[function, edge.source] = None
        while self._waiting:
            node = next(iter(self._waiting))
            del self._waiting[node]
            for edge in self._leaving.get(node, ()):
                self._take(edge)
            if node[1] == self._graph.ends(node[0])[1]:
                self._return(node)

    def _take(self, edge: JointEdge) -> None:
        source, target = (edge.function, edge.source), (edge.function, edge.target)
        known = self._differs.get(source, NO_WRITES)
        is_forced = edge.is_changed or source in self.controlled or self._graph.is_other(edge)
        is_impacted = is_forced or isinstance(edge.effect, ir.Unsupported) or self._reads(edge, known)
        written, doubted = known, self._doubted.get(source, NO_WRITES)
        if is_impacted:
            written = written.joined(self._written(edge, is_forced=is_forced))
            doubted = doubted.joined(self._conditions(edge))
            if edge.is_changed or isinstance(edge.effect, ir.Assume | ir.Unsupported):
                self._control(edge)
        elif isinstance(edge.effect, ir.Assign):
            written, doubted = _without(written, edge), _without(doubted, edge)
        if isinstance(edge.effect, ir.Call):
            self._enter(edge, known, doubted, is_forced=is_forced)
        self._join(self._differs, target, written)
        self._join(self._doubted, target, doubted)

    def _join(self, table: dict[Node, Writes], node: Node, more: Writes) -> None:
        before = table.get(node, NO_WRITES)
        after = before.joined(more)
        if after != before:
            table[node] = after
            self._waiting[node] = None

    def _control(self, edge: JointEdge) -> None:
        regions = self._regions.get(edge.function)
        if regions is None:
            regions = self._regions[edge.function] = self._new_regions(edge.function)
        self._controls((edge.function, node) for node in regions.of(edge.source))

    def _new_regions(self, function: str) -> ControlRegions:
        following: dict[int, list[int]] = {}
        nodes: dict[int, None] = dict.fromkeys(self._graph.ends(function))
        for edge in self._graph.edges[function]:
            following.setdefault(edge.source, []).append(edge.target)
            nodes.update(dict.fromkeys((edge.source, edge.target)))
        ways = {node: tuple(dict.fromkeys(after)) for node, after in following.items()}
        return ControlRegions(nodes, ways, self._graph.ends(function)[1])

    def _controls(self, nodes: Iterable[Node]) -> None:
        for node in nodes:
            if node not in self.controlled:
                self.controlled.add(node)
                self._waiting[node] = None

    # -- calls --------------------------------------------------------------------------------------------------

    def _enter(self, edge: JointEdge, known: Writes, doubted: Writes, *, is_forced: bool) -> None:
        call = edge.effect
        assert isinstance(call, ir.Call)
        is_other = is_forced or self._reads_parts(edge, call.callee, known)
        for target in edge.targets:
            if is_other:
                self._controls_all(target)
            cfa = self.pair.new.functions.get(target)
            if cfa is None:
                continue
            passed = known
            for position, argument in enumerate(call.arguments):
                if is_other or self._reads_parts(edge, argument, known):
                    if position >= len(cfa.parameters):
                        self._controls_all(target)
                        continue
                    passed = passed.joined(self._spread(Writes(locals=frozenset({cfa.parameters[position].name})), target))
            self._join(self._differs, (target, cfa.entry), passed)
            self._join(self._doubted, (target, cfa.entry), doubted)
            self._waiting[target, cfa.exit] = None  # what it returns may be known already

    def _controls_all(self, function: str) -> None:
        """All of a function, and of what it calls in either revision, may run more often than before."""
        seen, waiting = {function}, [function]
        while waiting:
            name = waiting.pop()
            if name in self._graph.edges:
                self._controls((name, location) for edge in self._graph.edges[name] for location in (edge.source, edge.target))
                for edge in self._graph.edges[name]:
                    waiting += [other for other in edge.targets if other not in seen]
                    seen.update(edge.targets)
            for other in callees(self.pair.old).get(old_name(self.pair, name), ()):
                other = self._rename(ir.Var(other, "function", _NO_TYPE)).name
                if other not in seen:
                    seen.add(other)
                    waiting.append(other)

    def _return(self, node: Node) -> None:
        function = node[0]
        known, doubted = self._differs.get(node, NO_WRITES), self._doubted.get(node, NO_WRITES)
        is_other = f"{function}|{RESULT}" in known.locals
        for call in self._arriving.get(function, ()):
            target = (call.function, call.target)
            written = known
            if is_other:
                written = written.joined(self._to_result(call))
            self._join(self._differs, target, written)
            self._join(self._doubted, target, doubted)

    def _to_result(self, edge: JointEdge) -> Writes:
        result = ir.target_of(edge.effect)
        return NO_WRITES if result is None else self._to(edge, result)

    # -- what an edge reads and writes --------------------------------------------------------------------------

    def _reads(self, edge: JointEdge, known: Writes) -> bool:
        if known == NO_WRITES:
            return False
        if isinstance(edge.effect, ir.Call) and self._calls_reader(edge, known):
            return True
        return any(self._reads_parts(edge, expr, known) for expr in ir.expressions_read(edge.effect))

    def _reads_parts(self, edge: JointEdge, expr: ir.Expr, known: Writes) -> bool:
        return any(
            self._now.changes(known, part, edge.function, f"{edge.function}|{base.name if isinstance(base, ir.Var) else ''}")
            for part in ir.walk(expr)
            if isinstance(part, ir.LVALUES) and not (isinstance(base := ir.root(part), ir.Var) and base.scope == "function")
        )

    def _calls_reader(self, edge: JointEdge, known: Writes) -> bool:
        """Whether a call reaches a function without a body that may read what is impacted beside its arguments."""
        call = edge.effect
        assert isinstance(call, ir.Call)
        if not edge.targets:
            return True
        for name in edge.targets:
            if name in self.pair.new.functions or is_input(name) or is_assumption(name):
                continue
            if name in ALLOCATIONS:
                if NEXT in known.variables:
                    return True
                continue
            function = known_function(name)
            leads = any(isinstance(argument.type, Pointer) for argument in call.arguments)
            is_open = function is None or not function.is_complete or function.calls_code or bool(function.besides)
            if (is_open or leads) and (known.variables or known.memory or known.named or known.undefined):
                return True
        return False

    def _written(self, edge: JointEdge, *, is_forced: bool) -> Writes:
        match edge.effect:
            case ir.Assign(target):
                return self._to(edge, target)
            case ir.Return():
                return Writes(locals=frozenset({f"{edge.function}|{RESULT}"}))
            case ir.Call() as call:
                return self._to_result(edge).joined(self._called(edge, call, is_forced=is_forced))
            case ir.Unsupported():
                names = frozenset(f"{edge.function}|{v.name}" for v in self._variables(edge.function))
                return _ANYTHING.joined(Writes(frozenset(self.pair.new.globals), names))
        return NO_WRITES

    def _called(self, edge: JointEdge, call: ir.Call, *, is_forced: bool) -> Writes:
        """What a call changes but for its result: of a function with a body, if it may not be called any more, or only now."""
        whole = self._before if edge.is_old else self._now
        found = Writes(variables=frozenset({NEXT}))
        for name in edge.targets:
            mine = old_name(self.pair, name) if edge.is_old else name
            if mine in whole.program.functions:
                found = found.joined(self._renamed(whole.writes(mine), edge)) if is_forced else found
            elif not is_assumption(name):
                found = found.joined(self._renamed(whole.external(mine, call), edge))
        if whole.is_open(call):
            found = found.joined(_ANYTHING).joined(Writes(frozenset(self.pair.new.globals)))
        return self._spread(found, edge.function)

    def _renamed(self, writes: Writes, edge: JointEdge) -> Writes:
        """What a program writes, in the names of the new one."""
        if not edge.is_old:
            return writes
        back = {theirs: mine for mine, theirs in self.pair.linked.items()}
        return msgspec.structs.replace(writes, variables=frozenset(back.get(name, name) for name in writes.variables))

    def _conditions(self, edge: JointEdge) -> Writes:
        """The variables of a condition, which decides more or less than before."""
        effect, found = edge.effect, NO_WRITES
        read: tuple[ir.Expr, ...] = ()
        if isinstance(effect, ir.Assume):
            read = (effect.condition,)
        elif isinstance(effect, ir.Call) and any(map(is_assumption, edge.targets)):
            read = effect.arguments
        for expr in read:
            for part in ir.walk(expr):
                if isinstance(part, ir.LVALUES):
                    found = found.joined(self._to(edge, part))
        return found

    def _to(self, edge: JointEdge, target: ir.Expr) -> Writes:
        return self._spread(self._now.written_by(target), edge.function)

    def _spread(self, writes: Writes, function: str) -> Writes:
        """What is written as edges and calls say it, with local variables by function, and with the accesses through pointers
        that can be to the variables."""
        memory = set(writes.memory)
        if writes.named or writes.undefined:
            memory.add(ANY)
        records = self.pair.new.records
        for name in writes.variables & self.pair.new.globals.keys():
            variable = self.pair.new.globals[name].var
            if self._now.is_taken(variable, function):
                memory |= tags_in(variable.type, records)
        plain = {name for name in writes.locals if "|" not in name}
        if plain and (taken := plain & self._now.taken(function)):
            for variable in self._variables(function):
                if variable.name in taken:
                    memory |= tags_in(variable.type, records)
        names = frozenset(name if "|" in name else f"{function}|{name}" for name in writes.locals)
        return msgspec.structs.replace(writes, locals=names, memory=frozenset(memory))

    def _variables(self, function: str) -> Iterator[ir.Var]:
        """The parameters and local variables of a function, as far as it mentions them."""
        cfa = self.pair.new.functions[function]
        found = dict.fromkeys(cfa.parameters)
        for parts in cfa.parts.values():
            found.update(dict.fromkeys(part for part in parts if isinstance(part, ir.Var)))
        yield from (variable for variable in found if variable.scope not in ("global", "function"))


def _without(writes: Writes, edge: JointEdge) -> Writes:
    """Without the local variable that an edge assigns as a whole."""
    target = ir.target_of(edge.effect)
    if not isinstance(target, ir.Var) or target.scope == "global":
        return writes
    return msgspec.structs.replace(writes, locals=writes.locals - {f"{edge.function}|{target.name}"})
