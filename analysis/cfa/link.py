"""Linking: the units of a program become one `Program` (C11 6.9).

Functions of one name with external linkage are one function; the first definition counts, and a second one that differs is
reported. Tentative definitions make one variable; one that is declared everywhere and defined nowhere starts with an
unknown value.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from analysis.cfa.build import LoweredFunction
from analysis.cfa.graph import Cfa, External, FunctionSource, Global, Program
from analysis.cfa.separate import Separated, separate_again, separate_records
from analysis.cfa.unit import Surface, Unit, same_surface, surface
from analysis.frontend.local_declarations import zero
from analysis.model import ir
from analysis.model.report import Message


class LinkedProgram(msgspec.Struct, frozen=True):
    """A program, where its functions' texts are, and what was wrong with putting it together.

    `surfaces` are what the units show to each other; when they are as before, all but the CFAs is taken over from
    the program before. `units` are those that were linked, and `separated` the same with the records of one tag kept apart.
    """

    program: Program
    sources: dict[str, FunctionSource]
    messages: tuple[Message, ...]
    surfaces: tuple[Surface, ...]
    units: tuple[Unit, ...]
    separated: Separated


def link(units: Sequence[Unit], kept: Iterable[LoweredFunction] = (), before: LinkedProgram | None = None) -> LinkedProgram:
    """Links the units in the order given.

    `kept` are last good functions, taken where no unit defines the name; `before` is the program of the revision before,
    from which work is reused.
    """
    messages: list[Message] = []
    surfaces = tuple(map(surface, units))
    unchanged = before is not None and len(before.surfaces) == len(surfaces) and all(map(same_surface, surfaces, before.surfaces))
    if before is not None and unchanged:
        separated = separate_again(units, before.units, before.separated)
    else:
        separated = separate_records(units)
    functions: dict[str, Cfa] = {}
    sources: dict[str, FunctionSource] = {}
    for unit in separated.units:
        for function in unit.functions:
            _add_function(function, functions, sources, messages)
    for function in kept:
        if function.cfa.name not in functions:
            functions[function.cfa.name] = function.cfa
            sources[function.cfa.name] = function.source
    if before is not None and unchanged and before.program.functions.keys() == functions.keys():
        old = before.program
        program = Program(functions, old.globals, old.externals, old.records, old.address_taken)
    else:
        taken = {name for unit in units for name in unit.address_taken}
        program = Program(functions, _globals(separated.units), _externals(separated.units, functions), separated.records, taken)
    return LinkedProgram(program, sources, tuple(messages), surfaces, tuple(units), separated)


def _add_function(
    function: LoweredFunction, functions: dict[str, Cfa], sources: dict[str, FunctionSource], messages: list[Message]
) -> None:
    cfa = function.cfa
    first = functions.get(cfa.name)
    if first is None:
        functions[cfa.name] = cfa
        sources[cfa.name] = function.source
    elif first.digest != cfa.digest:
        text = f"{cfa.name} is defined in {first.path} already, with another body; this definition is not checked."
        messages.append(Message("warning", cfa.path, text))


def _globals(units: Sequence[Unit]) -> Mapping[str, Global]:
    found: dict[str, Global] = {}
    for unit in units:
        for variable in unit.variables:
            _add_global(
                found, unit.path, variable.var, variable.initial, variable.tentative, variable.parts, constant=variable.constant
            )
        for function in unit.functions:
            for static in function.statics:
                found.setdefault(static.var.name, Global(static.var, unit.path, static.initial, static.parts))
            for var in function.externs:
                _add_global(found, unit.path, var, None, tentative=False)
    return found


def _add_global(
    found: dict[str, Global],
    path: str,
    var: ir.Var,
    initial: ir.Expr | None,
    tentative: bool,
    parts: tuple[ir.Assign, ...] = (),
    *,
    constant: bool = False,
) -> None:
    """A definition with an initialiser wins over a tentative one, which wins over a declaration."""
    strength = 2 if initial is not None else 1 if tentative else 0
    if strength == 0 and var.name in found:
        return
    value = initial if initial is not None else zero(var.type) if tentative else ir.Unknown(var.type)
    known = found.get(var.name)
    if known is None or strength > _strength(known):
        found[var.name] = Global(var, path, value, parts, constant)


def _strength(known: Global) -> int:
    if isinstance(known.initial, ir.Unknown):
        return 0
    return 1 if known.initial == zero(known.var.type) else 2


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
