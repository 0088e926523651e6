"""Checks closed sets of memory states. The state at the entry of each function is in its set, and so are all successors of each
state in the set. No edge violates the rule in any of these states, nor does the return from the function."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from itertools import groupby
from typing import NamedTuple

from analysis.c.control import JUMPS
from analysis.c.functions import known
from analysis.certificate.kept_results import KeptResults
from analysis.certificate.ownership.closed_sets import ClosedSets, FunctionStates
from analysis.certificate.ownership.contracts import Contract, contract_of
from analysis.certificate.ownership.function_transfer import FunctionTransfer
from analysis.certificate.ownership.kept_by_callers import broken, required
from analysis.certificate.ownership.obligations import LEAKS, RULES, USES, Obligations
from analysis.certificate.ownership.standard_streams import never_closed
from analysis.certificate.ownership.used_before import finds_live, may_have_ended
from analysis.certificate.ownership.whole_conditions import has_conditions, unmet
from analysis.certificate.pointed.whole_program import pointed
from analysis.certificate.refusal import RefusedError
from analysis.cfa.callgraph import callees, groups, recursive
from analysis.cfa.graph import Program
from analysis.cfa.linking.evaluation_order import assumptions_of
from analysis.cfa.linking.obstructed import MAIN
from analysis.cpa.obstacles.beside import beside
from analysis.cpa.obstacles.completeness import called_outside, calls_unknown
from analysis.cpa.obstacles.given_to_library import given_to_library
from analysis.frontend.declarations.file_level import UNSEEN
from analysis.model.assumptions import COPIED_POINTERS, INSIDE, LEFT_OPEN, OUTSIDE, PASSED_BLOCKS, WHOLE_POINTERS, Assumption
from analysis.model.kept_with import kept_with
from analysis.model.spelling import display_name

NOTHING = "nothing in it could violate the rule"


class ClosedChecked(NamedTuple):
    """What an accepted proof rests on, and how many states it has."""

    assumptions: tuple[str, ...]
    states: int


def check_closed_sets(program: Program, claim: ClosedSets) -> ClosedChecked:
    """Accepts the proof, or raises RefusedError. KeyError if it speaks of functions that the program does not have."""
    if claim.rule not in RULES:
        raise RefusedError(f"closed sets prove nothing about {claim.rule}")
    reason = obstacle(program, claim.rule)
    if reason:
        raise RefusedError(reason)
    if claim.entry not in (one.function for one in claim.functions):
        raise RefusedError("its functions are not those that it should be about")
    found = shown(program, claim.functions).found
    why = open_reason(program, found, claim.entry, claim.rule, claim.runs_from)
    if why:
        raise RefusedError(f"nothing rules out {claim.rule} in {display_name(claim.entry)}(): {why}")
    names = tuple(one.function for one in claim.functions) if claim.runs_from else (claim.entry,)
    names = (MAIN, *names) if claim.runs_from else names
    by_data = may_rest_on_data(program, claim.rule, claim.runs_from)
    return ClosedChecked(assumptions(program, names, claim.rule, by_data), count_states(claim.functions))


def open_reason(program: Program, found: Mapping[str, Obligations], entry: str, rule: str, runs_from: tuple[str, ...]) -> str:
    """Why what was shown of functions does not prove a rule in one of them; empty if it does: in runs from these functions, or
    else whoever calls it."""
    if rule in USES and (given := given_to_library(program)) and any(True for _ in called_outside(program, (entry,))):
        return given
    if not runs_from:
        return refusal(program, found[entry], entry, rule)
    why = refused_anyway(found[entry], rule)
    if why or not needs_runs(found[entry], rule):
        return why or without_callers(program, found[entry], entry, rule)
    if runs_from != (MAIN,):
        return "there is no main() from which all runs start"
    why = unmet(program, found, entry, rule)
    if rule not in LEAKS:
        why = why or broken(program, found, entry, rule, runs_from)
        if why and rule in USES and not may_have_ended(program, found, entry, rule, runs_from):
            why = ""
    elif why:  # callers may keep what is not known of all of the program
        why = unmet(program, found, entry, rule, is_kept=True) or broken(program, found, entry, rule, runs_from)
    return why or ("" if rule in found[entry].met else NOTHING)


def count_states(claims: tuple[FunctionStates, ...]) -> int:
    """How many states there are."""
    return sum(len(found) for one in claims for _, found in one.states)


class _Closed(NamedTuple):
    """A set that is closed, and what it shows."""

    claim: FunctionStates
    found: Obligations


_Kept = KeptResults[Contract, None, _Closed]


class Shown(NamedTuple):
    """What closed sets showed of functions of one program, and the contracts that follow, which depend on the functions that are
    `recursive`, too. `kept`: that of each function, by the contracts that it follows from."""

    sets: Mapping[str, FunctionStates] = {}
    found: Mapping[str, Obligations] = {}
    contracts: Mapping[str, Contract] = {}
    kept: _Kept | None = None
    recursive: frozenset[str] = frozenset()


def shown(
    program: Program,
    claims: tuple[FunctionStates, ...],
    before: Shown = Shown(),  # noqa: B008 - immutable
    same: Collection[str] | None = None,
) -> Shown:
    """What the sets show, of each function. RefusedError if one is not closed, or they are not in the order of `groups`. `before`
    is what was shown of an earlier program, and `same` are functions of which nothing that this follows from is other than there,
    but for the sets, and the contracts of what they call: where these are the same, too, nothing is checked again. None: more may
    differ than bodies of functions."""
    numbers, sets = groups(program), {one.function: one for one in claims}
    if len(sets) < len(claims):
        raise RefusedError("its functions are not those that it should be about")
    if sorted(claims, key=lambda one: numbers[one.function]) != list(claims):
        raise RefusedError("its functions do not follow those that they call")
    found: dict[str, Obligations] = {}
    known: dict[str, Contract] = {}
    kept = _Kept() if same is None or before.kept is None else before.kept
    for _, group in groupby(claims, key=lambda one: numbers[one.function]):
        members = list(group)
        names = {one.function for one in members}
        below = {name for one in names for name in callees(program)[one]} & program.functions.keys() - names
        is_same = all(known.get(name) == before.contracts.get(name) for name in below)
        is_same = is_same and names & before.recursive == names & recursive(program)
        if same is not None and is_same and all(one.function in same and before.sets.get(one.function) == one for one in members):
            found.update((name, before.found[name]) for name in names)
            known.update((name, before.contracts[name]) for name in names if name in before.contracts)
        else:
            _show(program, members, found, known, kept)
    return Shown(sets, found, known, kept, recursive(program))


def _show(
    program: Program, members: list[FunctionStates], found: dict[str, Obligations], known: dict[str, Contract], kept: _Kept
) -> None:
    """Adds what the sets of a group show, and its contracts."""
    assumed = _contracts(program, members, {})
    while True:  # contracts that functions of a group assume of each other follow from themselves (Hoare's rule of recursion)
        contracts = {**known, **{name: one.in_group() for name, one in assumed.items()}}
        found.update((one.function, _closed_before(program, one, contracts, kept)) for one in members)
        follow = _contracts(program, members, found)
        if follow.keys() == assumed.keys() and all(one.says_the_same(assumed[name]) for name, one in follow.items()):
            break
        assumed = follow
    known.update(assumed)


def _contracts(program: Program, members: list[FunctionStates], shown: Mapping[str, Obligations]) -> dict[str, Contract]:
    """The contracts of functions: what they return follows from their sets alone, the rest from what these show. More shows the
    more is assumed not to hold, and nothing that did not hold does again."""
    found: dict[str, Contract] = {}
    for one in members:
        cfa = program.functions[one.function]
        at_exit = next((states for location, states in one.states if location == cfa.exit), ())
        is_recursive = one.function in recursive(program)
        contract = contract_of(cfa, at_exit, shown.get(one.function, Obligations()), is_recursive=is_recursive)
        if contract is not None:
            found[one.function] = contract
    return found


def _closed_before(program: Program, claim: FunctionStates, contracts: Mapping[str, Contract], kept: _Kept) -> Obligations:
    """What a closed set shows of its function, which may have been checked before with the same contracts of what it calls."""
    before = kept.find(program, claim.function, contracts)
    if before is not None and before.claim == claim:
        return before.found
    found = _closed(program, claim, contracts)
    kept.keep(program, claim.function, contracts, _Closed(claim, found))
    return found


def _closed(program: Program, claim: FunctionStates, contracts: Mapping[str, Contract]) -> Obligations:
    """What a closed set shows of its function. RefusedError if the set is not closed."""
    cfa = program.functions[claim.function]
    transfer = FunctionTransfer(program, cfa, contracts)
    states = {location: frozenset(found) for location, found in claim.states}
    if len(states) < len(claim.states) or not states.keys() <= set(cfa.locations):
        raise RefusedError(f"it mentions locations that {display_name(cfa.name)}() does not have, or one twice")
    if transfer.initial() not in states.get(cfa.entry, ()):
        raise RefusedError(f"it leaves out the state in which {display_name(cfa.name)}() is called")
    for location, found in states.items():
        for edge in cfa.outgoing.get(location, ()):
            there = states.get(edge.target, frozenset())
            if not all(after in there for state in found for after in transfer.successors(state, edge)):
                raise RefusedError(f"it leaves out a state of {display_name(cfa.name)}()")
    return transfer.found


def refusal(program: Program, found: Obligations, function: str, rule: str) -> str:
    """Why what was found of a function does not prove a rule; empty if it does, whatever it is passed."""
    return without_callers(program, found, function, rule) or required(found, rule)


def without_callers(program: Program, found: Obligations, function: str, rule: str) -> str:
    """Why it does not prove a rule, whatever callers keep; empty if it does where they keep what is required."""
    if found.broken:
        return found.broken
    if rule in found.first and not finds_live(program, function, found, rule):
        return found.first[rule]
    lost = next((why for (_, of), why in found.contents.items() if of == rule), "")
    if lost and found.ends_unknown:  # what it ends is what it would require not to be there
        return lost
    return "" if lost or rule in found.met else NOTHING


def refused_anyway(found: Obligations, rule: str) -> str:
    """Why it does not prove a rule, wherever runs begin; empty if it may."""
    return found.broken or found.refused.get(rule, "")


def needs_runs(found: Obligations, rule: str) -> bool:
    """Whether a rule needs callers to keep something, or the whole program to be seen."""
    return has_conditions(found, rule) or any(of == rule for of, _, _ in found.requires)


def obstacle(program: Program, rule: str) -> str:
    """Why nothing is proved about a rule in the program; empty if something may be."""
    if UNSEEN in program.externals:
        return "attributes make functions run before or after main, or give them other names"
    if rule in USES and buffers(program):
        return "streams, or generators of numbers, are given buffers of the program, and what uses them then is not followed"
    if rule in LEAKS and jumps_away(program):
        return "a handler of signals, or another thread, may end a function at any time by a jump"
    return ""


def hidden(program: Program, rule: str) -> str:
    """Why what is shown of a rule in a part of the program may not hold in all of it; empty if it does. The part need not show
    what the rest of the program gives to the library."""
    return obstacle(program, rule) or (given_to_library(program) if rule in USES else "")


@kept_with
def jumps_away(program: Program) -> bool:
    """Whether something that runs beside the functions of a program could end one of them, by a jump or with its thread."""
    ends = {*JUMPS, "pthread_cancel"}
    return bool(beside(program).starters) and not _called(program).isdisjoint(ends)


@kept_with
def buffers(program: Program) -> bool:
    """Whether functions of the library may access blocks of the program that they were not passed."""
    return any(function is not None and "buffers" in function.besides for function in map(known, _called(program)))


def _called(program: Program) -> frozenset[str]:
    return frozenset(name for names in callees(program).values() for name in names)


def may_rest_on_data(program: Program, rule: str, runs_from: tuple[str, ...]) -> tuple[Assumption, ...]:
    """What a proof about runs from these functions takes for granted if it rests on what pointers lead to in the whole program,
    or on that nothing has ended that they lead to, as it may."""
    if runs_from and not pointed(program).broken:
        return pointed(program).assumed
    return (COPIED_POINTERS,) if runs_from and rule in USES else ()


def assumptions(program: Program, functions: tuple[str, ...], rule: str, by_data: tuple[Assumption, ...]) -> tuple[str, ...]:
    """What a proof that follows these functions rests on, as sentences. `by_data`: what `may_rest_on_data` says."""
    calls_others = calls_unknown(program, functions)
    more = [one for one, holds in ((OUTSIDE, calls_others), (PASSED_BLOCKS, rule in LEAKS)) if holds]
    more += [WHOLE_POINTERS] if rule in LEAKS else []
    more += by_data
    more += [LEFT_OPEN] if rule in USES and never_closed(program) else []
    return tuple(dict.fromkeys((*assumptions_of(program), INSIDE.sentence, *(one.sentence for one in more))))
