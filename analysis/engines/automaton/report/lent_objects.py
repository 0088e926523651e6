"""Local objects whose address is only lent to calls, so that nobody else has what they hold.

`set_up(&t);` lends `t` to `set_up`, if neither that nor what it passes the address on to stores it, as far as their bodies
say, or what is known of the library (`functions.lending`). What `t` holds is followed by name. So the functions must not
reach it by the address of a member, nor move it into an object that they do not know to be another one, as `*a = *b;` does.
An address that is used in any other way counts as one that somebody keeps. What is not used on the way to an error is known to
nobody there (`is_never_taken`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from analysis.cfa.addresses_taken import taken_among, taken_by
from analysis.cfa.graph import Cfa, Program
from analysis.engines.automaton.functions.footprint import addressed
from analysis.engines.automaton.functions.lending import flows_of, held_by, keeping, takers
from analysis.model import ir
from analysis.model.c_types import Pointer, Record

_MANY = 100  # functions that are looked into for one object


def is_only_lent(program: Program, cfa: Cfa, name: str, looked: set[str]) -> bool:
    """Whether the address of a local variable goes nowhere but to such calls. Adds to `looked` the functions that this depends
    on."""
    if cfa.unsupported:
        return False
    waiting: list[tuple[str, int]] = []
    for edge in cfa.edges if name in taken_by(cfa).own else ():
        parts = (part for expr in ir.expressions(edge.effect) for part in ir.walk(expr))
        times = [var.name for var in taken_among(parts) if var.scope != "global"].count(name)
        if not times:
            continue
        call = edge.effect
        if not isinstance(call, ir.Call) or len(positions := list(_lent(call, name))) < times:
            return False
        for position in positions:
            found = takers(program, call, position)
            if found is None:
                return False
            waiting += [(taker, position) for taker in found]
    return _are_harmless(program, waiting, looked)


def is_never_taken(cfa: Cfa, passed: Iterable[int], name: str) -> bool:
    """Whether none of the edges that a run has passed so far, by id, uses the address of a local variable: then nobody else knows
    it, whatever other runs do."""
    if cfa.unsupported:
        return False
    if name not in taken_by(cfa).own:
        return True
    effects = (cfa.by_id[id_].effect for id_ in set(passed))
    parts = (part for effect in effects for expr in ir.expressions(effect) for part in ir.walk(expr))
    return all(var.name != name or var.scope == "global" for var in taken_among(parts))


def _lent(call: ir.Call, name: str) -> Iterator[int]:
    """The positions at which a call is passed the address of a variable, or of a part of it."""
    for position, argument in enumerate(call.arguments):
        var = addressed(argument)
        if var is not None and var.name == name and var.scope != "global":
            yield position


def _are_harmless(program: Program, waiting: list[tuple[str, int]], looked: set[str]) -> bool:
    """Whether no function keeps what it is passed at a position, or moves what it leads to; nor those that it passes it on to."""
    work = [(name, position, True) for name, position in waiting]  # whether it is the object, or something that it holds
    seen = set(work)
    while work:
        name, position, is_object = work.pop()
        looked.add(name)
        cfa = program.functions[name]
        found = keeping(cfa, program)
        if len(seen) > _MANY or position in found.kept:
            return False
        more = {(taker, there, is_object) for at, taker, there in found.passed_on if at == position}
        if is_object:
            contents = _Contents(cfa, cfa.parameters[position].name)
            if contents.are_moved():
                return False
            more.update((taker, there, False) for taker, there in contents.passed(program))
        work += sorted(more - seen)
        seen |= more
    return True


class _Contents:
    """What a function does with what the object holds that a parameter leads to."""

    def __init__(self, cfa: Cfa, parameter: str) -> None:
        self._effects = [edge.effect for edge in cfa.edges]
        self._object = held_by(parameter, list(flows_of(cfa)))
        self._read = set[str]()  # variables that may hold some of it

    def are_moved(self) -> bool:
        """Whether it may get into memory outside of the object, or be read by the address of a member."""
        known = -1
        while known < len(self._read):
            known = len(self._read)
            if any(map(self._moves, self._effects)):
                return True
        return False

    def passed(self, program: Program) -> Iterator[tuple[str, int]]:
        """The functions that are passed some of it, with the positions."""
        for call in self._effects:
            for position, argument in enumerate(call.arguments if isinstance(call, ir.Call) else ()):
                if isinstance(call, ir.Call) and self._is_some(argument):
                    yield from ((taker, position) for taker in takers(program, call, position) or ())

    def _moves(self, effect: ir.Effect) -> bool:
        match effect:
            case ir.Assign(target, value):
                return self._points_at_member(value) or (self._is_some(value) and self._goes_out(target))
            case ir.Return(value):
                return value is not None and self._is_whole(value)
            case ir.Call():
                return any(map(self._is_whole, effect.arguments))
        return False

    def _goes_out(self, target: ir.Expr) -> bool:
        """Whether an assignment puts some of it elsewhere than in a local variable or the object itself."""
        place = ir.root(target)
        if isinstance(place, ir.Var) and place.scope != "global":
            self._read.add(place.name)
            return False
        through = {var.name for var in ir.variables(place) if isinstance(var.type, Pointer)}
        return isinstance(place, ir.Var) or not through <= self._object | self._read

    def _points_at_member(self, value: ir.Expr) -> bool:
        """Whether a value is the address of a pointer or record in the object."""
        bare = ir.strip_casts(value)
        is_place = isinstance(bare, ir.AddressOf) and isinstance(getattr(bare.lvalue, "type", None), Pointer | Record)
        return is_place and not self._object.isdisjoint(var.name for var in ir.variables(bare))

    def _is_whole(self, value: ir.Expr) -> bool:
        return isinstance(value.type, Record) and self._is_some(value)

    def _is_some(self, value: ir.Expr) -> bool:
        """Whether a value is a pointer or record that may have been read from the object."""
        bare = ir.strip_casts(value)
        while isinstance(bare, ir.Binary) and isinstance(bare.type, Pointer):
            bare = ir.strip_casts(bare.left)
        if not isinstance(bare, ir.LVALUES) or not isinstance(bare.type, Pointer | Record):
            return False
        names = {var.name for var in ir.variables(bare)}
        return not names.isdisjoint(self._read if isinstance(bare, ir.Var) else self._object | self._read)
