"""What functions read and write: cells per edge, and closed over calls, per function.

A call changes what the callee and everything below it change; a tracked value that the callee cannot reach or change passes
a call untouched, so the engine need not enter the callee with it. External functions are taken to write only the
objects behind pointers they are passed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Set
from copy import copy
from typing import NamedTuple, TypeVar

import msgspec

from analysis.c import calls
from analysis.c.library_variables import SET_BY
from analysis.cfa.addresses_taken import taken_among
from analysis.cfa.components import stay, strongly_connected
from analysis.cfa.graph import Cfa, Program
from analysis.engines.automaton.functions.access_paths import lvalue_cell, root_of
from analysis.engines.automaton.functions.lending import Keeping, keeping, keeps_nothing
from analysis.engines.automaton.functions.returning import may_return, reaches_exit
from analysis.model import ir
from analysis.model.c_types import Pointer, Record, RecordDefinition, Type, spell

_Known = TypeVar("_Known")
_NO_CELLS: frozenset[str] = frozenset()
_BY_POINTER = "~"  # marks cells


def only_by_pointer(cell: str) -> str:
    """A mark beside a cell that a function can change: only functions that are called through pointers change it. Each of these
    may be the one that is called, or not."""
    return _BY_POINTER + cell


def unmarked(cells: Iterable[str]) -> frozenset[str]:
    """The cells, those with marks as the cells that they stand beside."""
    return frozenset(cell.removeprefix(_BY_POINTER) for cell in cells)


def base_variable(lvalue: ir.Expr) -> ir.Var | None:
    """The variable that the lvalue is a part of, None if it lies behind a pointer."""
    while isinstance(lvalue, ir.Field | ir.Index | ir.Cast):
        match lvalue:
            case ir.Field(inner) | ir.Index(inner) | ir.Cast(inner):
                lvalue = inner
    return lvalue if isinstance(lvalue, ir.Var) else None


def addressed(argument: ir.Expr) -> ir.Var | None:
    """The variable whose address an argument is, or the address of a part of it; None for `&p->f`, which is no part of `p`."""
    bare = ir.strip_casts(argument)
    return base_variable(bare.lvalue) if isinstance(bare, ir.AddressOf) else None


def addressed_cell(argument: ir.Expr) -> str | None:
    """The cell of an object whose address is passed, where a function that writes it behind its parameter writes another cell:
    a variable, or a member that is no record. (A record's members have the same cells there.)"""
    var = addressed(argument)
    if var is not None:
        return root_of(var)
    bare = ir.strip_casts(argument)
    if not isinstance(bare, ir.AddressOf) or isinstance(bare.lvalue.type, Record):
        return None
    return lvalue_cell(bare.lvalue)


def address_taken(cfa: Cfa) -> frozenset[str]:
    """The locals and parameters whose address is used in the function."""
    found = set[str]()
    for edge in cfa.edges:
        effect = edge.effect
        if isinstance(effect, ir.Call) and keeps_nothing(effect):
            continue
        found.update(root_of(var) for var in taken_among(cfa.parts[edge.id]) if var.scope != "function")
    return frozenset(found)


def pointee_cells(type_: Type, records: Mapping[str, RecordDefinition]) -> Iterable[str]:
    """The cells that writing through a pointer of the type can change."""
    if not isinstance(type_, Pointer):
        return
    yield "*" + spell(type_.target)
    if isinstance(type_.target, Record) and type_.target.key in records:
        for member in records[type_.target.key].members:
            yield "." + member.name


def external_writes(call: ir.Call, program: Program) -> set[str]:
    """The cells that an external function can change: through its arguments, and variables of the library."""
    name = ir.direct_callee(call) or ""
    written = {"@" + variable for variable in SET_BY.get(name, ())}
    at = calls.written_by(program.known(name), call)
    for argument in call.arguments if at is None else [call.arguments[position] for position in at]:
        bare = ir.strip_casts(argument)
        if isinstance(bare, ir.AddressOf):
            var = base_variable(bare.lvalue)
            if var is not None:
                written.add(root_of(var))
            else:
                written.add(lvalue_cell(bare.lvalue))
        elif not isinstance(bare, ir.StringConst):
            written.update(pointee_cells(getattr(bare, "type", None) or argument.type, program.records))
    return written


def visible(cell: str) -> bool:
    """Whether a cell means something outside the function."""
    return cell[0] in "@.*"


class Moved(msgspec.Struct, frozen=True):
    """What other footprints mean for callers. `callers` call functions that began or ceased to return, to be in a recursion with
    them, or to keep what they are passed, and `called_otherwise` do one of the first two; `written` and `read` are the cells in
    which the footprints of functions differ, where they do."""

    callers: frozenset[str]
    written: dict[str, frozenset[str]]
    read: dict[str, frozenset[str]]
    called_otherwise: frozenset[str]


class _Own(NamedTuple):
    """What a function does itself: the visible cells that it writes, the globals that it reads or writes, the functions that it
    calls, what it keeps; the cells that it writes without calling code that is not known through a pointer, and the functions
    that it calls by name."""

    written: set[str]
    read: set[str]
    callees: set[str]
    keeping: Keeping
    named_written: set[str]
    named: set[str]


class Footprints:
    """Cells read and written by each function and all that it calls, for one program.

    `written[f]` are the visible cells that f can change, with marks (`only_by_pointer`), `read[f]` the globals that f reads or
    writes, `kept[f]` the positions of the parameters whose value f, or what it calls, may keep, `component[f]` the number of its
    strongly connected component in the call graph, `order` all functions, callees first. What happens in a callee that never
    returns counts for none: the code with which a program ends (`fatal`) touches nearly everything, and nothing comes after it.
    """

    def __init__(self, program: Program) -> None:
        self._program = program
        self.returning = may_return(program)
        self.written: dict[str, frozenset[str]] = {}
        self._all: dict[str, frozenset[str]] = {}  # without marks
        self._named: dict[str, frozenset[str]] = {}  # what is written by name alone
        self.read: dict[str, frozenset[str]] = {}
        self.kept: dict[str, frozenset[int]] = {}
        self.component: dict[str, int] = {}
        self.order: list[str] = []
        self._own = {name: self.own(cfa) for name, cfa in program.functions.items()}
        self._components = self._find_components()
        self._number()
        for component in self._components:
            self._close(component)

    def revised(
        self, program: Program, changed: Iterable[str], callers: Callable[[str], Iterable[str]]
    ) -> tuple[Footprints, Moved]:
        """The footprints of a program in which some functions differ, what they call does, or which has others; and what that
        moved for the functions that call them."""
        other = copy(self)
        other._program = program
        others = program.functions.keys() != self._own.keys()
        if others or not self._returns_as_before(program, changed, callers):
            other.returning = may_return(program)
        flipped = {caller for name in self.returning ^ other.returning for caller in callers(name)}
        other._own = _of(self._own, program)
        remade = flipped.union(changed)
        other._own |= {name: other.own(program.functions[name]) for name in remade}
        moved = {name for name in remade if other._own[name] != self._own.get(name)}
        if not moved and not others:
            return other, Moved(frozenset(flipped), {}, {}, frozenset(flipped))
        old, new = ({name: one._own[name].callees for name in moved if name in one._own} for one in (self, other))
        regrouped = other._group_again(self) if others or not stay(self.component, old, new, moved) else set()
        written, read, keep = other._close_again(self, moved | regrouped)
        flipped.update(name for name in regrouped if not self._recurs_alike(other, name))
        keeping_ = flipped.union(caller for name in keep for caller in callers(name))
        return other, Moved(frozenset(keeping_), written, read, frozenset(flipped))

    def _group_again(self, before: Footprints) -> set[str]:
        """Finds the components of the call graph again. The functions of those that were none before."""
        self._components = self._find_components()
        self.component, self.order = {}, []
        self._number()
        known = set(before._components)
        return {name for component in self._components if component not in known for name in component}

    def _close_again(
        self, before: Footprints, moved: Set[str]
    ) -> tuple[dict[str, frozenset[str]], dict[str, frozenset[str]], set[str]]:
        """Closes the footprints of the moved functions and of those whose callees' footprints differ from `before`; the other
        ones are as before. The written and read cells in which the footprints of functions differ, where they do, and the
        functions that keep other parameters."""
        self.written, self.read = _of(before.written, self._program), _of(before.read, self._program)
        self._all, self._named = _of(before._all, self._program), _of(before._named, self._program)
        self.kept = _of(before.kept, self._program)
        written: dict[str, frozenset[str]] = {}
        read: dict[str, frozenset[str]] = {}
        keep: set[str] = set()
        differ: set[str] = set()
        for component in self._components:
            if any(name in moved or not differ.isdisjoint(self._own[name].callees) for name in component):
                self._close(component)
                for name in component:
                    if cells := self.written[name] ^ before.written.get(name, _NO_CELLS):
                        written[name] = unmarked(cells)
                    if cells := self.read[name] ^ before.read.get(name, _NO_CELLS):
                        read[name] = cells
                keep.update(name for name in component if self.kept[name] != before.kept.get(name))
                differ.update(name for name in component if name in written or name in read or name in keep)
        return written, read, keep

    def _recurs_alike(self, other: Footprints, name: str) -> bool:
        """Whether a function calls the same functions of its own component in both revisions."""
        if name not in self._own:
            return False
        mine, others = self._own[name].callees, other._own[name].callees
        return {callee for callee in mine if self.component[callee] == self.component[name]} == {
            callee for callee in others if other.component[callee] == other.component[name]
        }

    def _returns_as_before(self, program: Program, changed: Iterable[str], callers: Callable[[str], Iterable[str]]) -> bool:
        """Whether the new bodies of functions change nothing of what can return. That one returns must not rest on functions
        whose returning rests on it: those of its component or, if an edit can have made a recursion, all that lead to it."""
        functions = program.functions
        recursions = any(not self._callees(functions[name], program) <= self._own[name].callees for name in changed)
        for name in changed:
            if name not in self.returning:
                if reaches_exit(functions[name], program, self.returning):
                    return False
                continue
            above = _above(name, callers) if recursions else self._components[self.component[name]]
            others = self.returning.difference(above)
            if not reaches_exit(functions[name], program, others) and may_return(program, others, above) != self.returning:
                return False
        return True

    def _callees(self, cfa: Cfa, program: Program) -> set[str]:
        """The functions that can return, as far as it is known, among those that a function calls."""
        calls = (edge.effect for edge in cfa.calls)
        return {t for call in calls if isinstance(call, ir.Call) for t in program.targets(call) if t in self.returning}

    def own(self, cfa: Cfa) -> _Own:
        """What a function does itself."""
        written: set[str] = set()
        elsewhere: set[str] = set()
        named: set[str] = set()
        read: set[str] = set()
        callees: set[str] = set()
        for edge in cfa.edges:
            effect = edge.effect
            for part in cfa.parts[edge.id]:
                if isinstance(part, ir.Var):
                    if part.scope == "global":
                        read.add(root_of(part))
                elif isinstance(part, ir.Field | ir.Deref) and (cell := lvalue_cell(part))[0] == "@":
                    read.add(cell)
            if isinstance(effect, ir.Assign):
                written.add(lvalue_cell(effect.target))
            elif isinstance(effect, ir.Call):
                if effect.result is not None:
                    written.add(lvalue_cell(effect.result))
                targets = self._program.targets(effect)
                is_named = ir.direct_callee(effect) is not None
                returning = {t for t in targets if t in self.returning}
                callees |= returning
                named |= returning if is_named else set()
                if any(t not in self._program.functions for t in targets) or not targets:
                    into = written if is_named else elsewhere
                    into |= external_writes(effect, self._program)
        mine, all_ = set(filter(visible, written)), set(filter(visible, written | elsewhere))
        return _Own(all_, read, callees, keeping(cfa, self._program), mine, named)

    def _find_components(self) -> list[tuple[str, ...]]:
        graph = {name: own.callees for name, own in self._own.items()}
        return [tuple(sorted(component)) for component in strongly_connected(graph)]

    def _number(self) -> None:
        for number, component in enumerate(self._components):
            self.component.update(dict.fromkeys(component, number))
            self.order.extend(component)
        self.place = {name: index for index, name in enumerate(self.order)}

    def _close(self, component: tuple[str, ...]) -> None:
        written: set[str] = set()
        read: set[str] = set()
        for name in component:
            own = self._own[name]
            written |= own.written
            read |= own.read
            for callee in own.callees.difference(component):
                written |= self._all[callee]
                read |= self.read[callee]
        self._close_named(component)
        all_, read_ = frozenset(written), frozenset(read)
        for name in component:
            marks = map(only_by_pointer, all_ - self._named[name])
            self._all[name], self.written[name], self.read[name] = all_, all_.union(marks), read_
        self._close_kept(component)

    def _close_named(self, component: tuple[str, ...]) -> None:
        """Closes what functions of a component write by calls by name: many are in one only through pointers."""
        inside = set(component)
        for part in strongly_connected({name: sorted(self._own[name].named & inside) for name in component}):
            written: set[str] = set()
            for name in part:
                own = self._own[name]
                written |= own.named_written
                for callee in own.named.difference(part):
                    written |= self._named[callee]
            self._named.update(dict.fromkeys(part, frozenset(written)))

    def _close_kept(self, component: tuple[str, ...]) -> None:
        self.kept.update((name, self._own[name].keeping.kept) for name in component)
        grows = True
        while grows:
            grows = False
            for name in component:
                own = self._own[name]
                passed_on = (one for one in own.keeping.passed_on if one[1] not in own.callees or one[2] in self.kept[one[1]])
                kept = self.kept[name].union(position for position, _, _ in passed_on)
                grows = grows or kept != self.kept[name]
                self.kept[name] = kept


def _of(known: Mapping[str, _Known], program: Program) -> dict[str, _Known]:
    """What is known of the functions that a program has."""
    found = dict(known)
    for name in found.keys() - program.functions.keys():
        del found[name]
    return found


def _above(name: str, callers: Callable[[str], Iterable[str]]) -> set[str]:
    """A function and all from which calls lead to it."""
    found, work = {name}, [name]
    while work:
        new = set(callers(work.pop())) - found
        found |= new
        work.extend(new)
    return found
