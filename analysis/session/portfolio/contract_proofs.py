"""Proofs about all functions of a program at once, each by the contracts of what it calls. Runs of each: `searched_functions`.

Those called first are followed first, once for all rules about blocks and streams, and once for each rule about values. The
checkers do the same for all functions together. So the time grows with the program, and not with how often each function is
called. After an edit, what was found of functions, and what the checkers were shown, is taken over where nothing that it follows
from is other than before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import msgspec

from analysis.c.undefined import SHOWN_ALONE
from analysis.certificate.nonzero import requirement_checker as values
from analysis.certificate.nonzero.callee_contracts import Needs
from analysis.certificate.nonzero.invariant_candidates import running
from analysis.certificate.nonzero.needed_values import RULES as OF_VALUES
from analysis.certificate.nonzero.needed_values import Rule
from analysis.certificate.nonzero.requirement_search import RequirementSearch
from analysis.certificate.nonzero.walk import Walked
from analysis.certificate.ownership import closed_checker as blocks
from analysis.certificate.ownership.closed_search import ClosedSearch
from analysis.certificate.ownership.obligations import RULES as OF_BLOCKS
from analysis.certificate.ownership.obligations import Obligations
from analysis.certificate.ranges.range_checker import RangeRule
from analysis.certificate.refusal import RefusedError
from analysis.cfa.graph import Cfa, Program
from analysis.cfa.linking.obstacle_words import is_open_order
from analysis.cfa.linking.obstructed import MAIN
from analysis.cfa.program_part import names_below, part_below
from analysis.cpa.framework.algorithm import Cancellation
from analysis.cpa.obstacles.beside import beside
from analysis.cpa.obstacles.completeness import called_outside
from analysis.cpa.obstacles.kept_buffers import keeping_buffers, may_use_buffers
from analysis.cpa.predicates.violations import violations_in
from analysis.model import ir
from analysis.model.spelling import display_name
from analysis.session.contracts.unaffected import same_by_themselves, unaffected
from analysis.session.portfolio import ownership_proofs, range_proofs, required_proofs, searched_functions
from analysis.session.portfolio.counted_steps import CountedSteps
from analysis.session.portfolio.kept_data import HERE
from analysis.session.portfolio.request import Answer, Proved, Request, Unknown
from analysis.session.portfolio.request_terms import NOTHING_TO_PROVE

ENGINE_OF_DATA = "invariants"
_NO_TIME = "there was no time to follow all that it calls"
_last_blocks: tuple[ClosedSearch, blocks.Shown] | None = None
_last_values: dict[Rule, tuple[RequirementSearch, values.Shown]] = {}


class OfFunction(NamedTuple):
    """The answer about a rule in a function. `entries`: a proof is about runs from these only; empty: whoever calls it."""

    function: str
    rule: str
    answer: Answer
    entries: tuple[str, ...] = ()


class _Parts:
    """The parts of a program that proofs follow: what they take for granted is about these."""

    def __init__(self, request: Request) -> None:
        self.program, entries = request.program, request.entries
        self._starts = (MAIN,) if MAIN in entries and MAIN in self.program.functions else ()
        self._elsewhere = names_below(self.program, (name for name in entries if name != MAIN))
        self._known: dict[frozenset[str], Program] = {}

    @cached_property
    def _below_main(self) -> frozenset[str]:
        return names_below(self.program, (MAIN,))

    def runs_from(self, name: str) -> tuple[str, ...]:
        """Where all runs start in which a function is called; empty if that is not known."""
        return () if name in self._elsewhere else self._starts

    def below(self, names: tuple[str, ...]) -> Program:
        """The part that these functions can run."""
        inside = self._below_main if names[0] == MAIN and self._below_main.issuperset(names) else names_below(self.program, names)
        found = self._known.get(inside)
        if found is None:
            found = self._known[inside] = part_below(self.program, inside)
        return found


def prove(request: Request, seconds: float, cancellation: Cancellation) -> Iterator[OfFunction]:
    """The answers about the rules of the request."""
    goes_on, parts, rules = CountedSteps(seconds, cancellation).goes_on, _Parts(request), request.about.rules
    of_blocks = [rule for rule in rules if rule in OF_BLOCKS]
    if of_blocks:
        yield from _by_blocks(parts, of_blocks, goes_on)
    if not SHOWN_ALONE.isdisjoint(rules):
        shown = searched_functions.search(request, seconds, cancellation)
        yield from (OfFunction(name, found.observation.kind, found) for name, found in shown)
    of_values = [msgspec.convert(rule, Rule) for rule in rules if rule in OF_VALUES]
    for rule in of_values:
        answers = tuple(_or_by_ranges(parts, rule, _by_values(parts, rule, goes_on), goes_on))
        yield from _with_data(parts, request.entries, rule, answers, goes_on)
    for rule in (one for one in range_proofs.RULES if one in rules and one not in OF_VALUES):
        found = _by_ranges(parts, rule, goes_on)
        yield from (OfFunction(name, rule, proof) for name, proof in found.proved.items())
        yield from (OfFunction(name, rule, Unknown(_NO_TIME)) for name in found.left)


def _by_ranges(parts: _Parts, rule: RangeRule, goes_on: Callable[[], bool]) -> range_proofs.ByRanges:
    return range_proofs.proofs(parts.program, parts.below, rule, range_proofs.search(parts.program, goes_on))


def _or_by_ranges(parts: _Parts, rule: Rule, answers: Iterator[OfFunction], goes_on: Callable[[], bool]) -> Iterator[OfFunction]:
    """The answers, with proofs by bounds of integers where nothing else proves a rule of a function, whoever calls it."""
    if rule != "division-by-zero":
        yield from answers
        return
    proved, left = _by_ranges(parts, rule, goes_on)
    for one in answers:
        is_open = bool(one.entries) or isinstance(one.answer, Unknown)
        if is_open and one.function in proved:
            yield OfFunction(one.function, rule, proved[one.function])
        elif isinstance(one.answer, Unknown) and one.function in left:
            yield one._replace(answer=msgspec.structs.replace(one.answer, final=False))
        else:
            yield one


def _by_blocks(parts: _Parts, rules: Sequence[str], goes_on: Callable[[], bool]) -> Iterator[OfFunction]:
    global _last_blocks
    program = parts.program
    search, before, same = ClosedSearch(program, goes_on), blocks.Shown(), None
    if _last_blocks is not None:
        last, before = _last_blocks
        same, still = same_by_themselves(last.program, program), unaffected(last.program, program)
        if still is not None:
            search.take_over(last, still)
    followed = {name: one.found for name in program.functions if (one := search.follow(name)) is not None}
    claims = search.sets(*(name for name, one in followed.items() if not one.broken))
    refused, found = "", dict[str, Obligations]()
    try:
        shown = blocks.shown(program, claims, before, same)
        found.update(shown.found)
        _last_blocks = search, shown
    except RefusedError as error:
        refused, _last_blocks = str(error), None
    states = {one.function: blocks.count_states((one,)) for one in claims}
    obstacles = {rule: blocks.obstacle(program, rule) for rule in rules}
    for name in program.functions:
        why = refused or _disturbed(program, name) or (followed[name].broken if name in followed else _NO_TIME)
        for rule in rules:
            if why or obstacles[rule]:
                yield OfFunction(name, rule, Unknown(why or obstacles[rule], final=why != _NO_TIME))
            else:
                yield _of_blocks(parts, found, name, rule, states[name])


def _of_blocks(
    parts: _Parts,
    found: Mapping[str, Obligations],
    name: str,
    rule: str,
    states: int,
) -> OfFunction:
    program, runs_from, entries = parts.program, parts.runs_from(name), tuple[str, ...]()
    why = blocks.open_reason(program, found, name, rule, ())
    if why and why != blocks.NOTHING and runs_from and not blocks.refused_anyway(found[name], rule):
        broken = blocks.open_reason(program, found, name, rule, runs_from)
        if broken == blocks.NOTHING:
            why = broken
        elif not blocks.without_callers(program, found[name], name, rule):
            why, entries = (f"{why}; {broken}", ()) if broken else ("", runs_from)
        elif not broken:
            why, entries = "", runs_from
    if why:
        return OfFunction(name, rule, _unknown(why))
    about = (*entries, name)
    assumed = blocks.assumptions(parts.below(about), about, rule, blocks.may_rest_on_data(program, rule, entries))
    return OfFunction(name, rule, Proved(ownership_proofs.ENGINE, assumed, (), states), entries)


def _by_values(parts: _Parts, rule: Rule, goes_on: Callable[[], bool]) -> Iterator[OfFunction]:
    program = parts.program
    search, before, same = RequirementSearch(program, rule, goes_on), values.Shown(), None
    if rule in _last_values:
        last, before = _last_values[rule]
        same = unaffected(last.program, program)
        if same is not None:
            search.take_over(last, same)
    placed = frozenset(name for name in program.functions if any(True for _ in violations_in(program, name, rule)))
    _follow_for(search, placed, parts)
    needs = values.checked_needs(program, search.needs())
    shown = values.shown(program, rule, needs, _worth_showing(search, placed, parts, needs), before, same)
    _last_values[rule] = search, shown
    found = shown.found
    for name in program.functions:
        why = values.obstacle(program, (name,))
        if why:
            yield OfFunction(name, rule, Unknown(why, final=True))
        elif name not in placed:
            hidden = f"not all of {display_name(name)}() is supported"
            yield OfFunction(name, rule, _unknown(hidden if _hides(program.functions[name]) else blocks.NOTHING))
        elif name not in found:
            open_ = values.open_place(program, name, search.found[name]) if name in search.found else ""
            yield OfFunction(name, rule, _unknown(open_) if open_ else Unknown(_NO_TIME))
        else:
            yield _of_values(parts, needs, found, name, rule)


def _worth_showing(
    search: RequirementSearch, placed: frozenset[str], parts: _Parts, needs: Mapping[str, Needs]
) -> tuple[str, ...]:
    """The functions that the search holds for proved, and those that call them, if that matters. Of the others it says why they
    are not, which proves nothing, and nobody has to check."""
    program, wanted = search.program, set[str]()
    for name in sorted(placed & search.found.keys()):
        if not values.open_place(program, name, search.found[name]):
            wanted.update(values.functions_about(program, name, needs, parts.runs_from(name)))
    return tuple(name for name in program.functions if name in wanted and name in search.found)


def _follow_for(search: RequirementSearch, placed: frozenset[str], parts: _Parts) -> None:
    """Follows the functions that could violate the rule, what they call, and all from which it is seen whether they get what they
    need: nothing is asked of the others."""
    for name in search.program.functions:
        if name in placed and search.follow(name) is None:
            return
    for name in sorted({one.function for one in search.needs()} & placed):
        if parts.runs_from(name) and not search.follow_callers(name):
            return


def _of_values(
    parts: _Parts,
    needs: Mapping[str, Needs],
    found: Mapping[str, Walked],
    name: str,
    rule: str,
) -> OfFunction:
    about: tuple[str, ...] = (name,)
    program, runs_from, entries = parts.program, parts.runs_from(name), tuple[str, ...]()
    why = values.open_reason(program, needs, found, name, ())
    if why and runs_from and needs.get(name) and not values.open_place(program, name, found[name]):
        about = values.functions_about(program, name, needs, runs_from)
        broken = values.obstacle(program, about) or values.open_reason(program, needs, found, name, runs_from)
        why, entries = (f"{why}; {broken}", ()) if broken else ("", runs_from)
    if why:
        return OfFunction(name, rule, _unknown(why))
    assumed = values.assumptions(parts.below((*entries, *about)), about)
    return OfFunction(name, rule, Proved(required_proofs.ENGINE, assumed, (), found[name].steps), entries)


def _with_data(
    parts: _Parts, entries: tuple[str, ...], rule: Rule, answers: tuple[OfFunction, ...], goes_on: Callable[[], bool]
) -> Iterator[OfFunction]:
    """The answers, with proofs of functions that are safe because of what the data of the program always holds, in runs from
    `main`, if these run in no others. That is about pointers: of numbers it says nothing."""
    is_open = rule == "null-dereference" and any(isinstance(one.answer, Unknown) and not one.answer.nothing for one in answers)
    all_ = tuple(sorted(running(parts.program)))  # the invariants rest on all that runs
    is_open = is_open and not (keeping_buffers(parts.program) and may_use_buffers(called_outside(parts.program, all_)))
    found = HERE.walks(parts.program, entries, rule, goes_on) if is_open else {}
    for one in answers:
        is_decided = not isinstance(one.answer, Unknown) or one.answer.nothing
        is_asked = not is_decided and one.function in found and bool(parts.runs_from(one.function))
        is_shown = is_asked and not values.open_place(parts.program, one.function, found[one.function])
        yield _by_data(parts, found, one, all_) if is_shown and not values.obstacle(parts.program, (one.function,)) else one


def _by_data(parts: _Parts, found: Mapping[str, Walked], one: OfFunction, all_: tuple[str, ...]) -> OfFunction:
    relied = values.relied_on(parts.program, found, one.function)
    assumed = values.assumptions(parts.program, (*all_, one.function), relied)
    return OfFunction(one.function, one.rule, Proved(ENGINE_OF_DATA, assumed, (), found[one.function].steps), (MAIN,))


def _hides(cfa: Cfa) -> bool:
    """Whether something in a function is not seen. An order that C leaves open hides nothing: all operands are seen."""
    return any(not isinstance(edge.effect, ir.Unsupported) or not is_open_order(edge.effect.reason) for edge in cfa.unsupported)


def _unknown(why: str) -> Unknown:
    if why == blocks.NOTHING:
        return Unknown(NOTHING_TO_PROVE, final=True, nothing=True)
    return Unknown(why, final=True)


def _disturbed(program: Program, name: str) -> str:
    """Why what others do, at any time or when streams are used, may change what a function reads; empty if it does not."""
    if keeping_buffers(program) and may_use_buffers(called_outside(program, (name,))):
        return "functions of the library may write to what was kept"
    return beside(program).obstacle((name,)) or ""
