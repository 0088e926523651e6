"""The contracts of the functions of a program."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

import msgspec

from analysis.certificate.nonzero.callee_contracts import Contract
from analysis.cfa.graph import Cfa, Places, Program
from analysis.model.spelling import display_name
from analysis.session.contracts.declarations import Declarations
from analysis.session.contracts.expected_blocks import expected_blocks
from analysis.session.contracts.function_contract import Clause, FunctionContract
from analysis.session.contracts.owned_clauses import OwnedClauses, owned
from analysis.session.contracts.relied_data import Relying, RelyingFunctions, may_rely
from analysis.session.contracts.required_clauses import Found, RequiredClauses, renamed
from analysis.session.contracts.signatures import signature
from analysis.session.contracts.unaffected import unaffected


class Shown(NamedTuple):
    """The contract of a function, and all that calls of it rely on. `basis` is empty, and the contract says only what is seen at
    once, if the time was over. `callers`: how many functions call it; `counted`: they were followed, too."""

    contract: FunctionContract
    basis: tuple[object, ...]
    callers: int
    counted: bool

    @property
    def is_whole(self) -> bool:
        """Whether nothing is left out."""
        return bool(self.basis) and self.counted


class ProgramContracts:
    """Follows the functions of one program. What was followed once is kept. To make one costs nothing: it begins with the first
    question."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.begun = False

    @cached_property
    def _required(self) -> RequiredClauses:
        self.begun = True
        return RequiredClauses(self.program)

    @cached_property
    def _owned(self) -> OwnedClauses:
        return OwnedClauses(self.program)

    def take_over(self, other: ProgramContracts) -> bool:
        """Takes over what was found in another revision of the program, and still holds; whether something may."""
        names = unaffected(other.program, self.program)
        if names is None:
            return False
        self._required.take_over(other._required, names)
        self._owned.take_over(other._owned, names)
        return True

    def of(self, name: str, goes_on: Callable[[], bool] = lambda: True, named: Cfa | None = None) -> Shown:
        """The contract of a function, without the places in it. `named`: another revision of it, whose parameters' names are
        used. KeyError if the program does not define it."""
        cfa = self.program.functions[name]
        named = named if named is not None and len(named.parameters) == len(cfa.parameters) else cfa
        parameters = [display_name(one.name) for one in named.parameters]
        contract = FunctionContract(display_name(name), cfa.path, 0, signature(name, cfa.type, parameters))
        self._required.while_(goes_on)
        self._owned.while_(goes_on)
        calling = self._required.calling(name)
        found = self._required.follow(name)
        followed = None if found is None else self._owned.follow(name)
        if found is None or followed is None:
            seen = tuple(self._required.seen(cfa))
            return Shown(msgspec.structs.replace(contract, ensures=seen), (), len(calling), counted=False)
        status = self._required.status(name)
        requires = tuple(self._required.requires(found, status, cfa, named))
        kept = self._required.keeping(name, calling)
        contract = msgspec.structs.replace(
            contract,
            requires=requires,
            ensures=tuple(self._required.ensures(found, status, cfa, named)),
            writes=self._required.writes(found, status),
            ownership=owned(followed.contract, parameters, status),
            blocks=expected_blocks(
                self.program, cfa, followed.found, parameters, status, [clause.formula for clause in requires]
            ),
            returns=found["null-dereference"].contract.returns,
            closed=self._required.is_closed(found, name),
            callers_discharging=(0, 0) if kept is None else (kept, len(calling)),
        )
        relied = tuple(_relied(walked.contract, cfa, named) for walked in found.values())
        ownership = None if followed.contract is None else followed.contract.facts()
        result, related = self._required.result(name), self._required.related(name, named).basis()
        return Shown(contract, (relied, ownership, cfa.type, result, related), len(calling), kept is not None)

    def follow(self, name: str, goes_on: Callable[[], bool]) -> bool:
        """Follows a function, as its contract needs; whether there was the time. KeyError if the program does not define it."""
        self._required.while_(goes_on)
        self._owned.while_(goes_on)
        return self._required.follow(name) is not None and self._owned.follow(name) is not None

    def calling(self, name: str) -> list[str]:
        """The functions of the program that call a function."""
        return self._required.calling(name)

    def open(self, name: str, places: Places) -> tuple[str, ...]:
        """Where rules may be violated in a function, whatever callers keep. KeyError if the program does not define it."""
        found: Found | None = self._required.follow(name)
        return () if found is None else tuple(self._required.open(found, name, places))


def program_contracts(
    program: Program, places: Places, names: Iterable[str], declarations: Declarations, entries: Sequence[str] = ()
) -> Iterator[FunctionContract]:
    """The contracts of functions of the program, in this order. KeyError for one that it does not define. `entries`: where its
    runs begin; where `main` is one, what its data holds in runs from there is relied on."""
    contracts = ProgramContracts(program)
    relying = RelyingFunctions(program, entries) if may_rely(program, entries) else None
    for name in names:
        place = places.name_place(name)
        contract = contracts.of(name).contract
        kept, of = contract.callers_discharging
        open_ = contracts.open(name, places)
        required = {clause.from_ for clause in contract.requires} if not of or kept < of else ()
        if relying is not None and (open_ or required):
            contract = _with_relied(contract, open_, relying.relies(name, open_, sorted(required), contracts.calling(name)))
        else:
            contract = msgspec.structs.replace(contract, open=open_)
        yield msgspec.structs.replace(contract, path=place.path, line=place.range.start.line, declared=declarations.of(name))


def _with_relied(contract: FunctionContract, open_: tuple[str, ...], relying: Relying) -> FunctionContract:
    """The contract in runs from `main`: what callers have to keep beside what the data always holds."""
    if not relying.relies:
        return msgspec.structs.replace(contract, open=open_)
    others = [one for one in contract.requires if one.from_ not in relying.required]
    needed = [Clause(f"`{one}`", one, "proved", rule) for rule, found in relying.required.items() for one in found]
    kept, of = contract.callers_discharging
    is_all = not others or kept == of
    return msgspec.structs.replace(
        contract,
        requires=(*needed, *others),
        relies=relying.relies,
        open=relying.left,
        closed=not relying.left,
        callers_discharging=(relying.kept if is_all else min(kept, relying.kept), of),
    )


def _relied(contract: Contract, cfa: Cfa, named: Cfa) -> Contract:
    tells = contract.tells
    if tells is not None:
        tells = frozenset(one._replace(expr=renamed((one.expr,), cfa, named)[0]) for one in tells)
    return contract._replace(needs=renamed(contract.needs, cfa, named), tells=tells)
