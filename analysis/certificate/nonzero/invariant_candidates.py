"""Which invariants a program could have: all pointers of which it is seen where they are written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from analysis.certificate.nonzero.concerned import members_in, records_in
from analysis.certificate.nonzero.data_invariants import NONE, Always, Invariant, Invariants
from analysis.certificate.nonzero.fresh_blocks import fresh_blocks
from analysis.certificate.nonzero.left_out_records import confused_by, left_out
from analysis.certificate.nonzero.other_accesses import Otherwise, otherwise_at_start, otherwise_in
from analysis.certificate.nonzero.record_parts import Members, element
from analysis.certificate.nonzero.values import Known, is_nonzero
from analysis.cfa.addresses_taken import pointed_statics
from analysis.cfa.graph import Global, Program
from analysis.cfa.linking.obstructed import MAIN
from analysis.cfa.program_part import names_below
from analysis.cpa.obstacles.beside import beside
from analysis.model import ir
from analysis.model.c_types import LONG_LONG, Array, Pointer
from analysis.model.kept_with import kept_with

_Path = tuple[str | int, ...]
_NOTHING = Always(frozenset())


@kept_with
def running(program: Program) -> frozenset[str]:
    """The functions that can run: those that `main` calls, and those whose address is taken, with all that these call."""
    return names_below(program, (MAIN, *sorted(program.address_taken))) & program.functions.keys()


def candidates(program: Program) -> Invariants:
    """The invariants that are not excluded by how objects are accessed."""
    names = running(program)
    fresh = fresh_blocks(program)
    otherwise = [otherwise_in(program, program.functions[name], fresh) for name in sorted(names)]
    otherwise.append(otherwise_at_start(program))
    used = frozenset[Invariant]().union(*(members_in(program.functions[name]) for name in names))
    return (_members(program, otherwise) & used) | frozenset(_variables(program)) | frozenset(_parameters(program, names))


def _members(program: Program, otherwise: Iterable[Otherwise]) -> Invariants:
    otherwise = tuple(otherwise)
    keys = program.records.keys() - left_out(program) - confused_by(program, otherwise) - _disturbed(program)
    pointed = NONE.union(*(one.pointed for one in otherwise))
    found = {
        Invariant("member", member.name, key)
        for key in keys
        for member in program.records[key].members
        if member.name and isinstance(member.type, Pointer) and not member.volatile and member.bits is None
    }
    return frozenset(found - pointed).difference(_unset_at_start(program, frozenset(found)))


def _unset_at_start(program: Program, found: Invariants) -> Iterator[Invariant]:
    """The members of variables with static storage that begin with zero, or with what is not known."""
    members = Members(program, found)
    for variable in program.globals.values():
        if not members.are_in(variable.var.type):
            continue
        given = _given(variable)
        for lvalue in _elements(variable.var):
            for leaf, said in members.of(lvalue):
                value = given.get(_path(leaf))
                if value is None or not is_nonzero(Known(), value, _NOTHING):
                    yield said


def _elements(lvalue: ir.Expr) -> Iterator[ir.Expr]:
    """The objects in an array, or the one object. Of an array of unknown length, one that no initialiser names."""
    if not isinstance(lvalue.type, Array):
        yield lvalue
        return
    for at in range(lvalue.type.length or 0) or (-1,):
        yield from _elements(ir.Index(lvalue, ir.IntConst(at, LONG_LONG), lvalue.type.element))


def _given(variable: Global) -> dict[_Path, ir.Expr]:
    """What an initialiser gives the parts of a variable. What is given to a whole comes in place of its parts."""
    given: dict[_Path, ir.Expr] = {}
    for part in variable.parts:
        path = _path(part.target)
        given = {one: value for one, value in given.items() if one[: len(path)] != path}
        given[path] = part.value
    return given


def _path(lvalue: ir.Expr) -> _Path:
    """The members and elements that lead to a part of a variable, whatever the type of the subscripts."""
    return tuple(_step(step) for step in ir.steps(lvalue))


def _step(step: ir.Field | ir.Index) -> str | int:
    if isinstance(step, ir.Field):
        return step.name
    return step.index.value if isinstance(step.index, ir.IntConst) else ""


def _disturbed(program: Program) -> frozenset[str]:
    """The records of which handlers of signals that return may see, or change, objects."""
    found = frozenset[str]()
    for name in names_below(program, beside(program).returning_handlers) & program.functions.keys():
        found |= records_in(program.functions[name])
    return found


def _variables(program: Program) -> Iterator[Invariant]:
    """The pointers, and arrays of pointers, with static storage to which nothing leads and that begin with no null."""
    pointed = pointed_statics(program)
    changed = {
        part.name
        for name in names_below(program, beside(program).returning_handlers) & program.functions.keys()
        for parts in program.functions[name].parts.values()
        for part in parts
        if isinstance(part, ir.Var) and part.scope == "global"
    }
    changed |= _declared_otherwise(program)
    for name, one in program.globals.items():
        if name in pointed or name in changed or not isinstance(element(one.var.type), Pointer):
            continue
        if _begins_set(one):
            yield Invariant("elements" if isinstance(one.var.type, Array) else "variable", name)


def _declared_otherwise(program: Program) -> set[str]:
    """The variables that a function knows by another type than that of their definition: what it writes there is not followed."""
    named = (
        part for cfa in program.functions.values() for parts in cfa.parts.values() for part in parts if isinstance(part, ir.Var)
    )
    types = {name: one.var.type for name, one in program.globals.items()}
    return {part.name for part in named if part.scope == "global" and types.get(part.name) != part.type}


def _begins_set(one: Global) -> bool:
    if not isinstance(one.var.type, Array):
        return is_nonzero(Known(), one.initial, _NOTHING)
    given = _given(one)
    values = [given.get(_path(lvalue)) for lvalue in _elements(one.var)]
    return all(value is not None and is_nonzero(Known(), value, _NOTHING) for value in values)


def _parameters(program: Program, names: Iterable[str]) -> Iterator[Invariant]:
    """The parameters of functions that are called by name only."""
    for name in names:
        if name != MAIN and name not in program.address_taken:
            for parameter in program.functions[name].parameters:
                if isinstance(parameter.type, Pointer):
                    yield Invariant("parameter", parameter.name, name)
