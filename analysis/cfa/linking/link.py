"""Linking: the units of a program become one `Program` (C11 6.9).

Functions of one name with external linkage are one function; the first definition counts, and a second one that differs is
reported. One that is weak, or for inlining only, counts only where there is no other. Tentative definitions make one
variable; one that is declared everywhere and defined nowhere, or weak, starts with an unknown value. Where it is not known
which definition counts, or what a name stands for, the functions that depend on it are obstructed
(`cfa.linking.obstructions`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec

from analysis.c.linkage import Strength, strength
from analysis.c.project_functions import ProjectFunctions
from analysis.cfa.building.unit import Surface, Unit, same_surface, surface
from analysis.cfa.graph import Cfa, External, FunctionSource, Global, Program
from analysis.cfa.linking.allocator_pairs import with_beliefs
from analysis.cfa.linking.obstructed import obstructed_source
from analysis.cfa.linking.obstructions import Obstructions, obstructions
from analysis.cfa.linking.project_contracts import Applied, applied, described_externals
from analysis.cfa.linking.separate import Separated, separate_again, separate_records
from analysis.frontend.lowering.local_declarations import zero
from analysis.model import ir
from analysis.model.report import Message


class Functions(NamedTuple):
    """The functions of a program, by name. `shared` are those that are defined more than once."""

    cfas: dict[str, Cfa]
    sources: dict[str, FunctionSource]
    messages: tuple[Message, ...]
    shared: frozenset[str]


class LinkedProgram(msgspec.Struct, frozen=True):
    """A program, where its functions' texts are, and what was wrong with putting it together.

    `surfaces` are what the units show to each other; when they are as before, all but the CFAs is taken over from
    the program before. `units` are those that were linked, and `separated` the same with the records of one tag kept apart.
    `defined` are the functions as their files define them, where the program has obstructed ones (`obstructions`). `contracts`
    are what the project says of external functions, and `applied` those that apply.
    """

    program: Program
    sources: dict[str, FunctionSource]
    messages: tuple[Message, ...]
    surfaces: tuple[Surface, ...]
    units: tuple[Unit, ...]
    separated: Separated
    defined: Functions
    obstructions: Obstructions
    contracts: ProjectFunctions = {}
    applied: Applied = Applied()


def link(units: Sequence[Unit], before: LinkedProgram | None = None, contracts: ProjectFunctions | None = None) -> LinkedProgram:
    """Links the units in the order given; `contracts` are what the project says of functions that it calls. `before` is the
    program of the revision before, from which work is reused: it is the very same program where no CFA, no declaration and no
    contract is another."""
    surfaces, contracts = tuple(_surfaces(units, before)), contracts or {}
    unchanged = before is not None and contracts == before.contracts and _all_same(surfaces, before.surfaces)
    if before is not None and unchanged:
        separated = separate_again(units, before.units, before.separated)
        exchanged = _exchanged(separated.units, before)
    else:
        separated = separate_records(units)
        exchanged = None
    found = exchanged or _functions(separated.units)
    unchanged = unchanged and before is not None and before.program.functions.keys() == found.cfas.keys()
    known = before.applied if before is not None and unchanged else applied(separated.units, found.cfas, contracts)
    last = None if before is None else before.obstructions
    obstructing = obstructions(separated.units, found.cfas, known.ending, last, is_alike=exchanged is not None)
    defined, found = found, _obstructed(found, obstructing)
    if before is not None and unchanged:
        program = _with_functions(before.program, found.cfas)
    else:
        taken = {name for unit in units for name in unit.address_taken}
        externals = with_beliefs(described_externals(_externals(separated.units, found.cfas), known))
        program = Program(found.cfas, _globals(separated.units), externals, separated.records, taken)
    messages = (*found.messages, *known.messages)
    return LinkedProgram(
        program, found.sources, messages, surfaces, tuple(units), separated, defined, obstructing, contracts, known
    )


def _with_functions(old: Program, cfas: Mapping[str, Cfa]) -> Program:
    """A program with other functions of the same names; the very same one if they are the same, in the same order."""
    differ = [(cfa, was) for name, cfa in cfas.items() if (was := old.functions[name]) is not cfa]
    if not differ and list(cfas) == list(old.functions):
        return old
    edges = old.edges + sum(len(cfa.edges) - len(was.edges) for cfa, was in differ)
    return Program(cfas, old.globals, old.externals, old.records, old.address_taken, edges=edges)


def _all_same(surfaces: Sequence[Surface], before: Sequence[Surface]) -> bool:
    return len(before) == len(surfaces) and all(map(same_surface, surfaces, before))


def _surfaces(units: Sequence[Unit], before: LinkedProgram | None) -> Iterator[Surface]:
    known = {} if before is None else {id(unit): shown for unit, shown in zip(before.units, before.surfaces, strict=True)}
    for unit in units:
        yield known.get(id(unit)) or surface(unit)


def _functions(units: Iterable[Unit]) -> Functions:
    """The functions of all units; of one that is defined several times the first."""
    cfas: dict[str, Cfa] = {}
    sources: dict[str, FunctionSource] = {}
    messages: list[Message] = []
    shared = set()
    yields: set[str] = set()
    for unit in units:
        yielding = unit.level.linkage.yielding
        for function in unit.functions:
            cfa = function.cfa
            first = cfas.get(cfa.name)
            if first is None or (cfa.name in yields and cfa.name not in yielding):
                cfas[cfa.name] = cfa
                sources[cfa.name] = function.source
                yields.discard(cfa.name)
                if cfa.name in yielding:
                    yields.add(cfa.name)
            if first is None:
                continue
            shared.add(cfa.name)
            if cfa.name in yielding or cfas[cfa.name] is cfa:
                continue
            if first.digest != cfa.digest:
                text = f"{cfa.name} is defined in {first.path} already, with another body; this definition is not checked."
                messages.append(Message("warning", cfa.path, text))
    return Functions(cfas, sources, tuple(messages), frozenset(shared))


def _exchanged(units: Sequence[Unit], before: LinkedProgram) -> Functions | None:
    """The functions of a program of which some units were built anew, with functions of the same names; None if they have
    others, or some that are defined elsewhere, too."""
    cfas, sources, messages, shared = before.defined
    for unit, old in zip(units, before.separated.units, strict=True):
        if unit is not old:
            names = [function.cfa.name for function in unit.functions]
            if names != [function.cfa.name for function in old.functions] or not shared.isdisjoint(names):
                return None
            sources = {**sources, **{function.cfa.name: function.source for function in unit.functions}}
            if any(cfas[function.cfa.name] is not function.cfa for function in unit.functions):
                cfas = {**cfas, **{function.cfa.name: function.cfa for function in unit.functions}}
    return Functions(cfas, sources, messages, shared)


def _obstructed(found: Functions, obstructing: Obstructions) -> Functions:
    """The functions with what is not understood of them."""
    concerned = obstructing.concerned
    if not concerned:
        return found
    cfas, sources = dict(found.cfas), dict(found.sources)
    for name in concerned:
        cfa = cfas[name] = obstructing.applied(found.cfas[name])
        if cfa is not found.cfas[name]:
            sources[name] = obstructed_source(found.sources[name], cfa)
    return Functions(cfas, sources, found.messages, found.shared)


def _globals(units: Sequence[Unit]) -> Mapping[str, Global]:
    found: dict[str, Global] = {}
    strengths: dict[str, Strength] = {}
    for unit in units:
        for variable in unit.variables:
            if variable.var.name in unit.level.linkage.weak:
                _add_global(found, strengths, unit.path, variable.var, None, tentative=False)
                continue
            _add_global(
                found,
                strengths,
                unit.path,
                variable.var,
                variable.initial,
                variable.tentative,
                variable.parts,
                constant=variable.constant,
            )
        for function in unit.functions:
            for static in function.statics:
                is_open = isinstance(static.initial, ir.Unknown) and not static.parts
                found.setdefault(static.var.name, Global(static.var, unit.path, static.initial, static.parts, open=is_open))
            for var in function.externs:
                _add_global(found, strengths, unit.path, var, None, tentative=False)
    return found


def _add_global(
    found: dict[str, Global],
    strengths: dict[str, Strength],
    path: str,
    var: ir.Var,
    initial: ir.Expr | None,
    tentative: bool,
    parts: tuple[ir.Assign, ...] = (),
    *,
    constant: bool = False,
) -> None:
    """The stronger one of two declarations counts."""
    mine = strength(initialised=initial is not None, tentative=tentative)
    if mine == 0 and var.name in found:
        return
    value = initial if initial is not None else zero(var.type) if tentative else ir.Unknown(var.type)
    if var.name not in found or mine > strengths.get(var.name, 0):
        strengths[var.name] = mine
        found[var.name] = Global(var, path, value, parts, constant, isinstance(initial, ir.Unknown) and not parts)


def _externals(units: Sequence[Unit], functions: Mapping[str, Cfa]) -> Mapping[str, External]:
    found: dict[str, External] = {}
    for unit in units:
        for external in unit.externals:
            known = found.get(external.name)
            if known is None:
                if external.name not in functions:
                    found[external.name] = external
            elif _adds(external, known):
                found[external.name] = _merged(known, external)
    return found


def _adds(external: External, known: External) -> bool:
    """Whether another declaration says more than what is known."""
    return (
        (external.noreturn and not known.noreturn)
        or (external.system and not known.system)
        or (bool(external.nonnull) and not known.nonnull)
        or (external.type.prototyped and not known.type.prototyped)
    )


def _merged(one: External, other: External) -> External:
    type_ = other.type if other.type.prototyped and not one.type.prototyped else one.type
    system = one.system or other.system
    return External(one.name, type_, one.noreturn or other.noreturn, one.nonnull or other.nonnull, system)
