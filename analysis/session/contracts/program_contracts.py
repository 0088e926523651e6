"""The contracts of the functions of a program."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from analysis.cfa.graph import Places, Program
from analysis.model.spelling import display_name
from analysis.session.contracts.function_contract import FunctionContract
from analysis.session.contracts.owned_clauses import OwnedClauses
from analysis.session.contracts.required_clauses import RequiredClauses
from analysis.session.contracts.signatures import signature


def program_contracts(program: Program, places: Places, names: Iterable[str]) -> Iterator[FunctionContract]:
    """The contracts of functions of the program, in this order. KeyError for one that it does not define."""
    required, owned = RequiredClauses(program, places), OwnedClauses(program)
    for name in names:
        cfa, place = program.functions[name], places.name_place(name)
        yield FunctionContract(
            display_name(name),
            place.path,
            place.range.start.line,
            signature(name, cfa.type, [one.name for one in cfa.parameters]),
            requires=tuple(required.requires(name)),
            ensures=tuple(required.ensures(name)),
            writes=required.writes(name),
            ownership=owned.of(name),
            returns=required.returns(name),
            callers_discharging=required.discharging(name),
            open=tuple(required.open(name)),
        )
