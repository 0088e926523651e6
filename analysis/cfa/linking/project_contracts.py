"""What a project says of external functions (`analysis.c.project_functions`): to which functions of a program it applies.

A contract of a function that the program defines does not count, since the body says what the function does. Nor does one that a
declaration of any unit does not fit: what it says would be of another function.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec

from analysis.c.functions import Function
from analysis.c.project_functions import ProjectFunction, ProjectFunctions, misfit
from analysis.cfa.building.unit import Unit
from analysis.cfa.graph import Cfa, External, Program
from analysis.model import ir
from analysis.model.assumptions import PROJECT_CONTRACTS
from analysis.model.kept_with import kept_with
from analysis.model.report import Message
from analysis.model.spelling import display_name


class Applied(NamedTuple):
    """The contracts that apply, by the names of the functions, and a message for each one that does not though the program has a
    function of that name. `ending`: the functions that never return."""

    contracts: ProjectFunctions = {}
    messages: tuple[Message, ...] = ()
    ending: frozenset[str] = frozenset()


def applied(units: Sequence[Unit], cfas: Mapping[str, Cfa], contracts: ProjectFunctions) -> Applied:
    """Which contracts apply to the functions of a program."""
    if not contracts:
        return Applied()
    why = dict(_unfit(units, contracts))
    why |= {name: f"{cfas[name].path} defines the function" for name in contracts.keys() & cfas.keys()}
    why |= {
        name: f"{cfa.path} defines the function"
        for cfa in cfas.values()
        if (name := display_name(cfa.name)) in contracts and not _is_declared(units, name)
    }
    found = {name: contract for name, contract in contracts.items() if name not in why}
    messages = (_message(contracts[name], name, why[name]) for name in sorted(why))
    ending = frozenset(name for name, contract in found.items() if contract.function.never_returns)
    return Applied(found, tuple(messages), ending)


def _message(contract: ProjectFunction, name: str, why: str) -> Message:
    return Message("warning", contract.path, f"The contract of {name} is not used: {why}.")


def _unfit(units: Sequence[Unit], contracts: ProjectFunctions) -> Iterator[tuple[str, str]]:
    for unit in units:
        for external in unit.externals:
            contract = contracts.get(external.name)
            why = "" if contract is None else misfit(contract.function, external.type)
            if why:
                yield external.name, f"in {unit.path}, {why}"


def _is_declared(units: Sequence[Unit], name: str) -> bool:
    return any(external.name == name for unit in units for external in unit.externals)


def described_externals(externals: Mapping[str, External], found: Applied) -> Mapping[str, External]:
    """The external functions of a program, with what the contracts say of them."""
    if not found.contracts:
        return externals
    return {name: _described(one, found.contracts.get(name)) for name, one in externals.items()}


def _described(external: External, contract: ProjectFunction | None) -> External:
    if contract is None:
        return external
    return msgspec.structs.replace(
        external,
        noreturn=external.noreturn or contract.function.never_returns,
        nonnull=tuple(sorted({*external.nonnull, *contract.not_null})),
        row=contract.row,
    )


@kept_with
def used_contracts(program: Program) -> tuple[Function, ...]:
    """What contracts of the project say of the functions that a program calls, or uses the addresses of, by name."""
    if not program.contracts:
        return ()
    calls = (edge.effect for cfa in program.functions.values() for edge in cfa.calls)
    used = {target for call in calls if isinstance(call, ir.Call) for target in program.targets(call)} | program.address_taken
    return tuple(function for function in program.contracts if function.name in used)


def relied_on(program: Program) -> tuple[str, ...]:
    """What has to be assumed because contracts of the project say what functions do that are used: the sentence, or nothing.
    A contract that is not complete is not relied on."""
    names = [f"{one.name} ({one.described})" for one in used_contracts(program) if one.is_complete]
    return (f"{PROJECT_CONTRACTS.sentence}: {', '.join(names)}",) if names else ()
