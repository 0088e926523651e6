"""A proof by unwinding: the program has only so many paths, and none of them violates any of some rules.

The tree of paths is the control-flow graph unwound, each node annotated by the formula of its path (`smt.encoding.paths.path`),
from which edges lead on by construction; so it proves what an annotation does ([IPA] Definition 3.3), also for rules that speak
of the memory's state and the program's end. What the tree has to say is which branches cannot be taken. The checker follows the
program along it: it asks that these are impossible, that nothing is left out, and that no edge violates a rule.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import msgspec

from analysis.c.blocks import ALLOCATIONS
from analysis.certificate.claimed import Place, reachable, watched
from analysis.certificate.refusal import RefusedError
from analysis.certificate.unwinding_tree import Unwinding
from analysis.cfa.graph import Edge, Program
from analysis.cfa.linking.evaluation_order import assumptions_of
from analysis.cfa.marks import marked
from analysis.cpa.obstacles.completeness import address_number, called_outside, contracts_not_followed, hidden_flow, is_known
from analysis.cpa.obstacles.violable import STATE_RULES
from analysis.model.assumptions import FOUND, GIVEN
from analysis.model.c_types import LP64, DataModel
from analysis.model.spelling import display_name
from analysis.path_following.checks import RULES, Check, EdgeChecks
from analysis.path_following.following import Path, PathFollower
from analysis.smt.encoding.paths.path import PathEncoder

_MOST_EDGES = 10_000_000  # of a tree


class Unwound(NamedTuple):
    """What an accepted proof rests on, and how many questions the solver answered. `places`: where the rules could be violated,
    by the form of the program; `unreached`: those that no path reaches."""

    assumptions: tuple[str, ...]
    questions: int
    places: tuple[Place, ...] = ()
    unreached: tuple[Place, ...] = ()


def left_out(program: Program, entry: str, checks: EdgeChecks) -> tuple[str, ...]:
    """Why paths may not be all that can happen, or what is asked along them not all that can violate."""
    found = [*hidden_flow(program, (entry,))]
    number = address_number(program, (entry,))
    if number is not None:
        found.append(number)
    edges = [edge for cfa in program.functions.values() for edge in cfa.edges]
    if not any(checks.may_violate(edge, rule) for edge in edges for rule in checks.rules):
        unknown = next((name for name in called_outside(program, (entry,)) if not is_known(name)), None)
        if unknown is not None:
            found.append(f"nothing in the program could violate these rules, but for what the external function {unknown}() does")
    return tuple(found)


class _Following(PathFollower):
    """Follows the whole tree, depth first. Whatever is not excluded refuses the proof."""

    _too_long = "the certificate says that the program's paths are shorter than they are"

    def __init__(self, program: Program, claim: Unwinding, model: DataModel, milliseconds: int) -> None:
        if len(set(claim.rules)) < len(claim.rules):
            raise RefusedError("it names a rule twice")
        if claim.edges > _MOST_EDGES:
            raise RefusedError("the tree is too large")
        if claim.entry != "main":
            raise RefusedError("the tree does not begin where the program does")
        encoder = PathEncoder(program, "bv", model)
        encoder.start(claim.entry)
        checks = EdgeChecks(program, frozenset(claim.rules))
        super().__init__(program, checks, encoder, milliseconds, fails=claim.allocation_fails, outside=claim.outside_writes)
        if not claim.rules or not checks.rules <= RULES:
            raise RefusedError(f"paths prove nothing about {', '.join(sorted(checks.rules - RULES)) or 'no rule at all'}")
        reasons = left_out(program, claim.entry, checks)
        if reasons:
            raise RefusedError(reasons[0])
        self.edges = 0
        self.visited: set[Place] = set()

    def judge(self, path: Path, check: Check, edge: Edge | None) -> bool:
        """See PathFollower: a violation must be impossible."""
        if self.questions.ask(path.encoder.conjuncts(), check.more).status != "unsat":
            where = "when the program ends" if edge is None else f"at {marked(self._program, path.function, edge.id)}"
            raise RefusedError(f"nothing rules out {check.rule} {where}")
        return False

    def follow(self, goes_on: Callable[[], bool]) -> None:
        """All paths, as long as it `goes_on`."""
        waiting = [self.first]
        while waiting:
            if not goes_on():
                raise RefusedError(self._too_long)
            self.edges += 1
            self.visited.add((waiting[-1].function, waiting[-1].location))
            following, _ = self.advance(waiting.pop())
            waiting.extend(reversed(following))
        if self.reasons:
            raise RefusedError(next(iter(self.reasons)))


class _Unwinding(_Following):
    """Makes the tree: the solver says which branches are possible."""

    _too_long = "the program has too many paths, or too long ones, to follow all of them in the time"

    def __init__(self, program: Program, claim: Unwinding, model: DataModel, milliseconds: int) -> None:
        super().__init__(program, claim, model, milliseconds)
        self.taken: list[int] = []

    def possible(self, paths: Sequence[Path]) -> list[Path]:
        """See PathFollower."""
        found = super().possible(paths)
        self.taken.append(sum(1 << number for number, path in enumerate(paths) if path in found))
        return found


class _Checking(_Following):
    """Follows a tree: what it says cannot be taken must be impossible."""

    def __init__(self, program: Program, claim: Unwinding, model: DataModel, milliseconds: int) -> None:
        super().__init__(program, claim, model, milliseconds)
        self._left = iter(claim.taken)

    def possible(self, paths: Sequence[Path]) -> list[Path]:
        """See PathFollower."""
        taken = next(self._left, 0)
        for number, path in enumerate(paths):
            is_taken = taken >> number & 1
            if not is_taken and self.questions.ask(path.encoder.conjuncts()).status != "unsat":
                raise RefusedError(f"the certificate leaves out a branch of {display_name(path.function)} that can be taken")
        return [path for number, path in enumerate(paths) if taken >> number & 1]

    def is_done(self) -> bool:
        """Whether the tree says nothing of what was not come to."""
        return next(self._left, None) is None


def unwind(program: Program, claim: Unwinding, model: DataModel, milliseconds: int, goes_on: Callable[[], bool]) -> Unwinding:
    """The claim with its tree, made as long as it `goes_on`. RefusedError if the paths do not prove it."""
    _refuse_contracts(program, claim)
    making = _Unwinding(program, claim, model, milliseconds)
    making.follow(goes_on)
    return msgspec.structs.replace(claim, taken=tuple(making.taken), edges=making.edges)


def check_unwinding(program: Program, claim: Unwinding, model: DataModel = LP64, milliseconds: int = 10_000) -> Unwound:
    """Accepts the proof, or raises RefusedError. KeyError if the program does not define its entry."""
    _refuse_contracts(program, claim)
    checking = _Checking(program, claim, model, milliseconds)
    checking.follow(lambda: checking.edges < claim.edges)
    if not checking.is_done():
        raise RefusedError("the tree mentions branches that are not there")
    outside = set(called_outside(program, (claim.entry,)))
    takes_memory = not claim.allocation_fails and outside & ALLOCATIONS
    calls_others = not claim.outside_writes and not all(is_known(name) for name in outside)
    more = [assumption.sentence for assumption, holds in ((FOUND, takes_memory), (GIVEN, calls_others)) if holds]
    places = _places(program, claim)
    reached = {place for at, found in watched(program, places).items() if at in checking.visited for place in found}
    missed = tuple(place for place in places if place not in reached)
    return Unwound((*assumptions_of(program), *checking.assumptions, *more), checking.questions.count, places, missed)


def _refuse_contracts(program: Program, claim: Unwinding) -> None:
    """Paths do not follow what only contracts of the project say that functions do to blocks and streams. RefusedError if a rule
    of the claim is about that."""
    reason = "" if STATE_RULES.isdisjoint(claim.rules) else contracts_not_followed(program)
    if reason:
        raise RefusedError(reason)


def _places(program: Program, claim: Unwinding) -> tuple[Place, ...]:
    checks = EdgeChecks(program, frozenset(claim.rules))
    edges = [
        (name, edge)
        for name in sorted(reachable(program, claim.entry) & program.functions.keys())
        for edge in program.functions[name].edges
    ]
    return tuple((name, edge.id) for name, edge in edges if any(checks.may_violate(edge, rule) for rule in claim.rules))
