"""Which members of structures own what they point to, and where the objects end that have them: `free(item)`, and nobody has
freed `item->name`, of which the whole program says that the item owns it.

A member owns its values if all that is stored in it anywhere is null, or new: it comes from a function that allocates, or from
one that returns such, and is stored nowhere else. What the member holds is not copied into memory, kept by a function, or given
out and replaced by null; its address is not taken; objects of its type are not copied as a whole. Whoever frees it also frees the
object, or stores something new there: so nothing says that it is null before the object ends.

A function that ends an object, and does not free the member in any of its runs, loses what the member holds. Where it frees it
under a condition, the condition may be the program's reason; nothing is said then.

What one function does (`Part`) depends on its own text, and the answer on all parts: it is the same, in whatever order they came.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from typing import NamedTuple

from analysis.cfa.graph import Cfa, Edge, Program
from analysis.engines.automaton.functions.access_paths import Path, path_of, root_of
from analysis.engines.automaton.functions.matching import Matcher
from analysis.model import ir
from analysis.model.c_types import Pointer, Record, RecordDefinition
from analysis.rules.automaton import START, STOP, Rule

_DEPTH = 2  # of members that are records themselves

Member = tuple[str, str]
"""A member of a record, by the record's key and its name."""
Source = str
"""Where a value comes from: MADE, OTHER, or the function of the program whose result it is."""
MADE: Source = "<made>"
OTHER: Source = "<other>"
Passed = tuple[str, int]
"""A parameter of a function of the program, by the function's name and its position."""


class Part(NamedTuple):
    """What one function does with members, and with objects that have them.

    `stored`: where the values come from that it stores in members; null is left out. `given` are all members that it stores in.
    `returned`: where its results come from.
    `freed` members, and members `passed` to functions of the program. `shared` are members of which a value is elsewhere, too, as
    far as this function goes. `copied` are the keys of records that it copies as a whole. `ends` are the keys of records of which
    it frees objects, by the variable that it passes; `frees` the positions of its own parameters that it frees, and `hands_on`
    those that it passes to functions of the program.
    """

    stored: frozenset[tuple[Member, Source]] = frozenset()
    given: frozenset[Member] = frozenset()
    returned: frozenset[Source] = frozenset()
    freed: frozenset[Member] = frozenset()
    passed: frozenset[tuple[Member, Passed]] = frozenset()
    shared: frozenset[Member] = frozenset()
    copied: frozenset[str] = frozenset()
    ends: frozenset[tuple[str, str]] = frozenset()
    frees: frozenset[int] = frozenset()
    hands_on: frozenset[tuple[int, Passed]] = frozenset()


Kept = Mapping[str, Set[int]]
"""The positions of the parameters that functions may keep."""


class OwnedMembers:
    """Those of one program for one rule, which has a state for what members own."""

    def __init__(self, rule: Rule, number: int) -> None:
        self.number = number
        self.state = rule.member_state
        self._rule = rule
        self._parts: dict[str, Part] = {}
        self.ended: dict[str, frozenset[tuple[str, Path]]] = {}

    def revised(self, program: Program, matcher: Matcher, kept: Kept, changed: Iterable[str]) -> OwnedMembers:
        """The same for a program in which some functions differ, or what they call does."""
        found = OwnedMembers(self._rule, self.number)
        found._parts = {name: part for name, part in self._parts.items() if name in program.functions}
        for name in changed:
            found._parts.pop(name, None)
            if name in program.functions:
                part = _Reading(program.functions[name], program, matcher, self.number, self._rule).part()
                if part != _NOTHING:
                    found._parts[name] = part
        found.ended = found._find_ended(program.records, kept)
        return found

    def _find_ended(self, records: Mapping[str, RecordDefinition], kept: Kept) -> dict[str, frozenset[tuple[str, Path]]]:
        """By function, the variables whose objects it ends, with the paths from them to what their members own and it does not
        free."""
        enders = {name: part for name, part in self._parts.items() if part.ends}
        if not enders:
            return {}
        freeing = self._freeing()
        owned = self._owned(kept, freeing)
        found: dict[str, frozenset[tuple[str, Path]]] = {}
        for name in sorted(enders) if owned else ():
            part = enders[name]
            freed = part.freed | part.given | {member for member, passed in part.passed if passed in freeing}
            paths = {
                (variable, path)
                for variable, key in part.ends
                for member, path in _members(records, key)
                if member in owned and member not in freed
            }
            if paths:
                found[name] = frozenset(paths)
        return found

    def _freeing(self) -> set[Passed]:
        """The parameters that functions of the program free, in some runs, themselves or by those that they call."""
        found = {(name, position) for name, part in self._parts.items() for position in part.frees}
        into: dict[Passed, list[Passed]] = {}
        for name, part in self._parts.items():
            for position, passed in part.hands_on:
                into.setdefault(passed, []).append((name, position))
        return _closed(found, into)

    def _making(self) -> set[str]:
        """The functions that return what they, or those that they call, have allocated, or null."""
        asked = {name: part.returned for name, part in self._parts.items() if part.returned and OTHER not in part.returned}
        making: set[str] = set()
        grown = True
        while grown:
            new = {name for name, sources in asked.items() if name not in making and sources <= {MADE, *making}}
            making |= new
            grown = bool(new)
        return making

    def _owned(self, kept: Kept, freeing: Set[Passed]) -> set[Member]:
        """The members that own what they point to."""
        making = self._making()
        given: dict[Member, bool] = {}
        lost: set[Member] = set()
        copied: set[str] = set()
        for part in self._parts.values():
            for member, source in part.stored:
                is_new = source == MADE or source in making
                given[member] = given.get(member, True) and is_new
            lost |= part.shared
            copied |= part.copied
            freed = set(part.freed)
            for member, passed in part.passed:
                if passed in freeing:
                    freed.add(member)
                elif passed[1] in kept.get(passed[0], (passed[1],)):
                    lost.add(member)
            renewed = {member for member, _ in part.stored}
            ends = {key for _, key in part.ends}
            lost |= {member for member in freed if member[0] not in ends and member not in renewed}
        return {member for member, is_new in given.items() if is_new and member not in lost and member[0] not in copied}


_NOTHING = Part()


def owned_members(rules: Iterable[Rule], program: Program, matcher: Matcher, kept: Kept) -> tuple[OwnedMembers, ...]:
    """Those of a program, for each rule that has a state for them."""
    asking = ((number, rule) for number, rule in enumerate(rules) if rule.member_state)
    return tuple(OwnedMembers(rule, number).revised(program, matcher, kept, program.functions) for number, rule in asking)


def _closed(start: Set[Passed], into: Mapping[Passed, list[Passed]]) -> set[Passed]:
    found, work = set(start), list(start)
    while work:
        for before in into.get(work.pop(), ()):
            if before not in found:
                found.add(before)
                work.append(before)
    return found


def _members(records: Mapping[str, RecordDefinition], key: str, depth: int = _DEPTH) -> Iterator[tuple[Member, Path]]:
    """The members of a record that are pointers, and those of records in it, with the steps to them."""
    definition = records.get(key)
    if definition is None or definition.kind != "struct":
        return
    for one in definition.members:
        if isinstance(one.type, Pointer):
            yield (key, one.name), ("." + one.name,)
        elif isinstance(one.type, Record) and depth > 1 and one.name:
            for member, path in _members(records, one.type.key, depth - 1):
                yield member, ("." + one.name, *path)


class _Reading:
    """Reads the part of one function."""

    def __init__(self, cfa: Cfa, program: Program, matcher: Matcher, number: int, rule: Rule) -> None:
        self._cfa = cfa
        self._program = program
        self._matcher = matcher
        self._number = number
        self._rule = rule
        self._parameters = {root_of(one): position for position, one in enumerate(cfa.parameters)}
        self._values: dict[str, list[Edge]] = {}
        for edge in cfa.edges:
            target = ir.target_of(edge.effect)
            if isinstance(target, ir.Var) and target.scope != "global":
                self._values.setdefault(root_of(target), []).append(edge)

    def part(self) -> Part:
        """What the function does."""
        stored: set[tuple[Member, Source]] = set()
        returned: set[Source] = set()
        shared: set[Member] = set()
        copied: set[str] = set()
        given: set[Member] = set()
        nulled: set[Member] = set()
        handed: set[Member] = set()
        places: dict[str, set[ir.Expr]] = {}
        for edge in self._cfa.edges:
            effect = edge.effect
            shared.update(self._addressed(effect))
            if isinstance(effect, ir.Return) and effect.value is not None and isinstance(effect.value.type, Pointer):
                returned.update(self._sources(effect.value))
                handed.update(self._held(effect.value))
                self._note(effect.value, effect.value, places)
            target = ir.target_of(effect)
            if target is None:
                continue
            member = member_of(target)
            if member is not None and isinstance(target.type, Pointer):
                sources = self._stored_by(edge)
                stored.update((member, source) for source in sources)
                given.add(member)
                nulled.update(() if sources else (member,))
            if isinstance(effect, ir.Assign):
                if isinstance(effect.value, ir.LVALUES) and isinstance(effect.value.type, Record):
                    copied.add(effect.value.type.key)
                if not isinstance(target, ir.Var) or target.scope == "global":
                    shared.update(self._held(effect.value))
                    self._note(effect.value, target, places)
        freed, passed, ends, frees, hands_on = self._calls(shared, copied)
        # what is stored in two places, or stored and returned, has no single owner
        for its in places.values():
            if len(its) > 1:
                shared.update(member for place in its if (member := member_of(place)) is not None)
        shared |= handed & nulled
        return Part(*map(frozenset, (stored, given, returned, freed, passed, shared, copied, ends, frees, hands_on)))  # type: ignore[arg-type]

    def _note(self, value: ir.Expr, place: ir.Expr, places: dict[str, set[ir.Expr]]) -> None:
        """Notes that what a variable holds is stored in a place, or returned."""
        bare = ir.strip_casts(value)
        if isinstance(bare, ir.Var) and bare.scope != "global" and isinstance(bare.type, Pointer):
            places.setdefault(root_of(bare), set()).add(place)

    def _calls(
        self, shared: set[Member], copied: set[str]
    ) -> tuple[set[Member], set[tuple[Member, Passed]], set[tuple[str, str]], set[int], set[tuple[int, Passed]]]:
        freed: set[Member] = set()
        passed: set[tuple[Member, Passed]] = set()
        ends: set[tuple[str, str]] = set()
        frees: set[int] = set()
        hands_on: set[tuple[int, Passed]] = set()
        for edge in self._cfa.calls:
            call = edge.effect
            assert isinstance(call, ir.Call)
            released = self._released(edge)
            targets = self._program.targets(call)
            bodies = [target for target in targets if target in self._program.functions]
            is_open = not targets or len(bodies) < len(targets)
            for position, argument in enumerate(call.arguments):
                bare = ir.strip_casts(argument)
                held = self._held(argument)
                variable = root_of(bare) if isinstance(bare, ir.Var) else ""
                path = path_of(argument)
                if path in released:
                    freed |= held
                    if path is None or not released[path]:
                        continue
                    if variable in self._parameters:
                        frees.add(self._parameters[variable])
                    if isinstance(bare, ir.Var) and bare.scope != "global" and (key := _pointed_record(bare)) is not None:
                        ends.add((variable, key))
                    continue
                passed.update((member, (body, position)) for member in held for body in bodies)
                if variable in self._parameters:
                    hands_on.update((self._parameters[variable], (body, position)) for body in bodies)
                if held and is_open and self._takes_over(call):
                    shared |= held
                if is_open and len(call.arguments) > 1 and (key := _pointed_record(bare)) is not None and _copies(call):
                    copied.add(key)
        return freed, passed, ends, frees, hands_on

    def _released(self, edge: Edge) -> dict[Path, bool]:
        """The paths to what a call frees, by the rule, and whether it does so whatever it answers: `realloc` moves objects."""
        matches = [one for one in self._matcher.edge(edge).before if one.rule == self._number and one.target == STOP]
        transitions = self._rule.transitions
        return {one.path: transitions[one.transition].result is None for one in matches if one.path is not None}

    def _takes_over(self, call: ir.Call) -> bool:
        for target in self._program.targets(call):
            external = self._program.externals.get(target)
            if target in self._program.functions:
                continue
            if external is None or not external.system or target in self._rule.keeps:
                return True
        return not self._program.targets(call)

    def _addressed(self, effect: ir.Effect) -> Iterator[Member]:
        """The members whose address is used."""
        for expr in ir.expressions(effect):
            for part in ir.walk(expr):
                if isinstance(part, ir.AddressOf) and isinstance(part.lvalue.type, Pointer):
                    member = member_of(part.lvalue)
                    if member is not None:
                        yield member

    def _held(self, value: ir.Expr, seen: frozenset[str] = frozenset()) -> set[Member]:
        """The members of which a value may have been read."""
        bare = ir.strip_casts(value)
        if isinstance(bare, ir.Binary) and isinstance(bare.type, Pointer):
            return self._held(bare.left, seen)
        if not isinstance(bare, ir.LVALUES) or not isinstance(bare.type, Pointer):
            return set()
        member = member_of(bare)
        if member is not None:
            return {member}
        found: set[Member] = set()
        if isinstance(bare, ir.Var) and bare.scope != "global" and bare.name not in seen:
            for edge in self._values.get(root_of(bare), ()):
                if isinstance(edge.effect, ir.Assign):
                    found |= self._held(edge.effect.value, seen | {bare.name})
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

    def _sources(self, value: ir.Expr, seen: frozenset[str] = frozenset()) -> set[Source]:
        """Where a value comes from; nothing for null."""
        bare = ir.strip_casts(value)
        if isinstance(bare, ir.Undefined) or (isinstance(bare, ir.IntConst) and bare.value == 0):
            return set()
        if not isinstance(bare, ir.Var) or bare.scope in ("global", "function") or root_of(bare) in self._parameters:
            return {OTHER}
        found: set[Source] = set()
        for edge in self._values.get(root_of(bare), ()) if bare.name not in seen else ():
            if isinstance(edge.effect, ir.Assign):
                found |= self._sources(edge.effect.value, seen | {bare.name})
            else:
                found |= self._stored_by(edge)
        return found


def member_of(lvalue: ir.Expr) -> Member | None:
    """The member that an lvalue is, of a record that is not a union."""
    if not isinstance(lvalue, ir.Field):
        return None
    type_ = lvalue.record.type
    return (type_.key, lvalue.name) if isinstance(type_, Record) and type_.kind == "struct" else None


def _pointed_record(pointer: ir.Expr) -> str | None:
    """The key of the record that a pointer leads to, by its type."""
    target = pointer.type.target if isinstance(pointer.type, Pointer) else None
    return target.key if isinstance(target, Record) and target.kind == "struct" else None


def _copies(call: ir.Call) -> bool:
    """Whether a function of the library copies bytes from one argument to another."""
    return (ir.direct_callee(call) or "").removeprefix("__builtin_") in ("memcpy", "memmove", "mempcpy", "bcopy", "memccpy")
