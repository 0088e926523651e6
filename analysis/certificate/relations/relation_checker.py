"""Checks claims about how what functions return and write relates to what was there at their entry."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from analysis.certificate.refusal import RefusedError
from analysis.certificate.relations.joined_states import implies
from analysis.certificate.relations.relation_contract import RelationContract, contract_of, weaker
from analysis.certificate.relations.relation_state import RelationState
from analysis.certificate.relations.relation_transfer import Contracts, NotFollowedError, RelationTransfer, candidates
from analysis.cfa.graph import Cfa, Edge, Program
from analysis.model.spelling import display_name


class FunctionRelations(NamedTuple):
    """What is claimed: what holds at each location where control can be; at other locations it is claimed never to be. `contract`
    is what calls may rely on."""

    function: str
    states: Mapping[int, RelationState]
    contract: RelationContract


def check_relations(program: Program, claims: Iterable[FunctionRelations], below: Contracts) -> None:
    """Accepts claims about functions that call each other, or raises RefusedError. `below` are the contracts of what else they
    call, which were accepted before."""
    given = tuple(claims)
    own = {one.function: one.contract for one in given}
    if len(own) < len(given) or not own.keys() <= program.functions.keys():
        raise RefusedError("its functions are not those that it should be about")
    for one in given:
        _check(program, one, lambda name: own[name] if name in own else below(name))


def _check(program: Program, claim: FunctionRelations, contracts: Contracts) -> None:
    """Refuses a claim that does not follow from itself."""
    cfa = program.functions[claim.function]
    transfer = RelationTransfer(program, cfa, contracts)
    _implied(transfer, transfer.at_entry(), claim.states.get(cfa.entry), None)
    try:
        for location, state in claim.states.items():
            for edge in cfa.outgoing.get(location, ()):
                after = transfer.after(state, edge)
                if after is not None:
                    _implied(transfer, after, claim.states.get(edge.target), edge)
    except NotFollowedError as error:
        raise RefusedError(str(error)) from error
    if not _says_less(cfa, claim):
        raise RefusedError(f"{display_name(cfa.name)}() may return with something else")


def _says_less(cfa: Cfa, claim: FunctionRelations) -> bool:
    """Whether the contract follows from what holds where the function returns."""
    follows = contract_of(cfa, claim.states.get(cfa.exit), candidates(cfa))
    return weaker(claim.contract, follows) == claim.contract


def _implied(transfer: RelationTransfer, after: RelationState, claimed: RelationState | None, edge: Edge | None) -> None:
    where = f"behind edge {edge.id}" if edge is not None else "at its entry"
    if claimed is None or not implies(transfer, after, claimed):
        raise RefusedError(f"what is claimed of {display_name(transfer.cfa.name)}() need not hold {where}")
