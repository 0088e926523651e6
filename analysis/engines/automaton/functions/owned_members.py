"""Which members of structures own what they point to, and where that is lost: `free(item)`, and nobody has freed `item->name`, of
which the whole program says that the item owns it.

A member owns its values if all that is stored in it anywhere is null, or new: it comes from a function that allocates, or from
one that returns such, and is stored nowhere else, nor kept by a function. What the member holds is not copied into memory, kept
by a function, or given out and replaced by null; its address is not taken; objects of its type are not copied as a whole, or
taken for bytes. Whoever frees it also frees the object, or stores something new there: so nothing says that it is null before the
object ends. Where nothing frees it, objects of its type are passed to no code that is not seen, which could.

Three things lose what a member owns.

- A function *ends* an object, and does not free the member in any of its runs. Where it frees it under a condition, that may be
  the program's reason, and nothing is said.
- A function *leaves* it: it frees all else that an object owns, and no function of the program ever frees this, nor any object of
  the type. So it is with the object itself, where all objects of the type are blocks of their own.
- A function *resizes* it, and stores the result in the member at once (`b->data = realloc(b->data, n)`): where that fails, the
  old block is still there, and nothing leads to it.

What one function does (`member_uses`) depends on its own text, and the answer on all functions, in whatever order they came.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set

from analysis.cfa.graph import Program
from analysis.engines.automaton.functions.access_paths import Path, root_of
from analysis.engines.automaton.functions.matching import Matcher
from analysis.engines.automaton.functions.member_use_sets import MADE, NO_USES, OTHER, Member, Passed, Release, Uses
from analysis.engines.automaton.functions.member_uses import UsesReader
from analysis.model.c_types import Array, Pointer, Record, RecordDefinition, Type
from analysis.rules.automaton import Rule

_DEPTH = 2  # of members that are records themselves
Kept = Mapping[str, Set[int]]
"""The positions of the parameters that functions may keep."""
Ended = frozenset[tuple[str, Path]]
"""Variables, and the steps from their objects to what these own."""
Left = frozenset[tuple[int, Path]]
"""Edges, and what is left behind them, or resized."""


class OwnedMembers:
    """Those of one program for one rule, which has states for them. `ended`, `left` and `resized` are by function."""

    def __init__(self, rule: Rule, number: int) -> None:
        self.rule = rule
        self.number = number
        self._uses: dict[str, Uses] = {}
        self._rest: object = None  # of what the answer depends on
        self.ended: dict[str, Ended] = {}
        self.left: dict[str, Left] = {}
        self.resized: dict[str, Left] = {}

    def revised(self, program: Program, matcher: Matcher, kept: Kept, changed: Iterable[str]) -> OwnedMembers:
        """The same for a program in which some functions differ, or what they call does."""
        found = OwnedMembers(self.rule, self.number)
        found._uses = {name: uses for name, uses in self._uses.items() if name in program.functions}
        for name in changed:
            found._uses.pop(name, None)
            if name in program.functions:
                uses = UsesReader(program.functions[name], program, matcher, self.number, self.rule).read()
                if uses != NO_USES:
                    found._uses[name] = uses
        found._rest = found._read_besides(program, kept)
        if found._uses == self._uses and found._rest == self._rest:
            found.ended, found.left, found.resized = self.ended, self.left, self.resized
        elif any(uses.ends or uses.releases or uses.resizes for uses in found._uses.values()):
            summed = _Summed(found._uses, program, kept)
            found.ended = dict(summed.ended())
            found.left = dict(summed.left())
            found.resized = dict(summed.resized())
        return found

    def _read_besides(self, program: Program, kept: Kept) -> object:
        """What the answer depends on besides the uses, to be compared."""
        passed = {one for uses in self._uses.values() for _, one in (*uses.passed, *uses.handed)}
        results = {name: program.functions[name].type.result for name in self._uses}
        keeping = {name: frozenset(kept[name]) for name, _ in passed if name in kept}
        return program.records, program.globals, program.address_taken, results, keeping

    def differ(self, other: OwnedMembers) -> set[str]:
        """The functions of which they do not say the same."""
        pairs = ((self.ended, other.ended), (self.left, other.left), (self.resized, other.resized))
        return {name for one, two in pairs for name in one.keys() | two.keys() if one.get(name) != two.get(name)}


def owned_members(rules: Iterable[Rule], program: Program, matcher: Matcher, kept: Kept) -> tuple[OwnedMembers, ...]:
    """Those of a program, for each rule that has states for them."""
    asking = ((number, rule) for number, rule in enumerate(rules) if rule.member_states)
    return tuple(OwnedMembers(rule, number).revised(program, matcher, kept, program.functions) for number, rule in asking)


class _Summed:
    """What the functions of a program do together."""

    def __init__(self, uses: Mapping[str, Uses], program: Program, kept: Kept) -> None:
        self._uses = uses
        self._program = program
        self._kept = kept
        self._freeing = self._find_freeing()
        self._freed = {name: self._freed_by(one) for name, one in uses.items()}
        self._ever = set[Member]().union(*self._freed.values())
        self._unseen = set[str]().union(*(one.unseen for one in uses.values()))
        self._sole = self._find_sole()
        self._owned = self._sole - self._find_emptied()

    def ended(self) -> Iterator[tuple[str, Ended]]:
        """By function, what it loses with objects that it ends."""
        for name, uses in self._uses.items():
            spared = self._freed[name] | uses.given
            # who frees nothing but the object of a caller may be asked where the member is still null
            parameters = {root_of(one) for one in self._program.functions[name].parameters}
            emptied = {member[0] for member in self._freed[name]}
            found = {
                (variable, path)
                for variable, key in uses.ends
                for member, path in _members(self._program.records, key)
                if member in self._owned and member not in spared
                if (key not in self._unseen if member not in self._ever else variable not in parameters or key in emptied)
            }
            if found:
                yield name, frozenset(found)

    def left(self) -> Iterator[tuple[str, Left]]:
        """By function, what it leaves of objects of which it frees other parts."""
        ever = self._ever
        blocks = self._single_blocks()
        ended = {key for uses in self._uses.values() for _, key in uses.ends}
        for name, uses in self._uses.items():
            if isinstance(self._program.functions[name].type.result, Pointer):
                continue  # it may hand out what it leaves
            spared = ended | self._unseen | {member[0] for member, _ in uses.stored}
            releases = [one for one in uses.releases if one.key not in spared and self._frees(name, one, ever)]
            found = {(one.edge, path) for one in releases for path in self._left_of(name, one, ever)}
            if name not in self._program.address_taken:
                found |= {(one.edge, one.root[:1]) for one in releases if one.root[1:] and one.key in blocks}
            if found:
                yield name, frozenset(found)

    def resized(self) -> Iterator[tuple[str, Left]]:
        """By function, what it resizes in place."""
        for name, uses in self._uses.items():
            found = {(edge, path) for edge, path, member in uses.resizes if member in self._sole}
            if found:
                yield name, frozenset(found)

    def _frees(self, name: str, release: Release, ever: Set[Member]) -> bool:
        """Whether what is passed is freed, by a function that frees all that is ever freed of what objects of the type own."""
        if release.to and self._freeing.isdisjoint(release.to):
            return False
        members = {
            member for member, _ in _members(self._program.records, release.key) if member in self._sole and member in ever
        }
        return bool(members) and members <= self._freed[name]

    def _left_of(self, name: str, release: Release, ever: Set[Member]) -> Iterator[Path]:
        """The paths to the members that a function leaves in the object of one of which it frees other members."""
        members = [one for one in _members(self._program.records, release.key) if one[0] in self._sole]
        freed = sum(member in ever for member, _ in members)
        if freed > 1 or (freed and not release.root[1:]):
            kept = (path for member, path in members if member not in ever | self._uses[name].given)
            yield from ((*release.root, *path) for path in kept)

    def _find_freeing(self) -> set[Passed]:
        """The parameters that functions of the program free, in some runs, themselves or by those that they call."""
        into: dict[Passed, list[Passed]] = {}
        for name, uses in self._uses.items():
            for position, passed in uses.hands_on:
                into.setdefault(passed, []).append((name, position))
        work = [(name, position) for name, uses in self._uses.items() for position in uses.frees]
        found = set(work)
        while work:
            for before in into.get(work.pop(), ()):
                if before not in found:
                    found.add(before)
                    work.append(before)
        return found

    def _freed_by(self, uses: Uses) -> set[Member]:
        return {*uses.freed, *(member for member, passed in uses.passed if passed in self._freeing)}

    def _find_making(self) -> set[str]:
        """The functions that return what they, or those that they call, have allocated, or null."""
        asked = {name: uses.returned for name, uses in self._uses.items() if uses.returned and OTHER not in uses.returned}
        asked = {name: sources for name, sources in asked.items() if None not in self._held_elsewhere(self._uses[name])}
        making, grown = {MADE}, True
        while grown:
            more = {name for name, sources in asked.items() if name not in making and sources <= making}
            making |= more
            grown = bool(more)
        return making

    def _find_sole(self) -> set[Member]:
        """The members that alone hold what is stored in them."""
        making = self._find_making()
        found = {member for uses in self._uses.values() for member, _ in uses.stored}
        copied = self._in_globals(only_set=True)
        for uses in self._uses.values():
            copied |= uses.copied
            found -= {member for member, source in uses.stored if source not in making}
            found -= uses.shared
            found -= {member for member, passed in uses.passed if self._may_hold(passed)}
            found -= {member for member in self._held_elsewhere(uses) if member is not None}
        return {member for member in found if member[0] not in copied}

    def _find_emptied(self) -> set[Member]:
        """The members that a function frees, and then neither frees the object nor stores anything new there."""
        found = set[Member]()
        for name, uses in self._uses.items():
            ends, renewed = {key for _, key in uses.ends}, {member for member, _ in uses.stored}
            found.update(one for one in self._freed[name] if one[0] not in ends and one not in renewed)
        return found

    def _held_elsewhere(self, uses: Uses) -> set[Member | None]:
        """The members, and None for the result, whose values a function lets another one keep."""
        return {one for one, passed in uses.held_by if self._may_hold(passed)}

    def _may_hold(self, passed: Passed) -> bool:
        return passed not in self._freeing and self._is_kept(passed)

    def _is_kept(self, passed: Passed) -> bool:
        return passed[1] in self._kept.get(passed[0], (passed[1],))

    def _in_globals(self, *, only_set: bool) -> set[str]:
        """The records of variables with static storage; `only_set`: of those with an initialiser, which can put in them what
        nobody has allocated."""
        known = (one for one in self._program.globals.values() if one.parts or one.open or not only_set)
        return {key for one in known for key in _records_in(one.var.type, self._program.records)}

    def _single_blocks(self) -> set[str]:
        """The records of which each object is a block of its own, by all that is seen, and no object is ever freed."""
        found = set[str]().union(*(uses.new for uses in self._uses.values()))
        for uses in self._uses.values():
            found -= uses.lost | uses.placed | uses.copied | {key for _, key in uses.ends}
            found -= {key for key, passed in uses.handed if passed in self._freeing or self._is_kept(passed)}
        inside = {key for one in self._program.records.values() for part in one.members for key in _keys(part.type)}
        return found - inside - self._in_globals(only_set=False)


def _members(records: Mapping[str, RecordDefinition], key: str, depth: int = _DEPTH) -> Iterator[tuple[Member, Path]]:
    """The members of a structure that are pointers, and those of structures in it, with the steps to them."""
    definition = records.get(key)
    if definition is None or definition.kind != "struct":
        return
    for one in definition.members:
        if isinstance(one.type, Pointer):
            yield (key, one.name), ("." + one.name,)
        elif isinstance(one.type, Record) and depth > 1 and one.name:
            for member, path in _members(records, one.type.key, depth - 1):
                yield member, ("." + one.name, *path)


def _keys(type_: Type) -> Iterator[str]:
    """The key of a record that a type is, or an array of."""
    while isinstance(type_, Array):
        type_ = type_.element
    if isinstance(type_, Record):
        yield type_.key


def _records_in(type_: Type, records: Mapping[str, RecordDefinition]) -> set[str]:
    """The records of which objects are in an object of a type."""
    found, work = set[str](), list(_keys(type_))
    while work:
        key = work.pop()
        if key not in found:
            found.add(key)
            work.extend(inner for one in (records[key].members if key in records else ()) for inner in _keys(one.type))
    return found
