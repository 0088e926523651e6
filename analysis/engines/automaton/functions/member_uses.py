"""What one function does with the members of structures that are pointers, and with the objects that have them: `owned_members`
puts that together for the program.

It depends on the function's own text, and on which functions of the library free and allocate by a rule, and which functions its
calls reach. What is stored comes from sources: a function that allocates, a function of the program, or something else.
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from typing import Any

from analysis.cfa.graph import Cfa, Edge, Program
from analysis.engines.automaton.functions.access_paths import Path, path_of, root_of
from analysis.engines.automaton.functions.matching import Matcher
from analysis.engines.automaton.functions.member_use_sets import MADE, OTHER, Member, Passed, Release, Source, Uses
from analysis.engines.automaton.functions.resized_members import is_there_before, may_go_on
from analysis.model import ir
from analysis.model.c_types import Integer, Pointer, Record
from analysis.rules.automaton import START, STOP, Rule

_COPYING = frozenset(("memcpy", "memmove", "mempcpy", "memccpy", "bcopy"))


def member_of(lvalue: ir.Expr) -> Member | None:
    """The member that an lvalue is, of a record that is not a union."""
    if not isinstance(lvalue, ir.Field):
        return None
    type_ = lvalue.record.type
    return (type_.key, lvalue.name) if isinstance(type_, Record) and type_.kind == "struct" else None


def pointed_record(pointer: ir.Expr) -> str | None:
    """The key of the structure that a pointer leads to, by its type."""
    target = pointer.type.target if isinstance(pointer.type, Pointer) else None
    return target.key if isinstance(target, Record) and target.kind == "struct" else None


class UsesReader:
    """Reads the uses of one function, for the rule with this number."""

    def __init__(self, cfa: Cfa, program: Program, matcher: Matcher, number: int, rule: Rule) -> None:
        self._cfa = cfa
        self._program = program
        self._matcher = matcher
        self._number = number
        self._rule = rule
        self._found: dict[str, set[Any]] = {name: set() for name in Uses.__struct_fields__}
        self._parameters = {root_of(one): position for position, one in enumerate(cfa.parameters)}
        self._values: dict[str, list[Edge]] = {}
        self._handed: dict[str, set[Passed | None]] = {}
        for edge in cfa.edges:
            target = ir.target_of(edge.effect)
            if isinstance(target, ir.Var) and target.scope != "global":
                self._values.setdefault(root_of(target), []).append(edge)

    def read(self) -> Uses:
        """What the function does."""
        places: dict[str, set[ir.Expr]] = {}
        nulled: set[Member] = set()
        given_out: set[Member] = set()
        for edge in self._cfa.edges:
            effect = edge.effect
            self._read_values(effect)
            if isinstance(effect, ir.Return) and effect.value is not None and isinstance(effect.value.type, Pointer):
                self._found["returned"] |= self._sources(effect.value)
                given_out |= self._held(effect.value)
                _note(effect.value, ir.strip_casts(effect.value), places)
            nulled |= self._read_store(edge, places)
            if isinstance(effect, ir.Call):
                self._read_call(edge, effect)
        self._found["shared"] |= given_out & nulled
        for several in (its for its in places.values() if len(its) > 1):  # nobody alone owns what is in two places
            self._found["shared"].update(member for place in several if (member := member_of(place)) is not None)
            if any(map(_is_local, several)):
                self._found["returned"].add(OTHER)
        for variable, its in places.items():
            self._read_handed(its, self._handed.get(variable, frozenset()))
        return Uses(**{name: frozenset(values) for name, values in self._found.items()})

    def _read_handed(self, places: set[ir.Expr], to: Set[Passed | None]) -> None:
        """Reads that what is in these places, or returned, is passed to functions as well; None: to one that is not seen."""
        results = {member_of(place) for place in places if member_of(place) is not None or _is_local(place)}
        self._found["held_by"].update((one, passed) for one in results for passed in to if passed is not None)
        if None in to:
            self._found["shared"].update(one for one in results if one is not None)
            self._found["returned"].update((OTHER,) if None in results else ())

    def _read_values(self, effect: ir.Effect) -> None:
        """Reads which addresses are used, and which pointers become ones to other types."""
        for expr in ir.expressions(effect):
            for part in ir.walk(expr):
                if isinstance(part, ir.AddressOf):
                    member = member_of(part.lvalue) if isinstance(part.lvalue.type, Pointer) else None
                    self._found["shared"].update(() if member is None else (member,))
                    if isinstance(part.lvalue.type, Record):
                        self._found["placed"].add(part.lvalue.type.key)
                elif isinstance(part, ir.Binary) and part.operator in ("+", "-"):
                    self._found["placed"].update(() if (key := pointed_record(part)) is None else (key,))
                    self._found["copied"].update(_as_bytes(part.left))
        value = effect.value if isinstance(effect, ir.Assign | ir.Return) else None
        key = None if value is None else pointed_record(ir.strip_casts(value))
        if value is not None and key is not None and pointed_record(value) != key:
            self._found["lost"].add(key)
            self._found["copied"].update(_as_bytes(value))

    def _read_store(self, edge: Edge, places: dict[str, set[ir.Expr]]) -> set[Member]:
        """Reads what an edge stores; gives the member in which it stores null."""
        target = ir.target_of(edge.effect)
        if target is None:
            return set()
        nulled: set[Member] = set()
        member = member_of(target)
        if member is not None and isinstance(target.type, Pointer):
            sources = self._stored_by(edge)
            self._found["stored"].update((member, source) for source in sources)
            self._found["given"].add(member)
            nulled.update(() if sources else (member,))
        key = pointed_record(target)
        if key is not None and MADE in self._stored_by(edge):
            self._found["new"].add(key)
        if isinstance(edge.effect, ir.Assign):
            value = edge.effect.value
            if isinstance(value, ir.LVALUES) and isinstance(value.type, Record):
                self._found["copied"].add(value.type.key)
            if not isinstance(target, ir.Var) or target.scope == "global":
                self._found["shared"] |= self._held(value)
                _note(value, target, places)
        return nulled

    def _read_call(self, edge: Edge, call: ir.Call) -> None:
        released = self._released(edge)
        targets = self._program.targets(call)
        bodies = [target for target in targets if target in self._program.functions]
        is_open = not targets or len(bodies) < len(targets)
        for position, argument in enumerate(call.arguments):
            bare, path = ir.strip_casts(argument), path_of(argument)
            if isinstance(bare.type, Record) and isinstance(bare, ir.LVALUES) and isinstance(ir.root(bare), ir.Deref):
                self._found["copied"].add(bare.type.key)  # out of an object that goes on
            passed = frozenset((body, position) for body in bodies)
            if path in released:
                self._found["freed"] |= self._held(argument)
                self._read_resize(edge, call, argument, path)
                if released[path]:
                    self._read_release(edge, bare, path, frozenset())
                continue
            self._read_passed(argument, passed, is_taken=is_open and self._takes_over(call))
            key = pointed_record(bare)
            if key is not None:
                self._read_object(call, position, key, passed, is_open=is_open)
            if passed and path is not None:
                self._read_part(edge, path, passed)

    def _read_resize(self, edge: Edge, call: ir.Call, resized: ir.Expr, path: Path) -> None:
        """Reads a call that puts its result in the place of what it resizes, of which no variable of the function has a copy."""
        member = member_of(ir.strip_casts(resized))
        if member is None or call.result is None or path_of(call.result) != path:
            return
        assigned = [one.effect for one in self._cfa.edges if isinstance(one.effect, ir.Assign)]
        is_emptied = any(path_of(one.target) == path and not self._sources(one.value) for one in assigned)
        is_copied = any(path_of(one.value) == path for one in assigned)
        made = [one.effect for one in self._values.get(path[0], ())]
        if not is_emptied and not is_copied and is_there_before(path, made) and may_go_on(self._cfa, path):
            self._found["resizes"].add((edge.id, path, member))

    def _read_passed(self, argument: ir.Expr, passed: frozenset[Passed], *, is_taken: bool) -> None:
        """Reads that an argument is passed to functions of the program, and `is_taken`, if one that is not seen may keep it."""
        held, bare = self._held(argument), ir.strip_casts(argument)
        self._found["passed"].update((member, one) for member in held for one in passed)
        self._found["shared"] |= held if is_taken else set()
        variable = root_of(bare) if isinstance(bare, ir.Var) else ""
        if variable in self._parameters:
            self._found["hands_on"].update((self._parameters[variable], one) for one in passed)
        if variable:
            self._handed.setdefault(variable, set()).update(passed, (None,) if is_taken else ())

    def _read_release(self, edge: Edge, freed: ir.Expr, path: Path, passed: frozenset[Passed]) -> None:
        """Reads a call of a library function that frees what is at a path."""
        key = pointed_record(freed)
        if isinstance(freed, ir.Var) and freed.scope != "global":
            if root_of(freed) in self._parameters:
                self._found["frees"].add(self._parameters[root_of(freed)])
            if key is not None:
                self._found["ends"].add((root_of(freed), key))
        elif key is not None:
            self._found["lost"].add(key)
        self._read_part(edge, path, passed)

    def _read_part(self, edge: Edge, path: Path, passed: frozenset[Passed]) -> None:
        """Reads a call that is passed what is in a part of a parameter's object."""
        position = self._parameters.get(path[0])
        if position is None or len(path) < 2:
            return
        parameter = self._cfa.parameters[position]
        is_behind = path[1] == "*" and len(path) > 2
        key = pointed_record(parameter) if is_behind else parameter.type.key if isinstance(parameter.type, Record) else None
        if key is not None:
            self._found["releases"].add(Release(edge.id, path[: 2 if is_behind else 1], key, passed))

    def _read_object(self, call: ir.Call, position: int, key: str, passed: frozenset[Passed], *, is_open: bool) -> None:
        """Reads a call that is passed an object of a record."""
        for one in passed:
            parameters = self._program.functions[one[0]].parameters
            if position >= len(parameters) or pointed_record(parameters[position]) != key:
                self._found["handed"].add((key, one))
        if is_open and self._takes_over(call):
            self._found["lost"].add(key)
            self._found["unseen"].add(key)
        if is_open and (ir.direct_callee(call) or "").removeprefix("__builtin_") in _COPYING:
            self._found["copied"].add(key)

    def _released(self, edge: Edge) -> dict[Path, bool]:
        """The paths to what a call frees, by the rule, and whether it does so whatever it answers: `realloc` moves objects."""
        matches = [one for one in self._matcher.edge(edge).before if one.rule == self._number and one.target == STOP]
        transitions = self._rule.transitions
        return {one.path: transitions[one.transition].result is None for one in matches if one.path is not None}

    def _takes_over(self, call: ir.Call) -> bool:
        """Whether a function without a body may keep what it is passed."""
        others = [target for target in self._program.targets(call) if target not in self._program.functions]
        known = [external for target in others if (external := self._program.externals.get(target)) is not None]
        return not others or len(known) < len(others) or any(not one.system or one.name in self._rule.keeps for one in known)

    def _held(self, value: ir.Expr) -> set[Member]:
        """The members of which a value may have been read."""
        found: set[Member] = set()
        seen: set[str] = set()
        waiting = [value]
        while waiting:
            bare = ir.strip_casts(waiting.pop())
            if isinstance(bare, ir.Binary) and isinstance(bare.type, Pointer):
                waiting.append(bare.left)
                continue
            if not isinstance(bare, ir.LVALUES) or not isinstance(bare.type, Pointer):
                continue
            member = member_of(bare)
            if member is not None:
                found.add(member)
            elif isinstance(bare, ir.Var) and bare.scope != "global" and root_of(bare) not in seen:
                seen.add(root_of(bare))
                edges = self._values.get(root_of(bare), ())
                waiting += (edge.effect.value for edge in edges if isinstance(edge.effect, ir.Assign))
        return found

    def _stored_by(self, edge: Edge) -> set[Source]:
        """Where what an edge stores comes from; nothing for null."""
        effect = edge.effect
        if isinstance(effect, ir.Assign):
            return self._sources(effect.value)
        assert isinstance(effect, ir.Call)
        matches = self._matcher.edge(edge).after
        if any(match.rule == self._number and match.source == START for match in matches):
            return {MADE}
        targets = self._program.targets(effect)
        return {one if one in self._program.functions else OTHER for one in targets} if targets else {OTHER}

    def _sources(self, value: ir.Expr) -> set[Source]:
        """Where a value comes from; nothing for null."""
        found: set[Source] = set()
        seen: set[str] = set()
        waiting = [value]
        while waiting:
            bare = ir.strip_casts(waiting.pop())
            if isinstance(bare, ir.Undefined) or (isinstance(bare, ir.IntConst) and bare.value == 0):
                continue
            if not isinstance(bare, ir.Var) or bare.scope in ("global", "function") or root_of(bare) in self._parameters:
                found.add(OTHER)
                continue
            edges = () if root_of(bare) in seen else self._values.get(root_of(bare), ())
            seen.add(root_of(bare))
            for edge in edges:
                if isinstance(edge.effect, ir.Assign):
                    waiting.append(edge.effect.value)
                else:
                    found |= self._stored_by(edge)
        return found


def _is_local(expr: ir.Expr) -> bool:
    return isinstance(expr, ir.Var) and expr.scope != "global"


def _as_bytes(value: ir.Expr) -> Iterator[str]:
    """The key of the structure whose bytes a pointer leads to, if it does: so any of its members may be meant."""
    key = pointed_record(ir.strip_casts(value))
    if key is not None and isinstance(value.type, Pointer) and isinstance(value.type.target, Integer):
        yield key


def _note(value: ir.Expr, place: ir.Expr, places: dict[str, set[ir.Expr]]) -> None:
    """Notes that what a variable holds is stored in a place, or returned."""
    bare = ir.strip_casts(value)
    if isinstance(bare, ir.Var) and bare.scope != "global" and isinstance(bare.type, Pointer):
        places.setdefault(root_of(bare), set()).add(place)
